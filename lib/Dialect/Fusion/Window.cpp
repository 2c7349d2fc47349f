//===- Window.cpp - Sliding windows ---------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what convolution and pooling share.
//
//===----------------------------------------------------------------------===//

#include "Window.h"
#include "Verification.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::fusion;

/// The largest window, stride, dilation or padding. Products of two of them
/// and sums of a few stay far inside of 64 bits.
static constexpr int64_t kMaxExtent = int64_t(1) << 30;

int64_t Window::getSpan(int64_t dim) const {
  if (ShapedType::isDynamic(sizes[dim]))
    return ShapedType::kDynamic;
  return dilations[dim] * (sizes[dim] - 1) + 1;
}

int64_t Window::getOutputSize(int64_t dim, int64_t input) const {
  int64_t span = getSpan(dim);
  if (ShapedType::isDynamic(input) || ShapedType::isDynamic(span))
    return ShapedType::kDynamic;
  int64_t room = input + padding[2 * dim] + padding[2 * dim + 1] - span;
  // Not -1 + 1 = 0: a window that does not fit is an error, not an empty
  // result.
  return room < 0 ? -1 : room / strides[dim] + 1;
}

int64_t Window::getTransposedSize(int64_t dim, int64_t input,
                                  int64_t outputPadding) const {
  int64_t span = getSpan(dim);
  if (ShapedType::isDynamic(input) || ShapedType::isDynamic(span))
    return ShapedType::kDynamic;
  std::optional<int64_t> spread = llvm::checkedMul(input - 1, strides[dim]);
  if (!spread)
    return -1;
  int64_t size =
      *spread + span - padding[2 * dim] - padding[2 * dim + 1] + outputPadding;
  return size < 1 ? -1 : size;
}

FailureOr<Window>
fusion::resolveWindow(std::optional<Location> location, StringRef opName,
                      ArrayRef<int64_t> sizes,
                      std::optional<ArrayRef<int64_t>> strides,
                      std::optional<ArrayRef<int64_t>> padding,
                      std::optional<ArrayRef<int64_t>> dilations) {
  size_t rank = sizes.size();
  Window window;
  window.sizes = SmallVector<int64_t>(sizes);
  auto fill = [&](StringRef name, std::optional<ArrayRef<int64_t>> given,
                  size_t length, int64_t least, int64_t byDefault,
                  SmallVector<int64_t> &values) -> LogicalResult {
    values.assign(length, byDefault);
    if (!given)
      return success();
    if (given->size() != length)
      return emitInferError(location, opName, "'", name, "' must have ", length,
                            " numbers, got ", given->size());
    for (int64_t value : *given)
      if (value < least || value > kMaxExtent)
        return emitInferError(location, opName, "'", name, "' must be between ",
                              least, " and ", kMaxExtent, ", got ", value);
    values.assign(given->begin(), given->end());
    return success();
  };
  if (failed(fill("strides", strides, rank, 1, 1, window.strides)) ||
      failed(fill("padding", padding, 2 * rank, 0, 0, window.padding)) ||
      failed(fill("dilations", dilations, rank, 1, 1, window.dilations)))
    return failure();
  for (int64_t size : sizes)
    if (ShapedType::isStatic(size) && (size < 1 || size > kMaxExtent))
      return emitInferError(location, opName, "the window must be between 1 ",
                            "and ", kMaxExtent, ", got ", size);
  return window;
}

Value fusion::padSpace(Decomposer &d, Value input, SpatialDims dims,
                       ArrayRef<OpFoldResult> low, ArrayRef<OpFoldResult> high,
                       TypedAttr value) {
  auto isZero = [](OpFoldResult size) { return isZeroInteger(size); };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return input;
  SmallVector<OpFoldResult> lows(dims.rank, d.b.getIndexAttr(0));
  SmallVector<OpFoldResult> highs = lows;
  for (size_t dim = 0; dim < low.size(); ++dim) {
    lows[dims.getSpace(dim)] = low[dim];
    highs[dims.getSpace(dim)] = high[dim];
  }
  Value constant = arith::ConstantOp::create(d.b, value);
  return tensor::PadOp::create(d.b, Type(), input, lows, highs, constant);
}

OpFoldResult fusion::computeOutputSize(Decomposer &d, const Window &window,
                                       int64_t dim, OpFoldResult input,
                                       OpFoldResult windowSize) {
  std::optional<int64_t> knownInput = getConstantIntValue(input);
  std::optional<int64_t> knownWindow = getConstantIntValue(windowSize);
  if (knownInput && knownWindow) {
    Window known = window;
    known.sizes[dim] = *knownWindow;
    return d.b.getIndexAttr(known.getOutputSize(dim, *knownInput));
  }
  Type type = d.b.getIndexType();
  Scalar in(d.b, d.getIndex(input));
  Scalar size(d.b, d.getIndex(windowSize));
  Scalar one = makeInteger(d.b, type, 1);
  Scalar pad = makeInteger(
      d.b, type, window.padding[2 * dim] + window.padding[2 * dim + 1]);
  Scalar dilation = makeInteger(d.b, type, window.dilations[dim]);
  Scalar span = (size - one) * dilation + one;
  Scalar stride = makeInteger(d.b, type, window.strides[dim]);
  return Value((in + pad - span) / stride + one);
}
