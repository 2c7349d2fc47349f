//===- Verify.h - Results against the references ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the verification of a run: the reference of the program,
// evaluated on the inputs of the run and compared with its outputs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_VERIFY_H
#define FUSION_REFERENCE_VERIFY_H

#include "fusion/Reference/Compare.h"
#include "fusion/Reference/Reference.h"

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

/// Holds the reference of one function.
class Verifier {
public:
  /// Compiles the reference of `entry`; `module` stays as it is. With
  /// `fastNumerics`, results of --numerics=fast are right. Emits one error and
  /// returns failure if there is no reference.
  static FailureOr<std::unique_ptr<Verifier>>
  create(ModuleOp module, StringRef entry, bool fastNumerics = false);

  const Signature &getSignature() const { return reference->getSignature(); }

  /// Evaluates the reference on `inputs`, of the declared types. Emits one
  /// error and returns failure if it cannot be evaluated.
  LogicalResult prepare(ArrayRef<HostTensor> inputs);

  /// Compares `outputs` with what prepare() found.
  VerifyReport compare(ArrayRef<HostTensor> outputs) const;

  /// What was expected, after prepare().
  ArrayRef<ReferenceTensor> getExpected() const { return expected; }

private:
  std::unique_ptr<Reference> reference;
  bool fastNumerics = false;
  SmallVector<ReferenceTensor> expected;
};

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_VERIFY_H
