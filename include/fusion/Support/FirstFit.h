//===- FirstFit.h - Places of pieces in one memory --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how buffers get their places in shared memory: by the pass
// that gives them, and by the model that says how much there will be of it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_FIRSTFIT_H
#define FUSION_SUPPORT_FIRSTFIT_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdint>

namespace mlir::fusion {

/// Gives `pieces`, with `bytes` and `alignment`, their `offset`: each the first
/// place where it fits beside those that it `meets`, larger ones first. Returns
/// the bytes that they take together.
template <typename Piece>
int64_t placeFirstFit(llvm::SmallVectorImpl<Piece> &pieces) {
  llvm::SmallVector<Piece *> order;
  for (Piece &piece : pieces)
    order.push_back(&piece);
  llvm::stable_sort(order, [](const Piece *a, const Piece *b) {
    return a->bytes > b->bytes;
  });
  int64_t total = 0;
  llvm::SmallVector<Piece *> placed;
  for (Piece *piece : order) {
    llvm::SmallVector<Piece *> neighbours;
    for (Piece *other : placed)
      if (piece->meets(*other))
        neighbours.push_back(other);
    llvm::sort(neighbours, [](const Piece *a, const Piece *b) {
      return a->offset < b->offset;
    });
    int64_t offset = 0;
    for (Piece *other : neighbours) {
      if (offset + piece->bytes <= other->offset)
        break;
      offset =
          std::max<int64_t>(offset, llvm::alignTo(other->offset + other->bytes,
                                                  piece->alignment));
    }
    piece->offset = offset;
    total = std::max(total, offset + piece->bytes);
    placed.push_back(piece);
  }
  return total;
}

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_FIRSTFIT_H
