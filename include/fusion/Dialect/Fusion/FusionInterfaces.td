//===- FusionInterfaces.td - Interfaces of fusion ops ------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the interfaces by which an op states its meaning in linalg,
// and its tiles.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONINTERFACES_TD
#define FUSION_DIALECT_FUSION_FUSIONINTERFACES_TD

include "mlir/IR/OpBase.td"

def Fusion_DecomposeInterface : OpInterface<"DecomposeInterface"> {
  let cppNamespace = "::mlir::fusion";
  let description = [{
    An op that is defined by simpler ops. The decomposition is the op's meaning:
    the same values, roundings included, however the result is fused later.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the op's meaning at the builder's insertion point and returns one
        value per result, of the result's type. The op itself stays as it is;
        the caller replaces it. Regions are cloned, not moved.
      }],
      "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>,
    InterfaceMethod<[{
        Whether the input phase replaces the op. An op for which the code
        generator has a better form than its decomposition answers false.
      }],
      "bool", "isDecomposedOnInput", (ins), "", [{ return true; }]>
  ];
}

def Fusion_TileMapInterface : OpInterface<"TileMapInterface"> {
  let cppNamespace = "::mlir::fusion";
  let description = [{
    An op that says which parts of its operands a part of its results is
    computed from. Every op with it has upstream's `TilingInterface`, and tells
    upstream's value bounds which sizes are equal, by one implementation for
    all of them.

    A tile is computed by the op itself, with the attributes that it has, on
    slices of its operands. An op whose elements depend on where they are adapts
    that, or keeps the loop whole.
  }];
  let methods = [
    InterfaceMethod<"Which tiles belong together.",
      "::mlir::fusion::TileMap", "getTileMap">,
    InterfaceMethod<[{
        Lets `tiled`, a copy of the op on the operands of a tile that is not in
        the IR yet, compute what the op computes there. `offsets` are those of
        the tile, null for loops of which it is all. What is built before it is
        built by `builder`.
      }],
      "void", "adaptTile",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Operation *":$tiled,
           "::llvm::ArrayRef<::mlir::OpFoldResult>":$offsets,
           "::llvm::ArrayRef<::mlir::OpFoldResult>":$sizes),
      "", [{ return; }]>
  ];
}

#endif // FUSION_DIALECT_FUSION_FUSIONINTERFACES_TD
