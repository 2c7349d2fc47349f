//===- Mutation.cpp - Do the checks find planted faults? ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements mutation testing of the checks.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/Mutation.h"

#include "fusion/Executable/Package.h"
#include "fusion/Tools/PtxProbes.h"
#include "fusion/Tools/Session.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fusion;

/// Instructions that a warp of a mutant may run: a loop that lost its end
/// should not take long to be found.
static constexpr uint64_t kMutantSteps = uint64_t(1) << 21;

StringRef fusion::getMutantFateName(MutantFate fate) {
  static constexpr StringLiteral names[kNumMutantFates] = {
      "invalid", "report",    "reference", "early",
      "payload", "no effect", "survived"};
  return names[static_cast<unsigned>(fate)];
}

namespace {

/// The ways in which a package is run.
enum class RunMode { Late, Early, Payload };

/// Runs mutants of one package.
class MutantRunner {
public:
  MutantRunner(fusionpkg::PackageModel model, const MutationOptions &options,
               const MutationInputs &inputs)
      : model(std::move(model)), options(options), inputs(inputs) {}

  llvm::Error prepare();
  /// The edits of the statements of a module that some lane executes.
  std::vector<PtxEdit> findEdits(unsigned module) const;
  void judge(Mutant &mutant) const;
  const fusionpkg::PackageModel &getModel() const { return model; }

private:
  /// Loads and runs the bytes of a package. `isLoaded` tells a package that
  /// does not load from one that does not run.
  llvm::Expected<SmallVector<HostTensor>> run(StringRef package, RunMode mode,
                                              ArrayRef<HostTensor> inputs,
                                              bool &isLoaded) const;
  /// The first of the checks that finds something with another text of a
  /// module.
  MutantFate findFate(unsigned module, std::string ptx, Mutant &mutant) const;
  MutantFate findFate(StringRef package, Mutant &mutant) const;
  /// Whether a survivor changes no value, or none that an output depends on.
  bool hasNoEffect(const Mutant &mutant) const;

  fusionpkg::PackageModel model;
  const MutationOptions &options;
  const MutationInputs &inputs;
  /// Runs once, to see which lines of which module some lane executes.
  llvm::Error findExecutedLines(StringRef package);

  /// What the package gives without a fault.
  SmallVector<HostTensor> plainOutputs, payloadOutputs;
  /// Pairs of a module and a line of its text.
  llvm::DenseSet<std::pair<unsigned, unsigned>> executed;
};

} // namespace

llvm::Expected<SmallVector<HostTensor>>
MutantRunner::run(StringRef package, RunMode mode, ArrayRef<HostTensor> tensors,
                  bool &isLoaded) const {
  isLoaded = false;
  auto deviceOptions = FUSION_RT_INIT(FusionRtDeviceOptions);
  deviceOptions.payload = mode == RunMode::Payload;
  deviceOptions.earlyAsynchrony = mode == RunMode::Early;
  deviceOptions.emulatorThreads = 1;
  deviceOptions.maxSteps = kMutantSteps;
  auto session = Session::open("emulator", &deviceOptions);
  if (!session)
    return session.takeError();
  if (llvm::Error error = (*session)->load(package, options.entry))
    return error;
  isLoaded = true;
  return (*session)->run(tensors);
}

llvm::Error MutantRunner::findExecutedLines(StringRef package) {
  auto deviceOptions = FUSION_RT_INIT(FusionRtDeviceOptions);
  deviceOptions.profile = 1;
  auto session = Session::open("emulator", &deviceOptions);
  if (!session)
    return session.takeError();
  fusionemu::ProfileReport report;
  if (llvm::Error error = (*session)->setProfile(&report))
    return error;
  if (llvm::Error error = (*session)->load(package, options.entry))
    return error;
  auto outputs = (*session)->run(inputs.cases.front().inputs);
  if (!outputs)
    return outputs.takeError();
  for (const fusionemu::KernelProfile &kernel : report.getKernels()) {
    auto known = llvm::find_if(model.kernels, [&](const fusionpkg::Kernel &k) {
      return k.name == kernel.name;
    });
    if (known == model.kernels.end())
      continue;
    for (const fusionemu::InstructionProfile &one : kernel.profile.instructions)
      if (one.counts.lanes)
        executed.insert({known->module, one.line});
  }
  return llvm::Error::success();
}

std::vector<PtxEdit> MutantRunner::findEdits(unsigned module) const {
  std::vector<PtxEdit> edits = findPtxEdits(model.modules[module].ptx);
  llvm::erase_if(edits, [&](const PtxEdit &edit) {
    return !executed.contains({module, edit.line});
  });
  return edits;
}

llvm::Error MutantRunner::prepare() {
  // PTX is what is edited; a cubin of it would be something else.
  for (fusionpkg::Module &module : model.modules)
    module.cubin.clear();
  auto bytes = fusionpkg::writePackage(model);
  if (!bytes)
    return llvm::createStringError(bytes.getError().str());
  if (llvm::Error error = findExecutedLines(*bytes))
    return error;
  bool isLoaded;
  auto outputs =
      run(*bytes, RunMode::Late, inputs.cases.front().inputs, isLoaded);
  if (!outputs)
    return outputs.takeError();
  plainOutputs = std::move(*outputs);
  if (inputs.payloadInputs.empty())
    return llvm::Error::success();
  outputs = run(*bytes, RunMode::Payload, inputs.payloadInputs, isLoaded);
  if (!outputs)
    return outputs.takeError();
  payloadOutputs = std::move(*outputs);
  return llvm::Error::success();
}

/// Says which output differs, empty if none does.
static std::string findOtherBits(ArrayRef<HostTensor> left,
                                 ArrayRef<HostTensor> right) {
  if (left.size() != right.size())
    return "another number of outputs";
  for (auto [i, pair] : llvm::enumerate(llvm::zip(left, right))) {
    auto &[a, b] = pair;
    if (a.getDims() != b.getDims() || a.getNumBytes() != b.getNumBytes() ||
        (a.getNumBytes() &&
         std::memcmp(a.data(), b.data(), a.getNumBytes()) != 0))
      return ("output " + Twine(i) + " has other bits").str();
  }
  return "";
}

static std::string takeFirstLine(llvm::Error error) {
  return StringRef(llvm::toString(std::move(error))).split('\n').first.str();
}

MutantFate MutantRunner::findFate(StringRef package, Mutant &mutant) const {
  bool isLoaded;
  for (const MutationCase &test : inputs.cases) {
    auto outputs = run(package, RunMode::Late, test.inputs, isLoaded);
    if (!outputs) {
      mutant.finding = takeFirstLine(outputs.takeError());
      return isLoaded ? MutantFate::Report : MutantFate::Invalid;
    }
    mutant.finding = test.findError(*outputs);
    if (!mutant.finding.empty())
      return MutantFate::Reference;
    if (&test == &inputs.cases.front())
      mutant.sameBits = findOtherBits(*outputs, plainOutputs).empty();
  }

  auto early =
      run(package, RunMode::Early, inputs.cases.front().inputs, isLoaded);
  if (!early)
    mutant.finding = takeFirstLine(early.takeError());
  else if (mutant.sameBits)
    mutant.finding = findOtherBits(*early, plainOutputs);
  if (!mutant.finding.empty())
    return MutantFate::Early;

  if (inputs.payloadInputs.empty())
    return MutantFate::Survived;
  auto payload = run(package, RunMode::Payload, inputs.payloadInputs, isLoaded);
  mutant.finding = payload ? findOtherBits(*payload, payloadOutputs)
                           : takeFirstLine(payload.takeError());
  return mutant.finding.empty() ? MutantFate::Survived : MutantFate::Payload;
}

MutantFate MutantRunner::findFate(unsigned module, std::string ptx,
                                  Mutant &mutant) const {
  fusionpkg::PackageModel edited = model;
  edited.modules[module].ptx = std::move(ptx);
  auto bytes = fusionpkg::writePackage(edited);
  if (bytes)
    return findFate(*bytes, mutant);
  mutant.finding = bytes.getError().str();
  return MutantFate::Invalid;
}

bool MutantRunner::hasNoEffect(const Mutant &mutant) const {
  StringRef ptx = model.modules[mutant.module].ptx;
  auto survives = [&](std::string text) {
    Mutant probe;
    return findFate(mutant.module, std::move(text), probe) ==
               MutantFate::Survived &&
           probe.sameBits;
  };
  if (auto comparison = buildComparison(ptx, mutant.edit))
    if (survives(*comparison))
      return true;
  std::vector<std::string> corruptions = buildCorruptions(ptx, mutant.edit);
  return !corruptions.empty() && llvm::all_of(corruptions, survives);
}

void MutantRunner::judge(Mutant &mutant) const {
  const std::string &ptx = model.modules[mutant.module].ptx;
  mutant.fate = findFate(mutant.module, applyPtxEdit(ptx, mutant.edit), mutant);
  if (mutant.fate == MutantFate::Survived && hasNoEffect(mutant))
    mutant.fate = MutantFate::NoEffect;
}

llvm::Expected<std::vector<Mutant>>
fusion::runMutants(StringRef package, const MutationOptions &options,
                   const MutationInputs &inputs) {
  auto model = fusionpkg::readPackage(package.data(), package.size());
  if (!model)
    return llvm::createStringError(model.getError().str());
  MutantRunner runner(std::move(*model), options, inputs);
  if (llvm::Error error = runner.prepare())
    return error;
  std::vector<Mutant> mutants;
  const std::vector<fusionpkg::Module> &modules = runner.getModel().modules;
  unsigned left = options.count;
  for (unsigned i = 0; i < modules.size(); ++i) {
    unsigned share = left / (modules.size() - i);
    left -= share;
    for (PtxEdit &edit :
         samplePtxEdits(runner.findEdits(i), share, options.seed + i)) {
      Mutant &mutant = mutants.emplace_back();
      mutant.edit = std::move(edit);
      mutant.module = i;
      runner.judge(mutant);
    }
  }
  return mutants;
}

std::string fusion::formatMutants(ArrayRef<Mutant> mutants) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::array<std::array<unsigned, kNumMutantFates>, kNumPtxEditKinds> counts{};
  unsigned numFaults = 0, numFound = 0, numWithout = 0;
  for (const Mutant &mutant : mutants) {
    ++counts[unsigned(mutant.edit.kind)][unsigned(mutant.fate)];
    bool isWithout = mutant.fate == MutantFate::NoEffect;
    bool isFault = mutant.fate != MutantFate::Invalid && !isWithout;
    numWithout += isWithout;
    numFaults += isFault;
    numFound += isFault && mutant.fate != MutantFate::Survived;
  }
  os << llvm::format("%-14s", "fault");
  for (unsigned fate = 0; fate < kNumMutantFates; ++fate)
    os << llvm::format("%10s",
                       getMutantFateName(static_cast<MutantFate>(fate)).data());
  os << "\n";
  for (unsigned kind = 0; kind < kNumPtxEditKinds; ++kind) {
    if (llvm::all_of(counts[kind], [](unsigned n) { return n == 0; }))
      continue;
    os << llvm::format(
        "%-14s", getPtxEditKindName(static_cast<PtxEditKind>(kind)).data());
    for (unsigned count : counts[kind])
      os << llvm::format("%10u", count);
    os << "\n";
  }
  for (const Mutant &mutant : mutants)
    if (mutant.fate == MutantFate::Survived)
      os << "survived: line " << mutant.edit.line << " "
         << getPtxEditKindName(mutant.edit.kind) << ": " << mutant.edit.before
         << " => "
         << (mutant.edit.after.empty() ? "nothing" : mutant.edit.after)
         << (mutant.sameBits ? " (same bits)" : " (other bits)") << "\n";
  os << "mutants: " << numFaults << ", found: " << numFound;
  if (numFaults)
    os << llvm::format(" (%.1f %%)", 100.0 * numFound / numFaults);
  os << ", without effect: " << numWithout << "\n";
  return text;
}
