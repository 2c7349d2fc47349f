//===- Slices.cpp - Slices of tensors -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements a rewrite of slices that drop dimensions.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Slices.h"

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
