//===- fusion-run.cpp - Programs and packages on inputs -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the command line of fusion-run.
//
//===----------------------------------------------------------------------===//

#include "../CommandLine.h"
#include "fusion/Tools/RunTool.h"

namespace cl = llvm::cl;
using namespace mlir::fusion;

namespace {
/// The options of the command line.
struct RunCommandLine {
  cl::OptionCategory category{"fusion-run"};
  cl::opt<std::string> input{cl::Positional,
                             cl::desc("IN.mlir|IN.mlirbc|IN.fpk"), cl::Required,
                             cl::cat(category)};
  cl::opt<std::string> entry{"entry",
                             cl::desc("The function to run, if there are "
                                      "several"),
                             cl::value_desc("F"), cl::cat(category)};
  cl::opt<std::string> target{
      "target", cl::desc("The chip to compile for; by default the device's"),
      cl::value_desc("sm_90a"), cl::cat(category)};
  cl::opt<std::string> device{
      "device",
      cl::desc("Where to run: cuda, cuda:N, emulator, or auto (cuda where "
               "there is a GPU)"),
      cl::value_desc("cuda|emulator|auto"), cl::init(RunToolOptions().device),
      cl::cat(category)};
  cl::list<std::string> inputFiles{"input", cl::desc("One .npy per argument"),
                                   cl::value_desc("F.npy"), cl::cat(category)};
  cl::opt<bool> random{
      "random",
      cl::desc("Draw inputs: floats from the normal "
               "distribution, integers from the range, sizes "
               "that --dim does not give: such as the program "
               "requires, with at most 2^20 elements a tensor"),
      cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::desc("Of --random"), cl::value_desc("N"),
                         cl::cat(category)};
  cl::list<std::string> dims{
      "dim",
      cl::desc("Size of a dynamic extent, by its fusion.dims name or as "
               "arg0.1"),
      cl::value_desc("NAME=SIZE"), cl::cat(category)};
  cl::opt<std::string> intRange{
      "int-range", cl::desc("Range of random integers"),
      cl::value_desc("LO:HI"), cl::init("0:7"), cl::cat(category)};
  cl::opt<double> floatStd{"float-std",
                           cl::desc("Standard deviation of random floats"),
                           cl::value_desc("S"), cl::init(1), cl::cat(category)};
  cl::opt<std::string> output{"output",
                              cl::desc("Write the outputs as .npy files"),
                              cl::value_desc("DIR"), cl::cat(category)};
  cl::opt<std::string> verify{
      "verify",
      cl::desc("Compare with a float64 reference, or (payload) bit by bit with "
               "the program run one operation at a time, both on the emulator "
               "with integers in place of floats; the exit status is 0 only if "
               "every output is right"),
      cl::value_desc("reference|payload"), cl::ValueOptional,
      cl::cat(category)};
  cl::opt<unsigned> mutate{
      "mutate",
      cl::desc("Plant N faults in the kernels, one at a time, and print which "
               "of them --verify, the emulator's checks and payload mode find"),
      cl::value_desc("N"), cl::cat(category)};
  cl::opt<std::string> reference{
      "reference", cl::desc("The program of a package, for --verify"),
      cl::value_desc("IN.mlir"), cl::cat(category)};
  cl::opt<bool> bench{"bench",
                      cl::desc("Time the kernels, and print the share of the "
                               "roofline (CUDA devices only)"),
                      cl::cat(category)};
  cl::opt<std::string> profile{
      "profile",
      cl::desc("Print what the kernels did: DRAM traffic beside the predicted "
               "one, sectors of each request, bank conflicts, pipes, hot lines "
               "(emulator only); as JSON nothing else goes to the standard "
               "output"),
      cl::value_desc("text|json"), cl::ValueOptional, cl::cat(category)};
  cl::opt<std::string> asynchrony{
      "asynchrony",
      cl::desc("When asynchronous operations take effect on the emulator: as "
               "late as PTX allows, or at once"),
      cl::value_desc("late|early"), cl::init("late"), cl::cat(category)};
  cl::opt<bool> explain{"explain",
                        cl::desc("Print every decision of the compiler"),
                        cl::cat(category)};
  cl::opt<bool> compare{
      "compare",
      cl::desc("Run the program with a kernel for each operation too, and "
               "print times and traffic of both, predicted and measured"),
      cl::cat(category)};
  cl::opt<std::string> report{
      "report",
      cl::desc("Write the page of fusion-compile --report with what --profile "
               "counted and --bench timed"),
      cl::value_desc("F.html"), cl::cat(category)};
  cl::opt<std::string> numerics{
      "numerics",
      cl::desc("precise: keep every declared rounding; fast: roundings may be "
               "dropped"),
      cl::value_desc("precise|fast"), cl::init("precise"), cl::cat(category)};
  cl::opt<int64_t> largestValue{
      "largest-value",
      cl::desc("Bytes of the largest value that kernels may store for "
               "contractions: larger ones are made in parts where that can be "
               "done; 0: any"),
      cl::value_desc("N"), cl::init(RunToolOptions().largestValue),
      cl::cat(category)};
  SteeringFlags steering{category};
  cl::list<std::string> dialectPlugins{
      "load-dialect-plugin",
      cl::desc("A shared library with a dialect that the program uses"),
      cl::value_desc("F.so"), cl::cat(category)};

  bool isOnCuda() const { return llvm::StringRef(device).starts_with("cuda"); }
  bool verifiesPayload() const { return verify == "payload"; }
  bool verifiesReference() const {
    return verify.getNumOccurrences() && !verifiesPayload();
  }

  /// Sets `options`. Nothing on success; the exit status after a reported
  /// error.
  std::optional<int> read(RunToolOptions &options) const;

private:
  std::optional<int> readInputs(RunToolOptions &options) const;
  std::optional<int> checkVerification() const;
  std::optional<int> checkMutation() const;
  std::optional<int> readProfile(RunToolOptions &options) const;
  std::optional<int> checkModes() const;
};
} // namespace

/// Reports that the command line is wrong.
static int refuse(const llvm::Twine &reason) {
  return reportError(ErrorCode::BadCommandLine, reason);
}

std::optional<int> RunCommandLine::readInputs(RunToolOptions &options) const {
  options.inputFiles.assign(inputFiles.begin(), inputFiles.end());
  options.random = random;
  options.randomOptions.seed = seed;
  for (const std::string &dim : dims)
    if (std::string error = parseDim(dim, options.randomOptions.dims);
        !error.empty())
      return reportError(error);
  if (std::string error = parseIntRange(intRange, options.randomOptions.intLow,
                                        options.randomOptions.intHigh);
      !error.empty())
    return reportError(error);
  options.randomOptions.floatStd = floatStd;
  options.randomOptions.floatBits = verifiesPayload();
  if (!(floatStd > 0))
    return refuse("--float-std is not a number above 0");
  return std::nullopt;
}

std::optional<int> RunCommandLine::checkVerification() const {
  if (verifiesReference() && !verify.empty() && verify != "reference")
    return refuse("--verify=" + verify + " is neither reference nor payload");
  if (verifiesPayload() && isOnCuda())
    return refuse("--verify=payload with --device=" + device +
                  ": only the emulator has integers in place of floats");
  if (verifiesPayload() && (bench || compare))
    return refuse("--verify=payload excludes --bench and --compare");
  return std::nullopt;
}

std::optional<int> RunCommandLine::checkMutation() const {
  if (mutate && !(verifiesReference() && random))
    return refuse("--mutate needs --random and --verify");
  if (mutate && isOnCuda())
    return refuse("--mutate with --device=" + device +
                  ": faults are planted on the emulator only");
  return std::nullopt;
}

std::optional<int> RunCommandLine::readProfile(RunToolOptions &options) const {
  if (profile.getNumOccurrences())
    options.profile =
        profile == "json" ? ProfileFormat::Json : ProfileFormat::Text;
  if (!profile.empty() && profile != "json" && profile != "text")
    return refuse("--profile=" + profile + " is neither text nor json");
  if (options.profile != ProfileFormat::None && isOnCuda())
    return refuse("--profile with --device=" + device +
                  ": a GPU does not count what its kernels do, the emulator "
                  "does");
  return std::nullopt;
}

std::optional<int> RunCommandLine::checkModes() const {
  if (asynchrony != "late" && asynchrony != "early")
    return refuse("--asynchrony=" + asynchrony + " is neither late nor early");
  if (asynchrony.getNumOccurrences() && isOnCuda())
    return refuse("--asynchrony with --device=" + device +
                  ": only the emulator can choose");
  if (numerics != "precise" && numerics != "fast")
    return refuse("--numerics=" + numerics + " is neither precise nor fast");
  if (largestValue < 0)
    return refuse("--largest-value=" + llvm::Twine(largestValue) +
                  " is less than 0");
  if (random && !inputFiles.empty())
    return refuse("--random and --input exclude each other");
  if (!random && !dims.empty())
    return refuse("--dim needs --random: files have their own sizes");
  return std::nullopt;
}

std::optional<int> RunCommandLine::read(RunToolOptions &options) const {
  options.input = input;
  options.dialectPlugins.assign(dialectPlugins.begin(), dialectPlugins.end());
  options.entry = entry;
  options.target = target;
  options.device = device;
  options.outputFolder = output;
  options.verifyPayload = verifiesPayload();
  options.verify = verifiesReference();
  options.reference = reference;
  options.mutate = mutate;
  options.bench = bench;
  options.explain = explain;
  options.compare = compare;
  options.report = report;
  options.earlyAsynchrony = asynchrony == "early";
  options.fastNumerics = numerics == "fast";
  options.largestValue = largestValue;
  if (std::optional<int> status = steering.read(options.steering))
    return status;
  if (std::optional<int> status = readInputs(options))
    return status;
  if (std::optional<int> status = checkVerification())
    return status;
  if (std::optional<int> status = checkMutation())
    return status;
  if (std::optional<int> status = readProfile(options))
    return status;
  return checkModes();
}

int main(int argc, char **argv) {
  installCrashHandlers("fusion-run");
  RunCommandLine commandLine;
  if (std::optional<int> status =
          parseCommandLine(argc, argv, "fusion-run",
                           "Runs a tensor program or a package, and checks it",
                           commandLine.category))
    return *status;
  RunToolOptions options;
  if (std::optional<int> status = commandLine.read(options))
    return *status;
  return runRunTool(options);
}
