//===- Signature.cpp - Callers' tensors against the signature -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the checks of a caller's tensors against the signature
// of an entry, and reading the symbols from them.
//
//===----------------------------------------------------------------------===//

#include "Specialization.h"

#include "fusion/Executable/Package.h"

#include <cstring>

namespace fusionrt {

using namespace fusionpkg;

std::string describeTensor(const Entry &entry, bool isInput, size_t index) {
  const TensorSpec &spec = isInput ? entry.inputs[index] : entry.outputs[index];
  std::string text = "entry '" + entry.name + "', " +
                     (isInput ? "input " : "output ") + std::to_string(index);
  if (!spec.name.empty())
    text += " ('" + spec.name + "')";
  return text;
}

static std::string describeType(int32_t dtype) {
  if (dtype >= 0 && dtype <= kLastDType)
    return getDTypeName(static_cast<DType>(dtype));
  return "unknown (" + std::to_string(dtype) + ")";
}

/// Checks what does not depend on sizes.
static Error checkTypeAndRank(const Entry &entry, bool isInput, size_t index,
                              const FusionRtTensor &tensor) {
  const TensorSpec &spec = isInput ? entry.inputs[index] : entry.outputs[index];
  if (tensor.dtype != static_cast<int32_t>(spec.dtype))
    return Error(ErrorCode::DTypeMismatch,
                 describeTensor(entry, isInput, index) + " has element type " +
                     describeType(tensor.dtype) + ", expected " +
                     getDTypeName(spec.dtype));
  if (tensor.rank < 0 || static_cast<size_t>(tensor.rank) != spec.dims.size())
    return Error(ErrorCode::ShapeMismatch,
                 describeTensor(entry, isInput, index) + " has rank " +
                     std::to_string(tensor.rank) + ", expected " +
                     std::to_string(spec.dims.size()));
  if (tensor.rank > 0 && !tensor.dims)
    return Error(ErrorCode::BadArgument, describeTensor(entry, isInput, index) +
                                             " comes without its dims");
  return {};
}

static Error checkCount(const Entry &entry, bool isInput, const void *tensors,
                        size_t count) {
  size_t expected = isInput ? entry.inputs.size() : entry.outputs.size();
  if (count != expected)
    return Error(ErrorCode::WrongArity, "entry '" + entry.name + "' takes " +
                                            std::to_string(expected) +
                                            (isInput ? " inputs" : " outputs") +
                                            ", got " + std::to_string(count));
  if (count != 0 && !tensors)
    return Error(ErrorCode::BadArgument, std::string("the array of ") +
                                             (isInput ? "inputs" : "outputs") +
                                             " is null");
  return {};
}

/// The value of a by-value integer input.
static int64_t readInteger(DType type, const void *value) {
  switch (type) {
  case DType::I64: {
    int64_t number;
    std::memcpy(&number, value, sizeof(number));
    return number;
  }
  case DType::I32: {
    int32_t number;
    std::memcpy(&number, value, sizeof(number));
    return number;
  }
  case DType::I16: {
    int16_t number;
    std::memcpy(&number, value, sizeof(number));
    return number;
  }
  default: {
    int8_t number;
    std::memcpy(&number, value, sizeof(number));
    return number;
  }
  }
}

Error readSymbols(const Entry &entry, const FusionRtTensor *inputs,
                  uint32_t numInputs, std::vector<int64_t> &symbols) {
  if (Error error = checkCount(entry, /*isInput=*/true, inputs, numInputs))
    return error;
  for (uint32_t i = 0; i < numInputs; ++i)
    if (Error error = checkTypeAndRank(entry, /*isInput=*/true, i, inputs[i]))
      return error;

  symbols.resize(entry.symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Symbol &symbol = entry.symbols[i];
    const FusionRtTensor &input = inputs[symbol.input];
    if (symbol.dim == Symbol::kFromScalar) {
      if (!input.value)
        return Error(ErrorCode::NullPointer,
                     describeTensor(entry, true, symbol.input) +
                         " is passed by value but has none",
                     "set the value of the tensor");
      symbols[i] = readInteger(entry.inputs[symbol.input].dtype, input.value);
      continue;
    }
    symbols[i] = input.dims[symbol.dim];
    if (symbols[i] < 0)
      return Error(ErrorCode::ShapeMismatch,
                   describeTensor(entry, true, symbol.input) + ": dimension " +
                       std::to_string(symbol.dim) + " is " +
                       std::to_string(symbols[i]));
  }
  return {};
}

/// "m = 7 (dimension 0 of input 0 ('x'))" for every symbol of an expression
/// that is a plain symbol; the expression's text otherwise.
static std::string explainDim(const Entry &entry, ExprId id) {
  const ExprNode &node = entry.exprs.getNodes()[id];
  std::vector<std::string> names;
  for (const Symbol &symbol : entry.symbols)
    names.push_back(symbol.name);
  if (node.op == ExprOp::Const)
    return "";
  std::string text = " = " + entry.exprs.print(id, names);
  if (node.op != ExprOp::Symbol)
    return text;
  const Symbol &symbol = entry.symbols[node.value];
  text += symbol.dim == Symbol::kFromScalar
              ? ", the value of input "
              : ", dimension " + std::to_string(symbol.dim) + " of input ";
  return text + std::to_string(symbol.input);
}

static Error checkDims(const Entry &entry, bool isInput, size_t index,
                       const FusionRtTensor &tensor, const int64_t *expected) {
  const TensorSpec &spec = isInput ? entry.inputs[index] : entry.outputs[index];
  for (size_t d = 0; d < spec.dims.size(); ++d)
    if (tensor.dims[d] != expected[d])
      return Error(ErrorCode::ShapeMismatch,
                   describeTensor(entry, isInput, index) + ": dimension " +
                       std::to_string(d) + " is " +
                       std::to_string(tensor.dims[d]) + ", expected " +
                       std::to_string(expected[d]) +
                       explainDim(entry, spec.dims[d]));
  return {};
}

Error checkInputDims(const Entry &entry, const Specialization &spec,
                     const FusionRtTensor *inputs) {
  const int64_t *expected = spec.inputDims.data();
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    if (Error error = checkDims(entry, true, i, inputs[i], expected))
      return error;
    expected += entry.inputs[i].dims.size();
  }
  return {};
}

Error checkOutputs(const Entry &entry, const Specialization &spec,
                   const FusionRtTensor *outputs, uint32_t numOutputs) {
  if (Error error = checkCount(entry, /*isInput=*/false, outputs, numOutputs))
    return error;
  const int64_t *expected = spec.outputDims.data();
  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    if (Error error = checkTypeAndRank(entry, false, i, outputs[i]))
      return error;
    if (Error error = checkDims(entry, false, i, outputs[i], expected))
      return error;
    expected += entry.outputs[i].dims.size();
  }
  return {};
}

} // namespace fusionrt
