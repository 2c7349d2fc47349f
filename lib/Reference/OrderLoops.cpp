//===- OrderLoops.cpp - Contiguous innermost loops ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that orders the loops of linalg ops so that
// LLVM can vectorise the innermost one.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_ORDERLOOPSPASS
#include "fusion/Reference/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;

/// The coefficient of `dim` in a linear expression, nullopt if it appears in
/// any other way.
static std::optional<int64_t> getCoefficient(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto lhs = getCoefficient(binary.getLHS(), dim);
  auto rhs = getCoefficient(binary.getRHS(), dim);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *lhs + *rhs;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul && factor)
    return *lhs * factor.getValue();
  return std::nullopt;
}

/// How well a loop over `dim` suits as the innermost one: one point for an
/// operand that is contiguous or constant along it, minus two for one that is
/// strided.
static int getScore(linalg::GenericOp op, unsigned dim) {
  int score = 0;
  for (AffineMap map : op.getIndexingMapsArray()) {
    bool strided = false;
    for (auto [position, expr] : llvm::enumerate(map.getResults())) {
      std::optional<int64_t> step = getCoefficient(expr, dim);
      bool last = position + 1 == map.getNumResults();
      strided |= !step || (*step != 0 && !(last && *step == 1));
    }
    score += strided ? -2 : 1;
  }
  return score;
}

/// Moves the best parallel loop of `op` innermost, if it beats the present one.
static void orderLoops(IRRewriter &rewriter, linalg::GenericOp op) {
  unsigned numLoops = op.getNumLoops();
  if (numLoops < 2)
    return;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  unsigned best = numLoops - 1;
  int bestScore = getScore(op, best);
  // A reduction innermost is one chain of dependent additions.
  if (kinds[best] != utils::IteratorType::parallel)
    bestScore -= 1;
  for (unsigned dim = numLoops - 1; dim-- > 0;) {
    if (kinds[dim] != utils::IteratorType::parallel)
      continue;
    if (int score = getScore(op, dim); score > bestScore) {
      best = dim;
      bestScore = score;
    }
  }
  if (best == numLoops - 1)
    return;
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < numLoops; ++dim)
    if (dim != best)
      order.push_back(dim);
  order.push_back(best);
  rewriter.setInsertionPoint(op);
  // On failure the op is left as it was, which is merely slower.
  (void)linalg::interchangeGenericOp(rewriter, op, order);
}

namespace {
struct OrderLoopsPass : fusion::impl::OrderLoopsPassBase<OrderLoopsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      orderLoops(rewriter, op);
  }
};
} // namespace
