//===- SplitReductions.cpp - Reductions begun by products' tiles ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements splitting reductions of products' results.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/SplitReductions.h"

#include "ProductResults.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Columns that a thread of a warpgroup has a quarter of, the epilogue's chunk:
/// two exchanges between neighbouring lanes finish them. Rows that one warp
/// holds: reducing more would make warps wait for each other.
static constexpr int64_t kColumnGranule = kEpilogueChunk, kRowGranule = 16;

//===----------------------------------------------------------------------===//
// Sums of exponentials
//===----------------------------------------------------------------------===//

namespace {
/// A scalar of an operation's body.
struct Place {
  linalg::LinalgOp op;
  Value value;

  /// The operand that the value is an element of, if it is one.
  OpOperand *getOperand() {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != op.getBlock() ||
        argument.getArgNumber() >= op.getNumDpsInputs())
      return nullptr;
    return op.getDpsInputOperand(argument.getArgNumber());
  }
};
} // namespace

/// Follows a scalar through elementwise operations to where it is computed.
static Place resolve(Place place) {
  while (OpOperand *operand = place.getOperand()) {
    auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
    if (!isElementwise(producer) ||
        !place.op.getMatchingIndexingMap(operand).isIdentity())
      break;
    place = {producer, producer.getBlock()->getTerminator()->getOperand(0)};
  }
  return place;
}

/// The maximum along `loop` that the exponentials that `sum` adds up are
/// relative to: exp(x - max x).
static linalg::LinalgOp findMaximum(linalg::LinalgOp sum, unsigned loop) {
  Combiner combiner = matchCombiner(sum, 0);
  if (sum->getNumResults() != 1 || !isa<arith::AddFOp>(combiner.op) ||
      !combiner.type.isF32() || sum.getNumReductionLoops() != 1)
    return nullptr;
  Place place = resolve({sum, combiner.element});
  auto exp = place.value.getDefiningOp<math::ExpOp>();
  if (!exp)
    return nullptr;
  place = resolve({place.op, exp.getOperand()});
  auto difference = place.value.getDefiningOp<arith::SubFOp>();
  if (!difference)
    return nullptr;
  place = resolve({place.op, difference.getRhs()});
  OpOperand *operand = place.getOperand();
  auto maximum =
      operand ? operand->get().getDefiningOp<linalg::LinalgOp>() : nullptr;
  if (!maximum || maximum->getNumResults() != 1 ||
      maximum.getNumReductionLoops() != 1 ||
      maximum.getNumLoops() != sum.getNumLoops() ||
      place.op.getNumLoops() != sum.getNumLoops() ||
      place.op.getMatchingIndexingMap(operand) !=
          maximum.getMatchingIndexingMap(maximum.getDpsInitOperand(0)) ||
      !isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(
          matchCombiner(maximum, 0).op))
    return nullptr;
  return maximum;
}

//===----------------------------------------------------------------------===//
// Which reductions
//===----------------------------------------------------------------------===//

bool mlir::fusion::isUngroupedReduction(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 && !isContraction(op) &&
         !matchGranules(op) && !matchGroupedSum(op);
}

bool mlir::fusion::isDivisible(linalg::LinalgOp op) {
  // Positions in a part are not those in the dimension.
  if (!op.hasPureTensorSemantics() || op.hasIndexSemantics() ||
      hasContract(op) || matchGranules(op) ||
      llvm::any_of(op.getIndexingMapsArray(),
                   [](AffineMap map) { return !map.isProjectedPermutation(); }))
    return false;
  return llvm::all_of(
      llvm::seq<int64_t>(0, op.getNumDpsInits()), [&](int64_t i) {
        Combiner combiner = matchCombiner(op, i);
        return combiner.op &&
               combiner.type ==
                   getElementTypeOrSelf(op.getDpsInitOperand(i)->get());
      });
}

std::optional<SplittableReduction>
mlir::fusion::findSplittableReduction(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || !isDivisible(op) || isProduct(op))
    return std::nullopt;
  SplittableReduction result{op};
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  result.loop = loops.back();
  result.granule = kRowGranule;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (result.product || !map.isFunctionOfDim(result.loop))
      continue;
    result.product = findProduct(input->get());
    if (result.product && map.getResults().back().isFunctionOfDim(result.loop))
      result.granule = kColumnGranule;
  }
  int64_t extent = op.getStaticLoopRanges()[result.loop];
  if (!result.product || ShapedType::isDynamic(extent) ||
      extent <= result.granule || !getLoopSizes(op))
    return std::nullopt;
  // Of several reduced loops the others become dimensions of the first part.
  for (unsigned loop : loops)
    if (ShapedType::isDynamic(op.getStaticLoopRanges()[loop]))
      return std::nullopt;
  if (linalg::LinalgOp maximum = findMaximum(op, result.loop)) {
    auto own = findSplittableReduction(maximum);
    if (own && own->loop == result.loop && own->granule == result.granule)
      result.maximum = maximum;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

/// Combines the elements of `parts` further into what `op` starts from.
static Value buildFinish(OpBuilder &builder, linalg::LinalgOp op,
                         ValueRange parts) {
  SmallVector<AffineMap> maps(parts.size(),
                              builder.getMultiDimIdentityMap(op.getNumLoops()));
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  auto finish = linalg::GenericOp::create(
      builder, op.getLoc(), op->getResultTypes(), parts, op.getDpsInits(), maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        SmallVector<Value> yielded;
        for (unsigned i = 0; i < parts.size(); ++i) {
          Operation *like = matchCombiner(op, i).op;
          yielded.push_back(combineValues(
              b, loc, like, arguments[parts.size() + i], arguments[i]));
        }
        linalg::YieldOp::create(b, loc, yielded);
      });
  op->replaceAllUsesWith(finish);
  return finish.getResult(0);
}

/// The map of the first part's results.
static AffineMap getPartMap(const SplittableReduction &reduction) {
  linalg::LinalgOp op = reduction.op;
  Builder builder(op.getContext());
  SmallVector<AffineExpr> coords;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    coords.push_back(builder.getAffineDimExpr(loop));
  coords[reduction.loop] = coords[reduction.loop].floorDiv(reduction.granule);
  return AffineMap::get(op.getNumLoops(), 0, coords, op.getContext());
}

namespace {
/// What an operation reads instead of its inputs.
struct NewInputs {
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  /// Those that are maxima that exponents are relative to.
  SmallVector<unsigned> shifts;
};
} // namespace

static NewInputs getInputs(linalg::LinalgOp op) {
  NewInputs inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    inputs.tensors.push_back(input->get());
    inputs.maps.push_back(op.getMatchingIndexingMap(input));
  }
  return inputs;
}

/// A maximum that exponents are relative to: where it is minus infinity, the
/// least finite number, from which minus infinity differs by itself.
static Value buildShift(OpBuilder &builder, Location loc, Value maximum) {
  APFloat least = APFloat::getLargest(APFloat::IEEEsingle(), /*Negative=*/true);
  Value bound = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(builder.getF32Type(), least));
  return arith::MaximumFOp::create(builder, loc, maximum, bound);
}

/// Gives `generic` the body of `op`, with its new inputs.
static void cloneBody(linalg::GenericOp generic, linalg::LinalgOp op,
                      const NewInputs &inputs) {
  IRMapping mapping;
  op->getRegion(0).cloneInto(&generic.getRegion(), mapping);
  OpBuilder builder = OpBuilder::atBlockBegin(generic.getBody());
  for (unsigned shift : inputs.shifts) {
    Value argument = generic.getBody()->getArgument(shift);
    Value bounded = buildShift(builder, op.getLoc(), argument);
    argument.replaceAllUsesExcept(bounded, bounded.getDefiningOp());
  }
}

/// Builds the first part, of `inputs`.
static linalg::GenericOp buildParts(OpBuilder &builder,
                                    const SplittableReduction &reduction,
                                    const NewInputs &inputs) {
  linalg::LinalgOp op = reduction.op;
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = *getLoopSizes(op);
  int64_t extent = op.getStaticLoopRanges()[reduction.loop];
  sizes[reduction.loop] =
      builder.getIndexAttr(llvm::divideCeil(extent, reduction.granule));

  SmallVector<AffineMap> maps = inputs.maps;
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    maps.push_back(getPartMap(reduction));
    TypedAttr neutral = matchCombiner(op, i).neutral;
    Value identity = arith::ConstantOp::create(builder, loc, neutral);
    Value empty =
        tensor::EmptyOp::create(builder, loc, sizes, neutral.getType());
    inits.push_back(
        linalg::FillOp::create(builder, loc, identity, empty).getResult(0));
    types.push_back(inits.back().getType());
  }
  SmallVector<utils::IteratorType> kinds(op.getNumLoops(),
                                         utils::IteratorType::parallel);
  kinds[reduction.loop] = utils::IteratorType::reduction;
  auto parts = linalg::GenericOp::create(builder, loc, types, inputs.tensors,
                                         inits, maps, kinds);
  cloneBody(parts, op, inputs);
  return parts;
}

namespace {
/// Makes what depends on a maximum relative to `maxima` instead.
class MaximumReplacer {
public:
  MaximumReplacer(OpBuilder &builder, Value maximum, Value maxima,
                  AffineMap map)
      : builder(builder), maximum(maximum), maxima(maxima), map(map) {}

  NewInputs replaceInputs(linalg::LinalgOp op);

private:
  /// `tensor` itself when it does not depend on the maximum.
  Value replace(Value tensor);

  OpBuilder &builder;
  Value maximum, maxima;
  AffineMap map;
  DenseMap<Value, Value> replaced;
};
} // namespace

NewInputs MaximumReplacer::replaceInputs(linalg::LinalgOp op) {
  NewInputs inputs = getInputs(op);
  for (unsigned i = 0; i < inputs.tensors.size(); ++i) {
    if (inputs.tensors[i] != maximum) {
      inputs.tensors[i] = replace(inputs.tensors[i]);
      continue;
    }
    inputs.tensors[i] = maxima;
    inputs.maps[i] = map;
    inputs.shifts.push_back(i);
  }
  return inputs;
}

Value MaximumReplacer::replace(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  if (!op || op.getNumReductionLoops() != 0)
    return tensor;
  if (Value known = replaced.lookup(tensor))
    return known;
  NewInputs inputs = replaceInputs(op);
  Value result = tensor;
  if (inputs.tensors != getInputs(op).tensors) {
    SmallVector<AffineMap> maps = inputs.maps;
    for (OpOperand &init : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&init));
    auto generic = linalg::GenericOp::create(
        builder, op.getLoc(), op->getResultTypes(), inputs.tensors,
        op.getDpsInits(), maps, op.getIteratorTypesArray());
    cloneBody(generic, op, inputs);
    result = generic.getResult(cast<OpResult>(tensor).getResultNumber());
  }
  return replaced[tensor] = result;
}

/// Adds up the sums of granules, brought from their maxima to that of the row.
static void buildShiftedFinish(OpBuilder &builder, linalg::LinalgOp sum,
                               Value parts, Value maxima, Value maximum) {
  AffineMap identity = builder.getMultiDimIdentityMap(sum.getNumLoops());
  AffineMap row = sum.getMatchingIndexingMap(sum.getDpsInitOperand(0));
  auto finish = linalg::GenericOp::create(
      builder, sum.getLoc(), sum->getResultTypes(),
      ValueRange{parts, maxima, maximum}, sum.getDpsInits(),
      ArrayRef<AffineMap>{identity, identity, row, row},
      sum.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        Value shift = buildShift(b, loc, arguments[1]);
        Value change = arith::SubFOp::create(b, loc, shift, arguments[2]);
        Value factor = math::ExpOp::create(b, loc, change);
        Value part = arith::MulFOp::create(b, loc, arguments[0], factor);
        Value total = arith::AddFOp::create(b, loc, arguments[3], part);
        linalg::YieldOp::create(b, loc, total);
      });
  sum->replaceAllUsesWith(finish);
}

linalg::GenericOp
mlir::fusion::splitReduction(const SplittableReduction &reduction) {
  linalg::LinalgOp op = reduction.op;
  OpBuilder builder(op);
  if (!reduction.maximum) {
    auto parts = buildParts(builder, reduction, getInputs(op));
    buildFinish(builder, op, parts.getResults());
    op.erase();
    return parts;
  }
  linalg::LinalgOp maximum = reduction.maximum;
  builder.setInsertionPoint(maximum);
  auto maxima = buildParts(builder, *findSplittableReduction(maximum),
                           getInputs(maximum));
  builder.setInsertionPoint(op);
  MaximumReplacer replacer(builder, maximum->getResult(0), maxima.getResult(0),
                           getPartMap(reduction));
  auto parts = buildParts(builder, reduction, replacer.replaceInputs(op));
  // Everything but the first parts goes on with the maximum of the whole row.
  builder.setInsertionPoint(maximum);
  Value whole = buildFinish(builder, maximum, maxima.getResults());
  builder.setInsertionPoint(op);
  buildShiftedFinish(builder, op, parts.getResult(0), maxima.getResult(0),
                     whole);
  op.erase();
  maximum.erase();
  return parts;
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

/// True when `plan` puts `op` into a kernel with a product.
static bool isBesideProduct(Operation *op, const ComputeGraph &graph,
                            const FusionPlan &plan) {
  return isBeside(op, graph, plan, [](const GraphNode &node) {
    return node.kind == NodeKind::Contraction;
  });
}

/// All reductions that can be split, sums with their maxima before these.
static SmallVector<SplittableReduction>
findSplittableReductions(FunctionOpInterface func, bool mayRepair) {
  SmallVector<SplittableReduction> found, others;
  for (auto op : func.getFunctionBody().front().getOps<linalg::LinalgOp>())
    if (std::optional<SplittableReduction> reduction =
            findSplittableReduction(op)) {
      if (!mayRepair)
        reduction->maximum = nullptr;
      (reduction->maximum ? found : others).push_back(*reduction);
    }
  llvm::append_range(found, others);
  return found;
}

/// Splits all reductions of the results of `product`.
static Operation *splitAll(Operation *product, bool mayRepair) {
  auto func = product->getParentOfType<FunctionOpInterface>();
  Operation *parts = nullptr;
  auto isOfProduct = [&](const SplittableReduction &reduction) {
    return reduction.product == product;
  };
  while (true) {
    SmallVector<SplittableReduction> found =
        findSplittableReductions(func, mayRepair);
    auto *next = llvm::find_if(found, isOfProduct);
    if (next == found.end())
      return parts;
    parts = splitReduction(*next);
  }
}

PricedRewrite mlir::fusion::getSplitRewrite(bool mayRepair) {
  PricedRewrite rewrite;
  rewrite.find = [mayRepair](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    // As long as one reduction reads the results, they are in memory: those of
    // one product may pay together only.
    llvm::MapVector<Operation *, SmallVector<SplittableReduction>> byProduct;
    for (const SplittableReduction &reduction :
         findSplittableReductions(func, mayRepair))
      byProduct[reduction.product].push_back(reduction);
    for (auto &[product, reductions] : byProduct) {
      std::string label = getOpLabel(product, NodeKind::Contraction);
      for (const SplittableReduction &reduction : reductions)
        matches.push_back({label, getOpLabel(reduction.op, NodeKind::Reduction),
                           reduction.op,
                           [reduction]() { return splitReduction(reduction); },
                           product, std::nullopt});
      if (reductions.size() > 1)
        matches.push_back(
            {label, "all reductions", product,
             [product, mayRepair]() { return splitAll(product, mayRepair); },
             product, std::nullopt});
    }
    return matches;
  };
  rewrite.reason = ReasonCode::BegunByTiles;
  rewrite.isServed = isBesideProduct;
  rewrite.showsRefused = true;
  return rewrite;
}
