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
#include "mlir/IR/Matchers.h"
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

/// True when `a` and `b` differ in the tensors that they read alone.
static bool areAlike(Operation *a, Operation *b) {
  DenseMap<Value, Value> inside;
  auto check = [&](Value lhs, Value rhs) {
    if (auto known = inside.find(lhs); known != inside.end())
      return success(known->second == rhs);
    if (lhs == rhs)
      return success();
    Attribute left, right;
    if (matchPattern(lhs, m_Constant(&left)) &&
        matchPattern(rhs, m_Constant(&right)))
      return success(left == right);
    return success(isa<RankedTensorType>(lhs.getType()) &&
                   lhs.getType() == rhs.getType());
  };
  auto mark = [&](Value lhs, Value rhs) { inside[lhs] = rhs; };
  return OperationEquivalence::isEquivalentTo(
      a, b, check, mark, OperationEquivalence::IgnoreLocations);
}

std::optional<unsigned> GroupShapes::getClass(Operation *op) {
  auto [known, isNew] = classes.try_emplace(op);
  if (!isNew)
    return known->second;
  if (llvm::any_of(op->getOperandTypes(), isDynamic) ||
      llvm::any_of(op->getResultTypes(), isDynamic))
    return std::nullopt;
  size_t hash = OperationEquivalence::computeHash(
      op, OperationEquivalence::ignoreHashValue,
      OperationEquivalence::ignoreHashValue,
      OperationEquivalence::IgnoreLocations);
  auto &alike = this->known[hash];
  for (auto [other, id] : alike)
    if (areAlike(other, op))
      return known->second = id;
  alike.push_back({op, numClasses});
  return known->second = numClasses++;
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
      shape.append({Known, number->second});
      return true;
    }
    // Tensors of their own have the types that their readers' classes say.
    if (!op || isComputeOp(op)) {
      shape.append({Outside, number->second});
      return true;
    }
    std::optional<unsigned> id = shapes.getClass(op);
    if (!id)
      return false;
    shape.append({Free, *id, cast<OpResult>(value).getResultNumber()});
    return llvm::all_of(getReads(op), [&](Value v) { return add(v); });
  }

  SmallVector<unsigned> shape;

private:
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
  builder.shape.push_back(~0u);
  for (unsigned value : stored)
    if (!builder.add(graph.getValue(value).ssa))
      return std::nullopt;
  return Shape(builder.shape.begin(), builder.shape.end());
}
