//===- OpaqueFloats.cpp - Floats that nothing is known about --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements a pass that makes of every operation on floats the one
// instruction that payload mode knows: literals are written as floats, numbers
// of 16 bits are computed with in f32, conversions are instructions on every
// chip, and LLVM is not told where floats come from, so that no operation is
// simplified by what is known about its operands or expanded by their bits.
//
//===----------------------------------------------------------------------===//

#include "fusion/Pipelines/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_OPAQUEFLOATSPASS
#include "fusion/Pipelines/Passes.h.inc"
} // namespace mlir::fusion

#define DEBUG_TYPE "fusion-ptx-opaque-floats"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// True for a float of 16 bits. Its registers are those of integers.
static bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

/// The letter of a register of `type` in constraints of inline assembly; empty
/// for a type that is no float, or several.
static StringRef getLetter(Type type) {
  if (type.isF32())
    return "f";
  if (type.isF64())
    return "d";
  return isNarrow(type) ? "h" : "";
}

/// The letter of a register of `type`, a float or an integer; empty for others.
static StringRef getRegister(Type type) {
  if (type.isInteger(16))
    return "h";
  if (type.isInteger(32))
    return "r";
  return type.isInteger(64) ? "l" : getLetter(type);
}

/// `value` as what a register holds of it, or back as a `type`.
static Value castTo(ImplicitLocOpBuilder &b, Type type, Value value) {
  return value.getType() == type ? value
                                 : LLVM::BitcastOp::create(b, type, value);
}

/// The result, a float of `type`, of a piece of assembly.
static Value emitAsm(ImplicitLocOpBuilder &b, Type type, ValueRange operands,
                     const Twine &text, const Twine &constraints) {
  auto held = [&](Type of) -> Type {
    return isNarrow(of) ? Type(b.getI16Type()) : of;
  };
  SmallVector<Value> registers;
  for (Value operand : operands)
    registers.push_back(castTo(b, held(operand.getType()), operand));
  auto assembly = LLVM::InlineAsmOp::create(
      b, held(type), registers, text.str(), constraints.str(),
      /*has_side_effects=*/false, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
      /*operand_attrs=*/nullptr);
  return castTo(b, type, assembly.getResult(0));
}

/// The result of an instruction that has no other operands than `operands`.
static Value emitInstruction(ImplicitLocOpBuilder &b, Type type,
                             StringRef instruction, ValueRange operands) {
  std::string text = (instruction + " $0").str();
  std::string constraints = ("=" + getRegister(type)).str();
  for (auto [i, operand] : llvm::enumerate(operands)) {
    text += ", $" + std::to_string(i + 1);
    constraints += ("," + getRegister(operand.getType())).str();
  }
  return emitAsm(b, type, operands, text + ";", constraints);
}

/// `value` behind an empty piece of assembly; LLVM takes it for another number.
static Value hide(ImplicitLocOpBuilder &b, Value value) {
  Type type = value.getType();
  return emitAsm(b, type, value, "", "=" + getRegister(type) + ",0");
}

/// Lets all uses of `value` take what hides it.
static void hideFromUses(Value value) {
  ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
  b.setInsertionPointAfterValue(value);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  Value hidden = hide(b, value);
  for (OpOperand *use : uses)
    use->set(hidden);
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

static Value narrow(ImplicitLocOpBuilder &b, Type type, Value value);

/// `value` as a literal of PTX, which has those of 32 and 64 bits: in a
/// register LLVM would write its bits, an integer.
static Value emitLiteral(ImplicitLocOpBuilder &b, Type type, APFloat value) {
  bool isDouble = type.isF64(), isExact;
  value.convert(isDouble ? APFloat::IEEEdouble() : APFloat::IEEEsingle(),
                APFloat::rmNearestTiesToEven, &isExact);
  SmallString<16> digits;
  value.bitcastToAPInt().toString(digits, 16, /*Signed=*/false);
  digits.insert(digits.begin(), (isDouble ? 16 : 8) - digits.size(), '0');
  Type written = isDouble ? type : Type(b.getF32Type());
  Value literal =
      emitAsm(b, written, {},
              (isDouble ? Twine("mov.f64 $0, 0d") : Twine("mov.f32 $0, 0f")) +
                  digits + ";",
              "=" + getLetter(written));
  return isNarrow(type) ? narrow(b, type, literal) : literal;
}

/// Replaces a constant of one or several floats by literals.
static void replaceConstant(LLVM::ConstantOp constant) {
  ImplicitLocOpBuilder b(constant.getLoc(), constant);
  Type type = constant.getType();
  Value result;
  if (auto value = dyn_cast<FloatAttr>(constant.getValue())) {
    if (getLetter(type).empty())
      return;
    result = emitLiteral(b, type, value.getValue());
  } else {
    auto vector = dyn_cast<VectorType>(type);
    auto values = dyn_cast<DenseFPElementsAttr>(constant.getValue());
    if (!vector || !values || getLetter(vector.getElementType()).empty())
      return;
    result = LLVM::PoisonOp::create(b, vector);
    for (auto [i, value] : llvm::enumerate(values.getValues<APFloat>()))
      result = LLVM::InsertElementOp::create(
          b, result, emitLiteral(b, vector.getElementType(), value),
          LLVM::ConstantOp::create(b, b.getI32IntegerAttr(i)));
  }
  constant.replaceAllUsesWith(result);
  constant.erase();
}

//===----------------------------------------------------------------------===//
// Operations that LLVM expands
//===----------------------------------------------------------------------===//

/// Conversions of bf16 are shifts where the chip has no instruction.
static Value widen(ImplicitLocOpBuilder &b, Value value) {
  if (value.getType().isBF16())
    return emitInstruction(b, b.getF32Type(), "cvt.f32.bf16", value);
  return LLVM::FPExtOp::create(b, b.getF32Type(), value);
}
static Value narrow(ImplicitLocOpBuilder &b, Type type, Value value) {
  if (type.isBF16())
    return emitInstruction(b, type, "cvt.rn.bf16.f32", value);
  return LLVM::FPTruncOp::create(b, type, value);
}

/// The name of the intrinsic of all targets that `op` calls; empty for others.
static StringRef getIntrinsic(Operation *op) {
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  if (!call || call.getIntrin().starts_with("llvm.nvvm."))
    return "";
  return call.getIntrin();
}

/// True for an operation that computes, compares or converts; others move.
static bool isArithmetic(Operation *op) {
  if (!getIntrinsic(op).empty())
    return true;
  return isa<LLVM::FAddOp, LLVM::FSubOp, LLVM::FMulOp, LLVM::FDivOp,
             LLVM::FRemOp, LLVM::FNegOp, LLVM::FCmpOp, LLVM::FAbsOp,
             LLVM::FMAOp, LLVM::FMulAddOp, LLVM::CopySignOp, LLVM::SqrtOp,
             LLVM::MaxNumOp, LLVM::MinNumOp, LLVM::MaximumOp, LLVM::MinimumOp,
             LLVM::FFloorOp, LLVM::FCeilOp, LLVM::FTruncOp, LLVM::RintOp,
             LLVM::NearbyintOp, LLVM::RoundOp, LLVM::RoundEvenOp,
             LLVM::SIToFPOp, LLVM::UIToFPOp, LLVM::FPToSIOp, LLVM::FPToUIOp,
             LLVM::FPExtOp, LLVM::FPTruncOp>(op);
}

/// Lets `op` compute in f32 where it has floats of 16 bits.
static void computeInF32(Operation *op) {
  auto isOne = [](Value value) { return isNarrow(value.getType()); };
  if (llvm::none_of(op->getOperands(), isOne) &&
      llvm::none_of(op->getResults(), isOne))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isOne(operand) ? widen(b, operand) : operand);
  Type type = op->getResult(0).getType();
  Type wide = isNarrow(type) ? Type(b.getF32Type()) : type;
  Value result = operands.front();
  // A conversion from or to f32 is done by now.
  if (!isa<LLVM::FPExtOp, LLVM::FPTruncOp>(op) || result.getType() != wide) {
    OperationState state(op->getLoc(), op->getName(), operands, wide,
                         op->getAttrs());
    result = b.create(state)->getResult(0);
  }
  if (isNarrow(type))
    result = narrow(b, type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

/// The conversion of an integer, of which LLVM would make a literal if it knew
/// the number.
template <typename OpTy>
static void replaceConversion(OpTy op) {
  constexpr bool isSigned = std::is_same_v<OpTy, LLVM::SIToFPOp>;
  using Extension = std::conditional_t<isSigned, LLVM::SExtOp, LLVM::ZExtOp>;
  Value integer = op.getArg();
  auto from = dyn_cast<IntegerType>(integer.getType());
  Type to = op.getType();
  if (!from || from.getWidth() > 64 || !(to.isF32() || to.isF64()))
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  unsigned width = from.getWidth() <= 32 ? 32 : 64;
  if (from.getWidth() != width)
    integer = Extension::create(b, b.getIntegerType(width), integer);
  std::string instruction = std::string("cvt.rn.f") +
                            (to.isF32() ? "32" : "64") +
                            (isSigned ? ".s" : ".u") + std::to_string(width);
  op.replaceAllUsesWith(emitInstruction(b, to, instruction, integer));
  op.erase();
}

/// A conversion to an integer by way of one of 32 or 64 bits: of a narrower one
/// LLVM assumes that the instruction's register holds no more.
template <typename OpTy>
static void replaceCut(OpTy op) {
  constexpr bool isSigned = std::is_same_v<OpTy, LLVM::FPToSIOp>;
  Value number = op.getArg();
  auto to = dyn_cast<IntegerType>(op.getType());
  Type from = number.getType();
  if (!to || to.getWidth() > 64 || !(from.isF32() || from.isF64()))
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  unsigned width = to.getWidth() <= 32 ? 32 : 64;
  std::string instruction = std::string("cvt.rzi") + (isSigned ? ".s" : ".u") +
                            std::to_string(width) + ".f" +
                            (from.isF32() ? "32" : "64");
  Value integer =
      emitInstruction(b, b.getIntegerType(width), instruction, number);
  if (to.getWidth() != width)
    integer = LLVM::TruncOp::create(b, to, integer);
  op.replaceAllUsesWith(integer);
  op.erase();
}

/// The largest and the least of doubles are no instructions to LLVM, which
/// looks at the sign of zeros.
static void replaceExtreme(Operation *op) {
  StringRef instruction =
      llvm::TypeSwitch<Operation *, StringRef>(op)
          .Case<LLVM::MaxNumOp, LLVM::MaximumOp>([](auto) { return "max.f64"; })
          .Case<LLVM::MinNumOp, LLVM::MinimumOp>([](auto) { return "min.f64"; })
          .Default([](Operation *other) {
            return llvm::StringSwitch<StringRef>(getIntrinsic(other))
                .Case("llvm.maxnum", "max.f64")
                .Case("llvm.minnum", "min.f64")
                .Default("");
          });
  if (instruction.empty() || !op->getResult(0).getType().isF64())
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  op->getResult(0).replaceAllUsesWith(
      emitInstruction(b, b.getF64Type(), instruction, op->getOperands()));
  op->erase();
}

namespace {
class OpaqueFloatsPass
    : public fusion::impl::OpaqueFloatsPassBase<OpaqueFloatsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    hideBits();
    getOperation().walk([](LLVM::ConstantOp op) {
      if (op->getParentOfType<LLVM::LLVMFuncOp>())
        replaceConstant(op);
    });
    getOperation().walk([](Operation *op) {
      if (isArithmetic(op))
        computeInF32(op);
    });
    getOperation().walk(replaceExtreme);
    getOperation().walk(replaceConversion<LLVM::SIToFPOp>);
    getOperation().walk(replaceConversion<LLVM::UIToFPOp>);
    getOperation().walk(replaceCut<LLVM::FPToSIOp>);
    getOperation().walk(replaceCut<LLVM::FPToUIOp>);
    hideAll();
  }

private:
  /// A mask of the sign would become a magnitude of floats, or the other way
  /// round, where LLVM knows that the one is the bits of the other.
  void hideBits() {
    SmallVector<Value> casts;
    getOperation().walk([&](LLVM::BitcastOp op) {
      Type from = op.getArg().getType(), to = op.getType();
      if (!getRegister(from).empty() && !getRegister(to).empty())
        casts.push_back(op);
    });
    llvm::for_each(casts, hideFromUses);
  }

  void hideAll() {
    SmallVector<Value> floats;
    getOperation().walk([&](Operation *op) {
      if (!op->getParentOfType<LLVM::LLVMFuncOp>() ||
          isa<LLVM::InlineAsmOp, LLVM::BitcastOp>(op))
        return;
      for (Value result : op->getResults())
        if (!getLetter(result.getType()).empty())
          floats.push_back(result);
    });
    llvm::for_each(floats, hideFromUses);
  }
};
} // namespace
