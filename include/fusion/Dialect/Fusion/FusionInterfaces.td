//===- FusionInterfaces.td - Interfaces of fusion ops ------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the interface by which an op states its meaning in linalg.
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

#endif // FUSION_DIALECT_FUSION_FUSIONINTERFACES_TD
