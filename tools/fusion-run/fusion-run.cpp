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

int main(int argc, char **argv) {
  installCrashHandlers("fusion-run");
  cl::OptionCategory category("fusion-run");
  RunToolOptions options;
  cl::opt<std::string> input(cl::Positional, cl::desc("IN.mlir|IN.fpk"),
                             cl::Required, cl::cat(category));
  cl::opt<std::string> entry("entry",
                             cl::desc("The function to run, if there are "
                                      "several"),
                             cl::value_desc("F"), cl::cat(category));
  cl::opt<std::string> target(
      "target", cl::desc("The chip to compile for; by default the device's"),
      cl::value_desc("sm_90a"), cl::cat(category));
  cl::opt<std::string> device(
      "device",
      cl::desc("Where to run: cuda, cuda:N, emulator, or auto (cuda where "
               "there is a GPU)"),
      cl::value_desc("cuda|emulator|auto"), cl::init(options.device),
      cl::cat(category));
  cl::list<std::string> inputFiles("input", cl::desc("One .npy per argument"),
                                   cl::value_desc("F.npy"), cl::cat(category));
  cl::opt<bool> random(
      "random",
      cl::desc("Draw inputs: floats from the normal "
               "distribution, integers from the range, sizes "
               "that --dim does not give: such as the program "
               "requires, with at most 2^20 elements a tensor"),
      cl::cat(category));
  cl::opt<uint64_t> seed("seed", cl::desc("Of --random"), cl::value_desc("N"),
                         cl::cat(category));
  cl::list<std::string> dims(
      "dim",
      cl::desc("Size of a dynamic extent, by its fusion.dims name or as "
               "arg0.1"),
      cl::value_desc("NAME=SIZE"), cl::cat(category));
  cl::opt<std::string> intRange(
      "int-range", cl::desc("Range of random integers"),
      cl::value_desc("LO:HI"), cl::init("0:7"), cl::cat(category));
  cl::opt<double> floatStd("float-std",
                           cl::desc("Standard deviation of random floats"),
                           cl::value_desc("S"), cl::init(1), cl::cat(category));
  cl::opt<std::string> output("output",
                              cl::desc("Write the outputs as .npy files"),
                              cl::value_desc("DIR"), cl::cat(category));
  cl::opt<std::string> verify(
      "verify",
      cl::desc("Compare with a float64 reference, or (payload) bit by bit with "
               "the program run one operation at a time, both on the emulator "
               "with integers in place of floats; the exit status is 0 only if "
               "every output is right"),
      cl::value_desc("reference|payload"), cl::ValueOptional,
      cl::cat(category));
  cl::opt<unsigned> mutate(
      "mutate",
      cl::desc("Plant N faults in the kernels, one at a time, and print which "
               "of them --verify, the emulator's checks and payload mode find"),
      cl::value_desc("N"), cl::cat(category));
  cl::opt<std::string> reference(
      "reference", cl::desc("The program of a package, for --verify"),
      cl::value_desc("IN.mlir"), cl::cat(category));
  cl::opt<bool> bench("bench",
                      cl::desc("Time the kernels, and print the share of the "
                               "roofline (CUDA devices only)"),
                      cl::cat(category));
  cl::opt<std::string> profile(
      "profile",
      cl::desc("Print what the kernels did: DRAM traffic beside the predicted "
               "one, sectors of each request, bank conflicts, pipes, hot lines "
               "(emulator only); as JSON nothing else goes to the standard "
               "output"),
      cl::value_desc("text|json"), cl::ValueOptional, cl::cat(category));
  cl::opt<std::string> asynchrony(
      "asynchrony",
      cl::desc("When asynchronous operations take effect on the emulator: as "
               "late as PTX allows, or at once"),
      cl::value_desc("late|early"), cl::init("late"), cl::cat(category));
  cl::opt<bool> explain("explain",
                        cl::desc("Print every decision of the compiler"),
                        cl::cat(category));
  cl::opt<std::string> numerics(
      "numerics",
      cl::desc("precise: keep every declared rounding; fast: roundings may be "
               "dropped"),
      cl::value_desc("precise|fast"), cl::init("precise"), cl::cat(category));
  if (std::optional<int> status = parseCommandLine(
          argc, argv, "fusion-run",
          "Runs a tensor program or a package, and checks it", category))
    return *status;

  options.input = input;
  options.entry = entry;
  options.target = target;
  options.device = device;
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
  options.randomOptions.floatBits = verify == "payload";
  if (!(floatStd > 0))
    return reportError(ErrorCode::BadCommandLine,
                       "--float-std is not a number above 0");
  options.outputFolder = output;
  options.verifyPayload = verify == "payload";
  options.verify = verify.getNumOccurrences() && !options.verifyPayload;
  if (options.verify && !verify.empty() && verify != "reference")
    return reportError(ErrorCode::BadCommandLine,
                       "--verify=" + verify +
                           " is neither reference nor payload");
  if (options.verifyPayload && llvm::StringRef(device).starts_with("cuda"))
    return reportError(ErrorCode::BadCommandLine,
                       "--verify=payload with --device=" + device +
                           ": only the emulator has integers in place of "
                           "floats");
  if (options.verifyPayload && bench)
    return reportError(ErrorCode::BadCommandLine,
                       "--verify=payload and --bench exclude each other");
  options.reference = reference;
  options.mutate = mutate;
  if (options.mutate && !(options.verify && options.random))
    return reportError(ErrorCode::BadCommandLine,
                       "--mutate needs --random and --verify");
  if (options.mutate && llvm::StringRef(device).starts_with("cuda"))
    return reportError(ErrorCode::BadCommandLine,
                       "--mutate with --device=" + device +
                           ": faults are planted on the emulator only");
  options.bench = bench;
  options.explain = explain;
  if (profile.getNumOccurrences())
    options.profile =
        profile == "json" ? ProfileFormat::Json : ProfileFormat::Text;
  if (!profile.empty() && profile != "json" && profile != "text")
    return reportError(ErrorCode::BadCommandLine,
                       "--profile=" + profile + " is neither text nor json");
  if (options.profile != ProfileFormat::None &&
      llvm::StringRef(device).starts_with("cuda"))
    return reportError(ErrorCode::BadCommandLine,
                       "--profile with --device=" + device +
                           ": a GPU does not count what its kernels do, the "
                           "emulator does");
  options.earlyAsynchrony = asynchrony == "early";
  if (asynchrony != "late" && asynchrony != "early")
    return reportError(ErrorCode::BadCommandLine,
                       "--asynchrony=" + asynchrony +
                           " is neither late nor early");
  if (asynchrony.getNumOccurrences() &&
      llvm::StringRef(device).starts_with("cuda"))
    return reportError(ErrorCode::BadCommandLine,
                       "--asynchrony with --device=" + device +
                           ": only the emulator can choose");
  options.fastNumerics = numerics == "fast";
  if (numerics != "precise" && numerics != "fast")
    return reportError(ErrorCode::BadCommandLine,
                       "--numerics=" + numerics +
                           " is neither precise nor fast");
  if (options.random && !options.inputFiles.empty())
    return reportError(ErrorCode::BadCommandLine,
                       "--random and --input exclude each other");
  if (!options.random && !options.randomOptions.dims.empty())
    return reportError(ErrorCode::BadCommandLine,
                       "--dim needs --random: files have their own sizes");
  return runRunTool(options);
}
