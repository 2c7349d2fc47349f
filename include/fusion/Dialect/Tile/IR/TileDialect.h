//===- TileDialect.h - The block-level tile dialect ------------*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the tile dialect: its types, attributes and operations.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_TILEDIALECT_H
#define FUSION_DIALECT_TILE_IR_TILEDIALECT_H

#include "fusion/Dialect/Fusion/FusionEnums.h"
#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "fusion/Dialect/Tile/IR/SharedLayout.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "fusion/Dialect/Tile/IR/TileDialect.h.inc"
#include "fusion/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fusion/Dialect/Tile/IR/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fusion/Dialect/Tile/IR/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "fusion/Dialect/Tile/IR/TileOps.h.inc"

namespace mlir::fusion::tile {

/// Unit attribute of a loop around a contraction: its turns are those of groups
/// of consumers that read the same stages.
constexpr llvm::StringLiteral kRowGroupsAttrName = "fusion_tile.row_groups";

/// Integer attribute of a loop: how many of its iterations' loads are in flight
/// or in use at once.
constexpr llvm::StringLiteral kNumStagesAttrName = "fusion_tile.num_stages";

/// Unit attribute of a loop: before an iteration does anything else, it loads
/// the next one's tiles into registers.
constexpr llvm::StringLiteral kLoadAheadAttrName = "fusion_tile.load_ahead";

using fusion::MmaKind;

/// The layout of a tile's type, or null for a scalar or a tile whose layout is
/// not assigned yet.
LayoutAttr getLayout(Type type);

/// Shape of a tile; empty for a scalar.
ArrayRef<int64_t> getTileShape(Type type);

/// Element type of a tile; the type itself for a scalar.
Type getTileElementType(Type type);

/// The type of a tile of `shape`, with `layout` when it is not null; the
/// element type itself when `shape` is empty.
Type getTileType(ArrayRef<int64_t> shape, Type elementType,
                 LayoutAttr layout = nullptr);

/// Can a product have factors of these element types? One type, or two of the
/// 8-bit floats.
bool areFactorTypes(Type a, Type b);

/// The buffer of a stage that `buffer` is, as it is or seen another way: of one
/// for each group the first.
Value getStageBuffer(Value buffer);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_IR_TILEDIALECT_H
