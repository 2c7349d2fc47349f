//===- JitRuntime.h - What compiled references call -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the functions that code compiled for the reference calls:
// memory that is never lost, a way out on errors, and float conversions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_JITRUNTIME_H
#define FUSION_LIB_REFERENCE_JITRUNTIME_H

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include <string>

namespace mlir::fusion {

/// How a call of compiled code ended.
enum class JitOutcome { Done, Fault, OutOfMemory };

/// Makes the functions below known to `engine`, before its code is looked up.
void registerJitSymbols(ExecutionEngine &engine);

/// Memory that compiled code allocated and did not free; frees it when it goes
/// out of scope.
class JitMemory {
public:
  JitMemory();
  ~JitMemory();
  JitMemory(const JitMemory &) = delete;
  JitMemory &operator=(const JitMemory &) = delete;

  /// Calls `function(arguments)` with this memory as its heap. A failed check
  /// in the compiled code ends the call with Fault and puts its text into
  /// `message`; no frame of C++ may lie between.
  JitOutcome call(void (*function)(void **), void **arguments,
                  std::string &message);

private:
  struct Impl;
  friend struct JitHeap;
  std::unique_ptr<Impl> impl;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_JITRUNTIME_H
