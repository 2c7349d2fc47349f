//===- ProductProblem.cpp - Products as a problem of sizes ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the description of products and of what is computed
// around them by sizes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ProductProblem.h"

#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// The tensors that the kernel of `view` reads.
static llvm::SmallDenseSet<Value> getReads(const ProductView &view) {
  llvm::SmallDenseSet<Value> reads;
  for (const ProductTensor &read : view.reads)
    reads.insert(read.value);
  return reads;
}

/// Bits of memory, a power of two, for each element of `tensor`, which the
/// kernel computes from its inputs.
static int64_t getStoredBits(Value tensor, const ProductView &view) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t own = type.getElementTypeBitWidth();
  if (!type.hasStaticShape() || type.getNumElements() == 0)
    return own;
  llvm::SmallDenseSet<Value> reads = getReads(view);
  int64_t bits = 0;
  llvm::SmallSetVector<Value, 8> reached;
  reached.insert(tensor);
  for (unsigned i = 0; i < reached.size(); ++i) {
    auto source = dyn_cast<RankedTensorType>(reached[i].getType());
    if (source && reads.contains(reached[i])) {
      if (!source.hasStaticShape())
        return own;
      bits += source.getNumElements() * source.getElementTypeBitWidth();
      continue;
    }
    if (Operation *op = reached[i].getDefiningOp())
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          reached.insert(operand);
      });
  }
  // Factors of groups add a little to what numbers have.
  uint64_t each = std::max<int64_t>(1, bits / type.getNumElements());
  return std::min<int64_t>(llvm::bit_floor(each), own);
}

/// True for a result of one of `sums`, as `element` of the body of what reads
/// it, and for what adds such up.
static bool isOfSums(Value element, ArrayRef<Contraction> sums) {
  if (auto add = element.getDefiningOp<arith::AddFOp>())
    return isOfSums(add.getLhs(), sums) && isOfSums(add.getRhs(), sums);
  auto argument = dyn_cast<BlockArgument>(element);
  auto reader =
      argument ? dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp())
               : linalg::LinalgOp();
  if (!reader)
    return false;
  Value tensor = reader.getMatchingOpOperand(argument)->get();
  return llvm::any_of(sums, [&](const Contraction &sum) {
    linalg::LinalgOp op = sum.op;
    return op->getResult(0) == tensor;
  });
}

/// True when `element`, or what it is in a tensor that others read, is made
/// wider.
static bool isWidened(Value element) {
  return llvm::any_of(element.getUses(), [](OpOperand &use) {
    if (isa<arith::ExtFOp>(use.getOwner()))
      return true;
    auto writer = dyn_cast<linalg::LinalgOp>(use.getOwner()->getParentOp());
    if (!isa<linalg::YieldOp>(use.getOwner()) || !writer)
      return false;
    Value tensor = writer->getResult(use.getOperandNumber());
    return llvm::any_of(tensor.getUses(), [](OpOperand &read) {
      auto reader = dyn_cast<linalg::LinalgOp>(read.getOwner());
      return reader &&
             llvm::any_of(reader.getMatchingBlockArgument(&read).getUsers(),
                          llvm::IsaPred<arith::ExtFOp>);
    });
  });
}

/// Adds to `problem` what a thread keeps of `element`, a product's, while it
/// makes the next ones: what it is rounded to at once, nothing where these
/// begin with it.
static void addKept(Value element, ArrayRef<Contraction> sums,
                    MmaProblem &problem) {
  int64_t bits = element.getType().getIntOrFloatBitWidth();
  Operation *user = element.hasOneUse() ? *element.user_begin() : nullptr;
  if (auto cast = dyn_cast_or_null<arith::TruncFOp>(user)) {
    bits = cast.getType().getIntOrFloatBitWidth();
    problem.keptIsWidened |= isWidened(cast);
  } else if (auto add = dyn_cast_or_null<arith::AddFOp>(user);
             add && isOfSums(add, sums)) {
    bits = 0;
  }
  problem.keptBits += bits;
}

static void setKept(const ProductView &view, MmaProblem &problem) {
  for (const Contraction &sum : ArrayRef(view.sums).drop_back()) {
    linalg::LinalgOp op = sum.op;
    for (OpOperand &use : op->getResult(0).getUses())
      if (auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
          reader && reader.isDpsInput(&use))
        addKept(reader.getMatchingBlockArgument(&use), view.sums, problem);
  }
}

static void setSizes(const ProductView &view, MmaProblem &problem) {
  const Contraction &first = view.sums.front();
  auto sizeOf = [&](ArrayRef<unsigned> dims) {
    int64_t size = 1;
    for (unsigned dim : dims)
      size *= view.extents[dim];
    return std::max<int64_t>(size, 1);
  };
  problem.rows = sizeOf(view.dims.rows);
  problem.columns = sizeOf(view.dims.columns);
  problem.depth = sizeOf(view.dims.depth) * sizeOf(view.dims.outerDepths);
  problem.taps = sizeOf(first.contracted) / problem.depth;
  for (unsigned side = 0; side < 2; ++side)
    if (!first.operands[side].channels && first.operands[side].places.empty())
      problem.tapsRead[side] = problem.taps;
  problem.batch = sizeOf(first.batch) * (sizeOf(first.rows) / problem.rows) *
                  (sizeOf(first.columns) / problem.columns);
  problem.sums = view.dims.laterDepths.empty() ? view.sums.size() : 1;
  for (unsigned dim : view.dims.laterDepths)
    problem.laterDepths.push_back(view.extents[dim]);
  if (!problem.laterDepths.empty())
    setKept(view, problem);
  // As many products as groups, of their mean size.
  if (first.grouped) {
    int64_t groups = std::max<int64_t>(view.extents[first.groupDim], 1);
    problem.grouped = true;
    problem.batch *= groups;
    problem.rows = llvm::divideCeil(problem.rows, groups);
  }
  for (unsigned side = 0; side < 2; ++side)
    for (unsigned dim : side == 0 ? view.dims.rows : view.dims.columns) {
      problem.granules[side] =
          std::max(problem.granules[side], view.granules[dim]);
      problem.spans[side] = std::max(problem.spans[side], view.spans[dim]);
    }
  problem.wholeRows = view.wholeRows;
  // Tiles of the same rows are neighbours when columns vary fastest.
  problem.panels = view.wholeRows && !problem.grouped;
  for (ArrayRef<unsigned> dims :
       {ArrayRef(first.rows), ArrayRef(first.columns), ArrayRef(first.batch)})
    for (unsigned dim : dims)
      problem.panels &= dim <= view.dims.columns.back();
  problem.isStatic = hasStaticSizes(view.sums.front());
}

/// Tiles that are loaded for one of `tensor`: one of each tensor that is read,
/// but for those with few elements beside `least`. What is put together may
/// have parts of any size.
static int64_t countSources(Value tensor, int64_t least,
                            const llvm::SmallDenseSet<Value> &reads,
                            llvm::SmallDenseSet<Value> &seen) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !seen.insert(tensor).second)
    return 0;
  Operation *op = tensor.getDefiningOp();
  if (!op || reads.contains(tensor))
    return !type.hasStaticShape() || type.getNumElements() * kLittle >= least;
  if (isa<tensor::ConcatOp>(op))
    least = 0;
  int64_t sources = 0;
  for (Value operand : op->getOperands()) {
    // Parts of one tensor are loaded one by one.
    if (isa<tensor::ConcatOp>(op))
      seen.erase(operand);
    sources += countSources(operand, least, reads, seen);
  }
  return sources;
}

static int64_t countSources(Value tensor, const ProductView &view) {
  llvm::SmallDenseSet<Value> seen;
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t least = type.hasStaticShape() ? type.getNumElements() : 0;
  return std::max<int64_t>(countSources(tensor, least, getReads(view), seen),
                           1);
}

static void setFactors(const ProductView &view, unsigned side,
                       MmaProblem &problem) {
  const ContractionOperand &operand = view.sums.front().operands[side];
  problem.elementBits = operand.element.getIntOrFloatBitWidth();
  llvm::SmallDenseSet<Value> tensors;
  if (view.dims.laterDepths.empty())
    for (const Contraction &sum : view.sums)
      tensors.insert(sum.operands[side].tensor);
  else
    tensors.insert(operand.tensor);
  problem.operands[side] = tensors.size();
  if (!operand.places.empty())
    problem.places = side;
  problem.sources[side] = countSources(operand.tensor, view);
  Value stored = operand.source ? operand.source : operand.tensor;
  auto type = cast<RankedTensorType>(stored.getType());
  problem.storedBits[side] = operand.source ? type.getElementTypeBitWidth()
                                            : getStoredBits(stored, view);
  problem.straddles[side] = straddlesLines(type);
  problem.copied[side] = isCopiedByThreads(type);
  ArrayRef<unsigned> order = view.factorDims[side];
  problem.transposed[side] = operand.channels != view.dims.depth &&
                             !order.empty() && order.back() != view.dims.depth;
}

static int64_t getElementBytes(RankedTensorType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// 0 for a tensor along the rows alone, 1 for one along the columns alone.
static std::optional<unsigned> getVectorSide(const ProductTensor &tensor,
                                             const ProductView &view) {
  if (ArrayRef(tensor.dims) == ArrayRef(view.dims.rows))
    return 0;
  if (ArrayRef(tensor.dims) == ArrayRef(view.dims.columns))
    return 1;
  return std::nullopt;
}

static void setEpilogue(const ProductView &view, MmaProblem &problem) {
  // Whole tiles that the epilogue moves.
  auto isWhole = [&](const ProductTensor &tensor) {
    return !tensor.byGranules &&
           llvm::is_contained(tensor.dims, view.dims.rows.back()) &&
           llvm::is_contained(tensor.dims, view.dims.columns.back());
  };
  auto addTile = [&](const ProductTensor &tensor, int64_t &bytes,
                     SmallVectorImpl<MmaTiles> &copied) {
    auto type = cast<RankedTensorType>(tensor.value.getType());
    bytes += getElementBytes(type);
    addTiles(problem, copied, type);
  };
  llvm::SmallDenseSet<Value> seen;
  for (const Contraction &sum : view.sums)
    for (const ContractionOperand &operand : sum.operands)
      seen.insert(operand.source);
  problem.epilogueReadBytes = problem.epilogueWriteBytes = 0;
  for (const ProductTensor &tensor : view.reads)
    if (isWhole(tensor)) {
      if (seen.insert(tensor.value).second)
        addTile(tensor, problem.epilogueReadBytes, problem.copiedReads);
    } else if (std::optional<unsigned> side = getVectorSide(tensor, view);
               side && seen.insert(tensor.value).second) {
      problem.vectors[*side].push_back(
          getElementBytes(cast<RankedTensorType>(tensor.value.getType())));
    }
  for (const ProductTensor &tensor : view.writes) {
    if (!isWhole(tensor))
      continue;
    if (!problem.grouped) {
      addTile(tensor, problem.epilogueWriteBytes, problem.copiedWrites);
      continue;
    }
    // What ends with a group is stored by threads.
    auto type = cast<RankedTensorType>(tensor.value.getType());
    int64_t bytes = getElementBytes(type);
    problem.epilogueWriteBytes += bytes;
    ++problem.exchanged;
    problem.exchangedBytes = std::max(problem.exchangedBytes, bytes);
  }
  problem.epilogueOps = 0;
  for (linalg::LinalgOp op : view.others) {
    problem.epilogueOps +=
        std::distance(op.getBlock()->begin(), op.getBlock()->end()) - 1;
    if (view.wholeRows && op.getNumReductionLoops() != 0)
      ++problem.rowReductions;
  }
}

MmaProblem fusion::describeProducts(const ProductView &view) {
  MmaProblem problem;
  setSizes(view, problem);
  for (unsigned side = 0; side < 2; ++side)
    setFactors(view, side, problem);
  setEpilogue(view, problem);
  return problem;
}
