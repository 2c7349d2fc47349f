//===- SplitContractions.cpp - Long sums of products in parts -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the split of products that contract several dimensions
// which do not lie side by side, as the gradient of a filter of one pixel does
// images and pixels with channels between them:
//
//   sum_np(x[n, c, p] y[n, k, p])  ==>  sum_g(sum_np(x[g, n, c, p] y[...]))
//
// Blocks share the chunks of a tile where one walk runs through all of them. Of
// loops in each other they share the inner one only, by eights: few results
// leave most of the chip idle. The parts of the outer loop are a batch.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/SplitContractions.h"

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Analysis/TensorCores.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

/// Parts at most: with the blocks that share each, they fill any chip.
static constexpr int64_t kMostParts = 32;

namespace {
/// A product, the loop that is divided and its parts.
struct DivisibleProduct {
  linalg::GenericOp op;
  unsigned loop = 0;
  int64_t parts = 1;
};
} // namespace

static int64_t countBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// The largest divisor of `size` up to kMostParts.
static int64_t getParts(int64_t size) {
  int64_t parts = std::min(size, kMostParts);
  while (size % parts != 0)
    --parts;
  return parts;
}

/// True when `op` has two factors, each with a loop for each dimension, and
/// begins with zeros; all of static shapes. Its results are not rounded more
/// than sums are.
static bool hasPlainForm(linalg::GenericOp op) {
  if (op.getNumReductionLoops() < 2 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      hasContract(op))
    return false;
  Value init = op.getDpsInits().front();
  auto fill = init.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs().front(), m_AnyZeroFloat()) &&
         getElementTypeOrSelf(init.getType()).getIntOrFloatBitWidth() >= 32 &&
         llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
           auto type = dyn_cast<RankedTensorType>(operand.get().getType());
           return type && type.hasStaticShape() &&
                  op.getMatchingIndexingMap(&operand).isProjectedPermutation();
         });
}

/// How `op` can be divided, if its parts are worth less memory than its
/// factors.
static std::optional<DivisibleProduct> findProduct(linalg::GenericOp op) {
  if (!hasPlainForm(op))
    return std::nullopt;
  std::optional<Contraction> sum = matchContraction(
      op, [](unsigned loop) { return loop; }, [](Value) { return true; });
  if (!sum || sum->grouped || !sum->batch.empty())
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  unsigned depth =
      getDepthDim(*sum, [&](unsigned loop) { return extents[loop]; });
  DivisibleProduct product{op};
  int64_t extent = 1;
  for (unsigned loop : sum->contracted)
    if (loop != depth && extents[loop] > extent) {
      product.loop = loop;
      extent = extents[loop];
    }
  product.parts = getParts(extent);
  // Each part is written and read again.
  int64_t moved = 2 * product.parts * countBytes(op.getResult(0));
  int64_t read =
      countBytes(op.getDpsInputs()[0]) + countBytes(op.getDpsInputs()[1]);
  if (product.parts == 1 || moved >= read)
    return std::nullopt;
  return product;
}

/// `tensor` with its dimension `dim` as `parts` and what is in one.
static Value buildParts(OpBuilder &builder, Location loc, Value tensor,
                        int64_t dim, int64_t parts) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= parts;
  shape.insert(shape.begin() + dim, parts);
  SmallVector<ReassociationIndices> groups;
  for (int64_t old = 0, next = 0; old < type.getRank(); ++old) {
    groups.push_back({next++});
    if (old == dim)
      groups.back().push_back(next++);
  }
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      groups);
}

/// The product with its parts as a batch: the first loop, and the first
/// dimension of the result.
static linalg::GenericOp buildBatch(OpBuilder &builder,
                                    const DivisibleProduct &product) {
  linalg::GenericOp op = product.op;
  Location loc = op.getLoc();
  unsigned numLoops = op.getNumLoops() + 1;
  AffineExpr part = builder.getAffineDimExpr(0);
  auto buildMap = [&](AffineMap map, std::optional<unsigned> place) {
    SmallVector<AffineExpr> coords;
    for (AffineExpr coord : map.getResults())
      coords.push_back(coord.shiftDims(op.getNumLoops(), 1));
    if (place)
      coords.insert(coords.begin() + *place, part);
    return AffineMap::get(numLoops, 0, coords, builder.getContext());
  };
  SmallVector<Value> factors;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    unsigned place =
        *map.getResultPosition(builder.getAffineDimExpr(product.loop));
    factors.push_back(
        buildParts(builder, loc, input->get(), place, product.parts));
    maps.push_back(buildMap(map, place));
  }
  maps.push_back(buildMap(op.getMatchingIndexingMap(op.getDpsInitOperand(0)),
                          /*place=*/0));
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), product.parts);
  auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  Value init =
      linalg::FillOp::create(builder, loc, fill.getInputs().front(), empty)
          .getResult(0);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.insert(kinds.begin(), utils::IteratorType::parallel);
  auto batch = linalg::GenericOp::create(builder, loc, init.getType(), factors,
                                         init, maps, kinds);
  IRMapping mapping;
  op.getRegion().cloneInto(&batch.getRegion(), mapping);
  batch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return batch;
}

/// Divides `product`, which is erased, and returns what gives the parts.
static Operation *divideProduct(const DivisibleProduct &product) {
  linalg::GenericOp op = product.op;
  OpBuilder builder(op);
  linalg::GenericOp batch = buildBatch(builder, product);
  unsigned rank = cast<RankedTensorType>(op.getResult(0).getType()).getRank();
  AffineMap in = builder.getMultiDimIdentityMap(rank + 1);
  SmallVector<utils::IteratorType> kinds(rank + 1,
                                         utils::IteratorType::parallel);
  kinds.front() = utils::IteratorType::reduction;
  auto sum = linalg::GenericOp::create(
      builder, op.getLoc(), op.getResultTypes(), batch.getResult(0),
      op.getDpsInits(), ArrayRef<AffineMap>{in, in.dropResult(0)}, kinds,
      [](OpBuilder &b, Location loc, ValueRange arguments) {
        Value added = arith::AddFOp::create(b, loc, arguments[0], arguments[1]);
        linalg::YieldOp::create(b, loc, added);
      });
  op->replaceAllUsesWith(sum);
  op.erase();
  return batch;
}

/// True when warpgroups make the product `op`.
static bool isOfWarpgroups(Operation *op, const ComputeGraph &graph,
                           const FusionPlan &plan) {
  for (auto [kernel, facts] :
       llvm::zip_equal(plan.kernels, plan.ledger.kernels))
    for (unsigned node : kernel.nodes)
      if (graph.getNode(node).op == op)
        return facts.products == "wgmma";
  return false;
}

PricedRewrite mlir::fusion::getPartsRewrite(const TargetInfo &target) {
  PricedRewrite rewrite;
  rewrite.find = [](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (auto op : func.getFunctionBody().front().getOps<linalg::GenericOp>())
      if (std::optional<DivisibleProduct> product = findProduct(op))
        matches.push_back({"parts", getOpLabel(op, NodeKind::Contraction), op,
                           [product]() { return divideProduct(*product); }});
    return matches;
  };
  // Factors that tensor copies cannot take are to be laid out anew instead.
  if (target.hasWarpgroups)
    rewrite.isServed = isOfWarpgroups;
  rewrite.reason = ReasonCode::SumOfParts;
  return rewrite;
}
