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

const GroupShapes::OpFacts &GroupShapes::getFacts(Operation *op) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<OpFacts> &facts = known[op];
  if (facts)
    return *facts;
  facts = std::make_unique<OpFacts>();
  if (llvm::none_of(op->getOperandTypes(), isDynamic) &&
      llvm::none_of(op->getResultTypes(), isDynamic))
    facts->number =
        classes.numbers.get(getKey(op), [&]() { return classes.next++; });
  llvm::append_range(facts->reads, op->getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::append_range(facts->reads, captured);
  return *facts;
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
    const OpFacts &facts = shapes.getFacts(op);
    if (!facts.number)
      return false;
    shape.push_back(*facts.number);
    bool isStatic = llvm::all_of(facts.reads, [&](Value v) { return add(v); });
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
    const OpFacts &facts = shapes.getFacts(op);
    if (!facts.number)
      return false;
    append({Free, *facts.number, cast<OpResult>(value).getResultNumber()});
    return llvm::all_of(facts.reads, [&](Value v) { return add(v); });
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
