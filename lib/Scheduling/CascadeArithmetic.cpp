//===- CascadeArithmetic.cpp - What a step of products computes -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what the elements of a step cost beside the products of
// it: each value is computed once, in the fragments of products, and exponents
// are contracted to multiply-adds.
//
//===----------------------------------------------------------------------===//

#include "CascadeArithmetic.h"

#include "fusion/Analysis/BodyValues.h"
#include "fusion/Analysis/MovedBits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <map>

using namespace mlir;
using namespace mlir::fusion;

/// Elements of a row that a thread has side by side of a product's result.
static constexpr double kFragmentNeighbours = 2;
/// Instructions that store what a thread has side by side of a step: the store,
/// and whether it is within the tensor.
static constexpr double kStoreInstructions = 2;

namespace {
/// Numbers values of bodies over the same loops: equal operations on equal
/// values have one number.
class ValueNumbering {
public:
  /// Adds `op`; returns what its body computes that one before it did.
  SmallPtrSet<Operation *, 8> add(linalg::LinalgOp op);

private:
  using Key = std::tuple<StringRef, const void *, SmallVector<unsigned>>;

  unsigned getNumber(Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  }

  /// Elements of tensors have the numbers of these.
  DenseMap<Value, unsigned> numbers;
  std::map<Key, unsigned> known;
};
} // namespace

SmallPtrSet<Operation *, 8> ValueNumbering::add(linalg::LinalgOp op) {
  SmallPtrSet<Operation *, 8> again;
  Block &body = *op.getBlock();
  for (OpOperand &operand : op->getOpOperands())
    numbers[op.getMatchingBlockArgument(&operand)] = getNumber(operand.get());
  for (Operation &inner : body.without_terminator()) {
    if (inner.getNumResults() != 1 || inner.getNumRegions() != 0)
      continue;
    SmallVector<unsigned> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(getNumber(operand));
    Key key{inner.getName().getStringRef(),
            inner.getAttrDictionary().getAsOpaquePointer(),
            std::move(operands)};
    auto [same, isNew] =
        known.try_emplace(std::move(key), getNumber(inner.getResult(0)));
    numbers[inner.getResult(0)] = same->second;
    if (!isNew)
      again.insert(&inner);
  }
  if (op.getNumReductionLoops() == 0)
    for (auto [result, yielded] :
         llvm::zip_equal(op->getResults(), body.getTerminator()->getOperands()))
      numbers[result] = getNumber(yielded);
  return again;
}

/// Whether `value` is a number times another value, or a choice between that
/// and a constant.
static bool isScaled(const BodyValue &value) {
  auto [product, at] = findOp<arith::MulFOp>(value);
  if (product)
    return matchPattern(product.getRhs(), m_Constant()) ||
           matchPattern(product.getLhs(), m_Constant());
  auto [choice, where] = findOp<arith::SelectOp>(value);
  if (!choice)
    return false;
  if (matchPattern(choice.getTrueValue(), m_Constant()))
    return isScaled(where.at(choice.getFalseValue()));
  return matchPattern(choice.getFalseValue(), m_Constant()) &&
         isScaled(where.at(choice.getTrueValue()));
}

/// Instructions for each element that `exponential` does without because
/// exponents relative to a row are one multiply-add
/// (`fusion-tile-contract-exponents`): what scales the element or the
/// difference, and the change of base, are others else.
static double countContracted(linalg::LinalgOp op, Operation *exponential) {
  auto flags = cast<arith::ArithFastMathInterface>(exponential);
  if (!bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(),
                          arith::FastMathFlags::afn))
    return 0;
  double instructions = isa<math::ExpOp>(exponential);
  Value exponent = exponential->getOperand(0);
  auto product = exponent.getDefiningOp<arith::MulFOp>();
  if (product && matchPattern(product.getRhs(), m_Constant())) {
    exponent = product.getLhs();
    ++instructions;
  }
  auto distance = exponent.getDefiningOp<arith::SubFOp>();
  if (!distance)
    return 0;
  BodyValue element{distance.getLhs(), op, getLoops(op)};
  if (isScaled(element))
    return instructions + 1;
  // Exact elements keep their difference.
  return findOp<arith::ExtFOp>(element).first ? 0 : instructions;
}

/// The same of all exponentials of `op`.
static double countContracted(linalg::LinalgOp op) {
  double instructions = 0;
  for (Operation &inner : *op.getBlock())
    if (isa<math::ExpOp, math::Exp2Op>(inner))
      instructions += countContracted(op, &inner);
  return instructions;
}

/// Instructions of an element of `region`, of `instance`, in the fragments of
/// products that have `walked` in their rows, but for those of values `again`.
static double countInFragments(const KernelBody &body, unsigned walked,
                               const BodyInstance &instance, Region &region,
                               const SmallPtrSetImpl<Operation *> &again) {
  // Elements are numbered along the last loop.
  auto last = dyn_cast<AffineDimExpr>(instance.loops.back());
  double neighbours = kFragmentNeighbours, together = 1;
  if (last && last.getPosition() != walked)
    neighbours = 1;
  if (last && body.isStatic(last.getPosition())) {
    auto extent = static_cast<int64_t>(body.getExtents()[last.getPosition()]);
    together = static_cast<double>(extent & -extent);
  }
  return countInstructions(region, neighbours, together,
                           [&](Operation *op) { return again.contains(op); });
}

OpCost mlir::fusion::getStepElementCost(const KernelBody &body,
                                        const CascadeBody &cascade,
                                        const PreparedOperands &prepared) {
  OpCost cost;
  ValueNumbering values;
  for (auto [id, instance] : llvm::enumerate(body.getInstances())) {
    const GraphNode &node = body.getNode(instance);
    if (node.kind == NodeKind::Contraction || prepared.isPreparing(id) ||
        !(instance.mask & (DimMask(1) << cascade.walked)))
      continue;
    cost += node.perPoint;
    if (auto op = dyn_cast<linalg::LinalgOp>(node.op)) {
      Region &region = op->getRegion(0);
      SmallPtrSet<Operation *, 8> again = values.add(op);
      cost.instructions +=
          countInFragments(body, cascade.walked, instance, region, again) -
          getRegionCost(region).instructions;
      double special = 0;
      for (Operation *known : again)
        special += getOpCost(known).sfu;
      cost.sfu -= special;
      if (special == 0)
        cost.instructions -= countContracted(op);
    }
  }
  for (Operation *division : cascade.deferred)
    cost.instructions -= getOpCost(division).instructions;
  // Threads store what they have side by side.
  for (const BodyOutput &output : body.getOutputs())
    if (output.mask & cascade.reduced)
      cost.instructions += kStoreInstructions / kFragmentNeighbours;
  return cost;
}

static bool isInfinite(Value value) {
  return matchPattern(value, m_PosInfFloat()) ||
         matchPattern(value, m_NegInfFloat());
}

/// Instructions of `op` for each element that choose infinities by positions
/// alone.
static double countMasks(linalg::LinalgOp op) {
  llvm::SmallPtrSet<Operation *, 8> positions;
  auto isPosition = [&](Value value) {
    Operation *source = value.getDefiningOp();
    return value.getParentBlock() != op.getBlock() ||
           (source && (source->hasTrait<OpTrait::ConstantLike>() ||
                       positions.contains(source)));
  };
  llvm::SmallSetVector<Operation *, 8> masks;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (inner.getNumResults() == 1 &&
        inner.getResult(0).getType().isIntOrIndex() &&
        llvm::all_of(inner.getOperands(), isPosition))
      positions.insert(&inner);
    auto choice = dyn_cast<arith::SelectOp>(inner);
    if (choice && isPosition(choice.getCondition()) &&
        (isInfinite(choice.getTrueValue()) ||
         isInfinite(choice.getFalseValue())))
      masks.insert(choice);
  }
  double instructions = 0;
  for (unsigned i = 0; i < masks.size(); ++i) {
    instructions += getOpCost(masks[i]).instructions;
    for (Value operand : masks[i]->getOperands())
      if (positions.contains(operand.getDefiningOp()))
        masks.insert(operand.getDefiningOp());
  }
  return instructions;
}

double mlir::fusion::countMaskInstructions(const KernelBody &body,
                                           unsigned walked) {
  double instructions = 0;
  for (const BodyInstance &instance : body.getInstances()) {
    auto op = dyn_cast<linalg::LinalgOp>(body.getNode(instance).op);
    if (op && body.getNode(instance).kind == NodeKind::Pointwise &&
        (instance.mask & (DimMask(1) << walked)))
      instructions += countMasks(op);
  }
  return instructions;
}
