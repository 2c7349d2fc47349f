//===- Mutation.h - Do the checks find planted faults? ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines mutation testing of the checks: a package that is verified
// is run again with one fault planted in its PTX at a time, and each fault has
// to be found.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_MUTATION_H
#define FUSION_TOOLS_MUTATION_H

#include "fusion/Reference/HostTensor.h"
#include "fusion/Tools/PtxEdits.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace mlir::fusion {

/// How a fault was found, by the first check that found it.
enum class MutantFate : uint8_t {
  Invalid,   ///< Not at all: the text is no PTX, so it is no mutant.
  Report,    ///< The emulator stopped the run with a report.
  Reference, ///< An output differs from the reference.
  Early,     ///< With asynchronous operations early: a report, or other bits.
  Payload,   ///< Payload mode: a report, or other bits.
  NoEffect,  ///< Not at all, and could not be: for these inputs it changes no
             ///< value, or none that an output depends on.
  Survived,  ///< Not at all.
};
constexpr unsigned kNumMutantFates = 7;

/// "report", ...
StringRef getMutantFateName(MutantFate fate);

struct Mutant {
  PtxEdit edit;
  unsigned module = 0;
  MutantFate fate = MutantFate::Survived;
  /// What the check said, one line; empty for survivors.
  std::string finding;
  /// Survivors: every output has the bits of the package without the fault.
  bool sameBits = false;
};

struct MutationOptions {
  unsigned count = 0;
  uint64_t seed = 0;
  std::string entry;
};

/// Inputs, and what says which outputs for them are wrong: a text, empty if
/// nothing is wrong.
struct MutationCase {
  std::vector<HostTensor> inputs;
  std::function<std::string(ArrayRef<HostTensor>)> findError;
};

/// What mutants are judged by.
struct MutationInputs {
  /// At least one. The first also decides what is executed.
  std::vector<MutationCase> cases;
  /// For payload mode; empty leaves it out.
  std::vector<HostTensor> payloadInputs;
};

/// Plants `options.count` faults in statements of `package` that the run
/// executes, one at a time, runs each on the emulator and says what became of
/// it. An error if the package cannot be read or does not run without a fault.
llvm::Expected<std::vector<Mutant>> runMutants(StringRef package,
                                               const MutationOptions &options,
                                               const MutationInputs &inputs);

/// A table of the fates by kind of fault, one line for each survivor, and
/// "mutants: N, found: N (P %), without effect: N", where N leaves those out.
std::string formatMutants(ArrayRef<Mutant> mutants);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_MUTATION_H
