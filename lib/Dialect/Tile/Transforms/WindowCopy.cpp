//===- WindowCopy.cpp - Windows that the tensor copy engine can load ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition of loads whose rows are the windows of a
// convolution. A row number is split, row-major, into an image and the place of
// a window in it; each place is a digit of the number. The tensor copy engine
// counts these digits by itself, from the lower to the upper corner of a
// bounding box.
//
//===----------------------------------------------------------------------===//

#include "TensorCopyRules.h"
#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Steps between neighbouring windows that the engine can make.
static constexpr int64_t kMaxStride = 8;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

namespace {
/// `stride * digit + rest`, where the digit is `row floordiv divisor`, `mod
/// size` when there is a size. Without a digit, `row` is null.
struct Coordinate {
  AffineExpr row, digit, rest;
  int64_t stride = 1, divisor = 1;
  std::optional<int64_t> size;
};

struct Interval {
  int64_t low = 0, high = 0;
};
} // namespace

/// When `expr` is an operation of `kind` with a positive constant, gives that
/// and makes `expr` the other operand.
static std::optional<int64_t> peel(AffineExpr &expr, AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != kind)
    return std::nullopt;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant || constant.getValue() <= 0)
    return std::nullopt;
  expr = binary.getLHS();
  return constant.getValue();
}

/// Splits `expr`; fails when it is no such sum.
static FailureOr<Coordinate> splitCoordinate(AffineExpr expr) {
  SmallVector<AffineExpr> terms;
  collectTerms(expr, terms);
  Coordinate result;
  result.rest = getAffineConstantExpr(0, expr.getContext());
  // A row that is not divided adds up terms of its own.
  if (llvm::any_of(terms, llvm::IsaPred<AffineDimExpr>)) {
    result.row = result.digit = expr;
    return result;
  }
  for (AffineExpr term : terms) {
    if (!hasDims(term)) {
      result.rest = result.rest + term;
      continue;
    }
    if (result.row)
      return failure();
    result.stride = peel(term, AffineExprKind::Mul).value_or(1);
    result.digit = term;
    result.size = peel(term, AffineExprKind::Mod);
    while (std::optional<int64_t> by = peel(term, AffineExprKind::FloorDiv))
      result.divisor *= *by;
    result.row = term;
  }
  return result;
}

/// True when `expr` is dimension `number` and terms without dimensions.
static bool counts(AffineExpr expr, unsigned number) {
  SmallVector<AffineExpr> terms;
  collectTerms(expr, terms);
  AffineExpr dim = getAffineDimExpr(number, expr.getContext());
  return llvm::count(terms, dim) == 1 && llvm::count_if(terms, hasDims) == 1;
}

/// The values that a symbol takes, when they are known.
static std::optional<Interval> getInterval(Value symbol) {
  APInt low, high, step;
  if (matchPattern(symbol, m_ConstantInt(&low)))
    return Interval{low.getSExtValue(), low.getSExtValue()};
  auto argument = dyn_cast<BlockArgument>(symbol);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : nullptr;
  if (!loop || argument != loop.getInductionVar() ||
      !matchPattern(loop.getLowerBound(), m_ConstantInt(&low)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&high)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return std::nullopt;
  int64_t first = low.getSExtValue();
  int64_t steps = (high.getSExtValue() - 1 - first) / step.getSExtValue();
  return Interval{first,
                  first + std::max<int64_t>(steps, 0) * step.getSExtValue()};
}

/// The values that `expr`, a sum of multiples of symbols and constants, takes.
static std::optional<Interval> getInterval(AffineExpr expr,
                                           ValueRange symbols) {
  SmallVector<AffineExpr> terms;
  collectTerms(expr, terms);
  Interval sum;
  for (AffineExpr term : terms) {
    int64_t factor = 1;
    if (auto product = dyn_cast<AffineBinaryOpExpr>(term);
        product && product.getKind() == AffineExprKind::Mul)
      if (auto constant = dyn_cast<AffineConstantExpr>(product.getRHS())) {
        factor = constant.getValue();
        term = product.getLHS();
      }
    std::optional<Interval> range;
    if (auto constant = dyn_cast<AffineConstantExpr>(term))
      range = Interval{constant.getValue(), constant.getValue()};
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(term))
      range = getInterval(symbols[symbol.getPosition()]);
    if (!range)
      return std::nullopt;
    auto [low, high] = std::minmax({range->low * factor, range->high * factor});
    sum.low += low;
    sum.high += high;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
class WindowMatcher {
public:
  WindowMatcher(const Access &access, std::string &whyNot)
      : access(access), whyNot(whyNot), view(access.view.getType()),
        context(view.getContext()) {}

  FailureOr<TensorCopy> match();

private:
  LogicalResult refuse(const Twine &reason) {
    whyNot = reason.str();
    return failure();
  }
  /// Splits all coordinates but that of the channels; without a reason for
  /// failure when they are not those of windows.
  LogicalResult split();
  /// Sets what the copy needs of dimension `dim`, between the first and last.
  LogicalResult placeWindows(unsigned dim);
  /// The expression where the tile starts.
  AffineExpr atStart(AffineExpr expr) {
    AffineExpr zero = getAffineConstantExpr(0, context);
    return expr.replaceDims({zero, zero});
  }

  const Access &access;
  std::string &whyNot;
  ViewType view;
  MLIRContext *context;
  SmallVector<Coordinate> coordinates;
  TensorCopy copy;
  SmallVector<int64_t> lower, upper;
};
} // namespace

LogicalResult WindowMatcher::split() {
  whyNot.clear();
  ArrayRef<AffineExpr> results = access.map.getResults();
  AffineExpr row;
  for (AffineExpr expr : results.drop_back()) {
    FailureOr<Coordinate> coordinate = splitCoordinate(expr);
    if (failed(coordinate))
      return failure();
    if (coordinate->row && row && coordinate->row != row)
      return failure();
    if (coordinate->row)
      row = coordinate->row;
    coordinates.push_back(*coordinate);
  }
  if (!row || !counts(row, 0) || !counts(results.back(), 1))
    return failure();
  // The digits of the row, the fastest last: each begins where those after it
  // end, and one of the dimensions has no end.
  int64_t divisor = 1;
  bool isOpen = true;
  for (const Coordinate &coordinate : llvm::reverse(coordinates)) {
    if (!coordinate.row)
      continue;
    if (!isOpen || coordinate.divisor != divisor)
      return failure();
    isOpen = coordinate.size.has_value();
    divisor *= coordinate.size.value_or(1);
  }
  return failure(isOpen);
}

LogicalResult WindowMatcher::placeWindows(unsigned dim) {
  const Coordinate &coordinate = coordinates[dim];
  int64_t size = view.getShape()[dim];
  if (ShapedType::isDynamic(size))
    return refuse("an image of windows has a dynamic size");
  if (coordinate.stride > kMaxStride)
    return refuse("windows are " + Twine(coordinate.stride) +
                  " elements apart, the copy engine steps by up to " +
                  Twine(kMaxStride));
  std::optional<Interval> range = getInterval(coordinate.rest, access.symbols);
  if (!range)
    return refuse("the place of an element in its window is not known");
  int64_t limit = getIm2ColCornerLimit(coordinates.size() - 1);
  if (range->high - range->low >= 2 * limit)
    return refuse("a window reaches " + Twine(range->high - range->low) +
                  " elements far, the copy engine takes less than " +
                  Twine(2 * limit));
  int64_t first = range->low, last;
  if (coordinate.row && !coordinate.size) {
    // Past the last window of the only image there is nothing but zeros.
    if (view.getShape()[0] != 1 ||
        coordinates[0].rest != getAffineConstantExpr(0, context))
      return refuse("rows do not go on in the next image");
    last = 0;
  } else {
    last = first + coordinate.size.value_or(1) * coordinate.stride - size;
  }
  for (int64_t corner : {first, last})
    if (corner < -limit || corner >= limit)
      return refuse("windows start or end " + Twine(corner) +
                    " elements away from the image's border, the copy engine "
                    "takes less than " +
                    Twine(limit));
  lower.push_back(first);
  upper.push_back(last);
  copy.strides[dim] = coordinate.stride;
  copy.offsets.push_back(coordinate.rest - first);
  copy.starts[dim] = getAffineConstantExpr(first, context);
  if (coordinate.row)
    copy.starts[dim] =
        atStart(coordinate.digit) * coordinate.stride + copy.starts[dim];
  return success();
}

FailureOr<TensorCopy> WindowMatcher::match() {
  if (failed(checkTensor(access, whyNot)))
    return failure();
  int64_t rank = view.getRank();
  whyNot.clear();
  if (rank < 3 || failed(split()))
    return failure();
  if (coordinates[0].stride != 1)
    return refuse("images are taken in steps");
  copy.dims = {rank - 2, rank - 1};
  copy.fastDim = 1;
  copy.strides.assign(rank, 1);
  copy.starts.resize(rank);
  copy.starts[0] = coordinates[0].rest;
  if (coordinates[0].row)
    copy.starts[0] = copy.starts[0] + atStart(coordinates[0].digit);
  copy.starts.back() = atStart(access.map.getResults().back());
  for (unsigned dim = 1; dim + 1 < rank; ++dim)
    if (failed(placeWindows(dim)))
      return failure();
  copy.im2col = Im2ColAttr::get(context, lower, upper);
  constexpr int64_t kMaxRows = 256;
  if (getTileShape(access.tile)[0] > kMaxRows)
    return refuse("the tile has more than " + Twine(kMaxRows) + " rows");
  if (failed(setBoxes(access, kMaxRows, copy, whyNot)))
    return failure();
  return copy;
}

FailureOr<TensorCopy> tile::getWindowCopy(const Access &access,
                                          std::string &whyNot) {
  return WindowMatcher(access, whyNot).match();
}
