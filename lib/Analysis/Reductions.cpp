//===- Reductions.cpp - How reductions combine elements -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what the compiler knows about reductions.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Reductions.h"

#include "fusion/Support/Float8.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;

bool mlir::fusion::isExactFactor(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension &&
         hasExactProducts(getElementTypeOrSelf(extension.getIn().getType()));
}

TypedAttr mlir::fusion::getIdentity(Operation *op, Type type) {
  Builder builder(op->getContext());
  auto real = [&](double value) -> TypedAttr {
    return builder.getFloatAttr(type, value);
  };
  auto infinity = [&](bool negative) -> TypedAttr {
    return FloatAttr::get(
        type,
        APFloat::getInf(cast<FloatType>(type).getFloatSemantics(), negative));
  };
  auto integer = [&](APInt value) -> TypedAttr {
    return IntegerAttr::get(type, value);
  };
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return TypeSwitch<Operation *, TypedAttr>(op)
      .Case([&](arith::AddFOp) { return real(0.0); })
      .Case([&](arith::MulFOp) { return real(1.0); })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return infinity(true); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](auto) { return infinity(false); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return integer(APInt::getZero(width)); })
      .Case([&](arith::MulIOp) { return integer(APInt(width, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](auto) { return integer(APInt::getAllOnes(width)); })
      .Case([&](arith::MaxSIOp) {
        return integer(APInt::getSignedMinValue(width));
      })
      .Case([&](arith::MinSIOp) {
        return integer(APInt::getSignedMaxValue(width));
      })
      .Default([](Operation *) { return TypedAttr(); });
}

Value mlir::fusion::combineValues(OpBuilder &builder, Location loc,
                                  Operation *like, Value lhs, Value rhs) {
  OperationState state(loc, like->getName(), {lhs, rhs}, lhs.getType(),
                       like->getAttrs());
  return builder.create(state)->getResult(0);
}

bool mlir::fusion::dependsOn(Value value, ArrayRef<BlockArgument> arguments) {
  SmallVector<Value> worklist{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (llvm::is_contained(arguments, argument))
        return true;
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (op->getBlock() == arguments.front().getOwner() &&
        seen.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

Combiner mlir::fusion::matchCombiner(linalg::LinalgOp op, unsigned number) {
  Block *block = op.getBlock();
  ArrayRef<BlockArgument> accumulators =
      block->getArguments().take_back(op.getNumDpsInits());
  BlockArgument accumulator = accumulators[number];
  Operation *combine =
      block->getTerminator()->getOperand(number).getDefiningOp();
  Combiner result;
  if (!combine || combine->getBlock() != block || !accumulator.hasOneUse() ||
      combine->getNumOperands() != 2)
    return result;
  unsigned position = combine->getOperand(0) == accumulator ? 0 : 1;
  if (combine->getOperand(position) != accumulator)
    return result;
  Value element = combine->getOperand(1 - position);
  TypedAttr identity = getIdentity(combine, combine->getResult(0).getType());
  if (!identity || dependsOn(element, accumulators))
    return result;
  // Sums and products of short floats accumulate in f32.
  Type type = accumulator.getType();
  if (isa<arith::AddFOp, arith::MulFOp>(combine) &&
      type.getIntOrFloatBitWidth() < 32) {
    type = Float32Type::get(op.getContext());
    identity = FloatAttr::get(type, isa<arith::AddFOp>(combine) ? 0.0 : 1.0);
  }
  return {combine, element, identity, type};
}

bool mlir::fusion::isIdentityFill(Value tensor, const Combiner &combiner) {
  Attribute value;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    if (!matchPattern(fill.getInputs().front(), m_Constant(&value)))
      return false;
  } else if (auto constant = tensor.getDefiningOp<arith::ConstantOp>()) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || !dense.isSplat())
      return false;
    value = dense.getSplatValue<Attribute>();
  } else {
    return false;
  }
  if (auto real = dyn_cast<FloatAttr>(value)) {
    auto identity = cast<FloatAttr>(combiner.neutral);
    return real.getValueAsDouble() == identity.getValueAsDouble();
  }
  auto identity = dyn_cast<IntegerAttr>(combiner.neutral);
  return identity && cast<IntegerAttr>(value).getValue() == identity.getValue();
}

std::optional<Granules> mlir::fusion::matchGranules(linalg::LinalgOp op) {
  std::optional<Granules> found;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    std::optional<Granules> own;
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto part = dyn_cast<AffineBinaryOpExpr>(expr);
      if (!part || part.getKind() != AffineExprKind::FloorDiv)
        continue;
      auto loop = dyn_cast<AffineDimExpr>(part.getLHS());
      auto size = dyn_cast<AffineConstantExpr>(part.getRHS());
      if (!loop || !size || size.getValue() < 2 || own)
        return std::nullopt;
      own = {loop.getPosition(), static_cast<unsigned>(dim), size.getValue()};
    }
    if (!own || (found && (found->loop != own->loop || found->dim != own->dim ||
                           found->size != own->size)))
      return std::nullopt;
    found = own;
  }
  return found;
}

/// The loop that `value`, of the body, counts, as an integer of any width.
static std::optional<unsigned> countedLoop(Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index ? std::optional<unsigned>(index.getDim()) : std::nullopt;
}

std::optional<GroupedSum> mlir::fusion::matchGroupedSum(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return std::nullopt;
  Block *block = op.getBlock();
  BlockArgument accumulator = block->getArguments().back();
  Operation *sum = block->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return std::nullopt;
  unsigned position = sum->getOperand(0) == accumulator ? 1 : 0;
  auto select = sum->getOperand(position).getDefiningOp<arith::SelectOp>();
  if (sum->getOperand(1 - position) != accumulator || !select ||
      !(matchPattern(select.getFalseValue(), m_Zero()) ||
        matchPattern(select.getFalseValue(), m_AnyZeroFloat())))
    return std::nullopt;
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return std::nullopt;
  for (unsigned side = 0; side < 2; ++side) {
    auto group = dyn_cast<BlockArgument>(compare->getOperand(side));
    std::optional<unsigned> loop = countedLoop(compare->getOperand(1 - side));
    if (!group || !loop || group.getOwner() != block || group == accumulator ||
        op.getIteratorTypesArray()[*loop] != utils::IteratorType::reduction)
      continue;
    OpOperand *operand = op.getMatchingOpOperand(group);
    AffineMap map = op.getMatchingIndexingMap(operand);
    auto row = map.getNumResults() == 1
                   ? dyn_cast<AffineDimExpr>(map.getResult(0))
                   : nullptr;
    if (!row || op.getIteratorTypesArray()[row.getPosition()] !=
                    utils::IteratorType::parallel)
      continue;
    return GroupedSum{*loop, row.getPosition(), operand->get(),
                      select.getCondition(), select.getTrueValue()};
  }
  return std::nullopt;
}
