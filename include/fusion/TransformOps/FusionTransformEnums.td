//===- FusionTransformEnums.td - Enums of scripts ------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what ops of scripts have to choose from.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TRANSFORMOPS_FUSIONTRANSFORMENUMS_TD
#define FUSION_TRANSFORMOPS_FUSIONTRANSFORMENUMS_TD

include "mlir/IR/EnumAttr.td"

def FusionContractKind : I32EnumAttr<"ContractKind", "what a contract says", [
    I32EnumAttrCase<"Must", 0, "must">,
    I32EnumAttrCase<"Never", 1, "never">
  ]> {
  let cppNamespace = "::mlir::fusion";
}

#endif // FUSION_TRANSFORMOPS_FUSIONTRANSFORMENUMS_TD
