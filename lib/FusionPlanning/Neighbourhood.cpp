//===- Neighbourhood.cpp - What lies around an operation ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the copying of a part of a function.
//
//===----------------------------------------------------------------------===//

#include "Neighbourhood.h"

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Contraction.h"

using namespace mlir;
using namespace mlir::fusion;

/// What any number of operations share, and each could have for itself.
static bool isShared(Operation *op) {
  return isFreeOp(op) || op->hasTrait<OpTrait::ConstantLike>();
}

/// The operations next to `center`.
static llvm::SetVector<Operation *> findNext(Operation *center,
                                             unsigned mostOps) {
  Block *block = center->getBlock();
  llvm::SetVector<Operation *> found;
  found.insert(center);
  auto add = [&](Operation *op) {
    if (op && op->getBlock() == block && found.size() < mostOps &&
        !isShared(op) && !op->hasTrait<OpTrait::IsTerminator>())
      found.insert(op);
  };
  for (size_t i = 0; i < found.size(); ++i) {
    Operation *op = found[i];
    auto addUsers = [&](ValueRange values) {
      SmallVector<Operation *> users;
      for (Value value : values)
        for (Operation *user : value.getUsers())
          users.push_back(block->findAncestorOpInBlock(*user));
      llvm::sort(users, [](Operation *a, Operation *b) {
        return a != b && a->isBeforeInBlock(b);
      });
      llvm::for_each(users, add);
    };
    // Bodies read tensors, too.
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && producer->getBlock() == block)
          add(producer);
    });
    addUsers(op->getResults());
    // Who else reads what it reads.
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp() || !isShared(operand.getDefiningOp()))
        addUsers(operand);
  }
  return found;
}

/// Adds what `ops` share with others.
static void addShared(llvm::SetVector<Operation *> &ops) {
  for (size_t i = 0; i < ops.size(); ++i) {
    Block *block = ops[i]->getBlock();
    ops[i]->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *op = operand.getDefiningOp();
        if (op && op->getBlock() == block && isShared(op))
          ops.insert(op);
      }
    });
  }
}

OwningOpRef<func::FuncOp>
mlir::fusion::copyOps(const llvm::SetVector<Operation *> &ops,
                      ValueRange results, IRMapping &mapping) {
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted, [](Operation *a, Operation *b) {
    return a != b && a->isBeforeInBlock(b);
  });
  Block *block = sorted.front()->getBlock();
  llvm::SetVector<Value> arguments;
  for (Operation *op : sorted)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        bool isOfBlock = operand.getParentBlock() == block;
        if (isOfBlock && !(producer && ops.contains(producer)))
          arguments.insert(operand);
      }
    });
  Location loc = sorted.front()->getLoc();
  OpBuilder builder(loc.getContext());
  auto func = func::FuncOp::create(
      loc, "part",
      builder.getFunctionType(ValueRange(arguments.getArrayRef()).getTypes(),
                              results.getTypes()));
  Block *body = func.addEntryBlock();
  mapping.map(arguments.getArrayRef(), body->getArguments());
  builder.setInsertionPointToEnd(body);
  for (Operation *op : sorted)
    builder.clone(*op, mapping);
  func::ReturnOp::create(
      builder, loc,
      llvm::map_to_vector(results, [&](Value v) { return mapping.lookup(v); }));
  return func;
}

Neighbourhood mlir::fusion::copyNeighbourhood(Operation *center,
                                              unsigned mostOps) {
  llvm::SetVector<Operation *> ops = findNext(center, mostOps);
  addShared(ops);
  // What others need of it.
  SmallVector<Value> results;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (!isShared(op) &&
          llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !ops.contains(op->getBlock()->findAncestorOpInBlock(*user));
          }))
        results.push_back(result);
  IRMapping mapping;
  Neighbourhood near;
  near.owner = copyOps(ops, results, mapping);
  near.func = near.owner.get();
  if (allowsTF32(center->getParentOp()))
    near.func->setAttr(kTF32AttrName, UnitAttr::get(center->getContext()));
  near.center = mapping.lookup(center);
  return near;
}

OwningOpRef<Operation *>
mlir::fusion::cloneForPlanning(FunctionOpInterface func, IRMapping &mapping) {
  OwningOpRef<Operation *> copy = func->clone(mapping);
  if (allowsTF32(func))
    copy.get()->setAttr(kTF32AttrName, UnitAttr::get(func->getContext()));
  return copy;
}
