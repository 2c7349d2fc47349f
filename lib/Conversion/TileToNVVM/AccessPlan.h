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

#include "OpEmitter.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"

namespace mlir::fusion {

/// Where the threads of a program find the registers of a tile in a view.
class AccessPlan : public OpEmitter {
public:
  /// An offset in elements, a constant to be added to it, and the condition
  /// under which there is something (null: always).
  struct Place {
    Value offset;
    int64_t constant = 0;
    Value condition;
  };

  /// `indices` are the tiles of indices that symbols of the map are for.
  AccessPlan(ProgramLowering &lowering, const tile::Access &access,
             ValueRange indices = {});

  /// The tile's layout; null for a scalar.
  const tile::LinearLayout *getLayout() const { return layout; }
  Value getBase() const { return base; }
  /// The type of an element in memory.
  Type getStoredType() const;
  /// Registers that one access moves, and the bits of their numbers.
  unsigned width() const { return 1u << vectorBits.size(); }
  uint32_t vectorMask() const;
  /// Some of these elements may be in bounds where others are not.
  bool isDivided() const { return divided; }
  /// The registers that the access of register `reg` moves, by increasing
  /// address.
  tile::RegisterMap groupOf(unsigned reg) const;

  /// Where the group that starts at register `reg` begins.
  Place getPlace(unsigned reg);
  /// Lets `place`, of the group of register `reg`, hold where all of the group
  /// is in bounds. Returns the condition that a part of it alone is.
  Value takeWhole(unsigned reg, Place &place);
  /// Address and condition (null: always) of the group at `place`. The address
  /// is that of the view's start where the condition fails.
  std::pair<Value, Value> getAddress(const Place &place) {
    return getAddress(groupBase, place);
  }
  /// The same for register `reg` alone.
  std::pair<Value, Value> getAddress(unsigned reg) {
    return getAddress(base, getPlace(reg));
  }

private:
  /// How a dimension of the view is reached.
  struct Axis {
    /// The coefficients of the tile's dimensions, and the coordinate of
    /// register 0, where the coordinate is linear.
    std::optional<SmallVector<int64_t>> linear;
    Value first;
    /// What is to be added to this coordinate, the same for all accesses of a
    /// window: addresses of neighbours then differ by constants alone.
    int64_t constant = 0;
  };

  void findVectors();
  void findGroupBase();
  void findFirstPlace();
  std::pair<Value, Value> getAddress(Value start, const Place &place);
  /// What `expr` is in register `reg`, whose own coordinates are
  /// `registerPart`.
  Value getCoordinate(AffineExpr expr, const tile::Coords &registerPart,
                      unsigned reg);

  tile::Access access;
  Value base;
  /// The base again, for accesses of whole groups.
  Value groupBase;
  SmallVector<Value> sizes;
  SmallVector<Value> strides;
  SmallVector<int64_t> staticStrides;
  SmallVector<Value> symbols;
  SmallVector<Scalars> indices;
  const tile::LinearLayout *layout = nullptr;
  SmallVector<unsigned> vectorBits;
  bool divided = false;
  SmallVector<Axis> axes;
  Value firstOffset;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_ACCESSPLAN_H
