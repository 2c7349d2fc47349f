//===- RandomSizes.cpp - Sizes that a program allows ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for sizes: symbols that must be equal are
// one unknown, and unknowns are chosen one after another, each requirement
// being checked as soon as it is known.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/RandomSizes.h"

#include "Random.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <algorithm>

using namespace mlir::fusion;
using fusionpkg::ExprId;
using fusionpkg::ExprNode;
using fusionpkg::ExprOp;

namespace {
class SizeSearch {
public:
  SizeSearch(const fusionpkg::Entry &entry, const RandomInputOptions &options)
      : entry(entry), options(options), nodes(entry.exprs.getNodes()),
        values(entry.symbols.size(), 1), random(options.seed, /*stream=*/0) {}

  bool run();
  /// Adds what was found.
  void apply(RandomInputOptions &result) const;

private:
  /// Symbols that have one value, and what it may be.
  struct Unknown {
    std::vector<unsigned> symbols;
    std::optional<int64_t> given;
    bool isScalar = false;
    int64_t first = 1;                 // what drawInputs draws
    std::pair<int64_t, int64_t> range; // of a scalar
  };
  /// Something to check once all unknowns up to `level` are chosen: that
  /// `factors`, a condition, is not 0, or that their product is at most `most`.
  struct Check {
    std::vector<ExprId> factors;
    int64_t most = 0;
    size_t level = 0;
  };

  unsigned find(unsigned symbol) const {
    while (parent[symbol] != symbol)
      symbol = parent[symbol];
    return symbol;
  }
  void unify(ExprId condition);
  void makeUnknowns();
  std::optional<int64_t> getGiven(const fusionpkg::Symbol &symbol) const;
  /// The least and the greatest integer to draw for the scalar `input`.
  std::pair<int64_t, int64_t> getRange(unsigned input) const;
  void collectHints();
  void makeChecks();
  void addCheck(std::vector<ExprId> factors, int64_t most);
  bool holds(size_t level) const;
  std::vector<int64_t> getCandidates(const Unknown &unknown);
  bool choose(size_t level);

  const fusionpkg::Entry &entry;
  const RandomInputOptions &options;
  const std::vector<ExprNode> &nodes;
  std::vector<int64_t> values; // of symbols
  std::vector<unsigned> parent;
  std::vector<Unknown> unknowns;
  std::vector<size_t> unknownOf; // of symbols
  std::vector<Check> checks;
  std::vector<int64_t> hints;
  Random random;
  unsigned budget = 20000; // values that may be tried
};
} // namespace

/// Joins the symbols that `condition` says are equal.
void SizeSearch::unify(ExprId condition) {
  const ExprNode &node = nodes[condition];
  if (node.op == ExprOp::And) {
    unify(node.lhs);
    unify(node.rhs);
  }
  if (node.op != ExprOp::Eq || nodes[node.lhs].op != ExprOp::Symbol ||
      nodes[node.rhs].op != ExprOp::Symbol)
    return;
  unsigned lhs = find(nodes[node.lhs].value), rhs = find(nodes[node.rhs].value);
  parent[std::max(lhs, rhs)] = std::min(lhs, rhs);
}

std::optional<int64_t>
SizeSearch::getGiven(const fusionpkg::Symbol &symbol) const {
  std::string position =
      "arg" + std::to_string(symbol.input) + "." + std::to_string(symbol.dim);
  for (const std::string &name : {position, symbol.name})
    if (auto given = options.dims.find(name); given != options.dims.end())
      return given->second;
  return std::nullopt;
}

std::pair<int64_t, int64_t> SizeSearch::getRange(unsigned input) const {
  fusionpkg::DType type = entry.inputs[input].dtype;
  unsigned bits = fusionpkg::getStorageBits(type);
  int64_t least = INT64_MIN >> (64 - bits), most = INT64_MAX >> (64 - bits);
  if (type == fusionpkg::DType::I1)
    least = 0, most = 1;
  return {std::clamp(options.intLow, least, most),
          std::clamp(options.intHigh, least, most)};
}

void SizeSearch::makeUnknowns() {
  for (unsigned i = 0; i < entry.symbols.size(); ++i)
    parent.push_back(i);
  for (const fusionpkg::Requirement &requirement : entry.requirements)
    unify(requirement.condition);
  unknownOf.assign(entry.symbols.size(), 0);
  for (unsigned i = 0; i < entry.symbols.size(); ++i) {
    const fusionpkg::Symbol &symbol = entry.symbols[i];
    bool isScalar = symbol.dim == fusionpkg::Symbol::kFromScalar;
    std::optional<int64_t> given;
    if (!isScalar)
      given = getGiven(symbol);
    int64_t first = given.value_or(1);
    std::pair<int64_t, int64_t> range;
    if (isScalar) {
      range = getRange(symbol.input);
      first = Random(options.seed, symbol.input + 1)
                  .nextInt(range.first, range.second);
    } else if (!given) {
      first = random.nextSize();
    }
    if (find(i) == i) {
      unknownOf[i] = unknowns.size();
      unknowns.push_back({{}, {}, false, first, range});
    }
    unknownOf[i] = unknownOf[find(i)];
    Unknown &unknown = unknowns[unknownOf[i]];
    unknown.symbols.push_back(i);
    unknown.isScalar |= isScalar;
    if (given && !unknown.given)
      unknown.given = given;
  }
}

/// Sizes that the program names are worth a try, as are their multiples.
void SizeSearch::collectHints() {
  constexpr int64_t kMaxHint = 4096;
  for (const ExprNode &node : nodes)
    if (node.op == ExprOp::Const && node.value > 1 && node.value <= kMaxHint)
      for (int64_t hint : {node.value, 2 * node.value, 3 * node.value})
        if (!llvm::is_contained(hints, hint))
          hints.push_back(hint);
}

/// Adds a check to those of the last unknown that it is about.
void SizeSearch::addCheck(std::vector<ExprId> factors, int64_t most) {
  std::optional<size_t> level;
  std::vector<ExprId> worklist(factors);
  std::vector<bool> seen(nodes.size());
  while (!worklist.empty()) {
    ExprId id = worklist.back();
    worklist.pop_back();
    if (seen[id])
      continue;
    seen[id] = true;
    const ExprNode &node = nodes[id];
    if (node.op == ExprOp::Symbol)
      level = std::max(level.value_or(0), unknownOf[node.value]);
    else if (!node.isLeaf())
      worklist.insert(worklist.end(), {node.lhs, node.rhs});
  }
  if (level)
    checks.push_back({std::move(factors), most, *level});
}

void SizeSearch::makeChecks() {
  for (const fusionpkg::Requirement &requirement : entry.requirements)
    addCheck({requirement.condition}, 0);
  for (const std::vector<fusionpkg::TensorSpec> *specs :
       {&entry.inputs, &entry.outputs})
    for (const fusionpkg::TensorSpec &spec : *specs)
      addCheck(spec.dims, kMaxRandomElements);
  for (const fusionpkg::Buffer &buffer : entry.buffers)
    if (buffer.kind == fusionpkg::BufferKind::Temp)
      addCheck({buffer.bytes}, kMaxRandomElements * 8);
}

/// True when the checks of `level` hold.
bool SizeSearch::holds(size_t level) const {
  fusionpkg::ExprValues known(nodes, values.data(), values.size());
  for (const Check &check : checks) {
    if (check.level != level)
      continue;
    std::optional<int64_t> product = 1;
    for (ExprId factor : check.factors) {
      std::optional<int64_t> value = known.get(factor);
      if (!value || (check.most && *value < 0))
        return false;
      product = llvm::checkedMul(*product, *value);
      if (!product)
        return false;
    }
    if (check.most ? *product > check.most : *product == 0)
      return false;
  }
  return true;
}

/// What `unknown` may be, in the order in which it is tried.
std::vector<int64_t> SizeSearch::getCandidates(const Unknown &unknown) {
  if (unknown.given)
    return {*unknown.given};
  constexpr int64_t kMaxTried = 300;
  std::vector<int64_t> result{unknown.first};
  if (unknown.isScalar) {
    auto [low, high] = unknown.range;
    for (int64_t i = 0; i < kMaxTried && i <= high - low; ++i)
      result.push_back(low + i);
    return result;
  }
  std::vector<int64_t> sizes(std::begin(Random::kSizes),
                             std::end(Random::kSizes));
  for (size_t i = sizes.size(); i-- > 1;)
    std::swap(sizes[i], sizes[random.nextInt(0, i)]);
  result.insert(result.end(), sizes.begin(), sizes.end());
  result.insert(result.end(), hints.begin(), hints.end());
  for (int64_t size = 1; size <= kMaxTried; ++size)
    result.push_back(size);
  result.push_back(0);
  return result;
}

/// Chooses the unknowns from number `level` on; false if there is no way.
bool SizeSearch::choose(size_t level) {
  if (level == unknowns.size())
    return true;
  for (int64_t candidate : getCandidates(unknowns[level])) {
    if (budget == 0)
      return false;
    --budget;
    for (unsigned symbol : unknowns[level].symbols)
      values[symbol] = candidate;
    if (holds(level) && choose(level + 1))
      return true;
  }
  return false;
}

bool SizeSearch::run() {
  makeUnknowns();
  collectHints();
  makeChecks();
  return choose(0);
}

void SizeSearch::apply(RandomInputOptions &result) const {
  for (auto [symbol, value] : llvm::zip_equal(entry.symbols, values)) {
    if (symbol.dim == fusionpkg::Symbol::kFromScalar)
      result.scalars[symbol.input] = value;
    else if (!getGiven(symbol))
      result.dims[symbol.name] = value;
  }
}

bool mlir::fusion::drawSizes(const fusionpkg::Entry &entry,
                             RandomInputOptions &options) {
  SizeSearch search(entry, options);
  if (!search.run())
    return false;
  RandomInputOptions result = options;
  search.apply(result);
  options = std::move(result);
  return true;
}
