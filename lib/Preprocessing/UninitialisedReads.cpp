//===- UninitialisedReads.cpp - Tensors that nothing wrote ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for reads of tensors that nothing wrote.
//
//===----------------------------------------------------------------------===//

#include "UninitialisedReads.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// True if no element of `tensor` was written: a tensor.empty, or part of one
/// in another shape. A tensor without elements has none to read.
static bool isUnwritten(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || (type.hasStaticShape() && type.getNumElements() == 0))
    return false;
  Operation *op = tensor.getDefiningOp();
  while (isa_and_present<tensor::CastOp, tensor::CollapseShapeOp,
                         tensor::ExpandShapeOp, tensor::ExtractSliceOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_present<tensor::EmptyOp>(op);
}

static bool reads(Operation *op, OpOperand &operand) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.payloadUsesValueFromOperand(&operand);
  return isa<func::ReturnOp, tensor::ExtractOp>(op);
}

std::string fusion::describeUninitialisedRead(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (isUnwritten(operand.get()) && reads(op, operand))
      return "'" + op->getName().getStringRef().str() + "' " +
             (isa<func::ReturnOp>(op) ? "returns" : "reads") + " operand #" +
             std::to_string(operand.getOperandNumber()) +
             ", a tensor.empty that nothing wrote";
  return "";
}
