//===- FunctionPasses.td - Passes of one function at a time *- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the base of passes that work on one function at a time.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_FUNCTIONPASSES_TD
#define FUSION_ANALYSIS_FUNCTIONPASSES_TD

include "mlir/Pass/PassBase.td"

// A pass of function-like ops, and of modules, whose functions it works on in
// order (fusion/Analysis/FunctionPasses.h).
class FunctionWisePass<string argument>
    : PassBase<argument, "::mlir::fusion::FunctionWisePass">;

#endif // FUSION_ANALYSIS_FUNCTIONPASSES_TD
