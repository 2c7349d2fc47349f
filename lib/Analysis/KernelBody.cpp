//===- KernelBody.cpp - What a set of nodes computes as a kernel ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the analysis of a set of nodes as one kernel: the
// coordinates at which every value is needed are found along the iteration
// dimensions that the nodes share, from the stored values back to the inputs.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/KernelBody.h"
#include "fusion/Analysis/Exchanges.h"
#include "fusion/Analysis/IterationDims.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::fusion;

namespace mlir::fusion {
class KernelBodyBuilder {
public:
  KernelBodyBuilder(KernelBody &body, const ComputeGraph &graph,
                    ArrayRef<unsigned> stored)
      : body(body), graph(graph), stored(stored) {}

  void build();

private:
  void setDims();
  void evaluate();
  void setSweeps();

  void addInstances(unsigned index);
  void addReads(unsigned instance);
  /// The parts of dimensions that the instance wants `read` in.
  SmallVector<BodyPart, 0> getParts(unsigned instance,
                                    const TensorRead &read) const;
  void findProducts();
  /// Writes coordinates that are a dimension as that dimension. Where the value
  /// comes from a product, so are those that exchange elements of it: its tile
  /// has both.
  void straighten(SmallVectorImpl<AffineExpr> &coords, bool isOfProduct);
  void addOutputs(unsigned node, unsigned naturalInstance);
  /// The tensor `value`, or a view of it, is stored.
  bool isStored(unsigned value) const {
    return llvm::any_of(
        stored, [&](unsigned id) { return graph.getBase(id) == value; });
  }
  bool isInside(unsigned node) const { return localIndex.contains(node); }
  void fail(BodyProblem problem, unsigned node) {
    if (body.problem != BodyProblem::None)
      return;
    body.problem = problem;
    body.problemNode = node;
  }

  KernelBody &body;
  const ComputeGraph &graph;
  ArrayRef<unsigned> stored;
  DenseMap<unsigned, unsigned> localIndex;
  /// The iteration dimension of each loop of each node.
  SmallVector<SmallVector<AffineExpr>> natural;
  /// Places at which a node's loops are needed, and who needs them.
  struct Demand {
    SmallVector<AffineExpr> loops;
    SmallVector<unsigned> users;
    SmallVector<BodyPart, 0> parts;
  };
  std::vector<SmallVector<Demand, 1>> demands;
  /// The nodes that are contractions or computed from some.
  llvm::SmallBitVector fromProducts;
};
} // namespace mlir::fusion

//===----------------------------------------------------------------------===//
// KernelBody
//===----------------------------------------------------------------------===//

double mlir::fusion::getShare(ArrayRef<BodyPart> parts, DimMask mask) {
  double share = 1;
  for (const BodyPart &part : parts)
    if (part.dim ? mask >> *part.dim & 1 : mask != 0)
      share *= part.share;
  return share;
}

double KernelBody::getPoints(DimMask mask) const {
  double points = 1;
  for (; mask; mask &= mask - 1)
    points *= extents[llvm::countr_zero(mask)];
  return points;
}

DimMask KernelBody::getMask(AffineExpr expr) const {
  DimMask mask = 0;
  auto addDim = [&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      mask |= (DimMask(1) << dim.getPosition()) & ~units;
  };
  if (isa<AffineDimExpr, AffineConstantExpr>(expr))
    addDim(expr);
  else
    expr.walk(addDim);
  return mask;
}

double KernelBody::getStoredElements(const BodyOutput &output) const {
  double product = 1;
  for (int64_t size : output.shape)
    product *= static_cast<double>(size);
  return product;
}

bool KernelBody::has(NodeKind kind) const {
  return llvm::any_of(
      nodes, [&](unsigned node) { return graph->getNode(node).kind == kind; });
}

/// Dimensions of the results of contractions.
static DimMask getProductMask(const KernelBody &body) {
  DimMask kept = 0;
  for (const BodyInstance &instance : body.getInstances())
    if (body.getNode(instance).kind == NodeKind::Contraction)
      kept |= instance.outerMask;
  return kept;
}

bool KernelBody::reducesProduct() const {
  return getProductMask(*this) & reducedMask;
}

bool KernelBody::recomputes(bool copiesPad) const {
  bool contracts = has(NodeKind::Contraction);
  DimMask contracted = reducedMask & ~getProductMask(*this);
  return llvm::any_of(instances, [&](const BodyInstance &instance) {
    const GraphNode &node = getNode(instance);
    if (node.kind != NodeKind::Pointwise || node.perPoint.isFree())
      return false;
    if (contracts && copiesPad && isa<tensor::PadOp>(node.op))
      return false;
    return !instance.natural || (contracts && (instance.mask & contracted));
  });
}

KernelBody KernelBody::get(const ComputeGraph &graph, ArrayRef<unsigned> nodes,
                           ArrayRef<unsigned> stored) {
  KernelBody body;
  body.graph = &graph;
  body.nodes.assign(nodes.begin(), nodes.end());
  KernelBodyBuilder(body, graph, stored).build();
  return body;
}

KernelBody KernelBody::getWhole(const ComputeGraph &graph) {
  return get(graph,
             llvm::to_vector(llvm::seq<unsigned>(0, graph.getNodes().size())),
             graph.getResults());
}

/// Names the loops of each node by their iteration dimensions.
void KernelBodyBuilder::setDims() {
  IterationDims dims = IterationDims::get(graph, body.nodes, stored);
  for (auto [dim, extent] : llvm::enumerate(dims.getExtents())) {
    if (extent == 1 && dim < 64)
      body.units |= DimMask(1) << dim;
    // What is empty is priced as one element.
    body.extents.push_back(std::max<double>(extent, 1));
    body.dynamic.push_back(dims.getDynamic()[dim]);
  }
  for (unsigned index = 0; index < body.nodes.size(); ++index)
    natural.push_back(
        llvm::map_to_vector(dims.getLoops(index), [&](unsigned dim) {
          return getAffineDimExpr(dim, graph.getContext());
        }));
  if (body.extents.size() > 64)
    fail(BodyProblem::TooManyDims, body.nodes.back());
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

void KernelBodyBuilder::evaluate() {
  // Consumers before producers, so that all demands on a node are known.
  demands.resize(body.nodes.size());
  for (unsigned index = body.nodes.size(); index-- > 0;) {
    addInstances(index);
    if (body.problem != BodyProblem::None)
      return;
  }
  // Producers first from here on.
  unsigned last = body.instances.size() - 1;
  std::reverse(body.instances.begin(), body.instances.end());
  for (BodyInstance &instance : body.instances)
    for (unsigned &producer : instance.producers)
      producer = last - producer;
  for (BodyAccess &access : body.inputs)
    access.instance = last - access.instance;
  for (BodyOutput &output : body.outputs)
    output.instance = last - output.instance;
}

void KernelBodyBuilder::addInstances(unsigned index) {
  unsigned node = body.nodes[index];
  const GraphNode &info = graph.getNode(node);
  SmallVector<Demand, 1> &wanted = demands[index];

  // A stored value, and one that nobody inside needs, is evaluated along the
  // node's own dimensions.
  bool stores = llvm::any_of(info.writes, [&](const TensorWrite &write) {
    return isStored(write.value);
  });
  unsigned naturalIndex = wanted.size();
  for (auto [i, demand] : llvm::enumerate(wanted))
    if (demand.loops == natural[index])
      naturalIndex = i;
  if (naturalIndex == wanted.size() && (stores || wanted.empty()))
    wanted.push_back({natural[index], {}, {}});
  if (wanted.size() > KernelBody::kMaxInstancesPerNode)
    return fail(BodyProblem::TooManyInstances, node);

  for (auto [i, demand] : llvm::enumerate(wanted)) {
    BodyInstance instance;
    instance.node = node;
    instance.natural = demand.loops == natural[index];
    instance.loops = std::move(demand.loops);
    if (!stores || i != naturalIndex)
      instance.parts = std::move(demand.parts);
    for (auto [l, expr] : llvm::enumerate(instance.loops)) {
      DimMask mask = body.getMask(expr);
      instance.mask |= mask;
      if (!info.reduced[l] && static_cast<int>(l) != info.scanned)
        instance.outerMask |= mask;
    }
    if (info.kind != NodeKind::Pointwise) {
      if (!instance.natural)
        return fail(BodyProblem::ReductionCoordinates, node);
      body.reducedMask |= instance.mask & ~instance.outerMask;
    }
    unsigned id = body.instances.size();
    body.instances.push_back(std::move(instance));
    for (unsigned user : demand.users)
      body.instances[user].producers.push_back(id);
    if (stores && i == naturalIndex)
      addOutputs(node, id);
    addReads(id);
    if (body.problem != BodyProblem::None)
      return;
  }
}

void KernelBodyBuilder::addOutputs(unsigned node, unsigned naturalInstance) {
  const BodyInstance &instance = body.instances[naturalInstance];
  for (const TensorWrite &write : graph.getNode(node).writes) {
    if (!isStored(write.value))
      continue;
    BodyOutput output;
    output.value = write.value;
    output.instance = naturalInstance;
    const GraphNode &info = graph.getNode(node);
    output.shape =
        info.inPlace ? info.extents : graph.getValue(write.value).shape;
    for (int loop : write.loops) {
      output.coords.push_back(
          loop >= 0 ? instance.loops[loop]
                    : getAffineConstantExpr(0, graph.getContext()));
      if (loop >= 0 && loop == info.granuleLoop)
        output.coords.back() = output.coords.back().floorDiv(info.granule);
      output.mask |= body.getMask(output.coords.back());
    }
    body.outputs.push_back(std::move(output));
  }
}

void KernelBodyBuilder::findProducts() {
  fromProducts.resize(body.nodes.size());
  for (auto [index, node] : llvm::enumerate(body.nodes)) {
    const GraphNode &info = graph.getNode(node);
    bool derived = info.kind == NodeKind::Contraction;
    for (unsigned producer : graph.getProducers(node))
      derived |=
          isInside(producer) && fromProducts.test(localIndex.lookup(producer));
    fromProducts[index] = derived;
  }
}

void KernelBodyBuilder::straighten(SmallVectorImpl<AffineExpr> &coords,
                                   bool isOfProduct) {
  for (AffineExpr &coord : coords) {
    if (!isa<AffineBinaryOpExpr>(coord))
      continue;
    std::optional<Exchange> exchange = matchExchange(coord, [&](unsigned dim) {
      return static_cast<int64_t>(body.extents[dim]);
    });
    if (!exchange || (exchange->mask && !isOfProduct))
      continue;
    coord = getAffineDimExpr(exchange->dim, graph.getContext());
    int64_t &span = body.spans[exchange->dim];
    span = std::max(span, exchange->getSpan());
  }
}

/// The part of a dimension that `instance` wants `read` in, if there is one.
static std::optional<BodyPart> getPart(const KernelBody &body,
                                       const BodyInstance &instance,
                                       const TensorRead &read) {
  if (!read.joined)
    return std::nullopt;
  AffineExpr coord = instance.loops[read.joined->loop];
  int64_t shift = 0;
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(coord);
      sum && sum.getKind() == AffineExprKind::Add &&
      isa<AffineConstantExpr>(sum.getRHS())) {
    coord = sum.getLHS();
    shift = cast<AffineConstantExpr>(sum.getRHS()).getValue();
  }
  auto dim = dyn_cast<AffineDimExpr>(coord);
  if (!dim)
    return std::nullopt;
  double all = std::max(1.0, body.getExtents()[dim.getPosition()]);
  auto size = static_cast<double>(read.joined->end - read.joined->begin);
  return BodyPart{dim.getPosition(), read.joined->begin - shift,
                  read.joined->end - shift, std::min(1.0, size / all)};
}

SmallVector<BodyPart, 0>
KernelBodyBuilder::getParts(unsigned id, const TensorRead &read) const {
  SmallVector<BodyPart, 0> parts = body.instances[id].parts;
  std::optional<BodyPart> part = getPart(body, body.instances[id], read);
  if (!part)
    return parts;
  // A part of a part.
  auto *outer = llvm::find_if(
      parts, [&](const BodyPart &other) { return other.dim == part->dim; });
  if (outer == parts.end())
    parts.push_back(*part);
  else
    *outer = *part;
  return parts;
}

/// Demands what the instance reads, or records it as an input.
void KernelBodyBuilder::addReads(unsigned id) {
  const GraphNode &info = graph.getNode(body.instances[id].node);
  for (const TensorRead &read : info.reads) {
    SmallVector<AffineExpr> coords =
        composeCoords(read.coords, body.instances[id].loops);
    if (std::optional<BodyPart> part = getPart(body, body.instances[id], read))
      body.instances[id].joined.push_back(*part);
    unsigned base = graph.getBase(read.value);
    int producer = graph.getValue(base).producer;
    if (producer < 0 || !isInside(producer)) {
      straighten(coords, /*isOfProduct=*/false);
      BodyAccess access;
      access.value = read.value;
      access.shape = graph.getValue(read.value).shape;
      access.instance = id;
      for (AffineExpr coord : coords)
        access.mask |= body.getMask(coord);
      access.coords = std::move(coords);
      access.parts = getParts(id, read);
      body.inputs.push_back(std::move(access));
      continue;
    }
    if (graph.getNode(producer).inPlace)
      return fail(BodyProblem::ReadInPlace, producer);
    coords = graph.toBase(read.value, coords);
    unsigned index = localIndex.lookup(producer);
    straighten(coords, fromProducts.test(index));
    const GraphNode &source = graph.getNode(producer);
    const TensorWrite *write = llvm::find_if(
        source.writes, [&](const TensorWrite &w) { return w.value == base; });
    // Loops that the result does not have are the producer's own.
    SmallVector<AffineExpr> loops = natural[index];
    for (auto [d, loop] : llvm::enumerate(write->loops)) {
      if (loop < 0 || source.extents[loop] == 1)
        continue;
      if (loop != source.granuleLoop)
        loops[loop] = coords[d];
      // An element may need the granule that it lies in; others may be in other
      // tiles.
      else if (coords[d] != loops[loop].floorDiv(source.granule))
        return fail(BodyProblem::ReductionCoordinates, producer);
    }
    auto *same = llvm::find_if(demands[index], [&](const Demand &demand) {
      return demand.loops == loops;
    });
    if (same == demands[index].end()) {
      // Bounded here as well: demands multiply from node to node.
      if (demands[index].size() >= KernelBody::kMaxInstancesPerNode)
        return fail(BodyProblem::TooManyInstances, producer);
      demands[index].push_back({std::move(loops), {id}, getParts(id, read)});
      continue;
    }
    if (!llvm::is_contained(same->users, id))
      same->users.push_back(id);
    // Who is wanted in several parts is priced as if wanted in all.
    if (same->parts != getParts(id, read))
      same->parts.clear();
  }
}

/// Counts the sweeps over reduced dimensions and finds who is needed in which.
void KernelBodyBuilder::setSweeps() {
  for (BodyInstance &instance : body.instances)
    for (unsigned producer : instance.producers) {
      const BodyInstance &source = body.instances[producer];
      bool reduces = body.getNode(source).kind != NodeKind::Pointwise;
      instance.level =
          std::max(instance.level, source.level + (reduces ? 1u : 0u));
    }
  auto bit = [](unsigned level) { return uint64_t(1) << std::min(level, 63u); };
  for (const BodyOutput &output : body.outputs)
    body.instances[output.instance].sweeps |=
        bit(body.instances[output.instance].level);
  for (BodyInstance &instance : llvm::reverse(body.instances)) {
    if (body.getNode(instance).kind != NodeKind::Pointwise)
      instance.sweeps = bit(instance.level);
    for (unsigned producer : instance.producers)
      body.instances[producer].sweeps |= instance.sweeps;
  }
}

void KernelBodyBuilder::build() {
  for (auto [index, node] : llvm::enumerate(body.nodes))
    localIndex[node] = index;
  setDims();
  if (body.problem != BodyProblem::None)
    return;
  body.spans.assign(body.extents.size(), 1);
  findProducts();
  evaluate();
  if (body.problem != BodyProblem::None)
    return;
  setSweeps();
  llvm::SmallDenseSet<unsigned, 8> tensors;
  for (const BodyAccess &access : body.inputs)
    tensors.insert(access.value);
  body.numInputTensors = tensors.size();
}
