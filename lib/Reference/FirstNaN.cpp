//===- FirstNaN.cpp - What belongs to a maximum that is NaN ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rule of docs/Numerics.md for reductions that keep a
// maximum, or minimum, and by a comparison what belongs to it: where the
// maximum is NaN, they keep what belongs to the first NaN.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_FIRSTNANPASS
#include "fusion/Reference/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using arith::CmpFPredicate;

/// The condition that chooses as `compare` does, but for NaN: `kept` is the
/// accumulator among its operands, and `replaces` what is chosen where it
/// holds. Null where the comparison is none that has an order.
static Value chooseFirstNaN(arith::CmpFOp compare, Value kept, bool replaces) {
  OpBuilder builder(compare);
  Location loc = compare.getLoc();
  auto build = [&](CmpFPredicate predicate, Value lhs, Value rhs) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
  };
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  auto replaceUnlessKept = [&](CmpFPredicate predicate) -> Value {
    return arith::AndIOp::create(builder, loc, build(predicate, lhs, rhs),
                                 build(CmpFPredicate::ORD, kept, kept));
  };
  auto keepOr = [&](CmpFPredicate predicate) -> Value {
    return arith::OrIOp::create(builder, loc, build(predicate, lhs, rhs),
                                build(CmpFPredicate::UNO, kept, kept));
  };
  switch (compare.getPredicate()) {
  case CmpFPredicate::OGT:
    return replaces ? replaceUnlessKept(CmpFPredicate::UGT) : Value();
  case CmpFPredicate::OLT:
    return replaces ? replaceUnlessKept(CmpFPredicate::ULT) : Value();
  case CmpFPredicate::UGE:
    return replaces ? Value() : keepOr(CmpFPredicate::OGE);
  case CmpFPredicate::ULE:
    return replaces ? Value() : keepOr(CmpFPredicate::OLE);
  default:
    return nullptr;
  }
}

/// Lets the results of `op` that are chosen by comparing what result
/// `number` combines follow the first NaN.
static void followKey(linalg::LinalgOp op, unsigned number) {
  Block *block = op.getBlock();
  ValueRange yielded = block->getTerminator()->getOperands();
  auto kept = block->getArguments().take_back(op.getNumDpsInits());
  Operation *key = yielded[number].getDefiningOp();
  if (!isa_and_present<arith::MaximumFOp, arith::MinimumFOp>(key))
    return;
  for (auto [i, value] : llvm::enumerate(yielded)) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                          : arith::CmpFOp();
    if (!compare)
      continue;
    bool isOfKey = llvm::all_of(key->getOperands(), [&](Value operand) {
      return llvm::is_contained(compare->getOperands(), operand);
    });
    if (!isOfKey || !llvm::is_contained(key->getOperands(), kept[number]))
      continue;
    bool replaces = select.getFalseValue() == kept[i];
    if (!replaces && select.getTrueValue() != kept[i])
      continue;
    if (Value condition = chooseFirstNaN(compare, kept[number], replaces))
      select.getConditionMutable().assign(condition);
  }
}

namespace {
struct FirstNaNPass : fusion::impl::FirstNaNPassBase<FirstNaNPass> {
  void runOnOperation() override {
    getOperation().walk([](linalg::LinalgOp op) {
      for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
        if (op.getNumReductionLoops() > 0)
          followKey(op, i);
    });
  }
};
} // namespace
