//===- TensorCopy.h - What the tensor copy engine can move -----*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the analysis of which accesses of global memory the tensor
// copy engine can make, and with which boxes and buffers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_TRANSFORMS_TENSORCOPY_H
#define FUSION_DIALECT_TILE_TRANSFORMS_TENSORCOPY_H

#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"

namespace mlir::fusion::tile {

/// Unit attribute of a tensor map of f32: copies round to tf32.
constexpr llvm::StringLiteral kTF32MapAttrName = "tile.tf32";

/// How the tensor copy engine moves a tile of rank two.
struct TensorCopy {
  /// The dimension of the view along which each dimension of the tile runs.
  SmallVector<int64_t> dims;
  /// Where the tile starts along each dimension of the view: expressions over
  /// the symbols of the access.
  SmallVector<AffineExpr> starts;
  /// The dimension of the tile that is contiguous in global memory.
  unsigned fastDim = 0;
  /// The tile in shared memory, and the boxes it is moved in.
  BufferType buffer;
  TensorMapType map;
  /// For windows: where they start, their distances along each dimension of the
  /// view, and the element within them along those in between, expressions over
  /// the symbols of the access.
  Im2ColAttr im2col;
  SmallVector<int64_t> strides;
  SmallVector<AffineExpr> offsets;
  /// For rows that index tiles place, and for channels at several elements of
  /// windows: the dimension of the tile that is copied in pieces, and the
  /// elements of each. `starts` and `offsets` are then over the position of a
  /// piece in the tile as well, and over its own elements of the index tiles.
  struct Pieces {
    unsigned dim;
    int64_t length;
  };
  std::optional<Pieces> pieces;
  /// Each block of the cluster copies a part of the tile, for all of them.
  bool multicast = false;
};

/// How the engine makes `access`, in boxes of at most `maxRows` elements of the
/// tile's first dimension; fails, with the reason in `whyNot`, when it cannot.
/// What lies outside the view is zero, or not written, in both: which
/// coordinates are checked does not matter.
FailureOr<TensorCopy> getTensorCopy(const Access &access, std::string &whyNot,
                                    int64_t maxRows = 256);

/// How the engine loads a tile along one dimension of which, its rows, lie the
/// windows of a convolution, one element of each: images, spatial dimensions
/// and channels, the rows counting row-major through places of windows and then
/// through images. Channels, the other dimension, may be at one element of the
/// windows after the other. Fails, with the reason in `whyNot`, when it cannot;
/// the reason is empty when there are no such places at all.
FailureOr<TensorCopy> getWindowCopy(const Access &access, std::string &whyNot);

/// The copy of a gathered tile, some rows at a time; fails with the reason.
FailureOr<TensorCopy> getGatheredCopy(LoadOp load, std::string &whyNot);

/// Emits where `copy`, of what `load` reads, starts: the coordinates of each
/// piece, one after the other, of one where there are no pieces. `getScalar`
/// gives the scalars of `load` and of what its indices are computed from.
SmallVector<Value> emitStarts(OpBuilder &builder, LoadOp load,
                              const TensorCopy &copy,
                              llvm::function_ref<Value(Value)> getScalar);

/// The same for the elements of windows that are copied.
SmallVector<Value> emitOffsets(OpBuilder &builder, LoadOp load,
                               const TensorCopy &copy,
                               llvm::function_ref<Value(Value)> getScalar);

/// Emits `coordinates`, such as those at which a copy starts, given the values
/// of the access's symbols.
SmallVector<Value> emitCoordinates(OpBuilder &builder, Location loc,
                                   ArrayRef<AffineExpr> coordinates,
                                   ValueRange symbols);

/// Replaces each `select(in bounds, load, zero)` by the load when the condition
/// only asks whether a checked coordinate of the load is below the view's size:
/// the load gives zero there by itself.
void foldBoundsMasks(ProgramOp program);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_TRANSFORMS_TENSORCOPY_H
