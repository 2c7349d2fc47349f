//===- Passes.td - Passes of the plan phase ----------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the passes of the plan phase.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_PASSES_TD
#define FUSION_FUSIONPLANNING_PASSES_TD

include "fusion/Analysis/FunctionPasses.td"

def FormKernelsPass : FunctionWisePass<"fusion-plan-form-kernels"> {
  let summary = "Partition the computations of each function into kernels";
  let description = [{
    Input: functions of one block in the form that the input phase leaves:
    linalg, tensor, arith and math operations and `fusion.scan` on tensors.

    Output: functions of `fusion.kernel` operations, reshapes and casts between
    them, constants, and arithmetic on sizes. Each kernel carries its
    `#fusion.estimate`, each function the totals as `fusion.plan`. Constants of
    one value, fills, empty tensors and scalar arithmetic are copied into every
    kernel that uses them.

    The pass never tiles, adds no guard on sizes and never changes what an
    operation computes, with one exception that `fast-numerics` allows: a factor
    that is constant along what a product contracts, such as the inverse root of
    a norm, is applied to the product instead of its operand where that is
    predicted to be faster. Reductions of products' results may be split in two
    (`begun-by-tiles`), and so may those of what depends on an earlier reduction
    of some of their dimensions (`begun-by-rows`), those on both sides of what
    is kept (`begun-by-columns`), those over rows that are no whole vectors
    (`begun-by-folded-rows`), or those over rows of what is reduced along rows
    as well (`begun-by-blocks`), which orders them differently. Elements that
    data choose of a product's results may be added up for themselves
    (`gathered-product`). A value between contractions that is larger than
    `largest-value` may be made in parts (`in-parts`), over which sums are added
    up one part after the other. A product of few results that contracts
    dimensions apart from each other may be a sum of parts (`sum-of-parts`).
    Images, filters and results of convolutions may be
    permuted so that channels come last (`channels-last`). A maximum and the sum of exponentials relative to it may
    become one reduction (`rescaled-sum`), with which sums of terms that are
    linear in its logarithm may be had (`relative-sum`).
    Independent operations may be given in any order: the result is the same.

    On a module the pass plans its functions one after the other, and no two
    kernels have one name. On one function (`func.func(fusion-plan-form-kernels)`)
    it plans that one and reads of the rest the module's target alone; names are
    then unique in the function. A function that has kernels is planned already.

    Every candidate fusion, taken or refused, is a remark of the category
    `fusion-plan`, named by its reason code (docs/Remarks.md).

    ```mlir
    %0 = linalg.generic ... // exp(x)
    %1 = linalg.generic ... // %0 + y
    ```
    ==>
    ```mlir
    %0 = fusion.kernel @exp_add ins(%x, %y : ...) -> (...) {
      ^bb0(%a: ..., %b: ...):
        %1 = linalg.generic ...
        %2 = linalg.generic ...
        fusion.yield %2
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "chip to plan for; the module's fusion.target when empty, sm_90a "
           "when it has none">,
    Option<"printLedger", "print-ledger", "bool", "false",
           "print the ledger of each function as JSON on standard error">,
    Option<"representativeSize", "representative-size", "int64_t",
           "::mlir::fusion::kRepresentativeSize",
           "elements that prices take a dynamic dimension for">,
    Option<"demandedBy", "demanded-by", "std::string", "\"\"",
           "who asks for what contracts and limits demand, as the ledger says "
           "it; the attribute when empty">,
    Option<"fuse", "fuse", "bool", "true",
           "fuse what pays; without it every operation is a kernel of its own, "
           "whatever its contracts ask for">,
    Option<"fastNumerics", "fast-numerics", "bool", "false",
           "declared roundings may be dropped: scales of rows may move past "
           "products">,
    Option<"largestValue", "largest-value", "int64_t",
           "::mlir::fusion::kLargestValue",
           "bytes of the largest value that kernels may store for contractions: "
           "a larger one is made in parts, where that can be done; 0: any">,
    Option<"opaqueFloats", "opaque-floats", "bool", "false",
           "nothing is known of operations on floats: no sum is repaired when a "
           "maximum changes, none is corrected where parts meet">,
  ];
  let dependentDialects = [
    "::mlir::fusion::FusionDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def RaiseViewsPass : FunctionWisePass<"fusion-plan-raise-views"> {
  let summary = "Give kernels the views that they take of operands";
  let description = [{
    Input: functions of `fusion.kernel` operations. Output: the same, where no
    kernel without products reshapes an operand of static shape, or what is
    computed of operands pointwise for that reshape alone: the kernel has the
    view as its operand. A kernel that has its schedule stays as it is.

    ```mlir
    fusion.kernel @sum ins(%x : tensor<64x320xbf16>) {
      %f = extf %x
      %e = tensor.expand_shape %f : tensor<64x320xf32> into tensor<64x4x80xf32>
      ==>
    %v = tensor.expand_shape %x : tensor<64x320xbf16> into tensor<64x4x80xbf16>
    fusion.kernel @sum ins(%v : tensor<64x4x80xbf16>) {
      %e = extf %v
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def CollapseDimsPass : FunctionWisePass<"fusion-plan-collapse-dims"> {
  let summary = "Give kernels one loop for dimensions that lie side by side";
  let description = [{
    Input: functions of `fusion.kernel` operations. Output: the same, where no
    kernel without products has two static dimensions that lie side by side, in
    the same order, in every tensor that has one of them, that no operation tells
    apart, that no windows of several elements slide along, and that are both
    reduced or both kept. The kernel
    works on tensors of fewer dimensions; its operands are views
    (`tensor.collapse_shape`), and so is what its users see of its results
    (`tensor.expand_shape`). Parts that are joined, padded or cut out are told apart
    where they are no whole rows of what comes behind. A kernel that has its schedule
    stays as it is.

    Tiles are powers of two along each dimension, and memory is accessed by 16
    bytes where rows are multiples of that: what lies side by side pads once, and
    begins on such a boundary more often.

    ```mlir
    fusion.kernel @norm ins(%x : tensor<64x7x7x513xf32>) // over all but the first
      ==>
    %v = tensor.collapse_shape %x [[0], [1, 2, 3]]
    fusion.kernel @norm ins(%v : tensor<64x25137xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def FlattenResultsPass : FunctionWisePass<"fusion-plan-flatten-results"> {
  let summary = "Give kernels one loop for all dimensions of their results";
  let description = [{
    Input: functions of `fusion.kernel` operations whose dimensions side by side are
    one already (`fusion-plan-collapse-dims`). Output: the same, where the results of
    a kernel have one dimension if it is predicted to be faster so. What it is given
    stays as it is, and is read at quotients and remainders of the one coordinate.
    Kernels stay as they are that have products, scans, several results, dynamic sizes
    or a schedule, that reduce more than short windows, or whose result is moved from
    parts of tensors.

    A block has a power of two of elements along each dimension, and elements that are
    written together begin at a multiple of theirs: rows of 76 elements waste a part
    of each tile, and are written one by one.

    ```mlir
    fusion.kernel @pool ins(%x : tensor<64x77xf32>) -> tensor<64x76xf32>
      (d0, d1, d2) -> (d0, d1 + d2)
      ==>
    fusion.kernel @pool ins(%x : tensor<64x77xf32>) -> tensor<4864xf32>
      (d0, d1) -> (d0 floordiv 76, d0 mod 76 + d1)
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "the chip (default: the module's fusion.target, else the default)">
  ];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

#endif // FUSION_FUSIONPLANNING_PASSES_TD
