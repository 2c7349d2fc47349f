//===- PoolOp.cpp - Pooling -----------------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion.pool.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult PoolOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  StringRef name = getOperationName();
  int64_t rank = input.getRank();
  if (rank < 3 || rank > 5)
    return emitInferError(location, name, "input must have one to three ",
                          "spatial dimensions, got ", input);
  if (static_cast<int64_t>(adaptor.getWindow().size()) != rank - 2)
    return emitInferError(location, name, "'window' must have ", rank - 2,
                          " numbers, got ", adaptor.getWindow().size());
  FailureOr<Window> window =
      resolveWindow(location, name, adaptor.getWindow(), adaptor.getStrides(),
                    adaptor.getPadding(), adaptor.getDilations());
  if (failed(window))
    return failure();
  for (int64_t size : window->sizes)
    if (ShapedType::isDynamic(size))
      return emitInferError(location, name, "'window' must be positive");
  SpatialDims dims = {adaptor.getLayout(), rank};
  SmallVector<int64_t> shape(input.getShape());
  for (int64_t dim = 0; dim < rank - 2; ++dim) {
    int64_t &size = shape[dims.getSpace(dim)];
    size = window->getOutputSize(dim, size);
    if (ShapedType::isStatic(size) && size < 0)
      return emitInferError(location, name, "the window does not fit into ",
                            "spatial dimension ", dim, " of ", input);
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

Window fusion::getWindowOf(PoolOp op) {
  // Verified already: cannot fail.
  return *resolveWindow(std::nullopt, "", op.getWindow(), op.getStrides(),
                        op.getPadding(), op.getDilations());
}

LogicalResult PoolOp::verify() {
  if (failed(verifyInferredTypes(*this)))
    return failure();
  auto input = cast<RankedTensorType>(getInput().getType());
  if (getKind() == PoolKind::Avg && !isa<FloatType>(input.getElementType()))
    return emitOpError() << "'avg' needs floats, got " << input;
  if (getKind() == PoolKind::Max && getCountIncludePad())
    return emitOpError("'count_include_pad' is only for 'avg'");
  Window window = getWindowOf(*this);
  for (int64_t dim = 0; dim < window.getRank(); ++dim)
    for (int64_t pad : {window.padding[2 * dim], window.padding[2 * dim + 1]})
      if (pad >= window.getSpan(dim))
        return emitOpError() << "padding " << pad << " of spatial dimension "
                             << dim << " leaves a window of span "
                             << window.getSpan(dim) << " empty";
  return success();
}

static SmallVector<OpFoldResult> getResultSizes(Decomposer &d, PoolOp op) {
  auto result = cast<RankedTensorType>(op.getResult().getType());
  SpatialDims dims = {op.getLayout(), result.getRank()};
  Window window = getWindowOf(op);
  SmallVector<OpFoldResult> sizes = d.getSizes(op.getInput());
  for (int64_t dim = 0; dim < window.getRank(); ++dim) {
    OpFoldResult &size = sizes[dims.getSpace(dim)];
    size = computeOutputSize(d, window, dim, size,
                             d.b.getIndexAttr(window.sizes[dim]));
  }
  return sizes;
}

LogicalResult PoolOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  Decomposer d(builder, getLoc(), builder.getF32Type());
  shapes.push_back(getResultSizes(d, *this));
  return success();
}

OpFoldResult PoolOp::fold(FoldAdaptor) {
  // A window of one element that moves by one is the identity.
  Window window = getWindowOf(*this);
  auto isOne = [](int64_t value) { return value == 1; };
  auto isZero = [](int64_t value) { return value == 0; };
  if (llvm::all_of(window.sizes, isOne) &&
      llvm::all_of(window.strides, isOne) &&
      llvm::all_of(window.padding, isZero) &&
      getInput().getType() == getResult().getType())
    return getInput();
  return {};
}

/// The number of elements of the window at the current loops that lie in the
/// input, as a number: per dimension, of the w in [0, k) those with
/// 0 <= o s + w d - lo < I.
static Scalar buildValidCount(Decomposer &d, ImplicitLocOpBuilder &b,
                              const Window &window, SpatialDims dims,
                              ArrayRef<OpFoldResult> inputSizes) {
  Type type = b.getIndexType();
  Scalar zero = makeInteger(b, type, 0);
  Scalar count = makeInteger(b, type, 1);
  for (int64_t dim = 0; dim < window.getRank(); ++dim) {
    int64_t position = dims.getSpace(dim);
    // Without padding every window is whole along the dimension.
    if (window.padding[2 * dim] == 0 && window.padding[2 * dim + 1] == 0) {
      count = count * makeInteger(b, type, window.sizes[dim]);
      continue;
    }
    auto constant = [&](int64_t value) { return makeInteger(b, type, value); };
    Scalar dilation = constant(window.dilations[dim]);
    Scalar start = getLoopIndex(b, position) * constant(window.strides[dim]);
    Scalar low = constant(window.padding[2 * dim]);
    // First w inside: ceil((lo - o s) / d), at least 0. Both numerators are
    // made non-negative before the unsigned division.
    Scalar before = max(low - start, zero);
    Scalar first = (before + dilation - constant(1)) / dilation;
    // One past the last w inside: ceil((I + lo - o s) / d), at most k.
    Scalar room = max(d.getIndex(b, inputSizes[position]) + low - start, zero);
    Scalar last = min((room + dilation - constant(1)) / dilation,
                      constant(window.sizes[dim]));
    count = count * max(last - first, zero);
  }
  return convertFloat(count, d.computeType);
}

FailureOr<SmallVector<Value>> PoolOp::decompose(OpBuilder &builder) {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  Type elementType = input.getElementType();
  bool isMax = getKind() == PoolKind::Max;
  // A maximum is exact in the element type; a sum is not.
  Type computeType = isMax ? elementType : getComputeType(elementType);
  Decomposer d(builder, getLoc(), computeType);
  MLIRContext *context = getContext();
  int64_t rank = input.getRank();
  SpatialDims dims = {getLayout(), rank};
  Window window = getWindowOf(*this);
  SmallVector<OpFoldResult> sizes = getResultSizes(d, *this);
  SmallVector<OpFoldResult> inputSizes = d.getSizes(getInput());

  SmallVector<OpFoldResult> low, high, windowSizes;
  SmallVector<AffineExpr> exprs, windowExprs;
  for (int64_t dim = 0; dim < rank; ++dim)
    exprs.push_back(getAffineDimExpr(dim, context));
  for (int64_t dim = 0; dim < window.getRank(); ++dim) {
    low.push_back(d.b.getIndexAttr(window.padding[2 * dim]));
    high.push_back(d.b.getIndexAttr(window.padding[2 * dim + 1]));
    windowSizes.push_back(d.b.getIndexAttr(window.sizes[dim]));
    AffineExpr windowExpr = getAffineDimExpr(rank + dim, context);
    windowExprs.push_back(windowExpr);
    AffineExpr &expr = exprs[dims.getSpace(dim)];
    expr = expr * window.strides[dim] + windowExpr * window.dilations[dim];
  }
  TypedAttr outside =
      isMax ? getLowest(elementType) : d.b.getZeroAttr(elementType);
  Value padded = padSpace(d, getInput(), dims, low, high, outside);
  // Only the sizes of this operand matter: they bound the window's loops.
  Value shape = d.createEmpty(windowSizes, elementType);
  int64_t numLoops = rank + window.getRank();
  SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Value combined = d.reduce(
      {{padded, AffineMap::get(numLoops, 0, exprs, context)},
       {shape, AffineMap::get(numLoops, 0, windowExprs, context)}},
      numLoops, kept, sizes, isMax ? Accumulation::Max : Accumulation::Add,
      [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) { return args[0]; });
  if (isMax)
    return SmallVector<Value>{d.castTo(combined, result)};

  double whole = 1.0;
  for (int64_t size : window.sizes)
    whole *= static_cast<double>(size);
  // Without padding every window is whole.
  bool isWhole =
      getCountIncludePad() ||
      llvm::all_of(window.padding, [](int64_t value) { return value == 0; });
  Value mean = d.elementwise(
      {d.along(combined)}, sizes, elementType,
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        if (isWhole)
          return args[0] / whole;
        return args[0] / buildValidCount(d, b, window, dims, inputSizes);
      });
  return SmallVector<Value>{d.castTo(mean, result)};
}
