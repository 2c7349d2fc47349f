//===- Progress.h - What a long compilation does ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the line on a terminal that says which phase of the
// compiler is running.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_PROGRESS_H
#define FUSION_TOOLS_PROGRESS_H

#include "mlir/IR/Diagnostics.h"
#include <optional>

namespace mlir::fusion {

/// One line on the standard error, if that is a terminal: the phase that is
/// running. It gives way to diagnostics and is gone at the end.
class Progress {
public:
  explicit Progress(MLIRContext *context);
  ~Progress();

  /// A phase begins. Does nothing where nobody would see it.
  void show(StringRef phase);

private:
  void clear();

  bool isOn;
  bool isShown = false;
  std::optional<ScopedDiagnosticHandler> handler;
};

} // namespace mlir::fusion

#endif // FUSION_TOOLS_PROGRESS_H
