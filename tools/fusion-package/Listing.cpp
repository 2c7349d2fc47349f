//===- Listing.cpp - What a package has -----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the listing of a package.
//
//===----------------------------------------------------------------------===//

#include "Listing.h"
#include "fusion/Executable/JsonText.h"
#include "fusion/Executable/TextTable.h"

using namespace packagetool;
using namespace fusionpkg;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

const KernelResources &packagetool::getResources(const Kernel &kernel) {
  return kernel.measured.registers >= 0 ? kernel.measured : kernel.predicted;
}

std::string packagetool::describeRegisters(const Kernel &kernel) {
  if (kernel.measured.registers >= 0)
    return std::to_string(kernel.measured.registers);
  if (kernel.predicted.registers >= 0)
    return std::to_string(kernel.predicted.registers) + " predicted";
  return "-";
}

std::string packagetool::describeTensor(const Entry &entry,
                                        const TensorSpec &tensor,
                                        const EntrySizes &sizes) {
  std::string text = getDTypeName(tensor.dtype);
  if (!tensor.dims.empty()) {
    text += "[";
    for (size_t i = 0; i < tensor.dims.size(); ++i)
      text += (i ? ", " : "") + sizes.printSymbolic(tensor.dims[i]);
    text += "]";
  }
  if (tensor.byValue)
    text += " by value";
  if (tensor.overwrites)
    text += " over " + entry.inputs[*tensor.overwrites].name;
  return text;
}

static std::string describeGrid(const LaunchVariant &variant,
                                const EntrySizes &sizes) {
  std::string text = sizes.print(variant.gridX);
  ExprId last = variant.gridZ != kNoExpr ? variant.gridZ : variant.gridY;
  if (last == kNoExpr)
    return text;
  text += " x " + sizes.print(variant.gridY);
  return variant.gridZ == kNoExpr ? text
                                  : text + " x " + sizes.print(variant.gridZ);
}

static std::string nameBuffer(const Entry &entry, uint32_t number) {
  const Buffer &buffer = entry.buffers[number];
  static const char *const kinds[] = {"input", "output", "constant",
                                      "temporary", "signals"};
  std::string kind = kinds[static_cast<size_t>(buffer.kind)];
  return buffer.name.empty() ? kind + " #" + std::to_string(number)
                             : kind + " " + buffer.name;
}

std::string packagetool::describeStep(const PackageModel &model,
                                      const Entry &entry, const Step &step,
                                      const EntrySizes &sizes) {
  if (step.kind == StepKind::Fill)
    return "fill " + nameBuffer(entry, step.dst);
  if (step.kind == StepKind::Copy)
    return "copy " + nameBuffer(entry, step.src) + " to " +
           nameBuffer(entry, step.dst);
  std::string text = "launch ";
  for (size_t i = 0; i < step.variants.size(); ++i) {
    const LaunchVariant &variant = step.variants[i];
    const Kernel &kernel = model.kernels[variant.kernel];
    if (i)
      text += ", or ";
    text += kernel.name + ", grid " + describeGrid(variant, sizes) +
            ", block " + std::to_string(kernel.blockX);
    if (kernel.clusterX > 1)
      text += ", cluster " + std::to_string(kernel.clusterX);
    if (variant.guard != kNoExpr)
      text += ", if " + sizes.printSymbolic(variant.guard);
  }
  return text;
}

/// How many steps of `entry` are launches.
static size_t countLaunches(const Entry &entry) {
  return static_cast<size_t>(
      std::count_if(entry.steps.begin(), entry.steps.end(),
                    [](const Step &s) { return s.kind == StepKind::Launch; }));
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string describeSignature(const Entry &entry,
                                     const EntrySizes &sizes) {
  std::string text = "@" + entry.name + "(";
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const TensorSpec &input = entry.inputs[i];
    text += (i ? ", " : "") + (input.name.empty() ? "" : input.name + ": ") +
            describeTensor(entry, input, sizes);
  }
  text += ") -> (";
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    text += (i ? ", " : "") + describeTensor(entry, entry.outputs[i], sizes);
  return text + ")";
}

static std::string listEntry(const PackageModel &model, const Entry &entry,
                             const Dims &dims) {
  EntrySizes sizes(entry, dims);
  const Summary &summary = entry.summary;
  std::string text = "\n" + describeSignature(entry, sizes) + "\n";
  TextTable figures(2);
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    const Symbol &symbol = entry.symbols[i];
    std::string from =
        symbol.dim == Symbol::kFromScalar
            ? "the value of input " + std::to_string(symbol.input)
            : "dimension " + std::to_string(symbol.dim) + " of input " +
                  std::to_string(symbol.input);
    figures.add({"size", symbol.name + " = " +
                             std::to_string(sizes.getSymbol(i)) +
                             (dims.count(symbol.name) ? "" : " assumed") +
                             ", " + from});
  }
  figures.add(
      {"kernels", std::to_string(summary.kernelsBefore) + " unfused -> " +
                      std::to_string(summary.kernelsAfter) + ", started by " +
                      std::to_string(countLaunches(entry)) + " launches"});
  figures.add({"traffic", formatBytes(sizes.get(summary.bytesBefore)) +
                              " unfused -> " +
                              formatBytes(sizes.get(summary.bytesAfter))});
  figures.add({"predicted", formatMicroseconds(summary.predictedMicroseconds)});
  figures.add({"workspace", formatBytes(sizes.getWorkspaceBytes())});
  for (const Requirement &requirement : entry.requirements)
    figures.add({"requires", requirement.message});
  for (size_t i = 0; i < entry.steps.size(); ++i)
    figures.add({"step " + std::to_string(i),
                 describeStep(model, entry, entry.steps[i], sizes)});
  return text + figures.str();
}

static std::string orDash(int64_t number) {
  return number < 0 ? "-" : std::to_string(number);
}

static std::string listKernels(const PackageModel &model) {
  TextTable table(1);
  table.add({"kernel", "block", "cluster", "registers", "spill B", "shared B",
             "predicted", "PTX B", "machine code B", "from"});
  for (const Kernel &kernel : model.kernels) {
    const KernelResources &resources = getResources(kernel);
    const Module &module = model.modules[kernel.module];
    table.add({kernel.name, std::to_string(kernel.blockX),
               std::to_string(kernel.clusterX), describeRegisters(kernel),
               orDash(resources.spillBytes),
               std::to_string(uint64_t(kernel.staticSharedBytes) +
                              kernel.dynamicSharedBytes),
               formatMicroseconds(kernel.predictedMicroseconds),
               std::to_string(module.ptx.size()),
               module.cubin.empty() ? "-" : std::to_string(module.cubin.size()),
               kernel.source.empty() ? "-" : kernel.source});
  }
  return "\nKernels:\n" + table.str();
}

std::string packagetool::listAsText(const OpenPackage &package,
                                    const Dims &dims) {
  const PackageModel &model = package.model;
  TextTable head(2);
  head.add({"target", model.target + ", PTX ISA " +
                          std::to_string(model.ptxVersion / 10) + "." +
                          std::to_string(model.ptxVersion % 10)});
  head.add({"format", std::to_string(package.formatVersion) + ", written by " +
                          model.producer});
  head.add({"size", formatBytes(int64_t(package.bytes)) + ", of which " +
                        formatBytes(int64_t(model.constantData.size())) +
                        " in " + std::to_string(model.constants.size()) +
                        " constants and " +
                        formatBytes(int64_t(model.ledgerJson.size())) +
                        " of decisions"});
  std::string text = package.path + "\n" + head.str();
  for (const Entry &entry : model.entries)
    text += listEntry(model, entry, dims);
  return text + listKernels(model);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// null for what is unknown.
static std::string toJson(int64_t number) {
  return number < 0 ? "null" : std::to_string(number);
}

static std::string toJson(const std::vector<TensorSpec> &tensors,
                          const Entry &entry, const EntrySizes &sizes) {
  JsonArray array;
  for (const TensorSpec &tensor : tensors) {
    JsonObject object;
    object.addText("name", tensor.name);
    object.addText("type", getDTypeName(tensor.dtype));
    JsonArray dims;
    for (ExprId dim : tensor.dims)
      dims.add(quoteJson(sizes.printSymbolic(dim)));
    object.add("dims", dims.str());
    object.add("by_value", std::string(tensor.byValue ? "true" : "false"));
    object.add("overwrites",
               tensor.overwrites ? std::to_string(*tensor.overwrites) : "null");
    array.add(object.str());
  }
  return array.str();
}

static std::string toJson(const PackageModel &model,
                          const LaunchVariant &variant,
                          const EntrySizes &sizes) {
  JsonObject object;
  object.addText("kernel", model.kernels[variant.kernel].name);
  object.add("guard", variant.guard == kNoExpr
                          ? "null"
                          : quoteJson(sizes.printSymbolic(variant.guard)));
  JsonArray grid, blocks;
  for (ExprId extent : {variant.gridX, variant.gridY, variant.gridZ}) {
    grid.add(quoteJson(sizes.printSymbolic(extent)));
    blocks.add(extent == kNoExpr ? "1" : toJson(sizes.get(extent)));
  }
  object.add("grid", grid.str());
  object.add("blocks", blocks.str());
  object.add("block", model.kernels[variant.kernel].blockX);
  return object.str();
}

static std::string toJson(const Entry &entry, const Arg &arg,
                          const EntrySizes &sizes) {
  static const char *const kinds[] = {"buffer", "i64",    "i32",       "f64",
                                      "f32",    "scalar", "tensor_map"};
  JsonObject object;
  object.addText("kind", kinds[static_cast<size_t>(arg.kind)]);
  if (arg.kind == ArgKind::Buffer)
    object.addText("buffer", nameBuffer(entry, arg.index));
  if (arg.kind == ArgKind::Scalar)
    object.add("input", arg.index);
  if (arg.kind == ArgKind::TensorMap)
    object.addText("buffer",
                   nameBuffer(entry, entry.tensorMaps[arg.index].buffer));
  if (arg.expr != kNoExpr)
    object.addText(arg.kind == ArgKind::Buffer ? "offset" : "value",
                   sizes.printSymbolic(arg.expr));
  if (arg.kind == ArgKind::F64 || arg.kind == ArgKind::F32)
    object.add("value", toJsonNumber(arg.number));
  return object.str();
}

static std::string toJson(const PackageModel &model, const Entry &entry,
                          const Step &step, const EntrySizes &sizes) {
  JsonObject object;
  static const char *const kinds[] = {"launch", "copy", "fill"};
  object.addText("kind", kinds[static_cast<size_t>(step.kind)]);
  if (step.kind != StepKind::Launch) {
    object.addText("to", nameBuffer(entry, step.dst));
    if (step.kind == StepKind::Copy)
      object.addText("from", nameBuffer(entry, step.src));
    return object.str();
  }
  JsonArray variants, args;
  for (const LaunchVariant &variant : step.variants)
    variants.add(toJson(model, variant, sizes));
  for (const Arg &arg : step.args)
    args.add(toJson(entry, arg, sizes));
  object.add("variants", variants.str());
  object.add("arguments", args.str());
  return object.str();
}

static std::string toJson(const PackageModel &model, const Entry &entry,
                          const Dims &dims) {
  EntrySizes sizes(entry, dims);
  JsonObject object;
  object.addText("name", entry.name);
  JsonObject assumed;
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    assumed.add(entry.symbols[i].name, toJson(sizes.getSymbol(i)));
  object.add("sizes", assumed.str());
  object.add("inputs", toJson(entry.inputs, entry, sizes));
  object.add("outputs", toJson(entry.outputs, entry, sizes));
  object.add("kernels_unfused", entry.summary.kernelsBefore);
  object.add("kernels", entry.summary.kernelsAfter);
  object.add("launches", countLaunches(entry));
  object.add("bytes_unfused", toJson(sizes.get(entry.summary.bytesBefore)));
  object.add("bytes", toJson(sizes.get(entry.summary.bytesAfter)));
  object.add("flops", toJson(sizes.get(entry.summary.flops)));
  double predicted = entry.summary.predictedMicroseconds;
  object.add("predicted_us", predicted < 0 ? "null" : toJsonNumber(predicted));
  object.add("workspace_bytes", toJson(sizes.getWorkspaceBytes()));
  JsonArray steps("\n    ");
  for (const Step &step : entry.steps)
    steps.add(toJson(model, entry, step, sizes));
  object.add("steps", steps.str());
  return object.str();
}

static std::string entriesAsJson(const OpenPackage &package, const Dims &dims) {
  JsonArray entries("\n  ");
  for (const Entry &entry : package.model.entries)
    entries.add(toJson(package.model, entry, dims));
  return entries.str();
}

static std::string toJson(const KernelResources &resources) {
  JsonObject object;
  object.add("registers", toJson(resources.registers));
  object.add("spill_bytes", toJson(resources.spillBytes));
  object.add("shared_bytes", toJson(resources.sharedBytes));
  return object.str();
}

static std::string toJson(const PackageModel &model, const Kernel &kernel) {
  const Module &module = model.modules[kernel.module];
  JsonObject object;
  object.addText("name", kernel.name);
  object.add("module", kernel.module);
  object.add("block", kernel.blockX);
  object.add("cluster", kernel.clusterX);
  object.add("together", kernel.together);
  object.add("static_shared_bytes", kernel.staticSharedBytes);
  object.add("dynamic_shared_bytes", kernel.dynamicSharedBytes);
  object.add("predicted", toJson(kernel.predicted));
  object.add("measured", toJson(kernel.measured));
  object.add("predicted_us", kernel.predictedMicroseconds < 0
                                 ? "null"
                                 : toJsonNumber(kernel.predictedMicroseconds));
  object.addText("source", kernel.source);
  object.add("ptx_bytes", module.ptx.size());
  object.add("cubin_bytes", module.cubin.size());
  return object.str();
}

std::string packagetool::planAsJson(const OpenPackage &package,
                                    const Dims &dims) {
  return entriesAsJson(package, dims) + "\n";
}

std::string packagetool::listAsJson(const OpenPackage &package,
                                    const Dims &dims) {
  const PackageModel &model = package.model;
  JsonObject object;
  object.add("format", package.formatVersion);
  object.addText("producer", model.producer);
  object.addText("target", model.target);
  object.add("ptx_version", model.ptxVersion);
  object.add("bytes", package.bytes);
  object.add("ledger_bytes", model.ledgerJson.size());
  JsonArray kernels("\n  "), constants("\n  ");
  for (const Kernel &kernel : model.kernels)
    kernels.add(toJson(model, kernel));
  for (const Constant &constant : model.constants) {
    JsonObject one;
    one.addText("name", constant.name);
    one.add("bytes", constant.size);
    constants.add(one.str());
  }
  object.add("kernels", kernels.str());
  object.add("constants", constants.str());
  object.add("entries", entriesAsJson(package, dims));
  return object.str() + "\n";
}
