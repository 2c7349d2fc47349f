//===- SplitContractions.cpp - Long sums of products in parts -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements split-K as a rewrite of products of few results, as
// gradients of filters contract images and pixels:
//
//   sum_np(x[n, c, p] y[n, k, p])  ==>  sum_g(sum_np(x[g, n, c, p] y[...]))
//
// Blocks of a kernel share the chunks of a tile where one walk runs through all
// of them. Of loops in each other they share the inner one only, by eights, and
// the owner of a tile adds up what all others have: few results leave most of
// the chip idle. The parts are a batch.
//
// Of factors that tensor copies take, one dimension is divided. Others, such as
// windows of few channels, are read element by element in a walk that waits for
// each step, and that no other block shares: whole dimensions become a batch,
// and parts of the innermost where those are too few.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/SplitContractions.h"

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Analysis/TensorCores.h"
#include "fusion/FusionPlanning/RepackOperands.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

/// What a tile of tensor cores contracts at once.
static constexpr int64_t kLeastDepth = 16;

namespace {
/// A product, the loops of which all steps become a batch, and one of which so
/// many parts do.
struct DivisibleProduct {
  linalg::GenericOp op;
  SmallVector<unsigned> whole;
  unsigned divided = 0;
  int64_t parts = 1;

  explicit DivisibleProduct(linalg::GenericOp op) : op(op) {}
};
} // namespace

//===----------------------------------------------------------------------===//
// Which products
//===----------------------------------------------------------------------===//

static int64_t countBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

static int64_t countFactorBytes(linalg::GenericOp op) {
  return countBytes(op.getDpsInputs()[0]) + countBytes(op.getDpsInputs()[1]);
}

static int64_t countResults(linalg::GenericOp op) {
  return cast<RankedTensorType>(op.getResult(0).getType()).getNumElements();
}

static int64_t countTiles(linalg::GenericOp op, const SplitConstants &splits) {
  return llvm::divideCeil(countResults(op), splits.tileResults);
}

/// The largest divisor of `size` up to `most`.
static int64_t getParts(int64_t size, int64_t most) {
  int64_t parts = std::min(size, most);
  while (size % parts != 0)
    --parts;
  return parts;
}

/// What `op` contracts, if it is a product of two factors without a batch and
/// of static shapes with elements, whose sums nothing rounds and which begin
/// with zeros.
static std::optional<Contraction> matchProduct(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      op.hasDynamicShape() || hasContract(op) ||
      llvm::is_contained(op.getStaticLoopRanges(), 0))
    return std::nullopt;
  auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  if (!fill || !matchPattern(fill.getInputs().front(), m_AnyZeroFloat()) ||
      type.getElementTypeBitWidth() < 32)
    return std::nullopt;
  std::optional<Contraction> sum = matchContraction(
      op, [](unsigned loop) { return loop; }, [](Value) { return true; });
  if (sum && (sum->grouped || !sum->batch.empty()))
    return std::nullopt;
  return sum;
}

/// True when `loop` of `op` is a dimension of each factor that is read along
/// it.
static bool isDimension(linalg::GenericOp op, unsigned loop) {
  AffineExpr dim = getAffineDimExpr(loop, op.getContext());
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return llvm::all_of(op.getMatchingIndexingMap(input).getResults(),
                        [&](AffineExpr coord) {
                          return coord == dim || !coord.isFunctionOfDim(loop);
                        });
  });
}

/// How one dimension of `op`, which contracts `sum`, can be divided, if its
/// parts are worth less memory than its factors.
static std::optional<DivisibleProduct> findParts(linalg::GenericOp op,
                                                 const Contraction &sum,
                                                 const TargetInfo &target) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (!llvm::all_of(llvm::seq<unsigned>(0, extents.size()),
                    [&](unsigned loop) { return isDimension(op, loop); }))
    return std::nullopt;
  unsigned depth = getDepthLoop(sum);
  unsigned widest = depth;
  int64_t extent = sum.contracted.size() == 1 ? extents[depth] : 1;
  for (unsigned loop : sum.contracted)
    if (loop != depth && extents[loop] > extent) {
      widest = loop;
      extent = extents[loop];
    }
  const SplitConstants &splits = target.fitted.splits;
  int64_t most = std::max(splits.parts, target.numSMs / countTiles(op, splits));
  DivisibleProduct product(op);
  product.divided = widest;
  product.parts = getParts(extent, most);
  // Each part is written and read again.
  int64_t moved = 2 * product.parts * countBytes(op.getResult(0));
  if (product.parts == 1 || moved >= countFactorBytes(op))
    return std::nullopt;
  return product;
}

/// In how many parts, up to `most`, `loop` of `size` steps is divided: as many
/// as divide it, or the last ends in zeros where the others would be much
/// longer. Of a reduction no copies are cut by zeros.
static int64_t getFilledParts(linalg::GenericOp op, unsigned loop, int64_t size,
                              int64_t most) {
  int64_t parts = getParts(size, most);
  if (2 * parts > most || !isContraction(op) || !isDimension(op, loop))
    return parts;
  return llvm::divideCeil(size, llvm::divideCeil(size, most));
}

/// The contracted loops of `op`, those first along which neighbours lie
/// furthest apart in an operand that has them all without windows.
static SmallVector<unsigned> orderContracted(linalg::GenericOp op) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    auto placeOf = [&](unsigned loop) {
      return map.getResultPosition(getAffineDimExpr(loop, op.getContext()));
    };
    if (map.isProjectedPermutation() &&
        llvm::all_of(loops, [&](unsigned loop) { return placeOf(loop); })) {
      llvm::stable_sort(loops, [&](unsigned a, unsigned b) {
        return *placeOf(a) < *placeOf(b);
      });
      break;
    }
  }
  return loops;
}

/// True when some layout of its factors gives the product `sum` to warpgroups:
/// these multiply no f32 as they are.
static bool canBeOfWarpgroups(const Contraction &sum,
                              const TargetInfo &target) {
  return target.hasWarpgroups &&
         (sum.tf32 || llvm::all_of(sum.operands, [](const auto &operand) {
            return !operand.element.isF32();
          }));
}

/// True when single warps multiply the factors of `op`, which makes `sum`, in
/// the time in which these are read: warpgroups would be no faster, and where
/// they need factors in another layout, slower.
static bool isReadBound(linalg::GenericOp op, const Contraction &sum,
                        const TargetInfo &target) {
  // Tiles of a side have so many elements at least.
  constexpr int64_t kLeastSide = 16;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto count = [&](ArrayRef<unsigned> loops) {
    int64_t product = 1;
    for (unsigned loop : loops)
      product *= sizes[loop];
    return product;
  };
  double products = 2.0 * count(sum.contracted);
  for (unsigned side = 0; side < 2; ++side)
    products *=
        static_cast<double>(llvm::alignTo(count(sum.getOwn(side)), kLeastSide));
  const RateConstants &rates = target.fitted.rates;
  double rate =
      rates.tensorFlopsPerSecond * rates.warpProductShare *
      getWarpShare(sum, sizes[getDepthLoop(sum)], /*hasRuns=*/true, target);
  auto bytes = static_cast<double>(countFactorBytes(op));
  return products / rate <= bytes / rates.dramBytesPerSecond;
}

/// The dimensions whose elements give `target` enough blocks, with parts of the
/// last of them, if the results of `op`, which makes `sum`, are too few for
/// that.
static std::optional<DivisibleProduct> findDimensions(linalg::GenericOp op,
                                                      const Contraction &sum,
                                                      const TargetInfo &target,
                                                      bool beforeLayouts) {
  const SplitConstants &splits = target.fitted.splits;
  if (beforeLayouts && countResults(op) > splits.mostResults &&
      canBeOfWarpgroups(sum, target) && !isReadBound(op, sum, target))
    return std::nullopt;
  int64_t blocks = countTiles(op, splits);
  int64_t enough = splits.blocksPerSM * target.numSMs;
  if (blocks > splits.busyShare * target.numSMs)
    return std::nullopt;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> contracted = orderContracted(op);
  int64_t depth = 1;
  for (unsigned loop : contracted)
    depth *= sizes[loop];
  DivisibleProduct product(op);
  for (unsigned loop : contracted) {
    if (blocks >= enough)
      break;
    int64_t size = sizes[loop];
    depth /= size;
    // No more than are enough: each is written and read again.
    int64_t most = std::min<int64_t>(llvm::divideCeil(enough, blocks),
                                     size * depth / splits.leastPart);
    int64_t parts = getFilledParts(op, loop, size, std::max<int64_t>(most, 1));
    if (depth < kLeastDepth || (size > 2 * most && 2 * parts > most)) {
      product.divided = loop;
      product.parts = parts;
      break;
    }
    blocks *= size;
    product.whole.push_back(loop);
  }
  if (product.whole.empty() && product.parts == 1)
    return std::nullopt;
  return product;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

/// `tensor` with its dimension `dim` as `parts` and what is in one; zeros fill
/// the last.
static Value buildParts(OpBuilder &builder, Location loc, Value tensor,
                        int64_t dim, int64_t parts) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t size = llvm::divideCeil(shape[dim], parts);
  shape[dim] = parts * size;
  tensor = buildPadded(builder, loc, tensor, shape);
  shape[dim] = size;
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

/// What `op` computes, of `inputs` and beginning with `init`; the last of
/// `maps` is that of `init`.
static linalg::GenericOp rebuild(OpBuilder &builder, linalg::GenericOp op,
                                 ValueRange inputs, Value init,
                                 ArrayRef<AffineMap> maps,
                                 ArrayRef<utils::IteratorType> kinds) {
  auto result = linalg::GenericOp::create(builder, op.getLoc(), init.getType(),
                                          inputs, init, maps, kinds);
  IRMapping mapping;
  op.getRegion().cloneInto(&result.getRegion(), mapping);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return result;
}

/// Divides `loop` of `op`, which is erased: its parts are the first loop then.
/// Where it is a dimension of a factor, so are they.
static linalg::GenericOp divideLoop(OpBuilder &builder, linalg::GenericOp op,
                                    unsigned loop, int64_t parts) {
  AffineExpr part = builder.getAffineDimExpr(0);
  AffineExpr inPart = builder.getAffineDimExpr(loop + 1);
  int64_t size = llvm::divideCeil(op.getStaticLoopRanges()[loop], parts);
  SmallVector<Value> factors;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Value tensor = operand.get();
    SmallVector<AffineExpr> coords;
    for (AffineExpr coord : map.getResults()) {
      AffineExpr shifted = coord.shiftDims(op.getNumLoops(), 1);
      if (shifted == inPart) {
        tensor = buildParts(builder, op.getLoc(), tensor, coords.size(), parts);
        coords.push_back(part);
      } else {
        shifted = shifted.replace(inPart, part * size + inPart);
      }
      coords.push_back(shifted);
    }
    if (op.isDpsInput(&operand))
      factors.push_back(tensor);
    maps.push_back(
        AffineMap::get(op.getNumLoops() + 1, 0, coords, builder.getContext()));
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.insert(kinds.begin(), utils::IteratorType::reduction);
  linalg::GenericOp divided =
      rebuild(builder, op, factors, op.getDpsInits().front(), maps, kinds);
  op->replaceAllUsesWith(divided);
  op.erase();
  return divided;
}

/// The results of `op` along loops that a factor with windows has beside them:
/// channels.
static int64_t countBesideWindows(linalg::GenericOp op,
                                  ArrayRef<unsigned> loops) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t most = 1;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.isProjectedPermutation())
      continue;
    int64_t own = 1;
    for (unsigned loop : loops)
      own *=
          map.isFunctionOfDim(loop) && isDimension(op, loop) ? sizes[loop] : 1;
    most = std::max(most, own);
  }
  return most;
}

/// The loops of the result of `op`, those first along which windows lie: tiles
/// have the last, and few elements of a filter would leave them empty. So would
/// channels that fill less than half of what a tile has at least.
static SmallVector<unsigned> orderResult(linalg::GenericOp op) {
  constexpr int64_t kFewChannels = kLeastDepth / 2;
  SmallVector<unsigned> loops;
  for (AffineExpr coord : op.getIndexingMapsArray().back().getResults())
    loops.push_back(cast<AffineDimExpr>(coord).getPosition());
  if (countBesideWindows(op, loops) < kFewChannels)
    return loops;
  llvm::stable_sort(loops, [&](unsigned a, unsigned b) {
    return !isDimension(op, a) && isDimension(op, b);
  });
  return loops;
}

/// `op` with contracted `loops` as a batch, in the first dimensions of its
/// result.
static linalg::GenericOp buildBatch(OpBuilder &builder, linalg::GenericOp op,
                                    ArrayRef<unsigned> loops) {
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<unsigned> order(loops);
  llvm::append_range(order, orderResult(op));
  SmallVector<AffineExpr> coords;
  SmallVector<int64_t> shape;
  for (unsigned loop : order) {
    kinds[loop] = utils::IteratorType::parallel;
    coords.push_back(builder.getAffineDimExpr(loop));
    shape.push_back(sizes[loop]);
  }
  maps.back() =
      AffineMap::get(op.getNumLoops(), 0, coords, builder.getContext());
  auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  Value empty = tensor::EmptyOp::create(builder, op.getLoc(), shape,
                                        type.getElementType());
  Value init = linalg::FillOp::create(builder, op.getLoc(),
                                      fill.getInputs().front(), empty)
                   .getResult(0);
  return rebuild(builder, op, op.getDpsInputs(), init, maps, kinds);
}

/// Makes a batch of `product`, which is erased, and their sum; returns what
/// gives the parts.
static Operation *divideProduct(const DivisibleProduct &product) {
  linalg::GenericOp op = product.op;
  OpBuilder builder(op);
  SmallVector<unsigned> loops = product.whole;
  if (product.parts > 1) {
    op = divideLoop(builder, op, product.divided, product.parts);
    builder.setInsertionPoint(op);
    for (unsigned &loop : loops)
      ++loop;
    loops.push_back(0);
  }
  linalg::GenericOp batch = buildBatch(builder, op, loops);
  unsigned rank =
      cast<RankedTensorType>(batch.getResult(0).getType()).getRank();
  AffineMap in = builder.getMultiDimIdentityMap(rank);
  AffineMap ofBatch = batch.getIndexingMapsArray().back();
  SmallVector<unsigned> places;
  for (AffineExpr coord : op.getIndexingMapsArray().back().getResults())
    places.push_back(*ofBatch.getResultPosition(coord));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  std::fill_n(kinds.begin(), loops.size(), utils::IteratorType::reduction);
  auto sum = linalg::GenericOp::create(
      builder, op.getLoc(), op.getResultTypes(), batch.getResult(0),
      op.getDpsInits(), ArrayRef<AffineMap>{in, in.getSubMap(places)}, kinds,
      [](OpBuilder &b, Location loc, ValueRange arguments) {
        Value added = arith::AddFOp::create(b, loc, arguments[0], arguments[1]);
        linalg::YieldOp::create(b, loc, added);
      });
  op->replaceAllUsesWith(sum);
  op.erase();
  return batch;
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

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

/// How a product with what it contracts is divided, if it is.
using FindDivision = std::function<std::optional<DivisibleProduct>(
    linalg::GenericOp, const Contraction &)>;

/// Divides the products that `findDivision` says how to.
static PricedRewrite getRewrite(FindDivision findDivision) {
  PricedRewrite rewrite;
  rewrite.find = [findDivision](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (auto op : func.getFunctionBody().front().getOps<linalg::GenericOp>()) {
      std::optional<Contraction> sum = matchProduct(op);
      std::optional<DivisibleProduct> product;
      if (sum)
        product = findDivision(op, *sum);
      if (product)
        matches.push_back({"parts", getOpLabel(op, NodeKind::Contraction), op,
                           [product]() { return divideProduct(*product); }});
    }
    return matches;
  };
  rewrite.reason = ReasonCode::SumOfParts;
  return rewrite;
}

PricedRewrite mlir::fusion::getPartsRewrite(const TargetInfo &target) {
  PricedRewrite rewrite =
      getRewrite([&target](linalg::GenericOp op, const Contraction &sum) {
        return findParts(op, sum, target);
      });
  // Factors that tensor copies cannot take are to be laid out anew instead.
  if (target.hasWarpgroups)
    rewrite.isServed = isOfWarpgroups;
  return rewrite;
}

PricedRewrite mlir::fusion::getDimensionsRewrite(const TargetInfo &target,
                                                 bool beforeLayouts) {
  PricedRewrite rewrite = getRewrite(
      [&target, beforeLayouts](linalg::GenericOp op, const Contraction &sum) {
        return findDimensions(op, sum, target, beforeLayouts);
      });
  rewrite.mostTime = target.fitted.kernels.finishedShare;
  // Where warpgroups make it, blocks share a walk through all dimensions.
  rewrite.isWanted = [](Operation *op, const ComputeGraph &graph,
                        const FusionPlan &plan) {
    return !isOfWarpgroups(op, graph, plan);
  };
  return rewrite;
}
