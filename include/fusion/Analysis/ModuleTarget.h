//===- ModuleTarget.h - The chip a module is for ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the one place where the chip is chosen that a module is
// compiled for.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_MODULETARGET_H
#define FUSION_ANALYSIS_MODULETARGET_H

#include "fusion/Analysis/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fusion {

/// The chip that what is below `op` is compiled for: the one called `option`;
/// if that is empty, the `fusion.target` of the module; without one the chip
/// called `fallback`, or the default if that is empty too. Constants that the
/// module has for the chip count for more than those of the table. Fails, with
/// an error on `op`, when the name or a constant is not known.
FailureOr<TargetInfo> resolveTarget(Operation *op, StringRef option = "",
                                    StringRef fallback = "");

/// Shared memory that a block of what is below `op` can have, in bytes:
/// `option`, or that of the chip if it is 0. Nothing, with an error on `op`,
/// when the chip is not known.
std::optional<int64_t> getSharedLimit(Operation *op, int64_t option);

/// Makes `target` the `fusion.target` of `module`, with `fitted` constants
/// unless that is null.
void setTarget(ModuleOp module, const TargetInfo &target,
               DictionaryAttr fitted);

/// The constants that the module around `op` has for the chip called `name`;
/// null if it has none.
DictionaryAttr getDeclaredConstants(Operation *op, StringRef name);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_MODULETARGET_H
