//===- JoinHalves.cpp - Exchanged halves as one operation -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rewriting of a concatenation of both halves of one
// tensor in the other order, each perhaps negated, as rotary embeddings are
// often written, into one operation that reads each element's partner:
//
//   concat(neg(x[h:]), x[:h])  ==>  i < h ? -x[i xor h] : x[i xor h]
//
// Behind a product only, whose tiles have both: elsewhere slices and
// concatenations are coordinates of loads.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A half of a tensor.
struct Half {
  Value tensor;
  int64_t offset = 0;
  bool isNegated = false;
};
} // namespace

/// Operations looked at on the way back to a product.
static constexpr unsigned kMaxVisited = 64;

/// True when `value` is computed from a contraction by pointwise operations and
/// views.
static bool comesFromProduct(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty() && seen.size() < kMaxVisited) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && linalgOp.getNumReductionLoops() > 0) {
      if (linalgOp.getNumDpsInputs() > 1)
        return true;
    } else if (linalgOp) {
      llvm::append_range(worklist, linalgOp.getDpsInputs());
    } else if (isViewOp(op)) {
      worklist.push_back(op->getOperand(0));
    }
  }
  return false;
}

/// The operand of an operation that negates its elements, or null.
static Value getNegated(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || op->getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      op.getNumDpsInputs() != 1 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  auto neg = yielded.getDefiningOp<arith::NegFOp>();
  if (!neg || neg.getOperand() != op.getBlock()->getArgument(0))
    return {};
  return op.getDpsInputOperand(0)->get();
}

/// `value` as a half, along `dim`, of a tensor of type `whole`.
static std::optional<Half> matchHalf(Value value, int64_t dim,
                                     RankedTensorType whole) {
  Half half;
  if (Value negated = getNegated(value)) {
    if (hasContract(value.getDefiningOp()))
      return std::nullopt;
    half.isNegated = true;
    value = negated;
  }
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || hasContract(slice) || slice.getSourceType() != whole ||
      slice.getType().getRank() != whole.getRank() || !slice.hasUnitStride())
    return std::nullopt;
  for (int64_t i = 0; i < whole.getRank(); ++i) {
    std::optional<int64_t> offset =
        getConstantIntValue(slice.getMixedOffsets()[i]);
    int64_t size = i == dim ? whole.getDimSize(i) / 2 : whole.getDimSize(i);
    if (!offset || slice.getType().getDimSize(i) != size ||
        (i == dim ? *offset % size : *offset) != 0)
      return std::nullopt;
    if (i == dim)
      half.offset = *offset;
  }
  half.tensor = slice.getSource();
  return half;
}

static void joinHalves(tensor::ConcatOp concat) {
  auto type = concat.getResultType();
  int64_t dim = concat.getDim();
  if (concat.getInputs().size() != 2 || hasContract(concat) ||
      !type.hasStaticShape() || !llvm::isPowerOf2_64(type.getDimSize(dim)) ||
      type.getDimSize(dim) < 2)
    return;
  int64_t size = type.getDimSize(dim) / 2;
  std::optional<Half> first = matchHalf(concat.getInputs()[0], dim, type);
  std::optional<Half> second = matchHalf(concat.getInputs()[1], dim, type);
  if (!first || !second || first->tensor != second->tensor ||
      first->offset != size || second->offset != 0 ||
      !comesFromProduct(first->tensor))
    return;
  OpBuilder builder(concat);
  Location loc = concat.getLoc();
  Value out = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                      type.getElementType());
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  // The tensor is an operand as well, so that its dimensions are the loops'.
  auto op = linalg::GenericOp::create(
      builder, loc, TypeRange(type), ValueRange(first->tensor), ValueRange(out),
      maps, loops, [&](OpBuilder &b, Location at, ValueRange) {
        SmallVector<Value> indices;
        for (int64_t i = 0; i < type.getRank(); ++i)
          indices.push_back(linalg::IndexOp::create(b, at, i));
        Value half = arith::ConstantIndexOp::create(b, at, size);
        Value isFirst = arith::CmpIOp::create(b, at, arith::CmpIPredicate::slt,
                                              indices[dim], half);
        indices[dim] = arith::XOrIOp::create(b, at, indices[dim], half);
        Value partner =
            tensor::ExtractOp::create(b, at, first->tensor, indices);
        auto sign = [&](const Half &part) -> Value {
          return part.isNegated
                     ? arith::NegFOp::create(b, at, partner).getResult()
                     : partner;
        };
        Value low = sign(*first), high = sign(*second);
        linalg::YieldOp::create(
            b, at,
            arith::SelectOp::create(b, at, isFirst, low, high).getResult());
      });
  concat.replaceAllUsesWith(op->getResult(0));
  concat.erase();
}

void mlir::fusion::joinExchangedHalves(FunctionOpInterface func) {
  SmallVector<tensor::ConcatOp> concats;
  func.walk([&](tensor::ConcatOp concat) { concats.push_back(concat); });
  for (tensor::ConcatOp concat : concats)
    joinHalves(concat);
}
