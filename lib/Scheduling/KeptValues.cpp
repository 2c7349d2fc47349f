//===- KeptValues.cpp - What threads keep between sweeps ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the count of what threads keep from one sweep along a
// dimension, that of a reduction, to a later one.
//
//===----------------------------------------------------------------------===//

#include "LoopFamilies.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// The lives of a body's values, in sweeps along one dimension. The sweep of a
/// value is the number of reductions along the dimension that it comes after.
class SweepLives {
public:
  SweepLives(const LoopFacts &facts, unsigned dim);

  KeptValues count() const;

private:
  void visit(unsigned id);
  /// Notes that `sweep` needs `source`, or the input that it is made of.
  void use(unsigned source, unsigned sweep);
  bool isLong(unsigned id) const;
  /// Finds the number of the only input with the dimension that the value of
  /// `id` is made of, by few instructions: whoever has that has the value; or
  /// that there is none, and the value repeats others.
  void findBasis(unsigned id);
  unsigned getNumber(unsigned value) const {
    return llvm::find_if(facts.inputs,
                         [&](const KernelTensor &tensor) {
                           return tensor.value == value;
                         }) -
           facts.inputs.begin();
  }

  struct Life {
    std::optional<unsigned> first;
    unsigned last = 0;

    void add(unsigned sweep) {
      first = std::min(first.value_or(sweep), sweep);
      last = std::max(last, sweep);
    }
  };

  const LoopFacts &facts;
  const KernelBody &body;
  unsigned dim;
  DimMask bit;
  /// Of each input, and each value.
  SmallVector<Life> inputs, values;
  SmallVector<std::optional<unsigned>> basis;
  llvm::SmallBitVector repeats;
  unsigned numSweeps = 0;
  int64_t numResults = 0;
};
} // namespace

SweepLives::SweepLives(const LoopFacts &facts, unsigned dim)
    : facts(facts), body(facts.body), dim(dim), bit(DimMask(1) << dim),
      inputs(facts.inputs.size()), values(body.getInstances().size()),
      repeats(values.size()) {
  for (unsigned id = 0; id < values.size(); ++id)
    visit(id);
}

bool SweepLives::isLong(unsigned id) const {
  const BodyInstance &instance = body.getInstances()[id];
  return (instance.outerMask & bit) && !facts.reduces(instance, dim) &&
         !repeats.test(id);
}

void SweepLives::findBasis(unsigned id) {
  basis.push_back(std::nullopt);
  const BodyInstance &instance = body.getInstances()[id];
  const GraphNode &node = body.getNode(instance);
  constexpr double kFewInstructions = 4;
  if (node.kind != NodeKind::Pointwise || node.perPoint.sfu > 0 ||
      node.perPoint.doubles > 0 ||
      node.perPoint.instructions > kFewInstructions)
    return;
  llvm::SmallDenseSet<unsigned, 2> sources;
  for (const BodyAccess &access : body.getInputs())
    if (access.instance == id && (access.mask & bit))
      sources.insert(getNumber(access.value));
  for (unsigned producer : instance.producers) {
    if (!isLong(producer))
      continue;
    if (!basis[producer])
      return;
    sources.insert(*basis[producer]);
  }
  if (sources.empty())
    repeats.set(id);
  if (sources.size() == 1)
    basis.back() = *sources.begin();
}

void SweepLives::use(unsigned source, unsigned sweep) {
  if (!isLong(source))
    return;
  (basis[source] ? inputs[*basis[source]] : values[source]).add(sweep);
}

void SweepLives::visit(unsigned id) {
  const BodyInstance &instance = body.getInstances()[id];
  unsigned sweep = 0;
  for (unsigned producer : instance.producers) {
    const BodyInstance &source = body.getInstances()[producer];
    unsigned made = facts.reduces(source, dim) ? 1 : 0;
    sweep = std::max(sweep, values[producer].first.value_or(0) + made);
  }
  numSweeps = std::max(numSweeps, sweep + 1);
  findBasis(id);
  for (const BodyAccess &access : body.getInputs())
    if (access.instance == id && (access.mask & bit))
      inputs[getNumber(access.value)].add(sweep);
  for (unsigned producer : instance.producers)
    use(producer, sweep);
  values[id].first = sweep;
  values[id].last = std::max(values[id].last, sweep);
  if (facts.reduces(instance, dim))
    numResults += static_cast<int64_t>(body.getNode(instance).writes.size());
}

KeptValues SweepLives::count() const {
  KeptValues result;
  result.results = numResults;
  SmallVector<double> kept(numSweeps, 0);
  auto add = [&](const Life &life, unsigned value) {
    // Narrow elements are packed.
    double registers = body.getGraph().getValue(value).elementBytes / 4;
    for (unsigned sweep = *life.first; sweep < life.last; ++sweep)
      kept[sweep] += registers;
    return registers;
  };
  for (auto [life, tensor] : llvm::zip_equal(inputs, facts.inputs))
    if (life.first) {
      double registers = add(life, tensor.value);
      result.late += *life.first > 0 ? registers : 0;
    }
  for (auto [id, life] : llvm::enumerate(values))
    if (isLong(id) && !basis[id])
      add(life, body.getNode(body.getInstances()[id]).writes.front().value);
  result.elements = *llvm::max_element(kept);
  return result;
}

KeptValues mlir::fusion::countKept(const LoopFacts &facts, unsigned dim) {
  return SweepLives(facts, dim).count();
}
