//===- MoveScales.cpp - Scales of rows moved past products ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements moving scales past products.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/MoveScales.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// True when `tensor` holds zeros only.
static bool isZero(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
}

/// True when the use is one factor, but for extensions, of a product with sums
/// in f32 from zero on.
static bool isFactor(OpOperand &use) {
  auto product = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!product || !product.isDpsInput(&use) ||
      product.getNumReductionLoops() == 0 || product.getNumDpsInits() != 1 ||
      !isZero(product.getDpsInits().front()))
    return false;
  std::optional<Contraction> sum = matchContraction(
      product, [](unsigned loop) { return loop; }, [](Value) { return true; });
  auto result = cast<RankedTensorType>(product.getResultTypes().front());
  if (!sum || !result.getElementType().isF32())
    return false;
  AffineMap map = product.getMatchingIndexingMap(&use);
  if (!map.isProjectedPermutation())
    return false;
  // The product's loops come back from the result's dimensions.
  AffineMap out = product.getMatchingIndexingMap(product.getDpsInitOperand(0));
  if (!out.isProjectedPermutation())
    return false;
  Block *body = product.getBody();
  Value argument = product.getMatchingBlockArgument(&use);
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  for (Value term : add->getOperands())
    if (auto mul = term.getDefiningOp<arith::MulFOp>())
      return (stripExtensions(mul.getLhs()) == argument) !=
             (stripExtensions(mul.getRhs()) == argument);
  return false;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The operation that applies `factor`, used once, to a value that reaches
/// `result` through products, quotients and conversions only.
static Operation *findApplication(Value result, Value factor) {
  SmallVector<Value> worklist = {result};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    bool divides = isa<arith::DivFOp>(op);
    if (divides || isa<arith::MulFOp>(op)) {
      if (stripExtensions(op->getOperand(1)) == factor ||
          (!divides && stripExtensions(op->getOperand(0)) == factor))
        return op;
      if (!divides)
        worklist.push_back(op->getOperand(1));
      worklist.push_back(op->getOperand(0));
    } else if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
      worklist.push_back(op->getOperand(0));
    }
  }
  return nullptr;
}

/// True when the input of the producer does not depend on a dimension that the
/// product contracts.
static bool isKept(linalg::GenericOp producer, unsigned input, OpOperand &use) {
  auto product = cast<linalg::GenericOp>(use.getOwner());
  AffineMap out =
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  AffineMap in =
      producer.getMatchingIndexingMap(producer.getDpsInputOperand(input));
  AffineMap operand = product.getMatchingIndexingMap(&use);
  SmallVector<utils::IteratorType> kinds = product.getIteratorTypesArray();
  for (auto [dim, loop] : llvm::enumerate(out.getResults())) {
    unsigned position = operand.getDimPosition(dim);
    if (kinds[position] == utils::IteratorType::reduction &&
        in.isFunctionOfDim(cast<AffineDimExpr>(loop).getPosition()))
      return false;
  }
  return true;
}

/// The value of `application` without the scale.
static Value getUnscaled(const MovableScale &scale) {
  linalg::GenericOp producer = scale.producer;
  Value factor = producer.getBody()->getArgument(scale.input);
  Operation *op = scale.application;
  bool first = stripExtensions(op->getOperand(0)) == factor;
  return op->getOperand(first ? 1 : 0);
}

/// The input that the producer would only copy without the scale, or null.
static Value getCopied(const MovableScale &scale) {
  linalg::GenericOp producer = scale.producer;
  Value value = producer.getBody()->getTerminator()->getOperand(0);
  Type type = value.getType();
  while (Operation *op = value.getDefiningOp()) {
    if (op == scale.application)
      value = getUnscaled(scale);
    else if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      value = op->getOperand(0);
    else
      return nullptr;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  // Extended and rounded to its own type a number is what it was.
  if (!argument || argument.getOwner() != producer.getBody() ||
      argument.getType() != type)
    return nullptr;
  OpOperand *input = producer.getMatchingOpOperand(argument);
  if (producer.getMatchingIndexingMap(input) !=
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(0)))
    return nullptr;
  return input->get();
}

/// True when what the producer computes without the scale keeps its range:
/// bf16 has that of f32, and what is only copied has its own.
static bool keepsRange(const MovableScale &scale) {
  linalg::GenericOp producer = scale.producer;
  Type element = getElementTypeOrSelf(producer.getResultTypes().front());
  return element.isBF16() || element.isF32() || element.isF64() ||
         getCopied(scale);
}

std::optional<MovableScale>
fusion::findMovableScale(linalg::GenericOp producer) {
  if (producer.getNumReductionLoops() || producer.getNumDpsInits() != 1 ||
      producer.getNumDpsInputs() < 2 || producer->use_empty() ||
      hasContract(producer) ||
      !producer.getMatchingIndexingMap(producer.getDpsInitOperand(0))
           .isPermutation())
    return std::nullopt;
  for (OpOperand *input : producer.getDpsInputOperands())
    if (!isa<RankedTensorType>(input->get().getType()) ||
        !producer.getMatchingIndexingMap(input).isProjectedPermutation())
      return std::nullopt;
  MovableScale scale;
  scale.producer = producer;
  for (OpOperand &use : producer->getUses()) {
    if (!isFactor(use) || hasContract(use.getOwner()))
      return std::nullopt;
    scale.uses.push_back(&use);
  }
  Value result = producer.getBody()->getTerminator()->getOperand(0);
  for (OpOperand *input : producer.getDpsInputOperands()) {
    scale.input = input->getOperandNumber();
    Value factor = producer.getMatchingBlockArgument(input);
    auto type = dyn_cast<FloatType>(factor.getType());
    if (!type || type.getWidth() > 32 || !factor.hasOneUse() ||
        !llvm::all_of(scale.uses, [&](OpOperand *use) {
          return isKept(producer, scale.input, *use);
        }))
      continue;
    scale.application = findApplication(result, factor);
    if (scale.application && scale.application->getResult(0).hasOneUse() &&
        keepsRange(scale))
      return scale;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

/// The producer without the scale.
static Value buildUnscaled(OpBuilder &builder, const MovableScale &scale) {
  if (Value copied = getCopied(scale))
    return copied;
  linalg::GenericOp producer = scale.producer;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> kept;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    if (input->getOperandNumber() == scale.input)
      continue;
    kept.push_back(input->getOperandNumber());
    inputs.push_back(input->get());
    maps.push_back(producer.getMatchingIndexingMap(input));
  }
  maps.push_back(
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(0)));
  auto generic = linalg::GenericOp::create(
      builder, producer.getLoc(), producer.getResultTypes(), inputs,
      producer.getDpsInits(), maps, producer.getIteratorTypesArray(),
      [&](OpBuilder &b, Location, ValueRange arguments) {
        IRMapping map;
        Block *body = producer.getBody();
        for (auto [number, argument] : llvm::zip(kept, arguments))
          map.map(body->getArgument(number), argument);
        map.map(body->getArguments().back(), arguments.back());
        Value factor = body->getArgument(scale.input);
        for (Operation &op : *body) {
          if (&op == scale.application)
            map.map(op.getResult(0), map.lookup(getUnscaled(scale)));
          else if (op.getNumResults() != 1 ||
                   stripExtensions(op.getResult(0)) != factor)
            b.clone(op, map);
        }
      });
  return generic.getResult(0);
}

/// Applies the scale to the result of `product`, of which the operand `use` was
/// scaled.
static void buildScaled(OpBuilder &builder, const MovableScale &scale,
                        OpOperand &use) {
  linalg::GenericOp producer = scale.producer;
  auto product = cast<linalg::GenericOp>(use.getOwner());
  MLIRContext *context = builder.getContext();
  // From loops of the producer to loops of the product to the dimensions of
  // its result.
  AffineMap out =
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  AffineMap in =
      producer.getMatchingIndexingMap(producer.getDpsInputOperand(scale.input));
  AffineMap operand = product.getMatchingIndexingMap(&use);
  AffineMap result =
      product.getMatchingIndexingMap(product.getDpsInitOperand(0));
  SmallVector<AffineExpr> coords;
  for (AffineExpr expr : in.getResults()) {
    unsigned dim = *out.getResultPosition(expr);
    unsigned place = *result.getResultPosition(operand.getResult(dim));
    coords.push_back(getAffineDimExpr(place, context));
  }
  auto type = cast<RankedTensorType>(product.getResultTypes().front());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  AffineMap rows = AffineMap::get(type.getRank(), 0, coords, context);
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  builder.setInsertionPointAfter(product);
  Location loc = producer.getLoc();
  Value empty = tensor::EmptyOp::create(
      builder, loc,
      tensor::getMixedSizes(builder, loc, product.getDpsInits().front()),
      type.getElementType());
  Value factor = producer.getDpsInputOperand(scale.input)->get();
  bool divides = isa<arith::DivFOp>(scale.application);
  auto scaled = linalg::GenericOp::create(
      builder, loc, type, ValueRange{product.getResult(0), factor}, empty,
      ArrayRef<AffineMap>{identity, rows, identity}, kinds,
      [&](OpBuilder &b, Location, ValueRange arguments) {
        Value by = arguments[1];
        if (!by.getType().isF32())
          by = arith::ExtFOp::create(b, loc, b.getF32Type(), by);
        Value value =
            divides
                ? arith::DivFOp::create(b, loc, arguments[0], by).getResult()
                : arith::MulFOp::create(b, loc, arguments[0], by).getResult();
        linalg::YieldOp::create(b, loc, value);
      });
  product.getResult(0).replaceAllUsesExcept(scaled.getResult(0), scaled);
}

void fusion::moveScale(const MovableScale &scale) {
  linalg::GenericOp producer = scale.producer;
  OpBuilder builder(producer);
  Value unscaled = buildUnscaled(builder, scale);
  for (OpOperand *use : scale.uses) {
    buildScaled(builder, scale, *use);
    use->set(unscaled);
  }
  producer.erase();
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

PricedRewrite fusion::getScaleRewrite(bool mayRound) {
  PricedRewrite rewrite;
  rewrite.find = [mayRound](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (auto op : func.getFunctionBody().front().getOps<linalg::GenericOp>()) {
      std::optional<MovableScale> scale = findMovableScale(op);
      if (!scale)
        continue;
      Operation *product = scale->uses.front()->getOwner();
      matches.push_back({getOpLabel(op, NodeKind::Pointwise),
                         getOpLabel(product, NodeKind::Contraction), op,
                         [scale, product]() {
                           moveScale(*scale);
                           return product;
                         },
                         product});
      if (!mayRound)
        matches.back().forbidden = ReasonCode::ScaleRounding;
    }
    return matches;
  };
  rewrite.reason = ReasonCode::ScalePastProduct;
  rewrite.showsRefused = true;
  return rewrite;
}
