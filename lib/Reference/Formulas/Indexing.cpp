//===- Indexing.cpp - Formulas of gather and scan -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file writes the ops of FusionIndexOps.td as formulas.
//
//===----------------------------------------------------------------------===//

#include "FormulaRegistry.h"
#include "ScalarProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// Where an index leads along an axis of `size` elements, negative ones from
/// the end; nullopt outside.
static std::optional<int64_t> resolveIndex(int64_t index, int64_t size) {
  if (index < -size || index >= size)
    return std::nullopt;
  return index < 0 ? index + size : index;
}

/// `y[a..., i..., b...] = input[a..., indices[i...], b...]`.
static Results gather(GatherOp op, const Operands &in) {
  const BoundedTensor &x = in.get(op.getInput());
  const BoundedTensor &indices = in.get(op.getIndices());
  int64_t axis = op.getAxis(), size = x.getDim(axis);
  ArrayRef<int64_t> before = x.getShape().take_front(axis);
  ArrayRef<int64_t> after = x.getShape().drop_front(axis + 1);
  int64_t outer = countElements(before), inner = countElements(after);
  int64_t count = indices.size();

  Shape shape(before);
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, after);
  BoundedTensor y(x.getElementType(), shape, /*isDerived=*/!x.isInteger());
  Bounded nothing = x.isFloat() ? std::numeric_limits<double>::quiet_NaN() : 0;
  for (int64_t n = 0, end = outer * count * inner; n < end; ++n) {
    int64_t a = n / (count * inner), i = n / inner % count, b = n % inner;
    std::optional<int64_t> index = indices.getIndex(i);
    std::optional<int64_t> at = index ? resolveIndex(*index, size) : index;
    int64_t from = (a * size + at.value_or(0)) * inner + b;
    if (x.isInteger())
      y.integer(n) = at ? x.integer(from) : 0;
    else if (!index)
      y[n] = Bounded::unknown();
    else
      y[n] = at ? x[from] : nothing;
  }
  return {y};
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// One value per state.
using Tuple = SmallVector<Scalar>;
using Combine = llvm::function_ref<Tuple(const Tuple &, const Tuple &)>;

/// `x[i]` becomes `x[0] . x[1] ... . x[i]`, from left to right.
static void scanInOrder(MutableArrayRef<Tuple> x, Combine combine) {
  for (size_t i = 1; i < x.size(); ++i)
    x[i] = combine(x[i - 1], x[i]);
}

/// The same in halves.
static void scanInHalves(MutableArrayRef<Tuple> x, Combine combine) {
  if (x.size() < 2)
    return;
  MutableArrayRef<Tuple> left = x.take_front(x.size() / 2);
  MutableArrayRef<Tuple> right = x.drop_front(left.size());
  scanInHalves(left, combine);
  scanInHalves(right, combine);
  for (Tuple &element : right)
    element = combine(left.back(), element);
}

/// What covers both results.
static Scalar coverBoth(const Scalar &a, const Scalar &b) {
  return a.isInteger ? a : Scalar(either(a.getNumber(), b.getNumber()));
}

/// The roundings of one combination where it is made of sums and products
/// alone; 0 for others.
static unsigned countRoundings(Region &combiner) {
  unsigned roundings = 0;
  for (Operation &op : combiner.front().without_terminator()) {
    if (!isa<arith::AddFOp, arith::MulFOp, math::FmaOp>(op))
      return 0;
    ++roundings;
  }
  return roundings;
}

/// The magnitudes of `line`, from which those of all that is added up in any
/// grouping follow.
static std::vector<Tuple> getMagnitudes(const std::vector<Tuple> &line) {
  std::vector<Tuple> result = line;
  for (Tuple &tuple : result)
    for (Scalar &x : tuple)
      x = Scalar(Bounded(abs(x.getNumber()).high()));
  return result;
}

/// Adds to `line` what groupings other than those tried may lose: in each, as
/// in docs/Numerics.md, a term is rounded a number of times, by so much of what
/// it stands beside.
static void allowGroupings(MutableArrayRef<Tuple> line,
                           ArrayRef<Tuple> magnitudes, unsigned roundings,
                           double unit) {
  for (auto [i, tuple] : llvm::enumerate(line)) {
    double combined = std::min<double>(i, 64 + static_cast<double>(i) / 16);
    for (auto [x, magnitude] : llvm::zip(tuple, magnitudes[i])) {
      double lost = combined * roundings * unit * magnitude.getNumber().high();
      Bounded number = x.getNumber();
      if (!x.isInteger && std::isfinite(lost) && number.isKnown())
        x = Scalar(Bounded(number.value, number.error + lost));
    }
  }
}

/// `line` scanned in an order that is the compiler's choice.
static std::vector<Tuple> scanLine(std::vector<Tuple> line, Combine combine,
                                   unsigned roundings, double unit) {
  std::vector<Tuple> halves = line, magnitudes;
  if (roundings) {
    magnitudes = getMagnitudes(line);
    scanInOrder(magnitudes, combine);
  }
  scanInOrder(line, combine);
  scanInHalves(halves, combine);
  for (auto [a, b] : llvm::zip(line, halves))
    for (auto [x, y] : llvm::zip(a, b))
      x = coverBoth(x, y);
  if (roundings)
    allowGroupings(line, magnitudes, roundings, unit);
  return line;
}

/// The elements that lie one after the other along the scanned axis, in the
/// order of the scan; with the initial value first, exclusive.
static std::vector<Tuple> scanFrom(ScanOp op, std::vector<Tuple> line,
                                   const Tuple &init, Combine combine) {
  if (op.getReverse())
    std::reverse(line.begin(), line.end());
  if (op.getExclusive() && !line.empty()) {
    line.insert(line.begin(), init);
    line.pop_back();
  }
  // Sums of narrower floats are made in f32.
  bool isDouble = op.getInits().front().getType().isF64();
  line = scanLine(std::move(line), combine, countRoundings(op.getCombiner()),
                  isDouble ? 0x1p-52 : 0x1p-24);
  if (op.getReverse())
    std::reverse(line.begin(), line.end());
  return line;
}

static void store(BoundedTensor &tensor, int64_t n, const Scalar &value) {
  if (tensor.isInteger())
    tensor.integer(n) = value.getInteger().value_or(0);
  else
    tensor[n] = value.getNumber();
}

static Results scan(ScanOp op, const Operands &in) {
  ScalarProgram combiner(op.getCombiner(), in);
  auto combine = [&](const Tuple &a, const Tuple &b) {
    Tuple both = a;
    llvm::append_range(both, b);
    return combiner.evaluate(both);
  };
  SmallVector<const BoundedTensor *> inputs;
  Tuple init;
  Results results;
  for (auto [input, value] : llvm::zip(op.getInputs(), op.getInits())) {
    inputs.push_back(&in.get(input));
    init.push_back(Scalar::ofElement(in.get(value), 0));
    results.emplace_back(elementTypeOf(input), inputs.back()->getShape(),
                         !inputs.back()->isInteger());
  }

  ArrayRef<int64_t> shape = inputs[0]->getShape();
  int64_t axis = op.getAxis(), size = shape[axis];
  int64_t inner = countElements(shape.drop_front(axis + 1));
  int64_t lines = countElements(shape.take_front(axis)) * inner;
  for (int64_t n = 0; n < lines; ++n) {
    int64_t first = n / inner * size * inner + n % inner;
    std::vector<Tuple> line(size);
    for (int64_t i = 0; i < size; ++i)
      for (const BoundedTensor *input : inputs)
        line[i].push_back(Scalar::ofElement(*input, first + i * inner));
    line = scanFrom(op, std::move(line), init, combine);
    for (int64_t i = 0; i < size; ++i)
      for (auto [s, result] : llvm::enumerate(results))
        store(result, first + i * inner, line[i][s]);
  }
  return results;
}

void formulas::addIndexFormulas(FormulaRegistry &registry) {
  registry.add(gather);
  registry.add(scan);
}
