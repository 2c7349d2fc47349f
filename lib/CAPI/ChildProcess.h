//===- ChildProcess.h - Work that may crash -------------------- -*- C++ -*-==//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how work runs in a process of its own, so that no defect of
// it ends the process of the caller. docs/Rationale/Crashes.md says why a
// process, and why by fork.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CAPI_CHILDPROCESS_H
#define FUSION_LIB_CAPI_CHILDPROCESS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace mlir::fusion {

/// How the work ended.
struct ChildOutcome {
  enum Kind {
    Finished,
    /// `signal` says how, 0 if it ended itself or that is unknown.
    Crashed,
    OutOfMemory,
    TimedOut,
    /// There was no process to be had: `errors` says why.
    NotStarted
  };
  Kind kind = Finished;
  int signal = 0;
  /// What the work returned.
  std::string result;
  /// What it wrote to its standard error, a stack trace among it.
  std::string errors;
};

/// Runs `work` in a copy of this process, on one thread with a large stack, and
/// waits for it; for `timeLimitSeconds` at most, 0 for as long as it takes.
ChildOutcome runInChild(llvm::function_ref<std::string()> work,
                        unsigned timeLimitSeconds);

} // namespace mlir::fusion

#endif // FUSION_LIB_CAPI_CHILDPROCESS_H
