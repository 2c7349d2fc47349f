//===- FoldLookups.cpp - Lookups that are operands ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the folding of elements that are looked up where an
// operation's own indices say into its operands:
//
//   y[i, j] = extract(x, j, i)  ==>  y = transpose(x)
//
// Importers write so what they turn around, the filters of convolutions for
// example, of which along dimensions of one element nothing is left to turn.
// What is looked up may lie anywhere, so that no tensor copy brings it.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::fusion;

/// A loop of `op` of one element that is not in `used`.
static std::optional<unsigned> findLoopOfOne(ArrayRef<int64_t> extents,
                                             const llvm::SmallBitVector &used) {
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (extent == 1 && !used.test(loop))
      return loop;
  return std::nullopt;
}

/// From the loops of `op` to the coordinates of what `extract`, in its body,
/// looks up: each loop along one dimension, all of which it walks. Nothing when
/// they are others.
static std::optional<AffineMap> matchPlaces(linalg::GenericOp op,
                                            tensor::ExtractOp extract) {
  ArrayRef<int64_t> shape = extract.getTensor().getType().getShape();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  llvm::SmallBitVector used(extents.size());
  SmallVector<std::optional<unsigned>> loops;
  for (auto [size, place] : llvm::zip_equal(shape, extract.getIndices())) {
    auto index = place.getDefiningOp<linalg::IndexOp>();
    loops.emplace_back();
    if (!index) {
      if (size != 1 || !isConstantIntValue(place, 0))
        return std::nullopt;
      continue;
    }
    unsigned loop = index.getDim();
    if (ShapedType::isDynamic(size) || extents[loop] != size || used.test(loop))
      return std::nullopt;
    loops.back() = loop;
    used.set(loop);
  }
  SmallVector<AffineExpr> coords;
  for (std::optional<unsigned> loop : loops) {
    if (!loop)
      loop = findLoopOfOne(extents, used);
    if (!loop)
      return std::nullopt;
    used.set(*loop);
    coords.push_back(getAffineDimExpr(*loop, op.getContext()));
  }
  return AffineMap::get(extents.size(), 0, coords, op.getContext());
}

/// Lets `op` have what `extract`, in its body, looks up at `places` as its last
/// operand. Returns what it has become.
static linalg::GenericOp readAsOperand(linalg::GenericOp op,
                                       tensor::ExtractOp extract,
                                       AffineMap places) {
  OpBuilder builder(op);
  SmallVector<Value> inputs = op.getDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned number = inputs.size();
  maps.insert(maps.begin() + number, places);
  inputs.push_back(extract.getTensor());
  Block *body = op.getBody();
  BlockArgument element =
      body->insertArgument(number, extract.getType(), extract.getLoc());
  extract.getResult().replaceAllUsesWith(element);
  extract.erase();
  auto made = linalg::GenericOp::create(
      builder, op.getLoc(), op.getResultTypes(), inputs, op.getDpsInits(), maps,
      op.getIteratorTypesArray());
  made.getRegion().takeBody(op.getRegion());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(made);
  op.erase();
  for (auto index :
       llvm::make_early_inc_range(made.getBody()->getOps<linalg::IndexOp>()))
    if (index->use_empty())
      index.erase();
  return made;
}

void mlir::fusion::foldLookups(FunctionOpInterface func) {
  for (Operation &other :
       llvm::make_early_inc_range(func.getFunctionBody().front())) {
    auto op = dyn_cast<linalg::GenericOp>(other);
    if (!op || !op.hasPureTensorSemantics())
      continue;
    SmallVector<tensor::ExtractOp> extracts(
        op.getBody()->getOps<tensor::ExtractOp>());
    for (tensor::ExtractOp extract : extracts)
      if (std::optional<AffineMap> places = matchPlaces(op, extract))
        op = readAsOperand(op, extract, *places);
  }
}
