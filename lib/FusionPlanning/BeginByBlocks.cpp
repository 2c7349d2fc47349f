//===- BeginByBlocks.cpp - Reductions past rows beside those of rows ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reductions past rows that share the kernel of one along
// the rows: a block has many rows one after the other, a granule, and adds them
// up meanwhile. What the blocks have, a light kernel finishes.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/BeginByBlocks.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Support/Counts.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;

/// Tensors looked at on the way from one reduction to another.
static constexpr unsigned kMaxVisited = 64;
/// Rows of a granule, at least: the first sums are a share of the rows' bytes,
/// of which there has to be little on any chip. Whether larger granules pay is
/// a matter of price.
static constexpr int64_t kLeastGranule = 8;

//===----------------------------------------------------------------------===//
// A reduction along the rows
//===----------------------------------------------------------------------===//

/// The loops that the dimensions of a tensor are, by `map`.
static SmallVector<unsigned> getLoops(AffineMap map) {
  return llvm::map_to_vector(map.getResults(), [](AffineExpr expr) {
    return cast<AffineDimExpr>(expr).getPosition();
  });
}

/// Whether `op` reduces along memory, where rows lie, in a tensor whose
/// dimensions are its loops `loops`.
static bool reducesAlongMemory(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  return op.getIteratorTypesArray()[loops.back()] ==
         utils::IteratorType::reduction;
}

namespace {
/// Looks for a reduction along rows of what a reduction past them is computed
/// from: through elementwise operations, up and down.
class RowSearch {
public:
  explicit RowSearch(linalg::LinalgOp op) : op(op) { visitAll(); }

  /// The first that is found, if there is one.
  linalg::LinalgOp getAlong() const { return along; }
  /// `other` is computed from the same.
  bool reaches(linalg::LinalgOp other) const {
    return llvm::any_of(other->getOperands(),
                        [&](Value tensor) { return seen.contains(tensor); });
  }

private:
  /// A tensor, and the loop of `op` that each of its dimensions is.
  struct Place {
    Value tensor;
    SmallVector<unsigned> loops;
  };

  /// The loops of `op` that those of `other` are, whose operand `operand` is at
  /// `place`; none where some are no loops of `op`.
  std::optional<SmallVector<unsigned>>
  bind(linalg::LinalgOp other, OpOperand &operand, const Place &place) const;
  /// Adds the tensors that `other`, whose loops are `loops`, reads or writes.
  void addOperands(linalg::LinalgOp other, ArrayRef<unsigned> loops);
  bool reducesRows(linalg::LinalgOp other, ArrayRef<unsigned> loops) const;

  void visitAll();
  void visit(const Place &place);

  linalg::LinalgOp op, along;
  SmallVector<Place> worklist;
  llvm::SmallPtrSet<Value, 16> seen;
};
} // namespace

std::optional<SmallVector<unsigned>> RowSearch::bind(linalg::LinalgOp other,
                                                     OpOperand &operand,
                                                     const Place &place) const {
  AffineMap map = other.getMatchingIndexingMap(&operand);
  if (!map.isPermutation())
    return std::nullopt;
  SmallVector<unsigned> loops(other.getNumLoops());
  for (auto [expr, loop] : llvm::zip_equal(map.getResults(), place.loops))
    loops[cast<AffineDimExpr>(expr).getPosition()] = loop;
  return loops;
}

void RowSearch::addOperands(linalg::LinalgOp other, ArrayRef<unsigned> loops) {
  auto add = [&](Value tensor, OpOperand &operand) {
    AffineMap map = other.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation() ||
        map.getNumResults() != other.getNumLoops() ||
        seen.size() >= kMaxVisited || !seen.insert(tensor).second)
      return;
    worklist.push_back(
        {tensor, llvm::map_to_vector(getLoops(map), [&](unsigned loop) {
           return loops[loop];
         })});
  };
  for (OpOperand *input : other.getDpsInputOperands())
    add(input->get(), *input);
  if (other.getNumReductionLoops() == 0)
    for (OpOperand &init : other.getDpsInitsMutable())
      add(other.getTiedOpResult(&init), init);
}

bool RowSearch::reducesRows(linalg::LinalgOp other,
                            ArrayRef<unsigned> loops) const {
  if (!isUngroupedReduction(other))
    return false;
  auto own = linalg::LinalgOp(op).getIteratorTypesArray();
  auto kinds = other.getIteratorTypesArray();
  return llvm::all_of(llvm::seq<unsigned>(0, kinds.size()), [&](unsigned loop) {
    return kinds[loop] == utils::IteratorType::parallel ||
           own[loops[loop]] == utils::IteratorType::parallel;
  });
}

/// The reduction along rows that `tensor` is what is left of, if it is one.
static linalg::LinalgOp getReductionOfRows(Value tensor) {
  auto producer = tensor.getDefiningOp<linalg::LinalgOp>();
  if (!producer || !isUngroupedReduction(producer))
    return nullptr;
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  if (!producer.getMatchingIndexingMap(producer.getDpsInitOperand(number))
           .isProjectedPermutation())
    return nullptr;
  bool ofRows =
      llvm::any_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
        AffineMap map = producer.getMatchingIndexingMap(input);
        return map.isPermutation() &&
               reducesAlongMemory(producer, getLoops(map));
      });
  return ofRows ? producer : nullptr;
}

void RowSearch::visit(const Place &place) {
  if (auto producer = place.tensor.getDefiningOp<linalg::LinalgOp>();
      producer && producer.getNumReductionLoops() == 0) {
    unsigned number = cast<OpResult>(place.tensor).getResultNumber();
    if (auto loops = bind(producer, *producer.getDpsInitOperand(number), place))
      addOperands(producer, *loops);
  }
  for (OpOperand &use : place.tensor.getUses()) {
    auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!user || user == op || user->getBlock() != op->getBlock() ||
        !user.isDpsInput(&use))
      continue;
    std::optional<SmallVector<unsigned>> loops = bind(user, use, place);
    if (!loops)
      continue;
    if (user.getNumReductionLoops() == 0)
      addOperands(user, *loops);
    else if (!along && reducesRows(user, *loops))
      along = user;
  }
}

void RowSearch::visitAll() {
  addOperands(op, llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops())));
  while (!worklist.empty()) {
    Place place = worklist.pop_back_val();
    if (!along)
      along = getReductionOfRows(place.tensor);
    if (!reducesAlongMemory(op, place.loops))
      visit(place);
  }
}

//===----------------------------------------------------------------------===//
// Granules
//===----------------------------------------------------------------------===//

/// The granules of loop `loop` of `extent` elements that give `parts` of them,
/// about: many rows are a multiple of what a block takes at a time.
static int64_t getGranule(int64_t extent, double parts) {
  auto size = static_cast<int64_t>(
      std::ceil(static_cast<double>(extent) / std::max(parts, 1.0)));
  int64_t multiple = std::max<int64_t>(llvm::bit_floor<uint64_t>(size / 4), 1);
  return std::max<int64_t>(llvm::alignTo(size, multiple), kLeastGranule);
}

/// How `op`, beside one along `along`, is split: along the loop with which
/// there are as many granules as blocks fill the chip, or the longest.
static SplittableReduction planSplit(linalg::LinalgOp op,
                                     linalg::LinalgOp along,
                                     const TargetInfo &target) {
  double blocks = target.fitted.reductions.granulesPerSM *
                  static_cast<double>(target.numSMs);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  SplittableReduction best;
  double least = 0;
  for (unsigned loop : loops) {
    double others = 1;
    for (unsigned other : loops)
      others *= other == loop ? 1 : static_cast<double>(extents[other]);
    int64_t granule = getGranule(extents[loop], blocks / others);
    auto parts =
        others * static_cast<double>(llvm::divideCeil(extents[loop], granule));
    double distance = std::abs(std::log(parts / blocks));
    if (granule >= extents[loop] || (best.op && distance >= least))
      continue;
    best = {op, loop, granule, along, nullptr};
    least = distance;
  }
  return best;
}

/// Why no block can hold what `along` reduces; none where one can.
static std::optional<ReasonCode> getObstacle(linalg::LinalgOp op,
                                             linalg::LinalgOp along,
                                             const TargetInfo &target) {
  if (op.hasDynamicShape() || along.hasDynamicShape())
    return ReasonCode::UnknownRows;
  int64_t row = 1;
  for (auto [extent, kind] :
       llvm::zip(along.getStaticLoopRanges(), along.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      row = std::min<int64_t>(llvm::SaturatingMultiply<uint64_t>(
                                  row, llvm::bit_ceil<uint64_t>(extent)),
                              int64_t(1) << 40);
  if (row > target.fitted.reductions.granuleRow)
    return ReasonCode::RowTooLong;
  return std::nullopt;
}

std::vector<BlockReductions>
mlir::fusion::findBlockReductions(FunctionOpInterface func,
                                  const TargetInfo &target) {
  std::vector<BlockReductions> found;
  std::vector<RowSearch> searches;
  for (auto op : func.getFunctionBody().front().getOps<linalg::LinalgOp>()) {
    if (!isUngroupedReduction(op) || !isDivisible(op))
      continue;
    RowSearch search(op);
    linalg::LinalgOp along = search.getAlong();
    if (!along)
      continue;
    std::optional<ReasonCode> obstacle = getObstacle(op, along, target);
    SplittableReduction part;
    part.op = op;
    if (!obstacle)
      part = planSplit(op, along, target);
    if (!part.op)
      continue;
    // One that is left would read the tensor as before.
    unsigned same = 0;
    for (; same < found.size(); ++same) {
      linalg::LinalgOp first = found[same].parts.front().op;
      if (searches[same].reaches(op) && found[same].forbidden == obstacle &&
          first.getStaticLoopRanges() == op.getStaticLoopRanges() &&
          first.getIteratorTypesArray() == op.getIteratorTypesArray())
        break;
    }
    if (same == found.size()) {
      found.push_back({{}, along, obstacle});
      searches.push_back(std::move(search));
    }
    found[same].parts.push_back(part);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

static Operation *splitAll(const BlockReductions &reductions) {
  Operation *first = nullptr;
  for (const SplittableReduction &part : reductions.parts) {
    Operation *made = splitReduction(part);
    first = first ? first : made;
  }
  return first;
}

/// True when `plan` puts `op`, in granules, into a kernel with a reduction that
/// is not.
static bool isBesideRows(Operation *op, const ComputeGraph &graph,
                         const FusionPlan &plan) {
  return isBeside(op, graph, plan, [](const GraphNode &node) {
    return node.kind == NodeKind::Reduction && node.granuleLoop < 0;
  });
}

PricedRewrite mlir::fusion::getBlockRewrite(const TargetInfo &target) {
  PricedRewrite rewrite;
  rewrite.find = [&target](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (BlockReductions &reductions : findBlockReductions(func, target)) {
      linalg::LinalgOp op = reductions.parts.front().op;
      matches.push_back({getOpLabel(reductions.along, NodeKind::Reduction),
                         getOpLabel(op, NodeKind::Reduction), op,
                         [reductions]() { return splitAll(reductions); },
                         reductions.along, reductions.forbidden});
    }
    return matches;
  };
  rewrite.reason = ReasonCode::BegunByBlocks;
  // Kernels that read one tensor start together; one that finishes comes after.
  rewrite.mostTime = target.fitted.kernels.finishedShare;
  rewrite.isServed = isBesideRows;
  rewrite.showsRefused = rewrite.showsUnserved = true;
  return rewrite;
}
