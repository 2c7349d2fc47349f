//===- Verify.h - Results against the references ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the verification of a run: both references of the program,
// evaluated on the inputs of the run and compared with its outputs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_VERIFY_H
#define FUSION_REFERENCE_VERIFY_H

#include "fusion/Reference/Compare.h"
#include "fusion/Reference/Reference.h"
#include <map>

namespace mlir::fusion {

/// What was found about a run.
struct VerifyReport {
  std::vector<OutputReport> outputs;

  /// True if there is an output and every one is right.
  bool isVerified() const;
  /// The largest errors of all outputs, see OutputReport.
  double getMaxError() const;
  double getMaxRelativeError() const;
};

/// Holds the references of one function.
class Verifier {
public:
  /// Compiles both references of `entry`; `module` stays as it is. Emits one
  /// error and returns failure if there is no reference.
  static FailureOr<std::unique_ptr<Verifier>> create(ModuleOp module,
                                                     StringRef entry);

  const Signature &getSignature() const { return declared->getSignature(); }

  /// Evaluates the references on `inputs`, of the declared types. Emits one
  /// error and returns failure if they cannot be evaluated.
  LogicalResult prepare(ArrayRef<HostTensor> inputs);

  /// Compares `outputs` with what prepare() found.
  VerifyReport compare(ArrayRef<HostTensor> outputs) const;

  /// The results of the program as declared, after prepare().
  ArrayRef<HostTensor> getDeclaredResults() const { return declaredResults; }

private:
  std::unique_ptr<Reference> exact, declared;
  SmallVector<HostTensor> exactResults, declaredResults;
  /// For small outputs, by the rounding on the way to them: the results for
  /// inputs that are off by as much.
  std::map<double, std::vector<SmallVector<HostTensor>>> perturbedResults;
};

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_VERIFY_H
