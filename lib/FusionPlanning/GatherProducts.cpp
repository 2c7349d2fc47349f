//===- GatherProducts.cpp - Elements of products' results -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements sums of what a product contracts for single elements of
// its results. Such an element is y[p] with positions p that an elementwise
// operation computes of data; the sum has that operation's loops and those that
// the product contracts, and reads the product's operands at these positions.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/GatherProducts.h"

#include "ProductResults.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// An element of what is computed of a product's results.
struct GatheredElement {
  /// The elementwise operation that asks for it.
  linalg::GenericOp user;
  tensor::ExtractOp extract;
  linalg::LinalgOp product;
};

/// Makes the sum and what becomes of it.
class ElementBuilder {
public:
  explicit ElementBuilder(const GatheredElement &element)
      : element(element), user(element.user), product(element.product),
        builder(user) {}

  /// Replaces the user; returns what it is now.
  Operation *build();

private:
  /// Operations of the user that compute the positions, in order.
  SetVector<Operation *> getPositions();
  Value buildSum();
  /// Element `position` of `tensor`, of which `sum` is that of the product.
  Value buildElement(OpBuilder &b, Value tensor, ArrayRef<Value> position,
                     Value sum);

  GatheredElement element;
  linalg::GenericOp user;
  linalg::LinalgOp product;
  OpBuilder builder;
};
} // namespace

//===----------------------------------------------------------------------===//
// Which elements
//===----------------------------------------------------------------------===//

/// True when a sum can start where `product` does: a number for all elements.
static bool startsFromScalar(linalg::LinalgOp product) {
  return product->getNumResults() == 1 &&
         product.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
}

/// True when the operations between `tensor` and `product` have elements that
/// depend on those of the product at the same place only.
static bool isInPlace(Value tensor, linalg::LinalgOp product) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  if (op == product)
    return true;
  if (!isElementwise(op) || hasContract(op))
    return false;
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (findProduct(input->get()) != product)
      return map.isProjectedPermutation();
    return map.isIdentity() && isInPlace(input->get(), product);
  });
}

/// The loops of the sum that those of the product are: those that it contracts
/// come behind the user's. Null: positions that data choose.
static SmallVector<AffineExpr> getPlainLoops(GatheredElement element) {
  linalg::LinalgOp product = element.product;
  Builder builder(product.getContext());
  SmallVector<AffineExpr> plain(product.getNumLoops());
  SmallVector<unsigned> contracted;
  product.getReductionDims(contracted);
  for (auto [number, loop] : llvm::enumerate(contracted))
    plain[loop] = builder.getAffineDimExpr(element.user.getNumLoops() + number);
  AffineMap made = product.getMatchingIndexingMap(product.getDpsInitOperand(0));
  for (auto [coord, index] :
       llvm::zip_equal(made.getResults(), element.extract.getIndices()))
    if (auto own = index.getDefiningOp<linalg::IndexOp>())
      plain[cast<AffineDimExpr>(coord).getPosition()] =
          builder.getAffineDimExpr(own.getDim());
  return plain;
}

/// The coordinates of an operand that it has at loops; none where data choose.
static std::optional<SmallVector<AffineExpr>>
getPlainCoords(AffineMap map, ArrayRef<AffineExpr> plain) {
  SmallVector<AffineExpr> coords;
  for (AffineExpr coord : map.getResults())
    coords.push_back(plain[cast<AffineDimExpr>(coord).getPosition()]);
  if (llvm::is_contained(coords, AffineExpr()))
    return std::nullopt;
  return coords;
}

/// True when operands that are read at loops say how long all those are that
/// the product contracts.
static bool hasContractedSizes(GatheredElement element) {
  linalg::LinalgOp product = element.product;
  SmallVector<AffineExpr> plain = getPlainLoops(element);
  SmallVector<unsigned> contracted;
  product.getReductionDims(contracted);
  return llvm::all_of(contracted, [&](unsigned loop) {
    return llvm::any_of(product.getDpsInputOperands(), [&](OpOperand *operand) {
      AffineMap map = product.getMatchingIndexingMap(operand);
      return map.isFunctionOfDim(loop) && getPlainCoords(map, plain);
    });
  });
}

static std::optional<GatheredElement> findElement(linalg::GenericOp user) {
  if (!user.hasPureTensorSemantics() || user.getNumReductionLoops() != 0 ||
      hasContract(user) || !getLoopSizes(user))
    return std::nullopt;
  for (auto extract : user.getBody()->getOps<tensor::ExtractOp>()) {
    linalg::LinalgOp product = findProduct(extract.getTensor());
    if (!product || !startsFromScalar(product) || hasContract(product) ||
        product.hasIndexSemantics() ||
        !isInPlace(extract.getTensor(), product) ||
        !llvm::all_of(product.getIndexingMapsArray(), [](AffineMap map) {
          return map.isProjectedPermutation();
        }))
      continue;
    GatheredElement element{user, extract, product};
    if (hasContractedSizes(element))
      return element;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

SetVector<Operation *> ElementBuilder::getPositions() {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  Block *block = user.getBody();
  options.filter = [&](Operation *op) { return op->getBlock() == block; };
  for (Value index : element.extract.getIndices())
    if (Operation *op = index.getDefiningOp(); op && op->getBlock() == block)
      (void)getBackwardSlice(index, &slice, options);
  return slice;
}

Value ElementBuilder::buildSum() {
  Location loc = user.getLoc();
  unsigned loops = user.getNumLoops();
  SmallVector<unsigned> contracted;
  product.getReductionDims(contracted);
  unsigned all = loops + contracted.size();
  MLIRContext *context = builder.getContext();

  // What the positions are computed of.
  SetVector<Operation *> positions = getPositions();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> numbers;
  auto isAsked = [&](BlockArgument argument) {
    return llvm::is_contained(element.extract.getIndices(), argument) ||
           llvm::any_of(argument.getUsers(),
                        [&](Operation *op) { return positions.contains(op); });
  };
  for (OpOperand *input : user.getDpsInputOperands()) {
    if (!isAsked(user.getMatchingBlockArgument(input)))
      continue;
    AffineMap map = user.getMatchingIndexingMap(input);
    inputs.push_back(input->get());
    maps.push_back(AffineMap::get(all, 0, map.getResults(), context));
    numbers.push_back(input->getOperandNumber());
  }

  // The product's loops: positions in the results, or its own.
  AffineMap made = product.getMatchingIndexingMap(product.getDpsInitOperand(0));
  SmallVector<Value> indices(product.getNumLoops());
  for (auto [coord, index] :
       llvm::zip_equal(made.getResults(), element.extract.getIndices()))
    indices[cast<AffineDimExpr>(coord).getPosition()] = index;

  // Operands whose positions are loops are read as such.
  SmallVector<AffineExpr> plain = getPlainLoops(element);
  SmallVector<std::optional<unsigned>> places;
  for (OpOperand *operand : product.getDpsInputOperands()) {
    places.emplace_back();
    std::optional<SmallVector<AffineExpr>> coords =
        getPlainCoords(product.getMatchingIndexingMap(operand), plain);
    if (!coords)
      continue;
    places.back() = inputs.size();
    inputs.push_back(operand->get());
    maps.push_back(AffineMap::get(all, 0, *coords, context));
  }

  auto fill =
      product.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  Type type = getElementTypeOrSelf(product->getResult(0));
  Value empty =
      tensor::EmptyOp::create(builder, loc, *getLoopSizes(user), type);
  Value init =
      linalg::FillOp::create(builder, loc, fill.getInputs().front(), empty)
          .getResult(0);
  maps.push_back(
      AffineMap::getMultiDimIdentityMap(all, context).getMajorSubMap(loops));
  SmallVector<utils::IteratorType> kinds(loops, utils::IteratorType::parallel);
  kinds.append(contracted.size(), utils::IteratorType::reduction);
  auto sum = linalg::GenericOp::create(
      builder, loc, init.getType(), inputs, init, maps, kinds,
      [&](OpBuilder &b, Location at, ValueRange arguments) {
        IRMapping mapping;
        for (auto [place, number] : llvm::enumerate(numbers))
          mapping.map(user.getBody()->getArgument(number), arguments[place]);
        for (Operation *op : positions)
          b.clone(*op, mapping);
        for (auto [number, loop] : llvm::enumerate(contracted))
          indices[loop] = linalg::IndexOp::create(b, at, loops + number);
        Block *body = product.getBlock();
        for (auto [number, operand] :
             llvm::enumerate(product.getDpsInputOperands())) {
          Value read;
          if (places[number]) {
            read = arguments[*places[number]];
          } else {
            SmallVector<Value> place;
            for (AffineExpr coord :
                 product.getMatchingIndexingMap(operand).getResults())
              place.push_back(mapping.lookupOrDefault(
                  indices[cast<AffineDimExpr>(coord).getPosition()]));
            read = tensor::ExtractOp::create(b, at, operand->get(), place);
          }
          mapping.map(body->getArgument(number), read);
        }
        mapping.map(body->getArguments().back(), arguments.back());
        for (Operation &op : body->without_terminator())
          b.clone(op, mapping);
        linalg::YieldOp::create(
            b, at,
            mapping.lookupOrDefault(body->getTerminator()->getOperand(0)));
      });
  return sum.getResult(0);
}

Value ElementBuilder::buildElement(OpBuilder &b, Value tensor,
                                   ArrayRef<Value> position, Value sum) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  if (op == product)
    return sum;
  if (findProduct(tensor) != product)
    return tensor::ExtractOp::create(b, user.getLoc(), tensor, position);
  IRMapping mapping;
  for (auto [number, operand] : llvm::enumerate(op.getDpsInputOperands())) {
    SmallVector<Value> place;
    for (AffineExpr coord : op.getMatchingIndexingMap(operand).getResults())
      place.push_back(position[cast<AffineDimExpr>(coord).getPosition()]);
    mapping.map(op.getBlock()->getArgument(number),
                buildElement(b, operand->get(), place, sum));
  }
  for (Operation &inner : op.getBlock()->without_terminator())
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), position[index.getDim()]);
    else
      b.clone(inner, mapping);
  return mapping.lookupOrDefault(op.getBlock()->getTerminator()->getOperand(0));
}

Operation *ElementBuilder::build() {
  Value sums = buildSum();
  SmallVector<Value> inputs(user.getDpsInputs());
  SmallVector<AffineMap> maps(user.getIndexingMapsArray());
  unsigned number = inputs.size();
  inputs.push_back(sums);
  maps.insert(maps.begin() + number,
              builder.getMultiDimIdentityMap(user.getNumLoops()));
  auto replaced = linalg::GenericOp::create(
      builder, user.getLoc(), user->getResultTypes(), inputs,
      user.getDpsInits(), maps, user.getIteratorTypesArray());
  Region &region = replaced.getRegion();
  region.takeBody(user.getRegion());
  Block &body = region.front();
  Value sum = body.insertArgument(number, getElementTypeOrSelf(sums.getType()),
                                  user.getLoc());
  OpBuilder inner(element.extract);
  SmallVector<Value> position(element.extract.getIndices());
  element.extract.replaceAllUsesWith(
      buildElement(inner, element.extract.getTensor(), position, sum));
  element.extract.erase();
  user.replaceAllUsesWith(replaced.getResults());
  user.erase();
  return sums.getDefiningOp();
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

PricedRewrite mlir::fusion::getGatherRewrite() {
  PricedRewrite rewrite;
  rewrite.find = [](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (auto op : func.getFunctionBody().front().getOps<linalg::GenericOp>())
      if (std::optional<GatheredElement> element = findElement(op))
        matches.push_back(
            {getOpLabel(element->product, NodeKind::Contraction),
             getOpLabel(op, NodeKind::Pointwise), op,
             [element]() { return ElementBuilder(*element).build(); },
             element->product, std::nullopt});
    return matches;
  };
  rewrite.reason = ReasonCode::GatheredProduct;
  rewrite.showsRefused = true;
  return rewrite;
}
