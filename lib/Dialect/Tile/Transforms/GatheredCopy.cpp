//===- GatheredCopy.cpp - Copies of rows that tables place ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements copies of gathered tiles by the tensor copy engine. Of
// the rows of such a tile, pieces of equal length have equal coordinates in the
// indices, and lie side by side otherwise: each piece is a box of the tensor,
// whose coordinates whoever starts the copies loads for itself.
//
//===----------------------------------------------------------------------===//

#include "TensorCopyRules.h"
#include "fusion/Analysis/Lookups.h"
#include "fusion/Support/Hardware.h"

#include "RolePlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

//===----------------------------------------------------------------------===//
// Index tiles
//===----------------------------------------------------------------------===//

/// An operation that makes each element of a tile of those at the same place.
static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 && isMemoryEffectFree(op);
}

/// True when `expr` changes by `step` from one position of `axis` to the next,
/// within groups of `width`.
static bool hasStep(AffineExpr expr, int64_t step, unsigned axis, int64_t width,
                    ValueRange symbols) {
  std::optional<Run> run = getRun(expr, axis, width, symbols);
  return run && run->stride == step;
}

/// A number that divides all elements of `tile`.
static uint64_t getTileDivisor(Value tile) {
  APInt constant;
  if (matchPattern(tile, m_ConstantInt(&constant)))
    return constant.abs().getZExtValue();
  auto splat = tile.getDefiningOp<SplatOp>();
  return splat ? getDivisor(splat.getValue()) : 1;
}

/// True when groups of `width` positions along `axis` are on one side of what
/// `compare` compares them with.
static bool isOnOneSide(arith::CmpIOp compare, unsigned axis, int64_t width) {
  using Predicate = arith::CmpIPredicate;
  auto index = compare.getLhs().getDefiningOp<IndexOp>();
  // Of those before a multiple, and of no others, the first says it for all.
  bool isBefore = llvm::is_contained(
      {Predicate::ult, Predicate::slt, Predicate::uge, Predicate::sge},
      compare.getPredicate());
  if (!index || !isBefore || getTileDivisor(compare.getRhs()) % width != 0 ||
      !llvm::all_of(index.getSymbols(), isScalarComputable))
    return false;
  std::optional<Run> run =
      getRun(index.getMap().getResult(0), axis, width, index.getSymbols());
  return run &&
         (run->stride == 0 || (run->stride == 1 && run->base % width == 0));
}

/// True when elements of `tile` are equal in groups of `width` along `axis`,
/// and a role that holds no tiles can compute each.
static bool isEqualAlong(Value tile, unsigned axis, int64_t width) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type)
    return isScalarComputable(tile);
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  if (matchPattern(op, m_Constant()))
    return true;
  if (auto splat = dyn_cast<SplatOp>(op))
    return isScalarComputable(splat.getValue());
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    ArrayRef<int64_t> dims = broadcast.getDims();
    const auto *own = llvm::find(dims, axis);
    // Beyond its dimensions it repeats all that there is.
    unsigned inner = own - dims.begin();
    return isEqualAlong(broadcast.getValue(), inner,
                        own == dims.end() ? 1 : width);
  }
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    bool isOwn = repeat.getDim() == axis;
    int64_t times = isOwn ? int64_t(1) << repeat.getLog2Factor() : 1;
    return isEqualAlong(repeat.getValue(), axis,
                        std::max<int64_t>(1, width / times));
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    if (isOnOneSide(compare, axis, width))
      return isEqualAlong(compare.getRhs(), axis, width);
  ValueRange symbols;
  SmallVector<AffineExpr> coords;
  if (auto index = dyn_cast<IndexOp>(op)) {
    symbols = index.getSymbols();
    coords.assign({index.getMap().getResult(0)});
  } else if (auto load = dyn_cast<LoadOp>(op)) {
    if (!load.getIndices().empty())
      return false;
    symbols = load.getSymbols();
    llvm::append_range(coords, load.getMap().getResults());
  } else {
    return isElementwise(op) && llvm::all_of(op->getOperands(), [&](Value in) {
             return isEqualAlong(in, axis, width);
           });
  }
  return llvm::all_of(symbols, isScalarComputable) &&
         llvm::all_of(coords, [&](AffineExpr coord) {
           return width == 1 || hasStep(coord, 0, axis, width, symbols);
         });
}

namespace {
/// Computes single elements of tiles.
class ElementWriter {
public:
  ElementWriter(OpBuilder &builder, function_ref<Value(Value)> getScalar)
      : builder(builder), getScalar(getScalar) {}

  Value write(Value tile, ArrayRef<int64_t> position);

private:
  SmallVector<Value> getScalars(ValueRange values) {
    return llvm::map_to_vector(values, getScalar);
  }
  /// `map` of the position alone.
  static AffineMap fix(AffineMap map, ArrayRef<int64_t> position) {
    SmallVector<AffineExpr> numbers;
    for (int64_t at : position)
      numbers.push_back(getAffineConstantExpr(at, map.getContext()));
    return map.replaceDimsAndSymbols(numbers, {}, 0, map.getNumSymbols());
  }

  OpBuilder &builder;
  function_ref<Value(Value)> getScalar;
};
} // namespace

Value ElementWriter::write(Value tile, ArrayRef<int64_t> position) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type)
    return getScalar(tile);
  Operation *op = tile.getDefiningOp();
  Location loc = op->getLoc();
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  if (auto splat = dyn_cast<SplatOp>(op))
    return getScalar(splat.getValue());
  SmallVector<int64_t> at(position);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    at.clear();
    for (int64_t dim : broadcast.getDims())
      at.push_back(position[dim]);
    return write(broadcast.getValue(), at);
  }
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    at[repeat.getDim()] >>= repeat.getLog2Factor();
    return write(repeat.getValue(), at);
  }
  if (auto index = dyn_cast<IndexOp>(op))
    return emitCoordinates(builder, loc, fix(index.getMap(), at).getResults(),
                           getScalars(index.getSymbols()))
        .front();
  if (auto load = dyn_cast<LoadOp>(op))
    return LoadOp::create(builder, loc, type.getElementType(), load.getView(),
                          getScalars(load.getSymbols()), ValueRange(),
                          fix(load.getMap(), at), load.getChecked());
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(write(operand, position));
  OperationState state(loc, op->getName(), operands, type.getElementType(),
                       op->getAttrs());
  return builder.create(state)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// The index tile that `coord` is, of those behind the scalars of `load`.
static std::optional<unsigned> getIndexTile(AffineExpr coord, LoadOp load) {
  auto symbol = dyn_cast<AffineSymbolExpr>(coord);
  unsigned scalars = load.getSymbols().size();
  if (!symbol || symbol.getPosition() < scalars)
    return std::nullopt;
  return symbol.getPosition() - scalars;
}

/// Whether `width` rows along `axis` of what `load` gathers, from each multiple
/// of that number on, are a box; its rows then run along `along`.
static bool isBox(LoadOp load, unsigned axis, int64_t width, int64_t &along) {
  unsigned fast = 1 - axis;
  ArrayRef<int64_t> shape = getTileShape(load.getType());
  for (Value indices : load.getIndices())
    if (!isEqualAlong(indices, axis, width) ||
        !isEqualAlong(indices, fast, shape[fast]))
      return false;
  along = -1;
  ArrayRef<AffineExpr> coords = load.getMap().getResults();
  for (auto [dim, coord] : llvm::enumerate(coords)) {
    if (getIndexTile(coord, load))
      continue;
    bool isLast = dim + 1 == coords.size();
    if (!hasStep(coord, isLast ? 1 : 0, fast, shape[fast], load.getSymbols()))
      return false;
    if (hasStep(coord, 0, axis, width, load.getSymbols()))
      continue;
    if (along >= 0 || isLast ||
        !hasStep(coord, 1, axis, width, load.getSymbols()))
      return false;
    along = dim;
  }
  return along >= 0;
}

/// Boxes of `copy` with at most `rows` rows.
static void cutBoxes(TensorCopy &copy, int64_t rows) {
  SmallVector<int64_t> box(copy.map.getBox());
  int64_t &own = box[copy.dims[1 - copy.fastDim]];
  own = std::min(own, rows);
  copy.map =
      TensorMapType::get(copy.map.getContext(), box, copy.map.getElementType(),
                         copy.map.getSwizzle());
}

FailureOr<TensorCopy> tile::getGatheredCopy(LoadOp load, std::string &whyNot) {
  Access access = Access::of(load);
  if (failed(checkTensor(access, whyNot)))
    return failure();
  whyNot = "the rows are gathered one by one, or fewer than " +
           std::to_string(fusion::kLeastRun) + " together";
  ArrayRef<AffineExpr> coords = load.getMap().getResults();
  int64_t last = coords.size() - 1;
  for (unsigned axis : {0u, 1u}) {
    if (!coords[last].isFunctionOfDim(1 - axis))
      continue;
    TensorCopy copy;
    copy.fastDim = 1 - axis;
    int64_t width = getTileShape(load.getType())[axis], along;
    while (width >= fusion::kLeastRun && !isBox(load, axis, width, along))
      width /= 2;
    if (width < fusion::kLeastRun)
      continue;
    copy.dims.assign(2, last);
    copy.dims[axis] = along;
    copy.pieces = TensorCopy::Pieces{axis, width};
    // Where a piece starts, by the position of its first row.
    MLIRContext *context = load.getContext();
    SmallVector<AffineExpr> position(2, getAffineConstantExpr(0, context));
    position[axis] = getAffineDimExpr(0, context);
    for (AffineExpr coord : coords)
      copy.starts.push_back(coord.replaceDims(position));
    if (failed(setBoxes(access, fusion::kMaxCopyBox, copy, whyNot)))
      return failure();
    cutBoxes(copy, width);
    return copy;
  }
  return failure();
}

/// True when 32 bits hold `index`.
static bool isNarrow(Value index) {
  if (matchPattern(index, m_Constant()))
    return true;
  if (auto choice = index.getDefiningOp<arith::SelectOp>())
    return isNarrow(choice.getTrueValue()) && isNarrow(choice.getFalseValue());
  auto cast = index.getDefiningOp<arith::IndexCastOp>();
  return cast && cast.getIn().getType().getIntOrFloatBitWidth() <= 32;
}

/// `index` as a coordinate that copies take: they cut it to 32 bits, which may
/// bring it into the tensor.
static Value keepOutside(OpBuilder &builder, Value index, LoadOp load,
                         unsigned dim) {
  auto view = load.getView().getDefiningOp<MakeViewOp>();
  if (isNarrow(index) || !view)
    return index;
  Location loc = load.getLoc();
  ArrayRef<int64_t> shape = view.getType().getShape();
  Value size = ShapedType::isDynamic(shape[dim])
                   ? Value(view.getSizes()[llvm::count_if(
                         shape.take_front(dim), ShapedType::isDynamic)])
                   : arith::ConstantIndexOp::create(builder, loc, shape[dim])
                         .getResult();
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, index, size);
  Value outside = arith::ConstantIndexOp::create(builder, loc, -1);
  return arith::SelectOp::create(builder, loc, isInside, index, outside);
}

/// `coords` of each piece of `copy`, one after the other. Those that index
/// tiles of `load` are, if any, are loaded.
static SmallVector<Value> emitPlaces(OpBuilder &builder, LoadOp load,
                                     const TensorCopy &copy,
                                     ArrayRef<AffineExpr> coords,
                                     ValueRange indices,
                                     function_ref<Value(Value)> getScalar) {
  SmallVector<Value> symbols =
      llvm::map_to_vector(load.getSymbols(), getScalar);
  if (!copy.pieces)
    return emitCoordinates(builder, load.getLoc(), coords, symbols);
  auto [axis, length] = *copy.pieces;
  ElementWriter elements(builder, getScalar);
  SmallVector<Value> places;
  int64_t rows = getTileShape(load.getType())[axis];
  for (int64_t row = 0; row < rows; row += length) {
    SmallVector<int64_t> position(2, 0);
    position[axis] = row;
    SmallVector<Value> numbers = llvm::map_to_vector(
        indices, [&](Value tile) { return elements.write(tile, position); });
    AffineExpr at = getAffineConstantExpr(row, load.getContext());
    for (auto [dim, coord] : llvm::enumerate(coords)) {
      if (std::optional<unsigned> tile = getIndexTile(coord, load)) {
        places.push_back(keepOutside(builder, numbers[*tile], load, dim));
        continue;
      }
      places.push_back(emitCoordinates(builder, load.getLoc(),
                                       coord.replaceDims(at), symbols)
                           .front());
    }
  }
  return places;
}

SmallVector<Value> tile::emitStarts(OpBuilder &builder, LoadOp load,
                                    const TensorCopy &copy,
                                    function_ref<Value(Value)> getScalar) {
  return emitPlaces(builder, load, copy, copy.starts, load.getIndices(),
                    getScalar);
}

SmallVector<Value> tile::emitOffsets(OpBuilder &builder, LoadOp load,
                                     const TensorCopy &copy,
                                     function_ref<Value(Value)> getScalar) {
  return emitPlaces(builder, load, copy, copy.offsets, /*indices=*/{},
                    getScalar);
}
