//===- ForeignOps.td - A dialect of somebody else ----------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a dialect that the compiler does not know, as a user of
// upstream would write one.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_LIB_FOREIGN_FOREIGNOPS_TD
#define FUSION_TEST_LIB_FOREIGN_FOREIGNOPS_TD

include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def Foreign_Dialect : Dialect {
  let name = "foreign";
  let cppNamespace = "::foreign";
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

class Foreign_Op<string mnemonic, list<Trait> traits = []>
    : Op<Foreign_Dialect, mnemonic, traits>;

/// An op with loops, on tensors or on buffers.
class Foreign_LoopOp<string mnemonic>
    : Foreign_Op<mnemonic, [
        DestinationStyleOpInterface, AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<TilingInterface,
            ["getLoopIteratorTypes", "getIterationDomain",
             "generateScalarImplementation"]>]> {
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyShaped>:$outputs,
                       DefaultValuedAttr<StrAttr, "\"\"">:$kind);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getOutputsMutable();
    }
  }];
}

def Foreign_BlendOp : Foreign_LoopOp<"blend"> {
  let summary = "x + (y - x) weight, and how far that is from x";
}

def Foreign_RowNormOp : Foreign_LoopOp<"row_norm"> {
  let summary = "out[i] += sum over j of x[i, j]^2";
}

def Foreign_LookupOp : Foreign_LoopOp<"lookup"> {
  let summary = "out[i, j] = table[ids[i], j]";
}

def Foreign_WindowOp : Foreign_LoopOp<"window"> {
  let summary = "out[i] += sum over k < 3 of x[2 i + k]";
}

def Foreign_OddOp : Foreign_LoopOp<"odd"> {
  let summary = "what has no form as loops over tensors, by its kind";
  let hasVerifier = 1;
}

def Foreign_BareOp : Foreign_Op<"bare", [Pure, TilingInterface]> {
  let summary = "loops without destinations";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Foreign_SquareOp : Foreign_Op<"square", [
    Pure, DeclareOpInterfaceMethods<AggregatedOpInterface,
                                    ["decomposeOperation"]>]> {
  let summary = "x times x, as arithmetic on tensors";
  let arguments = (ins AnyRankedTensor:$input, UnitAttr:$stuck, UnitAttr:$endless);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

#endif // FUSION_TEST_LIB_FOREIGN_FOREIGNOPS_TD
