//===- ThreadBuilder.cpp - Builds the code of one thread ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the builder of the code of one thread.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/ThreadBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace mlir::fusion;

Type mlir::fusion::memoryType(Type type) {
  bool byte = type.isInteger(1) ||
              (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8);
  return byte ? IntegerType::get(type.getContext(), 8) : type;
}

//===----------------------------------------------------------------------===//
// Indices and conditions
//===----------------------------------------------------------------------===//

Value ThreadBuilder::constantIndex(int64_t value) {
  return arith::ConstantOp::create(*this, getIntegerAttr(indexType, value));
}

/// Converts an integer to the index type of the program.
Value ThreadBuilder::toIndex(Value value) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  if (from < indexType.getWidth())
    return arith::ExtSIOp::create(*this, indexType, value);
  if (from > indexType.getWidth())
    return arith::TruncIOp::create(*this, indexType, value);
  return value;
}

Value ThreadBuilder::constant32(int32_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(value));
}

Value ThreadBuilder::toI32(Value value) {
  if (value.getType().isInteger(32))
    return value;
  return arith::TruncIOp::create(*this, getI32Type(), value);
}

/// True when `expr` has no part that could make it negative.
static bool isNonNegative(AffineExpr expr) {
  // Coordinates within tiles, offsets of tiles and sizes are not negative.
  bool natural = true;
  expr.walk([&](AffineExpr part) {
    if (auto constant = dyn_cast<AffineConstantExpr>(part))
      natural &= constant.getValue() >= 0;
  });
  return natural;
}

Value ThreadBuilder::expand(AffineExpr expr, ArrayRef<Value> dims,
                            ArrayRef<Value> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constantIndex(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = expand(binary.getLHS(), dims, symbols);
  Value rhs = expand(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(*this, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(*this, lhs, rhs);
  case AffineExprKind::Mod: {
    // The remainder of Euclid: a negative coordinate, outside the view, must
    // not become one inside it.
    if (isNonNegative(binary.getLHS()))
      return arith::RemUIOp::create(*this, lhs, rhs);
    Value quotient = arith::FloorDivSIOp::create(*this, lhs, rhs);
    Value multiple = arith::MulIOp::create(*this, quotient, rhs);
    return arith::SubIOp::create(*this, lhs, multiple);
  }
  case AffineExprKind::FloorDiv:
    if (isNonNegative(binary.getLHS()))
      return arith::DivUIOp::create(*this, lhs, rhs);
    return arith::FloorDivSIOp::create(*this, lhs, rhs);
  default:
    if (isNonNegative(binary.getLHS()))
      return arith::CeilDivUIOp::create(*this, lhs, rhs);
    return arith::CeilDivSIOp::create(*this, lhs, rhs);
  }
}

Value ThreadBuilder::isEqual(Value value, int32_t constant) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, value,
                               constant32(constant));
}

Scalars ThreadBuilder::selectAll(Value condition, const Scalars &yes,
                                 const Scalars &no) {
  Scalars selected;
  for (auto [a, b] : llvm::zip_equal(yes, no))
    selected.push_back(arith::SelectOp::create(*this, condition, a, b));
  return selected;
}

void ThreadBuilder::ifThread(Value condition, function_ref<void()> body) {
  auto guarded = scf::IfOp::create(*this, condition,
                                   /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(guarded.thenBlock());
  body();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value ThreadBuilder::fromMemory(Value value, Type type) {
  if (type.isInteger(1)) {
    Value zero = arith::ConstantOp::create(*this, getZeroAttr(value.getType()));
    return arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, value, zero);
  }
  if (value.getType() != type)
    return arith::BitcastOp::create(*this, type, value);
  return value;
}

Value ThreadBuilder::toMemory(Value value) {
  Type type = memoryType(value.getType());
  if (value.getType().isInteger(1))
    return arith::ExtUIOp::create(*this, type, value);
  if (value.getType() != type)
    return arith::BitcastOp::create(*this, type, value);
  return value;
}

Value ThreadBuilder::extractElement(Value vector, unsigned position) {
  Value index = LLVM::ConstantOp::create(*this, getI32Type(),
                                         getI32IntegerAttr(position));
  return LLVM::ExtractElementOp::create(*this, vector, index);
}

Value ThreadBuilder::buildVector(ArrayRef<Value> elements) {
  // Pairs are converted to a narrower float by one instruction, but LLVM does
  // not put single conversions together.
  SmallVector<Value> wide;
  for (Value element : elements) {
    auto narrow = element.getDefiningOp<arith::TruncFOp>();
    if (!narrow || !narrow.getIn().getType().isF32() ||
        narrow.getType().getIntOrFloatBitWidth() != 16 ||
        narrow.getRoundingmodeAttr())
      break;
    wide.push_back(narrow.getIn());
  }
  if (elements.size() > 1 && wide.size() == elements.size()) {
    auto type = VectorType::get(elements.size(), elements.front().getType());
    return arith::TruncFOp::create(*this, type, buildVector(wide));
  }
  auto type = VectorType::get(elements.size(), elements.front().getType());
  Value vector = LLVM::PoisonOp::create(*this, type);
  for (auto [i, element] : llvm::enumerate(elements)) {
    Value index =
        LLVM::ConstantOp::create(*this, getI32Type(), getI32IntegerAttr(i));
    vector = LLVM::InsertElementOp::create(*this, vector, element, index);
  }
  return vector;
}

Value ThreadBuilder::packForMemory(ArrayRef<Value> elements) {
  SmallVector<Value> members;
  for (Value element : elements)
    members.push_back(toMemory(element));
  return members.size() == 1 ? members.front() : buildVector(members);
}

Value ThreadBuilder::createSum(Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::AddFOp::create(*this, lhs, rhs);
  return arith::AddIOp::create(*this, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static Value emitAsm(ThreadBuilder &builder, Type result, ValueRange operands,
                     const Twine &text, const Twine &constraints,
                     bool hasSideEffects) {
  auto dialect =
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  auto call = LLVM::InlineAsmOp::create(
      builder, result, operands, text.str(), constraints.str(), hasSideEffects,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, dialect,
      /*operand_attrs=*/ArrayAttr());
  return result ? call.getRes() : Value();
}

Value ThreadBuilder::inlineAsm(Type result, ValueRange operands,
                               const Twine &text, const Twine &constraints) {
  return emitAsm(*this, result, operands, text, constraints,
                 /*hasSideEffects=*/true);
}

Value ThreadBuilder::pureAsm(Type result, ValueRange operands,
                             const Twine &text, const Twine &constraints) {
  return emitAsm(*this, result, operands, text, constraints,
                 /*hasSideEffects=*/false);
}

Value ThreadBuilder::shuffle(Value value, Value lane, NVVM::ShflKind kind) {
  Type type = value.getType();
  Type i32 = getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  auto shuffle32 = [&](Value word) -> Value {
    int32_t clamp = kind == NVVM::ShflKind::up ? 0 : 31;
    return NVVM::ShflOp::create(*this, word.getType(), constant32(-1), word,
                                lane, constant32(clamp), kind, UnitAttr());
  };
  if (type.isF32() || type.isInteger(32))
    return shuffle32(value);
  Type bits = getIntegerType(width);
  Value raw = type == bits
                  ? value
                  : arith::BitcastOp::create(*this, bits, value).getResult();
  Value moved;
  if (width == 64) {
    Value shift = arith::ConstantOp::create(*this, getI64IntegerAttr(32));
    Value high = arith::ShRUIOp::create(*this, raw, shift);
    Value low32 = shuffle32(arith::TruncIOp::create(*this, i32, raw));
    Value high32 = shuffle32(arith::TruncIOp::create(*this, i32, high));
    Value low = arith::ExtUIOp::create(*this, bits, low32);
    Value top = arith::ExtUIOp::create(*this, bits, high32);
    top = arith::ShLIOp::create(*this, top, shift);
    moved = arith::OrIOp::create(*this, low, top);
  } else {
    Value word = arith::ExtUIOp::create(*this, i32, raw);
    moved = arith::TruncIOp::create(*this, bits, shuffle32(word));
  }
  return type == bits
             ? moved
             : arith::BitcastOp::create(*this, type, moved).getResult();
}

void ThreadBuilder::syncWarp() {
  NVVM::SyncWarpOp::create(*this, constant32(-1));
}

Value ThreadBuilder::advance(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(*this, pointer.getType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value ThreadBuilder::advance(Value pointer, int32_t bytes) {
  return LLVM::GEPOp::create(*this, pointer.getType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}
