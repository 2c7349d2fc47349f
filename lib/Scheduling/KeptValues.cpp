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

#include "fusion/Analysis/Reductions.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// The lives of a body's values, in sweeps along one dimension. A reduction is
/// made in the sweep whose number is that of the sweeps of the reductions along
/// the dimension that it comes after; other values in the first one that needs
/// them.
class SweepLives {
public:
  SweepLives(const LoopFacts &facts, unsigned dim);

  KeptValues count() const;

private:
  void findSweeps();
  /// Sweeps along the dimension in which the instance of `id` is made: of what
  /// is relative to a mean or to a maximum, one finds that, the next one what
  /// is relative to it; none for what does not reduce.
  unsigned countOwnSweeps(unsigned id) const;
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
  /// In which each value is made first.
  SmallVector<unsigned> sweeps;
  llvm::SmallBitVector repeats;
  unsigned numSweeps = 0;
  int64_t numResults = 0;
};
} // namespace

SweepLives::SweepLives(const LoopFacts &facts, unsigned dim)
    : facts(facts), body(facts.body), dim(dim), bit(DimMask(1) << dim),
      inputs(facts.inputs.size()), values(body.getInstances().size()),
      repeats(values.size()) {
  findSweeps();
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
  // More are kept rather than made again. Functions of rows, of which each
  // element has a small share, are made once.
  constexpr double kFewInstructions = 4;
  if (node.kind != NodeKind::Pointwise || node.perPoint.sfu >= 1 ||
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

unsigned SweepLives::countOwnSweeps(unsigned id) const {
  const BodyInstance &instance = body.getInstances()[id];
  if (!facts.reduces(instance, dim))
    return 0;
  auto op = dyn_cast<linalg::LinalgOp>(body.getNode(instance).op);
  return op && isDearToCombine(op) ? 2 : 1;
}

void SweepLives::findSweeps() {
  ArrayRef<BodyInstance> instances = body.getInstances();
  // Not before what they need.
  for (const BodyInstance &instance : instances) {
    unsigned &sweep = sweeps.emplace_back(0);
    for (unsigned producer : instance.producers)
      sweep = std::max(sweep, sweeps[producer] + countOwnSweeps(producer));
  }
  // Not before they are needed.
  SmallVector<std::optional<unsigned>> wanted(instances.size());
  for (unsigned id = instances.size(); id-- > 0;) {
    if (wanted[id] && countOwnSweeps(id) == 0)
      sweeps[id] = *wanted[id];
    for (unsigned producer : instances[id].producers)
      wanted[producer] =
          std::min(wanted[producer].value_or(sweeps[id]), sweeps[id]);
  }
}

void SweepLives::visit(unsigned id) {
  const BodyInstance &instance = body.getInstances()[id];
  unsigned sweep = sweeps[id];
  unsigned last = sweep + std::max(countOwnSweeps(id), 1u) - 1;
  numSweeps = std::max(numSweeps, last + 1);
  findBasis(id);
  for (unsigned own = sweep; own <= last; ++own) {
    for (const BodyAccess &access : body.getInputs())
      if (access.instance == id && (access.mask & bit))
        inputs[getNumber(access.value)].add(own);
    for (unsigned producer : instance.producers)
      use(producer, own);
  }
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
