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
// The other dimension of the tile runs along the channels. Where it goes on in
// the same channels of the next element of each window, as the columns of the
// gradient of a filter do, the elements are copied one by one, in pieces.
//
//===----------------------------------------------------------------------===//

#include "TensorCopyRules.h"
#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"
#include "fusion/Support/Interval.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
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

/// The dimensions of coordinates here: where a piece of the tile starts along
/// the channels, and the row in the tile.
static constexpr unsigned kPiece = 0, kRow = 1;

namespace {
/// `stride * digit + rest`, where the digit is `row floordiv divisor`, `mod
/// size` when there is a size. Without a digit, `row` is null.
struct Coordinate {
  AffineExpr row, digit, rest;
  int64_t stride = 1, divisor = 1;
  std::optional<int64_t> size;
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
  if (llvm::is_contained(terms, getAffineDimExpr(kRow, expr.getContext()))) {
    result.row = result.digit = expr;
    return result;
  }
  for (AffineExpr term : terms) {
    if (!term.isFunctionOfDim(kRow)) {
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

/// True when `expr` is the row and terms without dimensions.
static bool countsRows(AffineExpr expr) {
  SmallVector<AffineExpr> terms;
  collectTerms(expr, terms);
  AffineExpr row = getAffineDimExpr(kRow, expr.getContext());
  return llvm::count(terms, row) == 1 && llvm::count_if(terms, hasDims) == 1;
}

/// The numbers of the blocks of `program`.
static Interval getBlocks(ProgramOp program) {
  std::optional<AffineMap> grid = program.getGrid();
  auto size = grid && grid->getNumResults() == 1
                  ? dyn_cast<AffineConstantExpr>(grid->getResult(0))
                  : nullptr;
  return size ? Interval::indicesOf(Interval::point(size.getValue()))
              : Interval::atLeast(0);
}

/// The values that `index` takes, as far as they are known.
static Interval getRange(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return Interval::point(constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return {};
    Interval first = getRange(loop.getLowerBound());
    Interval end = getRange(loop.getUpperBound());
    APInt step;
    // The last step of a loop of constant bounds is known.
    if (first.isPoint() && end.isPoint() && end.getLower() > first.getLower() &&
        matchPattern(loop.getStep(), m_ConstantInt(&step))) {
      int64_t steps =
          (end.getLower() - 1 - first.getLower()) / step.getSExtValue();
      return first.join(first + Interval::point(steps * step.getSExtValue()));
    }
    return first.join(Interval::indicesOf(end));
  }
  Operation *op = index.getDefiningOp();
  if (isa<gpu::BlockIdOp>(op))
    return getBlocks(op->getParentOfType<ProgramOp>());
  if (!isa<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp,
           arith::MinUIOp>(op))
    return {};
  Interval lhs = getRange(op->getOperand(0)), rhs = getRange(op->getOperand(1));
  if (isa<arith::AddIOp>(op))
    return lhs + rhs;
  if (isa<arith::MulIOp>(op))
    return lhs * rhs;
  if (isa<arith::MinUIOp>(op))
    return Interval::min(lhs, rhs);
  return isa<arith::DivUIOp>(op) ? lhs.floorDiv(rhs) : lhs.mod(rhs);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
class WindowMatcher {
public:
  WindowMatcher(const Access &access, std::string &whyNot)
      : access(access), whyNot(whyNot), view(access.view.getType()),
        shape(getTileShape(access.tile)), context(view.getContext()) {}

  FailureOr<TensorCopy> match();

private:
  LogicalResult refuse(const Twine &reason) {
    whyNot = reason.str();
    return failure();
  }
  /// Sets the dimensions of the tile and the channels of a piece of it, at one
  /// element of each window; without a reason for failure when the coordinates
  /// are not those of windows.
  LogicalResult findPieces();
  /// Splits all coordinates but that of the channels; fails likewise.
  LogicalResult split();
  /// Sets what the copy needs of dimension `dim`, between the first and last.
  LogicalResult placeWindows(unsigned dim);
  /// `expr`, of the tile's dimensions, over those of coordinates here.
  AffineExpr ofPiece(AffineExpr expr) {
    AffineExpr dims[2];
    dims[rows] = getAffineDimExpr(kRow, context);
    dims[1 - rows] = copy.pieces ? getAffineDimExpr(kPiece, context)
                                 : getAffineConstantExpr(0, context);
    return expr.replaceDims(dims);
  }
  /// The expression where a piece starts.
  AffineExpr atStart(AffineExpr expr) {
    return expr.replace(getAffineDimExpr(kRow, context),
                        getAffineConstantExpr(0, context));
  }
  Interval rangeOf(AffineExpr expr) {
    Interval all = Interval::indicesOf(Interval::point(shape[1 - rows]));
    return fusion::getRange(expr, {all, all},
                            llvm::map_to_vector(access.symbols, ::getRange));
  }

  const Access &access;
  std::string &whyNot;
  ViewType view;
  ArrayRef<int64_t> shape;
  MLIRContext *context;
  /// The dimension of the tile along which rows lie.
  unsigned rows = 0;
  SmallVector<Coordinate> coordinates;
  TensorCopy copy;
  SmallVector<int64_t> lower, upper;
};
} // namespace

LogicalResult WindowMatcher::findPieces() {
  ArrayRef<AffineExpr> results = access.map.getResults();
  rows = results.back().isFunctionOfDim(1) ? 0 : 1;
  unsigned channels = 1 - rows;
  auto hasStep = [&](AffineExpr expr, int64_t step, int64_t width) {
    std::optional<Run> run = getRun(expr, channels, width, access.symbols);
    return run && run->stride == step;
  };
  auto isPiece = [&](int64_t width) {
    return hasStep(results.back(), 1, width) &&
           llvm::all_of(results.drop_back(), [&](AffineExpr expr) {
             return hasStep(expr, 0, width);
           });
  };
  int64_t width = shape[channels];
  while (width > 1 && !isPiece(width))
    width /= 2;
  if (results.back().isFunctionOfDim(rows) || !isPiece(width))
    return failure();
  if (width < shape[channels])
    copy.pieces = TensorCopy::Pieces{channels, width};
  return success();
}

LogicalResult WindowMatcher::split() {
  AffineExpr row;
  for (AffineExpr expr : access.map.getResults().drop_back()) {
    FailureOr<Coordinate> coordinate = splitCoordinate(ofPiece(expr));
    if (failed(coordinate))
      return failure();
    if (coordinate->row && row && coordinate->row != row)
      return failure();
    if (coordinate->row)
      row = coordinate->row;
    coordinates.push_back(*coordinate);
  }
  if (!row || !countsRows(row))
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
  Interval range = rangeOf(coordinate.rest);
  if (!range.isBounded())
    return refuse("the place of an element in its window is not known");
  int64_t limit = getIm2ColCornerLimit(coordinates.size() - 1);
  int64_t first = range.getLower(), reach = range.getUpper() - first, last;
  if (reach >= 2 * limit)
    return refuse("a window reaches " + Twine(reach) +
                  " elements far, the copy engine takes less than " +
                  Twine(2 * limit));
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
  if (rank < 3 || failed(findPieces()) || failed(split()))
    return failure();
  if (coordinates[0].stride != 1)
    return refuse("images are taken in steps");
  copy.fastDim = 1 - rows;
  copy.dims.assign(2, rank - 1);
  copy.dims[rows] = rank - 2;
  copy.strides.assign(rank, 1);
  copy.starts.resize(rank);
  copy.starts[0] = coordinates[0].rest;
  if (coordinates[0].row)
    copy.starts[0] = copy.starts[0] + atStart(coordinates[0].digit);
  copy.starts.back() = ofPiece(access.map.getResults().back());
  for (unsigned dim = 1; dim + 1 < rank; ++dim)
    if (failed(placeWindows(dim)))
      return failure();
  copy.im2col = Im2ColAttr::get(context, lower, upper);
  constexpr int64_t kMaxRows = 256;
  if (shape[rows] > kMaxRows)
    return refuse("the tile has more than " + Twine(kMaxRows) + " rows");
  if (failed(setBoxes(access, kMaxRows, copy, whyNot)))
    return failure();
  if (copy.pieces && copy.map.getBox().back() > copy.pieces->length)
    return refuse("channels of one box lie at several elements of the windows");
  return copy;
}

FailureOr<TensorCopy> tile::getWindowCopy(const Access &access,
                                          std::string &whyNot) {
  return WindowMatcher(access, whyNot).match();
}
