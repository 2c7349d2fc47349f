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
// So are images that keep their channels, of which copies take whole lines: the
// gradient of a filter comes in the layout that the filter would have, and is
// cut out of that. Features of the other factor that are no multiple of 16
// bytes are padded with zeros, of which the gradient has filters of zeros.
//
//===----------------------------------------------------------------------===//

#include "Permutations.h"
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

/// A convolution of images with channels last, or the gradient of its filter,
/// which is its result.
struct OperandRepacker::Convolution {
  /// Where windows lie along one dimension of images: the loop of the windows,
  /// that of the elements of one, unless it has one, and the steps of both.
  struct Place {
    unsigned windows = 0;
    std::optional<unsigned> elements;
    int64_t step = 1, dilation = 1;
  };

  OpOperand *image = nullptr;
  OpOperand *filter = nullptr;
  bool ofGradient = false;
  /// The loop of the channels.
  unsigned channels = 0;
  /// Along a row of the image.
  Place row;
  /// The channels, elements of a window's row and, where rows are folded, its
  /// rows as they will be.
  int64_t newChannels = 0, newElements = 1, newRows = 1;
  /// Of a gradient, the loop of features that lie side by side in the other
  /// factor, if they are no multiple of 16 bytes, and what they are padded to.
  std::optional<unsigned> features;
  int64_t newFeatures = 0;
  /// Rows of the image that become one, and with others of zeros.
  int64_t fold = 1, newFold = 1;
  /// Down the image, when rows are folded.
  Place column;
  bool unfolds() const { return newElements > 1; }
  /// The last dimensions of a tensor that is laid out anew, of `rows` rows of
  /// a window where those are folded.
  SmallVector<int64_t> getInnerSizes(int64_t rows) const {
    if (fold > 1)
      return {rows, newElements, newChannels};
    if (unfolds())
      return {newElements, newChannels};
    return {newChannels};
  }
  /// How the filter, a factor or the result, lies in memory.
  AffineMap getFilterMap(linalg::GenericOp op) const {
    return op.getMatchingIndexingMap(ofGradient ? op.getDpsInitOperand(0)
                                                : filter);
  }
};

using Convolution = OperandRepacker::Convolution;
using Place = Convolution::Place;

/// Reads where windows lie along dimension `dim` of the image. Nothing when the
/// elements of a window are found by their loop anywhere else than there and in
/// the filter.
static std::optional<Place> readPlace(linalg::GenericOp op,
                                      const Convolution &conv, unsigned dim) {
  AffineMap imageMap = op.getMatchingIndexingMap(conv.image);
  AffineMap filterMap = conv.getFilterMap(op);
  utils::IteratorType ofElements = conv.ofGradient
                                       ? utils::IteratorType::parallel
                                       : utils::IteratorType::reduction;
  auto terms = getScaledTerms(imageMap.getResult(dim));
  if (!terms)
    return std::nullopt;
  Place place;
  bool hasWindows = false;
  for (auto [factor, term] : *terms) {
    auto loop = dyn_cast<AffineDimExpr>(term);
    if (!loop)
      return std::nullopt;
    if (op.getIteratorTypesArray()[loop.getPosition()] == ofElements) {
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
static void foldRows(linalg::GenericOp op, int64_t bits, Convolution &conv) {
  unsigned rank = op.getMatchingIndexingMap(conv.image).getNumResults();
  if (rank < 4)
    return;
  std::optional<Place> column = readPlace(op, conv, rank - 3);
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

/// The image of `op`, if one of its factors is one, and the filter.
static std::optional<Convolution> findImage(linalg::GenericOp op) {
  std::optional<Contraction> sum = matchContraction(
      op, [](unsigned loop) { return loop; }, [](Value) { return true; });
  if (!sum || !sum->batch.empty() || op.getNumDpsInputs() != 2)
    return std::nullopt;
  Convolution conv;
  for (const ContractionOperand &operand : sum->operands)
    for (OpOperand *input : op.getDpsInputOperands())
      if (input->get() == operand.tensor) {
        conv.ofGradient |= !operand.places.empty();
        bool isImage = operand.channels || !operand.places.empty();
        (isImage ? conv.image : conv.filter) = input;
      }
  if (!conv.image || !conv.filter)
    return std::nullopt;
  // The sums of a gradient begin with one number for all of the filter.
  Value init = op.getDpsInits().front();
  if (conv.ofGradient && (!init.getDefiningOp<linalg::FillOp>() ||
                          op.getResult(0).getType() != init.getType()))
    return std::nullopt;
  return conv;
}

/// Sets what the features of the other factor of a gradient are padded to.
static void setFeatures(linalg::GenericOp op, int64_t whole,
                        Convolution &conv) {
  AffineMap map = op.getMatchingIndexingMap(conv.filter);
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  int64_t features = op.getStaticLoopRanges()[last];
  bool isContracted =
      op.getIteratorTypesArray()[last] == utils::IteratorType::reduction;
  if (isContracted || features % whole == 0)
    return;
  conv.features = last;
  conv.newFeatures = llvm::alignTo(features, whole);
}

/// Sets how the gradient of a filter of few channels is made: pixels of images
/// are whole lines.
static void setLines(linalg::GenericOp op, int64_t channels, int64_t bits,
                     Convolution &conv) {
  int64_t line = kLineBits / bits;
  if (!conv.row.elements || channels > line / 2) {
    conv.newChannels = llvm::alignTo(channels, line);
    return;
  }
  conv.newChannels = llvm::PowerOf2Ceil(channels);
  conv.newElements =
      llvm::alignTo(op.getStaticLoopRanges()[*conv.row.elements],
                    std::max<int64_t>(kPixelBits / bits / conv.newChannels, 2));
  foldRows(op, bits, conv);
  conv.newFold = conv.fold;
  while (conv.newFold * conv.newElements * conv.newChannels % line != 0)
    ++(conv.fold > 1 ? conv.newFold : conv.newElements);
}

/// The convolution that `op` is, with the form that its operands need.
static std::optional<Convolution> findConvolution(linalg::GenericOp op) {
  std::optional<Convolution> found = findImage(op);
  if (!found)
    return std::nullopt;
  Convolution &conv = *found;
  auto imageType = cast<RankedTensorType>(conv.image->get().getType());
  auto filterType = cast<RankedTensorType>(conv.filter->get().getType());
  AffineMap imageMap = op.getMatchingIndexingMap(conv.image);
  AffineMap filterMap = conv.getFilterMap(op);
  int64_t bits = imageType.getElementTypeBitWidth();
  if (!imageType.hasStaticShape() || !filterType.hasStaticShape() ||
      imageType.getElementType() != filterType.getElementType() ||
      kPixelBits % bits != 0 || !filterMap.isProjectedPermutation())
    return std::nullopt;
  std::optional<Place> row = readPlace(op, conv, imageMap.getNumResults() - 2);
  if (!row)
    return std::nullopt;
  conv.row = *row;
  conv.channels =
      cast<AffineDimExpr>(imageMap.getResults().back()).getPosition();
  if (!filterMap.isFunctionOfDim(conv.channels))
    return std::nullopt;
  SmallVector<int64_t> loops = op.getStaticLoopRanges();
  int64_t channels = loops[conv.channels];
  if (conv.ofGradient) {
    // Only of 16 bits may rows and columns be neighbours in memory.
    if (bits != 16)
      return std::nullopt;
    setFeatures(op, kPixelBits / bits, conv);
    conv.newChannels = channels;
    if (channels * bits % kLineBits != 0)
      setLines(op, channels, bits, conv);
    else if (!conv.features)
      return std::nullopt;
    return conv;
  }
  int64_t whole = kPixelBits / bits;
  if (channels % whole == 0) {
    // Then only the filter may have to have its channels last.
    unsigned inner = filterMap.getDimPosition(filterMap.getNumResults() - 1);
    bool isWhole = filterType.getShape().back() % whole == 0;
    if (inner == conv.channels || (isWhole && bits == 16))
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
  foldRows(op, bits, conv);
  conv.newFold = conv.fold;
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

/// `tensor` with its last dimension split: before what is left of it those of
/// `sizes`.
static Value buildSplit(OpBuilder &builder, Location loc, Value tensor,
                        ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank(), rest = type.getShape().back();
  SmallVector<int64_t> shape(type.getShape().drop_back());
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 1});
  for (int64_t size : sizes) {
    shape.push_back(size);
    groups.back().push_back(groups.back().back() + 1);
    rest /= size;
  }
  shape.push_back(rest);
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      groups);
}

/// The dimensions of the filter in the order in which they are laid out: those
/// of what is unfolded last, its rows, its elements and the channels.
static SmallVector<unsigned> orderFilter(linalg::GenericOp product,
                                         const Convolution &conv) {
  AffineMap map = conv.getFilterMap(product);
  SmallVector<unsigned> order, last;
  if (conv.fold > 1)
    last.push_back(*conv.column.elements);
  if (conv.unfolds())
    last.push_back(*conv.row.elements);
  last.push_back(conv.channels);
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    if (!llvm::is_contained(last, map.getDimPosition(dim)))
      order.push_back(dim);
  for (unsigned loop : last)
    order.push_back(
        *map.getResultPosition(getAffineDimExpr(loop, product.getContext())));
  return order;
}

/// Where the product reads the image that is laid out anew.
static SmallVector<AffineExpr> getImageCoords(linalg::GenericOp product,
                                              const Convolution &conv) {
  MLIRContext *context = product.getContext();
  AffineMap map = product.getMatchingIndexingMap(conv.image);
  SmallVector<AffineExpr> coords(map.getResults());
  unsigned rank = coords.size();
  if (conv.unfolds())
    coords[rank - 2] = getAffineDimExpr(conv.row.windows, context);
  if (conv.fold > 1)
    coords[rank - 3] = getAffineDimExpr(conv.column.windows, context);
  if (conv.newRows > 1)
    coords[rank - 3] =
        coords[rank - 3] + getAffineDimExpr(*conv.column.elements, context);
  return coords;
}

namespace {
/// The loops of a product, without the one along a window's row where that is
/// unfolded.
struct RemainingLoops {
  RemainingLoops(linalg::GenericOp product, const Convolution &conv) {
    for (unsigned loop = 0; loop < product.getNumLoops(); ++loop) {
      bool isGone = conv.unfolds() && loop == *conv.row.elements;
      MLIRContext *context = product.getContext();
      exprs.push_back(isGone ? getAffineConstantExpr(0, context)
                             : getAffineDimExpr(kinds.size(), context));
      if (!isGone)
        kinds.push_back(product.getIteratorTypesArray()[loop]);
    }
  }
  AffineMap getMap(ArrayRef<AffineExpr> coords) const {
    return AffineMap::get(exprs.size(), 0, coords, exprs.front().getContext())
        .replaceDimsAndSymbols(exprs, {}, kinds.size(), 0);
  }
  SmallVector<AffineExpr> exprs;
  SmallVector<utils::IteratorType> kinds;
};
} // namespace

bool OperandRepacker::areImages(linalg::GenericOp product) {
  return findConvolution(product).has_value();
}

Value OperandRepacker::writePadded(Value operand, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(operand.getType()).getShape());
  llvm::copy(sizes, std::prev(shape.end(), sizes.size()));
  return write(operand, llvm::to_vector(llvm::seq<unsigned>(shape.size())),
               shape);
}

Value OperandRepacker::writeImage(linalg::GenericOp product,
                                  const Convolution &conv) {
  Value image = conv.image->get();
  auto type = cast<RankedTensorType>(image.getType());
  if (!conv.unfolds() && type.getShape().back() == conv.newChannels)
    return image;
  if (conv.unfolds()) {
    OpBuilder builder(product);
    builder.setInsertionPointAfterValue(image);
    image = buildUnfolded(builder, product, conv);
  }
  image = writePadded(image, conv.getInnerSizes(conv.newFold));
  if (!conv.unfolds())
    return image;
  OpBuilder builder(product);
  return buildJoined(builder, product.getLoc(), image, conv.fold > 1 ? 3 : 2);
}

Value OperandRepacker::writeFilter(linalg::GenericOp product,
                                   const Convolution &conv) {
  auto type = cast<RankedTensorType>(conv.filter->get().getType());
  SmallVector<unsigned> order = orderFilter(product, conv);
  SmallVector<int64_t> sizes;
  for (unsigned dim : order)
    sizes.push_back(type.getDimSize(dim));
  SmallVector<int64_t> inner = conv.getInnerSizes(conv.newRows * conv.fold);
  llvm::copy(inner, std::prev(sizes.end(), inner.size()));
  Value filter = write(conv.filter->get(), order, sizes);
  if (!conv.unfolds())
    return filter;
  OpBuilder builder(product);
  Location loc = product.getLoc();
  filter = buildJoined(builder, loc, filter, conv.fold > 1 ? 3 : 2);
  return conv.fold > 1 ? buildSplit(builder, loc, filter, {conv.newRows})
                       : filter;
}

linalg::GenericOp OperandRepacker::repackImages(linalg::GenericOp product) {
  std::optional<Convolution> conv = findConvolution(product);
  if (conv->ofGradient)
    return repackGradient(product, *conv);
  AffineMap filterMap = conv->getFilterMap(product);
  SmallVector<AffineExpr> filterCoords;
  for (unsigned dim : orderFilter(product, *conv))
    if (!conv->unfolds() ||
        filterMap.getDimPosition(dim) != *conv->row.elements)
      filterCoords.push_back(filterMap.getResult(dim));
  RemainingLoops loops(product, *conv);
  SmallVector<Value> inputs(2);
  SmallVector<AffineMap> maps(3);
  unsigned imageNumber = conv->image->getOperandNumber();
  inputs[1 - imageNumber] = writeFilter(product, *conv);
  inputs[imageNumber] = writeImage(product, *conv);
  maps[imageNumber] = loops.getMap(getImageCoords(product, *conv));
  maps[1 - imageNumber] = loops.getMap(filterCoords);
  maps[2] =
      loops.getMap(product.getMatchingIndexingMap(product.getDpsInitOperand(0))
                       .getResults());
  return replace(product, inputs, maps, loops.kinds);
}

/// The result of `product`, the gradient of a filter, cut out of `laidOut`, in
/// which it has the layout of the filter.
static Value cutFilter(OpBuilder &builder, linalg::GenericOp product,
                       const Convolution &conv, Value laidOut) {
  Location loc = product.getLoc();
  auto type = cast<RankedTensorType>(product.getResult(0).getType());
  SmallVector<unsigned> order = orderFilter(product, conv);
  SmallVector<int64_t> sizes;
  for (unsigned dim : order)
    sizes.push_back(type.getDimSize(dim));
  if (conv.fold > 1) {
    // Rows of the filter are those that are folded, of each new one.
    laidOut =
        buildSplit(builder, loc, laidOut, {conv.newFold, conv.newElements});
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(laidOut.getType()).getShape());
    shape[shape.size() - 3] = conv.fold;
    laidOut = buildCut(builder, loc, laidOut, shape);
    int64_t rows = static_cast<int64_t>(shape.size()) - 4;
    SmallVector<ReassociationIndices> groups;
    for (int64_t dim = 0; dim < rows; ++dim)
      groups.push_back({dim});
    groups.append({{rows, rows + 1}, {rows + 2}, {rows + 3}});
    laidOut = tensor::CollapseShapeOp::create(builder, loc, laidOut, groups);
  } else if (conv.unfolds()) {
    laidOut = buildSplit(builder, loc, laidOut, {conv.newElements});
  }
  laidOut = buildCut(builder, loc, laidOut, sizes);
  DimOrder back = invertOrder(order);
  return llvm::is_sorted(back)
             ? laidOut
             : createPermutation(builder, loc, laidOut, back).getResult(0);
}

linalg::GenericOp OperandRepacker::repackGradient(linalg::GenericOp product,
                                                  const Convolution &conv) {
  OpBuilder builder(product);
  Location loc = product.getLoc();
  AffineMap filterMap = conv.getFilterMap(product);
  auto type = cast<RankedTensorType>(product.getResult(0).getType());
  RemainingLoops loops(product, conv);
  SmallVector<AffineExpr> coords;
  SmallVector<int64_t> shape;
  for (unsigned dim : orderFilter(product, conv)) {
    unsigned loop = filterMap.getDimPosition(dim);
    if (conv.unfolds() && loop == *conv.row.elements)
      continue;
    coords.push_back(filterMap.getResult(dim));
    shape.push_back(loop == conv.features ? conv.newFeatures
                    : conv.fold > 1 && loop == *conv.column.elements
                        ? conv.newRows
                        : type.getDimSize(dim));
  }
  shape.back() = conv.newFold * conv.newElements * conv.newChannels;
  SmallVector<Value> inputs(product.getDpsInputs());
  SmallVector<AffineMap> maps(3);
  unsigned imageNumber = conv.image->getOperandNumber();
  inputs[imageNumber] = writeImage(product, conv);
  if (conv.features)
    inputs[1 - imageNumber] =
        writePadded(conv.filter->get(), {conv.newFeatures});
  maps[imageNumber] = loops.getMap(getImageCoords(product, conv));
  maps[1 - imageNumber] =
      loops.getMap(product.getMatchingIndexingMap(conv.filter).getResults());
  maps[2] = loops.getMap(coords);
  auto fill = product.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  Value init =
      linalg::FillOp::create(builder, loc, fill.getInputs().front(), empty)
          .getResult(0);
  auto laidOut = linalg::GenericOp::create(builder, loc, init.getType(), inputs,
                                           init, maps, loops.kinds);
  IRMapping map;
  product.getRegion().cloneInto(&laidOut.getRegion(), map);
  laidOut->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  product.getResult(0).replaceAllUsesWith(
      cutFilter(builder, product, conv, laidOut.getResult(0)));
  product.erase();
  return laidOut;
}
