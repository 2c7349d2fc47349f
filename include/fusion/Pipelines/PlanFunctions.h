//===- PlanFunctions.h - The planner alone -------------------- -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares planning without what comes before and after it: what it
// would decide on functions of a program, which stay as they are.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PIPELINES_PLANFUNCTIONS_H
#define FUSION_PIPELINES_PLANFUNCTIONS_H

#include "fusion/Pipelines/Compiler.h"

namespace mlir::fusion {

/// Plans the function `op`, or every function with a body in it, for the chip
/// called `target`, or that of the module around it if that is empty, and
/// changes nothing. Fills in the report's explanation, ledger and figures, with
/// the kernels as the planner names them. Functions are of the form that the
/// input phase leaves; one that is not, and a contract that is broken, is an
/// error.
LogicalResult planFunctions(Operation *op, StringRef target,
                            CompileReport &report);

} // namespace mlir::fusion

#endif // FUSION_PIPELINES_PLANFUNCTIONS_H
