//===- LowerScatter.cpp - tensor.scatter as generics ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements scatters without races: every place of the result asks
// which index names it last.
//
//===----------------------------------------------------------------------===//

#include "LowerImports.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
class ScatterLowering {
public:
  ScatterLowering(tensor::ScatterOp op, OpBuilder &builder)
      : op(op), builder(builder), loc(op.getLoc()),
        indicesType(cast<RankedTensorType>(op.getIndices().getType())),
        sourceType(cast<RankedTensorType>(op.getSource().getType())),
        destType(cast<RankedTensorType>(op.getDest().getType())),
        numLoops(indicesType.getRank() - 1) {}

  FailureOr<Value> lower();

private:
  Value findLast();
  Value emitLast(OpBuilder &b, ValueRange args);
  Value choose(Value last);
  SmallVector<Value> getSourceIndices(OpBuilder &b, Value number);
  Value extractCoordinate(int64_t number);

  tensor::ScatterOp op;
  OpBuilder &builder;
  Location loc;
  RankedTensorType indicesType, sourceType, destType;
  /// The dimensions that number the indices.
  int64_t numLoops;
  /// Their sizes.
  SmallVector<Value> counts;
};
} // namespace

/// Coordinate number `number` of all indices.
Value ScatterLowering::extractCoordinate(int64_t number) {
  SmallVector<OpFoldResult> offsets(numLoops + 1, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(numLoops + 1, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, op.getIndices());
  offsets.back() = builder.getIndexAttr(number);
  sizes.back() = builder.getIndexAttr(1);
  auto type = RankedTensorType::get(indicesType.getShape().drop_back(),
                                    indicesType.getElementType());
  return tensor::ExtractSliceOp::create(builder, loc, type, op.getIndices(),
                                        offsets, sizes, strides);
}

/// The greater of the last argument and the number of this index, if the index
/// names this place.
Value ScatterLowering::emitLast(OpBuilder &b, ValueRange args) {
  int64_t numDims = op.getScatterDims().size();
  Value hit;
  for (int64_t dim = 0; dim < numDims; ++dim) {
    Value place = linalg::IndexOp::create(b, loc, dim);
    Value index =
        arith::IndexCastOp::create(b, loc, b.getIndexType(), args[dim]);
    Value same =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index, place);
    hit = hit ? arith::AndIOp::create(b, loc, hit, same).getResult() : same;
  }
  Value number = arith::ConstantIndexOp::create(b, loc, 0);
  for (int64_t loop = 0; loop < numLoops; ++loop) {
    Value scaled = arith::MulIOp::create(b, loc, number, counts[loop]);
    Value position = linalg::IndexOp::create(b, loc, numDims + loop);
    number = arith::AddIOp::create(b, loc, scaled, position);
  }
  number = arith::IndexCastOp::create(b, loc, b.getI64Type(), number);
  Value none = arith::ConstantIntOp::create(b, loc, -1, 64);
  Value here = arith::SelectOp::create(b, loc, hit, number, none);
  return arith::MaxSIOp::create(b, loc, args.back(), here);
}

/// For every place of the scattered dimensions the number of the last index
/// that names it, or -1.
Value ScatterLowering::findLast() {
  ArrayRef<int64_t> scattered = op.getScatterDims();
  int64_t numDims = scattered.size();
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : scattered)
    sizes.push_back(tensor::getMixedSize(builder, loc, op.getDest(), dim));
  Value none = arith::ConstantIntOp::create(builder, loc, -1, 64);
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, builder.getI64Type());
  Value init = linalg::FillOp::create(builder, loc, none, empty).getResult(0);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  AffineMap all = builder.getMultiDimIdentityMap(numDims + numLoops);
  for (int64_t dim = 0; dim < numDims; ++dim) {
    inputs.push_back(extractCoordinate(dim));
    maps.push_back(all.getMinorSubMap(numLoops));
  }
  maps.push_back(all.getMajorSubMap(numDims));
  SmallVector<utils::IteratorType> iterators(numDims,
                                             utils::IteratorType::parallel);
  iterators.append(numLoops, utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             builder, loc, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &b, Location, ValueRange args) {
               linalg::YieldOp::create(b, loc, emitLast(b, args));
             })
      .getResult(0);
}

/// Where the source has the element that index number `number` sends here.
SmallVector<Value> ScatterLowering::getSourceIndices(OpBuilder &b,
                                                     Value number) {
  SmallVector<Value> indices(numLoops);
  for (int64_t loop = numLoops; loop-- > 0;) {
    indices[loop] = number;
    if (loop == 0)
      break;
    indices[loop] = arith::RemUIOp::create(b, loc, number, counts[loop]);
    number = arith::DivUIOp::create(b, loc, number, counts[loop]);
  }
  bool keepsRank = sourceType.getRank() == numLoops + destType.getRank();
  for (int64_t dim = 0; dim < destType.getRank(); ++dim) {
    if (!llvm::is_contained(op.getScatterDims(), dim))
      indices.push_back(linalg::IndexOp::create(b, loc, dim));
    else if (keepsRank)
      indices.push_back(arith::ConstantIndexOp::create(b, loc, 0));
  }
  return indices;
}

/// The element that the last index sends to each place, or what was there.
Value ScatterLowering::choose(Value last) {
  SmallVector<AffineExpr> places;
  for (int64_t dim : op.getScatterDims())
    places.push_back(builder.getAffineDimExpr(dim));
  int64_t rank = destType.getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps{
      AffineMap::get(rank, 0, places, builder.getContext()), identity,
      identity};
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, op.getDest()),
      destType.getElementType());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), ValueRange{last, op.getDest()}, empty,
      maps, iterators, [&](OpBuilder &b, Location, ValueRange args) {
        Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
        Value isNamed = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                              args[0], zero);
        Value number = arith::IndexCastOp::create(
            b, loc, b.getIndexType(),
            arith::MaxSIOp::create(b, loc, args[0], zero));
        Value element = tensor::ExtractOp::create(b, loc, op.getSource(),
                                                  getSourceIndices(b, number));
        linalg::YieldOp::create(
            b, loc,
            arith::SelectOp::create(b, loc, isNamed, element, args[1])
                .getResult());
      });
  Value result = generic.getResult(0);
  if (result.getType() != op.getType())
    result = tensor::CastOp::create(builder, loc, op.getType(), result);
  return result;
}

FailureOr<Value> ScatterLowering::lower() {
  if (!isa<IntegerType>(indicesType.getElementType()))
    return emitCodedError(loc, ErrorCode::UnsupportedType,
                          "'tensor.scatter' has indices of type index",
                          "use indices of i64 or i32");
  // Nothing to insert.
  if (sourceType.hasStaticShape() && sourceType.getNumElements() == 0) {
    Value dest = op.getDest();
    return dest.getType() == op.getType()
               ? dest
               : tensor::CastOp::create(builder, loc, op.getType(), dest)
                     .getResult();
  }
  for (int64_t loop = 0; loop < numLoops; ++loop)
    counts.push_back(getValueOrCreateConstantIndexOp(
        builder, loc,
        tensor::getMixedSize(builder, loc, op.getIndices(), loop)));
  return choose(findLast());
}

FailureOr<Value> fusion::lowerScatter(tensor::ScatterOp op,
                                      OpBuilder &builder) {
  return ScatterLowering(op, builder).lower();
}
