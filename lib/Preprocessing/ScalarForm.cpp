//===- ScalarForm.cpp - What an op does at one iteration ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements how an op with TilingInterface is asked what it does at
// one iteration: a copy of it, on buffers, in a function that is thrown away.
//
//===----------------------------------------------------------------------===//

#include "ScalarForm.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fusion;

std::optional<ScalarForm> ScalarForm::create(Operation *op,
                                             std::string &reason) {
  // What the op has to say about the copy is no error of the program.
  std::string said;
  ScopedDiagnosticHandler handler(op->getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    if (said.empty())
                                      said = diagnostic.str();
                                    return success();
                                  });
  ScalarForm form;
  form.buildFunction(op);
  reason = form.clone(op);
  OpBuilder b = OpBuilder::atBlockEnd(form.block);
  if (reason.empty())
    reason = form.readLoops(b);
  if (reason.empty())
    reason = form.buildIteration(b);
  if (reason.empty())
    return form;
  if (!said.empty())
    reason += " (" + said + ")";
  return std::nullopt;
}

/// A function that takes the operands of `op`, as buffers where they are
/// tensors, and what its regions take from outside.
void ScalarForm::buildFunction(Operation *op) {
  llvm::SetVector<Value> outer;
  getUsedValuesDefinedAbove(op->getRegions(), outer);
  captured = outer.takeVector();
  SmallVector<Type> types;
  for (Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    types.push_back(
        tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType())
               : type);
  }
  for (Value value : captured)
    types.push_back(value.getType());
  OpBuilder b(op->getContext());
  module = ModuleOp::create(b, op->getLoc());
  b.setInsertionPointToEnd(module->getBody());
  block = func::FuncOp::create(b, op->getLoc(), "iteration",
                               b.getFunctionType(types, {}))
              .addEntryBlock();
}

std::string ScalarForm::clone(Operation *op) {
  ValueRange operands = block->getArguments().take_front(op->getNumOperands());
  buffered = Operation::create(op->getLoc(), op->getName(), /*resultTypes=*/{},
                               operands, op->getDiscardableAttrDictionary(),
                               op->getPropertiesStorage(),
                               /*successors=*/{}, op->getNumRegions());
  block->push_back(buffered);
  IRMapping map;
  map.map(ValueRange(captured),
          block->getArguments().drop_front(op->getNumOperands()));
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), buffered->getRegions()))
    from.cloneInto(&to, map);
  if (failed(mlir::verify(buffered)))
    return "it does not take buffers in the place of tensors";
  return "";
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::optional<unsigned> ScalarForm::getOperand(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != block || getLoop(value))
    return std::nullopt;
  return argument.getArgNumber();
}

std::optional<LoopCount> ScalarForm::readCount(OpFoldResult size) const {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return LoopCount{number};
  auto dim = cast<Value>(size).getDefiningOp<memref::DimOp>();
  std::optional<unsigned> operand =
      dim ? getOperand(dim.getSource()) : std::nullopt;
  std::optional<int64_t> position = dim ? dim.getConstantIndex() : std::nullopt;
  if (!operand || !position)
    return std::nullopt;
  int64_t known =
      cast<MemRefType>(dim.getSource().getType()).getDimSize(*position);
  LoopCount count{std::nullopt, *operand, *position};
  if (ShapedType::isStatic(known))
    count.number = known;
  return count;
}

std::string ScalarForm::readLoops(OpBuilder &b) {
  auto tiling = cast<TilingInterface>(buffered);
  iterators = tiling.getLoopIteratorTypes();
  SmallVector<Range> ranges = tiling.getIterationDomain(b);
  if (ranges.size() != iterators.size())
    return "it has " + std::to_string(ranges.size()) +
           " ranges of loops, and " + std::to_string(iterators.size()) +
           " types of them";
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    std::string name = "loop #" + std::to_string(loop);
    if (!isZeroInteger(range.offset) || !isOneInteger(range.stride))
      return name + " does not count from 0 by 1";
    std::optional<LoopCount> count = readCount(range.size);
    if (!count)
      return "the size of " + name +
             " is neither a constant nor that of an operand";
    counts.push_back(*count);
  }
  return "";
}

std::optional<unsigned> ScalarForm::getLoop(Value value) const {
  auto found = llvm::find(indices, value);
  if (found == indices.end())
    return std::nullopt;
  return found - indices.begin();
}

bool ScalarForm::isClosed(Operation *op) const {
  return llvm::all_of(op->getOperands(), [&](Value value) {
    Operation *definition = value.getDefiningOp();
    return !definition || llvm::is_contained(ops, definition);
  });
}

AffineExpr ScalarForm::getAffine(Value value) const {
  MLIRContext *context = value.getContext();
  if (std::optional<unsigned> loop = getLoop(value))
    return getAffineDimExpr(*loop, context);
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return getAffineConstantExpr(*number, context);
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<affine::AffineApplyOp, arith::AddIOp, arith::SubIOp,
                       arith::MulIOp>(op))
    return {};
  SmallVector<AffineExpr> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(getAffine(operand));
    if (!operands.back())
      return {};
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    unsigned dims = apply.getAffineMap().getNumDims();
    return apply.getAffineMap().getResult(0).replaceDimsAndSymbols(
        ArrayRef(operands).take_front(dims),
        ArrayRef(operands).drop_front(dims));
  }
  if (isa<arith::AddIOp>(op))
    return operands[0] + operands[1];
  if (isa<arith::SubIOp>(op))
    return operands[0] - operands[1];
  AffineExpr product = operands[0] * operands[1];
  return product.isPureAffine() ? product : AffineExpr();
}

//===----------------------------------------------------------------------===//
// One iteration
//===----------------------------------------------------------------------===//

std::string ScalarForm::buildIteration(OpBuilder &b) {
  for (unsigned loop = 0; loop < getNumLoops(); ++loop)
    indices.push_back(block->addArgument(b.getIndexType(), buffered->getLoc()));
  Operation *before = &block->back();
  if (failed(cast<TilingInterface>(buffered).generateScalarImplementation(
          b, buffered->getLoc(), indices)))
    return "it has no scalar implementation";
  for (Operation *op = before->getNextNode(); op; op = op->getNextNode())
    ops.push_back(op);
  return "";
}
