//===- Progress.cpp - What a long compilation does ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the line that says which phase is running.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/Progress.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::fusion;

/// Whether the standard error shows a line that is written over.
static bool isOnTerminal() {
  const char *kind = std::getenv("TERM");
  return llvm::errs().is_displayed() && kind && StringRef(kind) != "dumb";
}

Progress::Progress(MLIRContext *context) : isOn(isOnTerminal()) {
  if (isOn)
    handler.emplace(context, [this](Diagnostic &) {
      clear();
      return failure(); // Others report it.
    });
}

Progress::~Progress() { clear(); }

void Progress::show(StringRef phase) {
  if (!isOn)
    return;
  clear();
  llvm::errs() << "compiling: " << phase;
  llvm::errs().flush();
  isShown = true;
}

void Progress::clear() {
  if (!isShown)
    return;
  // To the begin of the line, and erase what is behind.
  llvm::errs() << "\r\033[K";
  llvm::errs().flush();
  isShown = false;
}
