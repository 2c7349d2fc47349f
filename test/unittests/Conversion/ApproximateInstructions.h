//===- ApproximateInstructions.h - The hardware's approximations *- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares host functions that stand for the GPU's approximate
// instructions, with the errors that the PTX manual allows them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_CONVERSION_APPROXIMATEINSTRUCTIONS_H
#define FUSION_TEST_UNITTESTS_CONVERSION_APPROXIMATEINSTRUCTIONS_H

#include "llvm/ADT/ArrayRef.h"

/// How far approximate instructions are off: 0 rounds their results correctly,
/// 1 and -1 add the largest error that PTX ISA 9.0 states, up or down.
extern double approximationError;

/// A function that stands for an LLVM intrinsic, or for a conversion that the
/// host has no instruction for.
struct HostFunction {
  /// The intrinsic as LLVM IR declares it.
  const char *intrinsic;
  /// The symbol to call in its stead.
  const char *symbol;
  void *address;
};

llvm::ArrayRef<HostFunction> hostFunctions();

#endif // FUSION_TEST_UNITTESTS_CONVERSION_APPROXIMATEINSTRUCTIONS_H
