//===- Passes.td - Passes of the tile to NVVM conversion --*- tablegen -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CONVERSION_TILETONVVM_PASSES_TD
#define FUSION_CONVERSION_TILETONVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToNVVMPass : Pass<"fusion-convert-tile-to-nvvm", "ModuleOp"> {
  let summary = "Distributes tile programs over threads";
  let description = [{
    Replaces every `fusion_tile.program` by an `llvm.func` kernel in the `gpu.module`
    named `kernels`, in which a tile is the vector of the elements that one
    thread holds. Nothing is decided here: the layouts say which elements those
    are.
  }];
  let options = [
    Option<"plainFactors", "plain-factors", "bool", /*default=*/"false",
           "Give matrix instructions the factors as they are: f32 in one piece, "
           "integers converted one by one">,
  ];
  let dependentDialects = [
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect",
    "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"
  ];
}

#endif // FUSION_CONVERSION_TILETONVVM_PASSES_TD
