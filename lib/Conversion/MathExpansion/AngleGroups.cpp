//===- AngleGroups.cpp - One branch for several huge angles ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the grouping of functions of angles. A thread has the
// same function of several elements side by side; a branch in each keeps
// instructions of one from filling the time in which others wait.
//
//===----------------------------------------------------------------------===//

#include "AngleGroups.h"

#include "Operands.h"
#include "ReduceAngle.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fusion;

/// Elements of a group, at most: all are in registers at the branch.
static constexpr size_t kMostGrouped = 4;

/// Whether `op` becomes a branch on a huge angle.
static bool mayBranch(Operation *op, const MathOptions &options) {
  if (!isa<math::SinOp, math::CosOp, math::TanOp>(op) ||
      !isa<FloatType>(op->getResult(0).getType()))
    return false;
  Type type = op->getResult(0).getType();
  KernelOptions kernel = kernelOptions(options, type,
                                       cast<arith::ArithFastMathInterface>(op)
                                           .getFastMathFlagsAttr()
                                           .getValue());
  return (!kernel.fast || type.isF64()) &&
         mayBeHuge(type, kernel.largestOperand);
}

/// Whether `op` can stand beside the ops of `group`, of which it is the next.
static bool belongs(Operation *op, ArrayRef<Operation *> group) {
  return group.size() < kMostGrouped && op->getPrevNode() == group.back() &&
         op->getName() == group.back()->getName() &&
         op->getAttrs() == group.back()->getAttrs() &&
         op->getResultTypes() == group.back()->getResultTypes() &&
         !llvm::is_contained(group, op->getOperand(0).getDefiningOp());
}

static void join(ArrayRef<Operation *> group) {
  Operation *last = group.back();
  ImplicitLocOpBuilder b(last->getLoc(), last);
  SmallVector<Value> operands;
  for (Operation *op : group)
    operands.push_back(op->getOperand(0));
  auto type = VectorType::get({static_cast<int64_t>(group.size())},
                              operands.front().getType());
  Value all = vector::FromElementsOp::create(b, type, operands);
  OperationState state(last->getLoc(), last->getName(), all, type,
                       last->getAttrs());
  Value results = b.create(state)->getResult(0);
  for (auto [i, op] : llvm::enumerate(group)) {
    op->getResult(0).replaceAllUsesWith(
        vector::ExtractOp::create(b, results, static_cast<int64_t>(i)));
    op->erase();
  }
}

void mlir::fusion::groupAngles(Operation *root, const MathOptions &options) {
  SmallVector<SmallVector<Operation *>> groups;
  root->walk([&](Operation *op) {
    if (!mayBranch(op, options))
      return;
    if (groups.empty() || !belongs(op, groups.back()))
      groups.emplace_back();
    groups.back().push_back(op);
  });
  for (ArrayRef<Operation *> group : groups)
    if (group.size() > 1)
      join(group);
}
