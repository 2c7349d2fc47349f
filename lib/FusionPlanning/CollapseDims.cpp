//===- CollapseDims.cpp - One loop for dimensions side by side ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that lets each kernel run through dimensions
// that lie side by side as memory does. A layer norm over 7x7x513 elements is
// one over 25,137: tiles are powers of two along each dimension, and only rows
// of a multiple of 16 bytes are read and written by 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "KernelCollapser.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/FusionPlanning/Passes.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_COLLAPSEDIMSPASS
#include "fusion/FusionPlanning/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// Chooses the classes with which dimensions of several elements fall together.
void KernelCollapser::chooseClasses() {
  llvm::SmallBitVector stays = compressClasses();
  llvm::SmallBitVector chosen(classes.getNumClasses());
  for (Value value : tensors) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t large = 0;
    for (int64_t begin = 0, dim = 0; dim < type.getRank(); ++dim) {
      large += type.getDimSize(dim) != 1;
      if (dim + 1 < type.getRank() &&
          !stays.test(classes[getBoundary(value, dim)]))
        continue;
      for (; large > 1 && begin < dim; ++begin)
        chosen.set(classes[getBoundary(value, begin)]);
      begin = dim + 1;
      large = 0;
    }
  }
  letFall(chosen);
}

/// Gives the kernel views of its operands, and its users views of its results,
/// of which each has the dimensions of a group of `operands` and `results`.
void KernelCollapser::rewriteOutside(
    ArrayRef<SmallVector<ReassociationIndices>> operands,
    ArrayRef<SmallVector<ReassociationIndices>> results) {
  OpBuilder builder(kernel);
  for (auto [operand, argument, groups] :
       llvm::zip_equal(kernel.getInputsMutable(),
                       kernel.getBlock().getArguments(), operands))
    if (operand.get().getType() != argument.getType())
      operand.set(builder.createOrFold<tensor::CollapseShapeOp>(
          kernel.getLoc(), argument.getType(), operand.get(), groups));
  builder.setInsertionPointAfter(kernel);
  for (auto [result, yielded, groups] : llvm::zip_equal(
           kernel.getResults(), kernel.getYield().getValues(), results)) {
    Type type = result.getType();
    if (type == yielded.getType())
      continue;
    result.setType(yielded.getType());
    auto uses = llvm::map_to_vector(result.getUses(),
                                    [](OpOperand &use) { return &use; });
    auto expanded = tensor::ExpandShapeOp::create(builder, kernel.getLoc(),
                                                  type, result, groups);
    for (OpOperand *use : uses)
      use->set(expanded);
  }
}

bool KernelCollapser::run() {
  // Products are scheduled along the dimensions that they have.
  if (kernel.getScheduleAttr() ||
      llvm::any_of(block.getOps<linalg::LinalgOp>(),
                   [](linalg::LinalgOp op) { return !isRewritten(op); }))
    return false;
  addAll();
  chooseClasses();
  if (llvm::none_of(tensors, [&](Value value) { return changes(value); }))
    return false;
  auto getAllGroups = [&](auto values) {
    return llvm::map_to_vector(values,
                               [&](Value value) { return getGroups(value); });
  };
  auto operands = getAllGroups(block.getArguments());
  auto results = getAllGroups(kernel.getYield().getValues());
  rewriteInside();
  rewriteOutside(operands, results);
  return true;
}

namespace {
class CollapseDimsPass
    : public mlir::fusion::impl::CollapseDimsPassBase<CollapseDimsPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    getOperation()->walk(
        [](KernelOp kernel) { KernelCollapser(kernel).run(); });
  }
};
} // namespace
