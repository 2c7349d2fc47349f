//===- AccessAnalysis.h - How a tile's accesses fall in memory -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the analysis of contiguity, alignment and divisibility of
// the global memory accesses of a tile program.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_TRANSFORMS_ACCESSANALYSIS_H
#define FUSION_DIALECT_TILE_TRANSFORMS_ACCESSANALYSIS_H

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include <functional>

namespace mlir::fusion::tile {

/// A load or store, as far as its addressing goes.
struct Access {
  TypedValue<ViewType> view;
  AffineMap map;
  /// The scalar symbols; symbols of the map beyond them are index tiles.
  ValueRange symbols;
  ArrayRef<bool> checked;
  /// Type of the tile.
  Type tile;
  /// What an instruction moves may be done element by element where a part of
  /// it is out of bounds: at the ends of rows that begin at odd addresses.
  bool isDivisible = false;
  bool isStore = false;
  /// The index tiles, where it matters along which axes they are the same.
  ValueRange indices = {};

  static Access of(LoadOp load);
  static Access of(StoreOp store);
  static Access of(CopyStartOp copy);
};

/// The largest number known to divide an index value; 0 for the value zero.
uint64_t getDivisor(Value value);

/// The row-major stride of each dimension of a view, in elements; kDynamic
/// where it depends on a dynamic size.
SmallVector<int64_t> getViewStrides(ViewType view);

/// An access as numbers say it: of a program's, or of one that a price expects.
struct AccessForm {
  /// Sizes of the view, and of the tile.
  ArrayRef<int64_t> shape, tile;
  /// Of each dimension of the view: the coordinate, by positions in the tile
  /// and symbols, and whether it may lie outside.
  ArrayRef<AffineExpr> coords;
  ArrayRef<bool> checked;
  /// A number that divides a symbol; none where it differs from element to
  /// element.
  std::function<std::optional<uint64_t>(unsigned)> getDivisor;
  /// `isAlignedTogether` of what no divisors say.
  std::function<bool(unsigned axis, int64_t width)> isAlignedTogether;
  /// Of an element in memory.
  unsigned bits = 32;
  bool isDivisible = false, isStore = false;
  /// Whether a symbol that differs from element to element does not along an
  /// axis; unset where none is known to be so.
  std::function<bool(unsigned number, unsigned axis)> isSameAlong = nullptr;

  static AccessForm of(const Access &access);
};

/// What happens to the linear offset along aligned groups of `width` elements
/// of axis `axis`.
struct AccessRun {
  /// Step of the offset, in elements, from one element to the next.
  int64_t stride;
  /// A number that divides the offset of every group's first element.
  uint64_t alignment;
  /// Every element of a group is in bounds, or none is.
  bool uniformMask;
};

/// None when the step is not the same in every group.
std::optional<AccessRun> getAccessRun(const AccessForm &access, unsigned axis,
                                      int64_t width);
std::optional<AccessRun> getAccessRun(const Access &access, unsigned axis,
                                      int64_t width);

/// The behaviour of an expression along aligned groups of an axis: it starts at
/// a multiple of `base` (0: at zero) and grows by `stride` per element.
struct Run {
  int64_t stride;
  uint64_t base;
};

/// The behaviour of `expr` along groups of `width` elements of `axis`, each
/// from a multiple of that number on; none where it is no such one. Symbols of
/// the expression beyond `symbols` are index tiles.
std::optional<Run> getRun(AffineExpr expr, unsigned axis, int64_t width,
                          ValueRange symbols);

/// True when `map` is the same for all of each aligned group of `width`
/// elements along `axis`.
bool isOfGroups(AffineMap map, ValueRange symbols, unsigned axis,
                int64_t width);

/// The step of the offset from most elements along `axis` to the next, also
/// where it is another one at the ends of rows that a coordinate counts on
/// through.
std::optional<int64_t> getUsualStep(const AccessForm &access, unsigned axis);

/// True when the offset of every group of `width` elements along `axis` is a
/// multiple of `width` because of what its parts have in common: in r N - s + i
/// with s = (r N) mod 8 and multiples of 8 for i no part is one.
bool isAlignedTogether(const Access &access, unsigned axis, int64_t width);

/// The number of elements along `axis` that one instruction can move: a power
/// of two of at most 16 bytes and `most` elements.
int64_t getVectorWidth(const AccessForm &access, unsigned axis,
                       int64_t most = 16);
int64_t getVectorWidth(const Access &access, unsigned axis, int64_t most = 16);

/// True when some of the `width` elements along `axis` that one instruction
/// moves may be in bounds where others are not.
bool mayDivide(const Access &access, unsigned axis, int64_t width);

/// True when neighbours along `axis` are neighbours in memory.
bool isContiguous(const Access &access, unsigned axis);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_TRANSFORMS_ACCESSANALYSIS_H
