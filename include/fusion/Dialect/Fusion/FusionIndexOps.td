//===- FusionIndexOps.td - Gather and scan -----------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the ops that move along an axis by index or in order.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONINDEXOPS_TD
#define FUSION_DIALECT_FUSION_FUSIONINDEXOPS_TD

include "fusion/Dialect/Fusion/FusionOpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Fusion_ElementTensor
    : RankedTensorOf<[F16, BF16, F32, F64, I1, I8, I32, I64, F8E4M3FN, F8E5M2]>;

def Fusion_GatherOp : Fusion_ComputeOp<"gather", [InferTypeOpAdaptor]> {
  let summary = "slices of a tensor, picked by index; embedding lookup";
  let description = [{
    The result has the sizes of `input`, with those of `indices` in the place of
    dimension `axis`: `y[a..., i..., b...] = input[a..., indices[i...], b...]`.
    A negative index counts from the end. An index outside [-n, n) reads
    nothing: the element is NaN for floats, 0 for integers.

    With `axis` 0 this is an embedding: `input` is the table. As ONNX Gather and
    `torch.nn.functional.embedding`.

    `axis` is a dimension of `input`, which has an element at least along it unless
    there are no indices.

    Example:
    ```mlir
    // Rows of an embedding table.
    func.func @embedding(%table: tensor<32000x64xbf16>, %ids: tensor<?xi64>)
        -> tensor<?x64xbf16> {
      %y = fusion.gather %table, %ids axis(0)
          : (tensor<32000x64xbf16>, tensor<?xi64>) -> tensor<?x64xbf16>
      return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Fusion_ElementTensor:$input,
                       Fusion_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Fusion_ElementTensor:$result);
  let assemblyFormat = [{
    $input `,` $indices `axis` `(` $axis `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fusion_ScanOp
    : Fusion_ComputeOp<"scan", [
        SameVariadicOperandSize, SingleBlock,
        InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<Fusion_DecomposeInterface,
                                  ["isDecomposedOnInput"]>]> {
  let summary = "running combination of elements along an axis";
  let description = [{
    Several states run together: state s has an input tensor, an initial value
    and a result; all tensors have one shape. The region takes two tuples, a
    then b, each with one value per state, and yields their combination. It must
    be associative, with the initial values as its identity; the code generator
    relies on both.

    - inclusive (default): `y[i] = x[0] . x[1] ... . x[i]`;
    - `exclusive`: `y[i] = init . x[0] ... . x[i - 1]`, `y[0] = init`;
    - `reverse`: the same on the tensor turned round, the result turned back:
      `y[i] = x[n-1] . x[n-2] ... . x[i]`.

    A cumulative sum has one state and addition. A linear recurrence
    `h[i] = a[i] h[i-1] + b[i]` has the states (a, b), initial values (1, 0) and
    the combination `(a1 a2, a2 b1 + b2)`; h is the second result. Blelloch,
    1990.

    The input phase leaves the op as it is. `decompose` gives the reference
    meaning, a loop over slices.

    Refused are inputs of several shapes, initial values that are no scalars of
    their input's element type, and a region of other arguments.

    Example:
    ```mlir
    // A cumulative sum down the columns.
    func.func @cumsum(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
      %zero = arith.constant 0.0 : f32
      %y = fusion.scan ins(%x : tensor<?x64xf32>) inits(%zero : f32) axis(0)
          -> tensor<?x64xf32> {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        fusion.yield %s : f32
      }
      return %y : tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins
    Variadic<Fusion_ElementTensor>:$inputs,
    Variadic<AnyTypeOf<[AnyFloat, AnySignlessInteger]>>:$inits,
    I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Variadic<Fusion_ElementTensor>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    (`exclusive` $exclusive^)? (`reverse` $reverse^)?
    `ins` `(` $inputs `:` type($inputs) `)`
    `inits` `(` $inits `:` type($inits) `)` `axis` `(` $axis `)`
    `->` type($results) attr-dict-with-keyword $combiner
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // FUSION_DIALECT_FUSION_FUSIONINDEXOPS_TD
