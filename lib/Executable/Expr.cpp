//===- Expr.cpp - Integer expressions over symbolic sizes -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements building, folding, evaluating and printing expressions.
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/Expr.h"

#include <algorithm>
#include <cassert>

namespace fusionpkg {

/// Quotient rounded towards minus infinity, or nothing when there is none.
static std::optional<int64_t> floorDivide(int64_t lhs, int64_t rhs) {
  if (rhs == 0 || (lhs == INT64_MIN && rhs == -1))
    return std::nullopt;
  int64_t quotient = lhs / rhs;
  if (lhs % rhs != 0 && (lhs < 0) != (rhs < 0))
    --quotient;
  return quotient;
}

std::optional<int64_t> applyExprOp(ExprOp op, int64_t lhs, int64_t rhs) {
  int64_t result = 0;
  switch (op) {
  case ExprOp::Const:
  case ExprOp::Symbol:
    return std::nullopt;
  case ExprOp::Add:
    if (__builtin_add_overflow(lhs, rhs, &result))
      return std::nullopt;
    return result;
  case ExprOp::Sub:
    if (__builtin_sub_overflow(lhs, rhs, &result))
      return std::nullopt;
    return result;
  case ExprOp::Mul:
    if (__builtin_mul_overflow(lhs, rhs, &result))
      return std::nullopt;
    return result;
  case ExprOp::FloorDiv:
    return floorDivide(lhs, rhs);
  case ExprOp::CeilDiv: {
    std::optional<int64_t> floor = floorDivide(lhs, rhs);
    if (floor && lhs % rhs != 0)
      return *floor + 1;
    return floor;
  }
  case ExprOp::Mod: {
    if (!floorDivide(lhs, rhs))
      return std::nullopt;
    int64_t rest = lhs % rhs;
    return rest != 0 && (rest < 0) != (rhs < 0) ? rest + rhs : rest;
  }
  case ExprOp::Min:
    return std::min(lhs, rhs);
  case ExprOp::Max:
    return std::max(lhs, rhs);
  case ExprOp::Eq:
    return lhs == rhs;
  case ExprOp::Ne:
    return lhs != rhs;
  case ExprOp::Lt:
    return lhs < rhs;
  case ExprOp::Le:
    return lhs <= rhs;
  case ExprOp::And:
    return lhs != 0 && rhs != 0;
  case ExprOp::Or:
    return lhs != 0 || rhs != 0;
  }
  return std::nullopt;
}

ExprId ExprPool::insert(ExprNode node) {
  auto keyOf = [](const ExprNode &n) {
    return std::make_tuple(static_cast<uint8_t>(n.op), n.lhs, n.rhs, n.value);
  };
  // A pool that was read is indexed only if somebody adds to it.
  for (; numKnown < nodes.size(); ++numKnown)
    known.emplace(keyOf(nodes[numKnown]), static_cast<ExprId>(numKnown));
  auto [it, isNew] =
      known.emplace(keyOf(node), static_cast<ExprId>(nodes.size()));
  if (isNew) {
    nodes.push_back(node);
    ++numKnown;
  }
  return it->second;
}

void ExprPool::setNodes(std::vector<ExprNode> newNodes) {
  nodes = std::move(newNodes);
  known.clear();
  numKnown = 0;
}

ExprId ExprPool::constant(int64_t value) {
  return insert({ExprOp::Const, 0, 0, value});
}

ExprId ExprPool::symbol(uint32_t index) {
  return insert({ExprOp::Symbol, 0, 0, index});
}

std::optional<int64_t> ExprPool::getConstant(ExprId id) const {
  if (id >= nodes.size() || nodes[id].op != ExprOp::Const)
    return std::nullopt;
  return nodes[id].value;
}

static bool isCommutative(ExprOp op) {
  switch (op) {
  case ExprOp::Add:
  case ExprOp::Mul:
  case ExprOp::Min:
  case ExprOp::Max:
  case ExprOp::Eq:
  case ExprOp::Ne:
    return true;
  default:
    return false;
  }
}

ExprId ExprPool::binary(ExprOp op, ExprId lhs, ExprId rhs) {
  assert(lhs < nodes.size() && rhs < nodes.size() && "operand of another pool");
  std::optional<int64_t> left = getConstant(lhs), right = getConstant(rhs);
  if (left && right)
    if (std::optional<int64_t> folded = applyExprOp(op, *left, *right))
      return constant(*folded);

  // Constants go to the right, the rest in order of id, so that a + b and
  // b + a are one node.
  if (isCommutative(op) && (left || (!right && lhs > rhs))) {
    std::swap(lhs, rhs);
    std::swap(left, right);
  }
  switch (op) {
  case ExprOp::Add:
  case ExprOp::Sub:
    if (right == 0)
      return lhs;
    break;
  case ExprOp::Mul:
  case ExprOp::FloorDiv:
  case ExprOp::CeilDiv:
    if (right == 1)
      return lhs;
    break;
  case ExprOp::Min:
  case ExprOp::Max:
    if (lhs == rhs)
      return lhs;
    break;
  case ExprOp::Eq:
  case ExprOp::Le:
    if (lhs == rhs)
      return constant(1);
    break;
  case ExprOp::Ne:
  case ExprOp::Lt:
    if (lhs == rhs)
      return constant(0);
    break;
  case ExprOp::And:
    if (left && *left == 0)
      return constant(0);
    break;
  case ExprOp::Or:
    if (left && *left != 0)
      return constant(1);
    break;
  default:
    break;
  }
  return insert({op, lhs, rhs, 0});
}

ExprId ExprPool::product(const std::vector<ExprId> &factors) {
  ExprId result = constant(1);
  for (ExprId factor : factors)
    result = mul(result, factor);
  return result;
}

static const char *getSpelling(ExprOp op) {
  switch (op) {
  case ExprOp::Add:
    return " + ";
  case ExprOp::Sub:
    return " - ";
  case ExprOp::Mul:
    return " * ";
  case ExprOp::FloorDiv:
    return "floordiv";
  case ExprOp::CeilDiv:
    return "ceildiv";
  case ExprOp::Mod:
    return "mod";
  case ExprOp::Min:
    return "min";
  case ExprOp::Max:
    return "max";
  case ExprOp::Eq:
    return " == ";
  case ExprOp::Ne:
    return " != ";
  case ExprOp::Lt:
    return " < ";
  case ExprOp::Le:
    return " <= ";
  case ExprOp::And:
    return " and ";
  case ExprOp::Or:
    return " or ";
  case ExprOp::Const:
  case ExprOp::Symbol:
    break;
  }
  return "";
}

/// Appends the text of `id`; `budget` bounds the length, since a pool is a
/// graph whose tree can be exponentially larger than the pool itself.
static void printNode(const std::vector<ExprNode> &nodes, ExprId id,
                      const std::vector<std::string> &names, unsigned depth,
                      size_t budget, std::string &out) {
  if (id >= nodes.size()) {
    out += "?";
    return;
  }
  const ExprNode &node = nodes[id];
  if (node.op == ExprOp::Const) {
    out += std::to_string(node.value);
    return;
  }
  if (node.op == ExprOp::Symbol) {
    size_t index = static_cast<size_t>(node.value);
    out += index < names.size() ? names[index] : "s" + std::to_string(index);
    return;
  }
  constexpr unsigned kMaxDepth = 64;
  if (depth > kMaxDepth || out.size() > budget) {
    out += "...";
    return;
  }
  std::string spelling = getSpelling(node.op);
  bool isInfix = spelling.front() == ' ';
  out += isInfix ? (depth ? "(" : "") : spelling + "(";
  printNode(nodes, node.lhs, names, depth + 1, budget, out);
  out += isInfix ? spelling : ", ";
  printNode(nodes, node.rhs, names, depth + 1, budget, out);
  out += isInfix && !depth ? "" : ")";
}

std::string ExprPool::print(ExprId id,
                            const std::vector<std::string> &names) const {
  constexpr size_t kMaxLength = 1024;
  std::string out;
  printNode(nodes, id, names, 0, kMaxLength, out);
  return out;
}

ExprValues::ExprValues(const std::vector<ExprNode> &nodes,
                       const int64_t *symbols, size_t numSymbols) {
  values.reserve(nodes.size());
  for (const ExprNode &node : nodes) {
    std::optional<int64_t> value;
    if (node.op == ExprOp::Const) {
      value = node.value;
    } else if (node.op == ExprOp::Symbol) {
      if (node.value >= 0 && static_cast<uint64_t>(node.value) < numSymbols)
        value = symbols[node.value];
    } else {
      std::optional<int64_t> lhs = get(node.lhs), rhs = get(node.rhs);
      if (node.op == ExprOp::And && lhs == 0)
        value = 0;
      else if (node.op == ExprOp::Or && lhs && *lhs != 0)
        value = 1;
      else if (lhs && rhs)
        value = applyExprOp(node.op, *lhs, *rhs);
    }
    values.push_back(value);
  }
}

} // namespace fusionpkg
