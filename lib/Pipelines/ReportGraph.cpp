//===- ReportGraph.cpp - The graph of a program for reports ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what an explanation says of a program beside the
// decisions of the planner.
//
//===----------------------------------------------------------------------===//

#include "ReportGraph.h"
#include "fusion/Executable/BufferPlan.h"
#include "fusion/Support/Counts.h"
#include "fusion/Support/OpSources.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fusion;

/// Whole nanoseconds, or null for a time that there is not.
static llvm::json::Value toNanoseconds(double seconds) {
  if (!std::isfinite(seconds))
    return nullptr;
  return static_cast<int64_t>(std::llround(seconds * 1e9));
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type;
  return text;
}

//===----------------------------------------------------------------------===//
// Operations and values
//===----------------------------------------------------------------------===//

/// Adds where an op comes from, and the names that front doors gave.
static void addSource(Location loc, llvm::json::Object &object) {
  OpSources sources = getOpSources(loc);
  if (!sources.places.empty())
    object["source"] = llvm::json::Array(sources.places);
  if (!sources.names.empty())
    object["names"] = llvm::json::Array(sources.names);
}

/// The tensors that `node` reads, as they lie in memory, each once.
static llvm::json::Array getReads(const ComputeGraph &graph,
                                  const GraphNode &node) {
  llvm::SetVector<unsigned> values;
  for (const TensorRead &read : node.reads)
    values.insert(graph.getBase(read.value));
  return llvm::json::Array(values.getArrayRef());
}

static llvm::json::Object describeOperation(const ComputeGraph &graph,
                                            const GraphNode &node,
                                            const KernelEstimate &single) {
  llvm::json::Array writes;
  for (const TensorWrite &write : node.writes)
    writes.push_back(write.value);
  llvm::json::Object object{
      {"label", node.label},
      {"kind", stringifyNodeKind(node.kind)},
      {"extents", llvm::json::Array(node.extents)},
      {"reads", getReads(graph, node)},
      {"writes", std::move(writes)},
      {"unfused",
       llvm::json::Object{{"time_ns", toNanoseconds(single.seconds())},
                          {"dram_bytes", toCount(single.bytes())},
                          {"bound", stringifyBound(single.time.bound)}}}};
  addSource(node.op->getLoc(), object);
  return object;
}

static llvm::json::Object describeValue(const GraphValue &value) {
  llvm::json::Object object{{"type", print(value.ssa.getType())},
                            {"bytes", toCount(value.bytes())},
                            {"producer", value.producer},
                            {"result", value.escapes}};
  if (auto argument = dyn_cast<BlockArgument>(value.ssa))
    object["argument"] = argument.getArgNumber();
  return object;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The tensors of others that `kernel` reads.
static llvm::json::Array getInputs(const ComputeGraph &graph,
                                   const PlannedKernel &kernel) {
  llvm::SetVector<unsigned> values;
  for (unsigned id : kernel.nodes)
    for (const TensorRead &read : graph.getNode(id).reads) {
      unsigned base = graph.getBase(read.value);
      int producer = graph.getValue(base).producer;
      if (producer < 0 || !llvm::is_contained(kernel.nodes, unsigned(producer)))
        values.insert(base);
    }
  return llvm::json::Array(values.getArrayRef());
}

static llvm::json::Object describeTerms(const KernelTime &time) {
  return llvm::json::Object{{"launch", toNanoseconds(time.launch)},
                            {"memory", toNanoseconds(time.memory)},
                            {"tensor", toNanoseconds(time.tensor)},
                            {"fp32", toNanoseconds(time.fp32)},
                            {"fp64", toNanoseconds(time.fp64)},
                            {"sfu", toNanoseconds(time.sfu)},
                            {"shared", toNanoseconds(time.shared)}};
}

/// Adds to the ledger's facts what `kernel` is made of and how it was priced.
static void addParts(const ComputeGraph &graph, const PlannedKernel &kernel,
                     ArrayRef<KernelEstimate> singles,
                     llvm::json::Object &facts) {
  double seconds = 0, bytes = 0;
  for (unsigned id : kernel.nodes) {
    seconds += singles[id].seconds();
    bytes += singles[id].bytes();
  }
  const KernelEstimate &estimate = kernel.estimate;
  facts["reads"] = getInputs(graph, kernel);
  facts["stores"] = llvm::json::Array(kernel.stored);
  facts["unfused_time_ns"] = toNanoseconds(seconds);
  facts["unfused_bytes"] = toCount(bytes);
  facts["terms_ns"] = describeTerms(estimate.time);
  facts["tensor_flops"] = toCount(estimate.cost.tensorFlops);
  facts["blocks"] = estimate.shape.blocks;
  facts["threads"] = estimate.shape.threads;
}

llvm::json::Object fusion::describePlan(const ComputeGraph &graph,
                                        const FusionPlan &plan,
                                        const TargetInfo &target) {
  PlanOptions options;
  options.fuse = false;
  FusionPlan unfused = planFusion(graph, target, options);
  std::vector<KernelEstimate> singles(graph.getNodes().size());
  for (const PlannedKernel &kernel : unfused.kernels)
    singles[kernel.nodes.front()] = kernel.estimate;

  llvm::json::Value ledger = plan.ledger.toJson();
  llvm::json::Object &object = *ledger.getAsObject();
  llvm::json::Array operations, values;
  for (auto [node, single] : llvm::zip_equal(graph.getNodes(), singles))
    operations.push_back(describeOperation(graph, node, single));
  for (const GraphValue &value : graph.getValues())
    values.push_back(describeValue(value));
  object["operations"] = std::move(operations);
  object["values"] = std::move(values);
  for (auto [facts, kernel] :
       llvm::zip_equal(*object.getArray("kernels"), plan.kernels))
    addParts(graph, kernel, singles, *facts.getAsObject());
  return std::move(object);
}

//===----------------------------------------------------------------------===//
// The chip
//===----------------------------------------------------------------------===//

llvm::json::Object fusion::describeTarget(const TargetInfo &target) {
  return llvm::json::Object{
      {"name", target.name},
      {"part", target.part},
      {"dram_bytes_per_second", target.fitted.rates.dramBytesPerSecond},
      {"l2_bytes_per_second", target.l2BytesPerSecond()},
      {"tensor_flops_per_second", target.fitted.rates.tensorFlopsPerSecond},
      {"fp32_flops_per_second", target.fp32FlopsPerSecond()},
      {"registers_per_thread", target.maxRegistersPerThread},
      {"shared_bytes_per_block", target.maxSharedPerBlock}};
}

//===----------------------------------------------------------------------===//
// Launches and memory
//===----------------------------------------------------------------------===//

static StringRef stringifyBuffer(fusionpkg::BufferKind kind) {
  switch (kind) {
  case fusionpkg::BufferKind::Input:
    return "input";
  case fusionpkg::BufferKind::Output:
    return "output";
  case fusionpkg::BufferKind::Constant:
    return "constant";
  case fusionpkg::BufferKind::Temp:
    return "temporary";
  case fusionpkg::BufferKind::Signals:
    return "signals";
  }
  return "";
}

/// The bytes of a tensor, null where they are not known.
static llvm::json::Value getBytes(const fusionpkg::TensorSpec &spec,
                                  const fusionpkg::ExprValues &values) {
  double bits = fusionpkg::getStorageBits(spec.dtype);
  for (fusionpkg::ExprId dim : spec.dims) {
    std::optional<int64_t> size = values.get(dim);
    if (!size)
      return nullptr;
    bits *= *size;
  }
  return toCount(std::ceil(bits / 8));
}

static llvm::json::Value getBytes(const fusionpkg::PackageModel &model,
                                  const fusionpkg::Entry &entry,
                                  const fusionpkg::Buffer &buffer,
                                  const fusionpkg::ExprValues &values) {
  switch (buffer.kind) {
  case fusionpkg::BufferKind::Input:
    return getBytes(entry.inputs[buffer.index], values);
  case fusionpkg::BufferKind::Output:
    return getBytes(entry.outputs[buffer.index], values);
  case fusionpkg::BufferKind::Constant:
    return toCount(model.constants[buffer.index].size);
  case fusionpkg::BufferKind::Signals:
    return fusionpkg::kSignalBytes;
  case fusionpkg::BufferKind::Temp:
    break;
  }
  std::optional<int64_t> bytes = values.get(buffer.bytes);
  return bytes ? llvm::json::Value(*bytes) : llvm::json::Value(nullptr);
}

static llvm::json::Object describeStep(const fusionpkg::PackageModel &model,
                                       const fusionpkg::Step &step,
                                       const fusionpkg::ExprValues &values) {
  if (step.kind != fusionpkg::StepKind::Launch)
    return llvm::json::Object{
        {"what", step.kind == fusionpkg::StepKind::Copy ? "copy" : "fill"},
        {"buffer", step.dst}};
  llvm::json::Array variants;
  for (const fusionpkg::LaunchVariant &variant : step.variants) {
    llvm::json::Object object{{"kernel", model.kernels[variant.kernel].name}};
    double blocks = 1;
    for (fusionpkg::ExprId grid : {variant.gridX, variant.gridY, variant.gridZ})
      if (grid != fusionpkg::kNoExpr)
        blocks *= values.get(grid).value_or(1);
    object["blocks"] = toCount(blocks);
    variants.push_back(std::move(object));
  }
  return llvm::json::Object{{"what", "launch"},
                            {"variants", std::move(variants)}};
}

llvm::json::Object fusion::describeEntry(const fusionpkg::PackageModel &model,
                                         const fusionpkg::Entry &entry,
                                         int64_t size) {
  std::vector<int64_t> sizes(entry.symbols.size(), size);
  fusionpkg::ExprValues values(entry.exprs.getNodes(), sizes.data(),
                               sizes.size());
  llvm::json::Array steps, buffers, symbols;
  for (const fusionpkg::Symbol &symbol : entry.symbols)
    symbols.push_back(llvm::json::Object{
        {"name", llvm::json::fixUTF8(symbol.name)}, {"size", size}});
  for (const fusionpkg::Step &step : entry.steps)
    steps.push_back(describeStep(model, step, values));
  fusionpkg::Result<fusionpkg::BufferPlan> plan =
      fusionpkg::planWorkspace(entry, values);
  std::vector<fusionpkg::Lifetime> lives = fusionpkg::computeLifetimes(entry);
  for (auto [i, buffer] : llvm::enumerate(entry.buffers)) {
    llvm::json::Object object{
        {"name", llvm::json::fixUTF8(buffer.name)},
        {"kind", stringifyBuffer(buffer.kind)},
        {"bytes", getBytes(model, entry, buffer, values)}};
    // One that no step names has no life.
    if (lives[i].first <= lives[i].last) {
      object["first_step"] = lives[i].first;
      object["last_step"] = lives[i].last;
    }
    if (plan && plan->offsets[i] >= 0)
      object["offset"] = plan->offsets[i];
    buffers.push_back(std::move(object));
  }
  llvm::json::Object object{{"name", llvm::json::fixUTF8(entry.name)},
                            {"assumed_sizes", std::move(symbols)},
                            {"steps", std::move(steps)},
                            {"buffers", std::move(buffers)}};
  if (plan)
    object["workspace_bytes"] = plan->bytes;
  return object;
}
