//===- FusionOps.td - Operations of the fusion dialect -----*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the structural operations of the fusion dialect and gathers
// the computation operations, which live in one file per family.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONOPS_TD
#define FUSION_DIALECT_FUSION_FUSIONOPS_TD

include "fusion/Dialect/Fusion/FusionAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Fusion_KernelOperand
    : AnyTypeOf<[AnyRankedTensor, AnyInteger, AnyFloat, Index],
                "ranked tensor, integer, float or index">;

def Fusion_KernelOp : Fusion_Op<"kernel", [
    Pure, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "ops that become one GPU kernel";
  let description = [{
    The body holds tensor ops; its block arguments are the `ins`, and what it
    yields are the results. The op is isolated from above, so that a kernel can
    be compiled, cached and tested on its own. `kernel_name` is the name of the
    GPU kernel; it need not be unique, since equal kernels share one.

    Result types may be less static than what the body yields only through an
    explicit `tensor.cast`: types of results and yielded values are equal.

    Example:
    ```mlir
    func.func @scale(%x: tensor<?x8xf32>, %s: f32) -> tensor<?x8xf32> {
      %r = fusion.kernel @scale ins(%x, %s : tensor<?x8xf32>, f32) -> (tensor<?x8xf32>) {
      ^bb0(%a: tensor<?x8xf32>, %b: f32):
        %0 = linalg.map ins(%a : tensor<?x8xf32>) outs(%a : tensor<?x8xf32>)
          (%in: f32, %out: f32) {
            %1 = arith.mulf %in, %b : f32
            linalg.yield %1 : f32
          }
        fusion.yield %0 : tensor<?x8xf32>
      }
      return %r : tensor<?x8xf32>
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$kernel_name,
    Variadic<Fusion_KernelOperand>:$inputs,
    OptionalAttr<Fusion_ScheduleAttr>:$schedule,
    OptionalAttr<Fusion_EstimateAttr>:$estimate,
    OptionalAttr<Fusion_LaunchAttr>:$launch
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kernel_name (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `->` `(` type($results) `)` attr-dict-with-keyword $body
  }];
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$kernelName,
                   "::mlir::TypeRange":$resultTypes,
                   "::mlir::ValueRange":$inputs)>
  ];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// The only block of the kernel.
    ::mlir::Block &getBlock() { return getBody().front(); }
    /// The terminator of the kernel.
    ::mlir::fusion::YieldOp getYield();
    /// What the kernel stores of a result that it yields as `yielded`: of an
    /// insertion in place the slice, of others all.
    static ::mlir::Value getStored(::mlir::Value yielded);
    /// What the kernel stores of each result.
    ::llvm::SmallVector<::mlir::Value> getStoredValues();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Fusion_YieldOp : Fusion_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "values that a region of a fusion op yields";
  let description = [{
    Ends the body of `fusion.kernel`, the combiner of `fusion.scan` and the score
    modification of `fusion.attention`. Types and number are what the region's op
    says.

    Example:
    ```mlir
    func.func @running_maximum(%x: tensor<64xi32>) -> tensor<64xi32> {
      %least = arith.constant -2147483648 : i32
      %y = fusion.scan ins(%x : tensor<64xi32>) inits(%least : i32) axis(0) -> tensor<64xi32> {
      ^bb0(%a: i32, %b: i32):
        %m = arith.maxsi %a, %b : i32
        fusion.yield %m : i32
      }
      return %y : tensor<64xi32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, {}); }]>];
}

include "fusion/Dialect/Fusion/FusionAttentionOps.td"
include "fusion/Dialect/Fusion/FusionGroupOps.td"
include "fusion/Dialect/Fusion/FusionIndexOps.td"
include "fusion/Dialect/Fusion/FusionLossOps.td"
include "fusion/Dialect/Fusion/FusionNormalizationOps.td"
include "fusion/Dialect/Fusion/FusionPointwiseOps.td"
include "fusion/Dialect/Fusion/FusionQuantizationOps.td"
include "fusion/Dialect/Fusion/FusionWindowOps.td"

#endif // FUSION_DIALECT_FUSION_FUSIONOPS_TD
