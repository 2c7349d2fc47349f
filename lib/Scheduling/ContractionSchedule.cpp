//===- ContractionSchedule.cpp - Schedules of contractions ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the schedules of kernels around a contraction that run
// on tensor cores: which instruction can make the products, which dimensions
// make up rows, columns and depth, and what the model is asked about them.
//
//===----------------------------------------------------------------------===//

#include "ContractionSchedule.h"
#include "fusion/Scheduling/MmaCost.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// A dynamic size is taken to be this for the purpose of choosing tiles.
static constexpr int64_t kTypicalExtent = 1024;

namespace {
/// The contractions of a kernel, which all run over the same loops.
struct Product {
  SmallVector<Contraction, 2> sums;
  /// Dimensions, adjacent ones, that rows and columns are made of.
  SmallVector<unsigned> rows, columns;
  /// The contracted dimension that chunks are taken of.
  unsigned depth = 0;
};
} // namespace

static int64_t extentOf(const IterationSpace &space, unsigned dim) {
  return space.getDims()[dim].getStaticExtent().value_or(kTypicalExtent);
}

/// The contractions of `kernel`, when there are some, all over the same loops
/// and none feeding another, and when nothing else walks those loops.
static std::optional<Product> findProduct(KernelOp kernel,
                                          const IterationSpace &space) {
  Product product;
  llvm::SmallDenseSet<Value> derived;
  for (Operation &op : kernel.getBlock()) {
    bool isDerived = llvm::any_of(op.getOperands(),
                                  [&](Value v) { return derived.contains(v); });
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (structured && structured.getNumReductionLoops() > 0) {
      std::optional<Contraction> sum = matchContraction(structured, space);
      if (sum) {
        if (isDerived)
          return std::nullopt;
        if (!product.sums.empty() &&
            (sum->rows != product.sums[0].rows ||
             sum->columns != product.sums[0].columns ||
             sum->contracted != product.sums[0].contracted ||
             sum->sum != product.sums[0].sum))
          return std::nullopt;
        product.sums.push_back(*sum);
        isDerived = true;
      } else if (isDerived) {
        // A reduction of a product over dimensions that tiles divide.
        return std::nullopt;
      }
    }
    if (isDerived)
      for (Value result : op.getResults())
        derived.insert(result);
  }
  if (product.sums.empty())
    return std::nullopt;
  const Contraction &first = product.sums.front();
  // Rows and columns are what a block owns: dimensions of the results only.
  for (ArrayRef<unsigned> dims :
       {ArrayRef(first.rows), ArrayRef(first.columns), ArrayRef(first.batch)})
    for (unsigned dim : dims)
      if (!space.getDims()[dim].root || space.getDims()[dim].reduction ||
          space.getDims()[dim].scan)
        return std::nullopt;
  return product;
}

/// The dimensions of `tensor` that have more than one element, in order.
static SmallVector<unsigned> dimsOf(Value tensor, const IterationSpace &space) {
  SmallVector<unsigned> dims;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.getDimSize(i) != 1)
      dims.push_back(space.getDimOfTensor(tensor, i));
  return dims;
}

/// The longest run of `dims`, up to the last, that lie side by side in every
/// one of `tensors` that has the last: one axis can run through them.
static SmallVector<unsigned> mergeableDims(ArrayRef<unsigned> dims,
                                           ArrayRef<Value> tensors,
                                           const IterationSpace &space) {
  SmallVector<unsigned> kept;
  for (unsigned dim : dims)
    if (extentOf(space, dim) != 1)
      kept.push_back(dim);
  if (kept.empty())
    return {dims.back()};
  SmallVector<unsigned> run{kept.pop_back_val()};
  while (!kept.empty() && kept.back() + 1 == run.front()) {
    bool adjacent = llvm::all_of(tensors, [&](Value tensor) {
      SmallVector<unsigned> order = dimsOf(tensor, space);
      auto place = llvm::find(order, run.front());
      return place == order.end() ||
             (place != order.begin() && *std::prev(place) == kept.back());
    });
    if (!adjacent)
      break;
    run.insert(run.begin(), kept.pop_back_val());
  }
  return run;
}

/// True when the operand's loops index its tensor plainly, as a matrix's do.
static bool isPlain(const Contraction &sum, unsigned side) {
  linalg::LinalgOp op = sum.op;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (operand->get() != sum.operands[side].tensor)
      continue;
    AffineMap map = op.getMatchingIndexingMap(operand);
    SmallVector<AffineExpr> dims;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    for (unsigned i = 0; i < map.getNumDims(); ++i)
      dims.push_back(ranges[i] == 1 ? getAffineConstantExpr(0, op.getContext())
                                    : getAffineDimExpr(i, op.getContext()));
    llvm::SmallDenseSet<unsigned> seen;
    for (AffineExpr expr : map.getResults()) {
      expr = expr.replaceDims(dims);
      if (isa<AffineConstantExpr>(expr))
        continue;
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || !seen.insert(dim.getPosition()).second)
        return false;
    }
    return true;
  }
  return false;
}

/// Can the tensor copy engine read `tensor` along dimension `fastest`? Rows of
/// memory must begin at multiples of 16 bytes.
static bool isCopyable(Value tensor, int64_t bits) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t last = type.getDimSize(type.getRank() - 1);
  return type.getRank() >= 1 && type.getRank() <= 5 &&
         !ShapedType::isDynamic(last) && last * bits % 128 == 0;
}

static bool isByte(Type type) { return type.getIntOrFloatBitWidth() == 8; }

/// Can warpgroups make the products, fed by tensor copies?
static bool suitsWgmma(const Product &product, const IterationSpace &space) {
  for (const Contraction &sum : product.sums) {
    unsigned computed = 0;
    for (unsigned side = 0; side < 2; ++side) {
      const ContractionOperand &operand = sum.operands[side];
      Type element = operand.element;
      if (!element.isF16() && !element.isBF16() && !isByte(element))
        return false;
      if (!operand.source || !isPlain(sum, side))
        return false;
      Type stored = getElementTypeOrSelf(operand.source.getType());
      if (!isCopyable(operand.source, stored.getIntOrFloatBitWidth()))
        return false;
      SmallVector<unsigned> dims = dimsOf(operand.source, space);
      ArrayRef<unsigned> own = side == 0 ? product.rows : product.columns;
      bool kMajor = dims.back() == product.depth;
      if (!kMajor && dims.back() != own.back())
        return false;
      // Only 16-bit elements have both majors in shared memory.
      if (!kMajor && isByte(element))
        return false;
      computed += !operand.direct;
    }
    if (computed > 1)
      return false;
  }
  return true;
}

static MmaProblem describe(KernelOp kernel, const Product &product,
                           const IterationSpace &space) {
  const Contraction &first = product.sums.front();
  MmaProblem problem;
  auto sizeOf = [&](ArrayRef<unsigned> dims) {
    int64_t size = 1;
    for (unsigned dim : dims)
      size *= extentOf(space, dim);
    return size;
  };
  problem.rows = sizeOf(product.rows);
  problem.columns = sizeOf(product.columns);
  problem.depth = extentOf(space, product.depth);
  problem.taps = sizeOf(first.contracted) / problem.depth;
  problem.batch = sizeOf(first.batch) * (sizeOf(first.rows) / problem.rows) *
                  (sizeOf(first.columns) / problem.columns);
  problem.sums = product.sums.size();
  for (unsigned side = 0; side < 2; ++side) {
    const ContractionOperand &operand = first.operands[side];
    problem.elementBits = operand.element.getIntOrFloatBitWidth();
    Value stored = operand.source ? operand.source : operand.tensor;
    problem.storedBits[side] =
        getElementTypeOrSelf(stored.getType()).getIntOrFloatBitWidth();
  }
  // Whole tiles that the epilogue moves.
  llvm::SmallDenseSet<Value> factors;
  for (const Contraction &sum : product.sums)
    for (const ContractionOperand &operand : sum.operands)
      factors.insert(operand.source);
  auto bytesOf = [&](Value value) -> int64_t {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() == 0)
      return 0;
    SmallVector<unsigned> dims = dimsOf(value, space);
    if (!llvm::is_contained(dims, product.rows.back()) ||
        !llvm::is_contained(dims, product.columns.back()))
      return 0;
    return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  };
  for (Value argument : kernel.getBlock().getArguments())
    if (!factors.contains(argument))
      problem.epilogueReadBytes += bytesOf(argument);
  problem.epilogueWriteBytes = 0;
  for (Value yielded : kernel.getYield().getValues())
    problem.epilogueWriteBytes += bytesOf(yielded);
  problem.epilogueOps = 0;
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>())
    if (op.getNumReductionLoops() == 0)
      problem.epilogueOps +=
          std::distance(op.getBlock()->begin(), op.getBlock()->end()) - 1;
  return problem;
}

static ScheduleAttr makeSchedule(KernelOp kernel, const Product &product,
                                 const IterationSpace &space, MmaKind kind,
                                 const MmaConfig &config) {
  MLIRContext *context = kernel.getContext();
  const Contraction &first = product.sums.front();
  SmallVector<AxisKind> kinds(space.getNumDims(), AxisKind::Grid);
  SmallVector<int64_t> tiles(space.getNumDims(), 1);
  for (unsigned dim : first.contracted)
    kinds[dim] = AxisKind::Loop;
  for (unsigned dim = 0; dim < space.getNumDims(); ++dim)
    if (space.getDims()[dim].reduction)
      kinds[dim] = AxisKind::Loop;
  for (const SmallVector<unsigned> *dims : {&product.rows, &product.columns})
    for (unsigned dim : ArrayRef(*dims).drop_back())
      kinds[dim] = AxisKind::Merged;
  tiles[product.rows.back()] = config.rows;
  tiles[product.columns.back()] = config.columns;
  tiles[product.depth] = config.depth;
  SmallVector<AxisAttr> axes;
  for (auto [axisKind, tile] : llvm::zip(kinds, tiles))
    axes.push_back(AxisAttr::get(context, axisKind, tile, 1, 1));
  auto mma = MmaAttr::get(context, kind, config.stages, config.chunk,
                          config.split, config.group, config.blocks);
  return ScheduleAttr::get(context, Strategy::Contraction, axes, config.warps,
                           mma);
}

SmallVector<ScheduleAttr>
fusion::getTensorCoreSchedules(KernelOp kernel, const IterationSpace &space,
                               const ScheduleLimits &limits) {
  std::optional<Product> product = findProduct(kernel, space);
  if (!product || !limits.target)
    return {};
  const Contraction &first = product->sums.front();
  SmallVector<Value> rowTensors{first.op->getResult(0)}, columnTensors;
  columnTensors = rowTensors;
  for (const Contraction &sum : product->sums) {
    rowTensors.push_back(sum.operands[0].tensor);
    columnTensors.push_back(sum.operands[1].tensor);
  }
  llvm::append_range(rowTensors, kernel.getYield().getValues());
  llvm::append_range(columnTensors, kernel.getYield().getValues());
  product->rows = mergeableDims(first.rows, rowTensors, space);
  product->columns = mergeableDims(first.columns, columnTensors, space);
  // Chunks are taken of the dimension that operands are contiguous along.
  product->depth = first.contracted.back();
  for (unsigned dim : first.contracted)
    if (extentOf(space, dim) > extentOf(space, product->depth))
      product->depth = dim;

  SmallVector<ScheduleAttr> schedules;
  MmaProblem problem = describe(kernel, *product, space);
  if (limits.target->name == "sm_90a" && suitsWgmma(*product, space))
    for (const MmaConfig &config : getWgmmaConfigs(problem, *limits.target))
      schedules.push_back(
          makeSchedule(kernel, *product, space, MmaKind::Wgmma, config));
  return schedules;
}
