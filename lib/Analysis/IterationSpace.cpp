//===- IterationSpace.cpp - The iteration dimensions of a kernel ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the analysis of a kernel's iteration dimensions: a
// union-find over the loops of operations and the dimensions of tensors.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/IterationSpace.h"
#include "DimUnion.h"

#include "fusion/Analysis/Exchanges.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Analysis/WholeDims.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Support/Counts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;

/// Static number of elements, a dynamic size counted as what it is taken for.
static double approximateSize(RankedTensorType type) {
  double size = 1;
  for (int64_t dim : type.getShape())
    size *= static_cast<double>(ShapedType::isDynamic(dim) ? kRepresentativeSize
                                                           : dim);
  return size;
}

/// Follows views from `tensor` at `coords` to the tensor that they are of.
static Value followViews(Value tensor, SmallVector<AffineExpr> &coords) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      tensor = cast.getSource();
      continue;
    }
    bool expands = isa<tensor::ExpandShapeOp>(op);
    if (!expands && !isa<tensor::CollapseShapeOp>(op))
      break;
    Value source = op->getOperand(0);
    auto wide = cast<RankedTensorType>((expands ? tensor : source).getType());
    // What depends on a dynamic size is no exchange that is recognised.
    auto sizeOf = [&](int64_t i) -> AffineExpr {
      MLIRContext *context = op->getContext();
      return wide.isDynamicDim(i)
                 ? getAffineSymbolExpr(0, context)
                 : getAffineConstantExpr(wide.getDimSize(i), context);
    };
    auto groups =
        expands ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
                : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
    SmallVector<AffineExpr> moved;
    for (auto [dim, group] : llvm::enumerate(groups)) {
      if (expands) {
        AffineExpr coord = getAffineConstantExpr(0, op->getContext());
        for (int64_t i : group)
          coord = coord * sizeOf(i) + coords[i];
        moved.push_back(coord);
        continue;
      }
      AffineExpr rest = coords[dim];
      SmallVector<AffineExpr> parts;
      for (int64_t i : llvm::reverse(group)) {
        parts.push_back(i == group.front() ? rest : rest % sizeOf(i));
        rest = rest.floorDiv(sizeOf(i));
      }
      llvm::append_range(moved, llvm::reverse(parts));
    }
    coords = std::move(moved);
    tensor = source;
  }
  return tensor;
}

void IterationSpace::addExchanges(linalg::LinalgOp op) {
  op->walk([&](tensor::ExtractOp extract) {
    SmallVector<AffineExpr> coords;
    for (Value index : extract.getIndices()) {
      std::optional<AffineExpr> coord = getIndexExpr(op, index);
      if (!coord)
        return;
      coords.push_back(*coord);
    }
    Value base = followViews(extract.getTensor(), coords);
    if (isa<BlockArgument>(base))
      return;
    for (auto [number, coord] : llvm::enumerate(coords)) {
      std::optional<Exchange> exchange =
          matchExchange(coord, [&](unsigned loop) -> std::optional<int64_t> {
            return dims[getDimOfLoop(op, loop)].getStaticExtent();
          });
      if (!exchange)
        continue;
      unsigned id = getDimOfLoop(op, exchange->dim);
      if (id == getDimOfTensor(base, number))
        dims[id].span = std::max(dims[id].span, exchange->getSpan());
    }
  });
}

/// One empty or filled tensor may serve operations that have nothing else in
/// common.
static bool isShared(Value tensor) {
  return isa_and_present<tensor::EmptyOp, linalg::FillOp>(
      tensor.getDefiningOp());
}

/// What is written in place has no coordinates but those of its slice.
static bool isInPlace(Operation *op) {
  return op->getNumResults() == 1 &&
         KernelOp::getStored(op->getResult(0)) != op->getResult(0);
}

//===----------------------------------------------------------------------===//
// Loops and dimensions of tensors as nodes
//===----------------------------------------------------------------------===//

namespace {
/// The loops of a body's operations and the dimensions of its tensors, in
/// classes of those that are one iteration dimension.
class DimNodes {
public:
  using Loop = std::pair<Operation *, unsigned>;

  void addTensor(Value tensor, ArrayRef<AffineExpr> shape) {
    for (auto [dim, size] : llvm::enumerate(shape))
      tensors[{tensor, dim}] = add(tensor.getAsOpaquePointer(), size);
  }
  void addLoop(Operation *op, unsigned loop, AffineExpr extent) {
    loops[{op, loop}] = add(op, extent);
    loopOrder.push_back({op, loop});
  }

  void merge(Value a, unsigned dimA, Value b, unsigned dimB) {
    classes.merge(tensors.lookup({a, dimA}), tensors.lookup({b, dimB}));
  }
  void mergeLoop(Operation *op, unsigned loop, Value tensor, unsigned dim) {
    classes.merge(loops.lookup({op, loop}), tensors.lookup({tensor, dim}));
  }
  /// The same where an element of `tensor` stands for several steps: the size
  /// of the dimension is that of the loop.
  void mergeGranules(Operation *op, unsigned loop, Value tensor, unsigned dim) {
    extents[tensors.lookup({tensor, dim})] = extents[loops.lookup({op, loop})];
    mergeLoop(op, loop, tensor, dim);
  }

  unsigned getNode(Value tensor, unsigned dim) const {
    return tensors.lookup({tensor, dim});
  }
  unsigned getNode(Loop loop) const { return loops.lookup(loop); }
  /// The loops, in the order of the operations.
  ArrayRef<Loop> getLoops() const { return loopOrder; }
  AffineExpr getExtent(unsigned node) const { return extents[node]; }
  /// The node that stands for the class of `node`.
  unsigned getLeader(unsigned node) { return classes.find(node); }

private:
  unsigned add(const void *owner, AffineExpr extent) {
    extents.push_back(extent);
    return classes.add(owner);
  }

  DimUnion<const void *> classes;
  DenseMap<Loop, unsigned> loops;
  DenseMap<std::pair<Value, unsigned>, unsigned> tensors;
  SmallVector<Loop> loopOrder;
  SmallVector<AffineExpr> extents;
};
} // namespace

static LogicalResult addTensor(Value value, SymbolicShapes &shapes,
                               DimNodes &nodes) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() == 0)
    return success();
  FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(value);
  if (failed(shape))
    return failure();
  nodes.addTensor(value, *shape);
  return success();
}

/// Sizes of the loops of `op`, from the operands that they index; fails where
/// no map names a loop directly, which has no size of its own then.
static FailureOr<SmallVector<AffineExpr>>
getLoopExtents(linalg::LinalgOp op, SymbolicShapes &shapes) {
  SmallVector<AffineExpr> extents(op.getNumLoops());
  for (auto [map, operand] :
       llvm::zip(op.getIndexingMapsArray(), op->getOperands())) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(operand);
    if (failed(shape))
      return failure();
    for (auto [size, expr] : llvm::zip(*shape, map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
        // Prefer a static size where operands spell it differently.
        AffineExpr &extent = extents[loop.getPosition()];
        if (!extent || isa<AffineConstantExpr>(size))
          extent = size;
      }
  }
  if (llvm::is_contained(extents, AffineExpr()))
    return failure();
  return extents;
}

//===----------------------------------------------------------------------===//
// What operations have in common with their operands
//===----------------------------------------------------------------------===//

static void relate(linalg::LinalgOp op, DimNodes &nodes) {
  // An element of a result stands for a granule of the loop.
  if (std::optional<Granules> granules = matchGranules(op))
    for (Value result : op->getResults())
      nodes.mergeGranules(op, granules->loop, result, granules->dim);
  auto relateTo = [&](AffineMap map, Value tensor) {
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        nodes.mergeLoop(op, loop.getPosition(), tensor, i);
  };
  // Of a tensor that is also read as an input, in this operation or another,
  // the input's dimensions count for more: two products of the same operands
  // that each add to the other's have the same results' dimensions.
  auto isRead = [](OpOperand &init) {
    return llvm::any_of(init.get().getUses(), [](OpOperand &use) {
      auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
      return user && user.isDpsInput(&use);
    });
  };
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (op.hasPureTensorSemantics())
      relateTo(map, op.getTiedOpResult(&init));
    if (!isShared(init.get()) && !isRead(init))
      relateTo(map, init.get());
  }
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType()))
      relateTo(op.getMatchingIndexingMap(input), input->get());
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!isShared(init.get()) && isRead(init))
      relateTo(op.getMatchingIndexingMap(&init), init.get());
}

static void relate(ScanOp scan, DimNodes &nodes) {
  // What the kernel computes has to run along the dimensions of the scan; an
  // argument may be read at other coordinates, too, such as a square matrix
  // whose transpose is scanned beside it.
  for (bool isArgument : {false, true})
    for (auto [input, result] :
         llvm::zip(scan.getInputs(), scan.getResults())) {
      if (isa<BlockArgument>(input) != isArgument)
        continue;
      int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
      for (int64_t dim = 0; dim < rank; ++dim) {
        nodes.merge(result, dim, scan.getResult(0), dim);
        nodes.merge(result, dim, input, dim);
      }
    }
}

static void relate(tensor::PadOp pad, DimNodes &nodes) {
  for (int64_t dim = 0; dim < pad.getType().getRank(); ++dim)
    if (takesWhole(pad, dim))
      nodes.merge(pad.getResult(), dim, pad.getSource(), dim);
}

static void relate(tensor::ConcatOp concat, DimNodes &nodes) {
  for (Value input : concat.getInputs())
    for (int64_t dim = 0; dim < concat.getResultType().getRank(); ++dim)
      if (dim != static_cast<int64_t>(concat.getDim()))
        nodes.merge(concat.getResult(), dim, input, dim);
}

static void relate(tensor::CastOp op, DimNodes &nodes) {
  int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    nodes.merge(op.getDest(), dim, op.getSource(), dim);
}

static void relate(tensor::ExtractSliceOp slice, SymbolicShapes &shapes,
                   DimNodes &nodes) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  unsigned resultDim = 0;
  for (unsigned dim = 0; dim < dropped.size(); ++dim) {
    if (dropped.test(dim))
      continue;
    if (takesWhole(slice, dim, shapes))
      nodes.merge(slice.getResult(), resultDim, slice.getSource(), dim);
    ++resultDim;
  }
}

static void relate(tensor::InsertSliceOp insert, SymbolicShapes &shapes,
                   DimNodes &nodes) {
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  unsigned sourceDim = 0;
  for (unsigned dim = 0; dim < dropped.size(); ++dim) {
    if (!isShared(insert.getDest()))
      nodes.merge(insert.getResult(), dim, insert.getDest(), dim);
    if (dropped.test(dim))
      continue;
    if (takesWhole(insert, dim, shapes))
      nodes.merge(insert.getResult(), dim, insert.getSource(), sourceDim);
    ++sourceDim;
  }
}

/// Relates the two sides of a reshape, of which `wide` has the dimensions that
/// `groups` make up those of `narrow` from.
static void relateReshaped(Value wide, Value narrow,
                           ArrayRef<ReassociationIndices> groups,
                           DimNodes &nodes) {
  auto type = cast<RankedTensorType>(wide.getType());
  for (auto [dim, group] : llvm::enumerate(groups)) {
    // A group with one dimension of size other than 1 keeps that dimension.
    SmallVector<int64_t> large;
    for (int64_t wideDim : group)
      if (type.isDynamicDim(wideDim) || type.getDimSize(wideDim) != 1)
        large.push_back(wideDim);
    if (large.size() == 1)
      nodes.merge(wide, large.front(), narrow, dim);
  }
}

static void relateToOperands(Operation *op, SymbolicShapes &shapes,
                             DimNodes &nodes) {
  TypeSwitch<Operation *>(op)
      .Case<linalg::LinalgOp, ScanOp, tensor::PadOp, tensor::ConcatOp,
            tensor::CastOp>([&](auto typed) { relate(typed, nodes); })
      .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp>(
          [&](auto slice) { relate(slice, shapes, nodes); })
      .Case([&](tensor::ExpandShapeOp expand) {
        relateReshaped(expand.getResult(), expand.getSrc(),
                       expand.getReassociationIndices(), nodes);
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        relateReshaped(collapse.getSrc(), collapse.getResult(),
                       collapse.getReassociationIndices(), nodes);
      });
}

/// True for a contraction with one result.
static bool isContraction(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 && op.getNumDpsInputs() >= 2 &&
         op->getNumResults() == 1;
}

/// Two contractions of one operand walk their results together where these
/// have equal sizes.
static void relateContractions(Block &block, DimNodes &nodes) {
  SmallVector<linalg::LinalgOp> contractions;
  for (auto op : block.getOps<linalg::LinalgOp>()) {
    if (!isContraction(op))
      continue;
    for (linalg::LinalgOp other : contractions) {
      Value a = other->getResult(0), b = op->getResult(0);
      auto type = cast<RankedTensorType>(a.getType());
      bool shares = llvm::any_of(op.getDpsInputs(), [&](Value input) {
        return isa<RankedTensorType>(input.getType()) &&
               llvm::is_contained(other.getDpsInputs(), input);
      });
      if (!shares ||
          type.getShape() != cast<RankedTensorType>(b.getType()).getShape())
        continue;
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (!type.isDynamicDim(dim))
          nodes.merge(a, dim, b, dim);
    }
    contractions.push_back(op);
  }
}

/// The nodes of `block`, in classes; fails where a size depends on data.
static FailureOr<DimNodes> makeNodes(Block &block, SymbolicShapes &shapes) {
  DimNodes nodes;
  for (BlockArgument argument : block.getArguments())
    if (failed(addTensor(argument, shapes, nodes)))
      return failure();
  for (Operation &op : block) {
    if (isInPlace(&op))
      continue;
    for (Value result : op.getResults())
      if (failed(addTensor(result, shapes, nodes)))
        return failure();
    // A fill has no loops of its own: it is a constant wherever it is read.
    if (isa<linalg::FillOp>(op))
      continue;
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      FailureOr<SmallVector<AffineExpr>> extents =
          getLoopExtents(structured, shapes);
      if (failed(extents))
        return failure();
      for (auto [loop, extent] : llvm::enumerate(*extents))
        nodes.addLoop(&op, loop, extent);
    }
    relateToOperands(&op, shapes, nodes);
  }
  relateContractions(block, nodes);
  return nodes;
}

//===----------------------------------------------------------------------===//
// Numbers of the classes
//===----------------------------------------------------------------------===//

/// The value of largest rank, then of largest static size, then the first.
static unsigned findPrimary(ArrayRef<Value> stored) {
  unsigned primary = 0;
  std::pair<int64_t, double> best{-1, -1};
  for (auto [i, value] : llvm::enumerate(stored)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    std::pair<int64_t, double> own{type.getRank(), approximateSize(type)};
    if (own > best) {
      best = own;
      primary = i;
    }
  }
  return primary;
}

/// Numbers the classes of a body's nodes, each when it is first asked for.
class IterationSpace::Builder {
public:
  Builder(Block &block, DimNodes nodes)
      : block(block), nodes(std::move(nodes)) {}

  IterationSpace build() {
    addResults();
    addLoops();
    addOperands();
    for (auto op : block.getOps<linalg::LinalgOp>())
      space.addExchanges(op);
    for (auto scan : block.getOps<ScanOp>())
      space.dims[space.getDimOfTensor(scan.getResult(0), scan.getAxis())].scan =
          true;
    return std::move(space);
  }

private:
  unsigned number(unsigned node) {
    auto [known, isNew] =
        numbers.try_emplace(nodes.getLeader(node), space.dims.size());
    AffineExpr extent = nodes.getExtent(node);
    if (isNew)
      space.dims.push_back({extent});
    else if (isa<AffineConstantExpr>(extent))
      space.dims[known->second].extent = extent;
    return known->second;
  }

  void addTensor(Value tensor, bool root) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type)
      return;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      unsigned id = number(nodes.getNode(tensor, dim));
      space.tensors[{tensor, dim}] = id;
      space.dims[id].root |= root;
    }
  }

  void addResults() {
    SmallVector<Value> stored = llvm::map_to_vector(
        block.getTerminator()->getOperands(), KernelOp::getStored);
    space.primary = findPrimary(stored);
    if (!stored.empty())
      addTensor(stored[space.primary], /*root=*/true);
    for (Value value : stored)
      addTensor(value, /*root=*/true);
  }

  void addLoops() {
    for (DimNodes::Loop key : nodes.getLoops()) {
      unsigned id = number(nodes.getNode(key));
      space.loops[key] = id;
      auto [op, loop] = key;
      auto structured = cast<linalg::LinalgOp>(op);
      IterationDim &dim = space.dims[id];
      std::optional<Granules> granules = matchGranules(structured);
      if (granules && granules->loop == loop) {
        dim.granule = std::max(dim.granule, granules->size);
        for (Value result : op->getResults())
          space.granules[{result, granules->dim}] = granules->size;
      } else if (structured.getIteratorTypesArray()[loop] ==
                 utils::IteratorType::reduction) {
        dim.reduction = true;
      }
    }
  }

  void addOperands() {
    for (BlockArgument argument : block.getArguments())
      addTensor(argument, /*root=*/false);
    // Empty and filled tensors have no coordinates of their own.
    for (Operation &op : block)
      if (!isa<tensor::EmptyOp, linalg::FillOp>(op) && !isInPlace(&op))
        for (Value result : op.getResults())
          addTensor(result, /*root=*/false);
  }

  Block &block;
  DimNodes nodes;
  IterationSpace space;
  /// By the class's leader.
  DenseMap<unsigned, unsigned> numbers;
};

FailureOr<IterationSpace> IterationSpace::get(Region &body,
                                              SymbolicShapes &shapes) {
  FailureOr<DimNodes> nodes = makeNodes(body.front(), shapes);
  if (failed(nodes))
    return failure();
  return Builder(body.front(), std::move(*nodes)).build();
}
