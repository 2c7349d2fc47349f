//===- ScatterToLoops.cpp - Scatters, one element after another -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements tensor.scatter for the reference: indices in row-major
// order, so that the last that names a place wins. Indices that name no place
// are ignored.
//
//===----------------------------------------------------------------------===//

#include "ScatterToLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct ScatterToLoops : OpRewritePattern<tensor::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ScatterOp op,
                                PatternRewriter &rewriter) const override;

private:
  /// `dest` with the element that the loops `at` are at: first those over
  /// indices, then those over dimensions that are not scattered.
  Value insertElement(OpBuilder &b, tensor::ScatterOp op, ValueRange at,
                      Value dest) const;
};
} // namespace

Value ScatterToLoops::insertElement(OpBuilder &b, tensor::ScatterOp op,
                                    ValueRange at, Value dest) const {
  Location loc = op.getLoc();
  int64_t numLoops =
      cast<RankedTensorType>(op.getIndices().getType()).getRank() - 1;
  auto sourceType = cast<RankedTensorType>(op.getSource().getType());
  int64_t rank = cast<RankedTensorType>(dest.getType()).getRank();
  bool keepsRank = sourceType.getRank() == numLoops + rank;
  SmallVector<Value> place, from(at.take_front(numLoops));
  ValueRange inner = at.drop_front(numLoops);
  Value isPlace = arith::ConstantIntOp::create(b, loc, 1, 1);
  for (int64_t dim = 0; dim < rank; ++dim) {
    const int64_t *scattered = llvm::find(op.getScatterDims(), dim);
    if (scattered == op.getScatterDims().end()) {
      place.push_back(inner.front());
      from.push_back(inner.front());
      inner = inner.drop_front();
      continue;
    }
    SmallVector<Value> which(at.take_front(numLoops));
    which.push_back(arith::ConstantIndexOp::create(
        b, loc, scattered - op.getScatterDims().begin()));
    Value index = tensor::ExtractOp::create(b, loc, op.getIndices(), which);
    if (!index.getType().isIndex())
      index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
    // As unsigned numbers, what is negative is too large.
    Value size = tensor::DimOp::create(b, loc, dest, dim);
    Value isBelow =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, size);
    isPlace = arith::AndIOp::create(b, loc, isPlace, isBelow);
    place.push_back(index);
    if (keepsRank)
      from.push_back(arith::ConstantIndexOp::create(b, loc, 0));
  }
  auto branch = scf::IfOp::create(
      b, loc, isPlace,
      [&](OpBuilder &then, Location) {
        Value element =
            tensor::ExtractOp::create(then, loc, op.getSource(), from);
        Value changed =
            tensor::InsertOp::create(then, loc, element, dest, place);
        scf::YieldOp::create(then, loc, changed);
      },
      [&](OpBuilder &otherwise, Location) {
        scf::YieldOp::create(otherwise, loc, dest);
      });
  return branch.getResult(0);
}

LogicalResult ScatterToLoops::matchAndRewrite(tensor::ScatterOp op,
                                              PatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  SmallVector<Value> ends;
  int64_t numLoops =
      cast<RankedTensorType>(op.getIndices().getType()).getRank() - 1;
  for (int64_t dim = 0; dim < numLoops; ++dim)
    ends.push_back(tensor::DimOp::create(rewriter, loc, op.getIndices(), dim));
  int64_t rank = cast<RankedTensorType>(op.getDest().getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(op.getScatterDims(), dim))
      ends.push_back(tensor::DimOp::create(rewriter, loc, op.getDest(), dim));
  SmallVector<Value> begins(ends.size(), zero), steps(ends.size(), one);
  scf::LoopNest nest = scf::buildLoopNest(
      rewriter, loc, begins, ends, steps, op.getDest(),
      [&](OpBuilder &b, Location, ValueRange at, ValueRange carried) {
        return scf::ValueVector{insertElement(b, op, at, carried.front())};
      });
  rewriter.replaceOp(op, nest.results);
  return success();
}

void fusion::populateScatterToLoops(RewritePatternSet &patterns) {
  patterns.add<ScatterToLoops>(patterns.getContext());
}
