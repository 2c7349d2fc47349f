//===- OpenPackage.cpp - A package to look at -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reading a package to look at, and evaluating its sizes.
//
//===----------------------------------------------------------------------===//

#include "OpenPackage.h"
#include "PackageLayout.h"
#include "fusion/Executable/BufferPlan.h"

#include <cstdio>

using namespace packagetool;
using namespace fusionpkg;

std::optional<OpenPackage> packagetool::openPackage(const std::string &path,
                                                    std::string &error) {
  Result<std::string> bytes = readFile(path);
  if (!bytes) {
    error = bytes.getError().str();
    return std::nullopt;
  }
  Result<PackageModel> model = readPackage(*bytes);
  if (!model) {
    error = model.getError().inContext(path).str();
    return std::nullopt;
  }
  FileHeader header =
      decodeHeader(reinterpret_cast<const uint8_t *>(bytes->data()));
  return OpenPackage{path, std::move(*model), header.version, bytes->size()};
}

std::optional<size_t> OpenPackage::findKernel(const std::string &name) const {
  for (size_t i = 0; i < model.kernels.size(); ++i)
    if (model.kernels[i].name == name)
      return i;
  return std::nullopt;
}

std::vector<size_t>
OpenPackage::findKernels(const std::vector<std::string> &names,
                         std::string &error) const {
  std::vector<size_t> numbers;
  if (names.empty())
    for (size_t i = 0; i < model.kernels.size(); ++i)
      numbers.push_back(i);
  for (const std::string &name : names) {
    std::optional<size_t> number = findKernel(name);
    if (!number) {
      error = "FUS-1442: " + path + " has no kernel '" + name + "', only:";
      for (const Kernel &kernel : model.kernels)
        error += " " + kernel.name;
      error += "; name one of these";
      return {};
    }
    numbers.push_back(*number);
  }
  return numbers;
}

static std::vector<int64_t> chooseSizes(const Entry &entry, const Dims &dims) {
  std::vector<int64_t> sizes;
  for (const Symbol &symbol : entry.symbols) {
    auto given = dims.find(symbol.name);
    sizes.push_back(given == dims.end() ? kAssumedSize : given->second);
  }
  return sizes;
}

EntrySizes::EntrySizes(const Entry &entry, const Dims &dims)
    : entry(entry), symbols(chooseSizes(entry, dims)),
      values(entry.exprs.getNodes(), symbols.data(), symbols.size()) {
  for (const Symbol &symbol : entry.symbols)
    names.push_back(symbol.name);
}

int64_t EntrySizes::get(ExprId id) const { return values.get(id).value_or(-1); }

std::string EntrySizes::printSymbolic(ExprId id) const {
  return id == kNoExpr ? "1" : entry.exprs.print(id, names);
}

std::string EntrySizes::print(ExprId id) const {
  std::string text = printSymbolic(id);
  std::optional<int64_t> value = values.get(id);
  if (!value || text == std::to_string(*value))
    return text;
  return text + " = " + std::to_string(*value);
}

int64_t EntrySizes::getWorkspaceBytes() const {
  Result<BufferPlan> plan = planWorkspace(entry, values);
  return plan ? plan->bytes : -1;
}

std::string packagetool::formatBytes(int64_t bytes) {
  if (bytes < 0)
    return "unknown";
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = double(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit ? "%.2f %s" : "%.0f %s", value,
                units[unit]);
  return text;
}

std::string packagetool::formatMicroseconds(double microseconds) {
  if (microseconds < 0)
    return "unknown";
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f us", microseconds);
  return text;
}
