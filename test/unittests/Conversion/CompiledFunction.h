//===- CompiledFunction.h - Expanded math on the host -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the compilation of a function whose math is expanded as
// for a GPU, to code that the host runs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_CONVERSION_COMPILEDFUNCTION_H
#define FUSION_TEST_UNITTESTS_CONVERSION_COMPILEDFUNCTION_H

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

/// A function of an MLIR module, expanded by fusion-expand-math and compiled.
class CompiledFunction {
public:
  /// Compiles the function `f` of `text`; ends the test on a failure.
  explicit CompiledFunction(llvm::StringRef text, bool fast = false);
  ~CompiledFunction();

  template <typename Signature>
  Signature *as() const {
    return reinterpret_cast<Signature *>(address);
  }

private:
  struct State;
  std::unique_ptr<State> state;
  void *address = nullptr;
};

#endif // FUSION_TEST_UNITTESTS_CONVERSION_COMPILEDFUNCTION_H
