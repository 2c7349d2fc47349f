//===- PackPairs.cpp - Two 16-bit floats in a register --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the conversion of pairs of small integers to f16 or
// bf16. A chain of shifts, masks and extensions is read as a field of bits of a
// 32-bit register that memory was read into. Two fields are moved to the low
// ends of the register's halves, by one shift or one byte permutation; there
// they are put into the mantissa of a number that is large enough for its last
// place to be 1 (128 in bf16, 1024 in f16), which one subtraction of both takes
// away again. All of that is exact.
//
// bf16 has 7 bits for them: the eighth bit of a field chooses what is taken
// away, 128 or 256, which differ in one bit of the exponent, the eighth.
//
//===----------------------------------------------------------------------===//

#include "PackPairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

static constexpr unsigned kWordBits = 32, kHalfBits = 16;
/// Fields that are worth it, and the integers that bf16 holds exactly.
static constexpr unsigned kMaxFieldBits = 8;
static constexpr int64_t kMaxExact = 256;

namespace {
/// An integer: the bits [offset, offset + width) of a 32-bit word of `vector`,
/// extended, moved up by `position` places, plus `bias`.
struct Field {
  Value vector;
  unsigned word = 0;
  unsigned offset = 0;
  unsigned width = 0;
  unsigned position = 0;
  bool isSigned = false;
  int64_t bias = 0;

  /// Whether the field's top is that of an integer of `bits`: it may then still
  /// become signed or not.
  bool reachesTop(unsigned bits) const { return position + width == bits; }
  int64_t least() const {
    return bias - (isSigned ? int64_t(1) << (width - 1) : 0);
  }
  int64_t most() const { return bias + (int64_t(1) << (width - isSigned)) - 1; }
  bool hasForm(const Field &other) const {
    return width == other.width && isSigned == other.isSigned &&
           bias == other.bias;
  }
};
} // namespace

static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

/// Keeps bits [low, high) of `field` where they are.
static std::optional<Field> keepBits(Field field, unsigned low, unsigned high) {
  low = std::max(low, field.position);
  high = std::min(high, field.position + field.width);
  if (low >= high)
    return std::nullopt;
  field.offset += low - field.position;
  field.width = high - low;
  field.position = low;
  field.isSigned = false;
  return field;
}

/// The field that is an element of a vector.
static std::optional<Field> findElement(LLVM::ExtractElementOp extract) {
  unsigned bits = extract.getType().getIntOrFloatBitWidth();
  std::optional<int64_t> index = getConstant(extract.getPosition());
  auto type = cast<VectorType>(extract.getVector().getType());
  int64_t all = type.getNumElements() * bits;
  if (!index || kWordBits % bits != 0 ||
      (all != kHalfBits && all % kWordBits != 0))
    return std::nullopt;
  Field field;
  field.vector = extract.getVector();
  field.word = *index * bits / kWordBits;
  field.offset = *index * bits % kWordBits;
  field.width = bits;
  return field;
}

/// What a mask of an integer of so many bits leaves of `field`.
static std::optional<Field> maskField(const Field &field, int64_t constant,
                                      unsigned bits) {
  uint64_t mask = constant & llvm::maskTrailingOnes<uint64_t>(bits);
  unsigned low, length;
  if (!llvm::isShiftedMask_64(mask, low, length))
    return std::nullopt;
  // Beyond the field there are copies of its sign.
  if (field.isSigned && low + length > field.position + field.width)
    return std::nullopt;
  return keepBits(field, low, low + length);
}

/// `field` of an integer of so many bits, shifted to lower places.
static std::optional<Field> shiftDown(Field field, unsigned places,
                                      bool isSigned, unsigned bits) {
  if (field.reachesTop(bits))
    field.isSigned = isSigned;
  else if (field.isSigned && !isSigned)
    return std::nullopt;
  unsigned lost = places > field.position ? places - field.position : 0;
  if (lost >= field.width)
    return std::nullopt;
  field.offset += lost;
  field.width -= lost;
  field.position -= places - lost;
  return field;
}

/// `value` as a field; none when it is something else.
static std::optional<Field> findField(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isInteger())
    return std::nullopt;
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  if (auto extract = dyn_cast<LLVM::ExtractElementOp>(op))
    return findElement(extract);
  if (op->getNumOperands() == 0)
    return std::nullopt;
  std::optional<Field> field = findField(op->getOperand(0));
  if (!field)
    return std::nullopt;
  unsigned from = op->getOperand(0).getType().getIntOrFloatBitWidth();
  std::optional<int64_t> constant =
      op->getNumOperands() == 2 ? getConstant(op->getOperand(1)) : std::nullopt;

  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    // Far from wrapping.
    if (!constant || field->position != 0 || bits < kHalfBits ||
        field->width > kMaxFieldBits || std::abs(*constant) > kMaxExact)
      return std::nullopt;
    field->bias += isa<arith::AddIOp>(op) ? *constant : -*constant;
    return field;
  }
  if (field->bias != 0)
    return std::nullopt;
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    bool isSigned = isa<arith::ExtSIOp>(op);
    if (field->reachesTop(from))
      field->isSigned = isSigned;
    else if (field->isSigned && !isSigned)
      return std::nullopt;
    return field;
  }
  if (isa<arith::TruncIOp>(op))
    return field->position + field->width <= bits ? field
                                                  : keepBits(*field, 0, bits);
  if (!constant)
    return std::nullopt;
  if (isa<arith::AndIOp>(op))
    return maskField(*field, *constant, bits);
  if (*constant < 0 || *constant >= int64_t(bits))
    return std::nullopt;
  unsigned places = *constant;
  if (isa<arith::ShLIOp>(op)) {
    field->position += places;
    if (field->position + field->width <= bits)
      return field;
    return keepBits(*field, 0, bits);
  }
  if (!isa<arith::ShRSIOp, arith::ShRUIOp>(op))
    return std::nullopt;
  return shiftDown(*field, places, isa<arith::ShRSIOp>(op), bits);
}

/// The field of which `value`, a float, is the conversion.
static std::optional<Field> findConverted(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(op))
    return std::nullopt;
  Value integer = op->getOperand(0);
  std::optional<Field> field = findField(integer);
  if (!field)
    return std::nullopt;
  bool isSigned = isa<arith::SIToFPOp>(op);
  if (field->bias == 0 &&
      field->reachesTop(integer.getType().getIntOrFloatBitWidth()))
    field->isSigned = isSigned;
  if (field->position != 0 || field->width > kMaxFieldBits ||
      (!isSigned && field->least() < 0) || field->least() < -kMaxExact ||
      field->most() > kMaxExact)
    return std::nullopt;
  return field;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

namespace {
class PairPacker {
public:
  PairPacker(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(type),
        pairType(VectorType::get(2, type)) {}

  /// Null where it is not worth it.
  Value pack(Value low, Value high);

private:
  Value number(uint32_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  }
  Value inBoth(uint32_t half) { return number(half << kHalfBits | half); }
  Value asPair(Value word) {
    return LLVM::BitcastOp::create(builder, loc, pairType, word);
  }
  /// (word & mask) ^ flipped, both in each half.
  Value pick(Value word, uint32_t mask, uint32_t flipped);
  Value add(Value pair, double amount);
  Value word(const Field &field);
  Value place(const Field &low, const Field &high);
  Value convert(const Field &low, const Field &high);
  Value convertBytes(Value placed, const Field &form);
  Value vectorOf(Value low, Value high);

  OpBuilder &builder;
  Location loc;
  Type type;
  VectorType pairType;
};
} // namespace

Value PairPacker::pick(Value word, uint32_t mask, uint32_t flipped) {
  // Written out: ptxas makes two instructions of operations with a constant
  // each.
  auto asmDialect =
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  return asPair(LLVM::InlineAsmOp::create(
                    builder, loc, builder.getI32Type(),
                    ValueRange{word, inBoth(mask), inBoth(flipped)},
                    "lop3.b32 $0, $1, $2, $3, 0x6A;", "=r,r,r,r",
                    /*has_side_effects=*/false, /*is_align_stack=*/false,
                    LLVM::tailcallkind::TailCallKind::None, asmDialect,
                    /*operand_attrs=*/ArrayAttr())
                    .getRes());
}

Value PairPacker::add(Value pair, double amount) {
  if (amount == 0)
    return pair;
  auto both = DenseElementsAttr::get(
      pairType, cast<Attribute>(builder.getFloatAttr(type, amount)));
  Value constant = arith::ConstantOp::create(builder, loc, both);
  return arith::AddFOp::create(builder, loc, pair, constant);
}

Value PairPacker::word(const Field &field) {
  auto from = cast<VectorType>(field.vector.getType());
  unsigned words =
      from.getNumElements() * from.getElementTypeBitWidth() / kWordBits;
  if (words == 0) {
    Value half = LLVM::BitcastOp::create(
        builder, loc, builder.getIntegerType(kHalfBits), field.vector);
    return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), half);
  }
  if (words == 1)
    return LLVM::BitcastOp::create(builder, loc, builder.getI32Type(),
                                   field.vector);
  Value all = LLVM::BitcastOp::create(
      builder, loc, VectorType::get(words, builder.getI32Type()), field.vector);
  return LLVM::ExtractElementOp::create(builder, loc, all, number(field.word));
}

/// A word in whose halves the fields begin at bit 0; what is above them may be
/// anything.
Value PairPacker::place(const Field &low, const Field &high) {
  bool isOneWord = low.vector == high.vector && low.word == high.word;
  unsigned shift = low.offset % kMaxFieldBits;
  Value placed = word(low);
  if (isOneWord && high.offset == low.offset + kHalfBits)
    shift = low.offset;
  else if (shift + low.width > kHalfBits ||
           high.offset % kMaxFieldBits != shift)
    return nullptr;
  else {
    // Whole bytes; above them those that follow, if any.
    unsigned lowByte = low.offset / 8, highByte = high.offset / 8 + 4;
    uint32_t selector = lowByte | lowByte << 4 | highByte << 8 | highByte << 12;
    placed = LLVM::CallIntrinsicOp::create(
                 builder, loc, builder.getI32Type(),
                 builder.getStringAttr("llvm.nvvm.prmt"),
                 ValueRange{placed, word(high), number(selector)})
                 .getResult(0);
    if (shift + low.width > 8)
      return nullptr;
  }
  if (shift == 0)
    return placed;
  return arith::ShRUIOp::create(builder, loc, placed, number(shift));
}

/// Eight bits to bf16.
Value PairPacker::convertBytes(Value placed, const Field &form) {
  constexpr uint32_t k128 = 0x4300, kMinus128 = 0xC300, kMinus256 = 0xC380;
  // 128 + the lower bits, then minus 128 or 256: as a signed number, when the
  // eighth bit is set the latter; else the former, and 128 too little.
  Value sum = arith::AddFOp::create(
      builder, loc, pick(placed, 0x7F, k128),
      pick(placed, 0x80, form.isSigned ? kMinus128 : kMinus256));
  return add(sum, form.bias + (form.isSigned ? 0 : 128));
}

Value PairPacker::convert(const Field &low, const Field &high) {
  if (!low.hasForm(high))
    return nullptr;
  Value placed = place(low, high);
  if (!placed)
    return nullptr;
  if (type.isBF16() && low.width == kMaxFieldBits)
    return convertBytes(placed, low);
  // A signed field is one that is not, less half its range: its top bit flips.
  int64_t base = type.isBF16() ? 128 : 1024;
  uint32_t bits = type.isBF16() ? 0x4300 : 0x6400;
  uint32_t sign = low.isSigned ? 1u << (low.width - 1) : 0;
  int64_t amount = low.bias - base - int64_t(sign);
  if (type.isBF16() && std::abs(amount) > kMaxExact)
    return nullptr;
  Value sum = pick(placed, (1u << low.width) - 1, bits | sign);
  return add(sum, amount);
}

Value PairPacker::vectorOf(Value low, Value high) {
  Value vector = LLVM::PoisonOp::create(builder, loc, pairType);
  vector = LLVM::InsertElementOp::create(builder, loc, vector, low, number(0));
  return LLVM::InsertElementOp::create(builder, loc, vector, high, number(1));
}

Value PairPacker::pack(Value low, Value high) {
  auto lowField = findConverted(low), highField = findConverted(high);
  if (lowField && highField)
    return convert(*lowField, *highField);
  // An integer of so few bits times a factor of so few is exact in f32: there
  // is one rounding, be it made in f32 and cut or at once.
  bool isCut = false;
  auto lowCut = low.getDefiningOp<arith::TruncFOp>();
  auto highCut = high.getDefiningOp<arith::TruncFOp>();
  if (lowCut && highCut && !lowCut.getRoundingmodeAttr() &&
      !highCut.getRoundingmodeAttr() && lowCut.getIn().getType().isF32() &&
      highCut.getIn().getType().isF32()) {
    isCut = true;
    low = lowCut.getIn();
    high = highCut.getIn();
    lowField = findConverted(low);
    highField = findConverted(high);
    if (lowField && highField)
      return convert(*lowField, *highField);
  }
  auto lowProduct = low.getDefiningOp<arith::MulFOp>();
  auto highProduct = high.getDefiningOp<arith::MulFOp>();
  if (!lowProduct || !highProduct)
    return nullptr;
  for (unsigned side : {0u, 1u}) {
    lowField = findConverted(lowProduct->getOperand(side));
    highField = findConverted(highProduct->getOperand(side));
    if (!lowField || !highField)
      continue;
    auto factorOf = [&](arith::MulFOp product) -> Value {
      Value factor = product->getOperand(1 - side);
      if (!isCut)
        return factor;
      auto wide = factor.getDefiningOp<arith::ExtFOp>();
      return wide && wide.getIn().getType() == type ? wide.getIn() : Value();
    };
    Value lowFactor = factorOf(lowProduct), highFactor = factorOf(highProduct);
    if (!lowFactor || !highFactor)
      return nullptr;
    Value numbers = convert(*lowField, *highField);
    if (!numbers)
      return nullptr;
    return arith::MulFOp::create(builder, loc, numbers,
                                 vectorOf(lowFactor, highFactor));
  }
  return nullptr;
}

Value fusion::packPair(OpBuilder &builder, Location loc, Value low,
                       Value high) {
  Type type = low.getType();
  if (type != high.getType() || !(type.isF16() || type.isBF16()))
    return nullptr;
  return PairPacker(builder, loc, type).pack(low, high);
}

unsigned fusion::getPairDistance(Value first, Value second) {
  auto dig = [](Value value) {
    if (auto cut = value.getDefiningOp<arith::TruncFOp>())
      value = cut.getIn();
    auto field = findConverted(value);
    auto product = value.getDefiningOp<arith::MulFOp>();
    for (unsigned side = 0; product && !field && side < 2; ++side)
      field = findConverted(product->getOperand(side));
    return field;
  };
  auto a = dig(first), b = dig(second);
  if (!a || !b || a->vector != b->vector || a->word != b->word ||
      b->offset <= a->offset)
    return 1;
  return std::max(1u, kHalfBits / (b->offset - a->offset));
}
