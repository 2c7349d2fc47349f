//===- PackageVerifier.cpp - The rules of a package -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rules that a package keeps, beyond being a well
// formed FlatBuffer. The runtime relies on them without checking again.
//
//===----------------------------------------------------------------------===//

#include "TensorMapRules.h"
#include "fusion/Executable/Package.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace fusionpkg {

namespace {

/// Collects the first broken rule; every check afterwards is a no-op.
class Verifier {
public:
  explicit Verifier(const PackageModel &model) : model(model) {}

  Error run();

private:
  bool failed() const { return static_cast<bool>(error); }
  /// Returns `condition`; the first that is false becomes the error.
  bool require(bool condition, const char *what) {
    if (!condition && !error)
      error = Error(ErrorCode::PackageInvalid,
                    place.empty() ? what : place + ": " + what);
    return condition;
  }
  void name(const std::string &text, bool mayBeEmpty);
  void expr(const Entry &entry, ExprId id, bool mayBeAbsent = false);

  void modulesAndKernels();
  void constants();
  void entry(const Entry &entry);
  void expressions(const Entry &entry);
  void signature(const Entry &entry);
  void buffers(const Entry &entry);
  void overwritten(const Entry &entry);
  void tensorMap(const Entry &entry, const TensorMap &map);
  void launch(const Entry &entry, const Step &step);
  void transfer(const Entry &entry, const Step &step);

  const PackageModel &model;
  Error error;
  std::string place;
  /// The widths of the parameters of each kernel, from its first launch.
  std::unordered_map<uint32_t, std::vector<unsigned>> signatures;
};

} // namespace

void Verifier::name(const std::string &text, bool mayBeEmpty) {
  require(mayBeEmpty || !text.empty(), "a name is empty");
  require(text.size() <= PackageLimits::kMaxNameBytes, "a name is too long");
  require(text.find('\0') == std::string::npos, "a name contains a zero byte");
}

void Verifier::expr(const Entry &entry, ExprId id, bool mayBeAbsent) {
  if (id == kNoExpr)
    require(mayBeAbsent, "an expression is missing");
  else
    require(id < entry.exprs.size(), "an expression id is out of range");
}

void Verifier::modulesAndKernels() {
  require(model.modules.size() <= PackageLimits::kMaxModules,
          "too many modules");
  require(model.kernels.size() <= PackageLimits::kMaxKernels,
          "too many kernels");
  for (const Module &module : model.modules) {
    require(!module.ptx.empty(), "a module has no PTX");
    require(module.ptx.find('\0') == std::string::npos,
            "the PTX of a module contains a zero byte");
  }
  for (const Kernel &kernel : model.kernels) {
    if (failed())
      return;
    place = "kernel '" + kernel.name.substr(0, 256) + "'";
    name(kernel.name, /*mayBeEmpty=*/false);
    require(kernel.module < model.modules.size(),
            "its module id is out of range");
    require(kernel.blockX >= 1 && kernel.blockX <= PackageLimits::kMaxBlock,
            "its block is not 1 to 1024 threads");
    require(kernel.staticSharedBytes <= PackageLimits::kMaxSharedBytes &&
                kernel.dynamicSharedBytes <= PackageLimits::kMaxSharedBytes,
            "its shared memory is beyond any chip's");
    require(kernel.clusterX >= 1 &&
                kernel.clusterX <= PackageLimits::kMaxCluster,
            "its cluster is not 1 to 16 blocks");
    require(kernel.together >= 1 &&
                kernel.together <= PackageLimits::kMaxTogether &&
                (kernel.together == 1 || kernel.clusterX == 1),
            "the blocks that wait for each other are not 1 to 256, or are a "
            "cluster");
  }
  place.clear();
}

void Verifier::constants() {
  require(model.constants.size() <= PackageLimits::kMaxTensors,
          "too many constants");
  uint64_t blob = model.constantData.size();
  for (const Constant &constant : model.constants) {
    name(constant.name, /*mayBeEmpty=*/true);
    require(constant.offset % 16 == 0,
            "a constant's offset is not a multiple of 16");
    require(constant.offset <= blob && constant.size <= blob - constant.offset,
            "a constant lies outside the blob");
  }
}

void Verifier::expressions(const Entry &entry) {
  const std::vector<ExprNode> &nodes = entry.exprs.getNodes();
  require(nodes.size() <= PackageLimits::kMaxExprs, "too many expressions");
  for (size_t i = 0; i < nodes.size() && !failed(); ++i) {
    const ExprNode &node = nodes[i];
    if (!require(static_cast<uint8_t>(node.op) <= kLastExprOp,
                 "an expression has an unknown operation"))
      return;
    if (node.op == ExprOp::Symbol)
      require(node.value >= 0 &&
                  static_cast<uint64_t>(node.value) < entry.symbols.size(),
              "an expression names a symbol that is out of range");
    if (!node.isLeaf())
      require(node.lhs < i && node.rhs < i,
              "an expression refers to one that is not before it");
  }
}

void Verifier::signature(const Entry &entry) {
  require(entry.symbols.size() <= PackageLimits::kMaxSymbols,
          "too many symbols");
  require(entry.inputs.size() <= PackageLimits::kMaxTensors, "too many inputs");
  require(entry.outputs.size() <= PackageLimits::kMaxTensors,
          "too many outputs");
  if (failed())
    return;

  for (bool isInput : {true, false})
    for (const TensorSpec &spec : isInput ? entry.inputs : entry.outputs) {
      name(spec.name, /*mayBeEmpty=*/true);
      require(static_cast<uint8_t>(spec.dtype) <= kLastDType,
              "a tensor has an unknown element type");
      require(spec.dims.size() <= PackageLimits::kMaxRank,
              "a tensor has more than 16 dimensions");
      for (ExprId dim : spec.dims)
        expr(entry, dim);
      require(!isInput || !spec.overwrites, "an input overwrites an input");
      if (spec.byValue) {
        require(isInput, "an output is passed by value");
        require(spec.dims.empty(), "a by-value input is not a scalar");
        require(spec.dtype != DType::I4, "an i4 is passed by value");
      }
    }
  overwritten(entry);
  if (failed())
    return;

  std::unordered_set<std::string> names;
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    const Symbol &symbol = entry.symbols[i];
    name(symbol.name, /*mayBeEmpty=*/false);
    require(names.insert(symbol.name).second, "two symbols have one name");
    if (!require(symbol.input < entry.inputs.size(),
                 "a symbol's input is out of range"))
      return;
    const TensorSpec &input = entry.inputs[symbol.input];
    if (symbol.dim == Symbol::kFromScalar) {
      require(input.byValue && !isFloat(input.dtype),
              "a symbol is read from what is no by-value integer");
      continue;
    }
    if (!require(symbol.dim >= 0 &&
                     static_cast<size_t>(symbol.dim) < input.dims.size(),
                 "a symbol's dimension is out of range"))
      return;
    const ExprNode &node = entry.exprs.getNodes()[input.dims[symbol.dim]];
    require(node.op == ExprOp::Symbol && node.value == int64_t(i),
            "a symbol is read from a dimension that is not the symbol");
  }
  for (const Requirement &requirement : entry.requirements) {
    expr(entry, requirement.condition);
    name(requirement.message, /*mayBeEmpty=*/true);
  }
}

/// An output that is the memory of an input is of its type and dimensions, and
/// the only one.
void Verifier::overwritten(const Entry &entry) {
  std::unordered_set<uint32_t> inputs;
  for (const TensorSpec &output : entry.outputs) {
    if (!output.overwrites)
      continue;
    if (!require(*output.overwrites < entry.inputs.size(),
                 "an output overwrites an input that is out of range"))
      return;
    const TensorSpec &input = entry.inputs[*output.overwrites];
    require(!input.byValue, "an output overwrites a by-value input");
    require(input.dtype == output.dtype && input.dims == output.dims,
            "an output overwrites an input of another type or shape");
    require(inputs.insert(*output.overwrites).second,
            "two outputs overwrite one input");
  }
}

void Verifier::buffers(const Entry &entry) {
  if (!require(entry.buffers.size() <= PackageLimits::kMaxTensors,
               "too many buffers"))
    return;
  std::vector<unsigned> inputUses(entry.inputs.size());
  std::vector<unsigned> outputUses(entry.outputs.size());
  for (const Buffer &buffer : entry.buffers) {
    name(buffer.name, /*mayBeEmpty=*/true);
    switch (buffer.kind) {
    case BufferKind::Input:
      if (require(buffer.index < entry.inputs.size(),
                  "a buffer's input is out of range"))
        ++inputUses[buffer.index];
      break;
    case BufferKind::Output:
      if (require(buffer.index < entry.outputs.size(),
                  "a buffer's output is out of range"))
        ++outputUses[buffer.index];
      break;
    case BufferKind::Constant:
      require(buffer.index < model.constants.size(),
              "a buffer's constant is out of range");
      break;
    case BufferKind::Temp:
      expr(entry, buffer.bytes);
      break;
    case BufferKind::Signals:
      break;
    default:
      require(false, "a buffer has an unknown kind");
    }
    if (buffer.kind != BufferKind::Temp)
      require(buffer.bytes == kNoExpr,
              "a buffer that is not a temporary states a size");
  }
  for (size_t i = 0; i < inputUses.size(); ++i)
    require(inputUses[i] == (entry.inputs[i].byValue ? 0u : 1u),
            "an input does not have exactly its one buffer");
  for (size_t i = 0; i < outputUses.size(); ++i)
    require(outputUses[i] == (entry.outputs[i].overwrites ? 0u : 1u),
            "an output does not have exactly its one buffer");
}

void Verifier::tensorMap(const Entry &entry, const TensorMap &map) {
  require(map.buffer < entry.buffers.size(), "its buffer is out of range");
  expr(entry, map.offset, /*mayBeAbsent=*/true);
  for (const std::vector<ExprId> *ids : {&map.sizes, &map.strides})
    for (ExprId id : *ids)
      expr(entry, id);
  const char *broken = findBrokenTensorMapRule(map);
  require(!broken, broken ? broken : "");
}

void Verifier::launch(const Entry &entry, const Step &step) {
  require(!step.variants.empty(), "a launch has no variant");
  require(step.variants.size() <= PackageLimits::kMaxVariants,
          "a launch has too many variants");
  require(step.args.size() <= PackageLimits::kMaxParamBytes,
          "a launch has too many arguments");
  std::vector<unsigned> widths;
  size_t paramBytes = 0;
  for (const Arg &arg : step.args) {
    if (failed())
      return;
    switch (arg.kind) {
    case ArgKind::Buffer:
      require(arg.index < entry.buffers.size(),
              "an argument's buffer is out of range");
      expr(entry, arg.expr, /*mayBeAbsent=*/true);
      break;
    case ArgKind::I64:
    case ArgKind::I32:
      expr(entry, arg.expr);
      break;
    case ArgKind::F64:
    case ArgKind::F32:
      break;
    case ArgKind::Scalar:
      require(arg.index < entry.inputs.size() &&
                  entry.inputs[arg.index].byValue,
              "an argument's scalar is no by-value input");
      break;
    case ArgKind::TensorMap:
      require(arg.index < entry.tensorMaps.size(),
              "an argument's tensor map is out of range");
      break;
    default:
      require(false, "an argument has an unknown kind");
    }
    if (failed())
      return;
    unsigned width = getParamBytes(entry, arg);
    widths.push_back(width);
    unsigned align = getParamAlign(width);
    paramBytes = (paramBytes + align - 1) / align * align + width;
  }
  require(paramBytes <= PackageLimits::kMaxParamBytes,
          "the arguments of a launch take more than 32764 bytes");
  for (const LaunchVariant &variant : step.variants) {
    expr(entry, variant.guard, /*mayBeAbsent=*/true);
    expr(entry, variant.gridX, /*mayBeAbsent=*/true);
    expr(entry, variant.gridY, /*mayBeAbsent=*/true);
    expr(entry, variant.gridZ, /*mayBeAbsent=*/true);
    expr(entry, variant.sharedBytes, /*mayBeAbsent=*/true);
    if (!require(variant.kernel < model.kernels.size(),
                 "a launch's kernel is out of range"))
      return;
    auto [it, isNew] = signatures.emplace(variant.kernel, widths);
    require(isNew || it->second == widths,
            "two launches pass different parameters to one kernel");
  }
}

void Verifier::transfer(const Entry &entry, const Step &step) {
  if (!require(step.dst < entry.buffers.size(),
               "a destination is out of range"))
    return;
  BufferKind kind = entry.buffers[step.dst].kind;
  require(kind == BufferKind::Output || kind == BufferKind::Temp ||
              isOverwritten(entry, step.dst),
          "a destination is not writable");
  expr(entry, step.dstOffset, /*mayBeAbsent=*/true);
  expr(entry, step.bytes, /*mayBeAbsent=*/true);
  if (step.kind == StepKind::Copy) {
    require(step.src < entry.buffers.size(), "a source is out of range");
    expr(entry, step.srcOffset, /*mayBeAbsent=*/true);
    return;
  }
  require(step.fillWidth == 1 || step.fillWidth == 2 || step.fillWidth == 4 ||
              step.fillWidth == 8,
          "a fill pattern is not 1, 2, 4 or 8 bytes wide");
}

void Verifier::entry(const Entry &entry) {
  place = "entry '" + entry.name.substr(0, 256) + "'";
  name(entry.name, /*mayBeEmpty=*/false);
  expressions(entry);
  if (!failed())
    signature(entry);
  if (!failed())
    buffers(entry);
  require(entry.tensorMaps.size() <= PackageLimits::kMaxTensors,
          "too many tensor maps");
  require(entry.steps.size() <= PackageLimits::kMaxSteps, "too many steps");
  std::string entryPlace = place;
  for (size_t i = 0; i < entry.tensorMaps.size() && !failed(); ++i) {
    place = entryPlace + ", tensor map " + std::to_string(i);
    tensorMap(entry, entry.tensorMaps[i]);
  }
  for (size_t i = 0; i < entry.steps.size() && !failed(); ++i) {
    const Step &step = entry.steps[i];
    place = entryPlace + ", step " + std::to_string(i);
    if (step.kind == StepKind::Launch)
      launch(entry, step);
    else if (require(step.kind == StepKind::Copy || step.kind == StepKind::Fill,
                     "unknown kind"))
      transfer(entry, step);
  }
  place = entryPlace;
  for (ExprId id : {entry.summary.bytesBefore, entry.summary.bytesAfter,
                    entry.summary.flops})
    expr(entry, id, /*mayBeAbsent=*/true);
  place.clear();
}

Error Verifier::run() {
  name(model.target, /*mayBeEmpty=*/false);
  name(model.producer, /*mayBeEmpty=*/true);
  modulesAndKernels();
  if (!failed())
    constants();
  require(model.entries.size() <= PackageLimits::kMaxEntries,
          "too many entries");
  std::unordered_set<std::string> names;
  for (const Entry &e : model.entries) {
    if (failed())
      break;
    require(names.insert(e.name).second, "two entries have one name");
    if (!failed())
      entry(e);
  }
  return error;
}

Error verifyPackage(const PackageModel &model) { return Verifier(model).run(); }

} // namespace fusionpkg
