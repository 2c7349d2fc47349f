//===- Generalize.cpp - Few forms of linalg and tensor ops ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that brings linalg and tensor ops into the few
// forms that later phases handle.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Reductions.h"
#include "fusion/Preprocessing/Passes.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "fusion/Preprocessing/UnusedResults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_GENERALIZEPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// An elementwise generic that fills a tensor of `type` from indices and, for
/// every tensor of `inputs`, from its element at the same place.
static Value
buildFromIndices(RewriterBase &rewriter, Location loc, RankedTensorType type,
                 ArrayRef<OpFoldResult> sizes, ValueRange inputs,
                 function_ref<Value(OpBuilder &, Location, ValueRange indices,
                                    ValueRange elements)>
                     body) {
  int64_t rank = type.getRank();
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              rewriter.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), inputs, empty, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        SmallVector<Value> indices;
        for (int64_t dim = 0; dim < rank; ++dim)
          indices.push_back(linalg::IndexOp::create(b, loc, dim));
        linalg::YieldOp::create(b, loc,
                                body(b, loc, indices, args.drop_back()));
      });
  Value result = generic.getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(rewriter, loc, type, result);
  return result;
}

namespace {
/// tensor.generate: its body runs once per index, as a generic's does.
struct ConvertGenerate : public OpRewritePattern<tensor::GenerateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::GenerateOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<OpFoldResult> sizes =
        getMixedValues(type.getShape(), op.getDynamicExtents(), rewriter);
    Value result = buildFromIndices(
        rewriter, op.getLoc(), type, sizes, {},
        [&](OpBuilder &b, Location loc, ValueRange indices, ValueRange) {
          Block &block = op.getBody().front();
          IRMapping map;
          map.map(block.getArguments(), indices);
          for (Operation &inner : block.without_terminator())
            b.clone(inner, map);
          return map.lookupOrDefault(block.getTerminator()->getOperand(0));
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// tensor.splat is a fill.
struct ConvertSplat : public OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::SplatOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<OpFoldResult> sizes =
        getMixedValues(type.getShape(), op.getDynamicSizes(), rewriter);
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                          type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, op.getInput(), empty);
    return success();
  }
};

/// tensor.insert: the scalar where all indices agree, the element elsewhere.
struct ConvertInsert : public OpRewritePattern<tensor::InsertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), op.getDest());
    Value result = buildFromIndices(
        rewriter, op.getLoc(), type, sizes, op.getDest(),
        [&](OpBuilder &b, Location loc, ValueRange indices,
            ValueRange elements) {
          Value chosen;
          for (auto [index, wanted] :
               llvm::zip_equal(indices, op.getIndices())) {
            Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                               index, wanted);
            chosen =
                chosen ? arith::AndIOp::create(b, loc, chosen, here).getResult()
                       : here;
          }
          if (!chosen)
            return op.getScalar();
          return arith::SelectOp::create(b, loc, chosen, op.getScalar(),
                                         elements.front())
              .getResult();
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// tensor.from_elements of values that are not all constant: a choice by the
/// row-major index. Long lists are constants in practice, which fold.
struct ConvertFromElements : public OpRewritePattern<tensor::FromElementsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::FromElementsOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (type.getNumElements() == 0)
      return rewriter.notifyMatchFailure(op, "has no elements");
    SmallVector<OpFoldResult> sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(rewriter.getIndexAttr(size));
    Value result = buildFromIndices(
        rewriter, op.getLoc(), type, sizes, {},
        [&](OpBuilder &b, Location loc, ValueRange indices, ValueRange) {
          Value flat = arith::ConstantIndexOp::create(b, loc, 0);
          for (auto [index, size] : llvm::zip_equal(indices, type.getShape())) {
            Value extent = arith::ConstantIndexOp::create(b, loc, size);
            Value scaled = arith::MulIOp::create(b, loc, flat, extent);
            flat = arith::AddIOp::create(b, loc, scaled, index);
          }
          Value chosen = op.getElements().front();
          for (auto [position, element] :
               llvm::drop_begin(llvm::enumerate(op.getElements()))) {
            Value number = arith::ConstantIndexOp::create(b, loc, position);
            Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                               flat, number);
            chosen = arith::SelectOp::create(b, loc, here, element, chosen);
          }
          return chosen;
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// tensor.bitcast, element by element.
struct ConvertBitcast : public OpRewritePattern<tensor::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::BitcastOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "is unranked");
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), op.getSource());
    Value result = buildFromIndices(
        rewriter, op.getLoc(), type, sizes, op.getSource(),
        [&](OpBuilder &b, Location loc, ValueRange, ValueRange elements) {
          return arith::BitcastOp::create(b, loc, type.getElementType(),
                                          elements.front())
              .getResult();
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// tensor.rank of a ranked tensor is a constant.
struct ConvertRank : public OpRewritePattern<tensor::RankOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::RankOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getTensor().getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "is unranked");
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, type.getRank());
    return success();
  }
};

/// Named linalg ops, but fill, as generics.
struct GeneralizeNamed : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::FillOp>(op))
      return rewriter.notifyMatchFailure(op, "is in its final form");
    return success(succeeded(linalg::generalizeNamedOp(rewriter, op)));
  }
};

/// linalg.pack as pad, reshape and transpose.
struct LowerPack : public OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op);
  }
};

/// linalg.unpack as transpose, reshape and slice.
struct LowerUnpack : public OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerUnPack(rewriter, op);
  }
};

/// A constant with one value throughout, read by a generic: the value itself
/// in the body, so that nothing is loaded.
struct InlineSplat : public OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    for (OpOperand *operand : op.getDpsInputOperands()) {
      SplatElementsAttr splat;
      if (!matchPattern(operand->get(), m_Constant(&splat)))
        continue;
      auto value = dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
      unsigned position = operand->getOperandNumber();
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps.erase(maps.begin() + position);
      // Without the operand every loop must still have a bound.
      if (!value ||
          !inversePermutation(concatAffineMaps(maps, op.getContext())))
        continue;
      Block *body = op.getBody();
      rewriter.modifyOpInPlace(op, [&]() {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPointToStart(body);
        Value scalar = arith::ConstantOp::create(rewriter, op.getLoc(), value);
        rewriter.replaceAllUsesWith(body->getArgument(position), scalar);
        body->eraseArgument(position);
        op.getInputsMutable().erase(position);
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "reads no splat constant");
  }
};
} // namespace

/// How `map` reads what `value`, a permuted tensor, is a permutation of.
static AffineMap readPermuted(Value value, AffineMap map) {
  while (auto op = value.getDefiningOp<linalg::LinalgOp>()) {
    if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
        op.getNumReductionLoops() != 0 ||
        op.getBlock()->getTerminator()->getOperand(0) !=
            op.getBlock()->getArgument(0))
      break;
    AffineMap in = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!in.isPermutation() || !out.isPermutation())
      break;
    SmallVector<AffineExpr> places;
    for (AffineExpr loop : in.getResults())
      places.push_back(map.getResult(*out.getResultPosition(loop)));
    map = AffineMap::get(map.getNumDims(), 0, places, map.getContext());
    value = op.getDpsInputOperand(0)->get();
  }
  return map;
}

/// The runs of loops that `op`, a product of two tensors, contracts and that
/// lie side by side in both factors, and in what those are permutations of.
static SmallVector<ReassociationIndices>
getContractedRuns(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!linalg::isaContractionOpInterface(op))
    return {};
  for (unsigned input = 0; input < 2; ++input)
    maps.push_back(readPermuted(op->getOperand(input), maps[input]));
  auto kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto isContracted = [&](unsigned loop) {
    return linalg::isReductionIterator(kinds[loop]) &&
           !ShapedType::isDynamic(sizes[loop]) &&
           maps[0].isFunctionOfDim(loop) && maps[1].isFunctionOfDim(loop);
  };
  SmallVector<ReassociationIndices> runs;
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    if (!isContracted(loop))
      continue;
    if (!runs.empty() && runs.back().back() + 1 == loop) {
      ReassociationIndices longer = runs.back();
      longer.push_back(loop);
      if (linalg::areDimSequencesPreserved(maps, longer)) {
        runs.back() = std::move(longer);
        continue;
      }
    }
    runs.push_back({loop});
  }
  llvm::erase_if(
      runs, [](const ReassociationIndices &run) { return run.size() == 1; });
  return runs;
}

/// Coordinates of `op` that add up a loop of the result and one of a window are
/// one of them alone where the other has a single place: windows of one
/// element, and those as large as what they slide over. False where it has
/// none.
static bool dropSinglePlaces(linalg::GenericOp op) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> places;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (auto [loop, size] : llvm::enumerate(sizes))
    places.push_back(size == 1 ? getAffineConstantExpr(0, context)
                               : getAffineDimExpr(loop, context));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap &map = maps[input->getOperandNumber()];
    for (auto [place, expr] : llvm::enumerate(map.getResults())) {
      if (!isa<AffineBinaryOpExpr>(expr))
        continue;
      auto loop = dyn_cast<AffineDimExpr>(
          simplifyAffineExpr(expr.replaceDims(places), map.getNumDims(), 0));
      int64_t size =
          cast<RankedTensorType>(input->get().getType()).getDimSize(place);
      if (loop && sizes[loop.getPosition()] == size)
        map = map.dropResult(place).insertResult(loop, place);
    }
  }
  // Initial values tell the sizes of the loops that are dropped.
  if (maps == op.getIndexingMapsArray() ||
      !inversePermutation(concatAffineMaps(maps, context)))
    return false;
  op.setIndexingMapsAttr(Builder(context).getAffineMapArrayAttr(maps));
  return true;
}

/// Adds to the initial values of `op`, which no longer contracts anything, in
/// f32 where they are narrower: as sums are added (docs/Numerics.md), their
/// products are not rounded.
static void widenSums(linalg::GenericOp op, IRRewriter &rewriter) {
  auto widen = [&](Value value) -> Value {
    return arith::ExtFOp::create(rewriter, value.getLoc(),
                                 rewriter.getF32Type(), value);
  };
  auto computeWide = [&](Operation *narrow) -> Value {
    rewriter.setInsertionPoint(narrow);
    SmallVector<Value> operands(llvm::map_range(narrow->getOperands(), widen));
    OperationState state(narrow->getLoc(), narrow->getName(), operands,
                         rewriter.getF32Type(), narrow->getAttrs());
    return rewriter.create(state)->getResult(0);
  };
  for (BlockArgument initial : op.getRegionOutputArgs()) {
    Type type = initial.getType();
    if (!isa<FloatType>(type) || type.getIntOrFloatBitWidth() >= 32 ||
        !initial.hasOneUse())
      continue;
    auto add = dyn_cast<arith::AddFOp>(*initial.user_begin());
    if (!add)
      continue;
    Value sum = computeWide(add);
    for (OpOperand &term : sum.getDefiningOp()->getOpOperands()) {
      auto wide = term.get().getDefiningOp<arith::ExtFOp>();
      if (auto product = wide.getIn().getDefiningOp<arith::MulFOp>())
        rewriter.replaceOp(wide, computeWide(product));
    }
    rewriter.setInsertionPoint(add);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(add, type, sum);
  }
}

/// Leaves out combinations of `op`, which no longer reduces anything, with
/// initial values that change nothing, as reductions do.
static void dropIdentities(linalg::GenericOp op, IRRewriter &rewriter) {
  for (auto [number, init] : llvm::enumerate(op.getDpsInits())) {
    Combiner combiner = matchCombiner(op, number);
    if (combiner.op && isIdentityFill(init, combiner))
      rewriter.replaceOp(combiner.op, combiner.element);
  }
}

/// True when `op` sums products along loops of one iteration alone, those of
/// factors with one feature: it is arithmetic on elements, which whatever reads
/// it can compute for itself. A reduction of one tensor costs its kernel
/// nothing, and no reshape lies between it and its neighbours.
static bool multipliesSingleElements(linalg::GenericOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  return op.getNumDpsInputs() > 1 && !reduced.empty() &&
         llvm::all_of(reduced,
                      [&](unsigned loop) { return extents[loop] == 1; });
}

/// Leaves out the loops of one iteration that `op` reduces.
static FailureOr<linalg::GenericOp> dropSingleTaps(linalg::GenericOp op,
                                                   IRRewriter &rewriter) {
  linalg::ControlDropUnitDims control;
  control.controlFn = [](Operation *op) {
    SmallVector<unsigned> reduced;
    cast<linalg::GenericOp>(op).getReductionDims(reduced);
    return reduced;
  };
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::DropUnitDimsResult> dropped =
      linalg::dropUnitDims(rewriter, op, control);
  if (failed(dropped))
    return failure();
  rewriter.replaceOp(op, dropped->replacements);
  auto rest = cast<linalg::GenericOp>(dropped->resultOp);
  if (rest.getNumReductionLoops() == 0) {
    dropIdentities(rest, rewriter);
    widenSums(rest, rewriter);
  }
  return rest;
}

/// Makes products of matrices of convolutions whose windows have one element,
/// or are as large as the images, as importers write gradients of filters.
/// Pixels that lie side by side and are contracted are one dimension then.
static LogicalResult simplifySinglePlaces(func::FuncOp func) {
  SmallVector<linalg::GenericOp> ops;
  func.walk([&](linalg::GenericOp op) {
    bool single = multipliesSingleElements(op);
    if (dropSinglePlaces(op) || single)
      ops.push_back(op);
  });
  IRRewriter rewriter(func.getContext());
  for (linalg::GenericOp op : ops) {
    if (FailureOr<linalg::GenericOp> dropped = dropSingleTaps(op, rewriter);
        succeeded(dropped))
      op = *dropped;
    SmallVector<ReassociationIndices> runs = getContractedRuns(op);
    if (runs.empty())
      continue;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::CollapseResult> collapsed =
        linalg::collapseOpIterationDims(op, runs, rewriter);
    if (failed(collapsed))
      return op.emitError("cannot be collapsed");
    rewriter.replaceOp(op, collapsed->results);
  }
  return success();
}

void fusion::populateGeneralizePatterns(RewritePatternSet &patterns) {
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  patterns.add<ConvertBitcast, ConvertFromElements, ConvertGenerate,
               ConvertInsert, ConvertRank, ConvertSplat, GeneralizeNamed,
               InlineSplat, LowerPack, LowerUnpack>(patterns.getContext());
}

namespace {
struct GeneralizePass
    : public fusion::impl::GeneralizePassBase<GeneralizePass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateGeneralizePatterns(patterns);
    GreedyRewriteConfig config;
    // Constants stay where they are written; the canonicalizer moves them.
    config.enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns),
                                     config)) ||
        failed(dropUnusedResults(getOperation())) ||
        failed(simplifySinglePlaces(getOperation())))
      signalPassFailure();
  }
};
} // namespace
