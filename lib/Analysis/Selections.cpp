//===- Selections.cpp - Reductions that keep one element ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition of reductions that keep what belongs to
// their greatest or least element, such as an argmax, and how parts of them are
// combined. A body says what the next element does; parts that lie anywhere are
// combined in the order of positions, so that of equal elements the one is kept
// that the body keeps.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Reductions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {
/// A comparison that decides whether an element replaces the one that is kept.
struct Replacement {
  Value condition;
  /// What is chosen where the condition holds.
  bool replaces = true;
};
} // namespace

namespace {
/// What a predicate says of its left side.
struct Order {
  bool isGreater, isStrict;
  /// False where one is NaN.
  bool isOrdered = true;
  bool isUnsigned = false;
};
} // namespace

static std::optional<Order> getOrder(CmpFPredicate predicate) {
  switch (predicate) {
  case CmpFPredicate::OGT:
    return Order{true, true};
  case CmpFPredicate::OGE:
    return Order{true, false};
  case CmpFPredicate::OLT:
    return Order{false, true};
  case CmpFPredicate::OLE:
    return Order{false, false};
  case CmpFPredicate::UGT:
    return Order{true, true, /*isOrdered=*/false};
  case CmpFPredicate::UGE:
    return Order{true, false, /*isOrdered=*/false};
  case CmpFPredicate::ULT:
    return Order{false, true, /*isOrdered=*/false};
  case CmpFPredicate::ULE:
    return Order{false, false, /*isOrdered=*/false};
  default:
    return std::nullopt;
  }
}

static std::optional<Order> getOrder(CmpIPredicate predicate) {
  switch (predicate) {
  case CmpIPredicate::sgt:
    return Order{true, true};
  case CmpIPredicate::sge:
    return Order{true, false};
  case CmpIPredicate::slt:
    return Order{false, true};
  case CmpIPredicate::sle:
    return Order{false, false};
  case CmpIPredicate::ugt:
    return Order{true, true, true, /*isUnsigned=*/true};
  case CmpIPredicate::uge:
    return Order{true, false, true, /*isUnsigned=*/true};
  case CmpIPredicate::ult:
    return Order{false, true, true, /*isUnsigned=*/true};
  case CmpIPredicate::ule:
    return Order{false, false, true, /*isUnsigned=*/true};
  default:
    return std::nullopt;
  }
}

/// True for `x` == `x`, which says that it is no NaN.
static bool isNoNaN(Value condition, Value x) {
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  return compare && compare.getLhs() == x && compare.getRhs() == x &&
         (compare.getPredicate() == CmpFPredicate::ORD ||
          compare.getPredicate() == CmpFPredicate::OEQ);
}

/// Sets the order of keys and which result is the key from the comparison that
/// `by` is. Returns the key of an element.
static Value setOrder(Selection &selection, const Replacement &by,
                      ArrayRef<BlockArgument> kept) {
  // The side of a comparison that the element's key is on.
  auto findKey = [&](Operation *compare) -> std::optional<unsigned> {
    for (unsigned side : {0, 1})
      for (auto [i, argument] : llvm::enumerate(kept))
        if (compare->getOperand(1 - side) == argument) {
          selection.key = i;
          return side;
        }
    return std::nullopt;
  };
  Operation *compare = by.condition.getDefiningOp();
  // `kept` is no NaN, and the element is greater or NaN.
  if (auto both = dyn_cast_if_present<arith::AndIOp>(compare))
    for (unsigned side : {0, 1}) {
      Operation *part = both->getOperand(side).getDefiningOp();
      if (isa_and_present<arith::CmpFOp>(part) && findKey(part) &&
          isNoNaN(both->getOperand(1 - side), kept[selection.key])) {
        compare = part;
        selection.keepsNaN = true;
        break;
      }
    }
  std::optional<Order> order;
  if (auto floats = dyn_cast_if_present<arith::CmpFOp>(compare))
    order = getOrder(floats.getPredicate());
  else if (auto integers = dyn_cast_if_present<arith::CmpIOp>(compare))
    order = getOrder(integers.getPredicate());
  std::optional<unsigned> side = order ? findKey(compare) : std::nullopt;
  if (!side)
    return nullptr;
  bool isInteger = isa<arith::CmpIOp>(compare);
  if (*side == 1)
    order->isGreater = !order->isGreater;
  if (!by.replaces) {
    order->isGreater = !order->isGreater;
    order->isStrict = !order->isStrict;
    order->isOrdered = isInteger || !order->isOrdered;
  }
  // A NaN that replaces numbers and is replaced by them has no place in an
  // order.
  if (order->isOrdered == selection.keepsNaN ||
      (selection.keepsNaN && !order->isStrict))
    return nullptr;
  selection.keepsGreatest = order->isGreater;
  selection.keepsLast = !order->isStrict;
  selection.isUnsigned = order->isUnsigned;
  return compare->getOperand(*side);
}

/// True when `op`, of two keys, gives the one that the selection keeps, or NaN.
static bool combinesKeys(const Selection &selection, Operation *op) {
  if (isa<arith::MaximumFOp>(op))
    return selection.keepsGreatest;
  if (isa<arith::MinimumFOp>(op))
    return !selection.keepsGreatest;
  if (isa<arith::MaxSIOp>(op))
    return selection.keepsGreatest && !selection.isUnsigned;
  if (isa<arith::MinSIOp>(op))
    return !selection.keepsGreatest && !selection.isUnsigned;
  if (isa<arith::MaxUIOp>(op))
    return selection.keepsGreatest && selection.isUnsigned;
  return isa<arith::MinUIOp>(op) && !selection.keepsGreatest &&
         selection.isUnsigned;
}

/// The value that every other one replaces.
static TypedAttr getLast(const Selection &selection, Type type) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(
        type, APFloat::getInf(real.getFloatSemantics(),
                              /*Negative=*/selection.keepsGreatest));
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  APInt value = APInt::getZero(width);
  if (!selection.isUnsigned)
    value = selection.keepsGreatest ? APInt::getSignedMinValue(width)
                                    : APInt::getSignedMaxValue(width);
  else if (!selection.keepsGreatest)
    value = APInt::getMaxValue(width);
  return IntegerAttr::get(type, value);
}

/// True when `value`, of the body, depends on nothing but the places of loops
/// that are reduced, or kept, and constants.
static bool isOfPosition(Value value, linalg::LinalgOp op) {
  SmallVector<Value> worklist{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() == op.getBlock())
        return false;
      continue;
    }
    Operation *producer = next.getDefiningOp();
    if (producer->getBlock() != op.getBlock() || !seen.insert(producer).second)
      continue;
    if (producer->getNumRegions() != 0 || !isPure(producer))
      return false;
    llvm::append_range(worklist, producer->getOperands());
  }
  return true;
}

static IntegerType getPositionType(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  int64_t elements = 1;
  for (unsigned loop : loops) {
    int64_t extent = op.getStaticLoopRanges()[loop];
    if (ShapedType::isDynamic(extent) ||
        llvm::MulOverflow(elements, extent, elements))
      elements = std::numeric_limits<int64_t>::max();
  }
  bool isShort = elements < std::numeric_limits<int32_t>::max();
  return IntegerType::get(op.getContext(), isShort ? 32 : 64);
}

std::optional<Selection> mlir::fusion::matchSelection(linalg::LinalgOp op) {
  Block *block = op.getBlock();
  ArrayRef<BlockArgument> kept =
      block->getArguments().take_back(op.getNumDpsInits());
  ValueRange yielded = block->getTerminator()->getOperands();
  Selection selection;
  selection.elements.resize(yielded.size());
  std::optional<Replacement> by;
  for (auto [i, value] : llvm::enumerate(yielded)) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    if (!select || select->getBlock() != block)
      continue;
    bool replaces = select.getFalseValue() == kept[i];
    if (!replaces && select.getTrueValue() != kept[i])
      return std::nullopt;
    if (by &&
        (by->condition != select.getCondition() || by->replaces != replaces))
      return std::nullopt;
    by = {select.getCondition(), replaces};
    selection.elements[i] =
        replaces ? select.getTrueValue() : select.getFalseValue();
    if (dependsOn(selection.elements[i], kept))
      return std::nullopt;
  }
  Value key = by ? setOrder(selection, *by, kept) : Value();
  if (!key || dependsOn(key, kept))
    return std::nullopt;

  for (auto [i, element] : llvm::enumerate(selection.elements)) {
    if (i == selection.key) {
      Operation *combine = yielded[i].getDefiningOp();
      if (!element) {
        bool isBoth = combine && combine->getNumOperands() == 2 &&
                      llvm::is_contained(combine->getOperands(), key) &&
                      llvm::is_contained(combine->getOperands(), kept[i]);
        if (!isBoth || selection.keepsNaN || !combinesKeys(selection, combine))
          return std::nullopt;
        // The first NaN is the maximum, and so its results are the others: the
        // comparison would keep what came before it.
        selection.keepsNaN = isa<FloatType>(key.getType());
        if (selection.keepsNaN && selection.keepsLast)
          return std::nullopt;
        selection.keyOp = combine;
      } else if (element != key) {
        return std::nullopt;
      }
      element = key;
      continue;
    }
    if (!element)
      return std::nullopt;
    if (isOfPosition(element, op))
      element = nullptr;
  }
  Type type = key.getType();
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    type = Float32Type::get(op.getContext());
  selection.neutral = getLast(selection, type);
  selection.positionType = getPositionType(op);
  return selection;
}

unsigned Selection::getKeyState() const {
  return llvm::count_if(ArrayRef(elements).take_front(key),
                        [](Value element) { return element; });
}

SmallVector<Value> Selection::combine(OpBuilder &builder, Location loc,
                                      ValueRange kept, ValueRange next,
                                      bool inOrder) const {
  unsigned keyPlace = getKeyState();
  Value before = kept[keyPlace], after = next[keyPlace];
  auto both = [&](Value a, Value b) -> Value {
    return arith::AndIOp::create(builder, loc, a, b);
  };
  auto compareFloats = [&](CmpFPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  };
  auto compareIntegers = [&](CmpIPredicate predicate, Value a,
                             Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  bool isFloat = isa<FloatType>(neutral.getType());
  Value replaces;
  if (isFloat && keepsNaN) {
    Value isNumber = compareFloats(CmpFPredicate::ORD, before, before);
    replaces = both(isNumber, compareFloats(keepsGreatest ? CmpFPredicate::UGT
                                                          : CmpFPredicate::ULT,
                                            after, before));
  } else if (isFloat) {
    replaces = compareFloats(
        keepsGreatest ? CmpFPredicate::OGT : CmpFPredicate::OLT, after, before);
  } else if (isUnsigned) {
    replaces = compareIntegers(
        keepsGreatest ? CmpIPredicate::ugt : CmpIPredicate::ult, after, before);
  } else {
    replaces = compareIntegers(
        keepsGreatest ? CmpIPredicate::sgt : CmpIPredicate::slt, after, before);
  }
  // Of equal ones the first or the last, wherever they are.
  if (!inOrder || keepsLast) {
    Value isSame = isFloat ? compareFloats(CmpFPredicate::OEQ, after, before)
                           : compareIntegers(CmpIPredicate::eq, after, before);
    if (keepsNaN) {
      Value areNaN = both(compareFloats(CmpFPredicate::UNO, before, before),
                          compareFloats(CmpFPredicate::UNO, after, after));
      isSame = arith::OrIOp::create(builder, loc, isSame, areNaN);
    }
    Value comesFirst =
        compareIntegers(keepsLast ? CmpIPredicate::sgt : CmpIPredicate::slt,
                        next.back(), kept.back());
    replaces =
        arith::OrIOp::create(builder, loc, replaces, both(isSame, comesFirst));
  }
  SmallVector<Value> result;
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(kept, next))) {
    auto [old, own] = pair;
    if (!keyOp || i != keyPlace) {
      result.push_back(
          arith::SelectOp::create(builder, loc, replaces, own, old));
      continue;
    }
    result.push_back(combineValues(builder, loc, keyOp, old, own));
  }
  return result;
}

std::optional<SmallVector<Type>>
mlir::fusion::getPartialTypes(linalg::LinalgOp op) {
  SmallVector<Type> types;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    Combiner combiner = matchCombiner(op, i);
    if (combiner.op)
      types.push_back(combiner.type);
  }
  if (static_cast<int64_t>(types.size()) == op.getNumDpsInits())
    return types;
  if (std::optional<RescaledSums> sums = matchRescaledSums(op))
    return SmallVector<Type>(sums->getNumStates(), sums->getType());
  if (std::optional<Moments> moments = matchMoments(op))
    return SmallVector<Type>(3, moments->type);
  std::optional<Selection> selection = matchSelection(op);
  if (!selection)
    return std::nullopt;
  types.assign(1, selection->positionType);
  for (auto [i, element] : llvm::enumerate(selection->elements))
    if (element)
      types.push_back(i == selection->key ? selection->neutral.getType()
                                          : element.getType());
  return types;
}
