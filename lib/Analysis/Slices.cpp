//===- Slices.cpp - Slices of tensors -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements rewrites of slices and padding that upstream would fold
// to others.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Slices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::fusion;

SmallVector<ReassociationIndices>
fusion::groupByKept(const llvm::SmallBitVector &dropped) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices group;
  for (unsigned dim = 0; dim < dropped.size(); ++dim) {
    group.push_back(dim);
    if (!dropped[dim]) {
      groups.push_back(group);
      group.clear();
    }
  }
  if (!groups.empty())
    llvm::append_range(groups.back(), group);
  return groups;
}

void fusion::expandRankReduction(tensor::ExtractSliceOp slice) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  if (dropped.none())
    return;
  OpBuilder b(slice);
  auto full = tensor::ExtractSliceOp::create(
      b, slice.getLoc(), slice.getSource(), slice.getMixedOffsets(),
      slice.getMixedSizes(), slice.getMixedStrides());
  full->setDiscardableAttrs(slice->getDiscardableAttrDictionary());
  Value reshaped = tensor::CollapseShapeOp::create(
      b, slice.getLoc(), slice.getType(), full, groupByKept(dropped));
  slice.replaceAllUsesWith(reshaped);
  slice.erase();
}

void fusion::expandRankReduction(tensor::InsertSliceOp insert) {
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  if (dropped.none())
    return;
  OpBuilder b(insert);
  RankedTensorType type = insert.getSourceType();
  ArrayRef<int64_t> kept = type.getShape();
  SmallVector<int64_t> shape(dropped.size(), 1);
  for (unsigned dim = 0; dim < dropped.size(); ++dim)
    if (!dropped[dim]) {
      shape[dim] = kept.front();
      kept = kept.drop_front();
    }
  Value reshaped = tensor::ExpandShapeOp::create(
      b, insert.getLoc(), type.clone(shape), insert.getSource(),
      groupByKept(dropped), insert.getMixedSizes());
  auto full = tensor::InsertSliceOp::create(
      b, insert.getLoc(), reshaped, insert.getDest(), insert.getMixedOffsets(),
      insert.getMixedSizes(), insert.getMixedStrides());
  full->setDiscardableAttrs(insert->getDiscardableAttrDictionary());
  insert.replaceAllUsesWith(full.getResult());
  insert.erase();
}

namespace {
/// One dimension of padding: what is kept of its source, and what is added.
struct PaddedDim {
  OpFoldResult offset, kept, low, high;
};
} // namespace

/// `width` if it is a constant below zero, negated; 0 otherwise.
static int64_t getCut(OpFoldResult width) {
  std::optional<int64_t> known = getConstantIntValue(width);
  return known ? std::max<int64_t>(-*known, 0) : 0;
}

/// Dimension `dim` of `pad`, with no constant width below zero.
static PaddedDim cutDim(OpBuilder &b, tensor::PadOp pad, unsigned dim) {
  OpFoldResult low = pad.getMixedLowPad()[dim];
  OpFoldResult high = pad.getMixedHighPad()[dim];
  OpFoldResult none = b.getIndexAttr(0);
  int64_t first = getCut(low), last = getCut(high);
  int64_t size = pad.getSourceType().getDimSize(dim);
  int64_t result = pad.getResultType().getDimSize(dim);
  // Where nothing is kept, all of the result is padding before it.
  if (ShapedType::isStatic(size) && first + last > size &&
      ShapedType::isStatic(result))
    return {none, none, b.getIndexAttr(result), none};
  OpFoldResult kept =
      tensor::getMixedSize(b, pad.getLoc(), pad.getSource(), dim);
  if (first + last != 0) {
    if (auto value = dyn_cast<Value>(kept))
      kept = arith::SubIOp::create(
                 b, pad.getLoc(), value,
                 arith::ConstantIndexOp::create(b, pad.getLoc(), first + last))
                 .getResult();
    else
      kept = b.getIndexAttr(size - first - last);
  }
  return {b.getIndexAttr(first), kept, first ? none : low, last ? none : high};
}

void fusion::cutNegativePadding(tensor::PadOp pad) {
  auto isCut = [](OpFoldResult width) { return getCut(width) != 0; };
  if (llvm::none_of(pad.getMixedLowPad(), isCut) &&
      llvm::none_of(pad.getMixedHighPad(), isCut))
    return;
  OpBuilder b(pad);
  SmallVector<OpFoldResult> offsets, sizes, low, high;
  for (unsigned dim = 0; dim < pad.getSourceType().getRank(); ++dim) {
    PaddedDim padded = cutDim(b, pad, dim);
    offsets.push_back(padded.offset);
    sizes.push_back(padded.kept);
    low.push_back(padded.low);
    high.push_back(padded.high);
  }
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  Value slice = tensor::ExtractSliceOp::create(b, pad.getLoc(), pad.getSource(),
                                               offsets, sizes, strides);
  auto padded = tensor::PadOp::create(
      b, pad.getLoc(), pad.getResultType(), slice, low, high, pad.getNofold(),
      llvm::to_vector(pad->getDiscardableAttrs()));
  padded.getRegion().takeBody(pad.getRegion());
  pad.replaceAllUsesWith(padded.getResult());
  pad.erase();
}
