//===- TileLowering.cpp - How one kind of operation is lowered ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for the lowering of an operation.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/TileLowering.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fusion;

TileLowering::~TileLowering() = default;

LogicalResult TileLowering::addParameters(ProgramLowering &lowering) const {
  return success();
}

LogicalResult TileLowering::beginKernel(ProgramLowering &lowering) const {
  return success();
}

void LoweringSet::insert(std::unique_ptr<TileLowering> lowering) {
  std::optional<TypeID> root = lowering->getRoot();
  (root ? byRoot[*root] : forAll).push_back(lowering.get());
  lowerings.push_back(std::move(lowering));
}

static const TileLowering *findIn(ArrayRef<const TileLowering *> candidates,
                                  Operation *op) {
  for (const TileLowering *candidate : llvm::reverse(candidates))
    if (candidate->matchesOperation(op))
      return candidate;
  return nullptr;
}

const TileLowering *LoweringSet::find(Operation *op) const {
  auto own = byRoot.find(op->getName().getTypeID());
  if (own != byRoot.end())
    if (const TileLowering *found = findIn(own->second, op))
      return found;
  return findIn(forAll, op);
}
