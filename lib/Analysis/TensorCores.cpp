//===- TensorCores.cpp - What warpgroups can multiply ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rules on products by warpgroups.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/TensorCores.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Support/Float8.h"
#include "fusion/Support/Hardware.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct Obstacle {
  llvm::StringLiteral code;
  llvm::StringLiteral text;
};
} // namespace

static constexpr Obstacle kObstacles[] = {
#define FUSION_OBSTACLE(enumerator, code, text) {code, text},
#include "fusion/Analysis/TensorCoreObstacles.def"
};

StringRef fusion::stringifyObstacle(TensorCoreObstacle obstacle) {
  return kObstacles[static_cast<unsigned>(obstacle)].code;
}

StringRef fusion::describeObstacle(TensorCoreObstacle obstacle) {
  return kObstacles[static_cast<unsigned>(obstacle)].text;
}

ArrayRef<TensorCoreObstacle> fusion::getAllObstacles() {
  static constexpr TensorCoreObstacle all[] = {
#define FUSION_OBSTACLE(enumerator, code, text) TensorCoreObstacle::enumerator,
#include "fusion/Analysis/TensorCoreObstacles.def"
  };
  return all;
}

/// Instructions of tf32 for one product to f32's precision.
static constexpr double kSplitProducts = 3;

/// Whether products of f32 are faster as three of tf32 each than without tensor
/// cores: chips for desktops multiply tf32 no faster than f32.
static bool hasSplitProducts(const TargetInfo &target) {
  double tf32 = target.fitted.rates.tensorFlopsPerSecond / 2;
  return tf32 / kSplitProducts > target.fp32FlopsPerSecond();
}

bool fusion::isMadeByWarps(const Contraction &sum, const TargetInfo &target) {
  Type a = sum.operands[0].element, b = sum.operands[1].element;
  if (isFloat8(a) && isFloat8(b))
    return target.hasFloat8Products;
  return a == b && (a.isF16() || a.isBF16() || a.isInteger(8) || a.isF64() ||
                    (a.isF32() && (sum.tf32 || hasSplitProducts(target))));
}

/// What a thread accesses at once.
static constexpr int64_t kRunBits = 8 * kMaxAccessBytes;

bool fusion::isCopiedByThreads(RankedTensorType type) {
  constexpr int64_t kCopyBits = 8 * kLeastCopyBytes;
  int64_t last = type.getRank() ? type.getShape().back() : 1;
  return !ShapedType::isDynamic(last) &&
         last * type.getElementTypeBitWidth() % kCopyBits == 0;
}

/// True when windows slide along what neighbours in memory of operand `side`
/// lie along, or it is not as it is in memory.
static bool slidesAlongRows(const Contraction &sum, unsigned side) {
  const ContractionOperand &operand = sum.operands[side];
  if (operand.channels || isPlain(sum, side))
    return false;
  if (operand.source != operand.tensor)
    return true;
  OpOperand *factor = getFactor(sum, side);
  if (!factor)
    return false;
  linalg::LinalgOp op = sum.op;
  AffineMap map = op.getMatchingIndexingMap(factor);
  return map.getNumResults() > 0 &&
         !isa<AffineDimExpr>(map.getResults().back());
}

double fusion::getWarpShare(const Contraction &sum, int64_t depth, bool hasRuns,
                            const TargetInfo &target) {
  const WarpProductConstants &fitted = target.fitted.warpProducts;
  bool split = sum.operands[0].element.isF32() && !sum.tf32;
  double products = split ? kSplitProducts : 1;
  // Other rates are those of single warps.
  if (target.fitted.rates.warpProductShare == 1)
    return 1 / products;
  constexpr int64_t kInstructionBits = 256;
  for (unsigned side = 0; side < 2; ++side)
    if (slidesAlongRows(sum, side))
      return fitted.windowShare / products;
  for (const ContractionOperand &operand : sum.operands) {
    Value stored = operand.source ? operand.source : operand.tensor;
    auto type = cast<RankedTensorType>(stored.getType());
    int64_t last = type.getRank() ? type.getShape().back() : 1;
    if (!hasRuns || !isCopiedByThreads(type) ||
        last * type.getElementTypeBitWidth() < kRunBits)
      return fitted.elementShare / products;
  }
  int64_t bits = sum.operands[0].element.getIntOrFloatBitWidth();
  // An instruction is filled up with zeros.
  int64_t filled =
      llvm::alignTo(depth, std::max<int64_t>(1, kInstructionBits / bits));
  double share = bits == 32 ? fitted.copiedWideShare
                            : fitted.copiedShare * std::min(1.0, 16.0 / bits);
  return share / products * static_cast<double>(depth) /
         static_cast<double>(filled);
}

unsigned fusion::getDepthDim(
    const Contraction &sum, llvm::function_ref<int64_t(unsigned)> extentOf,
    llvm::function_ref<std::optional<unsigned>(unsigned)> innermostOf) {
  // Images are contiguous along their channels, which may be fewer than the
  // elements of a window.
  for (const ContractionOperand &operand : sum.operands)
    if (operand.channels)
      return *operand.channels;
  auto rate = [&](unsigned dim) {
    int64_t extent = extentOf(dim);
    unsigned runs = 0;
    for (unsigned side = 0; side < 2; ++side) {
      int64_t bits = sum.operands[side].element.getIntOrFloatBitWidth();
      runs += innermostOf(side) == dim &&
              (ShapedType::isDynamic(extent) || extent * bits >= kRunBits);
    }
    return std::pair(runs, extent);
  };
  unsigned depth = sum.contracted.back();
  for (unsigned dim : sum.contracted)
    if (rate(dim) > rate(depth))
      depth = dim;
  return depth;
}

unsigned fusion::getDepthLoop(const Contraction &sum) {
  linalg::LinalgOp op = sum.op;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto innermostOf = [&](unsigned side) -> std::optional<unsigned> {
    AffineMap map = op.getMatchingIndexingMap(getFactor(sum, side));
    for (AffineExpr coord : llvm::reverse(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(coord);
      if (!dim)
        return std::nullopt;
      if (sizes[dim.getPosition()] != 1)
        return dim.getPosition();
    }
    return std::nullopt;
  };
  return getDepthDim(
      sum, [&](unsigned loop) { return sizes[loop]; }, innermostOf);
}

bool fusion::haveEqualLoops(const Contraction &a, const Contraction &b) {
  return a.rows == b.rows && a.columns == b.columns &&
         a.contracted == b.contracted && a.batch == b.batch && a.sum == b.sum &&
         a.grouped.has_value() == b.grouped.has_value() &&
         (!a.grouped || a.grouped->groups == b.grouped->groups);
}

bool fusion::haveEqualTiles(const Contraction &a, const Contraction &b) {
  auto isOne = [](const Contraction &sum) {
    return sum.contracted.size() == 1 && !sum.grouped &&
           llvm::all_of(sum.operands, [](const ContractionOperand &operand) {
             return operand.direct && !operand.channels;
           });
  };
  auto types = [](const Contraction &sum) {
    return std::tuple(sum.operands[0].element, sum.operands[1].element,
                      sum.tf32, sum.sum);
  };
  return a.rows == b.rows && a.columns == b.columns && a.batch == b.batch &&
         isOne(a) && isOne(b) && a.contracted != b.contracted &&
         types(a) == types(b);
}

bool fusion::hasStaticSizes(const Contraction &contraction) {
  return llvm::all_of(contraction.op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  });
}

/// True when warpgroups take factors of the type of `operand`.
static bool isMultiplied(const Contraction &sum,
                         const ContractionOperand &operand) {
  Type element = operand.element;
  return element.isF16() || element.isBF16() ||
         element.getIntOrFloatBitWidth() == 8 || (element.isF32() && sum.tf32);
}

/// True when one walk runs through all windows of images, `operand`: what comes
/// behind it has one element.
static bool walksPlaces(const ContractionOperand &operand,
                        const ProductDims &dims) {
  SmallVector<unsigned> walked(dims.outerDepths);
  walked.push_back(dims.depth);
  return walked.size() <= operand.places.size() &&
         llvm::equal(walked,
                     ArrayRef(operand.places).take_front(walked.size()));
}

/// True when the tensor copy engine finds the windows of images, operand
/// `side`, by itself: one axis runs through all places of windows, that of the
/// results or, where the images keep their channels, the walk. These are then
/// copied in whole lines, each of one place in the window.
static bool
hasCountedWindows(const Contraction &sum, unsigned side,
                  const ProductDims &dims,
                  llvm::function_ref<SmallVector<unsigned>(Value)> dimsOf) {
  const ContractionOperand &operand = sum.operands[side];
  ArrayRef<unsigned> own = sum.getOwn(side);
  ArrayRef<unsigned> merged = dims.getOwn(side);
  linalg::LinalgOp op = sum.op;
  for (unsigned dim : dimsOf(op->getResult(0)))
    if (llvm::is_contained(own, dim) && !llvm::is_contained(merged, dim))
      return false;
  auto type = cast<RankedTensorType>(operand.source.getType());
  if (type.getRank() < 3 ||
      llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic))
    return false;
  if (!operand.channels)
    return operand.direct && walksPlaces(operand, dims) &&
           !straddlesLines(type);
  // A group of channels has to be a part of the channels in memory.
  auto tensor = cast<RankedTensorType>(operand.tensor.getType());
  return tensor.getRank() != type.getRank() ||
         llvm::none_of(dimsOf(operand.tensor), [&](unsigned dim) {
           return llvm::is_contained(sum.batch, dim);
         });
}

/// What keeps looked-up rows, operand `side`, from being copied.
static std::optional<TensorCoreObstacle>
findLookupObstacle(const Contraction &sum, unsigned side,
                   const ProductDims &dims) {
  const ContractionOperand &operand = sum.operands[side];
  ArrayRef<unsigned> own = dims.getOwn(side);
  for (auto [loop, dim] : llvm::enumerate(operand.lookupDims)) {
    bool isTiled = llvm::is_contained(own, dim) || dim == dims.depth;
    bool isAlone = own.size() == 1 || dim == dims.depth;
    if (isTiled && !(isAlone && hasCopiedRuns(*operand.lookup, loop)))
      return TensorCoreObstacle::LookedUpRows;
  }
  std::optional<unsigned> fastest = operand.lookup->getFastest();
  bool is16Bits = operand.element.getIntOrFloatBitWidth() == 16;
  if (!fastest || (operand.lookupDims[*fastest] != dims.depth &&
                   !(operand.lookupDims[*fastest] == own.back() && is16Bits)))
    return TensorCoreObstacle::OperandMajor;
  return std::nullopt;
}

std::optional<TensorCoreObstacle> fusion::findOperandObstacle(
    const Contraction &sum, unsigned side, const ProductDims &dims,
    llvm::function_ref<SmallVector<unsigned>(Value)> dimsOf) {
  const ContractionOperand &operand = sum.operands[side];
  if (!isMultiplied(sum, operand))
    return TensorCoreObstacle::ElementType;
  if (!operand.source)
    return TensorCoreObstacle::SeveralSources;
  if (!isPlain(sum, side) && !((operand.channels || !operand.places.empty()) &&
                               hasCountedWindows(sum, side, dims, dimsOf)))
    return TensorCoreObstacle::Addressing;
  auto type = cast<RankedTensorType>(operand.source.getType());
  if (type.getRank() < 1 || type.getRank() > 5)
    return TensorCoreObstacle::Rank;
  int64_t last = type.getDimSize(type.getRank() - 1);
  if (ShapedType::isDynamic(last))
    return TensorCoreObstacle::DynamicRows;
  if (last * type.getElementTypeBitWidth() % 128 != 0)
    return TensorCoreObstacle::MisalignedRows;
  if (operand.lookup)
    return findLookupObstacle(sum, side, dims);
  if (operand.channels == dims.depth)
    return std::nullopt;
  SmallVector<unsigned> order = dimsOf(operand.source);
  if (!order.empty() && order.back() == dims.depth)
    return std::nullopt;
  ArrayRef<unsigned> own = dims.getOwn(side);
  // Only 16-bit elements have both majors in shared memory.
  if (order.empty() || order.back() != own.back() ||
      operand.element.getIntOrFloatBitWidth() != 16)
    return TensorCoreObstacle::OperandMajor;
  return std::nullopt;
}

std::optional<TensorCoreObstacle>
fusion::findObstacle(const Contraction &sum, const ProductDims &dims,
                     llvm::function_ref<SmallVector<unsigned>(Value)> dimsOf) {
  unsigned computed = 0;
  for (unsigned side = 0; side < 2; ++side) {
    if (auto obstacle = findOperandObstacle(sum, side, dims, dimsOf))
      return obstacle;
    computed += !sum.operands[side].direct;
  }
  if (computed > 1)
    return TensorCoreObstacle::BothComputed;
  return std::nullopt;
}

bool fusion::hasTilesOfGroups(
    const Contraction &sum, const ProductDims &dims, ValueRange results,
    llvm::function_ref<SmallVector<unsigned>(Value)> dimsOf,
    llvm::function_ref<bool(Value)> isOutside) {
  auto groups = sum.grouped->groups.getDefiningOp<RowGroupsOp>();
  if (!groups || !isOutside(groups.getOffsets()) || !hasStaticSizes(sum) ||
      dims.rows.size() != 1 || dims.rows.front() != sum.groupedDim ||
      ShapedType::isDynamic(groups.getNumGroups()))
    return false;
  // What lies past the end of a group is cut off in the rows' dimension alone.
  return llvm::all_of(results, [&](Value result) {
    SmallVector<unsigned> order = dimsOf(result);
    return !order.empty() && order.front() == sum.groupedDim &&
           cast<RankedTensorType>(result.getType()).getDimSize(0) != 1;
  });
}

bool fusion::straddlesLines(RankedTensorType type) {
  constexpr int64_t kLineBits = 8 * kLineBytes;
  if (type.getRank() < 2)
    return false;
  int64_t last = type.getShape().back();
  return ShapedType::isDynamic(last) ||
         last * type.getElementTypeBitWidth() % kLineBits != 0;
}

void fusion::addTiles(MmaProblem &problem, SmallVectorImpl<MmaTiles> &tiles,
                      RankedTensorType type) {
  int64_t last = type.getRank() ? type.getShape().back() : 1;
  int64_t bits = type.getElementTypeBitWidth();
  if (type.getRank() > kMaxCopyRank || ShapedType::isDynamic(last) ||
      last * bits % (8 * kCopyGranule) != 0 || bits % 8 != 0) {
    ++problem.exchanged;
    problem.exchangedBytes =
        std::max<int64_t>(problem.exchangedBytes, llvm::divideCeil(bits, 8));
    return;
  }
  const void *key = type.getElementType().getAsOpaquePointer();
  for (MmaTiles &group : tiles)
    if (group.type == key) {
      ++group.count;
      return;
    }
  tiles.push_back({key, bits / 8, 1});
}
