//===- Doctor.h - What is here and what is missing --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the checks of fusion-doctor.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_DOCTOR_H
#define FUSION_TOOLS_DOCTOR_H

#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace mlir::fusion {

/// One line of the report.
struct Finding {
  bool ok = true;
  /// "ptxas", and "13.0.88 at /usr/local/cuda/bin/ptxas".
  std::string subject, detail;
  /// What to do about it; empty if ok.
  std::string remedy;
};

/// Looks at the compiler, ptxas, the driver and its devices, and Python. Takes
/// less than a second apart from the start of Python.
std::vector<Finding> examine();

/// "[ok]   ptxas: ..." or "[warn] ptxas: ...; <remedy>".
void printFindings(ArrayRef<Finding> findings, raw_ostream &os);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_DOCTOR_H
