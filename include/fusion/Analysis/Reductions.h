//===- Reductions.h - How reductions combine elements -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what the compiler knows about reductions of structured
// operations: the operation that combines elements, and reductions in granules.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_REDUCTIONS_H
#define FUSION_ANALYSIS_REDUCTIONS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <array>
#include <optional>

namespace mlir::fusion {

/// How one result of a reduction combines its elements.
struct Combiner {
  /// Operation of the body that combines; null when the body has another form.
  Operation *op = nullptr;
  /// The operand of `op` that does not depend on the accumulator.
  Value element;
  /// Identity of the combination.
  TypedAttr neutral;
  /// Accumulation type: f32 for sums and products of smaller floats.
  Type type;
};

/// True when `value`, of a body or a tile, extends numbers whose products are
/// exact in f32: a sum of such products is rounded by its additions alone.
bool isExactFactor(Value value);

/// Columns up to which a tile of a product holds whole rows, which its epilogue
/// may then reduce: those of one instruction of a warpgroup.
constexpr int64_t kMaxWholeRow = 256;

/// Columns up to which the blocks of a panel, which have tiles of the same rows
/// at the same time, may reduce rows together.
constexpr int64_t kMaxPanelRow = 16384;

/// The identity, of `type`, of an operation that is associative and commutative
/// up to rounding; null when `op` is no such operation.
TypedAttr getIdentity(Operation *op, Type type);

/// Applies the combining operation `like` to two values of one type, scalars or
/// tiles.
Value combineValues(OpBuilder &builder, Location loc, Operation *like,
                    Value lhs, Value rhs);

/// True when `value` depends on one of `arguments` within their block.
bool dependsOn(Value value, ArrayRef<BlockArgument> arguments);

/// Finds the combiner of result `number`; one with a null `op` when the body is
/// not a single associative and commutative operation on the accumulator.
Combiner matchCombiner(linalg::LinalgOp op, unsigned number);

/// A reduction that keeps, of all elements along its loops, the results that
/// belong to the one whose key is the greatest or least: an argmax. Each result
/// of the body is chosen by one comparison of the element's key with that of
/// the element kept so far; or it is the key, by a maximum or minimum.
struct Selection {
  /// The result that is the key.
  unsigned key = 0;
  /// The element with the greatest key is kept, or the one with the least.
  bool keepsGreatest = true;
  /// Of equal keys the last is kept, not the first.
  bool keepsLast = false;
  /// Integer keys are compared as unsigned.
  bool isUnsigned = false;
  /// NaN replaces any number, and nothing replaces NaN; it else replaces
  /// nothing.
  bool keepsNaN = false;
  /// The operation that combines keys, if that is a maximum or minimum. One of
  /// floats gives NaN, and the other results are then those of the first NaN.
  Operation *keyOp = nullptr;
  /// What each result is for an element; null for what can be had from the
  /// element's position alone.
  SmallVector<Value> elements;
  /// The least, or greatest, value of the key, of the type it is compared in.
  TypedAttr neutral;
  /// Type of an element's position among those that are reduced to one, counted
  /// row by row.
  IntegerType positionType;

  /// The number of the key among the states that are combined: the results that
  /// are not had from the position, in order, and the position.
  unsigned getKeyState() const;

  /// The states `next` where they replace `kept`, and else these, as scalars or
  /// as tiles. The key of `kept` is NaN only with `keepsNaN`. With `inOrder`,
  /// all positions of `next` come after those of `kept`.
  SmallVector<Value> combine(OpBuilder &builder, Location loc, ValueRange kept,
                             ValueRange next, bool inOrder) const;
};

/// The selection that `op` is, if it is one.
std::optional<Selection> matchSelection(linalg::LinalgOp op);

/// A maximum together with the sum, relative to it, of exponentials of the same
/// elements: m = max x, s = sum exp(x - m). Where parts meet, the sum of the
/// one with the smaller maximum is scaled by the exponential of the difference
/// (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
/// Elements of negative infinity add nothing; what s is where m is no finite
/// number has no meaning.
struct RescaledSum {
  /// What m is the maximum of; a value of the body.
  Value element;
  /// What the sum of one element is, 1; a value of the body.
  Value one;
  /// The operation that combines maxima.
  Operation *maximum = nullptr;
  FloatType type;
  /// What the exponentials may be.
  arith::FastMathFlags fastmath = arith::FastMathFlags::none;

  /// Where two parts meet: the maximum of both, whether that of the second is
  /// the larger one, and what the other's sum is scaled by.
  struct Meeting {
    Value larger, isSecond, factor;
  };
  Meeting meet(OpBuilder &builder, Location loc, Value m, Value x) const;
  /// m and s of no elements.
  std::array<TypedAttr, 2> getNeutral() const;
};

/// A sum of terms that are linear in distances from maxima of the same
/// reduction:
///
///   A = sum w (q + u d),  B = sum w u,  d = sum of +-(x_k - m_k)
///
/// where w is exp(x_j - m_j) or 1. Where m changes to m', A grows by
/// B (+-(m_k - m_k')), so that a value that is constant along the reduction may
/// be added to d later: B times that value. Zero stands for an m_k that is
/// minus infinity.
struct LinearSum {
  struct Distance {
    unsigned pair = 0;
    bool isNegative = false;
    bool operator==(const Distance &other) const {
      return pair == other.pair && isNegative == other.isNegative;
    }
  };
  SmallVector<Distance, 2> distances;
  /// The maximum j that w is relative to.
  std::optional<unsigned> base;
  /// q and u; null: 0 and 1.
  Value plain, weight;
  /// q + u d with each element its own maximum: q, but for infinities.
  Value element;

  /// True when B is the sum of exponentials of pair `base`.
  bool sharesWeights() const { return base && !weight; }
};

/// Pairs of a maximum and the sum of exponentials relative to it, and at most
/// one sum of terms that are linear in the distances from these maxima, in one
/// reduction. Its results are those of the pairs, then A, and B unless a pair
/// has it.
struct RescaledSums {
  SmallVector<RescaledSum, 1> pairs;
  std::optional<LinearSum> linear;

  unsigned getNumStates() const;
  FloatType getType() const { return pairs.front().type; }
  /// State `number` of one element, and of none.
  Value getElement(unsigned number) const;
  TypedAttr getNeutral(unsigned number) const;
  /// True for maxima, and for what no maximum says that it counts for nothing.
  bool decidesBy(unsigned number) const;
  /// The number of B among the states.
  unsigned getWeights() const;
  /// The states of the elements of `kept` and `next` together, as scalars or as
  /// tiles.
  SmallVector<Value> combine(OpBuilder &builder, Location loc, ValueRange kept,
                             ValueRange next) const;
};

/// The sum of +-(value_k - from_k) over `distances`.
Value buildDistance(OpBuilder &builder, Location loc,
                    ArrayRef<LinearSum::Distance> distances,
                    ArrayRef<Value> values, ArrayRef<Value> from);

/// `value`, and zero where that is minus infinity.
Value buildFinite(OpBuilder &builder, Location loc, Value value);

/// q + u d of one element, its own maximum in each of `values`.
Value buildLinearElement(OpBuilder &builder, Location loc,
                         const LinearSum &linear, ArrayRef<Value> values);

/// The form of `op` when it is such a reduction.
std::optional<RescaledSums> matchRescaledSums(linalg::LinalgOp op);

/// The number of elements, their sum and the sum of squares of their distances
/// from the mean, in one reduction: n, s = sum x, q = sum (x - s / n)^2. Where
/// parts meet, the squares grow by those of the distances of their means (Chan,
/// Golub and LeVeque, "Algorithms for computing the sample variance", 1983).
struct Moments {
  /// What s is the sum of; a value of the body.
  Value element;
  FloatType type;

  /// n, s and q with one more element `x`, as scalars or as tiles.
  static SmallVector<Value> add(OpBuilder &builder, Location loc,
                                ValueRange kept, Value x);
  /// n, s and q of the elements of `kept` and `next` together; either may have
  /// none.
  static SmallVector<Value> combine(OpBuilder &builder, Location loc,
                                    ValueRange kept, ValueRange next);
};

/// The form of `op` when it is such a reduction: its body is what
/// Moments::add() makes.
std::optional<Moments> matchMoments(linalg::LinalgOp op);

/// True when it takes more to combine two partial results of `op` than to add
/// an element: threads reduce what they have of a tile before they combine.
bool isDearToCombine(linalg::LinalgOp op);

/// Types of the values that parts of the reduction `op` are combined by; none
/// when its elements can only be combined one after the other.
std::optional<SmallVector<Type>> getPartialTypes(linalg::LinalgOp op);

/// True when `tensor` is filled with the identity of `combiner`, so that
/// combining with it changes nothing.
bool isIdentityFill(Value tensor, const Combiner &combiner);

/// How a scan combines, where that is known to be associative up to rounding:
/// tiles may then be scanned by many threads.
struct ScanCombiner {
  /// Identity of the combination by state.
  SmallVector<TypedAttr> neutral;
  /// Types of the states within a tile and from tile to tile: f32 for smaller
  /// floats, unless only maxima and minima are taken.
  SmallVector<Type> types;

  /// Bytes of the states of one element.
  int64_t getStateBytes() const;
};

/// Finds out whether `combiner`, the region of a scan, is associative: each
/// state is combined by one operation such as a sum or a maximum, or two are a
/// linear recurrence, or one is the logarithm of a sum of exponentials.
std::optional<ScanCombiner> matchScanCombiner(Block &combiner);

/// A reduction in granules: a loop of which every `size` neighbours are reduced
/// to one element of the results, along their dimension `dim`. It is written as
/// `loop floordiv size` in the results' maps.
struct Granules {
  unsigned loop = 0;
  unsigned dim = 0;
  int64_t size = 1;
};

/// The granules that `op` reduces, if it is such a reduction.
std::optional<Granules> matchGranules(linalg::LinalgOp op);

/// A reduction in which each row adds up only what belongs to its group: an
/// element counts where `groups`, a vector along loop `rowLoop`, equals loop
/// `loop`, and is zero elsewhere.
struct GroupedSum {
  unsigned loop = 0;
  unsigned rowLoop = 0;
  Value groups;
  /// The condition, and what is added where it holds; values of the body.
  Value condition, element;
};

/// The form of `op` when it is such a sum, of one result.
std::optional<GroupedSum> matchGroupedSum(linalg::LinalgOp op);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_REDUCTIONS_H
