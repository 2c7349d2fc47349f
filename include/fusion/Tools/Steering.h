//===- Steering.h - Fusions asked for by name -------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the options by which a caller says what is fused: contracts
// (fusion.must, fusion.never, fusion.max_kernels) on ops that are called by
// what --explain=A,B calls them by.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_STEERING_H
#define FUSION_TOOLS_STEERING_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/SourceMgr.h"
#include <string>
#include <vector>

namespace mlir::fusion {

struct SteeringOptions {
  /// Names of ops that must be, or are never to be, in one kernel with others.
  std::vector<std::string> must, never;
  /// Kernels of each public function at most; 0 for any number.
  int64_t maxKernels = 0;

  bool isEmpty() const { return must.empty() && never.empty() && !maxKernels; }
};

/// Puts the contracts on the ops of `module`, a program as it was loaded from
/// `sourceMgr`. An op is called by its label or name ("matmul",
/// "linalg.matmul"), by a line ("17", "model.mlir:17"), by both ("matmul:17"),
/// by the name that its location has, or by that of its result ("%sum") where
/// the program is text. Returns an error with a code, which lists candidates,
/// where a name is that of no op or of several; then `module` is as it was.
std::string steer(ModuleOp module, const llvm::SourceMgr &sourceMgr,
                  const SteeringOptions &options);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_STEERING_H
