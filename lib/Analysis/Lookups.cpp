//===- Lookups.cpp - Tensors whose places data choose ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the analysis of lookups.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Lookups.h"

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Exchanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

/// Operations that a coordinate is computed by, at most.
static constexpr unsigned kMaxIndexOps = 16;

/// How many neighbours along `loop` have equal values of `expr`, or, where that
/// `isPlace`, follow each other; zero for all.
static int64_t getRun(AffineExpr expr, unsigned loop, bool isPlace) {
  if (!expr.isFunctionOfDim(loop))
    return 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return isPlace ? 0 : 1;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool isWhole =
      divisor && binary.getLHS() == getAffineDimExpr(loop, expr.getContext());
  if (isWhole && expr.getKind() == AffineExprKind::FloorDiv)
    return divisor.getValue();
  if (isWhole && isPlace && expr.getKind() == AffineExprKind::Mod)
    return divisor.getValue();
  // Parts of a place may be any of a sum.
  bool isSum = expr.getKind() == AffineExprKind::Add;
  if (isPlace && !isSum)
    return 1;
  return std::gcd(getRun(binary.getLHS(), loop, isPlace),
                  getRun(binary.getRHS(), loop, isPlace));
}

namespace {
/// Matches one lookup.
class LookupMatcher {
public:
  explicit LookupMatcher(linalg::GenericOp op) : op(op) {
    result.op = op;
    result.runs.assign(op.getNumLoops(), 0);
  }

  std::optional<Lookup> match();

private:
  void limit(AffineExpr expr, bool isPlace) {
    for (auto [loop, run] : llvm::enumerate(result.runs))
      run = std::gcd(run, getRun(expr, loop, isPlace));
  }
  /// Adds a coordinate that tables hold.
  bool addLookedUp(Value index);

  linalg::GenericOp op;
  Lookup result;
};
} // namespace

bool LookupMatcher::addLookedUp(Value index) {
  SmallVector<Value> worklist = {index};
  unsigned visited = 0;
  while (!worklist.empty()) {
    if (++visited > kMaxIndexOps)
      return false;
    Value value = worklist.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != op.getBody())
        return false;
      OpOperand *input = op.getMatchingOpOperand(argument);
      if (!isa<RankedTensorType>(input->get().getType()))
        return false;
      if (!llvm::is_contained(result.tables, input->get()))
        result.tables.push_back(input->get());
      for (AffineExpr coord : op.getMatchingIndexingMap(input).getResults())
        limit(coord, /*isPlace=*/false);
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (def->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (def->getBlock() != op.getBody() ||
        !isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp, arith::AddIOp, arith::SubIOp,
             arith::MulIOp, arith::CmpIOp, arith::SelectOp>(def))
      return false;
    llvm::append_range(worklist, def->getOperands());
  }
  return true;
}

std::optional<Lookup> LookupMatcher::match() {
  auto extract = op.getBody()
                     ->getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<tensor::ExtractOp>();
  if (!extract || extract->getBlock() != op.getBody())
    return std::nullopt;
  result.source = extract.getTensor();
  for (Value index : extract.getIndices()) {
    std::optional<AffineExpr> known = getIndexExpr(op, index);
    result.coords.push_back(known.value_or(AffineExpr()));
    if (known)
      limit(*known, /*isPlace=*/true);
    else if (!addLookedUp(index))
      return std::nullopt;
  }
  return std::move(result);
}

std::optional<unsigned> Lookup::getFastest() const {
  if (coords.empty())
    return std::nullopt;
  auto loop = dyn_cast_or_null<AffineDimExpr>(coords.back());
  if (!loop || runs[loop.getPosition()] != 0)
    return std::nullopt;
  return loop.getPosition();
}

std::optional<Lookup> mlir::fusion::matchLookup(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumReductionLoops() != 0 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics() || hasContract(op) ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return std::nullopt;
  return LookupMatcher(op).match();
}

bool mlir::fusion::hasCopiedRuns(const Lookup &lookup, unsigned loop) {
  int64_t run = lookup.runs[loop];
  return run == 0 || (run >= kLeastRun && llvm::isPowerOf2_64(run));
}
