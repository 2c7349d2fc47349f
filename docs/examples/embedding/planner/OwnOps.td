//===- OwnOps.td - A dialect of an embedding compiler ------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a dialect with one op, which says what it means in linalg.
//
//===----------------------------------------------------------------------===//

#ifndef OWN_OPS_TD
#define OWN_OPS_TD

include "fusion/Dialect/Fusion/FusionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Own_Dialect : Dialect {
  let name = "own";
  let cppNamespace = "::own";
  // What its ops become.
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
}

def Own_SquaredReluOp : Op<Own_Dialect, "squared_relu", [
    Pure, AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<Fusion_DecomposeInterface>]> {
  let summary = "max(x, 0) squared";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

#endif // OWN_OPS_TD
