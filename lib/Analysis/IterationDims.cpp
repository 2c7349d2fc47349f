//===- IterationDims.cpp - The dimensions that nodes walk together --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the iteration dimensions of a set of nodes: a union-find
// over the loops of nodes and the dimensions of tensors, whose classes are then
// numbered.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/IterationDims.h"

#include "fusion/Analysis/Cascades.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Union-find over loops and tensor dimensions, whose classes hold at most one
/// slot of each owner.
class DimUnion {
public:
  /// Adds a slot of `owner`, of so many elements; returns it.
  unsigned add(unsigned owner, int64_t extent) {
    slots.push_back({static_cast<unsigned>(slots.size()), extent, {}});
    slots.back().owners.insert(owner);
    return slots.size() - 1;
  }

  unsigned find(unsigned slot) {
    while (slots[slot].parent != slot)
      slot = slots[slot].parent = slots[slots[slot].parent].parent;
    return slot;
  }
  int64_t getExtent(unsigned slot) { return slots[find(slot)].extent; }

  /// Merges two classes unless an owner would then be in the class twice.
  void merge(unsigned a, unsigned b) {
    a = find(a);
    b = find(b);
    if (a == b)
      return;
    if (slots[a].owners.size() < slots[b].owners.size())
      std::swap(a, b);
    for (unsigned owner : slots[b].owners)
      if (slots[a].owners.contains(owner))
        return;
    for (unsigned owner : slots[b].owners)
      slots[a].owners.insert(owner);
    slots[b].owners.clear();
    slots[b].parent = a;
  }

private:
  struct Slot {
    unsigned parent;
    int64_t extent;
    llvm::SmallDenseSet<unsigned, 4> owners;
  };
  std::vector<Slot> slots;
};
} // namespace

namespace mlir::fusion {
class IterationDimsBuilder {
public:
  IterationDimsBuilder(const ComputeGraph &graph, ArrayRef<unsigned> nodes,
                       ArrayRef<unsigned> stored)
      : graph(graph), nodes(nodes), stored(stored) {}

  IterationDims build();

private:
  void addNode(unsigned index);
  void addRead(unsigned index, const TensorRead &read);
  void findNeeded();
  SmallVector<unsigned> findLast() const;
  bool isKeptLater(unsigned node, unsigned value, unsigned dim) const;
  void addView(unsigned value);
  bool needOne(unsigned a, unsigned b) const;
  void mergeSiblings();

  unsigned number(unsigned slot);
  void note(unsigned dim, int64_t extent, bool isDynamic);
  unsigned numberLoop(unsigned index, unsigned loop);
  SmallVector<unsigned> getLoops(unsigned node, const TensorRead *read);
  SmallVector<unsigned> getClassesOf(unsigned value);
  void numberRoles(unsigned value);
  void numberResult(unsigned value);
  void numberResults();
  void numberTensors();

  /// First of the slots that `owner` has for dimensions of `shape`.
  unsigned addSlots(unsigned owner, ArrayRef<int64_t> shape);
  /// The slots of the dimensions of the tensor `value`.
  unsigned getValueSlots(unsigned value);
  /// The tensor `value` comes from one of the nodes.
  bool isInside(unsigned value) const {
    int producer = graph.getValue(graph.getBase(value)).producer;
    return producer >= 0 && llvm::binary_search(nodes, producer);
  }
  /// Where `node`, one of the nodes, is among them.
  unsigned getPlace(unsigned node) const {
    return llvm::lower_bound(nodes, node) - nodes.begin();
  }
  const ComputeGraph &graph;
  ArrayRef<unsigned> nodes;
  ArrayRef<unsigned> stored;
  /// See `findNeeded`.
  SmallVector<llvm::SmallBitVector> needed;
  /// See `findLast`.
  SmallVector<unsigned> last;
  DimUnion classes;
  /// First slot of each node's loops, and of each tensor's dimensions.
  SmallVector<unsigned> loopSlots;
  llvm::MapVector<unsigned, unsigned> valueSlots;
  /// By the class's representative.
  DenseMap<unsigned, unsigned> numbers;
  IterationDims dims;
};
} // namespace mlir::fusion

//===----------------------------------------------------------------------===//
// Classes of loops and dimensions
//===----------------------------------------------------------------------===//

unsigned IterationDimsBuilder::addSlots(unsigned owner,
                                        ArrayRef<int64_t> shape) {
  unsigned first = 0;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    unsigned slot = classes.add(owner, extent);
    if (dim == 0)
      first = slot;
  }
  return first;
}

unsigned IterationDimsBuilder::getValueSlots(unsigned value) {
  auto [it, isNew] = valueSlots.try_emplace(value, 0);
  // Owners: nodes have their number, tensors one beyond all nodes.
  if (isNew)
    it->second =
        addSlots(graph.getNodes().size() + value, graph.getValue(value).shape);
  return it->second;
}

/// Finds which contractions each node needs at any distance: of each place
/// among the nodes, the places. Nothing with less than two contractions.
void IterationDimsBuilder::findNeeded() {
  auto contracts = [&](unsigned node) {
    return graph.getNode(node).kind == NodeKind::Contraction;
  };
  if (llvm::count_if(nodes, contracts) < 2)
    return;
  for (unsigned node : nodes) {
    llvm::SmallBitVector own(nodes.size());
    for (const TensorRead &read : graph.getNode(node).reads) {
      if (!isInside(read.value))
        continue;
      unsigned producer = graph.getValue(graph.getBase(read.value)).producer;
      unsigned place = getPlace(producer);
      own |= needed[place];
      if (contracts(producer))
        own.set(place);
    }
    needed.push_back(std::move(own));
  }
}

/// The contractions that need another one.
SmallVector<unsigned> IterationDimsBuilder::findLast() const {
  SmallVector<unsigned> found;
  for (auto [node, others] : llvm::zip(nodes, needed))
    if (graph.getNode(node).kind == NodeKind::Contraction && others.any())
      found.push_back(node);
  return found;
}

/// True when dimension `dim` of `value`, which contraction `node` contracts, is
/// one of the result of a contraction that needs what such give: keys are
/// contracted with queries and then weighed by the gradients of scores. It is
/// all there for each element of that result.
bool IterationDimsBuilder::isKeptLater(unsigned node, unsigned value,
                                       unsigned dim) const {
  return llvm::any_of(last, [&](unsigned later) {
    const GraphNode &info = graph.getNode(later);
    return later > node &&
           llvm::any_of(info.reads, [&](const TensorRead &read) {
             if (read.value != value)
               return false;
             auto loop = dyn_cast<AffineDimExpr>(read.coords[dim]);
             return loop && !info.reduced[loop.getPosition()];
           });
  });
}

/// Relates the loops of the `index`-th node to what they read.
void IterationDimsBuilder::addRead(unsigned index, const TensorRead &read) {
  unsigned first = loopSlots[index];
  const GraphNode &node = graph.getNode(nodes[index]);
  SmallVector<AffineExpr> coords(read.coords);
  if (node.kind == NodeKind::Contraction && !isInside(read.value))
    for (auto [dim, coord] : llvm::enumerate(coords))
      if (auto loop = dyn_cast<AffineDimExpr>(coord))
        if (node.reduced[loop.getPosition()] &&
            isKeptLater(nodes[index], read.value, dim))
          coord = getAffineSymbolExpr(0, graph.getContext());
  // A loop over a part of a dimension is not that dimension, nor one that a
  // view makes of it.
  for (unsigned dim : read.parts)
    coords[dim] = getAffineSymbolExpr(0, graph.getContext());
  auto relate = [&](unsigned value, ArrayRef<AffineExpr> at) {
    unsigned slots = getValueSlots(value);
    for (auto [dim, coord] : llvm::enumerate(at))
      if (auto loop = dyn_cast<AffineDimExpr>(coord))
        classes.merge(first + loop.getPosition(), slots + dim);
  };
  // A view of a tensor computed inside is looked through; one of a tensor from
  // outside is taken before the kernel.
  if (graph.getValue(read.value).viewOf >= 0 && isInside(read.value))
    relate(graph.getBase(read.value), graph.toBase(read.value, coords));
  relate(read.value, coords);
}

void IterationDimsBuilder::addNode(unsigned index) {
  const GraphNode &node = graph.getNode(nodes[index]);
  unsigned first = addSlots(nodes[index], node.extents);
  loopSlots.push_back(first);
  for (const TensorWrite &write : node.writes) {
    if (node.inPlace)
      continue;
    unsigned slots = getValueSlots(write.value);
    for (auto [dim, loop] : llvm::enumerate(write.loops))
      if (loop >= 0 && loop != node.granuleLoop)
        classes.merge(first + loop, slots + dim);
  }
  for (const TensorRead &read : node.reads)
    addRead(index, read);
}

/// Relates the dimensions of a view that is stored to those of what it is of.
void IterationDimsBuilder::addView(unsigned value) {
  const GraphValue &view = graph.getValue(value);
  if (view.viewOf < 0)
    return;
  addView(view.viewOf);
  unsigned own = getValueSlots(value), base = getValueSlots(view.viewOf);
  for (auto [dim, coord] : llvm::enumerate(view.viewCoords))
    if (auto same = dyn_cast<AffineDimExpr>(coord))
      classes.merge(own + same.getPosition(), base + dim);
}

/// True when contractions `a` and `b` both need a third one.
bool IterationDimsBuilder::needOne(unsigned a, unsigned b) const {
  return needed[getPlace(a)].anyCommon(needed[getPlace(b)]);
}

/// Two contractions of one operand, or of what a third one gives, walk their
/// results together where these have equal sizes; so do products of a single
/// row, which are no contractions to planning, along that row.
void IterationDimsBuilder::mergeSiblings() {
  // Views of one tensor from outside are operands of their own.
  auto getInputs = [&](unsigned node) {
    llvm::SmallDenseSet<unsigned, 4> inputs;
    for (const TensorRead &read : graph.getNode(node).reads)
      inputs.insert(isInside(read.value) ? graph.getBase(read.value)
                                         : read.value);
    return inputs;
  };
  SmallVector<unsigned> earlier;
  for (unsigned node : nodes) {
    const GraphNode &info = graph.getNode(node);
    auto op = dyn_cast<linalg::LinalgOp>(info.op);
    if (!op || !sumsProducts(op) || info.writes.size() != 1)
      continue;
    for (unsigned other : earlier) {
      auto inputs = getInputs(other);
      bool contract = info.kind == NodeKind::Contraction &&
                      graph.getNode(other).kind == NodeKind::Contraction;
      bool share = llvm::any_of(getInputs(node), [&](unsigned input) {
        return inputs.contains(input);
      });
      if (!share && !(contract && needOne(node, other)))
        continue;
      unsigned a = graph.getNode(other).writes.front().value;
      unsigned b = info.writes.front().value;
      auto aType = cast<RankedTensorType>(graph.getValue(a).ssa.getType());
      auto bType = cast<RankedTensorType>(graph.getValue(b).ssa.getType());
      if (aType.getShape() != bType.getShape())
        continue;
      for (auto [dim, size] : llvm::enumerate(aType.getShape()))
        if (contract ? !ShapedType::isDynamic(size) : size == 1)
          classes.merge(getValueSlots(a) + dim, getValueSlots(b) + dim);
    }
    earlier.push_back(node);
  }
}

//===----------------------------------------------------------------------===//
// Numbers of the classes
//===----------------------------------------------------------------------===//

unsigned IterationDimsBuilder::number(unsigned slot) {
  auto [known, isNew] =
      numbers.try_emplace(classes.find(slot), dims.extents.size());
  if (isNew) {
    dims.extents.push_back(classes.getExtent(slot));
    dims.dynamic.push_back(true);
  }
  return known->second;
}

/// Dimension `dim` has so many elements somewhere.
void IterationDimsBuilder::note(unsigned dim, int64_t extent, bool isDynamic) {
  // One known size is enough.
  if (isDynamic || !dims.dynamic[dim])
    return;
  dims.dynamic[dim] = false;
  dims.extents[dim] = extent;
}

unsigned IterationDimsBuilder::numberLoop(unsigned index, unsigned loop) {
  const GraphNode &node = graph.getNode(nodes[index]);
  unsigned dim = number(loopSlots[index] + loop);
  note(dim, node.extents[loop], node.dynamic[loop]);
  return dim;
}

void IterationDimsBuilder::numberResult(unsigned value) {
  const GraphValue &info = graph.getValue(value);
  SmallVector<int> loops(info.shape.size(), -1);
  unsigned index = 0;
  bool inPlace = false;
  if (info.producer >= 0) {
    index = getPlace(info.producer);
    const GraphNode &node = graph.getNode(info.producer);
    inPlace = node.inPlace;
    loops = llvm::find_if(node.writes, [&](const TensorWrite &write) {
              return write.value == value;
            })->loops;
  }
  auto type = cast<RankedTensorType>(info.ssa.getType());
  for (auto [dim, loop] : llvm::enumerate(loops)) {
    if (loop >= 0)
      numberLoop(index, loop);
    else if (!inPlace)
      note(number(getValueSlots(value) + dim), info.shape[dim],
           type.isDynamicDim(dim));
  }
}

/// True when `read` of a contraction is of a factor: what sums begin with does
/// not run along what is contracted.
static bool isOfFactor(const GraphNode &node, const TensorRead &read) {
  return llvm::any_of(read.coords, [&](AffineExpr coord) {
    for (auto [loop, isReduced] : llvm::enumerate(node.reduced))
      if (isReduced && coord.isFunctionOfDim(loop))
        return true;
    return false;
  });
}

/// The loops of contraction `node` that of its factors only the one that `read`
/// reads runs along, or, without one, several do, in the order of its result.
SmallVector<unsigned> IterationDimsBuilder::getLoops(unsigned node,
                                                     const TensorRead *read) {
  const GraphNode &info = graph.getNode(node);
  SmallVector<unsigned> loops;
  for (int loop : info.writes.front().loops) {
    auto runsAlong = [&](const TensorRead &one) {
      return isOfFactor(info, one) &&
             llvm::is_contained(one.coords,
                                getAffineDimExpr(loop, graph.getContext()));
    };
    if (loop < 0)
      continue;
    unsigned count = llvm::count_if(info.reads, runsAlong);
    if (read ? count == 1 && runsAlong(*read) : count > 1)
      loops.push_back(loop);
  }
  return loops;
}

/// The classes of the loops that make `value`, and of the dimensions that no
/// loop of its producer makes, in the order of its dimensions.
SmallVector<unsigned> IterationDimsBuilder::getClassesOf(unsigned value) {
  const GraphValue &info = graph.getValue(value);
  if (info.producer < 0 || graph.getNode(info.producer).inPlace)
    return {};
  unsigned index = llvm::lower_bound(nodes, info.producer) - nodes.begin();
  const GraphNode &node = graph.getNode(info.producer);
  const auto *write = llvm::find_if(
      node.writes, [&](const TensorWrite &one) { return one.value == value; });
  SmallVector<unsigned> result;
  for (auto [dim, loop] : llvm::enumerate(write->loops))
    result.push_back(classes.find(loop >= 0 ? loopSlots[index] + loop
                                            : getValueSlots(value) + dim));
  return result;
}

/// Numbers the dimensions of `value` by what they are to the kernel's
/// contractions: the batch first, whatever order results are stored in, and
/// several dimensions of rows, or of columns, in the order of the contraction.
void IterationDimsBuilder::numberRoles(unsigned value) {
  SmallVector<unsigned> order = getClassesOf(value);
  unsigned numBatch = 0;
  for (auto [index, id] : llvm::enumerate(nodes)) {
    const GraphNode &node = graph.getNode(id);
    if (node.kind != NodeKind::Contraction)
      continue;
    auto getClasses = [&, first = loopSlots[index]](ArrayRef<unsigned> loops) {
      return llvm::map_to_vector(
          loops, [&](unsigned loop) { return classes.find(first + loop); });
    };
    SmallVector<unsigned> batch = getClasses(getLoops(id, nullptr));
    for (unsigned place = numBatch; place < order.size(); ++place)
      if (llvm::is_contained(batch, order[place]))
        std::rotate(order.begin() + numBatch++, order.begin() + place,
                    order.begin() + place + 1);
    for (const TensorRead &read : node.reads) {
      SmallVector<unsigned> own = getClasses(getLoops(id, &read));
      llvm::erase_if(
          own, [&](unsigned dim) { return !llvm::is_contained(order, dim); });
      const unsigned *next = own.begin();
      for (unsigned &dim : order)
        if (llvm::is_contained(own, dim))
          dim = *next++;
    }
  }
  for (unsigned dim : order)
    number(dim);
}

void IterationDimsBuilder::numberResults() {
  // Of an output that is written in place the kernel has a slice.
  auto size = [&](unsigned value) {
    const GraphValue &info = graph.getValue(value);
    bool inPlace = info.producer >= 0 && graph.getNode(info.producer).inPlace;
    ArrayRef<int64_t> shape =
        inPlace ? graph.getNode(info.producer).extents : info.shape;
    double elements = 1;
    for (int64_t extent : shape)
      elements *= static_cast<double>(extent);
    return std::pair(shape.size(), elements);
  };
  const unsigned *primary = stored.begin();
  for (const unsigned &value : stored)
    if (size(value) > size(*primary))
      primary = &value;
  if (primary != stored.end()) {
    numberRoles(*primary);
    numberResult(*primary);
  }
  llvm::for_each(stored, [&](unsigned value) { numberResult(value); });
}

void IterationDimsBuilder::numberTensors() {
  for (auto [value, slots] : valueSlots)
    for (unsigned dim = 0; dim < graph.getValue(value).shape.size(); ++dim)
      if (auto known = numbers.find(classes.find(slots + dim));
          known != numbers.end())
        dims.tensors[{value, dim}] = known->second;
  // An element of a result may stand for a granule of the loop.
  for (auto [index, id] : llvm::enumerate(nodes)) {
    const GraphNode &node = graph.getNode(id);
    for (const TensorWrite &write : node.writes)
      for (auto [dim, loop] : llvm::enumerate(write.loops))
        if (loop >= 0 && loop == node.granuleLoop)
          dims.tensors[{write.value, dim}] = dims.loops[index][loop];
  }
}

/// True for a contraction of images with what is multiplied with their windows
/// where the images keep their channels, which are last: all other dimensions
/// run along something that is contracted.
static bool contractsPlaces(const GraphNode &node) {
  auto isReduced = [&](AffineExpr coord) {
    for (auto [loop, reduced] : llvm::enumerate(node.reduced))
      if (reduced && coord.isFunctionOfDim(loop))
        return true;
    return false;
  };
  return node.kind == NodeKind::Contraction &&
         llvm::any_of(node.reads, [&](const TensorRead &read) {
           ArrayRef<AffineExpr> coords = read.coords;
           return coords.size() > 2 && !isReduced(coords.back()) &&
                  llvm::all_of(coords.drop_back(), isReduced) &&
                  !llvm::all_of(coords, llvm::IsaPred<AffineDimExpr>);
         });
}

IterationDims IterationDimsBuilder::build() {
  findNeeded();
  last = findLast();
  for (unsigned index = 0; index < nodes.size(); ++index)
    addNode(index);
  llvm::for_each(stored, [&](unsigned value) { addView(value); });
  mergeSiblings();
  numberResults();
  // One walk runs through the places of windows.
  for (auto [index, id] : llvm::enumerate(nodes)) {
    const GraphNode &node = graph.getNode(id);
    for (unsigned loop = 0; loop < node.extents.size(); ++loop)
      if (node.reduced[loop] && contractsPlaces(node))
        numberLoop(index, loop);
  }
  for (auto [index, node] : llvm::enumerate(nodes)) {
    SmallVector<unsigned> &loops = dims.loops.emplace_back();
    for (unsigned loop = 0; loop < graph.getNode(node).extents.size(); ++loop)
      loops.push_back(numberLoop(index, loop));
  }
  numberTensors();
  return std::move(dims);
}

//===----------------------------------------------------------------------===//
// IterationDims
//===----------------------------------------------------------------------===//

IterationDims IterationDims::get(const ComputeGraph &graph,
                                 ArrayRef<unsigned> nodes,
                                 ArrayRef<unsigned> stored) {
  return IterationDimsBuilder(graph, nodes, stored).build();
}

std::optional<unsigned> IterationDims::findDimOfTensor(unsigned value,
                                                       unsigned dim) const {
  auto known = tensors.find({value, dim});
  if (known == tensors.end())
    return std::nullopt;
  return known->second;
}
