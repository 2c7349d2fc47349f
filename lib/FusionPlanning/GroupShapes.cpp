//===- GroupShapes.cpp - Kernels that are alike ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements how planning tells kernels that are alike.
//
//===----------------------------------------------------------------------===//

#include "GroupShapes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::planning;

static bool isDynamic(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && !shaped.hasStaticShape();
}

/// What `op` reads: its operands, then what its regions take from outside.
static SmallVector<Value> getReads(Operation *op) {
  SmallVector<Value> reads(op->getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::append_range(reads, captured);
  return reads;
}

std::optional<unsigned> GroupShapes::getClass(Operation *op) {
  auto [found, isNew] = known.try_emplace(op);
  if (isNew && llvm::none_of(op->getOperandTypes(), isDynamic) &&
      llvm::none_of(op->getResultTypes(), isDynamic))
    found->second =
        classes.numbers.get(getKey(op), [&]() { return classes.next++; });
  return found->second;
}

namespace {
/// What a number that tells of a tensor is followed by.
enum Kind : unsigned { Known, Free, Outside };
} // namespace

class GroupShapes::Builder {
public:
  Builder(GroupShapes &shapes, ArrayRef<unsigned> nodes) : shapes(shapes) {
    for (unsigned node : nodes)
      ops.insert(shapes.graph.getNode(node).op);
  }

  /// Adds operation `op` and what it reads; false with dynamic sizes.
  bool add(Operation *op) {
    std::optional<unsigned> id = shapes.getClass(op);
    if (!id)
      return false;
    shape.push_back(*id);
    bool isStatic = llvm::all_of(getReads(op), [&](Value v) { return add(v); });
    for (Value result : op->getResults())
      numbers.try_emplace(result, numbers.size());
    return isStatic;
  }

  bool add(Value value) {
    auto [number, isNew] = numbers.try_emplace(value, numbers.size());
    Operation *op = value.getDefiningOp();
    if (!isNew || (op && ops.contains(op))) {
      append({Known, number->second});
      return true;
    }
    // Tensors of their own have the types that their readers' classes say.
    if (!op || isComputeOp(op)) {
      append({Outside, number->second});
      return true;
    }
    std::optional<unsigned> id = shapes.getClass(op);
    if (!id)
      return false;
    append({Free, *id, cast<OpResult>(value).getResultNumber()});
    return llvm::all_of(getReads(op), [&](Value v) { return add(v); });
  }

  Shape shape;

private:
  void append(std::initializer_list<uintptr_t> numbers) {
    shape.insert(shape.end(), numbers);
  }

  GroupShapes &shapes;
  llvm::SmallPtrSet<Operation *, 16> ops;
  DenseMap<Value, unsigned> numbers;
};

std::optional<GroupShapes::Shape> GroupShapes::get(ArrayRef<unsigned> nodes,
                                                   ArrayRef<unsigned> stored) {
  Builder builder(*this, nodes);
  for (unsigned node : nodes)
    if (!builder.add(graph.getNode(node).op))
      return std::nullopt;
  builder.shape.push_back(~uintptr_t(0));
  for (unsigned value : stored)
    if (!builder.add(graph.getValue(value).ssa))
      return std::nullopt;
  return std::move(builder.shape);
}
