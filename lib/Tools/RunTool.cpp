//===- RunTool.cpp - fusion-run as a function -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the run of a program or package on inputs, from its
// compilation to the verdict.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/RunTool.h"

#include "fusion-rt/Npy.h"
#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Executable/Package.h"
#include "fusion/Reference/Compare.h"
#include "fusion/Reference/Passes.h"
#include "fusion/Reference/RandomSizes.h"
#include "fusion/Reference/Verify.h"
#include "fusion/Report/Format.h"
#include "fusion/Tools/CompileTool.h"
#include "fusion/Tools/Mutation.h"
#include "fusion/Tools/Predictions.h"

#include "fusion/Tools/Progress.h"
#include "fusion/Tools/Session.h"
#include "fusion/Tools/ToolSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::fusion;

std::string fusion::parseDim(const std::string &text,
                             std::map<std::string, int64_t> &dims) {
  auto [name, size] = StringRef(text).rsplit('=');
  int64_t value;
  if (name.empty() || size.getAsInteger(10, value) || value < 0)
    return formatError(ErrorCode::BadCommandLine,
                       "--dim=" + text + " is not NAME=SIZE");
  if (!dims.try_emplace(name.str(), value).second)
    return formatError(ErrorCode::BadCommandLine,
                       "--dim gives '" + name + "' twice");
  return "";
}

std::string fusion::parseIntRange(const std::string &text, int64_t &low,
                                  int64_t &high) {
  auto [first, last] = StringRef(text).split(':');
  if (first.getAsInteger(10, low) || last.getAsInteger(10, high) || low > high)
    return formatError(ErrorCode::BadCommandLine,
                       "--int-range=" + text + " is not LO:HI");
  return "";
}

namespace {

/// What is known of one way to run the program; nothing below 0.
struct RunFigures {
  size_t kernels = 0;
  double predictedUs = -1, measuredUs = -1;
  int64_t predictedBytes = -1, countedBytes = -1;
};

/// The steps of one call of the tool. Each returns an exit status and has
/// reported its error if that is not kExitOk.
class Runner {
public:
  Runner(const RunToolOptions &options, const DialectRegistry &registry)
      : options(options), context(registry), diagnostics(sourceMgr, &context),
        os(options.profile == ProfileFormat::Json ? llvm::errs()
                                                  : llvm::outs()) {}

  int run();

private:
  int fail(llvm::Error error) {
    return reportError(llvm::toString(std::move(error)));
  }

  int loadInput();
  int compile();
  CompileOptions getCompileOptions();
  /// Compiles the program into the bytes of a package.
  int compileInto(std::string &bytes, const CompileOptions &compileOptions,
                  CompileReport &report);
  int loadInputs();
  RandomInputOptions getDrawing(RandomInputOptions drawing);
  /// Where output `index` goes.
  std::string getOutputPath(size_t index) {
    return options.outputFolder + "/output" + std::to_string(index) + ".npy";
  }
  /// Refuses to write an output over an input.
  int checkOutputFiles();
  int launch();
  int writeOutputs();
  int verify();
  FailureOr<SmallVector<HostTensor>>
  runPayload(const CompileOptions &compileOptions, CompileReport &report,
             int &status);
  FailureOr<std::string> findPayloadError(CompileOptions single,
                                          std::string difference, int &status);
  int verifyPayload();
  int mutate();
  std::vector<HostTensor>
  drawOthers(function_ref<void(RandomInputOptions &)> change);
  int addMutationCase(std::vector<HostTensor> drawn, StringRef what,
                      MutationInputs &mutation);
  int addMutationCases(MutationInputs &mutation);
  int bench();
  llvm::Error measure(StringRef bytes, RunFigures &figures);
  int compare();
  int writeReport();
  void printFigures();
  int openSession();
  void printProfile();

  const RunToolOptions &options;
  MLIRContext context;
  llvm::SourceMgr sourceMgr;
  ToolDiagnostics diagnostics;
  /// Where reports for people go.
  raw_ostream &os;
  fusionemu::ProfileReport profile;
  /// Of the compilation, if there was one.
  CompileReport compiled;
  /// Of `bench`.
  std::optional<FusionRtBenchResult> timed;
  /// The program as written, for the reference; null without one.
  OwningOpRef<ModuleOp> program;
  std::string entryName;
  std::string package;
  bool isGivenPackage = false;
  std::unique_ptr<Session> session;
  std::unique_ptr<Verifier> verifier;
  std::vector<HostTensor> inputs;
  SmallVector<HostTensor> outputs;
};

} // namespace

/// Tells packages from text, and reads whichever it is. With a package, the
/// program is the one given for reference.
int Runner::loadInput() {
  std::string programPath = options.input;
  if (options.input != "-") {
    auto bytes = fusionpkg::readFile(options.input);
    if (!bytes)
      return reportError(ErrorCode::InputUnreadable,
                         bytes.getError().getCause());
    if (fusionpkg::looksLikePackage(bytes->data(), bytes->size()) ||
        StringRef(options.input).ends_with(".fpk")) {
      package = std::move(*bytes);
      isGivenPackage = true;
      programPath = options.reference;
      if ((options.verify || options.verifyPayload) && programPath.empty())
        return reportError(ErrorCode::NoReferenceProgram,
                           options.input +
                               " holds kernels, not the program to check "
                               "them against");
    }
  }
  if (isGivenPackage && !options.steering.isEmpty())
    return reportError(ErrorCode::BadCommandLine,
                       options.input + " is a package: its kernels are made",
                       "give the program for --must, --never and "
                       "--max-kernels");
  entryName = options.entry;
  if (programPath.empty())
    return kExitOk;
  program = loadProgram(programPath, sourceMgr, &context);
  if (!program)
    return diagnostics.getExitStatus();
  if (std::string error = steer(*program, sourceMgr, options.steering);
      !error.empty())
    return reportError(error);
  FailureOr<func::FuncOp> entry = findEntry(*program, options.entry);
  if (failed(entry))
    return diagnostics.getExitStatus();
  entryName = entry->getName().str();
  return kExitOk;
}

/// Compiles for the device at hand, unless a target was named.
int Runner::compile() {
  CompileOptions compileOptions = getCompileOptions();
  if (!options.report.empty())
    compileOptions.detail = ReportDetail::Phases;
  if (int status = compileInto(package, compileOptions, compiled))
    return status;
  printReport(compiled, os);
  if (options.explain)
    os << compiled.explain;
  return kExitOk;
}

CompileOptions Runner::getCompileOptions() {
  CompileOptions compileOptions;
  compileOptions.target = options.target;
  compileOptions.defaultTarget = session->getTarget();
  compileOptions.fastNumerics = options.fastNumerics;
  compileOptions.largestValue = options.largestValue;
  // The profile names lines of the program.
  compileOptions.lineInfo = options.profile != ProfileFormat::None;
  return compileOptions;
}

int Runner::compileInto(std::string &bytes,
                        const CompileOptions &compileOptions,
                        CompileReport &report) {
  OwningOpRef<ModuleOp> module = program->clone();
  diagnostics.setDefaultCode(ErrorCode::CompileFailed);
  std::optional<Progress> progress(&context);
  CompileOptions watched = compileOptions;
  watched.onPhase = [&](StringRef phase) { progress->show(phase); };
  FailureOr<std::string> result = compileToPackage(*module, watched, &report);
  progress.reset();
  if (failed(result))
    return diagnostics.hasError() ? diagnostics.getExitStatus()
                                  : reportError(ErrorCode::CompileFailed,
                                                "the compiler gave no reason");
  bytes = std::move(*result);
  return kExitOk;
}

/// `drawing` with sizes that meet what the entry requires of them. If there
/// are none, the launch says why.
RandomInputOptions Runner::getDrawing(RandomInputOptions drawing) {
  auto model = fusionpkg::readPackage(package);
  if (model)
    for (const fusionpkg::Entry &entry : model->entries)
      if (entry.name == entryName)
        drawSizes(entry, drawing);
  return drawing;
}

int Runner::loadInputs() {
  const Signature &signature =
      verifier ? verifier->getSignature() : session->getSignature();
  if (!options.random) {
    if (options.inputFiles.size() != signature.inputs.size())
      return reportError(ErrorCode::WrongInputCount,
                         "'" + entryName + "' takes " +
                             Twine(signature.inputs.size()) + " inputs, " +
                             Twine(options.inputFiles.size()) + " were given");
    for (auto [i, path] : llvm::enumerate(options.inputFiles)) {
      auto tensor = fusionrt::readNpy(path, signature.inputs[i].dtype);
      if (!tensor)
        return reportError(tensor.getError().str());
      std::string problem = signature.inputs[i].describeMismatch(
          tensor->getDType(), tensor->getDims());
      if (!problem.empty())
        return reportError(ErrorCode::WrongInput, path + " " + problem);
      inputs.push_back(std::move(*tensor));
    }
    return kExitOk;
  }
  std::string message;
  switch (drawInputs(signature, getDrawing(options.randomOptions), inputs,
                     message)) {
  case RandomInputError::None:
    break;
  case RandomInputError::BadDim:
    return reportError(ErrorCode::BadDim, message);
  case RandomInputError::Overflow:
    return reportError(ErrorCode::SizeOverflow, message);
  }
  os << "inputs:";
  for (const HostTensor &input : inputs)
    os << " " << getTypeString(input);
  os << " (seed " << options.randomOptions.seed << ")\n";
  return kExitOk;
}

int Runner::checkOutputFiles() {
  if (options.outputFolder.empty())
    return kExitOk;
  for (size_t i = 0; i < session->getSignature().outputs.size(); ++i)
    for (const std::string &input : options.inputFiles)
      if (std::string error = checkOutput("--output", getOutputPath(i), input);
          !error.empty())
        return reportError(error);
  return kExitOk;
}

int Runner::launch() {
  auto results = session->run(inputs);
  if (!results)
    return fail(results.takeError());
  outputs = std::move(*results);
  return kExitOk;
}

int Runner::writeOutputs() {
  if (std::error_code error =
          llvm::sys::fs::create_directories(options.outputFolder))
    return reportError(ErrorCode::OutputUnwritable,
                       options.outputFolder + ": " + error.message());
  for (auto [i, output] : llvm::enumerate(outputs)) {
    if (fusionpkg::Error error = fusionrt::writeNpy(getOutputPath(i), output))
      return reportError(error.str());
  }
  return kExitOk;
}

int Runner::verify() {
  diagnostics.setDefaultCode(ErrorCode::ReferenceUnsupported);
  if (failed(verifier->prepare(inputs)))
    return diagnostics.getExitStatus();
  VerifyReport report = verifier->compare(outputs);
  for (auto [i, output] : llvm::enumerate(report.outputs)) {
    os << "output " << i << ": "
       << (i < outputs.size() ? getTypeString(outputs[i]) : "none");
    if (i < outputs.size() && isFloat(outputs[i]))
      os << " max error " << llvm::format("%.3g", output.maxError)
         << ", relative to RMS "
         << llvm::format("%.3g", output.maxRelativeError) << ", allowed "
         << llvm::format("%.3g", output.allowedMaxError);
    if (output.numUnchecked)
      os << ", " << output.numUnchecked << " elements not checked";
    os << "\n";
  }
  // What is wrong is said before what cannot be told.
  for (auto [verdict, code] :
       {std::pair(Verdict::Wrong, ErrorCode::NotVerified),
        std::pair(Verdict::NotChecked, ErrorCode::NotChecked)})
    for (auto [i, output] : llvm::enumerate(report.outputs)) {
      if (output.verdict != verdict)
        continue;
      os.flush();
      std::string place = "output " + std::to_string(i);
      if (output.failingIndex >= 0)
        place += formatIndex(output.failingIndex, outputs[i].getDims());
      return reportError(code, place + " " + output.failure);
    }
  os << "max error: " << llvm::format("%.3g", report.getMaxError())
     << ", relative to RMS "
     << llvm::format("%.3g", report.getMaxRelativeError()) << "\nverified\n";
  return kExitOk;
}

/// Traffic for the sizes of this run, which the report of the compiler may
/// not know.
void Runner::printFigures() {
  llvm::Expected<FusionRtFigures> figures = session->getFigures(inputs);
  if (!figures) {
    llvm::consumeError(figures.takeError());
    return;
  }
  os << "launches: " << figures->numLaunches;
  if (figures->bytesBefore >= 0)
    os << ", traffic " << formatBytes(figures->bytesBefore) << " unfused -> "
       << formatBytes(figures->bytesAfter);
  os << ", workspace " << formatBytes(double(figures->workspaceBytes)) << "\n";
}

/// Names the first element that differs, or is empty. Elements of half a byte
/// count two by two.
static std::string findDifference(const HostTensor &fused,
                                  const HostTensor &single) {
  if (fused.getDType() != single.getDType() ||
      fused.getDims() != single.getDims())
    return " is " + getTypeString(fused) + " fused, " + getTypeString(single) +
           " one operation at a time";
  unsigned width =
      std::max(fusionpkg::getStorageBits(fused.getDType()) / 8, 1u);
  for (uint64_t at = 0; at < fused.getNumBytes(); at += width) {
    uint64_t left = 0, right = 0;
    std::memcpy(&left, fused.data() + at, width);
    std::memcpy(&right, single.data() + at, width);
    if (left == right)
      continue;
    bool halves = fused.getDType() == DType::I4;
    int64_t index = static_cast<int64_t>(at / width) * (halves ? 2 : 1);
    return formatIndex(index, fused.getDims()) + " is 0x" +
           llvm::utohexstr(left, /*LowerCase=*/true) + " fused, 0x" +
           llvm::utohexstr(right, /*LowerCase=*/true) +
           " one operation at a time";
  }
  return "";
}

/// Compiles the program and runs it in payload mode, on a device of its own.
FailureOr<SmallVector<HostTensor>>
Runner::runPayload(const CompileOptions &compileOptions, CompileReport &report,
                   int &status) {
  std::string bytes;
  if ((status = compileInto(bytes, compileOptions, report)))
    return failure();
  auto deviceOptions = FUSION_RT_INIT(FusionRtDeviceOptions);
  deviceOptions.payload = true;
  deviceOptions.earlyAsynchrony = options.earlyAsynchrony;
  auto other = Session::open("emulator", &deviceOptions);
  llvm::Error error =
      other ? (*other)->load(bytes, entryName) : other.takeError();
  if (error) {
    status = fail(std::move(error));
    return failure();
  }
  auto results = (*other)->run(inputs);
  if (!results) {
    status = fail(results.takeError());
    return failure();
  }
  return std::move(*results);
}

/// Names the first output that differs, with its first element that does;
/// empty if none does.
static std::string findDifference(ArrayRef<HostTensor> fused,
                                  ArrayRef<HostTensor> single) {
  if (fused.size() != single.size())
    return ("the package has " + Twine(fused.size()) +
            " outputs, the program " + Twine(single.size()))
        .str();
  for (auto [i, output] : llvm::enumerate(fused))
    if (std::string difference = findDifference(output, single[i]);
        !difference.empty())
      return ("output " + Twine(i) + difference).str();
  return "";
}

/// What is wrong with outputs that differ from `single`'s; empty if
/// simplifications that hold for floats alone explain it: then the fused
/// program differs alike, and agrees where neither is simplified.
FailureOr<std::string> Runner::findPayloadError(CompileOptions single,
                                                std::string difference,
                                                int &status) {
  CompileReport ignored;
  CompileOptions fused = single;
  fused.fuse = true;
  if (isGivenPackage) {
    auto plain = runPayload(fused, ignored, status);
    if (failed(plain))
      return failure();
    if (!findDifference(outputs, *plain).empty())
      return difference;
  }
  fused.opaqueFloats = single.opaqueFloats = true;
  // Such kernels have instructions that the chip may lack.
  fused.runPtxas = single.runPtxas = false;
  auto expected = runPayload(single, ignored, status);
  if (failed(expected))
    return failure();
  auto results = runPayload(fused, ignored, status);
  if (failed(results))
    return failure();
  return findDifference(*results, *expected);
}

/// Runs the program again, each operation a kernel, and compares the bits.
int Runner::verifyPayload() {
  // What is planned already would be compared with itself.
  bool isPlanned =
      program->walk([](KernelOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (isPlanned)
    return reportError(ErrorCode::NotChecked,
                       "the program is planned already, so that its operations "
                       "cannot be run one at a time",
                       "give the program as it was before planning");
  CompileOptions single = getCompileOptions();
  single.fuse = false;
  // A package has been compiled for a chip already.
  if (options.target.empty())
    single.target = session->getPackageTarget();
  CompileReport report;
  int status = kExitOk;
  auto expected = runPayload(single, report, status);
  if (failed(expected))
    return status;
  std::string difference = findDifference(outputs, *expected);
  bool isPlain = difference.empty();
  if (!isPlain) {
    auto error = findPayloadError(single, difference, status);
    if (failed(error))
      return status;
    os.flush();
    if (!error->empty())
      return reportError(ErrorCode::PayloadDiffers, *error);
  }
  os << "payload: " << outputs.size()
     << (outputs.size() == 1 ? " tensor" : " tensors") << " equal"
     << (isPlain ? "" : " without simplifications of floats") << ", "
     << report.kernelsAfter << " kernels one operation at a time\n";
  return kExitOk;
}

/// Another verifier of the program, for other inputs; null if there is none.
static std::shared_ptr<Verifier> prepareVerifier(ModuleOp program,
                                                 StringRef entry,
                                                 ArrayRef<HostTensor> inputs,
                                                 bool fastNumerics) {
  auto created = Verifier::create(program, entry, fastNumerics);
  if (failed(created) || failed((*created)->prepare(inputs)))
    return nullptr;
  return std::move(*created);
}

/// What is wrong with `outputs`, empty if nothing is. Elements that cannot be
/// checked are not.
static std::string findError(const Verifier &verifier,
                             ArrayRef<HostTensor> outputs) {
  for (const OutputReport &output : verifier.compare(outputs).outputs)
    if (output.verdict == Verdict::Wrong)
      return output.failure;
  return "";
}

/// Inputs of the kind that `change` asks for.
std::vector<HostTensor>
Runner::drawOthers(function_ref<void(RandomInputOptions &)> change) {
  RandomInputOptions changed = options.randomOptions;
  change(changed);
  std::vector<HostTensor> drawn;
  std::string message;
  drawInputs(verifier->getSignature(), getDrawing(changed), drawn, message);
  return drawn;
}

/// Adds a case with `drawn` as its inputs, unless it fails without a fault:
/// only what holds then can find one.
int Runner::addMutationCase(std::vector<HostTensor> drawn, StringRef what,
                            MutationInputs &mutation) {
  std::shared_ptr<Verifier> other =
      prepareVerifier(*program, entryName, drawn, options.fastNumerics);
  if (!other)
    return diagnostics.getExitStatus();
  auto results = session->run(drawn);
  if (!results)
    return fail(results.takeError());
  if (std::string error = findError(*other, *results); !error.empty()) {
    os << what << " are left out: without a fault, an output " << error << "\n";
    return kExitOk;
  }
  mutation.cases.push_back(
      {std::move(drawn), [=](ArrayRef<HostTensor> outputs) {
         return findError(*other, outputs);
       }});
  return kExitOk;
}

/// `tensor` with quarters for its floats, none of them 0: what a number is
/// split into leaves a remainder of 0 then.
static HostTensor roundToQuarters(HostTensor tensor) {
  if (isFloat(tensor))
    for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i) {
      double value = tensor.getDouble(i);
      tensor.setDouble(
          i, std::copysign(std::ceil(4 * std::fabs(value)) / 4, value));
    }
  return tensor;
}

/// Adds inputs that tell faults apart which those of this run do not: other
/// sizes where they are free, special numbers, and infinities in one input at
/// a time, so that what they meet in the others stays finite.
int Runner::addMutationCases(MutationInputs &mutation) {
  auto draw = [&](uint64_t number, double specials, double infinities) {
    return drawOthers([&](RandomInputOptions &changed) {
      changed.seed = options.randomOptions.seed + number;
      changed.specialShare = specials;
      changed.infinityShare = infinities;
      changed.dims.clear();
    });
  };
  for (uint64_t i = 1; i <= 8; ++i) {
    std::vector<HostTensor> plain = draw(i, 0, 0);
    double share = i <= 4 ? 0.02 : 0.005;
    std::vector<HostTensor> infinite = draw(i, 0, share);
    if (int status = addMutationCase(plain, "other sizes", mutation))
      return status;
    if (int status =
            addMutationCase(draw(i, share / 5, 0), "special numbers", mutation))
      return status;
    for (size_t input = 0; input < plain.size(); ++input) {
      if (!isFloat(plain[input]))
        continue;
      std::vector<HostTensor> mixed;
      for (const HostTensor &tensor : plain)
        mixed.push_back(i % 2 ? roundToQuarters(tensor) : tensor);
      mixed[input] = infinite[input];
      if (int status =
              addMutationCase(std::move(mixed), "infinities", mutation))
        return status;
    }
  }
  return kExitOk;
}

/// Plants faults in the kernels, one at a time, and says which were found: with
/// the inputs of this run and others, and in payload mode.
int Runner::mutate() {
  MutationInputs mutation;
  mutation.cases.push_back({inputs, [&](ArrayRef<HostTensor> results) {
                              return findError(*verifier, results);
                            }});
  mutation.payloadInputs =
      drawOthers([](RandomInputOptions &changed) { changed.floatBits = true; });
  if (int status = addMutationCases(mutation))
    return status;
  llvm::Expected<std::vector<Mutant>> mutants = runMutants(
      package, {options.mutate, options.randomOptions.seed, entryName},
      mutation);
  if (!mutants)
    return fail(mutants.takeError());
  os << formatMutants(*mutants);
  return kExitOk;
}

int Runner::bench() {
  llvm::Expected<FusionRtBenchResult> result = session->bench(inputs);
  if (!result)
    return fail(result.takeError());
  llvm::Expected<FusionRtFigures> figures = session->getFigures(inputs);
  if (!figures)
    return fail(figures.takeError());
  timed = *result;
  double seconds = result->medianMicroseconds * 1e-6;
  os << "time: "
     << llvm::format("%.2f us median, %.2f us best of %u",
                     result->medianMicroseconds, result->minMicroseconds,
                     result->samples)
     << (result->usedGraph ? ", in a CUDA graph" : "") << "\n";
  if (figures->bytesAfter >= 0)
    os << "bandwidth: "
       << llvm::format("%.1f GB/s", figures->bytesAfter / seconds * 1e-9)
       << "\n";
  if (figures->flops > 0)
    os << "arithmetic: "
       << llvm::format("%.2f TFLOP/s", figures->flops / seconds * 1e-12)
       << "\n";
  // The roofline is that of the chip the program was compiled for, which the
  // table knows better than the driver.
  const TargetInfo *info = lookupTarget(session->getPackageTarget());
  if (info && figures->bytesAfter >= 0) {
    double bound =
        std::max(figures->bytesAfter / info->fitted.rates.dramBytesPerSecond,
                 std::max<int64_t>(figures->flops, 0) /
                     info->fitted.rates.tensorFlopsPerSecond);
    os << "roofline: "
       << llvm::format("%.2f us, reached %.1f %%", bound * 1e6,
                       100 * bound / seconds)
       << "\n";
  }
  return kExitOk;
}

//===----------------------------------------------------------------------===//
// Comparison and report
//===----------------------------------------------------------------------===//

/// The traffic that `profile` counted: -1 where nothing was.
static int64_t getCountedBytes(const fusionemu::ProfileReport &profile) {
  if (profile.getKernels().empty())
    return -1;
  int64_t bytes = 0;
  for (const fusionemu::KernelProfile &kernel : profile.getKernels())
    bytes += static_cast<int64_t>(fusionemu::getTraffic(kernel.counters));
  return bytes;
}

static void printRow(StringRef name, const RunFigures &figures,
                     raw_ostream &os) {
  auto formatUs = [](double us) {
    return us < 0 ? std::string("-") : llvm::formatv("{0:F2} us", us).str();
  };
  auto formatCount = [](int64_t bytes) {
    return bytes < 0 ? std::string("-") : formatBytes(double(bytes));
  };
  os << llvm::formatv(
      "{0,-10}{1,10}{2,14}{3,14}{4,14}{5,14}\n", name, figures.kernels,
      formatUs(figures.predictedUs), formatUs(figures.measuredUs),
      formatCount(figures.predictedBytes), formatCount(figures.countedBytes));
}

static RunFigures getFigures(const CompileReport &report) {
  RunFigures figures;
  figures.kernels = report.kernelsAfter;
  figures.predictedUs = report.predictedUs;
  figures.predictedBytes = report.bytesAfter;
  return figures;
}

/// Runs `bytes` on a device of its own and measures what that can: a GPU has
/// times, the emulator counts traffic.
llvm::Error Runner::measure(StringRef bytes, RunFigures &figures) {
  auto deviceOptions = FUSION_RT_INIT(FusionRtDeviceOptions);
  deviceOptions.profile = session->isEmulator();
  deviceOptions.earlyAsynchrony = options.earlyAsynchrony;
  auto opened = Session::open(session->isEmulator() ? "emulator"
                                                    : StringRef(options.device),
                              &deviceOptions);
  if (!opened)
    return opened.takeError();
  if (llvm::Error error = (*opened)->load(bytes, entryName))
    return error;
  if (!(*opened)->isEmulator()) {
    auto time = (*opened)->bench(inputs);
    if (!time)
      return time.takeError();
    figures.measuredUs = time->medianMicroseconds;
    return llvm::Error::success();
  }
  fusionemu::ProfileReport counted;
  if (llvm::Error error = (*opened)->setProfile(&counted))
    return error;
  auto results = (*opened)->run(inputs);
  if (!results)
    return results.takeError();
  figures.countedBytes = getCountedBytes(counted);
  return llvm::Error::success();
}

/// Prints what the program takes, and what it would with a kernel for each
/// operation.
int Runner::compare() {
  CompileOptions single = getCompileOptions();
  single.fuse = false;
  CompileReport unfused;
  std::string bytes;
  if (int status = compileInto(bytes, single, unfused))
    return status;
  RunFigures before = getFigures(unfused), after = getFigures(compiled);
  if (llvm::Error error = measure(bytes, before))
    return fail(std::move(error));
  if (llvm::Error error = measure(package, after))
    return fail(std::move(error));
  os << llvm::formatv("{0,-10}{1,10}{2,14}{3,14}{4,14}{5,14}\n", "", "kernels",
                      "predicted", "measured", "traffic", "counted");
  printRow("unfused", before, os);
  printRow("fused", after, os);
  os << (session->isEmulator()
             ? "no times were measured: the emulator has none\n"
             : "no traffic was counted: a GPU does not\n");
  if (compiled.representativeSize)
    os << "predictions are" << formatAssumedSize(compiled.representativeSize)
       << "\n";
  return kExitOk;
}

/// Writes the page, with what was measured.
int Runner::writeReport() {
  llvm::json::Object measured{{"entry", entryName},
                              {"device", session->getDeviceName()}};
  if (timed)
    measured["time_ns"] = toCount(timed->medianMicroseconds * 1000);
  if (int64_t bytes = getCountedBytes(profile); bytes >= 0)
    measured["traffic_bytes"] = bytes;
  llvm::json::Array kernels;
  for (const fusionemu::KernelProfile &kernel : profile.getKernels())
    kernels.push_back(llvm::json::Object{
        {"name", kernel.name},
        {"launches", kernel.launches},
        {"traffic_bytes", fusionemu::getTraffic(kernel.counters)},
        {"instructions", kernel.counters.instructions},
        {"bank_conflicts", kernel.counters.bankConflicts}});
  measured["kernels"] = std::move(kernels);
  compiled.explanation["measured"] = std::move(measured);
  std::string text = getProgramText(sourceMgr).str();
  if (text.empty())
    text = writeProgram(*program, /*asBytecode=*/false);
  std::string page = renderReport(compiled, options.input, text);
  if (std::string error = writeOutput(options.report, page); !error.empty())
    return reportError(error);
  return kExitOk;
}

int Runner::openSession() {
  bool wantsProfile = options.profile != ProfileFormat::None;
  auto deviceOptions = FUSION_RT_INIT(FusionRtDeviceOptions);
  deviceOptions.profile = wantsProfile;
  deviceOptions.payload = options.verifyPayload;
  deviceOptions.earlyAsynchrony = options.earlyAsynchrony;
  // A GPU neither counts nor knows payloads: they choose the device.
  std::string device = options.device;
  if ((wantsProfile || options.verifyPayload || options.mutate) &&
      device == "auto")
    device = "emulator";
  auto opened = Session::open(device, &deviceOptions);
  if (!opened)
    return fail(opened.takeError());
  session = std::move(*opened);
  return kExitOk;
}

/// Prints what the launches did, beside what the compiler predicted.
void Runner::printProfile() {
  llvm::Expected<FusionRtFigures> figures = session->getFigures(inputs);
  if (figures)
    profile.setTotalPrediction(figures->bytesAfter);
  else
    llvm::consumeError(figures.takeError());
  // The ledger prices dynamic sizes at sizes of its own.
  if (!session->hasDynamicSizes())
    setPredictions(session->getLedger(), entryName, profile);
  if (options.profile == ProfileFormat::Json)
    llvm::outs() << profile.toJson();
  else
    os << profile.toText();
}

int Runner::run() {
  if (int status = loadInput())
    return status;
  if (isGivenPackage && (options.compare || !options.report.empty()))
    return reportError(ErrorCode::NoReferenceProgram,
                       "--report and --compare of a package: what it was "
                       "compiled from only its program says",
                       "give the program");
  if (int status = openSession())
    return status;
  if (package.empty())
    if (int status = compile())
      return status;
  if (llvm::Error error = session->load(package, entryName))
    return fail(std::move(error));
  entryName = session->getEntryName();
  os << "device: " << session->getDeviceName() << "\n";
  if (options.verify) {
    diagnostics.setDefaultCode(ErrorCode::ReferenceUnsupported);
    auto created = Verifier::create(*program, entryName, options.fastNumerics);
    if (failed(created))
      return diagnostics.getExitStatus();
    verifier = std::move(*created);
  }
  if (int status = loadInputs())
    return status;
  if (int status = checkOutputFiles())
    return status;
  bool wantsProfile = options.profile != ProfileFormat::None;
  if (wantsProfile)
    if (llvm::Error error = session->setProfile(&profile))
      return fail(std::move(error));
  if (int status = launch())
    return status;
  printFigures();
  if (wantsProfile)
    printProfile();
  if (!options.outputFolder.empty())
    if (int status = writeOutputs())
      return status;
  if (options.verify)
    if (int status = verify())
      return status;
  if (options.verifyPayload)
    if (int status = verifyPayload())
      return status;
  if (options.mutate)
    if (int status = mutate())
      return status;
  if (options.bench)
    if (int status = bench())
      return status;
  if (options.compare)
    if (int status = compare())
      return status;
  return options.report.empty() ? kExitOk : writeReport();
}

int fusion::runRunTool(const RunToolOptions &options) {
  DialectRegistry registry;
  registerAllForTools(registry);
  registerReferenceDialects(registry);
  if (std::string error = loadDialectPlugins(options.dialectPlugins, registry);
      !error.empty())
    return reportError(error);
  return Runner(options, registry).run();
}
