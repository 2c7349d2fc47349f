//===- Passes.h - Passes of the scheduling stage ---------------*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the passes of the scheduling stage.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULING_PASSES_H
#define FUSION_SCHEDULING_PASSES_H

#include "fusion/Analysis/FunctionPasses.h"
#include "fusion/Support/Counts.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fusion {

#define GEN_PASS_DECL
#include "fusion/Scheduling/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fusion/Scheduling/Passes.h.inc"

} // namespace mlir::fusion

#endif // FUSION_SCHEDULING_PASSES_H
