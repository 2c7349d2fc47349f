//===- RepackImages.cpp - Images of few channels for tensor copies --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the repacking of images whose channels are no multiple
// of 16 bytes, and of their filters.
//
// Of few channels windows are unfolded: what a window reads of one row of the
// image, elements by channels, becomes the channels of a new image with a pixel
// for each window; so do several rows at once where that costs little. Padded
// to 16 bytes alone, three channels would make a product of which five eighths
// are zeros times zeros, from many short rows. Of more channels only zeros are
// added. The filter is laid out alike, its channels last.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Contraction.h"
#include "fusion/FusionPlanning/RepackOperands.h"
#include "fusion/Support/Hardware.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Pixels of tensor copies begin at multiples of so many bits.
static constexpr int64_t kPixelBits = 8 * kCopyGranule;
/// A line of the cache.
static constexpr int64_t kLineBits = 8 * kLineBytes;

namespace {
/// Where windows lie along one dimension of images: the loop of the windows,
/// that of the elements of one, unless it has one, and the steps of both.
struct Place {
  unsigned windows = 0;
  std::optional<unsigned> elements;
  int64_t step = 1, dilation = 1;
};

/// A convolution of images with channels last.
struct Convolution {
  OpOperand *image = nullptr;
  OpOperand *filter = nullptr;
  /// The loop of the channels.
  unsigned channels = 0;
  /// Along a row of the image.
  Place row;
  /// The channels, elements of a window's row and, where rows are folded, its
  /// rows as they will be.
  int64_t newChannels = 0, newElements = 1, newRows = 1;
  /// Rows of the image that become one.
  int64_t fold = 1;
  /// Down the image, when rows are folded.
  Place column;
  bool unfolds() const { return newElements > 1; }
};
} // namespace

/// Reads where windows lie along dimension `dim` of the image. Nothing when the
/// elements of a window are found by their loop anywhere else than there and in
/// the filter.
static std::optional<Place> readPlace(linalg::GenericOp op, AffineMap imageMap,
                                      AffineMap filterMap, unsigned dim) {
  auto terms = getScaledTerms(imageMap.getResult(dim));
  if (!terms)
    return std::nullopt;
  Place place;
  bool hasWindows = false;
  for (auto [factor, term] : *terms) {
    auto loop = dyn_cast<AffineDimExpr>(term);
    if (!loop)
      return std::nullopt;
    if (op.getIteratorTypesArray()[loop.getPosition()] ==
        utils::IteratorType::reduction) {
      place.elements = loop.getPosition();
      place.dilation = factor;
    } else {
      hasWindows = true;
      place.windows = loop.getPosition();
      place.step = factor;
    }
  }
  if (!hasWindows)
    return std::nullopt;
  if (place.elements) {
    unsigned uses = llvm::count_if(imageMap.getResults(), [&](AffineExpr expr) {
      return expr.isFunctionOfDim(*place.elements);
    });
    if (uses != 1 || !filterMap.isFunctionOfDim(*place.elements))
      return std::nullopt;
  }
  return place;
}

/// Lets several rows of the image become one: all rows of a window where they
/// fit a line of the cache, otherwise those that windows step over, which no
/// two windows begin with.
static void foldRows(linalg::GenericOp op, AffineMap imageMap,
                     AffineMap filterMap, int64_t bits, Convolution &conv) {
  unsigned rank = imageMap.getNumResults();
  if (rank < 4)
    return;
  std::optional<Place> column = readPlace(op, imageMap, filterMap, rank - 3);
  if (!column || !column->elements)
    return;
  conv.column = *column;
  int64_t rows = op.getStaticLoopRanges()[*column->elements];
  if (rows * conv.newElements * conv.newChannels * bits <= kLineBits) {
    conv.fold = rows;
  } else if (column->dilation == 1 && column->step > 1) {
    conv.fold = column->step;
    conv.newRows = llvm::divideCeil(rows, conv.fold);
  }
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
      kPixelBits % bits != 0 || !filterMap.isProjectedPermutation())
    return std::nullopt;
  std::optional<Place> row =
      readPlace(op, imageMap, filterMap, imageMap.getNumResults() - 2);
  if (!row)
    return std::nullopt;
  conv.row = *row;
  conv.channels =
      cast<AffineDimExpr>(imageMap.getResults().back()).getPosition();
  if (!filterMap.isFunctionOfDim(conv.channels))
    return std::nullopt;
  SmallVector<int64_t> loops = op.getStaticLoopRanges();
  int64_t channels = loops[conv.channels];
  int64_t whole = kPixelBits / bits;
  if (channels % whole == 0) {
    // Then only the filter may have to have its channels last.
    unsigned inner = filterMap.getDimPosition(filterMap.getNumResults() - 1);
    bool isWhole = filterType.getShape().back() % whole == 0;
    if (inner == conv.channels ||
        (isWhole && sum->operands[0].element.getIntOrFloatBitWidth() == 16))
      return std::nullopt;
    conv.newChannels = channels;
    return conv;
  }
  if (!row->elements || channels > whole) {
    conv.newChannels = llvm::alignTo(channels, whole);
    return conv;
  }
  // Powers of two, so that threads write whole pieces of a pixel.
  conv.newChannels = llvm::PowerOf2Ceil(channels);
  conv.newElements = llvm::alignTo(
      loops[*row->elements], std::max<int64_t>(whole / conv.newChannels, 2));
  foldRows(op, imageMap, filterMap, bits, conv);
  return conv;
}

/// The image with a pixel for each window of a row: rows that are folded,
/// elements and channels of the window last.
static Value buildUnfolded(OpBuilder &builder, linalg::GenericOp op,
                           const Convolution &conv) {
  Value image = conv.image->get();
  Location loc = image.getLoc();
  auto type = cast<RankedTensorType>(image.getType());
  SmallVector<int64_t> loops = op.getStaticLoopRanges();
  unsigned rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  SmallVector<AffineExpr> coords;
  for (unsigned dim = 0; dim + 2 < rank; ++dim)
    coords.push_back(builder.getAffineDimExpr(dim));
  shape.push_back(loops[conv.row.windows]);
  unsigned next = rank - 1;
  if (conv.fold > 1) {
    int64_t &rows = shape[rank - 3];
    rows = loops[conv.column.windows] + conv.newRows - 1;
    SmallVector<int64_t> sizes(type.getShape());
    int64_t read = (rows - 1) * conv.column.step +
                   (conv.fold - 1) * conv.column.dilation + 1;
    sizes[rank - 3] = std::max(sizes[rank - 3], read);
    image = buildPadded(builder, loc, image, sizes);
    shape.push_back(conv.fold);
    coords.back() = coords.back() * conv.column.step +
                    builder.getAffineDimExpr(next++) * conv.column.dilation;
  }
  shape.append({loops[*conv.row.elements], loops[conv.channels]});
  coords.push_back(builder.getAffineDimExpr(rank - 2) * conv.row.step +
                   builder.getAffineDimExpr(next) * conv.row.dilation);
  coords.push_back(builder.getAffineDimExpr(next + 1));
  unsigned numLoops = shape.size();
  AffineMap in = AffineMap::get(numLoops, 0, coords, builder.getContext());
  AffineMap out = builder.getMultiDimIdentityMap(numLoops);
  SmallVector<utils::IteratorType> kinds(numLoops,
                                         utils::IteratorType::parallel);
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), image, empty,
             ArrayRef<AffineMap>{in, out}, kinds,
             [](OpBuilder &b, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(b, loc, arguments.front());
             })
      .getResult(0);
}

/// `tensor` with its last `count` dimensions as one.
static Value buildJoined(OpBuilder &builder, Location loc, Value tensor,
                         int64_t count) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + count < rank; ++dim)
    groups.push_back({dim});
  groups.emplace_back();
  for (int64_t dim = rank - count; dim < rank; ++dim)
    groups.back().push_back(dim);
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
}

/// `tensor` with its last dimension split into `rows` of equal size.
static Value buildSplit(OpBuilder &builder, Location loc, Value tensor,
                        int64_t rows) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape().drop_back());
  shape.append({rows, type.getShape().back() / rows});
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 1, rank});
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      groups);
}

bool OperandRepacker::areImages(linalg::GenericOp product) {
  return findConvolution(product).has_value();
}

linalg::GenericOp OperandRepacker::repackImages(linalg::GenericOp product) {
  std::optional<Convolution> conv = findConvolution(product);
  AffineMap imageMap = product.getMatchingIndexingMap(conv->image);
  AffineMap filterMap = product.getMatchingIndexingMap(conv->filter);
  auto imageType = cast<RankedTensorType>(conv->image->get().getType());
  auto filterType = cast<RankedTensorType>(conv->filter->get().getType());
  OpBuilder builder(product);
  Location loc = product.getLoc();

  // The filter with channels last, before them the elements of a window's row.
  SmallVector<unsigned> order;
  SmallVector<unsigned> last;
  if (conv->fold > 1)
    last.push_back(*conv->column.elements);
  if (conv->unfolds())
    last.push_back(*conv->row.elements);
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
  if (conv->fold > 1)
    sizes[sizes.size() - 3] = conv->newRows * conv->fold;
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
    shape[shape.size() - 2] = conv->newElements;
  }
  shape.back() = conv->newChannels;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    identity.push_back(dim);
  image = write(image, identity, shape);

  // The product, without the loop along a window's row where that is unfolded.
  if (conv->unfolds()) {
    int64_t joined = conv->fold > 1 ? 3 : 2;
    filter = buildJoined(builder, loc, filter, joined);
    if (conv->fold > 1)
      filter = buildSplit(builder, loc, filter, conv->newRows);
    image = buildJoined(builder, loc, image, joined);
  }
  unsigned numLoops = product.getNumLoops() - conv->unfolds();
  SmallVector<AffineExpr> loops;
  SmallVector<utils::IteratorType> kinds;
  for (unsigned loop = 0; loop < product.getNumLoops(); ++loop) {
    if (conv->unfolds() && loop == *conv->row.elements) {
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
    imageCoords[rank - 2] = builder.getAffineDimExpr(conv->row.windows);
  if (conv->fold > 1)
    imageCoords[rank - 3] = builder.getAffineDimExpr(conv->column.windows);
  if (conv->newRows > 1)
    imageCoords[rank - 3] = imageCoords[rank - 3] +
                            builder.getAffineDimExpr(*conv->column.elements);
  for (unsigned dim : order)
    if (!conv->unfolds() ||
        filterMap.getDimPosition(dim) != *conv->row.elements)
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
