//===- AccessPlan.h - How a thread reaches a tile in memory -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what loads, stores and copies of global memory share: which
// registers one instruction moves, and what their address is made of.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_ACCESSPLAN_H
#define FUSION_LIB_CONVERSION_TILETONVVM_ACCESSPLAN_H

#include "ProgramLowering.h"

namespace mlir::fusion {

struct ProgramLowering::AccessPlan {
  tile::Access access;
  Value base;
  SmallVector<Value> sizes;
  SmallVector<Value> strides;
  SmallVector<int64_t> staticStrides;
  SmallVector<Value> symbols;
  SmallVector<Scalars> indices;
  const tile::LinearLayout *layout = nullptr;
  /// Register bits that make up one access, and how many elements it moves.
  SmallVector<unsigned> vectorBits;
  /// Some of these elements may be in bounds where others are not.
  bool isDivided = false;
  /// Per view dimension: coefficients of the tile's dimensions, and the
  /// coordinate of register 0, where the coordinate is linear.
  SmallVector<std::optional<SmallVector<int64_t>>> linear;
  SmallVector<Value> firstCoordinates;
  /// What is to be added to these coordinates, the same for all accesses of a
  /// window: addresses of neighbours then differ by constants alone.
  SmallVector<int64_t> constants;
  Value firstOffset;

  unsigned width() const { return 1u << vectorBits.size(); }
  /// The registers that the access of register `reg` moves, by increasing
  /// address.
  tile::RegisterMap groupOf(unsigned reg) const {
    tile::RegisterMap members;
    for (unsigned i = 0; i < width(); ++i) {
      unsigned member = reg;
      for (auto [position, bit] : llvm::enumerate(vectorBits))
        if (i >> position & 1)
          member |= 1u << bit;
      members.push_back(member);
    }
    return members;
  }
  tile::Coords registerCoords(unsigned reg) const {
    return layout ? layout->elementOf(reg, 0, 0) : tile::Coords();
  }
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_ACCESSPLAN_H
