//===- ComputeGraph.h - The ops of a function as a graph --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the graph of tensor computations that planning works on:
// nodes with loops, and the tensors that they read and write through maps.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_COMPUTEGRAPH_H
#define FUSION_ANALYSIS_COMPUTEGRAPH_H

#include "fusion/Analysis/OpCosts.h"
#include "fusion/Support/Counts.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace mlir::linalg {
class LinalgOp;
} // namespace mlir::linalg

namespace mlir::fusion {

struct GraphOptions {
  /// Stands for a dynamic size in every price; at least 2, because a size of 1
  /// says that there is no loop. It never guards anything.
  int64_t representativeSize = kRepresentativeSize;
};

/// How a node computes.
enum class NodeKind {
  /// Each result element on its own.
  Pointwise,
  /// Some loops are reduced.
  Reduction,
  /// A reduction of products in which two operands each miss a loop of the
  /// result that the other has: a matrix product or a convolution.
  Contraction,
  /// Elements depend on those before them along one loop.
  Scan
};

StringRef stringifyNodeKind(NodeKind kind);

/// One read of a tensor by a node. Each coordinate is an affine expression of
/// the node's loops (dims). A coordinate known only at run time is a symbol of
/// its own plus the loops it depends on.
struct TensorRead {
  unsigned value;
  SmallVector<AffineExpr> coords;
  /// Dimensions with the coordinate of a loop that walks only a part of them,
  /// and so is none of theirs; empty when there are none.
  SmallVector<unsigned, 0> parts = {};
  /// The part of a loop that the tensor has, which is joined to others along
  /// it, where it is known.
  struct Joined {
    unsigned loop;
    int64_t begin, end;
  };
  std::optional<Joined> joined = std::nullopt;
};

/// One tensor that a node computes; `loops[d]` is the loop of dimension d, or
/// -1 where the dimension has size 1 and no loop.
struct TensorWrite {
  unsigned value;
  SmallVector<int> loops;
};

/// One computation.
struct GraphNode {
  Operation *op = nullptr;
  NodeKind kind = NodeKind::Pointwise;
  /// Sizes of the loops, dynamic ones by a representative.
  SmallVector<int64_t> extents;
  /// Loops whose size only the run knows.
  SmallVector<bool> dynamic;
  SmallVector<bool> reduced;
  /// The loop that a scan walks.
  int scanned = -1;
  /// The loop that a reduction divides into granules of so many elements, each
  /// reduced to one element of the result (docs/Rationale/TensorCores.md). It
  /// counts as a loop of the result.
  int granuleLoop = -1;
  int64_t granule = 1;
  SmallVector<TensorRead> reads;
  SmallVector<TensorWrite> writes;
  /// Arithmetic of one point of the loops.
  OpCost perPoint;
  /// The products can run on the tensor cores.
  bool tensorCore = false;
  /// Contracts written on the op.
  bool must = false;
  bool never = false;
  /// Made by planning for readers that need it in memory.
  bool repack = false;
  /// The result lies in memory that has all of it but the slice that the node
  /// computes: the loops are the slice's.
  bool inPlace = false;
  /// Of a value that is made in parts the number of the value, and that of the
  /// part that the node belongs to; -1 for others.
  int64_t divided = -1;
  int64_t part = -1;
  /// What the node is called in names and remarks, e.g. `add`.
  std::string label;

  /// Points of the loops.
  double points() const;
};

/// One tensor of the function.
struct GraphValue {
  Value ssa;
  /// The node that computes it, or -1 for arguments, constants and views.
  int producer = -1;
  /// The tensor that it is a view of (expand, collapse or cast), or -1, and the
  /// coordinates in that tensor as expressions of the view's dimensions.
  int viewOf = -1;
  SmallVector<AffineExpr> viewCoords;
  SmallVector<int64_t> shape;
  double elementBytes = 0;
  /// Nodes that read it, a view or a slice of it, or that write a slice into
  /// its memory, ascending.
  SmallVector<unsigned> readers;
  /// It, or a view of it, leaves the function.
  bool escapes = false;

  double elements() const;
  double bytes() const { return elements() * elementBytes; }
};

/// The tensor computations of one block that its results need. Node numbers are
/// a topological order that does not depend on how independent ops are ordered
/// in the block: the order in which a depth-first walk from the terminator's
/// operands leaves them. In a kernel, which planning has built node by node,
/// they are the block's order.
class ComputeGraph {
public:
  /// Builds the graph of `block`. Fails, with a diagnostic on the op, when the
  /// block holds an op outside the normal form that the input phase leaves.
  static FailureOr<ComputeGraph> build(Block &block,
                                       const GraphOptions &options);

  ArrayRef<GraphNode> getNodes() const { return nodes; }
  const GraphNode &getNode(unsigned id) const { return nodes[id]; }
  ArrayRef<GraphValue> getValues() const { return values; }
  const GraphValue &getValue(unsigned id) const { return values[id]; }
  /// The tensors that leave the block, in the order of its terminator.
  ArrayRef<unsigned> getResults() const { return results; }
  MLIRContext *getContext() const { return context; }

  /// The tensor that `value` is at last a view of; itself when it is no view.
  unsigned getBase(unsigned value) const;
  /// `coords` of `value` as coordinates of its base.
  SmallVector<AffineExpr> toBase(unsigned value,
                                 ArrayRef<AffineExpr> coords) const;

  /// Nodes whose results `node` reads, ascending, each once.
  ArrayRef<unsigned> getProducers(unsigned node) const {
    return producers[node];
  }
  /// Nodes that read a result of `node`, ascending, each once.
  ArrayRef<unsigned> getConsumers(unsigned node) const {
    return consumers[node];
  }
  /// Nodes that have to run before `node`, or after it, though neither may read
  /// the other's results: those of the part before or after its own, and those
  /// that it shares memory with, of which it reads or writes a slice.
  /// Ascending.
  ArrayRef<unsigned> getEarlier(unsigned node) const { return earlier[node]; }
  ArrayRef<unsigned> getLater(unsigned node) const { return later[node]; }

private:
  friend class ComputeGraphBuilder;
  MLIRContext *context = nullptr;
  std::vector<GraphNode> nodes;
  std::vector<GraphValue> values;
  SmallVector<unsigned> results;
  SmallVector<SmallVector<unsigned>> producers;
  SmallVector<SmallVector<unsigned>> consumers;
  SmallVector<SmallVector<unsigned>> earlier;
  SmallVector<SmallVector<unsigned>> later;
};

/// True for ops that are copied into every kernel that uses them and never
/// become a kernel: constants of one value, empty tensors, fills, groups of
/// rows, shape and scalar arithmetic, reads of single elements.
bool isFreeOp(Operation *op);

/// True for ops that give a tensor another shape or type without moving
/// elements.
bool isViewOp(Operation *op);

/// True for slices that kernels are given as tensors of their own, which begin
/// somewhere in the memory of another.
bool isSliceInPlace(Operation *op);

/// The value that `value` is at last a view of.
Value stripViews(Value value);

/// True when two inputs of a reduction each miss a loop of the result that the
/// other has: blocks of the result then share inputs along two directions.
bool isContraction(linalg::LinalgOp op);

/// True for ops that the graph turns into nodes.
bool isComputeOp(Operation *op);

/// True for ops that the program asks to be fused, or not to be. Rewrites that
/// make other ops of them leave them alone.
bool hasContract(Operation *op);

/// A short name for what `op` computes, such as `add`, `matmul` or `gelu`.
std::string getOpLabel(Operation *op, NodeKind kind);

/// `coords` with dimension i replaced by `dims[i]`. Cheap where a coordinate is
/// a plain dimension.
SmallVector<AffineExpr> composeCoords(ArrayRef<AffineExpr> coords,
                                      ArrayRef<AffineExpr> dims);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_COMPUTEGRAPH_H
