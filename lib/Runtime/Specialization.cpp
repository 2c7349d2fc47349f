//===- Specialization.cpp - An entry for given sizes ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements evaluating an entry for one set of sizes.
//
//===----------------------------------------------------------------------===//

#include "Specialization.h"

#include "fusion/Executable/Package.h"

#include <cstring>

namespace fusionrt {

using namespace fusionpkg;

namespace {

class Specializer {
public:
  Specializer(const PackageModel &model, const Entry &entry,
              const std::vector<int64_t> &symbols)
      : model(model), entry(entry),
        values(entry.exprs.getNodes(), symbols.data(), symbols.size()),
        spec(std::make_unique<Specialization>()) {
    spec->symbols = symbols;
  }

  Result<std::unique_ptr<Specialization>> run();

private:
  std::string describeEntry() const;
  std::string describeStep(size_t index) const;
  std::string print(ExprId id) const;
  /// The value of an expression, or the error that it has none.
  Error evaluate(ExprId id, const std::string &what, int64_t &value) const;

  Error requirements();
  Error tensors(bool isInput);
  Error buffers();
  Error launch(size_t index);
  Error arguments(size_t index, PreparedStep &prepared);
  Error tensorMap(size_t step, uint32_t index);
  Error transfer(size_t index);
  Error range(size_t index, const char *role, uint32_t buffer, ExprId offsetId,
              int64_t &offset, int64_t &room) const;
  int64_t figure(ExprId id) const { return values.get(id).value_or(-1); }

  const PackageModel &model;
  const Entry &entry;
  ExprValues values;
  std::unique_ptr<Specialization> spec;
  std::vector<int64_t> inputBytes;
};

} // namespace

std::string Specializer::print(ExprId id) const {
  std::vector<std::string> names;
  for (const Symbol &symbol : entry.symbols)
    names.push_back(symbol.name);
  return entry.exprs.print(id, names);
}

/// "entry 'main' (m = 5, n = 7)".
std::string Specializer::describeEntry() const {
  std::string text = "entry '" + entry.name + "'";
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    text += (i ? ", " : " (") + entry.symbols[i].name + " = " +
            std::to_string(spec->symbols[i]);
  return entry.symbols.empty() ? text : text + ")";
}

std::string Specializer::describeStep(size_t index) const {
  return describeEntry() + ", step " + std::to_string(index);
}

Error Specializer::evaluate(ExprId id, const std::string &what,
                            int64_t &value) const {
  std::optional<int64_t> result = values.get(id);
  if (!result)
    return Error(ErrorCode::SizeOverflow, describeEntry() + ": " + what + ", " +
                                              print(id) +
                                              ", does not fit 64 bits");
  value = *result;
  return {};
}

Error Specializer::requirements() {
  for (const Requirement &requirement : entry.requirements) {
    int64_t holds = 0;
    if (Error error = evaluate(requirement.condition, "a requirement", holds))
      return error;
    if (!holds)
      return Error(ErrorCode::RequirementFailed,
                   describeEntry() + ": " +
                       (requirement.message.empty()
                            ? print(requirement.condition)
                            : requirement.message));
  }
  return {};
}

/// Evaluates the dims and byte sizes of all inputs or all outputs.
Error Specializer::tensors(bool isInput) {
  const std::vector<TensorSpec> &specs = isInput ? entry.inputs : entry.outputs;
  std::vector<int64_t> &dims = isInput ? spec->inputDims : spec->outputDims;
  std::vector<int64_t> &sizes = isInput ? inputBytes : spec->outputBytes;
  for (size_t i = 0; i < specs.size(); ++i) {
    std::string name = describeTensor(entry, isInput, i);
    std::optional<int64_t> elements = 1;
    bool isEmpty = false;
    for (size_t d = 0; d < specs[i].dims.size(); ++d) {
      int64_t dim = 0;
      if (Error error =
              evaluate(specs[i].dims[d],
                       "dimension " + std::to_string(d) + " of " +
                           (isInput ? "input " : "output ") + std::to_string(i),
                       dim))
        return error;
      if (dim < 0)
        return Error(ErrorCode::ShapeMismatch,
                     name + ": dimension " + std::to_string(d) + ", " +
                         print(specs[i].dims[d]) + ", is " +
                         std::to_string(dim));
      dims.push_back(dim);
      isEmpty |= dim == 0;
      if (elements)
        elements = applyExprOp(ExprOp::Mul, *elements, dim);
    }
    // A zero anywhere makes the tensor empty, whatever the others multiply to.
    if (isEmpty)
      elements = 0;
    std::optional<int64_t> bytes;
    if (elements)
      bytes = getStorageBytes(specs[i].dtype, *elements);
    if (!bytes)
      return Error(ErrorCode::SizeOverflow,
                   name + ": its size does not fit 64 bits");
    sizes.push_back(*bytes);
  }
  return {};
}

Error Specializer::buffers() {
  bool hasSignals = false;
  for (uint32_t id = 0; id < entry.buffers.size(); ++id) {
    const Buffer &buffer = entry.buffers[id];
    spec->written.push_back(buffer.kind == BufferKind::Output ||
                            isOverwritten(entry, id));
    int64_t bytes = 0;
    switch (buffer.kind) {
    case BufferKind::Input:
      bytes = inputBytes[buffer.index];
      break;
    case BufferKind::Output:
      bytes = spec->outputBytes[buffer.index];
      break;
    case BufferKind::Constant:
      bytes = static_cast<int64_t>(model.constants[buffer.index].size);
      break;
    case BufferKind::Temp:
      if (Error error =
              evaluate(buffer.bytes,
                       "the size of temporary '" + buffer.name + "'", bytes))
        return error;
      break;
    case BufferKind::Signals:
      bytes = kSignalBytes;
      hasSignals = true;
      break;
    }
    spec->bufferBytes.push_back(bytes);
  }
  Result<BufferPlan> plan = planWorkspace(entry, values);
  if (!plan)
    return plan.getError();
  if (Error error = checkPlan(entry, spec->bufferBytes, *plan))
    return error;
  spec->tempOffsets = std::move(plan->offsets);
  spec->workspaceBytes = plan->bytes;
  if (hasSignals) {
    spec->signalsOffset = plan->bytes;
    if (__builtin_add_overflow(plan->bytes, kSignalBytes,
                               &spec->workspaceBytes))
      return Error(ErrorCode::SizeOverflow, "the workspace passes 2^63 bytes");
  }
  return {};
}

std::vector<uint32_t> getParamWidths(const Entry &entry, const Step &step) {
  std::vector<uint32_t> widths;
  for (const Arg &arg : step.args)
    widths.push_back(getParamBytes(entry, arg));
  return widths;
}

/// Evaluates a tensor map that `step` passes, unless an earlier one did.
Error Specializer::tensorMap(size_t step, uint32_t index) {
  PreparedTensorMap &prepared = spec->tensorMaps[index];
  if (prepared.cache)
    return {};
  const TensorMap &map = entry.tensorMaps[index];
  const Buffer &buffer = entry.buffers[map.buffer];
  Error error = prepareTensorMap(map, values, spec->bufferBytes[map.buffer],
                                 spec->written[map.buffer], prepared);
  if (!error)
    return {};
  const std::string &name = buffer.name;
  return error.inContext(describeStep(step) + ", tensor map " +
                         std::to_string(index) +
                         (name.empty() ? "" : " of '" + name + "'"));
}

/// Lays out the argument block: constants now, addresses, by-value inputs
/// and tensor maps as patches.
Error Specializer::arguments(size_t index, PreparedStep &prepared) {
  const Step &step = entry.steps[index];
  std::vector<uint32_t> widths = getParamWidths(entry, step);
  prepared.argOffset = spec->args.size();
  prepared.firstPatch = spec->patches.size();
  size_t offset = 0;
  for (size_t i = 0; i < step.args.size(); ++i) {
    const Arg &arg = step.args[i];
    std::string what =
        "argument " + std::to_string(i) + " of step " + std::to_string(index);
    uint32_t width = widths[i];
    uint32_t align = getParamAlign(width);
    offset = (offset + align - 1) / align * align;
    spec->args.resize(prepared.argOffset + offset + width, 0);
    uint8_t *place = spec->args.data() + prepared.argOffset + offset;
    switch (arg.kind) {
    case ArgKind::Buffer: {
      Patch patch{offset, Patch::Kind::Address, arg.index, 0, 8};
      if (arg.expr != kNoExpr)
        if (Error error = evaluate(arg.expr, what, patch.byteOffset))
          return error;
      if (patch.byteOffset < 0 ||
          patch.byteOffset > spec->bufferBytes[arg.index])
        return Error(ErrorCode::OutOfBounds,
                     describeStep(index) + ": argument " + std::to_string(i) +
                         " begins outside its buffer");
      spec->patches.push_back(patch);
      break;
    }
    case ArgKind::I64:
    case ArgKind::I32: {
      int64_t value = 0;
      if (Error error = evaluate(arg.expr, what, value))
        return error;
      if (arg.kind == ArgKind::I32 && value != static_cast<int32_t>(value))
        return Error(ErrorCode::SizeOverflow,
                     describeEntry() + ": " + what + ", " + print(arg.expr) +
                         ", is " + std::to_string(value) +
                         " and does not fit the kernel's 32 bits");
      std::memcpy(place, &value, width); // little-endian
      break;
    }
    case ArgKind::F64:
      std::memcpy(place, &arg.number, width);
      break;
    case ArgKind::F32: {
      auto number = static_cast<float>(arg.number);
      std::memcpy(place, &number, width);
      break;
    }
    case ArgKind::Scalar:
      spec->patches.push_back(
          {offset, Patch::Kind::Scalar, arg.index, 0, width});
      break;
    case ArgKind::TensorMap:
      if (Error error = tensorMap(index, arg.index))
        return error;
      spec->patches.push_back(
          {offset, Patch::Kind::TensorMap, arg.index, 0, width});
      break;
    }
    offset += width;
  }
  prepared.argBytes = offset;
  prepared.numPatches = spec->patches.size() - prepared.firstPatch;
  spec->maxArgBytes = std::max(spec->maxArgBytes, offset);
  // The next block starts aligned, so that the whole can be used in place.
  spec->args.resize((spec->args.size() + 15) / 16 * 16, 0);
  return {};
}

Error Specializer::launch(size_t index) {
  const Step &step = entry.steps[index];
  const LaunchVariant *chosen = nullptr;
  for (const LaunchVariant &variant : step.variants) {
    int64_t holds = 1;
    if (variant.guard != kNoExpr)
      if (Error error = evaluate(variant.guard, "a guard", holds))
        return error;
    if (holds) {
      chosen = &variant;
      break;
    }
  }
  if (!chosen)
    return Error(ErrorCode::NoVariant, describeStep(index) +
                                           ": no kernel was compiled for these "
                                           "sizes");

  const Kernel &kernel = model.kernels[chosen->kernel];
  int64_t grid[3] = {1, 1, 1};
  const ExprId ids[3] = {chosen->gridX, chosen->gridY, chosen->gridZ};
  const int64_t limits[3] = {INT32_MAX, 65535, 65535};
  bool isEmpty = false;
  for (int axis = 0; axis < 3; ++axis) {
    if (ids[axis] != kNoExpr)
      if (Error error = evaluate(ids[axis], "a grid extent", grid[axis]))
        return error;
    if (grid[axis] < 0 || grid[axis] > limits[axis])
      return Error(ErrorCode::GridLimit,
                   describeStep(index) + ": the grid of kernel '" +
                       kernel.name + "' has " + std::to_string(grid[axis]) +
                       " blocks along " + "xyz"[axis] +
                       ", the limits are 0 to " + std::to_string(limits[axis]));
    isEmpty |= grid[axis] == 0;
  }
  if (isEmpty)
    return {};
  uint32_t together = std::max(kernel.clusterX, kernel.together);
  if (grid[0] % together != 0)
    return Error(ErrorCode::ClusterSize,
                 describeStep(index) + ": the grid of kernel '" + kernel.name +
                     "' has " + std::to_string(grid[0]) + " blocks along x, " +
                     (kernel.together > 1
                          ? "those that wait for each other are "
                          : "its clusters have ") +
                     std::to_string(together));

  PreparedStep prepared;
  prepared.index = static_cast<uint32_t>(index);
  prepared.kernel = chosen->kernel;
  prepared.grid = {static_cast<uint32_t>(grid[0]),
                   static_cast<uint32_t>(grid[1]),
                   static_cast<uint32_t>(grid[2])};
  int64_t shared = kernel.dynamicSharedBytes;
  if (chosen->sharedBytes != kNoExpr)
    if (Error error =
            evaluate(chosen->sharedBytes, "shared memory of a launch", shared))
      return error;
  if (shared < 0 || shared > kernel.dynamicSharedBytes)
    return Error(ErrorCode::OutOfBounds,
                 describeStep(index) + ": kernel '" + kernel.name +
                     "' is given " + std::to_string(shared) +
                     " bytes of shared memory, it states at most " +
                     std::to_string(kernel.dynamicSharedBytes));
  prepared.dynamicSharedBytes = static_cast<uint32_t>(shared);
  if (Error error = arguments(index, prepared))
    return error;
  spec->steps.push_back(prepared);
  ++spec->numLaunches;
  return {};
}

/// Evaluates an offset into a buffer and the bytes from there to its end.
Error Specializer::range(size_t index, const char *role, uint32_t buffer,
                         ExprId offsetId, int64_t &offset,
                         int64_t &room) const {
  offset = 0;
  if (offsetId != kNoExpr)
    if (Error error =
            evaluate(offsetId, std::string("the offset of a ") + role, offset))
      return error;
  if (offset < 0 || offset > spec->bufferBytes[buffer])
    return Error(ErrorCode::OutOfBounds, describeStep(index) + ": the " + role +
                                             " begins outside its buffer");
  room = spec->bufferBytes[buffer] - offset;
  return {};
}

Error Specializer::transfer(size_t index) {
  const Step &step = entry.steps[index];
  PreparedStep prepared;
  prepared.kind = step.kind;
  prepared.index = static_cast<uint32_t>(index);
  prepared.dst = step.dst;
  prepared.src = step.src;
  prepared.fillWidth = step.fillWidth;
  prepared.fillBits = step.fillBits;
  int64_t room = 0;
  if (Error error = range(index, "destination", step.dst, step.dstOffset,
                          prepared.dstOffset, room))
    return error;
  prepared.bytes = room;
  if (step.bytes != kNoExpr)
    if (Error error =
            evaluate(step.bytes, "the size of a transfer", prepared.bytes))
      return error;
  if (step.kind == StepKind::Copy) {
    int64_t sourceRoom = 0;
    if (Error error = range(index, "source", step.src, step.srcOffset,
                            prepared.srcOffset, sourceRoom))
      return error;
    room = std::min(room, sourceRoom);
  }
  if (prepared.bytes < 0 || prepared.bytes > room)
    return Error(ErrorCode::OutOfBounds, describeStep(index) +
                                             ": a transfer of " +
                                             std::to_string(prepared.bytes) +
                                             " bytes leaves its buffer");
  if (step.kind == StepKind::Fill && (prepared.bytes % step.fillWidth != 0 ||
                                      prepared.dstOffset % step.fillWidth != 0))
    return Error(ErrorCode::OutOfBounds,
                 describeStep(index) +
                     ": a fill is not a whole number of patterns");
  if (prepared.bytes != 0)
    spec->steps.push_back(prepared);
  return {};
}

Result<std::unique_ptr<Specialization>> Specializer::run() {
  if (Error error = requirements())
    return error;
  if (Error error = tensors(/*isInput=*/true))
    return error;
  if (Error error = tensors(/*isInput=*/false))
    return error;
  if (Error error = buffers())
    return error;
  spec->tensorMaps.resize(entry.tensorMaps.size());
  for (size_t i = 0; i < entry.steps.size(); ++i)
    if (Error error =
            entry.steps[i].kind == StepKind::Launch ? launch(i) : transfer(i))
      return error;
  spec->bytesBefore = figure(entry.summary.bytesBefore);
  spec->bytesAfter = figure(entry.summary.bytesAfter);
  spec->flops = figure(entry.summary.flops);
  return std::move(spec);
}

Result<std::unique_ptr<Specialization>>
specialize(const PackageModel &model, const Entry &entry,
           const std::vector<int64_t> &symbols) {
  return Specializer(model, entry, symbols).run();
}

} // namespace fusionrt
