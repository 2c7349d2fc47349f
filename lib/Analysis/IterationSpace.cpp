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

#include "fusion/Analysis/Exchanges.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Analysis/WholeDims.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Union-find whose classes hold at most one node of each owner.
class DimUnion {
public:
  unsigned add(const void *owner) {
    parent.push_back(parent.size());
    owners.push_back({owner});
    return parent.size() - 1;
  }

  unsigned find(unsigned node) {
    while (parent[node] != node)
      node = parent[node] = parent[parent[node]];
    return node;
  }

  /// Merges two classes unless an owner would then be in the class twice.
  void merge(unsigned a, unsigned b) {
    a = find(a);
    b = find(b);
    if (a == b)
      return;
    if (owners[a].size() < owners[b].size())
      std::swap(a, b);
    for (const void *owner : owners[b])
      if (owners[a].contains(owner))
        return;
    for (const void *owner : owners[b])
      owners[a].insert(owner);
    owners[b].clear();
    parent[b] = a;
  }

private:
  SmallVector<unsigned> parent;
  SmallVector<llvm::SmallPtrSet<const void *, 8>> owners;
};
} // namespace

/// Static number of elements, a dynamic size counted as 1024.
static double approximateSize(RankedTensorType type) {
  double size = 1;
  for (int64_t dim : type.getShape())
    size *= ShapedType::isDynamic(dim) ? 1024.0 : static_cast<double>(dim);
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

FailureOr<IterationSpace> IterationSpace::get(Region &body,
                                              SymbolicShapes &shapes) {
  IterationSpace space;
  DimUnion classes;
  DenseMap<std::pair<Operation *, unsigned>, unsigned> loopNodes;
  DenseMap<std::pair<Value, unsigned>, unsigned> tensorNodes;
  SmallVector<AffineExpr> extents;
  Block &block = body.front();

  auto addTensor = [&](Value value) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() == 0)
      return success();
    FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(value);
    if (failed(shape))
      return failure();
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      tensorNodes[{value, dim}] = classes.add(value.getAsOpaquePointer());
      extents.push_back((*shape)[dim]);
    }
    return success();
  };
  auto mergeDims = [&](Value a, unsigned dimA, Value b, unsigned dimB) {
    classes.merge(tensorNodes.lookup({a, dimA}), tensorNodes.lookup({b, dimB}));
  };

  for (BlockArgument argument : block.getArguments())
    if (failed(addTensor(argument)))
      return failure();
  SmallVector<std::pair<Operation *, unsigned>> loopOrder;
  for (Operation &op : block) {
    if (isInPlace(&op))
      continue;
    for (Value result : op.getResults())
      if (failed(addTensor(result)))
        return failure();
    // A fill has no loops of its own: it is a constant wherever it is read.
    if (isa<linalg::FillOp>(op))
      continue;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      SmallVector<AffineMap> maps = linalgOp.getIndexingMapsArray();
      SmallVector<AffineExpr> loopExtents(linalgOp.getNumLoops());
      for (auto [map, operand] : llvm::zip(maps, linalgOp->getOperands())) {
        if (!isa<RankedTensorType>(operand.getType()))
          continue;
        FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(operand);
        if (failed(shape))
          return failure();
        for (auto [i, expr] : llvm::enumerate(map.getResults()))
          if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
            // Prefer a static size where operands spell it differently.
            AffineExpr &extent = loopExtents[loop.getPosition()];
            if (!extent || isa<AffineConstantExpr>((*shape)[i]))
              extent = (*shape)[i];
          }
      }
      for (unsigned loop = 0; loop < linalgOp.getNumLoops(); ++loop) {
        // A loop that no map names directly has no size of its own.
        if (!loopExtents[loop])
          return failure();
        loopNodes[{&op, loop}] = classes.add(&op);
        loopOrder.push_back({&op, loop});
        extents.push_back(loopExtents[loop]);
      }
      // An element of a result stands for a granule of the loop.
      std::optional<Granules> granules = matchGranules(linalgOp);
      if (granules)
        for (Value result : linalgOp->getResults()) {
          unsigned node = tensorNodes.lookup({result, granules->dim});
          extents[node] = loopExtents[granules->loop];
          classes.merge(loopNodes.lookup({&op, granules->loop}), node);
          space.granules[{result, granules->dim}] = granules->size;
        }
      auto unify = [&](AffineMap map, Value tensor) {
        for (auto [i, expr] : llvm::enumerate(map.getResults()))
          if (auto loop = dyn_cast<AffineDimExpr>(expr))
            classes.merge(loopNodes.lookup({&op, loop.getPosition()}),
                          tensorNodes.lookup({tensor, i}));
      };
      for (OpOperand &init : linalgOp.getDpsInitsMutable()) {
        AffineMap map = linalgOp.getMatchingIndexingMap(&init);
        if (linalgOp.hasPureTensorSemantics())
          unify(map, linalgOp.getTiedOpResult(&init));
        if (!isShared(init.get()))
          unify(map, init.get());
      }
      for (OpOperand *input : linalgOp.getDpsInputOperands())
        if (isa<RankedTensorType>(input->get().getType()))
          unify(linalgOp.getMatchingIndexingMap(input), input->get());
      continue;
    }
    if (auto scan = dyn_cast<ScanOp>(op)) {
      for (auto [input, result] :
           llvm::zip(scan.getInputs(), scan.getResults())) {
        int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
        for (int64_t dim = 0; dim < rank; ++dim) {
          mergeDims(result, dim, input, dim);
          mergeDims(result, dim, scan.getResult(0), dim);
        }
      }
      continue;
    }
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      for (int64_t dim = 0; dim < pad.getType().getRank(); ++dim)
        if (takesWhole(pad, dim))
          mergeDims(pad.getResult(), dim, pad.getSource(), dim);
    } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      for (Value input : concat.getInputs())
        for (int64_t dim = 0; dim < concat.getResultType().getRank(); ++dim)
          if (dim != static_cast<int64_t>(concat.getDim()))
            mergeDims(concat.getResult(), dim, input, dim);
    } else if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      int64_t rank = mlir::cast<RankedTensorType>(cast.getType()).getRank();
      for (int64_t dim = 0; dim < rank; ++dim)
        mergeDims(cast.getDest(), dim, cast.getSource(), dim);
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      llvm::SmallBitVector dropped = slice.getDroppedDims();
      unsigned resultDim = 0;
      for (unsigned dim = 0; dim < dropped.size(); ++dim) {
        if (dropped.test(dim))
          continue;
        if (takesWhole(slice, dim, shapes))
          mergeDims(slice.getResult(), resultDim, slice.getSource(), dim);
        ++resultDim;
      }
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      llvm::SmallBitVector dropped = insert.getDroppedDims();
      unsigned sourceDim = 0;
      for (unsigned dim = 0; dim < dropped.size(); ++dim) {
        if (!isShared(insert.getDest()))
          mergeDims(insert.getResult(), dim, insert.getDest(), dim);
        if (dropped.test(dim))
          continue;
        if (takesWhole(insert, dim, shapes))
          mergeDims(insert.getResult(), dim, insert.getSource(), sourceDim);
        ++sourceDim;
      }
    } else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      bool expand = isa<tensor::ExpandShapeOp>(op);
      Value wide = expand ? op.getResult(0) : op.getOperand(0);
      Value narrow = expand ? op.getOperand(0) : op.getResult(0);
      auto groups =
          expand
              ? mlir::cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
              : mlir::cast<tensor::CollapseShapeOp>(op)
                    .getReassociationIndices();
      auto wideType = mlir::cast<RankedTensorType>(wide.getType());
      for (auto [dim, group] : llvm::enumerate(groups)) {
        // A group with one dimension of size other than 1 keeps that dimension.
        SmallVector<int64_t> large;
        for (int64_t wideDim : group)
          if (wideType.isDynamicDim(wideDim) ||
              wideType.getDimSize(wideDim) != 1)
            large.push_back(wideDim);
        if (large.size() == 1)
          mergeDims(wide, large.front(), narrow, dim);
      }
    }
  }

  // Two contractions of one operand walk their results together where these
  // have equal sizes.
  SmallVector<linalg::LinalgOp> contractions;
  for (auto op : block.getOps<linalg::LinalgOp>()) {
    if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() < 2 ||
        op->getNumResults() != 1)
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
          mergeDims(a, dim, b, dim);
    }
    contractions.push_back(op);
  }

  // Number the classes.
  DenseMap<unsigned, unsigned> numbers;
  auto number = [&](unsigned node) {
    unsigned leader = classes.find(node);
    auto [it, inserted] = numbers.try_emplace(leader, space.dims.size());
    if (inserted)
      space.dims.push_back({extents[node]});
    IterationDim &dim = space.dims[it->second];
    if (isa<AffineConstantExpr>(extents[node]))
      dim.extent = extents[node];
    return it->second;
  };
  SmallVector<Value> stored = llvm::map_to_vector(
      block.getTerminator()->getOperands(), KernelOp::getStored);
  double best = -1;
  int64_t bestRank = -1;
  for (auto [i, value] : llvm::enumerate(stored)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    double size = approximateSize(type);
    if (type.getRank() > bestRank ||
        (type.getRank() == bestRank && size > best)) {
      bestRank = type.getRank();
      best = size;
      space.primary = i;
    }
  }
  auto numberTensor = [&](Value value, bool root) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      unsigned id = number(tensorNodes.lookup({value, dim}));
      space.tensors[{value, dim}] = id;
      space.dims[id].root |= root;
    }
  };
  if (!stored.empty())
    numberTensor(stored[space.primary], true);
  for (Value value : stored)
    numberTensor(value, true);
  for (auto &[op, loop] : loopOrder) {
    unsigned id = number(loopNodes.lookup({op, loop}));
    space.loops[{op, loop}] = id;
    std::optional<Granules> granules =
        matchGranules(cast<linalg::LinalgOp>(op));
    if (granules && granules->loop == loop)
      space.dims[id].granule = std::max(space.dims[id].granule, granules->size);
    else if (cast<linalg::LinalgOp>(op).getIteratorTypesArray()[loop] ==
             utils::IteratorType::reduction)
      space.dims[id].reduction = true;
  }
  for (BlockArgument argument : block.getArguments())
    numberTensor(argument, false);
  // Empty and filled tensors have no coordinates of their own.
  for (Operation &op : block)
    if (!isa<tensor::EmptyOp, linalg::FillOp>(op) && !isInPlace(&op))
      for (Value result : op.getResults())
        numberTensor(result, false);
  for (auto op : block.getOps<linalg::LinalgOp>())
    space.addExchanges(op);
  for (auto scan : block.getOps<ScanOp>())
    space.dims[space.getDimOfTensor(scan.getResult(0), scan.getAxis())].scan =
        true;
  return space;
}
