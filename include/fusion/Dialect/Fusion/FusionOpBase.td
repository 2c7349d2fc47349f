//===- FusionOpBase.td - Shared parts of the op definitions *- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines operand types, enums and base classes that the families of
// computation ops share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONOPBASE_TD
#define FUSION_DIALECT_FUSION_FUSIONOPBASE_TD

include "fusion/Dialect/Fusion/FusionAttrs.td"
include "fusion/Dialect/Fusion/FusionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Fusion_Float : AnyTypeOf<[F16, BF16, F32, F64],
                             "f16, bf16, f32 or f64">;
def Fusion_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;
def Fusion_IndexTensor : RankedTensorOf<[I32, I64]>;

def Fusion_Reify : DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                             ["reifyResultShapes"]>;
def Fusion_Decompose : DeclareOpInterfaceMethods<Fusion_DecomposeInterface,
                                                 ["decompose"]>;

def Fusion_TileMap : DeclareOpInterfaceMethods<Fusion_TileMapInterface,
                                               ["getTileMap"]>;

/// An op whose elements depend on where they are, and whose tiles know it.
def Fusion_AdaptTile : DeclareOpInterfaceMethods<Fusion_TileMapInterface,
                                                 ["adaptTile"]>;

/// Computation: no side effects, shapes from operands, a meaning in linalg,
/// tiles.
class Fusion_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Fusion_Op<mnemonic, !listconcat([Pure, Fusion_Reify, Fusion_Decompose,
                                       Fusion_TileMap],
                                      traits)>;

/// Computation whose one result has the type of operand 0, named `input`.
class Fusion_SameShapeOp<string mnemonic, list<Trait> traits = []>
    : Fusion_ComputeOp<mnemonic,
                       !listconcat([AllTypesMatch<["input", "result"]>],
                                   traits)> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      shapes.push_back(
          ::mlir::tensor::getMixedSizes(builder, getLoc(), getInput()));
      return ::mlir::success();
    }
  }];
}

#endif // FUSION_DIALECT_FUSION_FUSIONOPBASE_TD
