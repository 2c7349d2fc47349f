//===- SymbolicShapes.cpp - Sizes as expressions over symbols -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the analysis of symbolic sizes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/SymbolicShapes.h"

#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;

/// True when a size, a position or an assertion is computed from `scalar`,
/// inside kernels or outside.
static bool isOfSizes(Value scalar) {
  SmallVector<Value> worklist{scalar};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<cf::AssertOp, tensor::EmptyOp, tensor::SplatOp, tensor::PadOp,
              tensor::ExpandShapeOp, tensor::ExtractSliceOp,
              tensor::InsertSliceOp, tensor::ReshapeOp, Int4ElementsOp,
              RowGroupsOp>(user))
        return true;
      if (auto kernel = dyn_cast<KernelOp>(user))
        worklist.push_back(
            kernel.getBlock().getArgument(use.getOperandNumber()));
      else if (isa<tensor::FromElementsOp>(user) ||
               isa<arith::ArithDialect, affine::AffineDialect>(
                   user->getDialect()))
        llvm::append_range(worklist, user->getResults());
    }
  }
  return false;
}

/// The kind of extremum that `op` is, if it is one of integers.
static std::optional<SymbolicShapes::SymbolKind>
getExtremumKind(Operation *op) {
  if (isa<arith::MinSIOp, arith::MinUIOp, affine::AffineMinOp>(op))
    return SymbolicShapes::SymbolKind::Least;
  if (isa<arith::MaxSIOp, arith::MaxUIOp, affine::AffineMaxOp>(op))
    return SymbolicShapes::SymbolKind::Greatest;
  return std::nullopt;
}

/// True for quotients and remainders of integers.
static bool isDivision(Operation *op) {
  return isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp,
             arith::CeilDivUIOp, arith::CeilDivSIOp, arith::RemUIOp,
             arith::RemSIOp>(op);
}

bool SymbolicShapes::isNonNegative(AffineExpr expr) const {
  auto isKnown = [&](AffineExpr operand) { return isNonNegative(operand); };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  if (auto position = dyn_cast<AffineSymbolExpr>(expr)) {
    const Symbol &symbol = symbols[position.getPosition()];
    switch (symbol.kind) {
    case SymbolKind::Size:
      return true;
    case SymbolKind::Scalar:
      return false;
    case SymbolKind::Least:
      return llvm::all_of(symbol.operands, isKnown);
    case SymbolKind::Greatest:
      return llvm::any_of(symbol.operands, isKnown);
    }
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || !isKnown(binary.getRHS()))
    return false;
  return expr.getKind() == AffineExprKind::Mod || isKnown(binary.getLHS());
}

SymbolicShapes::SymbolicShapes(FunctionOpInterface func)
    : context(func.getContext()), function(func) {
  for (auto [number, argument] : llvm::enumerate(func.getArguments()))
    if (auto type = dyn_cast<RankedTensorType>(argument.getType());
        type && !type.hasStaticShape())
      addSizes(number, type);
  for (auto [number, argument] : llvm::enumerate(func.getArguments()))
    if (argument.getType().isSignlessIntOrIndex() && isOfSizes(argument))
      addScalar(number);
  // Without symbols there is nothing to derive others of.
  if (symbols.empty())
    return;
  // Derived symbols are numbered here, so that all who ask later find the same.
  func->walk([&](Operation *op) {
    if (getExtremumKind(op) || isDivision(op) || isa<arith::SelectOp>(op))
      (void)getIndex(op->getResult(0));
  });
}

void SymbolicShapes::addSizes(unsigned number, RankedTensorType type) {
  auto names = function.getArgAttrOfType<ArrayAttr>(number, "fusion.dims");
  SmallVector<AffineExpr> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim)) {
      shape.push_back(getAffineConstantExpr(type.getDimSize(dim), context));
      continue;
    }
    std::string name;
    if (names && dim < static_cast<int64_t>(names.size()))
      if (auto text = dyn_cast<StringAttr>(names[dim]))
        if (text.getValue() != "_")
          name = text.getValue().str();
    if (name.empty())
      name = ("arg" + Twine(number) + "." + Twine(dim)).str();
    auto known = llvm::find_if(
        symbols, [&](const Symbol &symbol) { return symbol.name == name; });
    if (known == symbols.end()) {
      symbols.push_back({name, {}, SymbolKind::Size, {}});
      known = std::prev(symbols.end());
    }
    known->places.push_back({number, static_cast<unsigned>(dim)});
    shape.push_back(getAffineSymbolExpr(known - symbols.begin(), context));
  }
  shapes[function.getArgument(number)] = shape;
}

void SymbolicShapes::addScalar(unsigned number) {
  // A dimension may bear the name that the argument would have.
  std::string name = ("arg" + Twine(number)).str();
  while (llvm::any_of(
      symbols, [&](const Symbol &symbol) { return symbol.name == name; }))
    name += "_";
  indices[function.getArgument(number)] =
      getAffineSymbolExpr(symbols.size(), context);
  symbols.push_back({name, {{number, 0}}, SymbolKind::Scalar, {}});
}

AffineExpr SymbolicShapes::getExtremum(SymbolKind kind,
                                       ArrayRef<AffineExpr> operands) {
  // What another operand is known to undercut or to exceed says nothing.
  SmallVector<AffineExpr, 2> kept;
  for (AffineExpr operand : operands) {
    bool isNeeded = true;
    for (AffineExpr &other : kept)
      if (auto lead = dyn_cast<AffineConstantExpr>(operand - other)) {
        if ((lead.getValue() < 0) == (kind == SymbolKind::Least))
          other = operand;
        isNeeded = false;
      }
    if (isNeeded)
      kept.push_back(operand);
  }
  if (kept.size() == 1)
    return kept.front();
  auto known = llvm::find_if(symbols, [&](const Symbol &symbol) {
    return symbol.kind == kind && symbol.operands == kept;
  });
  if (known == symbols.end()) {
    std::string name = ("of" + Twine(symbols.size())).str();
    symbols.push_back({name, {}, kind, kept});
    known = std::prev(symbols.end());
  }
  return getAffineSymbolExpr(known - symbols.begin(), context);
}

FailureOr<AffineExpr> SymbolicShapes::computeMap(AffineMap map, unsigned number,
                                                 ValueRange operands) {
  SmallVector<AffineExpr> dims, syms;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    FailureOr<AffineExpr> expr = getIndex(operand);
    if (failed(expr))
      return failure();
    (i < map.getNumDims() ? dims : syms).push_back(*expr);
  }
  return map.getResult(number).replaceDimsAndSymbols(dims, syms);
}

FailureOr<AffineExpr> SymbolicShapes::computeExtremum(Operation *op,
                                                      SymbolKind kind) {
  SmallVector<AffineExpr> operands;
  auto add = [&](FailureOr<AffineExpr> expr) {
    if (succeeded(expr))
      operands.push_back(*expr);
    return succeeded(expr);
  };
  auto addResults = [&](AffineMap map) {
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      if (!add(computeMap(map, i, op->getOperands())))
        return false;
    return true;
  };
  bool known;
  if (auto least = dyn_cast<affine::AffineMinOp>(op))
    known = addResults(least.getMap());
  else if (auto greatest = dyn_cast<affine::AffineMaxOp>(op))
    known = addResults(greatest.getMap());
  else
    known =
        add(getIndex(op->getOperand(0))) && add(getIndex(op->getOperand(1)));
  if (!known || operands.empty())
    return failure();
  return getExtremum(kind, operands);
}

FailureOr<std::pair<AffineExpr, AffineExpr>>
SymbolicShapes::getOperands(Operation *op) {
  FailureOr<AffineExpr> lhs = getIndex(op->getOperand(0));
  if (failed(lhs))
    return failure();
  FailureOr<AffineExpr> rhs = getIndex(op->getOperand(1));
  if (failed(rhs))
    return failure();
  return std::pair(*lhs, *rhs);
}

FailureOr<AffineExpr> SymbolicShapes::computeDivision(Operation *op) {
  auto operands = getOperands(op);
  if (failed(operands))
    return failure();
  AffineExpr number = operands->first, by = operands->second;
  AffineExpr zero = getAffineConstantExpr(0, context);
  bool isSigned = !isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(op);
  bool isRemainder = isa<arith::RemUIOp, arith::RemSIOp>(op);
  // Affine expressions divide by what is positive. What is divided without a
  // sign is meant to have none.
  if (isSigned && !isNonNegative(by)) {
    AffineExpr sign = getExtremum(
        SymbolKind::Least,
        {getExtremum(SymbolKind::Greatest, {by, zero - 1}), zero + 1});
    // The sign of a remainder is that of what is divided.
    if (!isRemainder)
      number = number * sign;
    by = getExtremum(SymbolKind::Greatest, {by, -by});
  }
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return number.ceilDiv(by);
  auto divide = [&](AffineExpr part) {
    return isRemainder ? part % by : part.floorDiv(by);
  };
  if (!isa<arith::DivSIOp, arith::RemSIOp>(op) || isNonNegative(number))
    return divide(number);
  // Rounded towards zero: what is left of negative numbers is negative.
  if (isNonNegative(-number))
    return -divide(-number);
  return divide(getExtremum(SymbolKind::Greatest, {number, zero})) -
         divide(getExtremum(SymbolKind::Greatest, {-number, zero}));
}

AffineExpr SymbolicShapes::isAtLeast(AffineExpr lhs, AffineExpr rhs,
                                     bool isUnsigned) {
  AffineExpr zero = getAffineConstantExpr(0, context), one = zero + 1;
  // Without signs a negative number is greater than any that is not.
  if (isUnsigned)
    return isAtLeast(lhs, rhs) - isAtLeast(lhs, zero) + isAtLeast(rhs, zero);
  if (isNonNegative(lhs - rhs))
    return one;
  if (isNonNegative(rhs - lhs - 1))
    return zero;
  AffineExpr most = getExtremum(SymbolKind::Least, {lhs - rhs + 1, one});
  return getExtremum(SymbolKind::Greatest, {most, zero});
}

FailureOr<AffineExpr> SymbolicShapes::computeCondition(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return failure();
  auto operands = getOperands(compare);
  if (failed(operands))
    return failure();
  arith::CmpIPredicate predicate = compare.getPredicate();
  bool isUnsigned = predicate >= arith::CmpIPredicate::ult;
  AffineExpr left = isAtLeast(operands->first, operands->second, isUnsigned);
  AffineExpr right = isAtLeast(operands->second, operands->first, isUnsigned);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return left + right - 1;
  case arith::CmpIPredicate::ne:
    return 2 - left - right;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return 1 - left;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return right;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return 1 - right;
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return left;
  }
  llvm_unreachable("not a predicate");
}

FailureOr<AffineExpr> SymbolicShapes::computeSelect(arith::SelectOp select) {
  FailureOr<AffineExpr> holds = computeCondition(select.getCondition());
  if (failed(holds))
    return failure();
  if (auto known = dyn_cast<AffineConstantExpr>(*holds))
    return getIndex(known.getValue() ? select.getTrueValue()
                                     : select.getFalseValue());
  FailureOr<AffineExpr> ifTrue = getIndex(select.getTrueValue());
  FailureOr<AffineExpr> ifFalse = getIndex(select.getFalseValue());
  if (failed(ifTrue) || failed(ifFalse))
    return failure();
  return *ifFalse + (*ifTrue - *ifFalse) * *holds;
}

FailureOr<AffineExpr> SymbolicShapes::getIndex(OpFoldResult index) {
  if (auto value = dyn_cast<Value>(index))
    return getIndex(value);
  return getAffineConstantExpr(
      cast<IntegerAttr>(cast<Attribute>(index)).getInt(), context);
}

FailureOr<AffineExpr> SymbolicShapes::getIndex(Value index) {
  auto known = indices.find(index);
  if (known != indices.end())
    return known->second;
  FailureOr<AffineExpr> expr = computeIndex(index);
  if (succeeded(expr))
    indices[index] = *expr;
  return expr;
}

FailureOr<AffineExpr> SymbolicShapes::computeIndex(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), context);
  Operation *op = index.getDefiningOp();
  if (!op) {
    // A scalar argument of a kernel stands for the kernel's operand.
    auto argument = cast<BlockArgument>(index);
    if (auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp()))
      return getIndex(kernel.getInputs()[argument.getArgNumber()]);
    return failure();
  }
  if (std::optional<SymbolKind> kind = getExtremumKind(op))
    return computeExtremum(op, *kind);
  if (isDivision(op))
    return computeDivision(op);
  auto binary = [&](auto combine) -> FailureOr<AffineExpr> {
    auto operands = getOperands(op);
    if (failed(operands))
      return failure();
    return combine(operands->first, operands->second);
  };
  return TypeSwitch<Operation *, FailureOr<AffineExpr>>(op)
      .Case([&](tensor::DimOp dim) -> FailureOr<AffineExpr> {
        std::optional<int64_t> number = dim.getConstantIndex();
        FailureOr<SmallVector<AffineExpr>> shape = getShape(dim.getSource());
        if (!number || failed(shape) || *number < 0 ||
            *number >= static_cast<int64_t>(shape->size()))
          return failure();
        return (*shape)[*number];
      })
      .Case([&](arith::SelectOp select) { return computeSelect(select); })
      .Case([&](arith::ExtUIOp extend) {
        return extend.getIn().getType().isInteger(1)
                   ? computeCondition(extend.getIn())
                   : getIndex(extend.getIn());
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp>(
          [&](auto) { return getIndex(op->getOperand(0)); })
      .Case([&](arith::AddIOp) {
        return binary([](AffineExpr a, AffineExpr b) { return a + b; });
      })
      .Case([&](arith::SubIOp) {
        return binary([](AffineExpr a, AffineExpr b) { return a - b; });
      })
      .Case([&](arith::MulIOp) {
        return binary([](AffineExpr a, AffineExpr b) { return a * b; });
      })
      .Case([&](affine::AffineApplyOp apply) -> FailureOr<AffineExpr> {
        return computeMap(apply.getAffineMap(), 0, apply.getMapOperands());
      })
      .Default([](Operation *) -> FailureOr<AffineExpr> { return failure(); });
}

FailureOr<SmallVector<AffineExpr>> SymbolicShapes::getShape(Value tensor) {
  auto known = shapes.find(tensor);
  if (known != shapes.end())
    return known->second;
  FailureOr<SmallVector<AffineExpr>> shape = computeShape(tensor);
  if (failed(shape))
    return failure();
  // A static size is stronger than any expression for it.
  auto type = cast<RankedTensorType>(tensor.getType());
  for (auto [dim, expr] : llvm::enumerate(*shape))
    if (!type.isDynamicDim(dim))
      expr = getAffineConstantExpr(type.getDimSize(dim), context);
  shapes[tensor] = *shape;
  return *shape;
}

using Shape = FailureOr<SmallVector<AffineExpr>>;

/// The shape that `sizes` are of.
static Shape getSizes(ArrayRef<OpFoldResult> sizes, SymbolicShapes &shapes) {
  SmallVector<AffineExpr> shape;
  for (OpFoldResult size : sizes) {
    FailureOr<AffineExpr> expr = shapes.getIndex(size);
    if (failed(expr))
      return failure();
    shape.push_back(*expr);
  }
  return shape;
}

static Shape computeShapeOf(tensor::ExtractSliceOp slice,
                            SymbolicShapes &shapes) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<OpFoldResult> kept;
  for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
    if (!dropped.test(dim))
      kept.push_back(size);
  return getSizes(kept, shapes);
}

static Shape computeShapeOf(tensor::PadOp pad, SymbolicShapes &shapes) {
  Shape shape = shapes.getShape(pad.getSource());
  if (failed(shape))
    return failure();
  for (auto [size, low, high] :
       llvm::zip(*shape, pad.getMixedLowPad(), pad.getMixedHighPad())) {
    FailureOr<AffineExpr> lowExpr = shapes.getIndex(low);
    FailureOr<AffineExpr> highExpr = shapes.getIndex(high);
    if (failed(lowExpr) || failed(highExpr))
      return failure();
    size = size + *lowExpr + *highExpr;
  }
  return shape;
}

static Shape computeShapeOf(tensor::ConcatOp concat, SymbolicShapes &shapes) {
  Shape shape = shapes.getShape(concat.getInputs().front());
  if (failed(shape))
    return failure();
  for (Value input : concat.getInputs().drop_front()) {
    Shape other = shapes.getShape(input);
    if (failed(other))
      return failure();
    AffineExpr &size = (*shape)[concat.getDim()];
    size = size + (*other)[concat.getDim()];
  }
  return shape;
}

static Shape computeShapeOf(tensor::CollapseShapeOp collapse,
                            SymbolicShapes &shapes) {
  Shape source = shapes.getShape(collapse.getSrc());
  if (failed(source))
    return failure();
  SmallVector<AffineExpr> shape;
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    AffineExpr size = getAffineConstantExpr(1, shapes.getContext());
    for (int64_t dim : group)
      size = size * (*source)[dim];
    shape.push_back(size);
  }
  return shape;
}

static Shape computeShapeOf(Int4BytesOp bytes, SymbolicShapes &shapes) {
  Shape shape = shapes.getShape(bytes.getInput());
  if (failed(shape))
    return failure();
  AffineExpr count = getAffineConstantExpr(1, shapes.getContext());
  for (AffineExpr size : *shape)
    count = count * size;
  return SmallVector<AffineExpr>{count.ceilDiv(2)};
}

/// The shape of a result of any operation.
static Shape computeShapeOf(OpResult result, SymbolicShapes &shapes) {
  unsigned number = result.getResultNumber();
  return TypeSwitch<Operation *, Shape>(result.getOwner())
      .Case<tensor::ExtractSliceOp, tensor::PadOp, tensor::ConcatOp,
            tensor::CollapseShapeOp, Int4BytesOp>(
          [&](auto op) { return computeShapeOf(op, shapes); })
      .Case([&](KernelOp kernel) -> Shape {
        return shapes.getShape(
            kernel.getBody().front().getTerminator()->getOperand(number));
      })
      .Case([&](tensor::EmptyOp empty) -> Shape {
        return getSizes(empty.getMixedSizes(), shapes);
      })
      .Case([&](tensor::SplatOp splat) -> Shape {
        return getSizes(getMixedValues(splat.getType().getShape(),
                                       splat.getDynamicSizes(),
                                       shapes.getContext()),
                        shapes);
      })
      .Case([&](tensor::CastOp cast) -> Shape {
        return shapes.getShape(cast.getSource());
      })
      .Case([&](tensor::InsertSliceOp slice) -> Shape {
        return shapes.getShape(slice.getDest());
      })
      .Case([&](tensor::ExpandShapeOp expand) -> Shape {
        return getSizes(expand.getMixedOutputShape(), shapes);
      })
      .Case([&](Int4ElementsOp elements) -> Shape {
        return getSizes(getMixedValues(elements.getType().getShape(),
                                       elements.getSizes(),
                                       shapes.getContext()),
                        shapes);
      })
      .Case([&](RowGroupsOp groups) -> Shape {
        return getSizes({OpFoldResult(groups.getRows())}, shapes);
      })
      .Case([&](ScanOp scan) -> Shape {
        return shapes.getShape(scan.getInputs()[number]);
      })
      .Case([&](DestinationStyleOpInterface dps) -> Shape {
        return shapes.getShape(dps.getDpsInitOperand(number)->get());
      })
      .Default([](Operation *) -> Shape { return failure(); });
}

FailureOr<SmallVector<AffineExpr>> SymbolicShapes::computeShape(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return failure();
  if (type.hasStaticShape()) {
    SmallVector<AffineExpr> shape;
    for (int64_t size : type.getShape())
      shape.push_back(getAffineConstantExpr(size, context));
    return shape;
  }
  if (auto result = dyn_cast<OpResult>(tensor))
    return computeShapeOf(result, *this);
  auto argument = cast<BlockArgument>(tensor);
  if (auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp()))
    return getShape(kernel.getInputs()[argument.getArgNumber()]);
  return failure();
}
