//===- ValueParts.cpp - The parts of a value ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements making a value in parts: what makes it and what reads it
// is there once for each part. Readers that have the divided dimension write
// their part into one result, the others add it to the sum of those before.
//
//===----------------------------------------------------------------------===//

#include "ValueDivision.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
class PartsBuilder {
public:
  PartsBuilder(const ValueDivision &division, int64_t number)
      : division(division), number(number), block(getBlock(division)),
        builder(block->getTerminator()), results(division.readers.size()) {}

  Operation *build();

private:
  /// Where a slice lies in a tensor.
  struct Place {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };

  static Block *getBlock(const ValueDivision &division) {
    Value value = division.value;
    return value.getParentBlock();
  }
  void buildPart();
  void buildReader(const DividedReader &reader, Value &result);
  /// The operation of the part, which reads and gives parts.
  Value clone(const DividedOp &divided);
  Value getOperand(Value tensor, AffineMap map, unsigned loop);
  Value getInit(const DividedOp &divided);
  /// Where a part of `type` lies along `dim`.
  Place getPlace(RankedTensorType type, unsigned dim);
  Value getSlice(Value tensor, unsigned dim);
  Value addUp(Location loc, Operation *like, Value sum, Value part);
  Value insert(Value part, unsigned dim, Value whole);
  Value fill(Location loc, Value scalar, RankedTensorType type);
  template <typename Op>
  Op mark(Op op) {
    op->setAttr(FusionDialect::kPartAttrName,
                builder.getDenseI64ArrayAttr({number, part}));
    return op;
  }
  RankedTensorType getPartType(Value tensor, unsigned dim) const {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
    return type.clone(shape);
  }
  void eraseUnused();

  const ValueDivision &division;
  int64_t number;
  Block *block;
  OpBuilder builder;
  /// Of each reader, what the parts so far give.
  SmallVector<Value> results;
  /// The part that is built.
  int64_t part = 0, offset = 0, size = 0;
  DenseMap<std::pair<Value, unsigned>, Value> slices;
};
} // namespace

/// The dimension of a tensor at `map` that `loop` walks, if there is one.
static std::optional<unsigned> findDim(AffineMap map, unsigned loop) {
  for (auto [dim, coord] : llvm::enumerate(map.getResults()))
    if (coord.isFunctionOfDim(loop))
      return dim;
  return std::nullopt;
}

PartsBuilder::Place PartsBuilder::getPlace(RankedTensorType type,
                                           unsigned dim) {
  Place place;
  place.offsets.assign(type.getRank(), builder.getIndexAttr(0));
  place.strides.assign(type.getRank(), builder.getIndexAttr(1));
  for (int64_t extent : type.getShape())
    place.sizes.push_back(builder.getIndexAttr(extent));
  place.offsets[dim] = builder.getIndexAttr(offset);
  return place;
}

Value PartsBuilder::fill(Location loc, Value scalar, RankedTensorType type) {
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

Value PartsBuilder::getSlice(Value tensor, unsigned dim) {
  auto [known, isNew] = slices.try_emplace({tensor, dim});
  if (!isNew)
    return known->second;
  RankedTensorType type = getPartType(tensor, dim);
  Location loc = division.value.getLoc();
  if (auto filled = tensor.getDefiningOp<linalg::FillOp>())
    return slices[{tensor, dim}] = fill(loc, filled.getInputs().front(), type);
  Place place = getPlace(type, dim);
  auto slice = mark(tensor::ExtractSliceOp::create(
      builder, loc, type, tensor, place.offsets, place.sizes, place.strides));
  if (liesInOnePiece(cast<RankedTensorType>(tensor.getType()), dim, offset))
    slice->setAttr(FusionDialect::kInPlaceAttrName, builder.getUnitAttr());
  return slices[{tensor, dim}] = slice;
}

Value PartsBuilder::getOperand(Value tensor, AffineMap map, unsigned loop) {
  std::optional<unsigned> dim = findDim(map, loop);
  return dim ? getSlice(tensor, *dim) : tensor;
}

Value PartsBuilder::getInit(const DividedOp &divided) {
  linalg::LinalgOp op = divided.op;
  Value init = op.getDpsInitOperand(0)->get();
  Location loc = op.getLoc();
  std::optional<unsigned> dim = findDim(getResultMap(op), divided.loop);
  if (!dim) {
    if (part == 0)
      return init;
    Value zero =
        arith::ConstantOp::create(builder, loc, matchCombiner(op, 0).neutral);
    return fill(loc, zero, cast<RankedTensorType>(init.getType()));
  }
  if (op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return getSlice(init, *dim);
  RankedTensorType type = getPartType(init, *dim);
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

Value PartsBuilder::clone(const DividedOp &divided) {
  linalg::LinalgOp op = divided.op;
  SmallVector<Value> operands;
  for (OpOperand *input : op.getDpsInputOperands())
    operands.push_back(getOperand(
        input->get(), op.getMatchingIndexingMap(input), divided.loop));
  operands.push_back(getInit(divided));
  Operation *copy =
      mlir::clone(builder, op, operands.back().getType(), operands);
  mark(copy);
  // Positions in a part are those in the value, less where the part begins.
  SmallVector<linalg::IndexOp> indices;
  copy->walk([&](linalg::IndexOp index) {
    if (index.getDim() == divided.loop && index->getParentOp() == copy)
      indices.push_back(index);
  });
  OpBuilder::InsertionGuard guard(builder);
  for (linalg::IndexOp index : indices) {
    builder.setInsertionPointAfter(index);
    Value start =
        arith::ConstantIndexOp::create(builder, index.getLoc(), offset);
    auto moved = arith::AddIOp::create(builder, index.getLoc(), index, start);
    index.getResult().replaceAllUsesExcept(moved, moved);
  }
  return copy->getResult(0);
}

Value PartsBuilder::addUp(Location loc, Operation *like, Value sum,
                          Value added) {
  auto type = cast<RankedTensorType>(sum.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<AffineMap> maps(3,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto total = linalg::GenericOp::create(
      builder, loc, type, ValueRange{sum, added}, empty, maps, kinds,
      [&](OpBuilder &b, Location at, ValueRange arguments) {
        Value both = combineValues(b, at, like, arguments[0], arguments[1]);
        linalg::YieldOp::create(b, at, both);
      });
  return mark(total).getResult(0);
}

Value PartsBuilder::insert(Value made, unsigned dim, Value whole) {
  auto type = cast<RankedTensorType>(made.getType());
  Place place = getPlace(type, dim);
  auto inserted = mark(
      tensor::InsertSliceOp::create(builder, made.getLoc(), made, whole,
                                    place.offsets, place.sizes, place.strides));
  inserted->setAttr(FusionDialect::kInPlaceAttrName, builder.getUnitAttr());
  return inserted;
}

void PartsBuilder::buildReader(const DividedReader &reader, Value &result) {
  linalg::LinalgOp product = reader.product.op;
  Value made = clone(reader.product);
  if (reader.isSum) {
    result = result ? addUp(product.getLoc(), matchCombiner(product, 0).op,
                            result, made)
                    : made;
    return;
  }
  unsigned dim = *findDim(getResultMap(product), reader.product.loop);
  Value whole = product->getResult(0);
  for (const DividedOp &next : reader.elementwise) {
    slices[{whole, dim}] = made;
    made = clone(next);
    whole = linalg::LinalgOp(next.op)->getResult(0);
  }
  if (!result) {
    auto type = cast<RankedTensorType>(whole.getType());
    result = tensor::EmptyOp::create(builder, whole.getLoc(), type.getShape(),
                                     type.getElementType());
  }
  result = insert(made, dim, result);
}

void PartsBuilder::buildPart() {
  slices.clear();
  for (const DividedOp &maker : division.makers) {
    Value made = clone(maker);
    linalg::LinalgOp op = maker.op;
    unsigned dim = *findDim(getResultMap(op), maker.loop);
    slices[{op->getResult(0), dim}] = made;
  }
  for (auto [reader, result] : llvm::zip_equal(division.readers, results))
    buildReader(reader, result);
}

void PartsBuilder::eraseUnused() {
  auto erase = [](linalg::LinalgOp op) {
    if (op->use_empty())
      op->erase();
  };
  for (const DividedReader &reader : division.readers) {
    for (const DividedOp &next : llvm::reverse(reader.elementwise))
      erase(next.op);
    erase(reader.product.op);
  }
  for (const DividedOp &maker : llvm::reverse(division.makers))
    erase(maker.op);
}

Operation *PartsBuilder::build() {
  for (; offset < division.extent; offset += division.size, ++part) {
    size = std::min(division.size, division.extent - offset);
    buildPart();
  }
  Operation *last =
      slices.lookup({division.value, division.dim}).getDefiningOp();
  for (auto [reader, result] : llvm::zip_equal(division.readers, results)) {
    linalg::LinalgOp given = reader.elementwise.empty()
                                 ? reader.product.op
                                 : reader.elementwise.back().op;
    given->getResult(0).replaceAllUsesWith(result);
  }
  eraseUnused();
  // What reads the results may stand before the last of the parts.
  sortTopologically(block);
  return last;
}

Operation *mlir::fusion::makeParts(const ValueDivision &division,
                                   int64_t number) {
  return PartsBuilder(division, number).build();
}
