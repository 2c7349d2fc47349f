//===- FoldWidening.cpp - Products of narrow floats, made as such ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the folding of widened floats into the contractions
// that multiply them:
//
//   matmul(extf x, extf y)  ==>  matmul'(x, y), which widens each element
//
// Nothing is rounded by it: the product of two numbers of eight or eleven bits
// is one of f32. Tensor cores then take the operands as they are. What only
// moves elements is done before they are widened, which moves fewer bytes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fusion;

/// The tensor that `tensor` is, element for element, in a wider float type.
static Value getWidened(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics() || hasContract(op) ||
      op.getNumReductionLoops() != 0)
    return nullptr;
  auto widen = op.getBody()
                   ->getTerminator()
                   ->getOperand(0)
                   .getDefiningOp<arith::ExtFOp>();
  auto isIdentity = [](AffineMap map) { return map.isIdentity(); };
  if (!widen || widen.getIn() != op.getBody()->getArgument(0) ||
      !llvm::all_of(op.getIndexingMapsArray(), isIdentity))
    return nullptr;
  return op.getDpsInputs().front();
}

/// `tensor` in the wider type `type`, at the place of `builder`.
static Value widen(OpBuilder &builder, Location loc, Value tensor,
                   RankedTensorType type) {
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, tensor),
      type.getElementType());
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), tensor, empty, maps, loops,
             [&](OpBuilder &body, Location at, ValueRange args) {
               Value wide = arith::ExtFOp::create(
                   body, at, type.getElementType(), args[0]);
               linalg::YieldOp::create(body, at, wide);
             })
      .getResult(0);
}

/// True for an operation that gives the elements of its first operand other
/// places: a permutation, a repetition, or another shape.
static bool movesElements(Operation *op) {
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 || !generic.hasPureTensorSemantics() ||
      hasContract(generic) || generic.getNumReductionLoops() != 0)
    return false;
  Block *body = generic.getBody();
  return body->getTerminator()->getOperand(0) == body->getArgument(0);
}

/// Lets `op`, which moves widened elements, move them before.
static void moveBeforeWidening(Operation *op, Value narrow) {
  OpBuilder builder(op);
  auto wideType = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = cast<RankedTensorType>(narrow.getType()).getElementType();
  auto type = cast<RankedTensorType>(wideType.clone(element));
  Value moved;
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    Value init = generic.getDpsInits().front();
    Value empty = tensor::EmptyOp::create(
        builder, op->getLoc(),
        tensor::getMixedSizes(builder, op->getLoc(), init), element);
    moved = linalg::GenericOp::create(
                builder, op->getLoc(), type, narrow, empty,
                generic.getIndexingMapsArray(), generic.getIteratorTypesArray(),
                [](OpBuilder &body, Location at, ValueRange args) {
                  linalg::YieldOp::create(body, at, args[0]);
                })
                .getResult(0);
  } else {
    IRMapping mapping;
    mapping.map(op->getOperand(0), narrow);
    Operation *clone = builder.clone(*op, mapping);
    clone->getResult(0).setType(type);
    moved = clone->getResult(0);
  }
  op->getResult(0).replaceAllUsesWith(
      widen(builder, op->getLoc(), moved, wideType));
}

/// Lets the contraction `op` widen its operands itself, if all of those that
/// its products are made of are widened from one type. Says whether it does.
static bool widenInside(linalg::GenericOp op) {
  SmallVector<std::pair<OpOperand *, Value>> operands;
  Type narrow;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Value source = getWidened(operand->get());
    if (!source)
      return false;
    Type element = cast<RankedTensorType>(source.getType()).getElementType();
    if (narrow && narrow != element)
      return false;
    narrow = element;
    operands.emplace_back(operand, source);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(op.getBody());
  for (auto [operand, source] : operands) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    Type wide = argument.getType();
    operand->set(source);
    argument.setType(narrow);
    auto widened = arith::ExtFOp::create(builder, op.getLoc(), wide, argument);
    argument.replaceAllUsesExcept(widened, widened);
  }
  return true;
}

void mlir::fusion::foldWidening(FunctionOpInterface func) {
  Block &block = func.getFunctionBody().front();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (movesElements(&op) && !op.use_empty())
      if (Value narrow = getWidened(op.getOperand(0)))
        moveBeforeWidening(&op, narrow);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && generic.getNumDpsInputs() == 2 && isContraction(generic) &&
        !hasContract(generic))
      widenInside(generic);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}
