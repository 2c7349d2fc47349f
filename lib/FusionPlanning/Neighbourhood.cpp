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
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

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
    for (Value operand : op->getOperands())
      add(operand.getDefiningOp());
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

Neighbourhood mlir::fusion::copyNeighbourhood(FunctionOpInterface func,
                                              Operation *center,
                                              unsigned mostOps) {
  llvm::SetVector<Operation *> found = findNext(center, mostOps);
  addShared(found);
  SmallVector<Operation *> ops(found.begin(), found.end());
  llvm::sort(ops, [](Operation *a, Operation *b) {
    return a != b && a->isBeforeInBlock(b);
  });
  llvm::SetVector<Value> arguments;
  SmallVector<Value> results;
  for (Operation *op : ops) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        bool isInside = producer
                            ? op->isAncestor(producer) ||
                                  (producer->getBlock() == op->getBlock() &&
                                   found.contains(producer))
                            : operand.getParentBlock() != op->getBlock();
        if (!isInside)
          arguments.insert(operand);
      }
    });
    for (Value result : op->getResults())
      if (!isShared(op) &&
          llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !found.contains(
                op->getBlock()->findAncestorOpInBlock(*user));
          }))
        results.push_back(result);
  }
  Neighbourhood near;
  OpBuilder builder(func->getContext());
  auto types = [](auto values) {
    return llvm::map_to_vector(values, [](Value v) { return v.getType(); });
  };
  near.owner = func::FuncOp::create(
      func.getLoc(), func.getName(),
      builder.getFunctionType(types(arguments.getArrayRef()), types(results)));
  near.func = near.owner.get();
  Block *body = near.owner->addEntryBlock();
  IRMapping mapping;
  mapping.map(arguments.getArrayRef(), body->getArguments());
  builder.setInsertionPointToEnd(body);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  func::ReturnOp::create(
      builder, func.getLoc(),
      llvm::map_to_vector(results, [&](Value v) { return mapping.lookup(v); }));
  near.center = mapping.lookup(center);
  return near;
}
