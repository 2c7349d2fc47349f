//===- RepackImages.cpp - Images of few channels for tensor copies --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the repacking of images whose channels are no multiple
// of 16 bytes.
//
// Of few channels the windows' last dimension is unfolded: what a window reads
// of one row of the image, elements by channels, becomes the channels of a new
// image with a pixel for each window. Padded to 16 bytes alone, three channels
// would make a product of which five eighths are zeros times zeros. Of more
// channels only zeros are added. The filter is laid out alike.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Contraction.h"
#include "fusion/FusionPlanning/RepackOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Pixels of tensor copies begin at multiples of so many bits.
static constexpr int64_t kPixelBits = 128;

namespace {
/// A convolution of images with channels last.
struct Convolution {
  OpOperand *image = nullptr;
  OpOperand *filter = nullptr;
  /// The loops of the channels, of the windows along a row of the image and of
  /// the elements of a window along it; no such element loop when there is one
  /// element.
  unsigned channels = 0, windows = 0;
  std::optional<unsigned> elements;
  /// Steps between windows and between their elements.
  int64_t step = 1, dilation = 1;
  /// The channels and elements of a window as they will be.
  int64_t newChannels = 0, newElements = 1;
  bool unfolds() const { return newElements > 1; }
};
} // namespace

/// Reads `expr`, the place in a row of the image, into `conv`.
static LogicalResult readPlace(linalg::GenericOp op, AffineExpr expr,
                               Convolution &conv) {
  SmallVector<AffineExpr> terms{expr};
  bool hasWindows = false;
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    int64_t factor = 1;
    if (auto binary = dyn_cast<AffineBinaryOpExpr>(term)) {
      if (binary.getKind() == AffineExprKind::Add) {
        terms.append({binary.getLHS(), binary.getRHS()});
        continue;
      }
      auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
      if (binary.getKind() != AffineExprKind::Mul || !constant)
        return failure();
      factor = constant.getValue();
      term = binary.getLHS();
    }
    auto dim = dyn_cast<AffineDimExpr>(term);
    if (!dim)
      return failure();
    if (op.getIteratorTypesArray()[dim.getPosition()] ==
        utils::IteratorType::reduction) {
      conv.elements = dim.getPosition();
      conv.dilation = factor;
    } else {
      hasWindows = true;
      conv.windows = dim.getPosition();
      conv.step = factor;
    }
  }
  return success(hasWindows);
}

/// The convolution that `op` is, with the form that its operands need.
static std::optional<Convolution> findConvolution(linalg::GenericOp op) {
  std::optional<Contraction> sum = matchContraction(
      op, [](unsigned loop) { return loop; }, [](Value) { return true; });
  if (!sum || !sum->batch.empty() || op.getNumDpsInputs() != 2)
    return std::nullopt;
  Convolution conv;
  for (const ContractionOperand &operand : sum->operands)
    for (OpOperand *input : op.getDpsInputOperands())
      if (input->get() == operand.tensor)
        (operand.channels ? conv.image : conv.filter) = input;
  if (!conv.image || !conv.filter)
    return std::nullopt;
  auto imageType = cast<RankedTensorType>(conv.image->get().getType());
  auto filterType = cast<RankedTensorType>(conv.filter->get().getType());
  AffineMap imageMap = op.getMatchingIndexingMap(conv.image);
  AffineMap filterMap = op.getMatchingIndexingMap(conv.filter);
  int64_t bits = imageType.getElementTypeBitWidth();
  if (!imageType.hasStaticShape() || !filterType.hasStaticShape() ||
      imageType.getElementType() != filterType.getElementType() ||
      kPixelBits % bits != 0 || !filterMap.isProjectedPermutation() ||
      failed(readPlace(op, imageMap.getResult(imageMap.getNumResults() - 2),
                       conv)))
    return std::nullopt;
  conv.channels =
      cast<AffineDimExpr>(imageMap.getResults().back()).getPosition();
  SmallVector<int64_t> loops = op.getStaticLoopRanges();
  int64_t channels = loops[conv.channels];
  int64_t whole = kPixelBits / bits;
  if (channels % whole == 0)
    return std::nullopt;
  if (!conv.elements || channels > whole) {
    conv.newChannels = llvm::alignTo(channels, whole);
    return conv;
  }
  // Powers of two, so that threads write whole pieces of a pixel.
  conv.newChannels = llvm::PowerOf2Ceil(channels);
  conv.newElements = llvm::alignTo(
      loops[*conv.elements], std::max<int64_t>(whole / conv.newChannels, 2));
  return conv;
}

/// The image with a pixel for each window of a row: elements and channels of
/// the window last.
static Value buildUnfolded(OpBuilder &builder, linalg::GenericOp op,
                           const Convolution &conv) {
  Location loc = conv.image->get().getLoc();
  auto type = cast<RankedTensorType>(conv.image->get().getType());
  SmallVector<int64_t> loops = op.getStaticLoopRanges();
  unsigned rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.append(
      {loops[conv.windows], loops[*conv.elements], loops[conv.channels]});
  SmallVector<AffineExpr> coords;
  for (unsigned dim = 0; dim + 2 < rank; ++dim)
    coords.push_back(builder.getAffineDimExpr(dim));
  coords.push_back(builder.getAffineDimExpr(rank - 2) * conv.step +
                   builder.getAffineDimExpr(rank - 1) * conv.dilation);
  coords.push_back(builder.getAffineDimExpr(rank));
  AffineMap in = AffineMap::get(rank + 1, 0, coords, builder.getContext());
  AffineMap out = builder.getMultiDimIdentityMap(rank + 1);
  SmallVector<utils::IteratorType> kinds(rank + 1,
                                         utils::IteratorType::parallel);
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), conv.image->get(), empty,
             ArrayRef<AffineMap>{in, out}, kinds,
             [](OpBuilder &b, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(b, loc, arguments.front());
             })
      .getResult(0);
}

/// `tensor` with its last two dimensions as one.
static Value buildJoined(OpBuilder &builder, Location loc, Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 2 < rank; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 2, rank - 1});
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
}

linalg::GenericOp OperandRepacker::repackImages(linalg::GenericOp product) {
  std::optional<Convolution> conv = findConvolution(product);
  if (!conv)
    return nullptr;
  AffineMap imageMap = product.getMatchingIndexingMap(conv->image);
  AffineMap filterMap = product.getMatchingIndexingMap(conv->filter);
  auto imageType = cast<RankedTensorType>(conv->image->get().getType());
  auto filterType = cast<RankedTensorType>(conv->filter->get().getType());
  OpBuilder builder(product);
  Location loc = product.getLoc();

  // The filter with channels last, before them the elements of a window's row.
  SmallVector<unsigned> order;
  SmallVector<unsigned> last;
  if (conv->unfolds())
    last.push_back(*conv->elements);
  last.push_back(conv->channels);
  for (unsigned dim = 0; dim < filterMap.getNumResults(); ++dim)
    if (!llvm::is_contained(last, filterMap.getDimPosition(dim)))
      order.push_back(dim);
  for (unsigned loop : last)
    order.push_back(
        *filterMap.getResultPosition(builder.getAffineDimExpr(loop)));
  SmallVector<int64_t> sizes;
  for (unsigned dim : order)
    sizes.push_back(filterType.getDimSize(dim));
  sizes.back() = conv->newChannels;
  if (conv->unfolds())
    sizes[sizes.size() - 2] = conv->newElements;
  Value filter = write(conv->filter->get(), order, sizes);

  // The image.
  unsigned rank = imageType.getRank();
  SmallVector<unsigned> identity;
  SmallVector<int64_t> shape(imageType.getShape());
  Value image = conv->image->get();
  if (conv->unfolds()) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(image);
    image = buildUnfolded(builder, product, *conv);
    shape = SmallVector<int64_t>(
        cast<RankedTensorType>(image.getType()).getShape());
    shape[rank - 1] = conv->newElements;
  }
  shape.back() = conv->newChannels;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    identity.push_back(dim);
  image = write(image, identity, shape);

  // The product, without the loop along a window's row where that is unfolded.
  if (conv->unfolds()) {
    filter = buildJoined(builder, loc, filter);
    image = buildJoined(builder, loc, image);
  }
  unsigned numLoops = product.getNumLoops() - conv->unfolds();
  SmallVector<AffineExpr> loops;
  SmallVector<utils::IteratorType> kinds;
  for (unsigned loop = 0; loop < product.getNumLoops(); ++loop) {
    if (conv->unfolds() && loop == *conv->elements) {
      loops.push_back(builder.getAffineConstantExpr(0));
      continue;
    }
    loops.push_back(builder.getAffineDimExpr(kinds.size()));
    kinds.push_back(product.getIteratorTypesArray()[loop]);
  }
  auto getMap = [&](ArrayRef<AffineExpr> coords) {
    return AffineMap::get(product.getNumLoops(), 0, coords,
                          builder.getContext())
        .replaceDimsAndSymbols(loops, {}, numLoops, 0);
  };
  SmallVector<AffineExpr> imageCoords(imageMap.getResults()), filterCoords;
  if (conv->unfolds())
    imageCoords[rank - 2] = builder.getAffineDimExpr(conv->windows);
  for (unsigned dim : order)
    if (!conv->unfolds() || filterMap.getDimPosition(dim) != *conv->elements)
      filterCoords.push_back(filterMap.getResult(dim));
  SmallVector<Value> inputs(2);
  SmallVector<AffineMap> maps(3);
  unsigned imageNumber = conv->image->getOperandNumber();
  inputs[imageNumber] = image;
  inputs[1 - imageNumber] = filter;
  maps[imageNumber] = getMap(imageCoords);
  maps[1 - imageNumber] = getMap(filterCoords);
  maps[2] = getMap(product.getMatchingIndexingMap(product.getDpsInitOperand(0))
                       .getResults());
  return replace(product, inputs, maps, kinds);
}
