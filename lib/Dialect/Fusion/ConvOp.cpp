//===- ConvOp.cpp - Convolution -------------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion.conv.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Types, shapes and verification
//===----------------------------------------------------------------------===//

/// Spatial dimensions of the filter: [a, b, window...] or [a, window..., b].
static SmallVector<int64_t> getFilterWindow(RankedTensorType filter,
                                            SpatialLayout layout) {
  ArrayRef<int64_t> shape = filter.getShape();
  return SmallVector<int64_t>(layout == SpatialLayout::ChannelsFirst
                                  ? shape.drop_front(2)
                                  : shape.drop_front(1).drop_back());
}

/// The number of result channels that the types tell.
static int64_t getResultChannels(RankedTensorType filter, SpatialLayout layout,
                                 int64_t groups, bool transposed) {
  if (!transposed)
    return filter.getDimSize(0);
  SpatialDims dims = {layout, filter.getRank()};
  int64_t perGroup = filter.getDimSize(dims.getChannel());
  if (ShapedType::isDynamic(perGroup))
    return perGroup;
  return llvm::checkedMul(perGroup, groups).value_or(-1);
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  auto filter = cast<RankedTensorType>(adaptor.getFilter().getType());
  StringRef name = getOperationName();
  SpatialLayout layout = adaptor.getLayout();
  int64_t rank = input.getRank();
  if (rank < 3 || rank > 5)
    return emitInferError(location, name, "input must have one to three ",
                          "spatial dimensions, got ", input);
  if (filter.getRank() != rank)
    return emitInferError(location, name, "input (", input, ") and filter (",
                          filter, ") must have one rank");
  FailureOr<Window> window = resolveWindow(
      location, name, getFilterWindow(filter, layout), adaptor.getStrides(),
      adaptor.getPadding(), adaptor.getDilations());
  if (failed(window))
    return failure();
  SmallVector<int64_t> extra(rank - 2, 0);
  if (std::optional<ArrayRef<int64_t>> given = adaptor.getOutputPadding()) {
    if (static_cast<int64_t>(given->size()) != rank - 2)
      return emitInferError(location, name, "'output_padding' must have ",
                            rank - 2, " numbers, got ", given->size());
    extra.assign(given->begin(), given->end());
  }

  SpatialDims dims = {layout, rank};
  SmallVector<int64_t> shape(rank);
  shape[0] = input.getDimSize(0);
  shape[dims.getChannel()] = getResultChannels(
      filter, layout, adaptor.getGroups(), adaptor.getTransposed());
  for (int64_t dim = 0; dim < rank - 2; ++dim) {
    int64_t size = input.getDimSize(dims.getSpace(dim));
    int64_t result = adaptor.getTransposed()
                         ? window->getTransposedSize(dim, size, extra[dim])
                         : window->getOutputSize(dim, size);
    if (ShapedType::isStatic(result) && result < 0)
      return emitInferError(location, name, "the window does not fit into ",
                            "spatial dimension ", dim, " of ", input);
    shape[dims.getSpace(dim)] = result;
  }
  Type elementType = input.getElementType();
  if (elementType.isInteger(8))
    elementType = IntegerType::get(context, 32);
  types.push_back(RankedTensorType::get(shape, elementType));
  return success();
}

LogicalResult ConvOp::verify() {
  if (failed(verifyInferredTypes(*this)))
    return failure();
  auto input = cast<RankedTensorType>(getInput().getType());
  auto filter = cast<RankedTensorType>(getFilter().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  SpatialDims dims = {getLayout(), input.getRank()};
  int64_t groups = getGroups();
  if (input.getElementType() != filter.getElementType())
    return emitOpError() << "input and filter must have one element type, got "
                         << input.getElementType() << " and "
                         << filter.getElementType();
  if (groups < 1)
    return emitOpError() << "'groups' must be positive, got " << groups;
  int64_t channels = input.getDimSize(dims.getChannel());
  int64_t features = result.getDimSize(dims.getChannel());
  for (auto [name, size] :
       {std::pair<StringRef, int64_t>{"input", channels}, {"result", features}})
    if (ShapedType::isStatic(size) && size % groups != 0)
      return emitOpError() << "the number of " << name << " channels, " << size
                           << ", is not a multiple of 'groups', " << groups;
  // The filter's channel dimension is per group; its first one is whole.
  int64_t whole = getTransposed() ? channels : features;
  int64_t part = getTransposed() ? features : channels;
  if (ShapedType::isStatic(part))
    part /= groups;
  int64_t channelDim = dims.getChannel();
  if (sizesDiffer(filter.getDimSize(0), whole))
    return emitOpError() << "filter must have size " << whole
                         << " in dimension 0, got " << filter;
  if (sizesDiffer(filter.getDimSize(channelDim), part))
    return emitOpError() << "filter must have size " << part << " in dimension "
                         << channelDim << ", got " << filter;
  if (getOutputPadding() && !getTransposed())
    return emitOpError("'output_padding' is only for transposed convolution");
  if (getTransposed()) {
    SmallVector<int64_t> window = getFilterWindow(filter, getLayout());
    if (llvm::any_of(window, ShapedType::isDynamic))
      return emitOpError() << "a transposed convolution needs a static "
                           << "window, got " << filter;
    for (int64_t extra : getOutputPadding().value_or(ArrayRef<int64_t>()))
      if (extra < 0 || extra >= (int64_t(1) << 30))
        return emitOpError() << "'output_padding' must not be negative or "
                             << "beyond 2^30, got " << extra;
  }
  if (!getBias())
    return success();
  auto bias = cast<RankedTensorType>(getBias().getType());
  if (isa<FloatType>(bias.getElementType()) !=
      isa<FloatType>(input.getElementType()))
    return emitOpError() << "'bias' of " << bias.getElementType()
                         << " does not fit an input of "
                         << input.getElementType();
  return verifySizes(*this, "bias", bias, features, "result channels");
}

Window fusion::getWindowOf(ConvOp op) {
  // Verified already: cannot fail.
  return *resolveWindow(
      std::nullopt, "",
      getFilterWindow(cast<RankedTensorType>(op.getFilter().getType()),
                      op.getLayout()),
      op.getStrides(), op.getPadding(), op.getDilations());
}

static SmallVector<int64_t> getOutputPaddingOf(ConvOp op) {
  if (std::optional<ArrayRef<int64_t>> given = op.getOutputPadding())
    return SmallVector<int64_t>(*given);
  return SmallVector<int64_t>(
      cast<RankedTensorType>(op.getInput().getType()).getRank() - 2, 0);
}

/// Sizes of the result, static ones of its type as attributes.
static SmallVector<OpFoldResult> getResultSizes(Decomposer &d, ConvOp op) {
  auto result = cast<RankedTensorType>(op.getResult().getType());
  SpatialDims dims = {op.getLayout(), result.getRank()};
  Window window = getWindowOf(op);
  SmallVector<int64_t> extra = getOutputPaddingOf(op);
  SmallVector<OpFoldResult> sizes(result.getRank());
  for (auto [dim, size] : llvm::enumerate(result.getShape()))
    if (ShapedType::isStatic(size))
      sizes[dim] = d.b.getIndexAttr(size);
  if (!sizes[0])
    sizes[0] = d.getSize(op.getInput(), 0);
  int64_t channel = dims.getChannel();
  if (!sizes[channel]) {
    int64_t source = op.getTransposed() ? channel : 0;
    Scalar part(d.b, d.getIndex(d.getSize(op.getFilter(), source)));
    int64_t factor = op.getTransposed() ? op.getGroups() : 1;
    sizes[channel] =
        factor == 1
            ? Value(part)
            : Value(part * makeInteger(d.b, d.b.getIndexType(), factor));
  }
  for (int64_t dim = 0; dim < window.getRank(); ++dim) {
    int64_t position = dims.getSpace(dim);
    if (sizes[position])
      continue;
    OpFoldResult input = d.getSize(op.getInput(), position);
    if (!op.getTransposed()) {
      sizes[position] = computeOutputSize(d, window, dim, input,
                                          d.getSize(op.getFilter(), position));
      continue;
    }
    Type type = d.b.getIndexType();
    Scalar in(d.b, d.getIndex(input));
    Scalar spread = (in - makeInteger(d.b, type, 1)) *
                    makeInteger(d.b, type, window.strides[dim]);
    sizes[position] = Value(
        spread + makeInteger(d.b, type,
                             window.getSpan(dim) - window.padding[2 * dim] -
                                 window.padding[2 * dim + 1] + extra[dim]));
  }
  return sizes;
}

LogicalResult ConvOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  Decomposer d(builder, getLoc(), builder.getF32Type());
  shapes.push_back(getResultSizes(d, *this));
  return success();
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

namespace {
/// One convolution as loops: result dimensions, then the channel of the group,
/// then the window. With groups, the channel loop of the result is two loops.
class ConvBuilder {
public:
  ConvBuilder(ConvOp op, OpBuilder &builder)
      : op(op), d(builder, op.getLoc(),
                  getComputeType(op.getResult().getType().getElementType())),
        dims{op.getLayout(),
             cast<RankedTensorType>(op.getInput().getType()).getRank()},
        window(getWindowOf(op)), groups(op.getGroups()) {}

  Value build();

private:
  /// Splits dimension `dim` into (groups, rest).
  Value splitGroups(Value tensor, int64_t dim);
  /// The input with zeros between and around its elements, so that a plain
  /// convolution by the mirrored filter is the transposed one.
  Value spreadInput(Value input);
  /// [C, F / groups, window] as [F, C / groups, window], mirrored.
  Value mirrorFilter(Value filter);
  Value buildProducts(Value input, Value filter,
                      ArrayRef<OpFoldResult> resultSizes);

  ConvOp op;
  Decomposer d;
  SpatialDims dims;
  Window window;
  int64_t groups;
};
} // namespace

Value ConvBuilder::splitGroups(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> sizes = d.getSizes(tensor);
  SmallVector<ReassociationIndices> reassociation;
  for (int64_t i = 0, rank = type.getRank(); i < rank; ++i) {
    reassociation.push_back({i <= dim ? i : i + 1});
    if (i == dim)
      reassociation.back().push_back(i + 1);
  }
  if (ShapedType::isStatic(shape[dim])) {
    shape[dim] /= groups;
    sizes[dim] = d.b.getIndexAttr(shape[dim]);
  } else {
    Scalar whole(d.b, cast<Value>(sizes[dim]));
    sizes[dim] = Value(whole / makeInteger(d.b, d.b.getIndexType(), groups));
  }
  shape.insert(shape.begin() + dim, groups);
  sizes.insert(sizes.begin() + dim, d.b.getIndexAttr(groups));
  return tensor::ExpandShapeOp::create(
      d.b, RankedTensorType::get(shape, type.getElementType()), tensor,
      reassociation, sizes);
}

Value ConvBuilder::spreadInput(Value input) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<OpFoldResult> sizes = d.getSizes(input);
  SmallVector<OpFoldResult> spread = sizes;
  SmallVector<OpFoldResult> offsets(dims.rank, d.b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(dims.rank, d.b.getIndexAttr(1));
  SmallVector<int64_t> extra = getOutputPaddingOf(op);
  SmallVector<OpFoldResult> low, high;
  SmallVector<OpFoldResult> cropOffsets = offsets;
  bool crops = false;
  Type indexType = d.b.getIndexType();
  SmallVector<int64_t> cropLow(window.getRank(), 0);
  SmallVector<int64_t> cropHigh(window.getRank(), 0);
  for (int64_t dim = 0; dim < window.getRank(); ++dim) {
    int64_t position = dims.getSpace(dim);
    int64_t stride = window.strides[dim];
    strides[position] = d.b.getIndexAttr(stride);
    if (std::optional<int64_t> size = getConstantIntValue(sizes[position])) {
      spread[position] = d.b.getIndexAttr((*size - 1) * stride + 1);
    } else {
      Scalar one = makeInteger(d.b, indexType, 1);
      Scalar whole(d.b, cast<Value>(sizes[position]));
      spread[position] =
          Value((whole - one) * makeInteger(d.b, indexType, stride) + one);
    }
    // Padding beyond the window's reach takes elements away.
    int64_t reach = window.getSpan(dim) - 1;
    int64_t before = reach - window.padding[2 * dim];
    int64_t after = reach - window.padding[2 * dim + 1] + extra[dim];
    low.push_back(d.b.getIndexAttr(std::max<int64_t>(before, 0)));
    high.push_back(d.b.getIndexAttr(std::max<int64_t>(after, 0)));
    cropLow[dim] = std::max<int64_t>(-before, 0);
    cropHigh[dim] = std::max<int64_t>(-after, 0);
    crops |= before < 0 || after < 0;
  }
  TypedAttr zero = d.b.getZeroAttr(type.getElementType());
  Value result = input;
  if (llvm::any_of(window.strides, [](int64_t stride) { return stride != 1; }))
    result = tensor::InsertSliceOp::create(
        d.b, input, d.createFilled(spread, zero), offsets, sizes, strides);
  result = padSpace(d, result, dims, low, high, zero);
  if (!crops)
    return result;
  SmallVector<OpFoldResult> cropped = d.getSizes(result);
  for (int64_t dim = 0; dim < window.getRank(); ++dim) {
    int64_t position = dims.getSpace(dim);
    cropOffsets[position] = d.b.getIndexAttr(cropLow[dim]);
    int64_t taken = cropLow[dim] + cropHigh[dim];
    if (std::optional<int64_t> size = getConstantIntValue(cropped[position]))
      cropped[position] = d.b.getIndexAttr(*size - taken);
    else
      cropped[position] = Value(Scalar(d.b, cast<Value>(cropped[position])) -
                                makeInteger(d.b, indexType, taken));
  }
  SmallVector<OpFoldResult> ones(dims.rank, d.b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(d.b, result, cropOffsets, cropped,
                                        ones);
}

Value ConvBuilder::mirrorFilter(Value filter) {
  auto type = cast<RankedTensorType>(filter.getType());
  int64_t channel = dims.getChannel();
  SmallVector<OpFoldResult> sizes = d.getSizes(filter);
  OpFoldResult features = d.getSize(op.getFilter(), channel);
  auto scale = [&](OpFoldResult size, bool up) -> OpFoldResult {
    if (groups == 1)
      return size;
    if (std::optional<int64_t> known = getConstantIntValue(size))
      return d.b.getIndexAttr(up ? *known * groups : *known / groups);
    Scalar value(d.b, cast<Value>(size));
    Scalar factor = makeInteger(d.b, d.b.getIndexType(), groups);
    return Value(up ? value * factor : value / factor);
  };
  OpFoldResult perGroup = scale(sizes[0], /*up=*/false);
  SmallVector<OpFoldResult> shape = sizes;
  shape[0] = scale(features, /*up=*/true);
  shape[channel] = perGroup;
  // Loops are those of the mirrored filter; the original is read by index,
  // because a mirrored dimension is no projected permutation.
  return d.elementwise(
      {}, shape, type.getElementType(),
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar>) {
        Type indexType = b.getIndexType();
        SmallVector<Value> at(dims.rank);
        Scalar feature = getLoopIndex(b, 0);
        Scalar inner = getLoopIndex(b, channel);
        if (groups == 1) {
          at[0] = inner;
          at[channel] = feature;
        } else {
          Scalar perFeature = d.getIndex(b, features);
          at[0] = feature / perFeature * d.getIndex(b, perGroup) + inner;
          at[channel] = feature % perFeature;
        }
        for (int64_t dim = 0; dim < window.getRank(); ++dim) {
          int64_t position = dims.getSpace(dim);
          at[position] = makeInteger(b, indexType, window.sizes[dim] - 1) -
                         getLoopIndex(b, position);
        }
        return extract(b, filter, at);
      });
}

Value ConvBuilder::buildProducts(Value input, Value filter,
                                 ArrayRef<OpFoldResult> resultSizes) {
  MLIRContext *context = d.b.getContext();
  int64_t channel = dims.getChannel();
  bool grouped = groups > 1;
  if (grouped) {
    input = splitGroups(input, channel);
    filter = splitGroups(filter, 0);
  }
  // Loops: the result's, with the group just before the feature, then the
  // input channel of the group, then the window.
  int64_t resultRank = dims.rank + (grouped ? 1 : 0);
  int64_t spatialRank = window.getRank();
  int64_t numLoops = resultRank + 1 + spatialRank;
  bool first = dims.layout == SpatialLayout::ChannelsFirst;
  int64_t groupLoop = channel;
  int64_t featureLoop = channel + (grouped ? 1 : 0);
  auto spaceLoop = [&](int64_t dim) {
    return dims.getSpace(dim) + (grouped && first ? 1 : 0);
  };
  auto loop = [&](int64_t position) {
    return getAffineDimExpr(position, context);
  };
  AffineExpr channelExpr = loop(resultRank);

  SmallVector<AffineExpr> inputChannels, inputSpace, filterFeatures, windows;
  if (grouped) {
    inputChannels.push_back(loop(groupLoop));
    filterFeatures.push_back(loop(groupLoop));
  }
  inputChannels.push_back(channelExpr);
  filterFeatures.push_back(loop(featureLoop));
  bool transposed = op.getTransposed();
  for (int64_t dim = 0; dim < spatialRank; ++dim) {
    AffineExpr windowExpr = loop(resultRank + 1 + dim);
    int64_t stride = transposed ? 1 : window.strides[dim];
    inputSpace.push_back(loop(spaceLoop(dim)) * stride +
                         windowExpr * window.dilations[dim]);
    windows.push_back(windowExpr);
  }
  SmallVector<AffineExpr> inputExprs = {loop(0)};
  SmallVector<AffineExpr> filterExprs = filterFeatures;
  llvm::append_range(inputExprs, first ? inputChannels : inputSpace);
  llvm::append_range(inputExprs, first ? inputSpace : inputChannels);
  if (first)
    filterExprs.push_back(channelExpr);
  llvm::append_range(filterExprs, windows);
  if (!first)
    filterExprs.push_back(channelExpr);

  SmallVector<OpFoldResult> sizes(resultSizes);
  if (grouped) {
    OpFoldResult features = d.getSize(filter, 1);
    sizes[channel] = features;
    sizes.insert(sizes.begin() + channel, d.b.getIndexAttr(groups));
  }
  SmallVector<int64_t> kept =
      llvm::to_vector(llvm::seq<int64_t>(0, resultRank));
  Value products =
      d.reduce({{input, AffineMap::get(numLoops, 0, inputExprs, context)},
                {filter, AffineMap::get(numLoops, 0, filterExprs, context)}},
               numLoops, kept, sizes, Accumulation::Add,
               [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
                 if (args[0].isFloat())
                   return args[0] * args[1];
                 return convertInteger(args[0], d.computeType) *
                        convertInteger(args[1], d.computeType);
               });
  if (!grouped)
    return products;
  SmallVector<ReassociationIndices> reassociation;
  for (int64_t i = 0; i < dims.rank; ++i) {
    reassociation.push_back({i <= channel ? i : i + 1});
    if (i == channel)
      reassociation.back().push_back(i + 1);
  }
  return tensor::CollapseShapeOp::create(d.b, products, reassociation);
}

Value ConvBuilder::build() {
  auto result = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<OpFoldResult> sizes = getResultSizes(d, op);
  Value input = op.getInput();
  Value filter = op.getFilter();
  if (op.getTransposed()) {
    input = spreadInput(input);
    filter = mirrorFilter(filter);
  } else {
    SmallVector<OpFoldResult> low, high;
    for (int64_t dim = 0; dim < window.getRank(); ++dim) {
      low.push_back(d.b.getIndexAttr(window.padding[2 * dim]));
      high.push_back(d.b.getIndexAttr(window.padding[2 * dim + 1]));
    }
    Type elementType = getElementTypeOrSelf(input.getType());
    input = padSpace(d, input, dims, low, high, d.b.getZeroAttr(elementType));
  }
  Value products = buildProducts(input, filter, sizes);
  Type elementType = result.getElementType();
  if (op.getBias() || d.computeType != elementType) {
    SmallVector<LoopOperand> operands = {d.along(products)};
    if (op.getBias())
      operands.push_back(d.along(op.getBias(), {dims.getChannel()}, dims.rank));
    products =
        d.elementwise(operands, sizes, elementType,
                      [&](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
                        if (!op.getBias())
                          return args[0];
                        if (!args[0].isFloat())
                          return args[0] + args[1];
                        return args[0] + convertFloat(args[1], d.computeType);
                      });
  }
  return d.castTo(products, result);
}

FailureOr<SmallVector<Value>> ConvOp::decompose(OpBuilder &builder) {
  return SmallVector<Value>{ConvBuilder(*this, builder).build()};
}
