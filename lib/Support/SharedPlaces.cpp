//===- SharedPlaces.cpp - Places in the shared memory of a block ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the allocation of shared memory: buffers whose lifetimes
// do not meet may share it.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/SharedPlaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir::fusion;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

SharedPiece mlir::fusion::getClusterBarriers() {
  constexpr int64_t kBarrierBytes = 8;
  return {2 * kBarrierBytes, kBarrierBytes, SharedPiece::Kind::Last};
}

SharedPiece mlir::fusion::getClusterMemory(int64_t bytes) {
  // Of the widest access to what blocks exchange.
  constexpr int64_t kAlignment = 16;
  return {bytes, kAlignment, SharedPiece::Kind::Last};
}

static int64_t placeAll(llvm::ArrayRef<SharedPiece *> pieces) {
  SmallVector<SharedPiece *> order(pieces), placed;
  llvm::stable_sort(order, [](const SharedPiece *a, const SharedPiece *b) {
    return a->bytes > b->bytes;
  });
  int64_t total = 0;
  for (SharedPiece *piece : order) {
    SmallVector<SharedPiece *> neighbours;
    for (SharedPiece *other : placed)
      if (piece->meets(*other))
        neighbours.push_back(other);
    llvm::sort(neighbours, [](const SharedPiece *a, const SharedPiece *b) {
      return a->offset < b->offset;
    });
    int64_t offset = 0;
    for (SharedPiece *other : neighbours) {
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

static SmallVector<SharedPiece *>
select(SmallVectorImpl<SharedPiece> &pieces,
       llvm::function_ref<bool(const SharedPiece &)> isMeant) {
  SmallVector<SharedPiece *> selected;
  for (SharedPiece &piece : pieces)
    if (isMeant(piece))
      selected.push_back(&piece);
  return selected;
}

int64_t mlir::fusion::placeFirstFit(SmallVectorImpl<SharedPiece> &pieces) {
  return placeAll(select(pieces, [](const SharedPiece &) { return true; }));
}

SharedBytes mlir::fusion::placeShared(SmallVectorImpl<SharedPiece> &pieces,
                                      int64_t groups) {
  using Kind = SharedPiece::Kind;
  int64_t separate = 0;
  for (const SharedPiece &piece : pieces)
    if (piece.kind == Kind::Buffer)
      separate += llvm::alignTo(piece.bytes, piece.alignment);
  for (SharedPiece &piece : pieces)
    if (piece.kind != Kind::Buffer || separate <= kPlentifulShared)
      piece.first = 0, piece.last = ~0u;

  auto isOwn = [&](const SharedPiece &piece) {
    return groups > 1 && piece.isOfGroup && piece.kind != Kind::Last;
  };
  SmallVector<SharedPiece *> own = select(pieces, isOwn);
  SmallVector<SharedPiece *> others =
      select(pieces, [&](const SharedPiece &piece) {
        return !isOwn(piece) && piece.kind != Kind::Last;
      });
  // One area for all groups.
  SharedPiece area;
  SharedBytes bytes;
  if (!own.empty()) {
    for (const SharedPiece *piece : own)
      area.alignment = std::max(area.alignment, piece->alignment);
    bytes.ofGroup = llvm::alignTo(placeAll(own), area.alignment);
    area.bytes = bytes.ofGroup * groups;
    others.push_back(&area);
  }
  bytes.ofBlock = placeAll(others);
  for (SharedPiece *piece : own)
    piece->offset += area.offset;
  for (SharedPiece &piece : pieces)
    if (piece.kind == Kind::Last) {
      piece.offset = llvm::alignTo(bytes.ofBlock, piece.alignment);
      bytes.ofBlock = piece.offset + piece.bytes;
    }
  return bytes;
}
