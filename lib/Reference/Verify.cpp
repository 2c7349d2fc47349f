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
#include <random>

using namespace mlir;
using namespace mlir::fusion;

/// How many times small outputs are evaluated with inputs off by a rounding.
static constexpr int kNumPerturbed = 3;

bool VerifyReport::isVerified() const {
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(),
                                         [](const OutputReport &output) {
                                           return output.verified;
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

FailureOr<std::unique_ptr<Verifier>> Verifier::create(ModuleOp module,
                                                      StringRef entry) {
  auto exact = Reference::create(module, entry, ReferenceMode::Float64);
  if (failed(exact))
    return failure();
  auto declared = Reference::create(module, entry, ReferenceMode::Declared);
  if (failed(declared))
    return failure();
  auto verifier = std::make_unique<Verifier>();
  verifier->exact = std::move(*exact);
  verifier->declared = std::move(*declared);
  return verifier;
}

/// `inputs` with every float off by half of `epsilon`, up or down.
static SmallVector<HostTensor> perturb(ArrayRef<HostTensor> inputs,
                                       double epsilon, unsigned seed) {
  SmallVector<HostTensor> result;
  std::mt19937_64 random(seed);
  for (const HostTensor &input : inputs) {
    if (!isFloat(input)) {
      result.push_back(input);
      continue;
    }
    HostTensor tensor = createTensor(DType::F64, input.getDims());
    for (int64_t i = 0, e = input.getNumElements(); i < e; ++i)
      tensor.setDouble(i, input.getDouble(i) *
                              (1 + (random() & 1 ? epsilon : -epsilon) / 2));
    result.push_back(std::move(tensor));
  }
  return result;
}

LogicalResult Verifier::prepare(ArrayRef<HostTensor> inputs) {
  perturbedResults.clear();
  if (failed(declared->run(inputs, declaredResults)) ||
      failed(exact->run(inputs, exactResults)))
    return failure();
  for (auto [i, result] : llvm::enumerate(declaredResults)) {
    if (!isFloat(result) || result.getNumElements() >= kSmallOutput)
      continue;
    double epsilon = getSignature().outputs[i].coarsestEpsilon;
    auto &results = perturbedResults[epsilon];
    for (int seed = results.size(); seed < kNumPerturbed; ++seed)
      if (failed(exact->run(perturb(inputs, epsilon, seed),
                            results.emplace_back())))
        return failure();
  }
  return success();
}

VerifyReport Verifier::compare(ArrayRef<HostTensor> outputs) const {
  VerifyReport report;
  for (auto [i, declaredResult] : llvm::enumerate(declaredResults)) {
    OutputReport output;
    if (i >= outputs.size()) {
      output.failure = "is missing";
    } else {
      std::vector<const HostTensor *> perturbed;
      auto it =
          perturbedResults.find(getSignature().outputs[i].coarsestEpsilon);
      if (it != perturbedResults.end())
        for (const SmallVector<HostTensor> &results : it->second)
          perturbed.push_back(&results[i]);
      output =
          compareOutput(outputs[i], exactResults[i], declaredResult, perturbed,
                        getSignature().outputs[i].derivesFromFloat,
                        getSignature().outputs[i].sumError);
    }
    report.outputs.push_back(std::move(output));
  }
  return report;
}
