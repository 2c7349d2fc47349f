//===- PairContracts.cpp - Ops that share a kernel, or do not -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the contracts on two sets of ops.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/PairContracts.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fusion;

/// Adds `number` to the array `name` of `op`.
static void addNumber(Operation *op, StringRef name, int64_t number) {
  auto numbers = llvm::to_vector(getPairNumbers(op, name));
  numbers.push_back(number);
  op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), numbers));
}

void fusion::addPairContract(ArrayRef<Operation *> first,
                             ArrayRef<Operation *> second, bool together) {
  if (first.empty() || second.empty())
    return;
  StringRef name = together ? kTogetherAttrName : kApartAttrName;
  // The next even number that the function does not have.
  int64_t next = 0;
  first.front()->getParentOfType<FunctionOpInterface>()->walk(
      [&](Operation *op) {
        for (int64_t number : getPairNumbers(op, name))
          next = std::max(next, (number | 1) + 1);
      });
  for (Operation *op : first)
    addNumber(op, name, next);
  for (Operation *op : second)
    addNumber(op, name, together ? next : next + 1);
}
