//===- ScanCombiners.cpp - Which scans may be regrouped -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition of associative combinations of scans.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/LogOfSums.h"
#include "fusion/Analysis/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// What the region takes of one state, of what comes first and what follows.
struct StatePair {
  Value left, right;

  bool isBoth(Value x, Value y) const {
    return (x == left && y == right) || (x == right && y == left);
  }
  bool isBoth(Operation *op) const {
    return op && op->getNumOperands() == 2 &&
           isBoth(op->getOperand(0), op->getOperand(1));
  }
};
} // namespace

/// The operation that combines a state alone: commutative, so that the sides do
/// not matter.
static Operation *matchPlain(Value combined, const StatePair &state) {
  Operation *op = combined.getDefiningOp();
  bool known = state.isBoth(op) && op->getNumResults() == 1 &&
               getIdentity(op, combined.getType());
  return known ? op : nullptr;
}

/// True for a product that distributes over a sum.
static bool distributes(Operation *product, Operation *sum) {
  if (isa<arith::MulFOp>(product))
    return isa<arith::AddFOp>(sum);
  if (isa<arith::MulIOp>(product))
    return isa<arith::AddIOp>(sum);
  if (isa<arith::AddFOp>(product))
    return isa<arith::MaximumFOp, arith::MinimumFOp>(sum);
  return false;
}

/// The sum s of `combined` = (factor.right p carried.left) s carried.right for
/// the product p of `factor`: a linear recurrence, whose states are composed as
/// functions are.
static Operation *matchRecurrence(Value combined, Operation *product,
                                  const StatePair &factor,
                                  const StatePair &carried) {
  Operation *sum = combined.getDefiningOp();
  StatePair scaled{factor.right, carried.left};
  if (auto fused = dyn_cast_if_present<math::FmaOp>(sum))
    return isa<arith::MulFOp>(product) &&
                   scaled.isBoth(fused.getA(), fused.getB()) &&
                   fused.getC() == carried.right
               ? sum
               : nullptr;
  if (!sum || !distributes(product, sum))
    return nullptr;
  for (unsigned side : {0, 1}) {
    Operation *part = sum->getOperand(side).getDefiningOp();
    if (part && part->getName() == product->getName() && scaled.isBoth(part) &&
        sum->getOperand(1 - side) == carried.right)
      return sum;
  }
  return nullptr;
}

/// The identity of `op` on the right and on the left, bit for bit: -0 + x is x
/// for both zeros.
static TypedAttr getExactIdentity(Operation *op, Type type) {
  if (isa<arith::AddFOp, math::FmaOp>(op))
    return FloatAttr::get(type, -0.0);
  return getIdentity(op, type);
}

int64_t ScanCombiner::getStateBytes() const {
  int64_t bytes = 0;
  for (Type type : types)
    bytes +=
        type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  return bytes;
}

std::optional<ScanCombiner> mlir::fusion::matchScanCombiner(Block &combiner) {
  unsigned numStates = combiner.getNumArguments() / 2;
  auto stateOf = [&](unsigned i) {
    return StatePair{combiner.getArgument(i),
                     combiner.getArgument(numStates + i)};
  };
  ValueRange combined = combiner.getTerminator()->getOperands();
  SmallVector<Operation *> alone(numStates), ops;
  for (unsigned i = 0; i < numStates; ++i)
    alone[i] = matchPlain(combined[i], stateOf(i));
  for (unsigned i = 0; i < numStates; ++i) {
    ops.push_back(alone[i]);
    // The factor of a recurrence is combined alone.
    for (unsigned factor = 0; !ops[i] && factor < numStates; ++factor)
      if (alone[factor])
        ops[i] = matchRecurrence(combined[i], alone[factor], stateOf(factor),
                                 stateOf(i));
  }
  bool rounds = llvm::any_of(ops, [](Operation *op) {
    return !isa_and_present<arith::MaximumFOp, arith::MinimumFOp,
                            arith::MaxNumFOp, arith::MinNumFOp>(op);
  });
  ScanCombiner result;
  for (unsigned i = 0; i < numStates; ++i) {
    Type type = combined[i].getType();
    if (rounds && isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
      type = Float32Type::get(type.getContext());
    result.types.push_back(type);
    if (ops[i])
      result.neutral.push_back(getExactIdentity(ops[i], type));
    else if (LogOfSum::match(combined[i], stateOf(i).left, stateOf(i).right))
      // e to this power is zero beside any other, and the difference of two
      // is a number, which that of two infinities is not.
      result.neutral.push_back(FloatAttr::get(
          type, APFloat::getLargest(cast<FloatType>(type).getFloatSemantics(),
                                    /*Negative=*/true)));
    else
      return std::nullopt;
  }
  return result;
}
