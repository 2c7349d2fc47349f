//===- TensorCopy.cpp - What the tensor copy engine can move --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rules of the tensor copy engine: which accesses it
// can make and in which boxes.
//
//===----------------------------------------------------------------------===//

#include "TensorCopyRules.h"
#include "fusion/Support/Hardware.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void tile::collectTerms(AffineExpr expr, SmallVector<AffineExpr> &terms) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add) {
    terms.push_back(expr);
    return;
  }
  collectTerms(sum.getLHS(), terms);
  collectTerms(sum.getRHS(), terms);
}

bool tile::hasDims(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) { found |= isa<AffineDimExpr>(part); });
  return found;
}

/// Splits the coordinates of `map` into a start and at most one dimension of
/// the tile, with factor one; each dimension of the tile must occur once.
static LogicalResult splitCoordinates(AffineMap map, TensorCopy &copy) {
  copy.dims.assign(map.getNumDims(), -1);
  for (auto [viewDim, coordinate] : llvm::enumerate(map.getResults())) {
    SmallVector<AffineExpr> terms;
    collectTerms(coordinate, terms);
    AffineExpr start = getAffineConstantExpr(0, map.getContext());
    bool taken = false;
    for (AffineExpr term : terms) {
      if (auto dim = dyn_cast<AffineDimExpr>(term)) {
        int64_t &place = copy.dims[dim.getPosition()];
        if (taken || place >= 0)
          return failure();
        place = viewDim;
        taken = true;
      } else if (hasDims(term)) {
        return failure();
      } else {
        start = start + term;
      }
    }
    copy.starts.push_back(start);
  }
  return success(!llvm::is_contained(copy.dims, -1));
}

/// A number that divides the distance in bytes between neighbours along every
/// dimension of the view but the last, which is contiguous.
static int64_t getStrideDivisor(MakeViewOp view, int64_t elementBytes) {
  if (view.getType().getRank() < 2)
    return fusion::kCopyGranule;
  // All other strides are multiples of the row's.
  int64_t size = view.getType().getShape().back();
  if (ShapedType::isDynamic(size))
    size = view.getShapeAttr()
               .getValue()
               .getResults()
               .back()
               .getLargestKnownDivisor();
  return size * elementBytes;
}

static TmaSwizzle toTma(Swizzle swizzle) {
  return static_cast<TmaSwizzle>(static_cast<uint32_t>(swizzle));
}
static_assert(static_cast<int>(TmaSwizzle::B128) ==
                  static_cast<int>(Swizzle::B128) &&
              static_cast<int>(TmaSwizzle::B32) ==
                  static_cast<int>(Swizzle::B32));

LogicalResult tile::checkTensor(const Access &access, std::string &whyNot) {
  auto refuse = [&](const Twine &reason) {
    whyNot = reason.str();
    return failure();
  };
  ViewType viewType = access.view.getType();
  auto view = access.view.getDefiningOp<MakeViewOp>();
  if (!view || !isa<BlockArgument>(view.getBase()) || !view.getShape())
    return refuse("the launch does not know the tensor's base and sizes");
  if (viewType.getRank() < 1 || viewType.getRank() > fusion::kMaxCopyRank)
    return refuse("the tensor has " + Twine(viewType.getRank()) +
                  " dimensions, the copy engine takes 1 to 5");
  Type element = viewType.getElementType();
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (bits != 8 && bits != 16 && bits != 32)
    return refuse("the copy engine does not take elements of this type");
  if (getTileShape(access.tile).size() != 2)
    return refuse("the tile has not two dimensions");
  return success();
}

LogicalResult tile::setBoxes(const Access &access, int64_t maxRows,
                             TensorCopy &copy, std::string &whyNot) {
  ViewType viewType = access.view.getType();
  Type element = viewType.getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  ArrayRef<int64_t> shape = getTileShape(access.tile);
  if (getStrideDivisor(access.view.getDefiningOp<MakeViewOp>(), bytes) %
          fusion::kCopyGranule !=
      0) {
    whyNot = "a row of the tensor is not known to have a multiple of 16 bytes";
    return failure();
  }
  int64_t row = shape[copy.fastDim] * bytes;
  if (row < fusion::kCopyGranule) {
    whyNot = "a row of the tile has less than 16 bytes";
    return failure();
  }
  Swizzle swizzle = row >= 128  ? Swizzle::B128
                    : row >= 64 ? Swizzle::B64
                    : row >= 32 ? Swizzle::B32
                                : Swizzle::None;
  SmallVector<int64_t> box(viewType.getRank(), 1);
  for (auto [size, dim] : llvm::zip(shape, copy.dims))
    box[dim] = std::min(size, fusion::kMaxCopyBox);
  box[copy.dims[copy.fastDim]] =
      std::min<int64_t>(row,
                        fusion::kCopyGranule << static_cast<int>(swizzle)) /
      bytes;
  // A box is as wide as the swizzle: only the other dimension can be cut.
  if (copy.fastDim != 0)
    box[copy.dims[0]] = std::min(box[copy.dims[0]], maxRows);
  MLIRContext *context = viewType.getContext();
  copy.map = TensorMapType::get(context, box, element, swizzle);
  copy.buffer = BufferType::get(
      context, shape, element,
      SharedAttr::get(context, SharedLayout::tmaTile(shape, copy.fastDim, bytes,
                                                     toTma(swizzle))));
  return success();
}

FailureOr<TensorCopy> tile::getTensorCopy(const Access &access,
                                          std::string &whyNot,
                                          int64_t maxRows) {
  if (failed(checkTensor(access, whyNot)))
    return failure();
  if (access.map.getNumSymbols() != access.symbols.size()) {
    whyNot = "the rows are gathered";
    return failure();
  }
  TensorCopy copy;
  if (failed(splitCoordinates(access.map, copy))) {
    whyNot = "the tile is no box of the tensor";
    return failure();
  }
  auto fast = llvm::find(copy.dims, access.view.getType().getRank() - 1);
  if (fast == copy.dims.end()) {
    whyNot = "the tensor's contiguous dimension is none of the tile's";
    return failure();
  }
  copy.fastDim = fast - copy.dims.begin();
  if (failed(setBoxes(access, maxRows, copy, whyNot)))
    return failure();
  return copy;
}

SmallVector<Value> tile::emitCoordinates(OpBuilder &builder, Location loc,
                                         ArrayRef<AffineExpr> coordinates,
                                         ValueRange symbols) {
  SmallVector<Value> values;
  for (AffineExpr coordinate : coordinates)
    values.push_back(affine::expandAffineExpr(builder, loc, coordinate,
                                              /*dimValues=*/{}, symbols));
  return values;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// The scalar that every element of `value` is, or null.
static Value getSplatted(Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>())
    return splat.getValue();
  return nullptr;
}

static bool isZero(Value value) {
  if (Value scalar = getSplatted(value))
    value = scalar;
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

/// True when `value` is the size of dimension `dim` of the load's view.
static bool isSizeOf(Value value, LoadOp load, unsigned dim) {
  auto view = load.getView().getDefiningOp<MakeViewOp>();
  if (!view)
    return false;
  ArrayRef<int64_t> shape = view.getType().getShape();
  APInt constant;
  if (!ShapedType::isDynamic(shape[dim]))
    return matchPattern(value, m_ConstantInt(&constant)) &&
           constant == shape[dim];
  unsigned number =
      llvm::count_if(shape.take_front(dim), ShapedType::isDynamic);
  return view.getSizes()[number] == value;
}

/// True when `condition` holds exactly where a checked coordinate of `load` is
/// below the size of the view, for coordinates that are not negative.
static bool asksBounds(Value condition, LoadOp load) {
  SmallVector<int64_t> dims;
  for (size_t i = 0; i < getTileShape(condition.getType()).size(); ++i)
    dims.push_back(i);
  while (auto broadcast = condition.getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> inner;
    for (int64_t dim : broadcast.getDims())
      inner.push_back(dims[dim]);
    dims = inner;
    condition = broadcast.getValue();
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::ult)
    return false;
  auto index = compare.getLhs().getDefiningOp<IndexOp>();
  Value size = getSplatted(compare.getRhs());
  if (!index || !size)
    return false;
  // The index in the load's dimensions and symbols.
  MLIRContext *context = load.getContext();
  SmallVector<AffineExpr> newDims, newSymbols;
  for (int64_t dim : dims)
    newDims.push_back(getAffineDimExpr(dim, context));
  for (Value symbol : index.getSymbols()) {
    auto it = llvm::find(load.getSymbols(), symbol);
    if (it == load.getSymbols().end())
      return false;
    newSymbols.push_back(
        getAffineSymbolExpr(it - load.getSymbols().begin(), context));
  }
  AffineExpr wanted =
      index.getMap().getResult(0).replaceDimsAndSymbols(newDims, newSymbols);
  for (auto [dim, coordinate] : llvm::enumerate(load.getMap().getResults()))
    if (load.getChecked()[dim] && coordinate == wanted &&
        isSizeOf(size, load, dim))
      return true;
  return false;
}

/// What `select` chooses of `load` as a gathered tile of its own, whose rows
/// lie outside where it chooses zeros; null where copies could not bring it.
static LoadOp gatherWithin(arith::SelectOp select, LoadOp load) {
  unsigned scalars = load.getSymbols().size();
  for (auto [dim, coord] : llvm::enumerate(load.getMap().getResults())) {
    auto symbol = dyn_cast<AffineSymbolExpr>(coord);
    if (!symbol || symbol.getPosition() < scalars || !load.getChecked()[dim])
      continue;
    OpBuilder builder(select);
    Location loc = load.getLoc();
    SmallVector<Value> indices(load.getIndices());
    Value &own = indices[symbol.getPosition() - scalars];
    Value none = arith::ConstantIndexOp::create(builder, loc, -1);
    Value outside = SplatOp::create(builder, loc, own.getType(), none);
    own = arith::SelectOp::create(builder, loc, select.getCondition(), own,
                                  outside);
    auto within = LoadOp::create(builder, loc, load.getType(), load.getView(),
                                 load.getSymbols(), indices, load.getMap(),
                                 load.getChecked());
    std::string whyNot;
    if (succeeded(getGatheredCopy(within, whyNot)))
      return within;
    for (Value made : {within.getResult(), own, outside, none})
      made.getDefiningOp()->erase();
    return nullptr;
  }
  return nullptr;
}

void tile::foldBoundsMasks(ProgramOp program) {
  SmallVector<arith::SelectOp> selects;
  program.getBody().walk(
      [&](arith::SelectOp select) { selects.push_back(select); });
  for (arith::SelectOp select : selects) {
    auto load = select.getTrueValue().getDefiningOp<LoadOp>();
    if (!load || !isa<RankedTensorType>(select.getCondition().getType()) ||
        !isZero(select.getFalseValue()))
      continue;
    if (!asksBounds(select.getCondition(), load)) {
      load = gatherWithin(select, load);
      if (!load)
        continue;
    }
    select.replaceAllUsesWith(load.getResult());
    select.erase();
  }
}
