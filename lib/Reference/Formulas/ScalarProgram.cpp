//===- ScalarProgram.cpp - Regions on scalars, evaluated ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the evaluation of regions on bounded scalars.
//
//===----------------------------------------------------------------------===//

#include "ScalarProgram.h"

#include "ScalarOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

std::optional<int64_t> Scalar::getInteger() const {
  if (isInteger)
    return integer;
  if (!number.isExact() || !std::isfinite(number.value))
    return std::nullopt;
  return static_cast<int64_t>(number.value);
}

/// Ops on tensors from outside, which are evaluated apart from those on
/// scalars.
static bool isTensorRead(Operation *op) {
  return isa<tensor::ExtractOp, tensor::DimOp>(op);
}

bool ScalarProgram::canEvaluate(Region &region) {
  return region.hasOneBlock() &&
         llvm::all_of(region.front().without_terminator(), [](Operation &op) {
           return isTensorRead(&op) || findScalarOp(&op);
         });
}

int ScalarProgram::getSlot(Value value) {
  auto [it, isNew] = slots.try_emplace(value, values.size());
  if (isNew) {
    values.emplace_back();
    // Everything in the region has its slot already.
    if (!isa<TensorType>(value.getType()))
      values.back() = Scalar::ofElement(outside.get(value), 0);
  }
  return it->second;
}

ScalarProgram::ScalarProgram(Region &region, const Operands &outside)
    : outside(outside) {
  Block &block = region.front();
  auto define = [&](Value value) {
    slots[value] = values.size();
    values.emplace_back();
  };
  for (Value argument : block.getArguments())
    define(argument);
  for (Operation &op : block.without_terminator()) {
    Step step{&op, {}, isTensorRead(&op) ? nullptr : findScalarOp(&op)};
    for (Value operand : op.getOperands())
      step.operands.push_back(getSlot(operand));
    define(op.getResult(0));
    steps.push_back(std::move(step));
  }
  for (Value value : block.getTerminator()->getOperands())
    yielded.push_back(getSlot(value));
}

/// A read of a tensor from outside; unknown where the index is or lies outside.
static Scalar readTensor(Operation *op, ArrayRef<Scalar> operands,
                         const BoundedTensor &tensor) {
  Shape index;
  for (const Scalar &operand : operands.drop_front())
    index.push_back(operand.getInteger().value_or(-1));
  if (isa<tensor::DimOp>(op)) {
    bool isInside = index[0] >= 0 && index[0] < tensor.getRank();
    return isInside ? Scalar::ofInteger(tensor.getDim(index[0]))
                    : Scalar(Bounded::unknown());
  }
  for (auto [i, size] : llvm::zip(index, tensor.getShape()))
    if (i < 0 || i >= size)
      return Bounded::unknown();
  return Scalar::ofElement(tensor, tensor.locate(index));
}

SmallVector<Scalar> ScalarProgram::evaluate(ArrayRef<Scalar> arguments) {
  llvm::copy(arguments, values.begin());
  SmallVector<Scalar, 3> operands;
  for (const Step &step : steps) {
    operands.clear();
    for (int slot : step.operands)
      operands.push_back(values[slot]);
    values[slots.find(step.op->getResult(0))->second] =
        step.evaluate ? step.evaluate(step.op, operands)
                      : readTensor(step.op, operands,
                                   outside.get(step.op->getOperand(0)));
  }
  SmallVector<Scalar> results;
  for (int slot : yielded)
    results.push_back(values[slot]);
  return results;
}
