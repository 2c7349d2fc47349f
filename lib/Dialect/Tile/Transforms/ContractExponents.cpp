//===- ContractExponents.cpp - Exponents by one multiply-add --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that computes exponents relative to a row's
// maximum by one instruction where the exponential may be approximated:
//
//   y = k x;  m = max(y);  p = e^(y - m)
//   m = k max(x);          p = 2^((k log2(e)) x - m log2(e))
//
// The maximum is the same, bit for bit: rounding keeps order. The exponent is
// rounded once instead of three times, but m log2(e) is rounded as well, by the
// same for all elements of a row and for the factors that repair their sums, so
// that it cancels in a quotient of sums. So are all exponents of what is
// rounded itself when it is computed, whichever factors stand where; one of
// exact elements keeps its difference, which is exact next to the maximum, and
// so does one of sums with masks, which may be as large as numbers are.
//
// What a mask makes minus infinity for the maximum so far is zero as an
// exponential relative to that, and needs no masks of its own in sums.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_CONTRACTEXPONENTSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-contract-exponents"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// The number that all elements of `tile` are, if it is known.
static std::optional<double> getNumber(Value tile) {
  if (auto splat = tile.getDefiningOp<SplatOp>())
    return getNumber(splat.getValue());
  TypedAttr constant;
  if (!matchPattern(tile, m_Constant(&constant)))
    return std::nullopt;
  if (auto dense = dyn_cast<SplatElementsAttr>(constant))
    constant = dense.getSplatValue<TypedAttr>();
  auto number = dyn_cast<FloatAttr>(constant);
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

/// A tile, or a scalar, all of whose elements are `number`.
static Value makeNumber(OpBuilder &builder, Location loc, Type type,
                        double number) {
  Value scalar = arith::ConstantOp::create(
      builder, loc,
      cast<TypedAttr>(FloatAttr::get(getTileElementType(type), number)));
  if (!isa<RankedTensorType>(type))
    return scalar;
  return SplatOp::create(builder, loc, type, scalar);
}

namespace {
/// A tile and a positive number that it is multiplied by.
struct Scaled {
  Value tile;
  double scale;
};
} // namespace

/// What `value` is a positive multiple of.
static std::optional<Scaled> matchScaled(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  for (auto [factor, scale] : {std::pair(product.getLhs(), product.getRhs()),
                               std::pair(product.getRhs(), product.getLhs())})
    if (std::optional<double> number = getNumber(scale))
      if (*number > 0 && std::isfinite(*number))
        return Scaled{factor, *number};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// A choice between exponentials and zero, where the same choice between what
/// they are of and minus infinity is there as well: the exponentials of that.
struct DropMask : public OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp choice,
                                PatternRewriter &rewriter) const override;
};

/// An infinity, or a multiple: the multiple of a choice.
struct ScaleChoice : public OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp choice,
                                PatternRewriter &rewriter) const override;
};

/// The extremum of a multiple: the multiple of an extremum.
struct ScaleExtremum : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp reduce,
                                PatternRewriter &rewriter) const override;
};

/// An exponential relative to what is one number in a row.
template <typename Exponential>
struct ContractExponent : public OpRewritePattern<Exponential> {
  ContractExponent(MLIRContext *context, bool fast)
      : OpRewritePattern<Exponential>(context), fast(fast) {}

  LogicalResult matchAndRewrite(Exponential exponential,
                                PatternRewriter &rewriter) const override;

private:
  bool isApproximate(Exponential exponential) const {
    return fast || bitEnumContainsAll(exponential.getFastmath(),
                                      arith::FastMathFlags::afn);
  }
  /// Computes the factors by which sums of exponentials relative to another
  /// number in `row` are repaired from `origin`, `row` times `-scale`, as the
  /// exponentials are: what rounded that does not matter then.
  void alignFactors(Value row, double scale, Value origin,
                    PatternRewriter &rewriter) const;

  static constexpr bool isBase2 = std::is_same_v<Exponential, math::Exp2Op>;
  /// By what exponents of base 2 are larger.
  static constexpr double perUnit = isBase2 ? 1 : llvm::numbers::log2e;

  bool fast;
};
} // namespace

static bool isNumber(Value tile, double wanted) {
  std::optional<double> number = getNumber(tile);
  return number && *number == wanted;
}

static constexpr double kMinusInfinity =
    -std::numeric_limits<double>::infinity();

/// True for a row's numbers among which zero stands for minus infinity.
static bool isAboveMinusInfinity(Value row) {
  auto choice = row.getDefiningOp<arith::SelectOp>();
  auto compare = choice ? choice.getCondition().getDefiningOp<arith::CmpFOp>()
                        : arith::CmpFOp();
  return compare && compare.getPredicate() == arith::CmpFPredicate::OEQ &&
         compare.getLhs() == choice.getFalseValue() &&
         isNumber(compare.getRhs(), kMinusInfinity) &&
         isNumber(choice.getTrueValue(), 0);
}

LogicalResult DropMask::matchAndRewrite(arith::SelectOp choice,
                                        PatternRewriter &rewriter) const {
  // Where the row's number is none, so is each sum with any of its elements.
  if (!llvm::all_of(choice->getUsers(), llvm::IsaPred<ReduceOp, DotOp>))
    return failure();
  bool isFirst = isNumber(choice.getFalseValue(), 0);
  if (!isFirst && !isNumber(choice.getTrueValue(), 0))
    return failure();
  Value chosen = isFirst ? choice.getTrueValue() : choice.getFalseValue();
  auto rounded = chosen.getDefiningOp<arith::TruncFOp>();
  Operation *exponential = (rounded ? rounded.getIn() : chosen).getDefiningOp();
  if (!isa_and_nonnull<math::ExpOp, math::Exp2Op>(exponential))
    return failure();
  auto distance = exponential->getOperand(0).getDefiningOp<arith::SubFOp>();
  auto row =
      distance ? distance.getRhs().getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!row || !isAboveMinusInfinity(row.getValue()))
    return failure();
  for (Operation *user : distance.getLhs().getUsers()) {
    auto masked = dyn_cast<arith::SelectOp>(user);
    if (!masked || masked.getCondition() != choice.getCondition() ||
        masked->getBlock() != choice->getBlock() ||
        !masked->isBeforeInBlock(choice) ||
        !isNumber(isFirst ? masked.getFalseValue() : masked.getTrueValue(),
                  kMinusInfinity))
      continue;
    IRMapping mapping;
    mapping.map(distance.getLhs(), masked.getResult());
    rewriter.clone(*distance, mapping);
    Operation *last = rewriter.clone(*exponential, mapping);
    if (rounded)
      last = rewriter.clone(*rounded, mapping);
    rewriter.replaceOp(choice, last->getResults());
    return success();
  }
  return failure();
}

LogicalResult ScaleChoice::matchAndRewrite(arith::SelectOp choice,
                                           PatternRewriter &rewriter) const {
  for (bool isFirst : {true, false}) {
    Value limit = isFirst ? choice.getTrueValue() : choice.getFalseValue();
    std::optional<double> number = getNumber(limit);
    std::optional<Scaled> scaled =
        matchScaled(isFirst ? choice.getFalseValue() : choice.getTrueValue());
    if (!number || !std::isinf(*number) || !scaled)
      continue;
    Location loc = choice.getLoc();
    Value tile = arith::SelectOp::create(rewriter, loc, choice.getCondition(),
                                         isFirst ? limit : scaled->tile,
                                         isFirst ? scaled->tile : limit);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(
        choice, tile,
        makeNumber(rewriter, loc, choice.getType(), scaled->scale));
    return success();
  }
  return failure();
}

LogicalResult ScaleExtremum::matchAndRewrite(ReduceOp reduce,
                                             PatternRewriter &rewriter) const {
  if (reduce.getInputs().size() != 1)
    return failure();
  std::optional<Scaled> scaled = matchScaled(reduce.getInputs().front());
  Block &combiner = reduce.getCombiner().front();
  Operation &combination = combiner.front();
  if (!scaled || !llvm::hasNItems(combiner, 2) ||
      !isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
           arith::MinNumFOp>(combination))
    return failure();
  IRMapping mapping;
  mapping.map(reduce.getInputs().front(), scaled->tile);
  auto extremum = cast<ReduceOp>(rewriter.clone(*reduce, mapping));
  Type type = extremum.getResult(0).getType();
  rewriter.replaceOpWithNewOp<arith::MulFOp>(
      reduce, extremum.getResult(0),
      makeNumber(rewriter, reduce.getLoc(), type, scaled->scale));
  return success();
}

/// The difference that `exponent` is a positive multiple of.
static std::optional<Scaled> matchDifference(Value exponent) {
  if (exponent.getDefiningOp<arith::SubFOp>())
    return Scaled{exponent, 1};
  std::optional<Scaled> scaled = matchScaled(exponent);
  if (!scaled || !scaled->tile.getDefiningOp<arith::SubFOp>())
    return std::nullopt;
  return scaled;
}

/// True when the elements of `tile` but for infinities are rounded where they
/// are computed, relative to themselves.
static bool isRounded(Value tile) {
  if (auto choice = tile.getDefiningOp<arith::SelectOp>()) {
    for (Value value : {choice.getTrueValue(), choice.getFalseValue()}) {
      std::optional<double> number = getNumber(value);
      if (!(number && std::isinf(*number)) && !isRounded(value))
        return false;
    }
    return true;
  }
  return isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp,
                         arith::DivFOp, math::FmaOp, DotOp>(
      tile.getDefiningOp());
}

/// Numbers from here on are masks rather than scores.
static constexpr double kLargeNumber = 1 << 20;

/// Arithmetic looked through on the way to what an element is made of.
static constexpr unsigned kMaxDepth = 16;

static bool isPosition(Value tile) {
  return isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(
      tile.getDefiningOp());
}

/// True when `tile` may hold finite numbers that stand for minus infinity:
/// those that are in the program, and what comes from memory, but for multiples
/// of positions.
static bool mayMask(Value tile, unsigned depth = 0) {
  if (std::optional<double> number = getNumber(tile))
    return std::isfinite(*number) && std::abs(*number) >= kLargeNumber;
  Operation *op = tile.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return true;
  if (isa<DotOp, math::TanhOp>(op) || isPosition(tile) ||
      (isa<arith::MulFOp>(op) && llvm::any_of(op->getOperands(), isPosition)))
    return false;
  auto isMask = [&](Value operand) { return mayMask(operand, depth + 1); };
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return isMask(choice.getTrueValue()) || isMask(choice.getFalseValue());
  return !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
              arith::NegFOp, math::FmaOp, arith::ExtFOp, arith::TruncFOp,
              BroadcastOp, SplatOp>(op) ||
         llvm::any_of(op->getOperands(), isMask);
}

/// True when `tile` is a sum with what may mask it. A walk may see a row's
/// masked elements first: of their maximum m, m log2(e) would be rounded by
/// more than exponentials hold, while y - m is zero.
static bool isMaskedSum(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (auto choice = dyn_cast_if_present<arith::SelectOp>(op))
    return isMaskedSum(choice.getTrueValue()) ||
           isMaskedSum(choice.getFalseValue());
  return isa_and_nonnull<arith::AddFOp, arith::SubFOp, math::FmaOp>(op) &&
         llvm::any_of(op->getOperands(),
                      [](Value term) { return mayMask(term); });
}

template <typename Exponential>
void ContractExponent<Exponential>::alignFactors(
    Value row, double scale, Value origin, PatternRewriter &rewriter) const {
  SmallVector<std::pair<Exponential, Value>> factors;
  auto addFactors = [&](Value exponent, double own, Value before) {
    if (std::abs(own * perUnit - scale) > 1e-6 * scale)
      return;
    for (Operation *user : exponent.getUsers())
      if (auto factor = dyn_cast<Exponential>(user);
          factor && isApproximate(factor))
        factors.push_back({factor, before});
  };
  for (Operation *user : row.getUsers())
    if (auto distance = dyn_cast<arith::SubFOp>(user);
        distance && distance.getRhs() == row) {
      addFactors(distance, 1, distance.getLhs());
      for (Operation *after : distance->getUsers())
        if (after->getNumResults() == 1)
          if (std::optional<Scaled> scaled = matchScaled(after->getResult(0));
              scaled && scaled->tile == distance)
            addFactors(after->getResult(0), scaled->scale, distance.getLhs());
    }
  for (auto [factor, before] : factors) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(factor);
    Location loc = factor.getLoc();
    Value scaled = arith::MulFOp::create(
        rewriter, loc, before,
        makeNumber(rewriter, loc, before.getType(), scale));
    Value exponent = arith::AddFOp::create(rewriter, loc, scaled, origin);
    rewriter.replaceOpWithNewOp<math::Exp2Op>(factor, exponent,
                                              factor.getFastmathAttr());
  }
}

template <typename Exponential>
LogicalResult ContractExponent<Exponential>::matchAndRewrite(
    Exponential exponential, PatternRewriter &rewriter) const {
  auto type = dyn_cast<RankedTensorType>(exponential.getType());
  if (!type || !type.getElementType().isF32() || !isApproximate(exponential))
    return failure();
  std::optional<Scaled> difference = matchDifference(exponential.getOperand());
  if (!difference)
    return failure();
  auto distance = difference->tile.template getDefiningOp<arith::SubFOp>();
  auto row = distance.getRhs().template getDefiningOp<BroadcastOp>();
  if (!row)
    return failure();
  Scaled element{distance.getLhs(), 1}, origin{row.getValue(), 1};
  if (std::optional<Scaled> scaled = matchScaled(element.tile))
    element = *scaled;
  else if (!isRounded(element.tile))
    return failure();
  if (isMaskedSum(element.tile))
    return failure();
  if (std::optional<Scaled> scaled = matchScaled(origin.tile))
    origin = *scaled;
  double unit = difference->scale * perUnit;
  Location loc = exponential.getLoc();
  Value scale = makeNumber(rewriter, loc, type, element.scale * unit);
  Value subtracted;
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointAfterValue(origin.tile);
    subtracted = arith::MulFOp::create(
        rewriter, loc, origin.tile,
        makeNumber(rewriter, loc, origin.tile.getType(), -origin.scale * unit));
  }
  alignFactors(origin.tile, origin.scale * unit, subtracted, rewriter);
  Value origins =
      BroadcastOp::create(rewriter, loc, type, subtracted, row.getDims());
  Value exponent =
      math::FmaOp::create(rewriter, loc, element.tile, scale, origins);
  rewriter.replaceOpWithNewOp<math::Exp2Op>(exponential, exponent,
                                            exponential.getFastmathAttr());
  return success();
}

namespace {
class ContractExponentsPass
    : public tile::impl::ContractExponentsPassBase<ContractExponentsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    // Exponents are of multiples once choices are.
    RewritePatternSet masks(&getContext()), scales(&getContext()),
        exponents(&getContext());
    masks.add<DropMask>(&getContext());
    scales.add<ScaleChoice, ScaleExtremum>(&getContext());
    exponents
        .add<ContractExponent<math::ExpOp>, ContractExponent<math::Exp2Op>>(
            &getContext(), fast);
    if (failed(applyPatternsGreedily(getOperation(), std::move(masks))) ||
        failed(applyPatternsGreedily(getOperation(), std::move(scales))) ||
        failed(applyPatternsGreedily(getOperation(), std::move(exponents))))
      signalPassFailure();
  }
};
} // namespace
