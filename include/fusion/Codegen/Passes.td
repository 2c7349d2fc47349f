//===- Passes.td - Passes of the code generation stage ----*- tablegen -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CODEGEN_PASSES_TD
#define FUSION_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToTilePass : Pass<"fusion-codegen-lower-to-tile", "ModuleOp"> {
  let summary = "Emits the tile program of every scheduled kernel";
  let description = [{
    Input: functions whose `fusion.kernel` ops carry a `schedule`. Output: one
    `fusion_tile.program` for each kernel, and on each kernel the attribute `program`
    that names it. The bodies of kernels stay as they are: they remain the
    definition of what the program computes. No decision is taken here.

    Programs are emitted on demand from the results: a tile of a result needs
    tiles of its operands at coordinates composed from the indexing maps, down
    to loads of the kernel's operands. A tile asked for twice at the same
    coordinates is computed once.

    ```mlir
    %r = fusion.kernel @exp ins(%x : tensor<64x128xf32>) -> (tensor<64x128xf32>)
      attributes {schedule = #fusion.schedule<pointwise, ...>} { ... }
    // ==>
    fusion_tile.program @exp(%0: !llvm.ptr<1>, %1: !llvm.ptr<1>) ... {
      %2 = fusion_tile.view %0[] : !llvm.ptr<1> to !fusion_tile.view<64x128xf32>
      ...
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::fusion::tile::TileDialect", "::mlir::scf::SCFDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::affine::AffineDialect"
  ];
}

#endif // FUSION_CODEGEN_PASSES_TD
