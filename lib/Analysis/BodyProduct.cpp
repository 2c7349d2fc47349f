//===- BodyProduct.cpp - The products of a kernel body --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the view of a body as a problem of tensor cores. No
// kernel exists yet: dimensions and tensors are those of the graph.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/BodyProduct.h"
#include "fusion/Analysis/FewRowsCost.h"
#include "fusion/Analysis/ProductProblem.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Finds the products of one body.
class ProductFinder {
public:
  explicit ProductFinder(const KernelBody &body);

  /// The reductions of the body, when all are products.
  SmallVector<linalg::LinalgOp> getReducedProducts() const;
  /// The products `ops`, or those of all contractions when there are none.
  BodyProduct find(ArrayRef<linalg::LinalgOp> ops, bool wholeRows,
                   const TargetInfo &target);

private:
  bool isSum(const BodyInstance &instance,
             ArrayRef<linalg::LinalgOp> ops) const;
  std::optional<TensorCoreObstacle> addSums(ArrayRef<linalg::LinalgOp> ops);
  ProductDims getTiledDims(bool wholeRows) const;
  void setWalk(ArrayRef<SmallVector<unsigned>> factors,
               ProductDims &dims) const;
  /// All that other reductions walk are the columns that tiles have.
  bool reducesColumns(const ProductDims &dims) const;
  void setObstacle(BodyProduct &result) const;
  bool isInside(unsigned value) const {
    int producer = graph.getValue(graph.getBase(value)).producer;
    return producer >= 0 && llvm::is_contained(body.getNodes(), producer);
  }
  int64_t extentOf(unsigned dim) const {
    return static_cast<int64_t>(body.getExtents()[dim]);
  }
  SmallVector<unsigned> getDims(ArrayRef<AffineExpr> coords) const;
  SmallVector<unsigned> getDims(unsigned value, unsigned instance) const;
  SmallVector<unsigned> getDims(const Contraction &sum, unsigned instance,
                                Value tensor) const;
  /// The dimension along which neighbours of factor `side` lie in memory, if no
  /// windows of it are multiplied.
  std::optional<unsigned> getInnermost(const Contraction &sum,
                                       unsigned instance, unsigned side) const;
  /// True when tiles have runs of both factors of `sum` as they are in memory.
  bool hasRuns(const Contraction &sum, unsigned instance,
               const ProductDims &dims) const;
  std::optional<Contraction> match(const BodyInstance &instance) const;
  /// Rows in groups are in such tiles as a block can have.
  bool hasTiles(const ProductDims &dims) const;
  /// True when what is reduced in granules runs along what tiles divide: others
  /// have one element of a batch's or an outer dimension. Where one axis counts
  /// several dimensions, granules do not go on in the next row.
  bool hasGranules(const ProductDims &dims) const;
  ProductView getView(const BodyProduct &product) const;

  const KernelBody &body;
  const ComputeGraph &graph;
  DenseMap<Value, unsigned> values;
  SmallVector<Contraction, 2> sums;
  /// The instance of each sum.
  SmallVector<unsigned, 2> places;
};
} // namespace

ProductFinder::ProductFinder(const KernelBody &body)
    : body(body), graph(body.getGraph()) {
  for (unsigned node : body.getNodes())
    for (const TensorRead &read : graph.getNode(node).reads)
      values[graph.getValue(read.value).ssa] = read.value;
}

/// The dimensions of a tensor at `coords` that have more than one element.
SmallVector<unsigned>
ProductFinder::getDims(ArrayRef<AffineExpr> coords) const {
  SmallVector<unsigned> dims;
  for (AffineExpr coord : coords)
    if (auto dim = dyn_cast<AffineDimExpr>(coord))
      if (body.getExtents()[dim.getPosition()] > 1)
        dims.push_back(dim.getPosition());
  return dims;
}

/// The dimensions of a tensor from outside that `instance`, or one that
/// computes something for it, reads.
SmallVector<unsigned> ProductFinder::getDims(unsigned value,
                                             unsigned instance) const {
  llvm::BitVector above(body.getInstances().size());
  above.set(instance);
  for (unsigned i = instance + 1; i-- > 0;)
    if (above.test(i))
      for (unsigned producer : body.getInstances()[i].producers)
        above.set(producer);
  for (const BodyAccess &access : body.getInputs())
    if (access.value == value && above.test(access.instance))
      return getDims(access.coords);
  return {};
}

/// The dimensions of `tensor`, a factor or the result of `sum` or what a factor
/// is computed from, at `instance`, that of `sum`.
SmallVector<unsigned> ProductFinder::getDims(const Contraction &sum,
                                             unsigned instance,
                                             Value tensor) const {
  linalg::LinalgOp op = sum.op;
  auto getOwn = [&](OpOperand &operand) {
    return getDims(
        composeCoords(op.getMatchingIndexingMap(&operand).getResults(),
                      body.getInstances()[instance].loops));
  };
  if (tensor == op->getResult(0))
    return getOwn(*op.getDpsInitOperand(0));
  auto known = values.find(tensor);
  if (known == values.end())
    return {};
  if (isInside(known->second))
    for (OpOperand *input : op.getDpsInputOperands())
      if (input->get() == tensor)
        return getOwn(*input);
  return getDims(known->second, instance);
}

std::optional<unsigned> ProductFinder::getInnermost(const Contraction &sum,
                                                    unsigned instance,
                                                    unsigned side) const {
  const ContractionOperand &operand = sum.operands[side];
  SmallVector<unsigned> order =
      getDims(sum, instance, operand.source ? operand.source : operand.tensor);
  if (order.empty() || !isPlain(sum, side))
    return std::nullopt;
  return order.back();
}

bool ProductFinder::hasRuns(const Contraction &sum, unsigned instance,
                            const ProductDims &dims) const {
  return llvm::all_of(llvm::seq<unsigned>(2), [&](unsigned side) {
    std::optional<unsigned> innermost = getInnermost(sum, instance, side);
    return !innermost || innermost == dims.depth ||
           llvm::is_contained(sum.getOwn(side), *innermost);
  });
}

std::optional<Contraction>
ProductFinder::match(const BodyInstance &instance) const {
  auto op = dyn_cast<linalg::LinalgOp>(body.getNode(instance).op);
  if (!op)
    return std::nullopt;
  return matchContraction(
      op,
      [&](unsigned loop) {
        // Reductions are computed along their own dimensions.
        return cast<AffineDimExpr>(instance.loops[loop]).getPosition();
      },
      [&](Value tensor) {
        auto known = values.find(tensor);
        return known != values.end() && !isInside(known->second);
      });
}

SmallVector<linalg::LinalgOp> ProductFinder::getReducedProducts() const {
  SmallVector<linalg::LinalgOp> ops;
  for (const BodyInstance &instance : body.getInstances()) {
    const GraphNode &node = body.getNode(instance);
    if (!llvm::is_contained(node.reduced, true))
      continue;
    if (node.kind != NodeKind::Reduction || !match(instance))
      return {};
    ops.push_back(cast<linalg::LinalgOp>(node.op));
  }
  return ops;
}

bool ProductFinder::hasTiles(const ProductDims &dims) const {
  const Contraction &first = sums.front();
  if (!first.grouped)
    return true;
  // Nor does a group with its granules.
  for (const BodyInstance &instance : body.getInstances()) {
    int loop = body.getNode(instance).granuleLoop;
    if (loop >= 0 && instance.loops[loop].isFunctionOfDim(first.groupedDim))
      return false;
  }
  SmallVector<Value> results;
  for (const BodyOutput &output : body.getOutputs()) {
    // Rows of a slice end where it does.
    if (body.getNode(body.getInstances()[output.instance]).inPlace)
      return false;
    results.push_back(graph.getValue(output.value).ssa);
  }
  return hasTilesOfGroups(
      first, dims, results,
      [&](Value tensor) {
        for (const BodyOutput &output : body.getOutputs())
          if (graph.getValue(output.value).ssa == tensor)
            return getDims(output.coords);
        return SmallVector<unsigned>();
      },
      [&](Value tensor) {
        auto known = values.find(tensor);
        return known != values.end() && !isInside(known->second);
      });
}

bool ProductFinder::hasGranules(const ProductDims &dims) const {
  return llvm::all_of(body.getInstances(), [&](const BodyInstance &instance) {
    const GraphNode &node = body.getNode(instance);
    if (node.granuleLoop < 0)
      return true;
    auto dim = dyn_cast<AffineDimExpr>(instance.loops[node.granuleLoop]);
    if (!dim)
      return false;
    unsigned number = dim.getPosition();
    int64_t size =
        cast<linalg::LinalgOp>(node.op).getStaticLoopRanges()[node.granuleLoop];
    bool isWhole = !ShapedType::isDynamic(size) && size % node.granule == 0;
    for (const auto &counted : {dims.rows, dims.columns})
      if (number == counted.back())
        return counted.size() == 1 || isWhole;
    return false;
  });
}

ProductView ProductFinder::getView(const BodyProduct &product) const {
  ProductView view;
  view.sums = sums;
  view.dims = product.dims;
  view.wholeRows = product.wholeRows;
  for (unsigned dim = 0; dim < body.getExtents().size(); ++dim) {
    view.extents.push_back(extentOf(dim));
    view.spans.push_back(body.getSpan(dim));
  }
  view.granules.assign(view.extents.size(), 1);
  for (unsigned side = 0; side < 2; ++side) {
    const ContractionOperand &operand = sums.front().operands[side];
    view.factorDims[side] =
        getDims(sums.front(), places.front(),
                operand.source ? operand.source : operand.tensor);
  }
  auto toTensor = [&](unsigned value, ArrayRef<AffineExpr> coords) {
    return ProductTensor{graph.getValue(value).ssa, getDims(coords)};
  };
  for (const BodyAccess &access : body.getInputs())
    view.reads.push_back(toTensor(access.value, access.coords));
  for (const BodyOutput &output : body.getOutputs())
    view.writes.push_back(toTensor(output.value, output.coords));
  for (const BodyInstance &instance : body.getInstances()) {
    const GraphNode &node = body.getNode(instance);
    auto op = dyn_cast<linalg::LinalgOp>(node.op);
    if (op && llvm::none_of(
                  sums, [&](const Contraction &sum) { return sum.op == op; }))
      view.others.push_back(op);
    if (node.granuleLoop < 0)
      continue;
    if (auto dim = dyn_cast<AffineDimExpr>(instance.loops[node.granuleLoop])) {
      int64_t &granule = view.granules[dim.getPosition()];
      granule = std::max(granule, node.granule);
    }
  }
  return view;
}

bool ProductFinder::isSum(const BodyInstance &instance,
                          ArrayRef<linalg::LinalgOp> ops) const {
  const GraphNode &node = body.getNode(instance);
  if (ops.empty())
    return node.kind == NodeKind::Contraction;
  return llvm::any_of(ops, [&](linalg::LinalgOp op) { return op == node.op; });
}

std::optional<TensorCoreObstacle>
ProductFinder::addSums(ArrayRef<linalg::LinalgOp> ops) {
  for (auto [place, instance] : llvm::enumerate(body.getInstances())) {
    if (!isSum(instance, ops))
      continue;
    std::optional<Contraction> sum = match(instance);
    if (!sum)
      return TensorCoreObstacle::Form;
    sums.push_back(*sum);
    places.push_back(place);
  }
  auto isOther = [&](const Contraction &sum) {
    return !haveEqualLoops(sum, sums.front());
  };
  if (llvm::none_of(sums, isOther))
    return std::nullopt;
  // Each walks a dimension of its own, or none does.
  for (unsigned i = 0; i < sums.size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (!haveEqualTiles(sums[i], sums[j]))
        return TensorCoreObstacle::ProductsDiffer;
  return std::nullopt;
}

/// Sets the contracted dimensions that one walk runs through: all of them where
/// they lie side by side in `factors`, or where they count windows of images.
void ProductFinder::setWalk(ArrayRef<SmallVector<unsigned>> factors,
                            ProductDims &dims) const {
  const Contraction &first = sums.front();
  ArrayRef<unsigned> walked = first.contracted;
  for (const Contraction &sum : sums)
    for (auto [side, operand] : llvm::enumerate(sum.operands)) {
      bool isPlaced = !operand.places.empty();
      if (operand.lookup || !(isPlaced || isPlain(sum, side)))
        return;
      if (isPlaced)
        walked = operand.places;
    }
  auto isOther = [&](const Contraction &sum) {
    return sum.contracted != first.contracted ||
           sum.operands[0].places != first.operands[0].places ||
           sum.operands[1].places != first.operands[1].places;
  };
  // Up to the last one of several elements, which the walk is along.
  auto sizeOf = [&](unsigned dim) { return extentOf(dim); };
  while (!walked.empty() && sizeOf(walked.back()) == 1)
    walked = walked.drop_back();
  if (walked.empty() || first.grouped || llvm::any_of(sums, isOther) ||
      !llvm::is_sorted(walked) ||
      walked.back() - walked.front() + 1 != walked.size())
    return;
  SmallVector<unsigned> several = llvm::filter_to_vector(
      walked, [&](unsigned dim) { return sizeOf(dim) != 1; });
  if (getMergeableDims(several, factors, sizeOf) != several)
    return;
  dims.outerDepths.assign(walked.begin(), walked.end() - 1);
  dims.depth = walked.back();
}

ProductDims ProductFinder::getTiledDims(bool wholeRows) const {
  const Contraction &first = sums.front();
  SmallVector<SmallVector<unsigned>> tensors[2];
  // The factors as the contractions read them, wherever they come from. Places
  // of windows in images are counted.
  SmallVector<SmallVector<unsigned>> factors;
  for (unsigned side = 0; side < 2; ++side) {
    for (auto [sum, place] : llvm::zip(sums, places)) {
      if (sum.operands[side].channels || !sum.operands[side].places.empty())
        continue;
      linalg::LinalgOp op = sum.op;
      for (OpOperand *input : op.getDpsInputOperands())
        if (input->get() == sum.operands[side].tensor)
          tensors[side].push_back(getDims(
              composeCoords(op.getMatchingIndexingMap(input).getResults(),
                            body.getInstances()[place].loops)));
    }
    // A walk through several dimensions needs them side by side in memory too.
    llvm::append_range(factors, tensors[side]);
    for (auto [sum, place] : llvm::zip(sums, places))
      if (sum.operands[side].places.empty() && sum.operands[side].source)
        factors.push_back(getDims(sum, place, sum.operands[side].source));
    for (const BodyOutput &output : body.getOutputs())
      tensors[side].push_back(getDims(output.coords));
    tensors[side].push_back(
        getDims(first, places.front(), first.op->getResult(0)));
  }
  auto sizeOf = [&](unsigned dim) { return extentOf(dim); };
  ProductDims dims;
  dims.rows = getMergeableDims(first.rows, tensors[0], sizeOf);
  dims.columns = getMergeableDims(first.columns, tensors[1], sizeOf);
  auto getDepth = [&](const Contraction &sum, unsigned place) {
    return getDepthDim(sum, sizeOf, [&](unsigned side) {
      return getInnermost(sum, place, side);
    });
  };
  dims.depth = getDepth(first, places.front());
  setWalk(factors, dims);
  for (auto [sum, place] : llvm::drop_begin(llvm::zip(sums, places)))
    if (sum.contracted != first.contracted)
      dims.laterDepths.push_back(getDepth(sum, place));
  // The tile has all of the reduced dimension.
  if (wholeRows)
    dims.columns = {dims.columns.back()};
  return dims;
}

bool ProductFinder::reducesColumns(const ProductDims &dims) const {
  return llvm::all_of(body.getInstances(), [&](const BodyInstance &instance) {
    DimMask reduced = body.getReducedMask(instance);
    return body.getNode(instance).kind != NodeKind::Reduction || !reduced ||
           reduced == DimMask(1) << dims.columns.back();
  });
}

/// Sets what keeps warpgroups, or warps, from making the products.
void ProductFinder::setObstacle(BodyProduct &result) const {
  if (result.wholeRows && !reducesColumns(result.dims)) {
    result.obstacle = TensorCoreObstacle::Form;
    return;
  }
  if (!hasTiles(result.dims))
    result.obstacle = TensorCoreObstacle::Groups;
  else if (!hasGranules(result.dims))
    result.obstacle = TensorCoreObstacle::Form;
  if (result.obstacle) {
    result.byWarps = false;
    return;
  }
  std::optional<std::array<bool, 2>> majors;
  for (auto [number, sum] : llvm::enumerate(sums)) {
    unsigned instance = places[number];
    auto dimsOf = [&, &current = sum](Value tensor) {
      return getDims(current, instance, tensor);
    };
    ProductDims dims = result.dims;
    if (number > 0 && !dims.laterDepths.empty())
      dims.depth = dims.laterDepths[number - 1];
    result.obstacle = findObstacle(sum, dims, dimsOf);
    if (result.obstacle)
      return;
    if (dims.laterDepths.empty())
      continue;
    // Stages of one ring have the operands of all.
    std::array<bool, 2> own;
    for (unsigned side = 0; side < 2; ++side) {
      SmallVector<unsigned> order = dimsOf(sum.operands[side].source);
      own[side] = !order.empty() && order.back() == dims.depth;
    }
    if (majors && *majors != own) {
      result.obstacle = TensorCoreObstacle::ProductsDiffer;
      return;
    }
    majors = own;
  }
}

BodyProduct ProductFinder::find(ArrayRef<linalg::LinalgOp> ops, bool wholeRows,
                                const TargetInfo &target) {
  BodyProduct result;
  result.obstacle = addSums(ops);
  if (result.obstacle)
    return result;
  result.wholeRows = wholeRows;
  result.dims = getTiledDims(wholeRows);
  result.byWarps = result.dims.laterDepths.empty() &&
                   llvm::all_of(sums, [&](const Contraction &sum) {
                     return isMadeByWarps(sum, target);
                   });
  for (auto [sum, place] : llvm::zip(sums, places))
    result.warpShare =
        std::min(result.warpShare,
                 getWarpShare(sum, extentOf(result.dims.depth),
                              hasRuns(sum, place, result.dims), target));
  setObstacle(result);
  if (!result.obstacle || result.byWarps || !ops.empty())
    result.problem = describeProducts(getView(result));
  result.rows = getDimMask(sums.front().rows);
  result.columns = getDimMask(sums.front().columns);
  result.sums = std::move(sums);
  return result;
}

BodyProduct mlir::fusion::getBodyProduct(const KernelBody &body,
                                         const TargetInfo &target) {
  return ProductFinder(body).find({}, body.reducesProduct(), target);
}

BodyProduct mlir::fusion::getBodyProduct(const KernelBody &body,
                                         ArrayRef<linalg::LinalgOp> ops,
                                         bool wholeRows,
                                         const TargetInfo &target) {
  assert(!ops.empty() && "no products");
  return ProductFinder(body).find(ops, wholeRows, target);
}

std::optional<BodyProduct>
mlir::fusion::getRowProduct(const KernelBody &body, const TargetInfo &target) {
  if (body.has(NodeKind::Scan))
    return std::nullopt;
  SmallVector<linalg::LinalgOp> ops = ProductFinder(body).getReducedProducts();
  if (ops.empty())
    return std::nullopt;
  BodyProduct product = getBodyProduct(body, ops, /*wholeRows=*/false, target);
  if (product.sums.empty())
    return std::nullopt;
  return product;
}

/// Drops the configurations but those that tiles of groups are built for, a
/// block finds each tile by itself, so that blocks share none, and those that
/// several walks for one tile are built for (`isOfWalks`).
static void keepPlainConfigs(SmallVector<MmaConfig> &configs, bool isOfWalks) {
  llvm::erase_if(configs, [&](const MmaConfig &config) {
    return config.split != 1 || config.multicast != 1 || config.stream != 0 ||
           !llvm::isPowerOf2_64(config.rows) ||
           (isOfWalks && config.groups != 1);
  });
}

/// Drops the configurations whose blocks share columns where the grid has rows
/// behind columns and these are in tiles of several parts: what the blocks of a
/// cluster own together is a tile of the axis before the last.
static void dropSharedParts(SmallVector<MmaConfig> &configs,
                            const BodyProduct &product) {
  if (configs.empty() || product.dims.rows.back() < product.dims.columns.back())
    return;
  llvm::erase_if(configs, [](const MmaConfig &config) {
    return config.multicast != 1 && !llvm::isPowerOf2_64(config.columns);
  });
}

ProductConfigs mlir::fusion::getProductConfigs(const BodyProduct &product,
                                               const TargetInfo &target) {
  const MmaProblem &problem = product.problem;
  bool grouped = product.sums.front().grouped.has_value();
  ProductConfigs configs;
  if (target.hasWarpgroups && !product.obstacle)
    configs.groups = getWgmmaConfigs(problem, target);
  dropSharedParts(configs.groups, product);
  bool isOfWalks = !product.dims.laterDepths.empty();
  if (grouped || isOfWalks)
    keepPlainConfigs(configs.groups, isOfWalks);
  bool windows = llvm::any_of(product.sums, [](const Contraction &sum) {
    return llvm::any_of(sum.operands, [](const ContractionOperand &operand) {
      return operand.channels || !operand.places.empty();
    });
  });
  if (product.byWarps && !windows && !product.wholeRows && !grouped)
    configs.few = getFewRowsConfigs(problem, target);
  if (configs.few.empty() || configs.groups.empty()) {
    configs.fewFirst = !configs.few.empty();
    return configs;
  }
  // Warpgroups take about twice their price for a few rows.
  const MmaConstants &fitted = target.fitted.mma;
  double rate = problem.rows <= fitted.fewRows ? fitted.fewRowsCost : 1;
  configs.fewFirst =
      getFewRowsSeconds(problem, configs.few.front(), target) <
      rate * getMmaSeconds(problem, configs.groups.front(), target);
  return configs;
}
