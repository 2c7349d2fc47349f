//===- ChannelsLast.cpp - Products in the layout of images ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the permutation of images.
//
// Of the image, what the filter does not have comes first and keeps its order,
// then what both have and the result keeps, the groups, and last what is
// contracted at single places, the channels. The result follows: rows as in the
// image, groups, and last what the filter alone gives, the features.
//
// Windows as large as images, of which there are few, are those of the gradient
// of a filter: what both have and is contracted are the images' pixels, and
// what the image alone gives are its channels. Those come last in it, and what
// is contracted comes first in both, images and then pixels. The result has
// what the other factor gives first, and then the rest as in the image. Where
// elements have not 16 bits, or parts of the sum are a batch
// (SplitContractions.cpp), images take the place of channels: what is
// contracted at single places lies side by side, as single warps read it.
//
// A product without windows is taken along where it reads the permuted result
// of others: so images stay permuted from one convolution to the next. Where
// the rows of its operands are no multiple of what is copied, or other
// dimensions lie between those that are contracted, it is permuted by itself:
// what each operand has one dimension of, of those that are contracted or those
// that the result keeps, comes last, and the others are one axis.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/ChannelsLast.h"

#include "Permutations.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Analysis/TensorCores.h"
#include "fusion/FusionPlanning/RepackOperands.h"
#include "fusion/Support/Hardware.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A product and how it is to be permuted.
struct PermutableProduct {
  linalg::GenericOp op;
  OpOperand *image = nullptr;
  /// Of the filter, the other factor, without windows; with them it follows
  /// from the permuted image.
  DimOrder imageOrder, filterOrder, resultOrder;
  /// The contracted loops in the order of the image.
  SmallVector<unsigned> contracted;
  /// Windows slide over the image.
  bool hasWindows = false;
  /// Where none do, the order that gives a factor whole rows and one walk, if
  /// it has not got them.
  std::array<std::optional<DimOrder>, 2> rowOrders;
  /// The image keeps its channels, and windows are what is contracted.
  bool keepsChannels = false;

  /// That of the image or, `ofOther`, of the other factor.
  const std::optional<DimOrder> &getRowOrder(bool ofOther = false) const {
    return rowOrders[image->getOperandNumber() ^ ofOther];
  }
};
} // namespace

static bool isStatic(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).hasStaticShape();
}

/// Whether a window lies at `expr`: a loop that the result keeps and one that
/// is contracted, or a multiple of one.
static bool isWindow(AffineExpr expr) { return !isa<AffineDimExpr>(expr); }

static bool isContracted(linalg::GenericOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
}

/// True when tensor copies can take rows of `size` elements of `type`.
static bool areWholeRows(RankedTensorType type, int64_t size) {
  return size * type.getElementTypeBitWidth() % (8 * kCopyGranule) == 0;
}

/// True when other dimensions of more than one element lie between dimensions
/// of `shape`, which `map` reads, that `op` contracts.
static bool areTorn(linalg::GenericOp op, AffineMap map,
                    ArrayRef<int64_t> shape) {
  bool hasBegun = false, hasEnded = false;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size == 1)
      continue;
    bool contracted = isContracted(op, map.getDimPosition(dim));
    if (contracted && hasEnded)
      return true;
    hasBegun |= contracted;
    hasEnded |= hasBegun && !contracted;
  }
  return false;
}

/// The order of the dimensions of `operand` that gives tensor copies whole rows
/// and one walk, where they have not: the contracted dimension last where there
/// is one only, otherwise, of 16 bits, the one that the result keeps. The
/// others are one axis then. Nothing when all is well, or neither is a whole
/// row.
static std::optional<DimOrder> orderForRows(linalg::GenericOp op,
                                            OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto type = cast<RankedTensorType>(operand.get().getType());
  // Of matrices there are no others to be one axis: their rows are padded.
  if (!map.isProjectedPermutation() || !type.hasStaticShape() ||
      type.getRank() < 3 ||
      (areWholeRows(type, type.getShape().back()) &&
       !areTorn(op, map, type.getShape())))
    return std::nullopt;
  for (bool contracted : {true, false}) {
    DimOrder rest, last;
    int64_t size = 1;
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
      bool isLast = isContracted(op, map.getDimPosition(dim)) == contracted &&
                    type.getDimSize(dim) != 1;
      (isLast ? last : rest).push_back(dim);
      if (isLast)
        size *= type.getDimSize(dim);
    }
    if (last.size() != 1 || !areWholeRows(type, size) ||
        (!contracted && type.getElementTypeBitWidth() != 16))
      continue;
    rest.append(last);
    return rest;
  }
  return std::nullopt;
}

/// The operand of `product` whose layout decides: the image that windows slide
/// over, otherwise one without whole rows or one walk, or that a permutation of
/// a computed tensor makes.
static OpOperand *findImage(const Contraction &sum,
                            PermutableProduct &product) {
  linalg::GenericOp op = product.op;
  for (OpOperand *input : op.getDpsInputOperands())
    if (llvm::any_of(op.getMatchingIndexingMap(input).getResults(), isWindow)) {
      product.hasWindows = true;
      return input;
    }
  if (!sum.batch.empty())
    return nullptr;
  for (auto [input, order] :
       llvm::zip_equal(op.getDpsInputOperands(), product.rowOrders))
    order = orderForRows(op, *input);
  for (OpOperand *input : op.getDpsInputOperands())
    if (product.rowOrders[input->getOperandNumber()])
      return input;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto permutation = matchPermutation(input->get());
    if (permutation && permutation->source.getDefiningOp() &&
        op.getMatchingIndexingMap(input).isProjectedPermutation())
      return input;
  }
  return nullptr;
}

/// True when windows of what `op` reads at `map` have more places, each of
/// which is contracted, than there are windows: an axis through all places is
/// longer than one through all windows.
static bool hasMorePlaces(linalg::GenericOp op, AffineMap map) {
  auto kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t places = 1, windows = 1;
  for (AffineExpr expr : map.getResults())
    for (unsigned loop = 0; isWindow(expr) && loop < sizes.size(); ++loop)
      if (expr.isFunctionOfDim(loop))
        (kinds[loop] == utils::IteratorType::reduction ? places : windows) *=
            sizes[loop];
  return places > windows;
}

/// Orders the dimensions of the image by what their loops are in `sum`.
static DimOrder orderImage(const Contraction &sum, AffineMap map,
                           const PermutableProduct &product) {
  if (product.getRowOrder())
    return *product.getRowOrder();
  if (!product.hasWindows)
    return invertOrder(matchPermutation(product.image->get())->order);
  DimOrder first, pixels, groups, channels;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    bool isGroup = loop && llvm::is_contained(sum.batch, loop.getPosition());
    bool isContracted =
        loop && llvm::is_contained(sum.contracted, loop.getPosition());
    bool isChannel =
        product.keepsChannels ? loop && !isContracted : isContracted;
    // Of images that keep their channels, pixels come behind images.
    bool isPixel = product.keepsChannels && isWindow(expr);
    (isGroup     ? groups
     : isChannel ? channels
     : isPixel   ? pixels
                 : first)
        .push_back(dim);
  }
  first.append(pixels);
  first.append(groups);
  first.append(channels);
  return first;
}

/// Orders the dimensions of the filter, the other factor of a product without
/// windows, for whole rows: what both have as in the image. Empty when it stays
/// as it is.
static DimOrder orderOther(const PermutableProduct &product) {
  linalg::GenericOp op = product.op;
  OpOperand &filter = op->getOpOperand(1 - product.image->getOperandNumber());
  std::optional<DimOrder> order = product.getRowOrder(/*ofOther=*/true);
  if (!order)
    return {};
  AffineMap in = op.getMatchingIndexingMap(product.image);
  AffineMap map = op.getMatchingIndexingMap(&filter);
  auto placeOf = [&](unsigned dim) {
    return llvm::find_if(product.imageOrder, [&](unsigned imageDim) {
      return in.getResult(imageDim) == map.getResult(dim);
    });
  };
  llvm::stable_sort(llvm::drop_end(*order), [&](unsigned a, unsigned b) {
    return placeOf(a) < placeOf(b);
  });
  return *order;
}

/// Orders the dimensions of the result as those of the image, then groups, then
/// what the image has not, or that first where the image keeps its channels.
/// Nothing when `out`, the map of the result, is no permutation.
static std::optional<DimOrder> orderResult(const Contraction &sum,
                                           const PermutableProduct &product,
                                           AffineMap in, AffineMap out) {
  if (!out.isProjectedPermutation())
    return std::nullopt;
  // One dimension of the image that the result keeps has a place already.
  if (product.getRowOrder() &&
      !isContracted(product.op, in.getDimPosition(product.imageOrder.back())))
    return llvm::to_vector(llvm::seq<unsigned>(0, out.getNumResults()));
  SmallVector<std::pair<unsigned, unsigned>> places;
  unsigned rank = in.getNumResults();
  for (unsigned dim = 0; dim < out.getNumResults(); ++dim) {
    unsigned loop = out.getDimPosition(dim);
    unsigned place = product.keepsChannels ? 0 : rank + 1;
    for (auto [number, imageDim] : llvm::enumerate(product.imageOrder))
      if (in.getResult(imageDim).isFunctionOfDim(loop))
        place = llvm::is_contained(sum.batch, loop) ? rank : number + 1;
    places.push_back({place, dim});
  }
  llvm::sort(places);
  return llvm::map_to_vector(places, [](auto place) { return place.second; });
}

/// The product that `op` is, if its image or its result lie in another order
/// than that of tensor copies.
static std::optional<PermutableProduct> findProduct(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || hasContract(op))
    return std::nullopt;
  std::optional<Contraction> sum = matchContraction(
      op, [](unsigned loop) { return loop; }, [](Value) { return true; });
  if (!sum || sum->grouped)
    return std::nullopt;
  PermutableProduct product;
  product.op = op;
  product.image = findImage(*sum, product);
  if (!product.image)
    return std::nullopt;
  if (!isStatic(product.image->get()) || !isStatic(op.getResult(0)))
    return std::nullopt;
  AffineMap in = op.getMatchingIndexingMap(product.image);
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  // Only of 16 bits may rows and columns of products be neighbours in memory.
  product.keepsChannels =
      product.hasWindows && sum->batch.empty() && hasMorePlaces(op, in) &&
      llvm::all_of(op.getDpsInputs(), [](Value input) {
        return getElementTypeOrSelf(input).getIntOrFloatBitWidth() == 16;
      });
  product.imageOrder = orderImage(*sum, in, product);
  if (!product.hasWindows)
    product.filterOrder = orderOther(product);
  std::optional<DimOrder> order = orderResult(*sum, product, in, out);
  if (!order)
    return std::nullopt;
  product.resultOrder = *order;
  if (llvm::is_sorted(product.imageOrder) && llvm::is_sorted(*order))
    return std::nullopt;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  for (unsigned dim : product.imageOrder)
    for (unsigned loop : reduced)
      if (in.getResult(dim).isFunctionOfDim(loop) &&
          !llvm::is_contained(product.contracted, loop))
        product.contracted.push_back(loop);
  if (product.contracted.size() != reduced.size())
    return std::nullopt;
  return product;
}

/// Orders the dimensions of the filter, read through `map`: what the result
/// keeps, the elements of windows, and last the channels, of which the image
/// has neighbours now. Of 16 bits, features may be last as well. Beside an
/// image that keeps its channels, what is contracted comes first, as in that.
static DimOrder orderFilter(const PermutableProduct &product, Type element,
                            AffineMap map) {
  linalg::GenericOp op = product.op;
  AffineMap in = op.getMatchingIndexingMap(product.image);
  auto kinds = op.getIteratorTypesArray();
  if (product.keepsChannels) {
    auto placeOf = [&](unsigned dim) {
      auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
      bool isContracted =
          loop && kinds[loop.getPosition()] == utils::IteratorType::reduction;
      return llvm::find_if(in.getResults(), [&](AffineExpr place) {
        return isContracted && place.isFunctionOfDim(loop.getPosition());
      });
    };
    SmallVector<std::pair<const AffineExpr *, unsigned>> places;
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
      places.push_back({placeOf(dim), dim});
    llvm::sort(places);
    return llvm::map_to_vector(places, [](auto place) { return place.second; });
  }
  DimOrder kept, windows, channels;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    bool isKept =
        !loop || kinds[loop.getPosition()] == utils::IteratorType::parallel;
    bool isChannel = !isKept && in.getResultPosition(expr);
    (isKept ? kept : isChannel ? channels : windows).push_back(dim);
  }
  unsigned last = map.getNumResults() - 1;
  if (llvm::is_contained(kept, last) && element.getIntOrFloatBitWidth() == 16)
    return llvm::to_vector(llvm::seq<unsigned>(0, last + 1));
  kept.append(windows);
  kept.append(channels);
  return kept;
}

/// Lets the product of `operand` read it with its dimensions in `order`.
static void permuteOperand(OpOperand &operand, ArrayRef<unsigned> order) {
  if (llvm::is_sorted(order))
    return;
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  Value old = operand.get();
  readSource(operand, {op, buildPermuted(old, order, op), invertOrder(order)});
  eraseUnused(old);
}

/// Permutes `product` and returns what it has become.
static Operation *permuteProduct(const PermutableProduct &product) {
  linalg::GenericOp op = product.op;
  Value image = product.image->get();
  Value permuted = buildPermuted(image, product.imageOrder, op);
  readSource(*product.image, {op, permuted, invertOrder(product.imageOrder)});
  if (!llvm::is_sorted(product.resultOrder))
    sinkPermutation(permuteResult(op, product.resultOrder, product.contracted));
  eraseUnused(image);
  OpOperand &filter = op->getOpOperand(1 - product.image->getOperandNumber());
  if (!product.hasWindows) {
    if (!product.filterOrder.empty())
      permuteOperand(filter, product.filterOrder);
    return op;
  }
  DimOrder order =
      orderFilter(product, getElementTypeOrSelf(filter.get().getType()),
                  op.getMatchingIndexingMap(&filter));
  if (isStatic(filter.get()))
    permuteOperand(filter, order);
  // Channels that are few or no multiple of what is copied are padded.
  if (OperandRepacker::applies(op))
    return OperandRepacker(stringifyObstacle(TensorCoreObstacle::Addressing))
        .repack(op);
  return op;
}

PricedRewrite mlir::fusion::getChannelsLastRewrite() {
  PricedRewrite rewrite;
  rewrite.find = [](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (auto op : func.getFunctionBody().front().getOps<linalg::GenericOp>()) {
      std::optional<PermutableProduct> product = findProduct(op);
      if (!product)
        continue;
      matches.push_back({"channels last", getOpLabel(op, NodeKind::Contraction),
                         op, [product]() { return permuteProduct(*product); }});
    }
    return matches;
  };
  rewrite.reason = ReasonCode::ChannelsLast;
  rewrite.showsRefused = true;
  return rewrite;
}
