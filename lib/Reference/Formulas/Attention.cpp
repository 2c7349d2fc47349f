//===- Attention.cpp - Formula of attention -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file writes the op of FusionAttentionOps.td as a formula, in the steps
// that its documentation numbers.
//
//===----------------------------------------------------------------------===//

#include "FormulaRegistry.h"
#include "Random.h"
#include "ScalarProgram.h"

#include "fusion/Support/ElementType.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

namespace {

/// A mask or a bias, broadcast to the scores.
class ScoreOperand {
public:
  ScoreOperand(Value operand, const Operands &in, ArrayRef<int64_t> scores) {
    if (!operand)
      return;
    tensor = &in.get(operand);
    strides = getBroadcastStrides(tensor->getShape(), scores);
  }
  explicit operator bool() const { return tensor; }
  Bounded at(ArrayRef<int64_t> index) const {
    int64_t n = 0;
    for (auto [i, stride] : llvm::zip(index, strides))
      n += i * stride;
    return tensor->getNumber(n);
  }

private:
  const BoundedTensor *tensor = nullptr;
  Shape strides;
};

class Attention {
public:
  Attention(AttentionOp op, const Operands &in);
  BoundedTensor run();

private:
  Real computeScore(int64_t row, int64_t keyHead, ArrayRef<int64_t> index);
  Array computeScores(int64_t row, int64_t keyHead, ArrayRef<int64_t> query);
  bool isForbidden(int64_t i, int64_t j);
  Array computeWeights(int64_t row, const Array &e);
  void attend(int64_t row, int64_t keyHead, ArrayRef<int64_t> query,
              Array &result);

  AttentionOp op;
  const Operands &in;
  const BoundedTensor &query, &key, &value;
  int64_t rank, queries, keys, depth;
  Shape scores; // [batch..., H, S, T]
  ScoreOperand mask, bias;
  std::optional<ScalarProgram> scoreMod;
  double scale;
  DType valueType;
};

} // namespace

Attention::Attention(AttentionOp op, const Operands &in)
    : op(op), in(in), query(in.get(op.getQuery())), key(in.get(op.getKey())),
      value(in.get(op.getValue())), rank(query.getRank()),
      queries(query.getDim(rank - 2)), keys(key.getDim(rank - 2)),
      depth(query.getDim(rank - 1)), scores(query.getShape().drop_back()),
      mask(op.getMask(), in, (scores.push_back(keys), scores)),
      bias(op.getBias(), in, scores),
      valueType(*getDType(value.getElementType())) {
  scale = op.getScale() ? op.getScale()->convertToDouble()
                        : 1 / std::sqrt(static_cast<double>(depth));
  if (!op.getScoreMod().empty())
    scoreMod.emplace(op.getScoreMod(), in);
}

/// Step 3: `j > i` for top_left, `j > i + T - S` for bottom_right.
bool Attention::isForbidden(int64_t i, int64_t j) {
  if (!op.getCausal())
    return false;
  if (*op.getCausal() == CausalMask::TopLeft)
    return j > i;
  return j > i + keys - queries;
}

/// Steps 1 and 2, for one query and one key. `row` counts queries over batches
/// and heads, `keyHead` heads over batches.
Real Attention::computeScore(int64_t row, int64_t keyHead,
                             ArrayRef<int64_t> index) {
  int64_t q = row * depth, k = (keyHead * keys + index.back()) * depth;
  Sum sum(in.getArithmetic(), *getDType(query.getElementType()));
  for (int64_t d = 0; d < depth; ++d)
    sum.addProduct(query[q + d], key[k + d]);
  // What follows may be scaled as well, so that exponentials are of base 2.
  Real s = (scale * sum.get()).loosen(1);
  if (bias)
    s = s + s.with(bias.at(index));
  if (!scoreMod)
    return s;
  SmallVector<Scalar> arguments{s.get()};
  for (int64_t i : index)
    arguments.push_back(Scalar::ofInteger(i));
  return s.with(scoreMod->evaluate(arguments).front().getNumber());
}

/// Steps 1 to 3, for one query.
Array Attention::computeScores(int64_t row, int64_t keyHead,
                               ArrayRef<int64_t> query) {
  Array s({keys}, in.getArithmetic());
  const Real forbidden(-std::numeric_limits<double>::infinity(),
                       in.getArithmetic());
  Shape index(query);
  index.push_back(0);
  for (int64_t j = 0; j < keys; ++j) {
    index.back() = j;
    bool isOut = isForbidden(query.back(), j) ||
                 (mask && mask.at(index).isExact() && !mask.at(index).value);
    s.set(j, isOut ? forbidden : computeScore(row, keyHead, index));
    if (mask && !isOut)
      s.set(j, where(mask.at(index), s[j], forbidden));
  }
  return s;
}

/// Steps 5 and 6. The rounding may be that of e relative to another maximum.
Array Attention::computeWeights(int64_t row, const Array &e) {
  Array weights = e;
  double p = op.getDropout().convertToDouble();
  if (p > 0) {
    Dropout dropout(in.get(op.getSeed()).getIndex(0), op.getOpId(), p);
    for (int64_t j = 0; j < keys; ++j)
      weights.set(j, dropout.apply(row * keys + j, e[j]));
  }
  if (valueType == in.getArithmetic().type)
    return weights;
  return map(weights, [&](const Real &weight) {
    return weight.with(roundScaled(weight.get(), valueType));
  });
}

/// Steps 1 to 7, for one query.
void Attention::attend(int64_t row, int64_t keyHead, ArrayRef<int64_t> query,
                       Array &result) {
  Array s = computeScores(row, keyHead, query);
  Array e = expRelativeTo(s, shiftOf(s, {0}));
  Real l = sum(e, {0})[0];
  Array weights = computeWeights(row, e);
  int64_t columns = value.getDim(rank - 1);
  for (int64_t c = 0; c < columns; ++c) {
    Sum sum(in.getArithmetic(), valueType);
    sum.withRoundedFactors();
    bool isKnown = true;
    for (int64_t j = 0; j < keys; ++j) {
      const Bounded &v = value[(keyHead * keys + j) * columns + c];
      // Zero times infinity is NaN, but a weight of zero may be left out.
      isKnown &= std::isfinite(v.value) || !weights[j].get().contains(0);
      sum.addProduct(weights[j].get(), v);
    }
    Real output = (sum.get() / l).loosen(1);
    result.set(row * columns + c,
               isKnown ? output.get() : Bounded::unknown(output.get().value));
  }
}

BoundedTensor Attention::run() {
  Shape shape(query.getShape());
  shape.back() = value.getDim(rank - 1);
  Array result(shape, in.getArithmetic());
  int64_t heads = query.getDim(rank - 3), keyHeads = key.getDim(rank - 3);
  ArrayRef<int64_t> rows = ArrayRef<int64_t>(scores).drop_back();
  forEachIndex(rows, [&](int64_t row, ArrayRef<int64_t> at) {
    int64_t batch = row / (heads * queries), head = at[rank - 3];
    attend(row, batch * keyHeads + head / (heads / keyHeads), at, result);
  });
  return result.round(op.getType().getElementType());
}

static Results attention(AttentionOp op, const Operands &in) {
  return {Attention(op, in).run()};
}

void formulas::addAttentionFormulas(FormulaRegistry &registry) {
  registry.add(attention);
}
