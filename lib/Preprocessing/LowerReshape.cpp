//===- LowerReshape.cpp - tensor.reshape as collapse and expand -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reshapes to a shape that is a tensor: the dimensions
// that must agree are found from the symbolic sizes, so that later phases see a
// reshape of as few dimensions as possible.
//
//===----------------------------------------------------------------------===//

#include "LowerImports.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Dimensions of the source with as many elements as dimensions of the result.
struct ReshapeGroup {
  ReassociationIndices source, result;
};

class ReshapeLowering {
public:
  ReshapeLowering(tensor::ReshapeOp op, SymbolicShapes &shapes,
                  OpBuilder &builder)
      : op(op), shapes(shapes), builder(builder), loc(op.getLoc()),
        sourceType(cast<RankedTensorType>(op.getSource().getType())),
        resultType(cast<RankedTensorType>(op.getType())) {}

  FailureOr<Value> lower();

private:
  LogicalResult readSizes();
  void readSourceSizes();
  SmallVector<ReshapeGroup> findGroups() const;
  LogicalResult requireEqualCounts();
  Value multiply(ArrayRef<OpFoldResult> sizes);
  Value castTo(Value value, RankedTensorType type) {
    return value.getType() == type
               ? value
               : tensor::CastOp::create(builder, loc, type, value).getResult();
  }
  Value lowerToScalar();
  Value lowerFromScalar();

  tensor::ReshapeOp op;
  SymbolicShapes &shapes;
  OpBuilder &builder;
  Location loc;
  RankedTensorType sourceType, resultType;
  /// Sizes as values, and as expressions where they are known.
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> sourceExprs, resultExprs;
};
} // namespace

/// Element number `position` of the shape `shape`, as an index.
static OpFoldResult getShapeElement(OpBuilder &builder, Location loc,
                                    Value shape, int64_t position) {
  DenseIntElementsAttr constant;
  if (matchPattern(shape, m_Constant(&constant)))
    return builder.getIndexAttr(
        constant.getValues<APInt>()[position].getSExtValue());
  while (auto cast = shape.getDefiningOp<tensor::CastOp>())
    shape = cast.getSource();
  auto elements = shape.getDefiningOp<tensor::FromElementsOp>();
  if (!elements)
    return {};
  Value element = elements.getElements()[position];
  if (!element.getType().isIndex())
    element = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                         element);
  return getAsOpFoldResult(element);
}

LogicalResult ReshapeLowering::readSizes() {
  auto depends = [&]() {
    return emitCodedError(loc, ErrorCode::UnsupportedOp,
                          "'tensor.reshape' has a shape that depends on data",
                          "build the shape by tensor.from_elements of sizes "
                          "and constants");
  };
  for (auto [dim, size] : llvm::enumerate(resultType.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(builder.getIndexAttr(size));
      resultExprs.push_back(builder.getAffineConstantExpr(size));
      continue;
    }
    OpFoldResult element = getShapeElement(builder, loc, op.getShape(), dim);
    if (!element)
      return depends();
    FailureOr<AffineExpr> expr = shapes.getIndex(element);
    if (failed(expr))
      return depends();
    // The type says that the size is dynamic.
    if (isa<Attribute>(element))
      element = arith::ConstantIndexOp::create(
                    builder, loc,
                    cast<IntegerAttr>(cast<Attribute>(element)).getInt())
                    .getResult();
    sizes.push_back(element);
    resultExprs.push_back(*expr);
  }
  return success();
}

void ReshapeLowering::readSourceSizes() {
  FailureOr<SmallVector<AffineExpr>> known = shapes.getShape(op.getSource());
  if (succeeded(known))
    sourceExprs = *known;
}

namespace {
/// A product of sizes up to the order of its factors.
struct SizeProduct {
  explicit SizeProduct(ArrayRef<AffineExpr> sizes) {
    for (AffineExpr size : sizes)
      multiply(size);
    llvm::sort(factors);
  }

  void multiply(AffineExpr size) {
    if (auto known = dyn_cast<AffineConstantExpr>(size)) {
      constant *= known.getValue();
    } else if (size.getKind() == AffineExprKind::Mul) {
      multiply(cast<AffineBinaryOpExpr>(size).getLHS());
      multiply(cast<AffineBinaryOpExpr>(size).getRHS());
    } else {
      factors.push_back(size.getAsOpaquePointer());
    }
  }

  bool operator==(const SizeProduct &other) const {
    return constant == other.constant && factors == other.factors;
  }

  int64_t constant = 1;
  SmallVector<const void *> factors;
};
} // namespace

SmallVector<ReshapeGroup> ReshapeLowering::findGroups() const {
  unsigned sourceRank = sourceType.getRank(), resultRank = resultType.getRank();
  SmallVector<ReshapeGroup> groups;
  unsigned source = 0, result = 0;
  auto close = [&](unsigned sourceEnd, unsigned resultEnd) {
    ReshapeGroup group;
    llvm::append_range(group.source, llvm::seq<int64_t>(source, sourceEnd));
    llvm::append_range(group.result, llvm::seq<int64_t>(result, resultEnd));
    groups.push_back(std::move(group));
    source = sourceEnd;
    result = resultEnd;
  };
  // The smallest group first: one dimension with one, then with two, ...
  auto closeNext = [&]() {
    if (sourceExprs.empty())
      return false;
    for (unsigned count = 2; source + result + count <= sourceRank + resultRank;
         ++count)
      for (unsigned taken = 1; taken < count; ++taken) {
        unsigned sourceEnd = source + taken, resultEnd = result + count - taken;
        if (sourceEnd > sourceRank || resultEnd > resultRank)
          continue;
        // What is left must have partners, too.
        if ((sourceEnd == sourceRank) != (resultEnd == resultRank))
          continue;
        if (!(SizeProduct(ArrayRef(sourceExprs).slice(source, taken)) ==
              SizeProduct(ArrayRef(resultExprs).slice(result, count - taken))))
          continue;
        close(sourceEnd, resultEnd);
        return true;
      }
    return false;
  };
  while (source < sourceRank && result < resultRank)
    if (!closeNext()) {
      // All or nothing: with sizes of 0, parts need not agree.
      groups.clear();
      source = result = 0;
      close(sourceRank, resultRank);
    }
  return groups;
}

Value ReshapeLowering::multiply(ArrayRef<OpFoldResult> factors) {
  Value product = arith::ConstantIndexOp::create(builder, loc, 1);
  for (OpFoldResult factor : factors)
    product = arith::MulIOp::create(
        builder, loc, product,
        getValueOrCreateConstantIndexOp(builder, loc, factor));
  return product;
}

/// Asserts what is not known: that source and result have as many elements.
LogicalResult ReshapeLowering::requireEqualCounts() {
  if (!sourceExprs.empty()) {
    SizeProduct given(sourceExprs), wanted(resultExprs);
    if (given == wanted)
      return success();
    if (given.factors.empty() && wanted.factors.empty())
      return emitCodedError(loc, ErrorCode::InputInvalid,
                            "'tensor.reshape' changes the number of elements");
  }
  Value given = multiply(tensor::getMixedSizes(builder, loc, op.getSource()));
  Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      given, multiply(sizes));
  cf::AssertOp::create(builder, loc, equal,
                       "tensor.reshape keeps the number of elements");
  return success();
}

/// The type of `rank` dimensions of size 1.
static RankedTensorType getUnitType(int64_t rank, Type element) {
  return RankedTensorType::get(SmallVector<int64_t>(rank, 1), element);
}

Value ReshapeLowering::lowerToScalar() {
  Value units =
      castTo(op.getSource(),
             getUnitType(sourceType.getRank(), sourceType.getElementType()));
  if (sourceType.getRank() == 0)
    return units;
  return tensor::CollapseShapeOp::create(builder, loc, resultType, units,
                                         ArrayRef<ReassociationIndices>());
}

Value ReshapeLowering::lowerFromScalar() {
  auto units = getUnitType(resultType.getRank(), resultType.getElementType());
  Value expanded = tensor::ExpandShapeOp::create(
      builder, loc, units, op.getSource(), ArrayRef<ReassociationIndices>());
  return castTo(expanded, resultType);
}

FailureOr<Value> ReshapeLowering::lower() {
  if (failed(readSizes()))
    return failure();
  readSourceSizes();
  if (failed(requireEqualCounts()))
    return failure();
  if (resultType.getRank() == 0)
    return lowerToScalar();
  if (sourceType.getRank() == 0)
    return lowerFromScalar();

  SmallVector<ReassociationIndices> collapsed, expanded;
  SmallVector<int64_t> middle;
  for (ReshapeGroup &group : findGroups()) {
    int64_t size = 1;
    for (int64_t dim : group.result) {
      int64_t part = resultType.getDimSize(dim);
      size = ShapedType::isDynamic(part) || ShapedType::isDynamic(size)
                 ? ShapedType::kDynamic
                 : size * part;
    }
    middle.push_back(size);
    collapsed.push_back(std::move(group.source));
    expanded.push_back(std::move(group.result));
  }
  int64_t rank = middle.size();
  Value value = op.getSource();
  if (rank < sourceType.getRank())
    value = tensor::CollapseShapeOp::create(builder, loc, value, collapsed);
  value =
      castTo(value, RankedTensorType::get(middle, resultType.getElementType()));
  if (rank < resultType.getRank())
    value = tensor::ExpandShapeOp::create(builder, loc, resultType, value,
                                          expanded, sizes);
  return value;
}

FailureOr<Value> fusion::lowerReshape(tensor::ReshapeOp op,
                                      SymbolicShapes &shapes,
                                      OpBuilder &builder) {
  return ReshapeLowering(op, shapes, builder).lower();
}
