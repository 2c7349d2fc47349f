//===- QuantizationOps.cpp - Quantisation ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements quantisation and dequantisation.
//
//===----------------------------------------------------------------------===//

#include "Decomposition.h"
#include "Quantization.h"
#include "Verification.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

/// Smallest and largest stored integer of a format.
static std::pair<int64_t, int64_t> getRange(QuantFormat format) {
  switch (format) {
  case QuantFormat::Int8:
    return {-128, 127};
  case QuantFormat::UInt8:
    return {0, 255};
  case QuantFormat::Int4:
    return {-8, 7};
  case QuantFormat::UInt4:
    return {0, 15};
  case QuantFormat::Float8:
    break;
  }
  return {0, 0};
}

static bool isSigned(QuantFormat format) {
  return format == QuantFormat::Int8 || format == QuantFormat::Int4;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Checks the stored type and that its sizes are those of the numbers, halved
/// in the last dimension when two share a byte.
static LogicalResult verifyStorage(Operation *op, QuantFormat format,
                                   RankedTensorType real,
                                   RankedTensorType stored) {
  bool isInteger = stored.getElementType().isInteger(8);
  if (isInteger == (format == QuantFormat::Float8))
    return op->emitOpError()
           << "format '" << stringifyQuantFormat(format) << "' is stored as "
           << (isInteger ? "f8E4M3FN or f8E5M2" : "i8") << ", got " << stored;
  SmallVector<int64_t> expected(real.getShape());
  if (isPacked(format)) {
    if (real.getRank() == 0)
      return op->emitOpError("a packed format needs rank 1 or more");
    int64_t &last = expected.back();
    if (ShapedType::isStatic(last) && last % 2 != 0)
      return op->emitOpError()
             << "a packed format needs an even last dimension, got " << real;
    if (ShapedType::isStatic(last))
      last /= 2;
  }
  return verifySizes(op, "stored tensor", stored, expected,
                     isPacked(format) ? "two numbers per byte"
                                      : "sizes of the numbers");
}

/// Checks scale, zero point, axis and group size against each other.
template <typename Op>
static LogicalResult verifyScale(Op op, RankedTensorType real) {
  auto scale = cast<RankedTensorType>(op.getScale().getType());
  std::optional<uint64_t> axis = op.getAxis();
  std::optional<uint64_t> groupSize = op.getGroupSize();
  int64_t rank = scale.getRank();
  bool grouped = groupSize.has_value();
  if (rank == 0 && !grouped && axis)
    return op.emitOpError("'axis' needs a scale with dimensions");
  if ((rank != 0 || grouped) && !axis)
    return op.emitOpError()
           << "a scale of type " << scale << " needs an 'axis'";
  if (axis && failed(verifyAxis(op, "axis", static_cast<int64_t>(*axis), real)))
    return failure();
  if (grouped) {
    int64_t size = static_cast<int64_t>(*groupSize);
    int64_t extent = real.getDimSize(*axis);
    if (size < 1)
      return op.emitOpError() << "'group_size' must be positive, got " << size;
    if (ShapedType::isStatic(extent) && extent % size != 0)
      return op.emitOpError() << "size " << extent << " along the axis is not "
                              << "a multiple of 'group_size' " << size;
    SmallVector<int64_t> expected(real.getShape());
    if (ShapedType::isStatic(extent))
      expected[*axis] = extent / size;
    if (failed(verifySizes(op, "scale", scale, expected, "groups")))
      return failure();
  } else if (rank != 0) {
    if (failed(verifySizes(op, "scale", scale, real.getDimSize(*axis),
                           "channels")))
      return failure();
  }
  if (!op.getZeroPoint())
    return success();
  if (op.getFormat() == QuantFormat::Float8)
    return op.emitOpError("format 'float8' has no zero point");
  return verifySizes(op, "zero_point",
                     cast<RankedTensorType>(op.getZeroPoint().getType()),
                     scale.getShape(), "sizes of the scale");
}

LogicalResult QuantizeOp::verify() {
  auto real = cast<RankedTensorType>(getInput().getType());
  if (failed(verifyStorage(*this, getFormat(), real,
                           cast<RankedTensorType>(getResult().getType()))))
    return failure();
  return verifyScale(*this, real);
}

LogicalResult DequantizeOp::verify() {
  auto real = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyStorage(*this, getFormat(), real,
                           cast<RankedTensorType>(getInput().getType()))))
    return failure();
  return verifyScale(*this, real);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Sizes of `tensor` with the last one doubled or halved, where the op changes
/// it; static sizes of the result's type win.
static SmallVector<OpFoldResult>
getResultSizes(OpBuilder &builder, Location loc, Value tensor,
               RankedTensorType result, QuantFormat format, bool packs) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  for (auto [dim, size] : llvm::enumerate(result.getShape())) {
    if (ShapedType::isStatic(size)) {
      sizes[dim] = builder.getIndexAttr(size);
      continue;
    }
    bool isLast = static_cast<int64_t>(dim) == result.getRank() - 1;
    if (!isPacked(format) || !isLast)
      continue;
    ImplicitLocOpBuilder b(loc, builder);
    Value source = getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]);
    Scalar two = makeInteger(b, b.getIndexType(), 2);
    Scalar stored(b, source);
    sizes[dim] = Value(packs ? stored / two : stored * two);
  }
  return sizes;
}

LogicalResult
QuantizeOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(getResultSizes(builder, getLoc(), getInput(),
                                  cast<RankedTensorType>(getResult().getType()),
                                  getFormat(), /*packs=*/true));
  return success();
}

LogicalResult
DequantizeOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(getResultSizes(builder, getLoc(), getInput(),
                                  cast<RankedTensorType>(getResult().getType()),
                                  getFormat(), /*packs=*/false));
  return success();
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

namespace {
/// How scale and zero point are read in the body of the op's one generic: as
/// operands where a loop runs with their dimension, else by index.
class ScaleAccess {
public:
  template <typename Op>
  explicit ScaleAccess(Op op)
      : scale(op.getScale()), zeroPoint(op.getZeroPoint()) {
    if (std::optional<uint64_t> value = op.getAxis())
      axis = static_cast<int64_t>(*value);
    if (std::optional<uint64_t> value = op.getGroupSize())
      groupSize = static_cast<int64_t>(*value);
  }

  /// Adds the operands that loops of the numbers can read; `lastFits` says
  /// whether the last loop is one of them.
  void addOperands(Decomposer &d, SmallVector<LoopOperand> &operands,
                   int64_t numLoops, bool lastFits);

  bool hasZeroPoint() const { return static_cast<bool>(zeroPoint); }
  Scalar loadScale(ImplicitLocOpBuilder &b, ArrayRef<Scalar> args,
                   ArrayRef<Value> indices) const {
    return firstOperand ? args[*firstOperand] : load(b, scale, indices);
  }
  Scalar loadZeroPoint(ImplicitLocOpBuilder &b, ArrayRef<Scalar> args,
                       ArrayRef<Value> indices) const {
    return firstOperand ? args[*firstOperand + 1] : load(b, zeroPoint, indices);
  }

private:
  /// The element of `tensor` that belongs to the number at `indices`.
  Scalar load(ImplicitLocOpBuilder &b, Value tensor,
              ArrayRef<Value> indices) const;

  Value scale;
  Value zeroPoint;
  std::optional<int64_t> axis;
  std::optional<int64_t> groupSize;
  /// Position of the scale among the operands; the zero point follows.
  std::optional<unsigned> firstOperand;
};
} // namespace

void ScaleAccess::addOperands(Decomposer &d, SmallVector<LoopOperand> &operands,
                              int64_t numLoops, bool lastFits) {
  if (groupSize || (axis && *axis == numLoops - 1 && !lastFits))
    return;
  SmallVector<int64_t> loops;
  if (axis)
    loops.push_back(*axis);
  firstOperand = operands.size();
  operands.push_back(d.along(scale, loops, numLoops));
  if (zeroPoint)
    operands.push_back(d.along(zeroPoint, loops, numLoops));
}

Scalar ScaleAccess::load(ImplicitLocOpBuilder &b, Value tensor,
                         ArrayRef<Value> indices) const {
  if (!groupSize)
    return extract(b, tensor, indices[*axis]);
  SmallVector<Value> at(indices);
  Scalar position(b, indices[*axis]);
  at[*axis] = position / makeInteger(b, b.getIndexType(), *groupSize);
  return extract(b, tensor, at);
}

static SmallVector<Value> getLoopIndices(ImplicitLocOpBuilder &b,
                                         int64_t rank) {
  SmallVector<Value> indices;
  for (int64_t loop = 0; loop < rank; ++loop)
    indices.push_back(getLoopIndex(b, loop));
  return indices;
}

/// The stored zero point as a number; `uint8` and `uint4` in i8 are unsigned.
static Scalar loadZeroPoint(Decomposer &d, ImplicitLocOpBuilder &b,
                            const ScaleAccess &access, QuantFormat format,
                            ArrayRef<Scalar> args, ArrayRef<Value> indices) {
  Scalar zero = access.loadZeroPoint(b, args, indices);
  Type i32 = b.getI32Type();
  if (zero.getType() != i32)
    zero = isSigned(format)
               ? convertInteger(zero, i32)
               : Scalar(b, arith::ExtUIOp::create(b, i32, Value(zero)));
  return {b, arith::SIToFPOp::create(b, d.computeType, Value(zero))};
}

/// x / scale + zero point, rounded and clamped, as an i32.
static Scalar quantizeInteger(Decomposer &d, ImplicitLocOpBuilder &b,
                              const ScaleAccess &access, QuantFormat format,
                              Scalar x, ArrayRef<Scalar> args,
                              ArrayRef<Value> indices) {
  Scalar scale =
      convertFloat(access.loadScale(b, args, indices), d.computeType);
  Scalar scaled = x / scale;
  Scalar q(b, math::RoundEvenOp::create(b, Value(scaled)));
  if (access.hasZeroPoint())
    q = q + loadZeroPoint(d, b, access, format, args, indices);
  auto [low, high] = getRange(format);
  // maxnum drops a NaN, so that the conversion to an integer is always defined.
  q = {b, arith::MaxNumFOp::create(b, Value(q), Value(q.constant(low)))};
  q = {b, arith::MinNumFOp::create(b, Value(q), Value(q.constant(high)))};
  return {b, arith::FPToSIOp::create(b, b.getI32Type(), Value(q))};
}

FailureOr<SmallVector<Value>> QuantizeOp::decompose(OpBuilder &builder) {
  auto real = cast<RankedTensorType>(getInput().getType());
  auto stored = cast<RankedTensorType>(getResult().getType());
  QuantFormat format = getFormat();
  ScaleAccess access(*this);
  Decomposer d(builder, getLoc(), getComputeType({getInput(), getScale()}));
  int64_t rank = real.getRank();
  SmallVector<OpFoldResult> sizes =
      getResultSizes(d.b, getLoc(), getInput(), stored, format, /*packs=*/true);

  SmallVector<LoopOperand> operands;
  if (!isPacked(format))
    operands.push_back(d.along(getInput()));
  access.addOperands(d, operands, rank, /*lastFits=*/!isPacked(format));
  if (!isPacked(format)) {
    Value result = d.elementwise(
        operands, sizes, stored.getElementType(),
        [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
          SmallVector<Value> indices = getLoopIndices(b, rank);
          if (format != QuantFormat::Float8)
            return Scalar(b,
                          arith::TruncIOp::create(
                              b, b.getI8Type(),
                              Value(quantizeInteger(d, b, access, format,
                                                    args[0], args, indices))));
          Scalar scale =
              convertFloat(access.loadScale(b, args, indices), d.computeType);
          // Clamped before the rounding, which does not saturate; min and max
          // keep a NaN.
          auto type = cast<FloatType>(stored.getElementType());
          double limit =
              APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
          Scalar y = args[0] / scale;
          return min(max(y, y.constant(-limit)), y.constant(limit));
        });
    return SmallVector<Value>{result};
  }

  Value result = d.elementwise(
      operands, sizes, stored.getElementType(),
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        SmallVector<Value> indices = getLoopIndices(b, rank);
        Type indexType = b.getIndexType();
        Scalar first = Scalar(b, indices.back()) * makeInteger(b, indexType, 2);
        auto half = [&](Scalar column) {
          indices.back() = column;
          Scalar x =
              convertFloat(extract(b, getInput(), indices), d.computeType);
          Scalar q = quantizeInteger(d, b, access, format, x, args, indices);
          Scalar mask = makeInteger(b, b.getI32Type(), 15);
          return logicalAnd(q, mask);
        };
        Scalar low = half(first);
        Scalar high = half(first + makeInteger(b, indexType, 1));
        Scalar shifted = high * makeInteger(b, b.getI32Type(), 16);
        Scalar both(b, arith::OrIOp::create(b, Value(low), Value(shifted)));
        return Scalar(b,
                      arith::TruncIOp::create(b, b.getI8Type(), Value(both)));
      });
  return SmallVector<Value>{result};
}

/// The stored integer at the current loops, as an i32.
static Scalar loadInteger(ImplicitLocOpBuilder &b, Scalar stored,
                          QuantFormat format, ArrayRef<Value> indices) {
  Type i32 = b.getI32Type();
  if (!isPacked(format))
    return isSigned(format)
               ? Scalar(b, arith::ExtSIOp::create(b, i32, Value(stored)))
               : Scalar(b, arith::ExtUIOp::create(b, i32, Value(stored)));
  // Shift the wanted half to the top, then back down with or without its sign.
  Scalar byte(b, arith::ExtUIOp::create(b, i32, Value(stored)));
  Scalar parity = convertInteger(
      Scalar(b, indices.back()) % makeInteger(b, b.getIndexType(), 2), i32);
  Scalar left = makeInteger(b, i32, 28) - parity * makeInteger(b, i32, 4);
  Scalar top(b, arith::ShLIOp::create(b, Value(byte), Value(left)));
  Scalar down = makeInteger(b, i32, 28);
  return isSigned(format)
             ? Scalar(b, arith::ShRSIOp::create(b, Value(top), Value(down)))
             : Scalar(b, arith::ShRUIOp::create(b, Value(top), Value(down)));
}

FailureOr<SmallVector<Value>> DequantizeOp::decompose(OpBuilder &builder) {
  auto real = cast<RankedTensorType>(getResult().getType());
  QuantFormat format = getFormat();
  ScaleAccess access(*this);
  Decomposer d(builder, getLoc(), getComputeType({getResult(), getScale()}));
  SmallVector<OpFoldResult> sizes =
      getResultSizes(d.b, getLoc(), getInput(), real, format, /*packs=*/false);
  // A packed tensor is read by index: loop i of the result is not a loop of
  // the bytes.
  SmallVector<LoopOperand> operands;
  if (!isPacked(format))
    operands.push_back(d.along(getInput()));
  access.addOperands(d, operands, real.getRank(), /*lastFits=*/true);
  Value result = d.elementwise(
      operands, sizes, real.getElementType(),
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        SmallVector<Value> indices = getLoopIndices(b, real.getRank());
        Scalar scale =
            convertFloat(access.loadScale(b, args, indices), d.computeType);
        if (format == QuantFormat::Float8)
          return convertFloat(args[0], d.computeType) * scale;
        SmallVector<Value> at = indices;
        if (isPacked(format))
          at.back() =
              Scalar(b, at.back()) / makeInteger(b, b.getIndexType(), 2);
        Scalar stored = isPacked(format) ? extract(b, getInput(), at) : args[0];
        Scalar q = loadInteger(b, stored, format, indices);
        Scalar number(b, arith::SIToFPOp::create(b, d.computeType, Value(q)));
        if (access.hasZeroPoint())
          number = number - loadZeroPoint(d, b, access, format, args, indices);
        return number * scale;
      });
  return SmallVector<Value>{result};
}
