//===- ContractionPlan.cpp - Products and the loads that feed them --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what plans of contractions are asked for, and what a
// producer can load and compute.
//
//===----------------------------------------------------------------------===//

#include "ContractionPlan.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

bool tile::isScalarType(Type type) { return type.isIntOrIndexOrFloat(); }

bool tile::isScalarComputable(Value value) {
  if (isa<RankedTensorType>(value.getType()))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    return isa<ProgramOp>(parent) ||
           (loop && argument == loop.getInductionVar());
  }
  // A scalar may come from memory, such as the first row of a group.
  Operation *op = value.getDefiningOp();
  return op->getNumRegions() == 0 &&
         (isMemoryEffectFree(op) || isa<LoadOp>(op)) &&
         llvm::all_of(op->getOperands(), isScalarComputable);
}

bool tile::dependsOn(SmallVector<Value> worklist,
                     function_ref<bool(Value)> isSource) {
  llvm::SmallPtrSet<Value, 16> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (isSource(value))
      return true;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

bool tile::needsProduct(Operation *op) {
  return dependsOn(SmallVector<Value>(op->getOperands()), [&](Value value) {
    auto dot = value.getDefiningOp<DotOp>();
    return dot && dot->getBlock() == op->getBlock();
  });
}

FailureOr<TensorCopy> tile::getProducedCopy(LoadOp load, std::string &whyNot) {
  bool isGathered = !load.getIndices().empty();
  FailureOr<TensorCopy> copy = isGathered
                                   ? getGatheredCopy(load, whyNot)
                                   : getTensorCopy(Access::of(load), whyNot);
  if (failed(copy) && !isGathered) {
    std::string whyNoWindow;
    copy = getWindowCopy(Access::of(load), whyNoWindow);
    if (!whyNoWindow.empty())
      whyNot = whyNoWindow;
  }
  if (failed(copy))
    return failure();
  if (!llvm::all_of(load.getSymbols(), isScalarComputable)) {
    whyNot = "its coordinates depend on a tile or are carried by a loop";
    return failure();
  }
  return copy;
}

SmallVector<Operation *> ContractionPlan::getLoads(Block *block) const {
  SmallVector<Operation *> own;
  for (auto &[load, copy] : loads)
    if (blocks.size() == 1 || load->getBlock() == block)
      own.push_back(load);
  return own;
}

scf::ForOp ContractionPlan::findRowGroups() const {
  Operation *op = getFirst()->getParentOp();
  while (!isa<ProgramOp>(op) && !op->hasAttr(kRowGroupsAttrName))
    op = op->getParentOp();
  return dyn_cast<scf::ForOp>(op);
}

void ContractionPlan::dropRowGroups() {
  rowGroups = nullptr;
  ownLoads.clear();
}

int64_t ContractionPlan::countRowGroups() const {
  scf::ForOp loop = rowGroups;
  return loop ? *getConstantIntValue(loop.getUpperBound()) : 1;
}

int64_t ContractionPlan::getCopies(Operation *load) const {
  return ownLoads.contains(load) ? countRowGroups() : 1;
}

unsigned ContractionPlan::getNumber(Operation *load) const {
  unsigned number = 0;
  for (Operation *other : getLoads(load->getBlock())) {
    if (other == load)
      break;
    number += getCopies(other);
  }
  return number;
}

bool ContractionPlan::isHeld(Value operand) const {
  Operation *op = operand.getDefiningOp();
  return op && llvm::any_of(products, [&](Product product) {
           bool isPrepared =
               (product.preparedA && operand == product.dot.getA()) ||
               (product.preparedB && operand == product.dot.getB());
           return isPrepared && op->getBlock() != product.dot->getBlock();
         });
}

bool ContractionPlan::hasMulticast() const {
  return llvm::any_of(loads,
                      [](const auto &load) { return load.second.multicast; });
}

bool ContractionPlan::outlivesProducts(Operation *op) const {
  if (blocks.size() == 1)
    return false;
  return llvm::any_of(products, [&](Product product) {
    Operation *made = op->getBlock()->findAncestorOpInBlock(*product.dot);
    return made && op->isBeforeInBlock(made) &&
           llvm::any_of(op->getUsers(), [&](Operation *user) {
             Operation *reader = op->getBlock()->findAncestorOpInBlock(*user);
             return reader && made->isBeforeInBlock(reader);
           });
  });
}

bool ContractionPlan::isKeptNarrow(Operation *op) const {
  return isa<arith::TruncFOp>(op) &&
         isa<RankedTensorType>(op->getResult(0).getType()) &&
         outlivesProducts(op);
}

bool ContractionPlan::isLoop(Block *block) {
  auto loop = dyn_cast_or_null<scf::ForOp>(block->getParentOp());
  return loop && llvm::any_of(loop.getRegionIterArgs(), [](Value carried) {
           return isa<RankedTensorType>(carried.getType());
         });
}
