//===- FusionBufferOps.td - Kernels on memory ----------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what kernels become where tensors have become memory.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONBUFFEROPS_TD
#define FUSION_DIALECT_FUSION_FUSIONBUFFEROPS_TD

include "fusion/Dialect/Fusion/FusionAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Fusion_BufferKernelInput
    : AnyTypeOf<[AnyMemRef, AnyInteger,
                 AnyFloat, Index],
                "memref, integer, float or index">;

def Fusion_BufferKernelOp : Fusion_Op<"buffer_kernel", [
    IsolatedFromAbove, SingleBlock, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a kernel that reads and writes memory";
  let description = [{
    What one-shot bufferization makes of `fusion.kernel`. The body is that of the
    kernel, on tensors: its arguments are what `ins` hold, and what it yields is
    what `outs` hold afterwards. A result that is an argument with a slice of it
    written (`tensor.insert_slice` with `fusion.in_place`) has the memory of that
    argument, and the two are one memref. No other memref of `outs` overlaps one
    of `ins` or of `outs`.

    Memrefs hold their elements row by row without gaps: kernels are passed
    addresses and sizes alone. Others are refused (FUS-1432).

    ```mlir
    func.func @scale(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
      fusion.buffer_kernel @scale ins(%x : memref<?x8xf32>)
          outs(%y : memref<?x8xf32>) {
      ^bb0(%a: tensor<?x8xf32>):
        %c0 = arith.constant 0 : index
        %rows = tensor.dim %a, %c0 : tensor<?x8xf32>
        %init = tensor.empty(%rows) : tensor<?x8xf32>
        %0 = linalg.exp ins(%a : tensor<?x8xf32>)
            outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
        fusion.yield %0 : tensor<?x8xf32>
      }
      return
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$kernel_name,
    Variadic<Fusion_BufferKernelInput>:$inputs,
    Variadic<AnyMemRef>:$outputs,
    OptionalAttr<Fusion_ScheduleAttr>:$schedule,
    OptionalAttr<Fusion_EstimateAttr>:$estimate
  );
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kernel_name (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // FUSION_DIALECT_FUSION_FUSIONBUFFEROPS_TD
