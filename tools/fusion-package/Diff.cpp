//===- Diff.cpp - How two packages differ ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the difference of two packages.
//
//===----------------------------------------------------------------------===//

#include "Diff.h"
#include "LineDiff.h"
#include "Listing.h"

#include <algorithm>

using namespace packagetool;
using namespace fusionpkg;

namespace {
/// What is said of something: its name and what it is.
struct Fact {
  std::string name, value;
};
using Facts = std::vector<Fact>;
} // namespace

/// "  name  before -> after" for each fact that differs.
static std::string diffFacts(const Facts &before, const Facts &after) {
  std::string text;
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i].value != after[i].value)
      text += "    " + before[i].name + ": " + before[i].value + " -> " +
              after[i].value + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static std::string orUnknown(int64_t number) {
  return number < 0 ? "unknown" : std::to_string(number);
}

static Facts describeKernel(const Kernel &kernel) {
  const KernelResources &resources = getResources(kernel);
  return {{"block", std::to_string(kernel.blockX)},
          {"cluster", std::to_string(kernel.clusterX)},
          {"blocks that wait for each other", std::to_string(kernel.together)},
          {"registers", describeRegisters(kernel)},
          {"spilled bytes", orUnknown(resources.spillBytes)},
          {"static shared bytes", std::to_string(kernel.staticSharedBytes)},
          {"dynamic shared bytes", std::to_string(kernel.dynamicSharedBytes)},
          {"predicted", formatMicroseconds(kernel.predictedMicroseconds)},
          {"from", kernel.source}};
}

static std::string diffKernels(const OpenPackage &before,
                               const OpenPackage &after) {
  std::string text;
  for (const Kernel &kernel : before.model.kernels)
    if (!after.findKernel(kernel.name))
      text += "  - " + kernel.name + "\n";
  for (const Kernel &kernel : after.model.kernels) {
    std::optional<size_t> number = before.findKernel(kernel.name);
    if (!number) {
      text += "  + " + kernel.name + "\n";
      continue;
    }
    const Kernel &old = before.model.kernels[*number];
    const Module &oldModule = before.model.modules[old.module];
    const Module &module = after.model.modules[kernel.module];
    std::string changes =
        diffFacts(describeKernel(old), describeKernel(kernel));
    if (oldModule.ptx != module.ptx)
      changes += "    PTX: differs, --ptx=" + kernel.name + " prints how\n";
    if (oldModule.cubin != module.cubin)
      changes += "    machine code: " + std::to_string(oldModule.cubin.size()) +
                 " -> " + std::to_string(module.cubin.size()) + " bytes\n";
    if (!changes.empty())
      text += "  ~ " + kernel.name + "\n" + changes;
  }
  return text.empty() ? text : "kernels\n" + text;
}

static std::string diffPtx(const OpenPackage &before, const OpenPackage &after,
                           const std::string &name, std::string &error) {
  std::optional<size_t> left = before.findKernel(name);
  std::optional<size_t> right = after.findKernel(name);
  if (!left && !right) {
    after.findKernels({name}, error);
    return "";
  }
  auto getPtx = [](const OpenPackage &package, std::optional<size_t> number) {
    const PackageModel &model = package.model;
    return number ? model.modules[model.kernels[*number].module].ptx
                  : std::string();
  };
  return diffLines(getPtx(before, left), getPtx(after, right),
                   before.path + ": " + name, after.path + ": " + name);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static Facts describeEntry(const Entry &entry, const EntrySizes &sizes) {
  auto describe = [&](const std::vector<TensorSpec> &tensors) {
    std::string text;
    for (const TensorSpec &tensor : tensors)
      text += (text.empty() ? "" : ", ") + describeTensor(entry, tensor, sizes);
    return "(" + text + ")";
  };
  const Summary &summary = entry.summary;
  return {{"inputs", describe(entry.inputs)},
          {"outputs", describe(entry.outputs)},
          {"kernels unfused", std::to_string(summary.kernelsBefore)},
          {"kernels", std::to_string(summary.kernelsAfter)},
          {"traffic unfused", formatBytes(sizes.get(summary.bytesBefore))},
          {"traffic", formatBytes(sizes.get(summary.bytesAfter))},
          {"predicted", formatMicroseconds(summary.predictedMicroseconds)},
          {"workspace", formatBytes(sizes.getWorkspaceBytes())}};
}

/// The steps of an entry, a line each.
static std::string listSteps(const PackageModel &model, const Entry &entry,
                             const EntrySizes &sizes) {
  std::string text;
  for (const Step &step : entry.steps)
    text += describeStep(model, entry, step, sizes) + "\n";
  return text;
}

/// The lines of a difference that have a sign, indented.
static std::string diffSteps(const std::string &before,
                             const std::string &after) {
  std::string text, diff = diffLines(before, after, "", "");
  for (size_t begin = 0, end; begin < diff.size(); begin = end + 1) {
    end = diff.find('\n', begin);
    std::string line = diff.substr(begin, end - begin);
    bool isHead = line.compare(0, 3, "---") == 0 ||
                  line.compare(0, 3, "+++") == 0 || line[0] == '@';
    if (!isHead)
      text += "    " + line.substr(0, 1) + " " + line.substr(1) + "\n";
  }
  return text.empty() ? text : "    steps:\n" + text;
}

static std::string diffEntries(const OpenPackage &before,
                               const OpenPackage &after, const Dims &dims) {
  auto find = [](const OpenPackage &package, const std::string &name) {
    const std::vector<Entry> &entries = package.model.entries;
    auto found =
        std::find_if(entries.begin(), entries.end(),
                     [&](const Entry &entry) { return entry.name == name; });
    return found == entries.end() ? nullptr : &*found;
  };
  std::string text;
  for (const Entry &entry : before.model.entries)
    if (!find(after, entry.name))
      text += "  - @" + entry.name + "\n";
  for (const Entry &entry : after.model.entries) {
    const Entry *old = find(before, entry.name);
    if (!old) {
      text += "  + @" + entry.name + "\n";
      continue;
    }
    EntrySizes oldSizes(*old, dims), sizes(entry, dims);
    std::string changes =
        diffFacts(describeEntry(*old, oldSizes), describeEntry(entry, sizes)) +
        diffSteps(listSteps(before.model, *old, oldSizes),
                  listSteps(after.model, entry, sizes));
    if (!changes.empty())
      text += "  ~ @" + entry.name + "\n" + changes;
  }
  return text.empty() ? text : "entries\n" + text;
}

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

static Facts describePackage(const OpenPackage &package) {
  const PackageModel &model = package.model;
  return {{"target", model.target},
          {"PTX ISA", std::to_string(model.ptxVersion)},
          {"format", std::to_string(package.formatVersion)},
          {"written by", model.producer},
          {"constants", formatBytes(int64_t(model.constantData.size()))}};
}

std::string packagetool::diffPackages(const OpenPackage &before,
                                      const OpenPackage &after,
                                      const std::vector<std::string> &kernels,
                                      const Dims &dims, std::string &error) {
  std::string text = diffFacts(describePackage(before), describePackage(after));
  if (!text.empty())
    text = "package\n" + text;
  bool areSame = before.model.constantData == after.model.constantData;
  if (!areSame &&
      before.model.constantData.size() == after.model.constantData.size())
    text += "constants\n    their contents differ\n";
  text += diffEntries(before, after, dims) + diffKernels(before, after);
  if (before.model.ledgerJson != after.model.ledgerJson)
    text += "decisions\n    differ; fusion-compile --explain-diff prints how\n";
  for (const std::string &name : kernels) {
    text += diffPtx(before, after, name, error);
    if (!error.empty())
      return "";
  }
  return text.empty()
             ? text
             : "--- " + before.path + "\n+++ " + after.path + "\n" + text;
}
