//===- TileBuilder.h - Builds operations on tiles ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the builder of the operations of a tile program that stand
// for no operation of the kernel: what tiles are brought to the same axes,
// masked and converted by, sizes, and indices.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_TILEBUILDER_H
#define FUSION_LIB_CODEGEN_TILEBUILDER_H

#include "ScopeStack.h"
#include "TileAxes.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"

namespace mlir::fusion {

/// Builds the tile program of one kernel.
class TileBuilder : public OpBuilder {
public:
  TileBuilder(const OpBuilder &builder, const ScheduledKernel &kernel)
      : OpBuilder(builder), kernel(kernel), axes(kernel), scopes(*this) {}
  TileBuilder(const TileBuilder &) = delete;

  const ScheduledKernel &getKernel() const { return kernel; }
  Location getLoc() const { return kernel.getOp().getLoc(); }
  TileAxes &getAxes() { return axes; }
  ScopeStack &getScopes() { return scopes; }
  tile::ProgramOp getProgram() const { return program; }

  /// Inserts in `newProgram` from now on, whose arguments from `firstSymbol` on
  /// are the values of `symbols`.
  void enterProgram(tile::ProgramOp newProgram, ArrayRef<unsigned> symbols,
                    unsigned firstSymbol);

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  Type getTileType(ArrayRef<unsigned> tileAxes, Type element) const;
  Value createConstant(TypedAttr value);
  Value createIndex(int64_t value);
  /// Gives a tile the axes `newAxes`, which include its own.
  Tile broadcast(Tile tile, ArrayRef<unsigned> newAxes);
  /// Brings tiles to the union of their axes.
  SmallVector<unsigned> unify(MutableArrayRef<Tile> tiles);
  Tile conjunction(std::optional<Tile> a, Tile b);
  Tile select(Tile condition, Tile yes, Tile no);
  Tile castTile(Tile tile, Type element);
  /// Tile of bits: is `coord`, unsigned, below `size`?
  Tile below(AffineExpr coord, AffineExpr size);
  /// Replaces elements past the end of the axes `masked` by `neutral`.
  Tile maskPast(Tile value, ArrayRef<unsigned> masked, TypedAttr neutral);

  //===--------------------------------------------------------------------===//
  // Sizes and coordinates
  //===--------------------------------------------------------------------===//

  /// The value of `extent`, over the function's symbols.
  Value getSize(AffineExpr extent);
  /// Points the builder behind all sizes; `noteSize` says what is inserted
  /// there.
  void insertAfterSizes();
  void noteSize(Operation *op) { lastSize = op; }
  /// A map from positions in a tile over `tileAxes` and scalar symbols to
  /// `coords`, with the SSA values of the symbols. Index-tile symbols come last
  /// and are listed in `indexTiles`.
  AffineMap buildMap(ArrayRef<AffineExpr> coords, ArrayRef<unsigned> tileAxes,
                     SmallVector<Value> &symbols,
                     SmallVector<Value> *indexTiles);
  /// The indices at `coord` along the axes that it depends on.
  Tile getIndexTile(AffineExpr coord);
  /// The same as floats of `type`, which holds them exactly.
  Tile getIndexTile(AffineExpr coord, FloatType type);

private:
  /// What a map has for each axis of `coords`: the position in the tile from
  /// the tile's offset on.
  void replaceAxes(ArrayRef<AffineExpr> coords, ArrayRef<unsigned> tileAxes,
                   SmallVector<Value> &symbols,
                   SmallVectorImpl<AffineExpr> &dims,
                   SmallVectorImpl<AffineExpr> &sizes);
  /// The same for the index tiles of `coords`.
  unsigned replaceIndexTiles(ArrayRef<AffineExpr> coords,
                             ArrayRef<unsigned> tileAxes, unsigned next,
                             SmallVector<Value> *indexTiles,
                             SmallVectorImpl<AffineExpr> &replacements);
  Tile createIndexTile(AffineExpr coord);

  const ScheduledKernel &kernel;
  TileAxes axes;
  ScopeStack scopes;
  tile::ProgramOp program;
  DenseMap<unsigned, Value> symbolValues;
  DenseMap<AffineExpr, Value> sizes;
  /// The last operation that computes a size, all at the start of the program.
  Operation *lastSize = nullptr;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_TILEBUILDER_H
