//===- Expr.h - Integer expressions over symbolic sizes ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the expressions in which a package states its shapes, byte
// sizes, grids and guards. An entry owns one pool of nodes; a node refers only
// to nodes before it, so one forward sweep evaluates the whole pool.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_EXECUTABLE_EXPR_H
#define FUSION_EXECUTABLE_EXPR_H

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace fusionpkg {

/// Index of a node in its entry's pool.
using ExprId = uint32_t;
constexpr ExprId kNoExpr = UINT32_MAX;

/// Comparisons and logic give 0 or 1. Division and modulo round towards minus
/// infinity (CeilDiv towards plus infinity). And stops at a zero on its left,
/// Or at a non-zero, so that the left side can guard the right.
enum class ExprOp : uint8_t {
  Const = 0,  // value
  Symbol = 1, // value is the index of a symbol of the entry
  Add = 2,
  Sub = 3,
  Mul = 4,
  FloorDiv = 5,
  CeilDiv = 6,
  Mod = 7,
  Min = 8,
  Max = 9,
  Eq = 10,
  Ne = 11,
  Lt = 12,
  Le = 13,
  And = 14,
  Or = 15,
};
constexpr uint8_t kLastExprOp = static_cast<uint8_t>(ExprOp::Or);

struct ExprNode {
  ExprOp op = ExprOp::Const;
  ExprId lhs = 0, rhs = 0; // binary operations only
  int64_t value = 0;       // Const and Symbol only

  bool isLeaf() const { return op == ExprOp::Const || op == ExprOp::Symbol; }
};

/// The value of `op` on two integers; nothing when it overflows 64 bits or
/// divides by zero. `op` is not a leaf.
std::optional<int64_t> applyExprOp(ExprOp op, int64_t lhs, int64_t rhs);

/// Builds and holds nodes. Equal nodes are made once and constants are folded,
/// so pools stay small and equal expressions have equal ids. An operation on
/// constants that overflows is kept as it is: evaluating it is the error.
class ExprPool {
public:
  ExprId constant(int64_t value);
  ExprId symbol(uint32_t index);
  ExprId binary(ExprOp op, ExprId lhs, ExprId rhs);

  ExprId add(ExprId a, ExprId b) { return binary(ExprOp::Add, a, b); }
  ExprId sub(ExprId a, ExprId b) { return binary(ExprOp::Sub, a, b); }
  ExprId mul(ExprId a, ExprId b) { return binary(ExprOp::Mul, a, b); }
  ExprId floorDiv(ExprId a, ExprId b) { return binary(ExprOp::FloorDiv, a, b); }
  ExprId ceilDiv(ExprId a, ExprId b) { return binary(ExprOp::CeilDiv, a, b); }
  ExprId mod(ExprId a, ExprId b) { return binary(ExprOp::Mod, a, b); }
  ExprId min(ExprId a, ExprId b) { return binary(ExprOp::Min, a, b); }
  ExprId max(ExprId a, ExprId b) { return binary(ExprOp::Max, a, b); }
  ExprId eq(ExprId a, ExprId b) { return binary(ExprOp::Eq, a, b); }
  ExprId ne(ExprId a, ExprId b) { return binary(ExprOp::Ne, a, b); }
  ExprId lt(ExprId a, ExprId b) { return binary(ExprOp::Lt, a, b); }
  ExprId le(ExprId a, ExprId b) { return binary(ExprOp::Le, a, b); }
  ExprId logicalAnd(ExprId a, ExprId b) { return binary(ExprOp::And, a, b); }
  ExprId logicalOr(ExprId a, ExprId b) { return binary(ExprOp::Or, a, b); }
  /// Product of all; 1 for none.
  ExprId product(const std::vector<ExprId> &factors);

  /// The value of a constant node, nothing for any other.
  std::optional<int64_t> getConstant(ExprId id) const;

  const std::vector<ExprNode> &getNodes() const { return nodes; }
  size_t size() const { return nodes.size(); }
  /// Replaces the content; used when a package is read.
  void setNodes(std::vector<ExprNode> newNodes);

  /// "ceildiv(m * 128, 4)"; symbols by their names.
  std::string print(ExprId id, const std::vector<std::string> &names) const;

private:
  ExprId insert(ExprNode node);

  std::vector<ExprNode> nodes;
  std::map<std::tuple<uint8_t, ExprId, ExprId, int64_t>, ExprId> known;
  size_t numKnown = 0; // nodes that `known` has
};

/// The values of all nodes of a pool for given symbols. A node that overflows
/// or divides by zero has no value, nor has any node that depends on it; that
/// is an error only for who asks for it.
class ExprValues {
public:
  ExprValues(const std::vector<ExprNode> &nodes, const int64_t *symbols,
             size_t numSymbols);
  std::optional<int64_t> get(ExprId id) const {
    if (id >= values.size())
      return std::nullopt;
    return values[id];
  }

private:
  std::vector<std::optional<int64_t>> values;
};

} // namespace fusionpkg

#endif // FUSION_EXECUTABLE_EXPR_H
