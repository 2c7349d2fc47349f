//===- FusionDialect.td - The fusion dialect ---------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the fusion dialect itself and the base classes of its
// operations and attributes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONDIALECT_TD
#define FUSION_DIALECT_FUSION_FUSIONDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Fusion_Dialect : Dialect {
  let name = "fusion";
  let summary = "Tensor programs, the kernels they are fused into, and why";
  let description = [{
    The tensor level of the compiler. The dialect has three parts:

    - computation that linalg has no single op for (attention, norms, losses,
      rotary embedding, dropout, quantisation, scans, convolutions with any
      number of spatial dimensions); each op has a formula, infers its result
      types for static and dynamic sizes and decomposes to linalg;
    - structure: `fusion.kernel`, the unit that becomes one GPU kernel;
    - decisions and facts, recorded as attributes: `#fusion.schedule`,
      `#fusion.estimate` and `#fusion.target`.

    Discardable attributes of the dialect, verified wherever they appear:

    | attribute            | on                | value | meaning |
    |----------------------|-------------------|-------|---------|
    | `fusion.must`        | any op            | unit  | no tensor that the op produces for another op may be written to memory: it is fused into all its users, or compilation fails with the reason |
    | `fusion.never`       | any op            | unit  | the op, or each op that it decomposes into, shares a kernel with no other op |
    | `fusion.repack`      | any op            | string | planning made the op to lay an operand of a product out anew, for the reason named (docs/Remarks.md): what reads it reads it from memory |
    | `fusion.tf32`        | operations, functions, modules | unit | products of f32 in it may be made of factors that are rounded to tf32 (docs/Numerics.md) |
    | `fusion.max_kernels` | functions         | positive i64 | the function becomes at most so many kernels, or compilation fails with the reason |
    | `fusion.plan`        | functions         | dictionary | totals of the plan: kernels and bytes before and after, predicted time |
    | `fusion.target`      | modules           | `#fusion.target` | the chip to compile for |
    | `fusion.dims`        | function arguments| array of strings, one per dimension | names of dynamic dimensions; `"_"` leaves a dimension without a name |
    | `fusion.overwritten_by` | function arguments | non-negative i64 | the result of that number, of the argument's type, is the argument's memory, which a launch overwrites (docs/Inputs.md) |
    | `fusion.in_place`    | `tensor.insert_slice`, `tensor.extract_slice` | unit | planning found that the destination's memory may be overwritten: only the slice is written; or that the slice lies in memory in one piece: it is read where it lies |
    | `fusion.offload`     | functions, `scf.execute_region` | unit | what is in it is compiled, and host code that launches its kernels takes its place (`fusion-to-host`) |
    | `fusion.part`        | any op            | array of two non-negative i64 | planning makes a large value in parts: the number of the value and of the part that the op belongs to. The parts of a value are made one after the other, and share no kernels |
  }];
  let cppNamespace = "::mlir::fusion";
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Names of the discardable attributes.
    static constexpr ::llvm::StringLiteral kMustAttrName = "fusion.must";
    static constexpr ::llvm::StringLiteral kNeverAttrName = "fusion.never";
    static constexpr ::llvm::StringLiteral kMaxKernelsAttrName =
        "fusion.max_kernels";
    static constexpr ::llvm::StringLiteral kRepackAttrName = "fusion.repack";
    static constexpr ::llvm::StringLiteral kPlanAttrName = "fusion.plan";
    static constexpr ::llvm::StringLiteral kTargetAttrName = "fusion.target";
    static constexpr ::llvm::StringLiteral kDimsAttrName = "fusion.dims";
    static constexpr ::llvm::StringLiteral kOverwrittenByAttrName =
        "fusion.overwritten_by";
    static constexpr ::llvm::StringLiteral kInPlaceAttrName = "fusion.in_place";
    static constexpr ::llvm::StringLiteral kPartAttrName = "fusion.part";
    static constexpr ::llvm::StringLiteral kOffloadAttrName = "fusion.offload";

    void registerAttributes();
  }];
}

class Fusion_Op<string mnemonic, list<Trait> traits = []>
    : Op<Fusion_Dialect, mnemonic, traits>;

class Fusion_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Fusion_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

#endif // FUSION_DIALECT_FUSION_FUSIONDIALECT_TD
