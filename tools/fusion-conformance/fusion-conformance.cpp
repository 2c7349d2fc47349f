//===- fusion-conformance.cpp - The emulator against a GPU ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-conformance, which runs the kernels of manifests
// on the emulator and on a GPU, or against the record of one, and compares
// every byte.
//
//===----------------------------------------------------------------------===//

#include "../OptionTable.h"
#include "../RuntimeTool.h"
#include "Compare.h"
#include "Gpu.h"
#include "Package.h"
#include "Record.h"
#include "fusion/Executable/JsonText.h"
#include "fusion/Executable/Package.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iostream>
#include <map>
#include <regex>

using namespace conformance;

namespace {
enum ExitCode { Success = 0, Failed = 1, Usage = 2 };

struct CommandLine {
  std::vector<std::string> manifests, packages;
  double packageBound = 1e-4;
  bool useGpu = false, list = false, json = false, time = false;
  std::string filter, recordPath, checkPath;
  std::vector<fusionemu::Asynchrony> modes = {fusionemu::Asynchrony::Late};
  uint64_t seed = 1;
  bool seedGiven = false;
  uint64_t mismatches = 1;
};

/// What became of one case.
enum class Outcome { Exact, Bounded, Ran, Unrecorded, Failed };

struct Result {
  std::string group, kernel;
  unsigned caseIndex = 0;
  Outcome outcome = Outcome::Failed;
  std::string reason;
  uint64_t ulp = 0;
};

/// Everything that one run of the tool has.
class Session {
public:
  explicit Session(const CommandLine &line) : line(line) {}
  bool open();
  bool runManifest(const Manifest &manifest);
  void runPackageFile(const std::string &path);
  int finish();

private:
  void runKernel(const Manifest &manifest, const fusionemu::Module &module,
                 const std::string &kernel);
  Result runCase(const Manifest &manifest, const fusionemu::Module &module,
                 const std::string &kernel, unsigned index, const Case &c);
  void judge(const Case &c, const Buffers &emulator, const Buffers &initial,
             const std::string &key, Result &result);
  void report(const Result &result);
  void printTable() const;
  void printJson() const;

  const CommandLine &line;
  uint64_t seed = 1;
  std::unique_ptr<Gpu> gpu;
  std::string gpuModuleError;
  Record recorded, written;
  std::vector<Result> results;
};
} // namespace

static bool fail(const std::string &text) {
  std::cerr << "fusion-conformance: " << text << "\n";
  return false;
}

static std::string readModes(const std::string &value,
                             std::vector<fusionemu::Asynchrony> &modes) {
  using fusionemu::Asynchrony;
  if (value != "late" && value != "early" && value != "both")
    return "'" + value + "' is neither late, early nor both";
  modes.clear();
  if (value != "early")
    modes.push_back(Asynchrony::Late);
  if (value != "late")
    modes.push_back(Asynchrony::Early);
  return "";
}

static std::string readBound(const std::string &value, double &bound) {
  char *end = nullptr;
  bound = std::strtod(value.c_str(), &end);
  return value.empty() || *end != 0 || !(bound >= 0)
             ? "'" + value + "' is not a number of at least 0"
             : "";
}

static fusiontool::OptionTable makeOptionTable(CommandLine &line) {
  fusiontool::OptionTable table(
      "fusion-conformance", "MANIFEST... PACKAGE.fpk... [options]",
      "Runs the kernels that the manifests name on the emulator, with all "
      "checks on, and compares every buffer with what a GPU computes; every "
      "entry of a package runs too, and its outputs are compared");
  table.add("--device=none|cuda",
            "none, the default: the emulator alone, every case must run "
            "without a report; cuda: compare with the first GPU",
            [&line](const std::string &value) {
              line.useGpu = value == "cuda";
              return value == "cuda" || value == "none"
                         ? std::string()
                         : "'" + value + "' is neither none nor cuda";
            });
  table.addText("--check=FILE", "Compare with the record of a GPU",
                line.checkPath);
  table.addText("--record=FILE", "Write such a record, with --device=cuda",
                line.recordPath);
  table.add("--package-bound=X",
            "How far outputs of packages may be apart, relative to their "
            "largest element; 1e-4 unless said, since most programs take "
            "approximate instructions",
            [&line](const std::string &value) {
              return readBound(value, line.packageBound);
            });
  table.add("--filter=REGEX",
            "Only cases whose \"GROUP KERNEL\" matches somewhere",
            [&line](const std::string &value) {
              line.filter = value;
              return std::string();
            });
  table.add("--seed=N", "Of the contents of buffers; 1, or that of the record",
            [&line](const std::string &value) {
              std::optional<uint64_t> number = fusiontool::parseNumber(value);
              line.seed = number.value_or(0);
              line.seedGiven = true;
              return number ? "" : "'" + value + "' is not a number";
            });
  table.add("--asynchrony=late|early|both",
            "When asynchronous operations take effect on the emulator; late "
            "unless said",
            [&line](const std::string &value) {
              return readModes(value, line.modes);
            });
  table.addNumber("--mismatches=N",
                  "Describe N elements that differ instead of one",
                  line.mismatches);
  table.addFlag("--list", "Print the cases and stop", line.list);
  table.addFlag("--json", "Print the results as JSON", line.json);
  table.addFlag("--time", "Print how long each case took on the emulator",
                line.time);
  table.setPositional([&line](const std::string &argument) {
    bool isPackage = argument.size() > 4 &&
                     argument.compare(argument.size() - 4, 4, ".fpk") == 0;
    (isPackage ? line.packages : line.manifests).push_back(argument);
    return std::string();
  });
  table.setDetails("Exit code: 0 all agree, 1 some do not, 2 wrong usage, 70 a "
                   "defect of the tool.\n");
  return table;
}

/// What is wrong with options that each are right; empty if nothing is.
static std::string check(const CommandLine &line) {
  if (line.manifests.empty() && line.packages.empty())
    return "expected a manifest or a package";
  if (!line.recordPath.empty() && !line.useGpu)
    return "--record needs --device=cuda";
  if (line.useGpu && !line.checkPath.empty())
    return "--check is for runs without a GPU";
  for (const auto *inputs : {&line.manifests, &line.packages})
    for (const std::string &input : *inputs)
      if (fusionpkg::isSameFile(line.recordPath, input))
        return "--record names '" + line.recordPath + "', which is an input";
  return "";
}

bool Session::open() {
  std::string error;
  seed = line.seed;
  if (!line.checkPath.empty()) {
    if (!recorded.read(line.checkPath, error))
      return fail(error);
    if (!line.seedGiven)
      seed = recorded.seed;
    if (seed != recorded.seed)
      return fail("the record is for --seed=" + std::to_string(recorded.seed));
  }
  if (line.useGpu) {
    gpu = Gpu::open(error);
    if (!gpu)
      return fail("no GPU: " + error);
    std::time_t now = std::time(nullptr);
    char date[32] = "";
    std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
    written.device = gpu->describe() + ", " + date;
    written.seed = seed;
  }
  return true;
}

/// The contents of all buffers before the launch.
static Buffers makeInputs(const Case &c, const std::string &key,
                          uint64_t seed) {
  Buffers buffers(c.arguments.size());
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    const Argument &a = c.arguments[i];
    uint64_t own = hashBytes(key.data(), key.size(), hashStart ^ seed) + i;
    if (a.isBuffer)
      buffers[i] = makeFill(*a.element, a.count, a.fill, own);
  }
  return buffers;
}

/// Runs a case on a fresh emulated device; `buffers` become the results.
static fusionemu::Status runEmulator(const fusionemu::Module &module,
                                     const std::string &kernel, const Case &c,
                                     fusionemu::Asynchrony mode,
                                     Buffers &buffers) {
  using fusionemu::Status;
  const fusionemu::KernelInfo &info = *module.findKernel(kernel);
  auto refuse = [&](const std::string &why) {
    return Status(fusionemu::ErrorKind::BadLaunch, why);
  };
  if (info.parameters.size() != c.arguments.size())
    return refuse("the kernel takes " + std::to_string(info.parameters.size()) +
                  " arguments, the case has " +
                  std::to_string(c.arguments.size()));
  fusionemu::Memory memory;
  std::vector<uint64_t> addresses(buffers.size(), 0);
  std::vector<uint8_t> block(info.argumentBytes);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Argument &a = c.arguments[i];
    const fusionemu::ParameterInfo &p = info.parameters[i];
    if (p.size != (a.isBuffer ? 8 : a.value.size()))
      return refuse("argument '" + a.name + "' does not have the " +
                    std::to_string(p.size) + " bytes of the parameter");
    if (!a.isBuffer) {
      std::memcpy(block.data() + p.offset, a.value.data(), p.size);
      continue;
    }
    if (Status s = memory.allocate(buffers[i].size(), a.name, addresses[i]);
        !s.ok())
      return s;
    if (Status s =
            memory.write(addresses[i], buffers[i].data(), buffers[i].size());
        !s.ok())
      return s;
    if (a.fill.kind == Fill::Kind::Poison)
      if (Status s = memory.markUninitialized(addresses[i]); !s.ok())
        return s;
    std::memcpy(block.data() + p.offset, &addresses[i], 8);
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!c.arguments[i].isMap())
      continue;
    uint8_t map[fusionemu::tensorMapBytes];
    if (Status s = fusionemu::encodeTensorMap(
            locateMap(c, c.arguments[i], addresses), map);
        !s.ok())
      return s;
    std::memcpy(block.data() + info.parameters[i].offset, map, sizeof(map));
  }
  fusionemu::Options options;
  options.asynchrony = mode;
  if (Status s =
          fusionemu::launch(memory, module, kernel, c.grid, c.block,
                            c.sharedBytes, block.data(), block.size(), options);
      !s.ok())
    return s;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].empty())
      if (Status s =
              memory.read(addresses[i], buffers[i].data(), buffers[i].size());
          !s.ok())
        return s;
  return Status();
}

/// Compares with the GPU or with the record of one.
void Session::judge(const Case &c, const Buffers &emulator,
                    const Buffers &initial, const std::string &key,
                    Result &result) {
  if (gpu) {
    Buffers onGpu = initial;
    result.reason = gpuModuleError;
    if (result.reason.empty())
      result.reason = gpu->run(result.kernel, c, onGpu);
    if (!result.reason.empty()) {
      result.reason = "on the GPU: " + result.reason;
      return;
    }
    Comparison comparison =
        compareBuffers(c, initial, emulator, onGpu, line.mismatches);
    result.ulp = comparison.largestUlp;
    if (!comparison.agrees) {
      for (const std::string &text : comparison.mismatches)
        result.reason += (result.reason.empty() ? "" : "\n    ") + text;
      result.reason += "; " + std::to_string(comparison.different) +
                       " elements differ, at most " +
                       std::to_string(result.ulp) + " ulp";
      return;
    }
    bool exact = c.expectation.exact;
    written.add(key, {exact, hashBuffers(c, onGpu), result.ulp, false});
    result.outcome = comparison.identical ? Outcome::Exact : Outcome::Bounded;
    return;
  }
  if (line.checkPath.empty()) {
    result.outcome = Outcome::Ran;
    return;
  }
  Record::Entry *entry = recorded.find(key);
  if (!entry) {
    result.outcome = Outcome::Unrecorded;
    return;
  }
  entry->used = true;
  if (!entry->exact) {
    result.outcome = Outcome::Bounded;
    return;
  }
  if (hashBuffers(c, emulator) == entry->hash) {
    result.outcome = Outcome::Exact;
    return;
  }
  result.reason = "the results are not those of " + recorded.device;
}

Result Session::runCase(const Manifest &manifest,
                        const fusionemu::Module &module,
                        const std::string &kernel, unsigned index,
                        const Case &c) {
  Result result;
  result.group = manifest.name;
  result.kernel = kernel;
  result.caseIndex = index;
  std::string key = manifest.name + " " + kernel + " " + std::to_string(index);
  Buffers initial = makeInputs(c, key, seed), emulator;
  for (size_t k = 0; k < line.modes.size(); ++k) {
    Buffers buffers = initial;
    auto begin = std::chrono::steady_clock::now();
    fusionemu::Status status =
        runEmulator(module, kernel, c, line.modes[k], buffers);
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - begin;
    if (line.time)
      std::printf("%s: %.3f ms\n", key.c_str(), seconds.count() * 1e3);
    if (!status.ok()) {
      result.reason = status.message();
      return result;
    }
    if (k > 0 && buffers != emulator) {
      result.reason = "late and early asynchrony give different results";
      return result;
    }
    emulator = std::move(buffers);
  }
  judge(c, emulator, initial, key, result);
  return result;
}

void Session::report(const Result &result) {
  if (result.outcome == Outcome::Failed && !line.json)
    std::printf("FAIL %s %s %u: %s\n", result.group.c_str(),
                result.kernel.c_str(), result.caseIndex, result.reason.c_str());
  results.push_back(result);
}

void Session::runKernel(const Manifest &manifest,
                        const fusionemu::Module &module,
                        const std::string &kernel) {
  std::string name = manifest.name + " " + kernel;
  if (!line.filter.empty() && !std::regex_search(name, std::regex(line.filter)))
    return;
  unsigned index = 0;
  for (const Case &c : manifest.cases) {
    bool matches = false;
    for (const std::string &pattern : c.patterns)
      matches |= std::regex_match(kernel, std::regex(pattern));
    if (!matches)
      continue;
    if (line.list)
      std::printf("%s %u (line %u)\n", name.c_str(), index, c.line);
    else
      report(runCase(manifest, module, kernel, index, c));
    ++index;
  }
  if (index != 0)
    return;
  Result missing;
  missing.group = manifest.name;
  missing.kernel = kernel;
  missing.reason = "no case of the manifest is for this kernel";
  report(missing);
}

bool Session::runManifest(const Manifest &manifest) {
  std::string text;
  if (!readFile(manifest.ptx, text))
    return fail("cannot open '" + manifest.ptx + "'");
  fusionemu::Module module;
  size_t slash = manifest.ptx.rfind('/');
  std::string shortName = slash == std::string::npos
                              ? manifest.ptx
                              : manifest.ptx.substr(slash + 1);
  if (fusionemu::Status s = module.parse(text, shortName); !s.ok())
    return fail(s.message());
  if (gpu && !line.list)
    gpuModuleError = gpu->load(text);
  for (const fusionemu::KernelInfo &info : module.getKernels())
    runKernel(manifest, module, info.name);
  // A record must not quietly outlive what it is about.
  if (line.checkPath.empty() || !line.filter.empty())
    return true;
  for (const auto &[key, entry] : recorded.getEntries()) {
    size_t space = key.find(' ');
    if (entry.used || key.substr(0, space) != manifest.name)
      continue;
    Result stale;
    stale.group = manifest.name;
    size_t last = key.rfind(' ');
    stale.kernel = key.substr(space + 1, last - space - 1);
    stale.caseIndex = unsigned(std::strtoul(key.c_str() + last, nullptr, 10));
    stale.reason = "recorded, but no such case has run";
    report(stale);
  }
  return true;
}

/// A kernel of a package counts as what the package's outputs are.
void Session::runPackageFile(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  name = name.substr(0, name.size() - 4);
  if (!line.filter.empty() &&
      !std::regex_search("packages " + name, std::regex(line.filter)))
    return;
  if (line.list) {
    std::printf("packages %s\n", name.c_str());
    return;
  }
  PackageResult outcome =
      runPackage(path, gpu != nullptr, seed, line.packageBound);
  Result result;
  result.group = "packages";
  result.kernel = name;
  result.reason = outcome.reason;
  result.outcome = outcome.failed  ? Outcome::Failed
                   : !gpu          ? Outcome::Ran
                   : outcome.exact ? Outcome::Exact
                                   : Outcome::Bounded;
  if (outcome.kernels.empty())
    report(result);
  for (const std::string &kernel : outcome.kernels) {
    result.kernel = name + "/" + kernel;
    report(result);
    result.reason.clear();
  }
}

static const char *nameOf(Outcome outcome) {
  switch (outcome) {
  case Outcome::Exact:
    return "exact";
  case Outcome::Bounded:
    return "bounded";
  case Outcome::Ran:
    return "ran";
  case Outcome::Unrecorded:
    return "unrecorded";
  case Outcome::Failed:
    return "failed";
  }
  return "";
}

void Session::printTable() const {
  // A kernel counts once, by the worst of its cases.
  std::map<std::string, std::map<std::string, Outcome>> groups;
  for (const Result &r : results) {
    auto [place, isNew] = groups[r.group].emplace(r.kernel, r.outcome);
    if (!isNew && r.outcome > place->second)
      place->second = r.outcome;
  }
  std::printf("%-20s %8s %8s %8s %8s %10s %8s\n", "group", "kernels", "exact",
              "bounded", "ran", "unrecorded", "failed");
  unsigned total[6] = {};
  for (const auto &[group, kernels] : groups) {
    unsigned n[5] = {};
    for (const auto &[kernel, outcome] : kernels)
      ++n[size_t(outcome)];
    std::printf("%-20s %8zu %8u %8u %8u %10u %8u\n", group.c_str(),
                kernels.size(), n[0], n[1], n[2], n[3], n[4]);
    total[5] += unsigned(kernels.size());
    for (unsigned i = 0; i < 5; ++i)
      total[i] += n[i];
  }
  std::printf("%-20s %8u %8u %8u %8u %10u %8u\n", "total", total[5], total[0],
              total[1], total[2], total[3], total[4]);
  if (gpu)
    std::printf("compared with %s\n", written.device.c_str());
  else if (!line.checkPath.empty())
    std::printf("compared with the record of %s\n", recorded.device.c_str());
}

void Session::printJson() const {
  fusionpkg::JsonArray cases("\n");
  for (const Result &r : results) {
    fusionpkg::JsonObject object;
    object.addText("group", r.group);
    object.addText("kernel", r.kernel);
    object.add("case", r.caseIndex);
    object.addText("outcome", nameOf(r.outcome));
    object.add("ulp", r.ulp);
    object.addText("reason", r.reason);
    cases.add(object.str());
  }
  fusionpkg::JsonObject report;
  report.addText("device", gpu ? written.device : recorded.device);
  report.add("seed", seed);
  report.add("cases", cases.str());
  std::printf("%s\n", report.str().c_str());
}

int Session::finish() {
  if (line.list)
    return Success;
  if (line.json)
    printJson();
  else
    printTable();
  std::string error;
  if (!line.recordPath.empty() && !written.write(line.recordPath, error)) {
    fail(error);
    return Failed;
  }
  if (results.empty()) {
    fail("no case has run");
    return Failed;
  }
  for (const Result &r : results)
    if (r.outcome == Outcome::Failed)
      return Failed;
  return Success;
}

int main(int argc, char **argv) {
  fusiontool::installCrashHandlers();
  CommandLine line;
  fusiontool::OptionTable table = makeOptionTable(line);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (table.answer(arguments))
    return Success;
  std::string wrong = table.parse(arguments);
  if (wrong.empty())
    wrong = check(line);
  if (!wrong.empty()) {
    fusiontool::reportUsage(wrong);
    return Usage;
  }
  std::vector<Manifest> manifests(line.manifests.size());
  for (size_t i = 0; i < manifests.size(); ++i) {
    std::string error;
    if (!readManifest(line.manifests[i], manifests[i], error)) {
      fail(error);
      return Usage;
    }
  }
  Session session(line);
  if (!session.open())
    return Failed;
  for (const Manifest &manifest : manifests)
    if (!session.runManifest(manifest))
      return Failed;
  for (const std::string &path : line.packages)
    session.runPackageFile(path);
  return session.finish();
}
