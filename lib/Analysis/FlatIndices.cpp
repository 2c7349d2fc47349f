//===- FlatIndices.cpp - Loop indices that count elements -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition of sums that number the elements of
// several loops.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/FlatIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

/// The loop whose index `value` is, in whatever type.
static std::optional<unsigned> getLoop(Value value) {
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return index.getDim();
  return std::nullopt;
}

std::optional<FlatSum> FlatSum::match(Operation *op) {
  auto sum = dyn_cast<arith::AddIOp>(op);
  for (unsigned i = 0; sum && i < 2; ++i) {
    auto product = sum->getOperand(i).getDefiningOp<arith::MulIOp>();
    std::optional<unsigned> loop = getLoop(sum->getOperand(1 - i));
    APInt extent;
    if (product && loop &&
        matchPattern(product.getRhs(), m_ConstantInt(&extent)))
      return FlatSum{sum,
                     product,
                     product.getLhs(),
                     sum->getOperand(1 - i),
                     extent.getSExtValue(),
                     *loop};
  }
  return std::nullopt;
}

bool FlatSum::beginsWithIndex() const { return getLoop(outer).has_value(); }

std::optional<unsigned> FlatSum::getOuterLoop() const {
  if (std::optional<unsigned> loop = getLoop(outer))
    return loop;
  Operation *op = outer.getDefiningOp();
  std::optional<FlatSum> step = op ? match(op) : std::nullopt;
  return step ? std::optional(step->loop) : std::nullopt;
}

FlatIndices::FlatIndices(linalg::LinalgOp op)
    : extents(op.getStaticLoopRanges()), before(extents.size()),
      after(extents.size()) {
  op->walk([&](linalg::IndexOp index) { addUses(index, index.getDim()); });
}

/// Notes what stands before `loop` wherever `index`, its index, is used, and
/// what stands after it where that begins a sum.
void FlatIndices::addUses(Value index, unsigned loop) {
  for (Operation *user : index.getUsers()) {
    if (auto cast = dyn_cast<arith::IndexCastOp>(user)) {
      addUses(cast.getOut(), loop);
      continue;
    }
    std::optional<FlatSum> step = FlatSum::match(user);
    if (step && step->inner == index) {
      std::optional<unsigned> outer = step->getOuterLoop();
      bool isPart = outer && step->extent == extents[loop];
      before[loop].push_back(isPart ? static_cast<int>(*outer) : kOther);
      addAfter(step->sum, loop);
      continue;
    }
    before[loop].push_back(kNone);
    addAfter(index, loop);
  }
}

/// Notes what stands after `loop`, with which `sum` ends.
void FlatIndices::addAfter(Value sum, unsigned loop) {
  bool isIndex = getLoop(sum).has_value();
  for (Operation *user : sum.getUsers()) {
    // The index in another type has uses of its own.
    if (isIndex && isa<arith::IndexCastOp>(user))
      continue;
    auto product = dyn_cast<arith::MulIOp>(user);
    if (!product || product.getLhs() != sum) {
      // A sum that the index ends is noted where that is its inner part.
      std::optional<FlatSum> step = FlatSum::match(user);
      if (!step || step->inner != sum)
        after[loop].push_back(kNone);
      continue;
    }
    for (Operation *next : product->getUsers()) {
      std::optional<FlatSum> step = FlatSum::match(next);
      bool isPart = step && step->outer == sum && step->product == product &&
                    step->extent == extents[step->loop];
      after[loop].push_back(isPart ? static_cast<int>(step->loop) : kOther);
    }
  }
}

bool FlatIndices::areOneLoop(unsigned first, unsigned second) const {
  if (before[first].empty() && before[second].empty())
    return true;
  auto are = [](ArrayRef<int> loops, unsigned loop) {
    return !loops.empty() && llvm::all_of(loops, [&](int other) {
      return other == static_cast<int>(loop);
    });
  };
  return are(after[first], second) && are(before[second], first);
}
