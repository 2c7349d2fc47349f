//===- FusionLegality.cpp - What may be one kernel ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rules on kernel bodies. A block owns a tile of the
// dimensions that the results keep; what it needs must be computable from that
// tile without other blocks.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/FusionLegality.h"
#include "fusion/Analysis/CascadeBody.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Analysis/ScanTiles.h"
#include "fusion/Dialect/Fusion/FusionOps.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Which kinds of reduction a value depends on, itself not counted.
struct Ancestry {
  bool reduction = false;
  bool contraction = false;
  bool scan = false;
};
} // namespace

static SmallVector<Ancestry> getAncestry(const KernelBody &body) {
  SmallVector<Ancestry> result(body.getInstances().size());
  for (auto [i, instance] : llvm::enumerate(body.getInstances()))
    for (unsigned producer : instance.producers) {
      NodeKind kind = body.getNode(body.getInstances()[producer]).kind;
      const Ancestry &above = result[producer];
      result[i].reduction |= above.reduction || kind == NodeKind::Reduction;
      result[i].contraction |=
          above.contraction || kind == NodeKind::Contraction;
      result[i].scan |= above.scan || kind == NodeKind::Scan;
    }
  return result;
}

/// `'label'` of the node of `instance`.
static std::string quote(const KernelBody &body, const BodyInstance &instance) {
  return "'" + body.getNode(instance).label + "'";
}

static std::string quoteOutput(const KernelBody &body,
                               const BodyOutput &output) {
  return quote(body, body.getInstances()[output.instance]);
}

FusionDecision mlir::fusion::checkPointwiseBody(const KernelBody &body) {
  // Blocks own tiles of one set of dimensions; a result with fewer would be
  // written by several blocks.
  const BodyOutput &first = body.getOutputs().front();
  for (const BodyOutput &output : body.getOutputs())
    if (output.mask != first.mask)
      return FusionDecision::no(ReasonCode::IterationMismatch,
                                quoteOutput(body, first) + " and " +
                                    quoteOutput(body, output));
  for (const BodyInstance &instance : body.getInstances())
    if (instance.mask & ~first.mask)
      return FusionDecision::no(ReasonCode::ExtraDimension,
                                quote(body, instance));
  return FusionDecision::yes();
}

/// The dimension that `instance` reduces in granules, if there is one.
static DimMask getDivided(const KernelBody &body,
                          const BodyInstance &instance) {
  int loop = body.getNode(instance).granuleLoop;
  return loop < 0 ? 0 : body.getMask(instance.loops[loop]);
}

/// Dimensions that a block holds whole where others are divided into granules:
/// in each step of its walk it reduces along them.
static DimMask getHeld(const KernelBody &body) {
  DimMask held = 0, divided = 0;
  for (const BodyInstance &instance : body.getInstances()) {
    DimMask own = getDivided(body, instance);
    divided |= own;
    held |= own ? 0 : body.getReducedMask(instance);
  }
  return divided ? held : 0;
}

/// A block has one granule of the divided dimension, of which it walks the rows
/// a few at a time, and gives what it adds up over them to others to finish.
static FusionDecision checkGranules(const KernelBody &body) {
  const BodyInstance *first = nullptr;
  for (const BodyInstance &instance : body.getInstances()) {
    for (unsigned producer : instance.producers)
      if (getDivided(body, body.getInstances()[producer]))
        return FusionDecision::no(ReasonCode::ReductionCoordinates,
                                  quote(body, instance));
    DimMask divided = getDivided(body, instance);
    if (!divided)
      continue;
    if (!first)
      first = &instance;
    if (divided != getDivided(body, *first) ||
        body.getNode(instance).granule != body.getNode(*first).granule)
      return FusionDecision::no(ReasonCode::GranulesDiffer,
                                quote(body, *first) + " and " +
                                    quote(body, instance));
  }
  for (unsigned dim = 0; dim < body.getExtents().size(); ++dim)
    if ((getHeld(body) >> dim & 1) && !body.isStatic(dim))
      return FusionDecision::no(ReasonCode::UnknownRows, quote(body, *first));
  return FusionDecision::yes();
}

/// The reduction that says which dimensions blocks own. Those in granules may
/// keep more.
static const BodyInstance *findRoot(const KernelBody &body) {
  const BodyInstance *root = nullptr;
  for (const BodyInstance &instance : body.getInstances())
    if (body.getNode(instance).kind != NodeKind::Pointwise &&
        (!root || (getDivided(body, *root) && !getDivided(body, instance))))
      root = &instance;
  return root;
}

/// Elements of the dimensions `held` that a block has in each step of a scan,
/// at most: lanes of a warp share them.
static constexpr double kMostHeld = 512;

static double countHeld(const KernelBody &body, DimMask held) {
  double elements = 1;
  for (auto [dim, extent] : llvm::enumerate(body.getExtents()))
    if (held >> dim & 1)
      elements *= static_cast<double>(
          llvm::PowerOf2Ceil(static_cast<uint64_t>(extent)));
  return elements;
}

namespace {
/// A scan whose results are reduced in each of its steps.
struct ReducedScan {
  const BodyInstance *scan = nullptr, *reduction = nullptr;
  /// The dimension that is walked, and those that reductions have.
  DimMask scanned = 0, held = 0;
};
} // namespace

/// Finds the scan of `body`, and what its reductions run along, which has to be
/// the same for all.
static FusionDecision findReducedScan(const KernelBody &body,
                                      ReducedScan &found) {
  for (const BodyInstance &instance : body.getInstances()) {
    const GraphNode &node = body.getNode(instance);
    if (node.kind == NodeKind::Pointwise)
      continue;
    bool isScan = node.kind == NodeKind::Scan;
    if ((isScan && found.scan) || node.granuleLoop >= 0)
      return FusionDecision::no(ReasonCode::ScanWithReduction,
                                quote(body, instance));
    DimMask own = body.getReducedMask(instance);
    if (!isScan && found.reduction && own != found.held)
      return FusionDecision::no(ReasonCode::ReductionMismatch,
                                quote(body, *found.reduction) + " and " +
                                    quote(body, instance));
    (isScan ? found.scan : found.reduction) = &instance;
    (isScan ? found.scanned : found.held) = own;
  }
  return FusionDecision::yes();
}

/// Whether threads can walk what `found` scans element by element, and reduce
/// what they have of each.
static bool canReduceInSteps(const KernelBody &body, const ReducedScan &found) {
  // What is reduced along the scanned dimension waits for all of it.
  if ((found.held & found.scanned) || (found.held & ~found.scan->mask) ||
      countHeld(body, found.held) > kMostHeld)
    return false;
  std::optional<int64_t> length;
  for (auto [dim, extent] : llvm::enumerate(body.getExtents())) {
    if ((found.held >> dim & 1) && !body.isStatic(dim))
      return false;
    if ((found.scanned >> dim & 1) && body.isStatic(dim))
      length = static_cast<int64_t>(extent);
  }
  return mayWalkInOrder(cast<ScanOp>(body.getNode(*found.scan).op), length);
}

/// A result that misses one of the dimensions `outer`, which blocks own because
/// of `owner`, would be written by several blocks.
static FusionDecision checkOwned(const KernelBody &body,
                                 const BodyInstance &owner, DimMask outer) {
  for (const BodyOutput &output : body.getOutputs())
    if (outer & ~output.mask)
      return FusionDecision::no(ReasonCode::IterationMismatch,
                                quote(body, owner) + " and " +
                                    quoteOutput(body, output));
  return FusionDecision::yes();
}

static FusionDecision checkReducedScan(const KernelBody &body) {
  ReducedScan found;
  if (FusionDecision same = findReducedScan(body, found); !same)
    return same;
  if (!canReduceInSteps(body, found))
    return FusionDecision::no(ReasonCode::ScanWithReduction,
                              quote(body, *found.reduction));
  // Blocks own what the scan and all results have.
  DimMask inside = found.scanned | found.held;
  DimMask outer = found.scan->mask & ~inside;
  if (FusionDecision owned = checkOwned(body, *found.scan, outer); !owned)
    return owned;
  for (const BodyInstance &instance : body.getInstances())
    if (instance.mask & ~(outer | inside))
      return FusionDecision::no(ReasonCode::ExtraDimension,
                                quote(body, instance));
  return FusionDecision::yes();
}

FusionDecision mlir::fusion::checkRowBody(const KernelBody &body) {
  if (body.has(NodeKind::Scan) && body.has(NodeKind::Reduction))
    return checkReducedScan(body);
  SmallVector<Ancestry> ancestry = getAncestry(body);
  ArrayRef<BodyInstance> instances = body.getInstances();
  if (FusionDecision granules = checkGranules(body); !granules)
    return granules;
  // What a reduction keeps is owned by the block, or, of one in granules, held
  // whole, since others reduce it in each step.
  const BodyInstance *root = findRoot(body);
  DimMask outer = root->outerMask, held = getHeld(body);
  unsigned numScans = 0;
  for (auto [i, instance] : llvm::enumerate(instances)) {
    NodeKind kind = body.getNode(instance).kind;
    if (kind == NodeKind::Pointwise)
      continue;
    numScans += kind == NodeKind::Scan ? 1 : 0;
    if (numScans > 1)
      return FusionDecision::no(ReasonCode::ScanWithReduction,
                                quote(body, instance));
    DimMask kept = instance.outerMask;
    if (DimMask divided = getDivided(body, instance))
      kept &= outer | divided | ~held;
    if (kept == outer)
      continue;
    // Blocks that share a row cannot agree on its reduction within one kernel.
    return FusionDecision::no(
        ancestry[i].reduction ? ReasonCode::NestedReduction
                              : ReasonCode::ReductionMismatch,
        quote(body, *root) + " and " + quote(body, instance));
  }

  for (const BodyInstance &instance : instances) {
    DimMask beyond = instance.mask & ~outer;
    if (!beyond)
      continue;
    // Every other dimension is one that a reduction walks.
    bool walked = llvm::any_of(instances, [&](const BodyInstance &other) {
      return body.getNode(other).kind != NodeKind::Pointwise &&
             !(beyond & ~body.getReducedMask(other));
    });
    if (!walked)
      return FusionDecision::no(ReasonCode::ExtraDimension,
                                quote(body, instance));
  }
  return checkOwned(body, *root, outer);
}

/// The dimension that the results of `contraction` are contiguous along, when a
/// tile can hold all of it; else none.
static DimMask getWholeRow(const KernelBody &body,
                           const BodyInstance &contraction) {
  const GraphNode &node = body.getNode(contraction);
  int loop = node.writes.front().loops.back();
  if (loop < 0 || node.extents[loop] > kMaxPanelRow)
    return 0;
  auto type = cast<RankedTensorType>(
      body.getGraph().getValue(node.writes.front().value).ssa.getType());
  if (ShapedType::isDynamic(type.getShape().back()))
    return 0;
  return body.getMask(contraction.loops[loop]);
}

/// True when the offsets by which the rows of `contraction` are in groups are
/// computed in the kernel.
static bool computesOffsets(const KernelBody &body,
                            const BodyInstance &contraction) {
  const ComputeGraph &graph = body.getGraph();
  const GraphNode &node = body.getNode(contraction);
  auto op = dyn_cast<linalg::LinalgOp>(node.op);
  std::optional<GroupedSum> sum = op ? matchGroupedSum(op) : std::nullopt;
  auto groups = sum ? sum->groups.getDefiningOp<RowGroupsOp>() : RowGroupsOp();
  if (!groups)
    return false;
  return llvm::any_of(node.reads, [&](const TensorRead &read) {
    int producer = graph.getValue(graph.getBase(read.value)).producer;
    return graph.getValue(read.value).ssa == groups.getOffsets() &&
           producer >= 0 && llvm::is_contained(body.getNodes(), producer);
  });
}

FusionDecision mlir::fusion::checkContractionBody(const KernelBody &body) {
  SmallVector<Ancestry> ancestry = getAncestry(body);
  ArrayRef<BodyInstance> instances = body.getInstances();
  const BodyInstance *root =
      llvm::find_if(instances, [&](const BodyInstance &instance) {
        return body.getNode(instance).kind == NodeKind::Contraction;
      });
  // Tiles of warpgroups and of warps have up to so many elements along an axis.
  constexpr int64_t kMaxSpan = 256;
  for (unsigned dim = 0; dim < body.getExtents().size(); ++dim)
    if (body.getSpan(dim) > kMaxSpan)
      return FusionDecision::no(ReasonCode::ExchangeOfContraction,
                                quote(body, *root) + ", among each " +
                                    std::to_string(body.getSpan(dim)) +
                                    " elements");
  DimMask row = getWholeRow(body, *root), reducedRow = 0;
  for (auto [i, instance] : llvm::enumerate(instances)) {
    switch (body.getNode(instance).kind) {
    case NodeKind::Pointwise:
      break;
    case NodeKind::Scan:
      return FusionDecision::no(ReasonCode::ScanWithReduction,
                                quote(body, instance));
    case NodeKind::Contraction:
      if (ancestry[i].reduction)
        return FusionDecision::no(ReasonCode::ContractionOfReduction,
                                  quote(body, instance));
      if (computesOffsets(body, instance))
        return FusionDecision::no(ReasonCode::ComputedOffsets,
                                  quote(body, instance));
      if (instance.outerMask != root->outerMask)
        return FusionDecision::no(ReasonCode::ReductionMismatch,
                                  quote(body, *root) + " and " +
                                      quote(body, instance));
      break;
    case NodeKind::Reduction: {
      // Each tile of the product reduces its own granules.
      if (body.getNode(instance).granuleLoop >= 0 &&
          instance.outerMask == root->outerMask)
        break;
      // A tile that has whole rows reduces them, or the blocks that have them
      // do it together.
      if (ancestry[i].contraction && row &&
          body.getReducedMask(instance) == row &&
          instance.outerMask == (root->outerMask & ~row)) {
        reducedRow = row;
        break;
      }
      bool feeds = llvm::any_of(llvm::seq<unsigned>(i + 1, instances.size()),
                                [&](unsigned later) {
                                  return body.getNode(instances[later]).kind ==
                                             NodeKind::Contraction &&
                                         ancestry[later].reduction;
                                });
      ReasonCode code = ancestry[i].contraction
                            ? ReasonCode::ReductionOfContraction
                        : feeds ? ReasonCode::ContractionOfReduction
                                : ReasonCode::ContractionWithReduction;
      return FusionDecision::no(code, quote(body, instance));
    }
    }
  }

  for (auto [i, instance] : llvm::enumerate(instances)) {
    if (body.getNode(instance).kind == NodeKind::Contraction)
      continue;
    // Before a contraction, operands may have its reduced dimensions; after
    // it, only the tile of the result is there.
    DimMask allowed = root->outerMask;
    if (!ancestry[i].contraction)
      allowed |= body.getReducedMask();
    if (instance.mask & ~allowed)
      return FusionDecision::no(ReasonCode::ExtraDimension,
                                quote(body, instance));
  }
  for (const BodyOutput &output : body.getOutputs())
    if ((output.mask | reducedRow) != root->outerMask)
      return FusionDecision::no(ReasonCode::IterationMismatch,
                                quote(body, *root) + " and " +
                                    quoteOutput(body, output));
  return FusionDecision::yes();
}

static ReasonCode getReason(CascadeProblem problem) {
  switch (problem) {
  case CascadeProblem::None:
    break;
  case CascadeProblem::Form:
  case CascadeProblem::SeveralWalks:
    return ReasonCode::ContractionChain;
  case CascadeProblem::Dimensions:
    return ReasonCode::CascadeDimensions;
  case CascadeProblem::NoRepair:
    return ReasonCode::NoRepair;
  case CascadeProblem::ComputedOperand:
    return ReasonCode::ComputedOperand;
  case CascadeProblem::LookedUpRows:
    return ReasonCode::LookedUpRows;
  case CascadeProblem::StoredSteps:
    return ReasonCode::StoredSteps;
  }
  llvm_unreachable("no problem has no reason");
}

/// Whether `node` adds up `output` along dimensions that do not vary with
/// `walked`: of walks, one element of several.
static bool reducesWalks(const GraphNode &node, const BodyOutput &output,
                         unsigned walked) {
  if (node.kind != NodeKind::Reduction)
    return false;
  return llvm::any_of(node.reads, [&](const TensorRead &read) {
    if (read.value != output.value)
      return false;
    for (auto [own, coord] : llvm::zip_equal(read.coords, output.coords)) {
      auto loop = dyn_cast<AffineDimExpr>(own);
      if (coord.isFunctionOfDim(walked) &&
          (!loop || node.reduced[loop.getPosition()]))
        return false;
    }
    return true;
  });
}

bool mlir::fusion::isLeftBySteps(const KernelBody &body,
                                 const BodyOutput &output,
                                 const CascadeBody &cascade) {
  const ComputeGraph &graph = body.getGraph();
  const GraphValue &value = graph.getValue(output.value);
  return value.escapes || llvm::any_of(value.readers, [&](unsigned reader) {
           return !llvm::is_contained(body.getNodes(), reader) &&
                  reducesWalks(graph.getNode(reader), output, cascade.walked);
         });
}

FusionDecision mlir::fusion::checkCascadeBody(const KernelBody &body) {
  CascadeBody cascade = analyzeCascade(body);
  for (const BodyOutput &output : body.getOutputs())
    if (cascade.storesSteps && (output.mask & cascade.reduced) &&
        !isLeftBySteps(body, output, cascade))
      return FusionDecision::no(getReason(CascadeProblem::StoredSteps),
                                quoteOutput(body, output));
  if (cascade.problem == CascadeProblem::None)
    return FusionDecision::yes();
  return FusionDecision::no(getReason(cascade.problem),
                            quote(body, body.getInstances()[cascade.culprit]));
}

FusionDecision mlir::fusion::checkBody(const KernelBody &body,
                                       const KernelLimits &limits) {
  if (body.getNodes().size() > limits.maxOps)
    return FusionDecision::no(ReasonCode::OpLimit,
                              std::to_string(body.getNodes().size()) +
                                  " ops, the limit is " +
                                  std::to_string(limits.maxOps));
  std::string culprit =
      "'" + body.getGraph().getNode(body.getProblemNode()).label + "'";
  switch (body.getProblem()) {
  case BodyProblem::None:
    break;
  case BodyProblem::TooManyDims:
    return FusionDecision::no(ReasonCode::TooManyDims);
  case BodyProblem::TooManyInstances:
    return FusionDecision::no(ReasonCode::RecomputeLimit, culprit);
  case BodyProblem::ReductionCoordinates:
    return FusionDecision::no(ReasonCode::ReductionCoordinates, culprit);
  case BodyProblem::ReadInPlace:
    return FusionDecision::no(ReasonCode::ReadInPlace, culprit);
  }
  unsigned operands = body.getNumInputTensors() + body.getOutputs().size();
  if (operands > limits.maxOperands)
    return FusionDecision::no(ReasonCode::OperandLimit,
                              std::to_string(operands) +
                                  " tensors, the limit is " +
                                  std::to_string(limits.maxOperands));
  auto contractions =
      llvm::count_if(body.getInstances(), [&](const BodyInstance &instance) {
        return body.getNode(instance).kind == NodeKind::Contraction;
      });
  if (contractions > limits.maxContractions)
    return FusionDecision::no(ReasonCode::AccumulatorLimit,
                              std::to_string(contractions) +
                                  " contractions, the limit is " +
                                  std::to_string(limits.maxContractions));
  if (hasCascade(body))
    return checkCascadeBody(body);
  if (contractions)
    return checkContractionBody(body);
  if (body.has(NodeKind::Reduction) || body.has(NodeKind::Scan))
    return checkRowBody(body);
  return checkPointwiseBody(body);
}
