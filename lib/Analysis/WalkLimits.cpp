//===- WalkLimits.cpp - What of a walk has elements -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for comparisons of positions that decide
// whether an element counts. Each comparison that an element depends on is
// assumed to be true, then false; what the element is then follows from what
// infinities and zeros make of anything finite:
//
//   select(k <= q, s, -inf), k <= q false:    -inf, nothing to a maximum
//   exp(-inf - m) v:                          0, nothing to a sum
//
// All that is looked through gives NaN where an operand is NaN, so that with
// infinite or NaN operands an element is what was found, or NaN. A large finite
// number in the place of the infinity is not the identity of a maximum: it wins
// where a row has nothing else.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/WalkLimits.h"

#include "fusion/Analysis/BodyValues.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Support/LinearExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Values that are looked at for one element, at most, and operations one after
/// the other: bounds the time.
static constexpr unsigned kMaxValues = 256, kMaxVisits = 4096, kMaxDepth = 32;

/// Elements along a dimension, at most: tensor copies have coordinates of 32
/// bits.
static constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max();

/// Factors and numbers of limits, at most: what is computed of them fits 64
/// bits.
static constexpr int64_t kMaxFactor = int64_t(1) << 20, kMaxNumber = int64_t(1)
                                                                     << 40;

namespace {
/// What a float is known to be, unless it is NaN.
enum class Known { Nothing, Zero, PlusInfinity, MinusInfinity };

/// An integer that depends on positions, sizes and what is in memory before the
/// kernel begins, and what it can be.
struct Position {
  AffineExpr expr;
  int64_t least = 0, most = 0;
};

/// A comparison of positions, signed, at a point of its operation's loops.
struct Comparison {
  arith::CmpIOp op;
  arith::CmpIPredicate predicate;
  BodyValue place;
  /// The left side minus the right one.
  AffineExpr difference;
};

/// Finds integers as expressions of the loops of one reduction and of symbols.
class PositionAnalysis {
public:
  PositionAnalysis(linalg::LinalgOp op, SmallVectorImpl<LimitSymbol> &symbols,
                   function_ref<bool(Value)> isInput)
      : op(op), symbols(symbols), isInput(isInput),
        extents(op.getStaticLoopRanges()) {}

  std::optional<Position> find(const BodyValue &value, unsigned depth = 0);
  AffineExpr simplify(AffineExpr expr) {
    return simplifyAffineExpr(expr, op.getNumLoops(), symbols.size());
  }

private:
  /// `expr` as what integers of `type` hold: nothing where they might not.
  /// Integers of 64 bits and indices do not overflow.
  std::optional<Position> fit(AffineExpr expr, Type type);
  std::optional<Position> asSymbol(LimitSymbol symbol, Type type);
  std::optional<Position> findSymbol(Value value);
  std::optional<Position> findElement(TensorElement element, Type type);
  std::optional<Position> findExtracted(tensor::ExtractOp extract,
                                        const BodyValue &value, unsigned depth);
  std::optional<Position> findCast(Operation *op, const Position &operand);

  linalg::LinalgOp op;
  SmallVectorImpl<LimitSymbol> &symbols;
  function_ref<bool(Value)> isInput;
  SmallVector<int64_t> extents;
};

/// What the element of one reduction is where a comparison is known.
class ElementAnalysis {
public:
  ElementAnalysis(const BodyValue &element, PositionAnalysis &positions)
      : element(element), positions(positions) {
    collect();
  }

  ArrayRef<Comparison> getComparisons() const { return comparisons; }
  /// The element where `comparison` is `holds`.
  Known evaluateWhere(const Comparison &comparison, bool holds);

private:
  /// A value at a point.
  struct Seen {
    Value value;
    SmallVector<AffineExpr> point;
    bool operator==(const Seen &other) const {
      return value == other.value && point == other.point;
    }
  };

  /// Finds the comparisons that the element depends on.
  void collect();
  Known evaluate(const BodyValue &value, unsigned depth);
  Known evaluateOp(Operation *op, const BodyValue &value, unsigned depth);
  /// What `value`, of type i1, is; nothing where that is not known.
  std::optional<bool> decide(const BodyValue &value, unsigned depth);

  void addComparison(arith::CmpIOp op, const BodyValue &place);

  BodyValue element;
  PositionAnalysis &positions;
  SmallVector<Comparison, 2> comparisons;
  const Comparison *assumed = nullptr;
  bool holds = false;
  /// Values looked at since it is.
  unsigned visits = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The bits of integers of `type`, of which indices have 64.
static unsigned getWidth(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

/// What a symbol can be: a size is no more than a dimension has elements.
static std::pair<int64_t, int64_t> getRange(const LimitSymbol &symbol) {
  Value value = symbol.value;
  if (value.getDefiningOp<tensor::DimOp>())
    return {0, kMaxExtent};
  unsigned width =
      std::min(getWidth(getElementTypeOrSelf(value.getType())), 63u);
  return {llvm::minIntN(width), llvm::maxIntN(width)};
}

std::optional<Position> PositionAnalysis::fit(AffineExpr expr, Type type) {
  std::optional<LinearExpr> linear =
      getLinear(expr, op.getNumLoops(), symbols.size());
  if (!linear)
    return std::nullopt;
  unsigned width = getWidth(type);
  // Sums that do not fit 64 bits fit nothing else.
  bool overflows = false;
  Position result{expr, linear->number, linear->number};
  auto addTo = [&](int64_t &sum, int64_t factor, int64_t value) {
    int64_t product;
    overflows |= llvm::MulOverflow(factor, value, product);
    overflows |= llvm::AddOverflow(sum, product, sum);
  };
  auto add = [&](int64_t factor, int64_t least, int64_t most) {
    if (factor == 0)
      return;
    addTo(result.least, factor, factor > 0 ? least : most);
    addTo(result.most, factor, factor > 0 ? most : least);
  };
  for (auto [factor, extent] : llvm::zip_equal(linear->factors, extents))
    add(factor, 0, ShapedType::isDynamic(extent) ? kMaxExtent : extent);
  for (auto [factor, symbol] : llvm::zip_equal(linear->symbols, symbols)) {
    auto [least, most] = getRange(symbol);
    add(factor, least, most);
  }
  if (overflows) {
    result.least = std::numeric_limits<int64_t>::min();
    result.most = std::numeric_limits<int64_t>::max();
  }
  if (width < 64 &&
      (!llvm::isIntN(width, result.least) || !llvm::isIntN(width, result.most)))
    return std::nullopt;
  return result;
}

std::optional<Position> PositionAnalysis::asSymbol(LimitSymbol symbol,
                                                   Type type) {
  unsigned number = llvm::find(symbols, symbol) - symbols.begin();
  if (number == symbols.size())
    symbols.push_back(std::move(symbol));
  return fit(getAffineSymbolExpr(number, type.getContext()), type);
}

std::optional<Position> PositionAnalysis::findSymbol(Value value) {
  Operation *source = value.getDefiningOp();
  auto argument = dyn_cast<BlockArgument>(value);
  // Arguments of the program, or of its kernels, and sizes of tensors.
  bool isArgument = argument && isa<FunctionOpInterface, KernelOp>(
                                    argument.getOwner()->getParentOp());
  auto size = dyn_cast_if_present<tensor::DimOp>(source);
  if (!isArgument && !(size && size.getConstantIndex()))
    return std::nullopt;
  return asSymbol({value, {}}, value.getType());
}

std::optional<Position> PositionAnalysis::findElement(TensorElement element,
                                                      Type type) {
  if (!type.isInteger(32) && !type.isInteger(64))
    return std::nullopt;
  return asSymbol({element.tensor, std::move(element.coords)}, type);
}

std::optional<Position>
PositionAnalysis::findExtracted(tensor::ExtractOp extract,
                                const BodyValue &value, unsigned depth) {
  TensorElement element{extract.getTensor(), {}};
  if (!isInput(element.tensor))
    return std::nullopt;
  for (Value index : extract.getIndices()) {
    std::optional<Position> position = find(value.at(index), depth + 1);
    if (!position)
      return std::nullopt;
    // Where data say where the element is, it is not known here.
    for (unsigned symbol = 0; symbol < symbols.size(); ++symbol)
      if (position->expr.isFunctionOfSymbol(symbol))
        return std::nullopt;
    element.coords.push_back(position->expr);
  }
  return findElement(std::move(element), extract.getType());
}

std::optional<Position> PositionAnalysis::findCast(Operation *op,
                                                   const Position &operand) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  bool isUnsigned = isa<arith::IndexCastUIOp, arith::ExtUIOp>(op);
  if (isUnsigned && getWidth(to) > getWidth(from) && operand.least < 0)
    return std::nullopt;
  return fit(operand.expr, to);
}

std::optional<Position> PositionAnalysis::find(const BodyValue &value,
                                               unsigned depth) {
  if (depth == kMaxDepth || !value.value.getType().isSignlessIntOrIndex())
    return std::nullopt;
  Type type = value.value.getType();
  if (std::optional<TensorElement> element = getElement(value)) {
    if (isInput(element->tensor))
      return findElement(*element, type);
    std::optional<BodyValue> producer = getProducer(*element);
    return producer ? find(*producer, depth + 1) : std::nullopt;
  }
  APInt number;
  if (matchPattern(value.value, m_ConstantInt(&number)))
    return fit(getAffineConstantExpr(number.getSExtValue(), type.getContext()),
               type);
  Operation *source = value.value.getDefiningOp();
  if (!source || isa<tensor::DimOp>(source))
    return findSymbol(value.value);
  if (auto index = dyn_cast<linalg::IndexOp>(source))
    return fit(value.point[index.getDim()], type);
  if (auto extract = dyn_cast<tensor::ExtractOp>(source))
    return findExtracted(extract, value, depth);
  auto get = [&](unsigned operand) {
    return find(value.at(source->getOperand(operand)), depth + 1);
  };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp>(source)) {
    std::optional<Position> operand = get(0);
    return operand ? findCast(source, *operand) : std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(source))
    return std::nullopt;
  std::optional<Position> left = get(0), right = left ? get(1) : std::nullopt;
  if (!right)
    return std::nullopt;
  if (isa<arith::AddIOp>(source))
    return fit(left->expr + right->expr, type);
  if (isa<arith::SubIOp>(source))
    return fit(left->expr - right->expr, type);
  bool isScaled = isa<AffineConstantExpr>(left->expr) ||
                  isa<AffineConstantExpr>(right->expr);
  return isScaled ? fit(left->expr * right->expr, type) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Elements where a comparison is known
//===----------------------------------------------------------------------===//

/// The signed predicate that says the same of numbers that are not negative.
static arith::CmpIPredicate asSigned(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::ult:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::ule:
    return arith::CmpIPredicate::sle;
  case arith::CmpIPredicate::ugt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::uge:
    return arith::CmpIPredicate::sge;
  default:
    return predicate;
  }
}

void ElementAnalysis::addComparison(arith::CmpIOp op, const BodyValue &place) {
  std::optional<Position> left = positions.find(place.at(op.getLhs()));
  std::optional<Position> right =
      left ? positions.find(place.at(op.getRhs())) : std::nullopt;
  if (!right)
    return;
  arith::CmpIPredicate predicate = asSigned(op.getPredicate());
  if (predicate != op.getPredicate() && (left->least < 0 || right->least < 0))
    return;
  comparisons.push_back({op, predicate, place, left->expr - right->expr});
}

/// True for a comparison of bits, as where a condition is denied by comparing
/// it with false.
static bool comparesBits(arith::CmpIOp op) {
  return op.getLhs().getType().isInteger(1) &&
         (op.getPredicate() == arith::CmpIPredicate::eq ||
          op.getPredicate() == arith::CmpIPredicate::ne);
}

void ElementAnalysis::collect() {
  SmallVector<BodyValue> worklist{element};
  SmallVector<Seen> seen;
  while (!worklist.empty() && seen.size() < kMaxValues) {
    BodyValue value = worklist.pop_back_val();
    Seen key{value.value, value.point};
    if (llvm::is_contained(seen, key))
      continue;
    seen.push_back(std::move(key));
    if (std::optional<TensorElement> operand = getElement(value)) {
      if (std::optional<BodyValue> producer = getProducer(*operand))
        worklist.push_back(*producer);
      continue;
    }
    Operation *op = value.value.getDefiningOp();
    if (!op || op->getBlock() != value.op.getBlock())
      continue;
    if (auto compare = dyn_cast<arith::CmpIOp>(op);
        compare && !comparesBits(compare)) {
      addComparison(compare, value);
      continue;
    }
    for (Value operand : op->getOperands())
      worklist.push_back(value.at(operand));
  }
}

std::optional<bool> ElementAnalysis::decide(const BodyValue &value,
                                            unsigned depth) {
  if (depth == kMaxDepth || ++visits > kMaxVisits)
    return std::nullopt;
  if (std::optional<TensorElement> operand = getElement(value)) {
    std::optional<BodyValue> producer = getProducer(*operand);
    return producer ? decide(*producer, depth + 1) : std::nullopt;
  }
  APInt number;
  if (matchPattern(value.value, m_ConstantInt(&number)))
    return number.getBoolValue();
  Operation *op = value.value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (op == assumed->op)
    return value.point == assumed->place.point ? std::optional(holds)
                                               : std::nullopt;
  auto compare = dyn_cast<arith::CmpIOp>(op);
  bool isOfBits = compare && comparesBits(compare);
  if (!isOfBits && !isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::nullopt;
  std::optional<bool> left = decide(value.at(op->getOperand(0)), depth + 1);
  std::optional<bool> right = decide(value.at(op->getOperand(1)), depth + 1);
  if (isOfBits || isa<arith::XOrIOp>(op)) {
    bool whereEqual =
        isOfBits && compare.getPredicate() == arith::CmpIPredicate::eq;
    return left && right ? std::optional((*left == *right) == whereEqual)
                         : std::nullopt;
  }
  // One side alone may say what both give.
  bool decisive = isa<arith::OrIOp>(op);
  if (left == decisive || right == decisive)
    return decisive;
  return left && right ? std::optional(!decisive) : std::nullopt;
}

static Known negate(Known known) {
  if (known == Known::PlusInfinity)
    return Known::MinusInfinity;
  return known == Known::MinusInfinity ? Known::PlusInfinity : known;
}

static bool isInfinite(Known known) {
  return known == Known::PlusInfinity || known == Known::MinusInfinity;
}

/// a + b.
static Known add(Known a, Known b) {
  if (isInfinite(a))
    return b == negate(a) ? Known::Nothing : a;
  if (isInfinite(b))
    return b;
  return a == b ? a : Known::Nothing;
}

/// a b, where `factor` is b if that is a constant.
static Known multiply(Known a, Known b, std::optional<double> factor) {
  // Zero times infinity is always NaN.
  if (a == Known::Zero || b == Known::Zero)
    return isInfinite(a) || isInfinite(b) ? Known::Nothing : Known::Zero;
  if (!factor || !std::isfinite(*factor) || *factor == 0)
    return Known::Nothing;
  return *factor > 0 ? a : negate(a);
}

static std::optional<double> getFloat(Value value) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValueAsDouble();
  return std::nullopt;
}

Known ElementAnalysis::evaluateOp(Operation *op, const BodyValue &value,
                                  unsigned depth) {
  auto get = [&](unsigned operand) {
    return evaluate(value.at(op->getOperand(operand)), depth + 1);
  };
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<bool> first =
        decide(value.at(select.getCondition()), depth + 1);
    if (first)
      return get(*first ? 1 : 2);
    Known left = get(1);
    return left != Known::Nothing && get(2) == left ? left : Known::Nothing;
  }
  if (isa<arith::ExtFOp>(op))
    return get(0);
  if (isa<arith::TruncFOp>(op)) {
    // Floats of 8 bits may have no infinity.
    Known known = get(0);
    bool keeps = op->getResult(0).getType().getIntOrFloatBitWidth() >= 16;
    return keeps || !isInfinite(known) ? known : Known::Nothing;
  }
  if (isa<arith::NegFOp>(op))
    return negate(get(0));
  if (isa<math::ExpOp, math::Exp2Op>(op))
    return get(0) == Known::MinusInfinity ? Known::Zero : Known::Nothing;
  if (isa<arith::AddFOp>(op))
    return add(get(0), get(1));
  if (isa<arith::SubFOp>(op))
    return add(get(0), negate(get(1)));
  if (isa<arith::DivFOp>(op))
    return multiply(get(0), Known::Nothing, getFloat(op->getOperand(1)));
  if (!isa<arith::MulFOp>(op))
    return Known::Nothing;
  if (std::optional<double> factor = getFloat(op->getOperand(0)))
    return multiply(get(1), Known::Nothing, factor);
  return multiply(get(0), get(1), getFloat(op->getOperand(1)));
}

Known ElementAnalysis::evaluate(const BodyValue &value, unsigned depth) {
  if (depth == kMaxDepth || ++visits > kMaxVisits)
    return Known::Nothing;
  if (std::optional<TensorElement> operand = getElement(value)) {
    std::optional<BodyValue> producer = getProducer(*operand);
    return producer ? evaluate(*producer, depth + 1) : Known::Nothing;
  }
  if (std::optional<double> number = getFloat(value.value)) {
    if (*number == 0)
      return Known::Zero;
    if (std::isinf(*number))
      return *number > 0 ? Known::PlusInfinity : Known::MinusInfinity;
    return Known::Nothing;
  }
  Operation *op = value.value.getDefiningOp();
  return op ? evaluateOp(op, value, depth) : Known::Nothing;
}

Known ElementAnalysis::evaluateWhere(const Comparison &comparison, bool value) {
  assumed = &comparison;
  holds = value;
  visits = 0;
  return evaluate(element, 0);
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// What is at least zero exactly where a comparison of something with zero, the
/// difference of its sides, holds.
static SmallVector<AffineExpr, 2> getLimits(arith::CmpIPredicate predicate,
                                            AffineExpr difference) {
  switch (predicate) {
  case arith::CmpIPredicate::sge:
    return {difference};
  case arith::CmpIPredicate::sgt:
    return {difference - 1};
  case arith::CmpIPredicate::sle:
    return {-difference};
  case arith::CmpIPredicate::slt:
    return {-difference - 1};
  case arith::CmpIPredicate::eq:
    return {difference, -difference};
  default:
    return {};
  }
}

/// True when `known` is the identity of `combiner`.
static bool isIdentity(Known known, const Combiner &combiner) {
  auto neutral = dyn_cast_if_present<FloatAttr>(combiner.neutral);
  if (!neutral)
    return false;
  APFloat number = neutral.getValue();
  if (known == Known::Zero)
    return number.isZero();
  return number.isInfinity() && number.isNegative()
             ? known == Known::MinusInfinity
             : number.isInfinity() && known == Known::PlusInfinity;
}

/// True where blocks can compute with `limit` in 64 bits.
static bool isSmall(const LinearExpr &limit) {
  auto isSmallFactor = [](int64_t factor) {
    return std::abs(factor) <= kMaxFactor;
  };
  return llvm::all_of(limit.factors, isSmallFactor) &&
         llvm::all_of(limit.symbols, isSmallFactor) &&
         std::abs(limit.number) <= kMaxNumber;
}

SmallVector<AffineExpr, 2>
mlir::fusion::findElementLimits(linalg::LinalgOp op,
                                SmallVectorImpl<LimitSymbol> &symbols,
                                function_ref<bool(Value)> isInput) {
  SmallVector<AffineExpr, 2> limits;
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics())
    return limits;
  Combiner combiner = matchCombiner(op, 0);
  if (!combiner.op)
    return limits;
  PositionAnalysis positions(op, symbols, isInput);
  ElementAnalysis analysis({combiner.element, op, getLoops(op)}, positions);
  for (const Comparison &comparison : analysis.getComparisons())
    for (bool holds : {false, true}) {
      if (!isIdentity(analysis.evaluateWhere(comparison, holds), combiner))
        continue;
      // What counts is where the comparison is the other way.
      arith::CmpIPredicate predicate = comparison.predicate;
      if (holds)
        predicate = arith::invertPredicate(predicate);
      for (AffineExpr limit : getLimits(predicate, comparison.difference)) {
        AffineExpr simple = positions.simplify(limit);
        std::optional<LinearExpr> linear =
            getLinear(simple, op.getNumLoops(), symbols.size());
        if (linear && isSmall(*linear) && !llvm::is_contained(limits, simple))
          limits.push_back(simple);
      }
    }
  return limits;
}

SmallVector<AffineExpr, 2> mlir::fusion::findLimitsAt(
    linalg::LinalgOp op, ArrayRef<AffineExpr> loops,
    function_ref<bool(Value)> isInput,
    function_ref<AffineExpr(const LimitSymbol &)> getSymbol) {
  SmallVector<LimitSymbol> symbols;
  SmallVector<AffineExpr, 2> limits = findElementLimits(op, symbols, isInput);
  SmallVector<AffineExpr> values;
  for (LimitSymbol &symbol : symbols) {
    for (AffineExpr &coord : symbol.coords)
      coord = coord.replaceDims(loops);
    values.push_back(getSymbol(symbol));
  }
  llvm::erase_if(limits, [&](AffineExpr limit) {
    return llvm::any_of(llvm::enumerate(values), [&](auto value) {
      return !value.value() && limit.isFunctionOfSymbol(value.index());
    });
  });
  // Symbols of limits that are left out stand for nothing.
  for (AffineExpr &value : values)
    if (!value)
      value = getAffineConstantExpr(0, op.getContext());
  for (AffineExpr &limit : limits)
    limit = limit.replaceDimsAndSymbols(loops, values);
  return limits;
}

std::optional<unsigned>
mlir::fusion::findDataSymbol(const LinearExpr &limit, unsigned walked,
                             ArrayRef<LimitSymbol> symbols, unsigned first) {
  std::optional<unsigned> found;
  for (auto [number, symbol] : llvm::enumerate(symbols)) {
    if (limit.symbols[first + number] == 0 ||
        llvm::none_of(symbol.coords, [&](AffineExpr coord) {
          return coord.isFunctionOfDim(walked);
        }))
      continue;
    bool isAlone = llvm::none_of(symbol.coords, [&](AffineExpr coord) {
      for (unsigned dim = 0; dim < limit.factors.size(); ++dim)
        if (dim != walked && coord.isFunctionOfDim(dim))
          return true;
      return false;
    });
    if (found || !isAlone || std::abs(limit.symbols[first + number]) != 1)
      return std::nullopt;
    found = number;
  }
  return limit.factors[walked] == 0 ? found : std::nullopt;
}

void mlir::fusion::intersectLimits(SmallVectorImpl<AffineExpr> &limits,
                                   ArrayRef<AffineExpr> others) {
  llvm::erase_if(limits, [&](AffineExpr limit) {
    return !llvm::is_contained(others, limit);
  });
}
