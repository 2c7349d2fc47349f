//===- Verify.cpp - Results against the references ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the verification of a run.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Verify.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::fusion;

bool VerifyReport::isVerified() const {
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(),
                                         [](const OutputReport &output) {
                                           return output.isVerified();
                                         });
}

double VerifyReport::getMaxError() const {
  double error = 0;
  for (const OutputReport &output : outputs)
    error = std::max(error, output.maxError);
  return error;
}

double VerifyReport::getMaxRelativeError() const {
  double error = 0;
  for (const OutputReport &output : outputs)
    error = std::max(error, output.maxRelativeError);
  return error;
}

FailureOr<std::unique_ptr<Verifier>>
Verifier::create(ModuleOp module, StringRef entry, bool fastNumerics) {
  auto reference = Reference::create(module, entry);
  if (failed(reference))
    return failure();
  auto verifier = std::make_unique<Verifier>();
  verifier->reference = std::move(*reference);
  verifier->fastNumerics = fastNumerics;
  return verifier;
}

LogicalResult Verifier::prepare(ArrayRef<HostTensor> inputs) {
  NumericsScope scope(fastNumerics);
  return reference->run(inputs, expected);
}

VerifyReport Verifier::compare(ArrayRef<HostTensor> outputs) const {
  VerifyReport report;
  for (auto [i, tensor] : llvm::enumerate(expected)) {
    OutputReport output;
    if (i < outputs.size())
      output = compareOutput(outputs[i], tensor);
    else
      output.failure = "is missing";
    report.outputs.push_back(std::move(output));
  }
  return report;
}
