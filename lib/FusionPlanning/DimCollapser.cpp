//===- DimCollapser.cpp - Dimensions of a block that fall together --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements which dimensions of tensors may fall together, and the
// rewriting of the operations between.
//
//===----------------------------------------------------------------------===//

#include "DimCollapser.h"

#include "MergeFlatSums.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/DataMoves.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fusion;

/// The loop that dimension `dim` of an operand is indexed by, or none.
static std::optional<unsigned> getLoop(AffineMap map, unsigned dim) {
  if (auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim)))
    return loop.getPosition();
  return std::nullopt;
}

/// The loops of `op` that run through one element, which stand in nobody's way.
/// Where a body asks for indices, or in the coordinates of windows, they are
/// loops like others.
static llvm::SmallBitVector getUnitLoops(linalg::LinalgOp op) {
  llvm::SmallBitVector units(op.getNumLoops());
  if (op.hasIndexSemantics())
    return units;
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (range == 1)
      units.set(loop);
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (!isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(loop))
          units.reset(loop);
  return units;
}

/// True when dimension `dim` of `value` has one element, and is indexed by one
/// of `units` or by that element's number.
static bool isUnit(Value value, AffineMap map, unsigned dim,
                   const llvm::SmallBitVector &units) {
  std::optional<unsigned> loop = getLoop(map, dim);
  if (loop)
    return units.test(*loop);
  return isa<AffineConstantExpr>(map.getResult(dim)) &&
         cast<RankedTensorType>(value.getType()).getDimSize(dim) == 1;
}

/// On this side of a dimension are loops of one element only.
static constexpr int kNoLoop = -1;

bool DimCollapser::isRewritten(linalg::LinalgOp op) {
  return isa<linalg::GenericOp, linalg::FillOp>(op) && !isContraction(op);
}

//===----------------------------------------------------------------------===//
// What may fall together
//===----------------------------------------------------------------------===//

void DimCollapser::addTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return;
  unsigned first = blocked.size();
  boundaries[value] = first;
  tensors.push_back(value);
  blocked.resize(first + std::max<int64_t>(type.getRank() - 1, 0));
  // Equal products of two sizes that are not known are no equal sizes.
  bool wasDynamic = false;
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim) {
    wasDynamic |= type.isDynamicDim(dim);
    bool isNext = type.isDynamicDim(dim + 1);
    if (takesDynamic() ? wasDynamic && isNext
                       : type.isDynamicDim(dim) || isNext)
      blocked.set(first + dim);
  }
}

void DimCollapser::addTensors() {
  for (Value argument : block.getArguments())
    addTensor(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      addTensor(result);
  classes.grow(blocked.size());
  staying.resize(blocked.size());
}

void DimCollapser::refuse(Operation *op, Value value, unsigned dim) {
  blocked.set(getBoundary(value, dim));
}

void DimCollapser::refuseAll(Operation *op, ValueRange values) {
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
        refuse(op, value, dim);
}

/// True when no operand leaves to callers how many elements `loop` has.
static bool isStatic(linalg::LinalgOp op, unsigned loop) {
  AffineExpr expr = getAffineDimExpr(loop, op.getContext());
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    auto dim = op.getMatchingIndexingMap(&operand).getResultPosition(expr);
    return !type || !dim || !type.isDynamicDim(*dim);
  });
}

bool DimCollapser::isBlocked(unsigned boundary) const {
  unsigned leader = classes.findLeader(boundary);
  return llvm::any_of(blocked.set_bits(), [&](unsigned other) {
    return classes.findLeader(other) == leader;
  });
}

bool DimCollapser::areOneIn(OpOperand &operand,
                            const llvm::SmallBitVector &units, unsigned first,
                            unsigned second) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Builder b(op.getContext());
  // Coordinates of windows count along them as they are.
  for (AffineExpr expr : map.getResults())
    if (!isa<AffineDimExpr>(expr) &&
        (expr.isFunctionOfDim(first) || expr.isFunctionOfDim(second)))
      return false;
  auto a = map.getResultPosition(b.getAffineDimExpr(first));
  auto c = map.getResultPosition(b.getAffineDimExpr(second));
  if (!a || !c)
    return a.has_value() == c.has_value() ||
           (op.isDpsInput(&operand) && isStatic(op, second) &&
            (!a || isStatic(op, first)) && mayReadParts(operand));
  if (*a >= *c)
    return false;
  for (unsigned between = *a + 1; between < *c; ++between)
    if (!isUnit(operand.get(), map, between, units))
      return false;
  return true;
}

bool DimCollapser::areOneLoop(linalg::LinalgOp op, const FlatIndices &indices,
                              const llvm::SmallBitVector &units, unsigned first,
                              unsigned second) {
  auto iterators = op.getIteratorTypesArray();
  if (iterators[first] != iterators[second] ||
      (!indices.areOneLoop(first, second) &&
       !(splitsIndices() && isStatic(op, second))))
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    return mayStay(operand) || areOneIn(operand, units, first, second);
  });
}

void DimCollapser::addLinalgOp(linalg::LinalgOp op) {
  // Products have a choice of their own.
  if (!isRewritten(op)) {
    refuseAll(op, op->getOperands());
    return refuseAll(op, op->getResults());
  }
  FlatIndices indices(op);
  llvm::SmallBitVector units = getUnitLoops(op);
  DenseMap<std::pair<int, int>, unsigned> ofLoops;
  // Loops that stay two as a result does.
  llvm::SmallDenseSet<std::pair<int, int>, 4> apart;
  auto add = [&](Value value, OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    // The first loop that is not of one element, going from `dim` by `step`.
    auto findLoop = [&](int dim, int step) -> std::optional<int> {
      for (; dim >= 0 && dim < static_cast<int>(map.getNumResults());
           dim += step)
        if (!isUnit(value, map, dim, units)) {
          std::optional<unsigned> loop = getLoop(map, dim);
          return loop ? std::optional<int>(*loop) : std::nullopt;
        }
      return kNoLoop;
    };
    for (unsigned dim = 0; dim + 1 < map.getNumResults(); ++dim) {
      unsigned boundary = getBoundary(value, dim);
      std::optional<int> first = findLoop(static_cast<int>(dim), -1);
      std::optional<int> second = findLoop(static_cast<int>(dim) + 1, 1);
      bool isEnd = first == kNoLoop || second == kNoLoop;
      bool isOne = first && second &&
                   (isEnd || (areOneLoop(op, indices, units, *first, *second) &&
                              areOneIn(operand, units, *first, *second))) &&
                   !apart.contains({*first, *second});
      if (isOne && staying.test(boundary) && op.isDpsInit(&operand))
        apart.insert({*first, *second});
      // So does what the producer of an operand tells apart.
      if ((!isOne || isBlocked(boundary)) && mayStay(operand))
        staying.set(boundary);
      if (!isOne || staying.test(boundary)) {
        refuse(op, value, dim);
        continue;
      }
      noteJoined(op, value, dim);
      auto [it, isNew] = ofLoops.try_emplace({*first, *second}, boundary);
      if (!isNew)
        classes.join(it->second, boundary);
    }
  };
  for (OpOperand &init : op.getDpsInitsMutable()) {
    if (isa<RankedTensorType>(init.get().getType()))
      add(op.getTiedOpResult(&init), init);
    add(init.get(), init);
  }
  for (OpOperand *input : op.getDpsInputOperands())
    add(input->get(), *input);
}

/// All tensors of a scan have the same dimensions, of which the scanned one
/// stays.
void DimCollapser::addScan(ScanOp op) {
  Value front = op.getInputs().front();
  auto scanned = static_cast<unsigned>(op.getAxis());
  auto rank =
      static_cast<unsigned>(cast<RankedTensorType>(front.getType()).getRank());
  for (unsigned dim = 0; dim + 1 < rank; ++dim) {
    bool isOfScanned = dim == scanned || dim + 1 == scanned;
    for (ValueRange values :
         {ValueRange(op.getInputs()), ValueRange(op.getResults())})
      for (Value value : values) {
        if (isOfScanned) {
          refuse(op, value, dim);
          continue;
        }
        noteJoined(op, value, dim);
        classes.join(getBoundary(front, dim), getBoundary(value, dim));
      }
  }
}

/// The dimension that `op` asks for stays.
void DimCollapser::addSize(tensor::DimOp op) {
  std::optional<int64_t> dim = op.getConstantIndex();
  if (!dim)
    return refuseAll(op, op.getSource());
  if (*dim > 0)
    refuse(op, op.getSource(), *dim - 1);
  if (*dim + 1 < cast<RankedTensorType>(op.getSource().getType()).getRank())
    refuse(op, op.getSource(), *dim);
}

/// The tensor of `view` with more dimensions, the other one, and which
/// dimensions of the former each of the latter is.
static std::tuple<Value, Value, SmallVector<ReassociationIndices>>
getSides(Operation *view) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view))
    return {expand.getResult(), expand.getSrc(),
            expand.getReassociationIndices()};
  auto collapse = cast<tensor::CollapseShapeOp>(view);
  return {collapse.getSrc(), collapse.getResult(),
          collapse.getReassociationIndices()};
}

/// Dimensions of one side fall together as those of the other do. Those of size
/// 1 at the ends of a group split nothing.
void DimCollapser::addView(Operation *op) {
  auto [wide, narrow, groups] = getSides(op);
  auto type = cast<RankedTensorType>(wide.getType());
  if (!takesDynamic() && !type.hasStaticShape())
    return refuseAll(op, {wide, narrow});
  SmallVector<std::pair<int64_t, int64_t>> large;
  for (ArrayRef<int64_t> group : groups) {
    auto isLarge = [&](int64_t dim) { return type.getDimSize(dim) != 1; };
    const auto *first = llvm::find_if(group, isLarge);
    if (first == group.end())
      first = group.begin();
    int64_t last = *first;
    for (int64_t dim : group)
      if (isLarge(dim))
        last = dim;
    large.push_back({*first, last});
    for (int64_t dim = *first; dim < last; ++dim)
      addSplit(op, wide, dim);
  }
  for (unsigned dim = 0; dim + 1 < groups.size(); ++dim)
    for (int64_t between = large[dim].second; between < large[dim + 1].first;
         ++between)
      classes.join(getBoundary(narrow, dim), getBoundary(wide, between));
}

/// Nothing inside a kernel depends on how its dimensions are split.
void DimCollapser::addSplit(Operation *view, Value value, unsigned dim) {
  auto [wide, narrow, groups] = getSides(view);
  refuseAll(view, {wide, narrow});
}

/// True when an operation takes dimension `dim` from the first element to the
/// last.
static bool isWhole(tensor::PadOp pad, unsigned dim) {
  return pad.getStaticLow()[dim] == 0 && pad.getStaticHigh()[dim] == 0;
}

static bool isWhole(tensor::ExtractSliceOp slice, unsigned dim) {
  return slice.getStaticOffsets()[dim] == 0 &&
         slice.getStaticStrides()[dim] == 1 &&
         !slice.getSourceType().isDynamicDim(dim) &&
         slice.getStaticSizes()[dim] == slice.getSourceType().getDimSize(dim);
}

/// May dimensions `dim` and `dim` + 1 be one to `op`, which moves parts of
/// tensors? Whole rows next to each other may; parts of rows may not.
static bool movesTogether(Operation *op, unsigned dim) {
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return concat.getDim() != dim + 1;
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    // Rows of a size that is not known are no number of elements.
    return pad.getConstantPaddingValue() && isWhole(pad, dim + 1) &&
           !pad.getSourceType().isDynamicDim(dim + 1) &&
           !ShapedType::isDynamic(pad.getStaticLow()[dim]) &&
           !ShapedType::isDynamic(pad.getStaticHigh()[dim]);
  }
  auto slice = cast<tensor::ExtractSliceOp>(op);
  return isWhole(slice, dim + 1) &&
         !ShapedType::isDynamic(slice.getStaticOffsets()[dim]) &&
         !ShapedType::isDynamic(slice.getStaticSizes()[dim]) &&
         slice.getStaticStrides()[dim] == 1;
}

/// The operands that `op`, which moves parts of tensors, takes them from.
static OperandRange getMoved(Operation *op) {
  return isa<tensor::ConcatOp>(op) ? op->getOperands()
                                   : op->getOperands().take_front(1);
}

/// Dimensions fall together where `op` moves them as one.
void DimCollapser::addMove(Operation *op) {
  Value result = op->getResult(0);
  int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
  OperandRange sources = getMoved(op);
  if (cast<RankedTensorType>(sources.front().getType()).getRank() != rank) {
    refuseAll(op, sources);
    return refuseAll(op, result);
  }
  for (int64_t dim = 0; dim + 1 < rank; ++dim) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    bool isTogether = movesTogether(op, dim) &&
                      (!slice || joinsParts() || isWhole(slice, dim));
    auto add = [&](Value value) {
      if (!isTogether)
        return refuse(op, value, dim);
      noteJoined(op, value, dim);
      classes.join(getBoundary(result, dim), getBoundary(value, dim));
    };
    add(result);
    for (Value source : sources)
      add(source);
  }
}

void DimCollapser::addOp(Operation *op) {
  // Elements that a body reads where it likes.
  if (op->getBlock() != &block) {
    for (Value value : op->getOperands())
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
          blocked.set(getBoundary(value, dim));
    return;
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return addLinalgOp(linalgOp);
  if (auto scan = dyn_cast<ScanOp>(op))
    return addScan(scan);
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return addSize(dim);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return addView(op);
  if (isDataMove(op))
    return addMove(op);
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (isa<tensor::EmptyOp, YieldOp>(op) ||
      (constant && isa<DenseElementsAttr>(constant.getValue())))
    return;
  refuseAll(op, op->getOperands());
  refuseAll(op, op->getResults());
}

void DimCollapser::addAll() {
  // What stays for one operation stays for all.
  unsigned before;
  do {
    before = staying.count();
    boundaries.clear();
    tensors.clear();
    classes.clear();
    blocked.clear();
    addTensors();
    block.walk([&](Operation *op) { addOp(op); });
  } while (staying.count() != before);
}

llvm::SmallBitVector DimCollapser::compressClasses() {
  classes.compress();
  llvm::SmallBitVector stays(classes.getNumClasses());
  for (unsigned boundary : blocked.set_bits())
    stays.set(classes[boundary]);
  return stays;
}

void DimCollapser::letFall(const llvm::SmallBitVector &chosen) {
  fallen.resize(blocked.size());
  for (unsigned boundary = 0; boundary < fallen.size(); ++boundary)
    fallen[boundary] = chosen.test(classes[boundary]);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

bool DimCollapser::changes(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (int64_t dim = 0; type && dim + 1 < type.getRank(); ++dim)
    if (falls(value, dim))
      return true;
  return false;
}

SmallVector<ReassociationIndices> DimCollapser::getGroups(Value value) const {
  SmallVector<ReassociationIndices> groups;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (int64_t dim = 0; type && dim < type.getRank(); ++dim) {
    if (dim == 0 || !falls(value, dim - 1))
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  return groups;
}

/// The type of a tensor of type `type` whose dimensions fall together in
/// `groups`.
static RankedTensorType collapse(RankedTensorType type,
                                 ArrayRef<ReassociationIndices> groups) {
  return tensor::CollapseShapeOp::inferCollapsedType(type, groups);
}

RankedTensorType DimCollapser::getCollapsedType(Value value) const {
  return collapse(cast<RankedTensorType>(value.getType()), getGroups(value));
}

SmallVector<DimCollapser::Kept>
DimCollapser::getKept(Value value, AffineMap map,
                      const llvm::SmallBitVector &units) const {
  SmallVector<Kept> kept;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    if (dim == 0 || !falls(value, dim - 1))
      kept.push_back({map.getResult(dim), {}});
    if (isUnit(value, map, dim, units))
      continue;
    if (kept.back().loops.empty())
      kept.back().expr = map.getResult(dim);
    if (std::optional<unsigned> loop = getLoop(map, dim))
      kept.back().loops.push_back(*loop);
  }
  return kept;
}

SmallVector<OpFoldResult>
DimCollapser::joinSizes(OpBuilder &builder, ArrayRef<OpFoldResult> sizes,
                        ArrayRef<ReassociationIndices> groups) {
  SmallVector<OpFoldResult> joined;
  Location loc = builder.getUnknownLoc();
  for (ArrayRef<int64_t> group : groups) {
    OpFoldResult size = sizes[group.front()];
    for (int64_t dim : group.drop_front()) {
      std::optional<int64_t> a = getConstantIntValue(size),
                             b = getConstantIntValue(sizes[dim]);
      if (a && b)
        size = builder.getIndexAttr(*a * *b);
      else
        size = arith::MulIOp::create(
                   builder, loc,
                   getValueOrCreateConstantIndexOp(builder, loc, size),
                   getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]))
                   .getResult();
    }
    joined.push_back(size);
  }
  return joined;
}

namespace {
/// Which loops become one: of each the one before it and the one after it.
struct LoopChains {
  explicit LoopChains(linalg::LinalgOp op)
      : extents(op.getStaticLoopRanges()), before(extents.size()),
        after(extents.size()) {}

  void add(ArrayRef<unsigned> loops) {
    for (unsigned i = 1; i < loops.size(); ++i) {
      after[loops[i - 1]] = loops[i];
      before[loops[i]] = loops[i - 1];
    }
  }

  unsigned getFirst(unsigned loop) const {
    while (before[loop])
      loop = *before[loop];
    return loop;
  }

  /// The coordinate along `loops`, some that follow each other, of the one that
  /// they are part of and whose coordinate is `whole`.
  AffineExpr getPart(AffineExpr whole, ArrayRef<unsigned> loops) const {
    int64_t inner = 1, size = 1;
    for (std::optional<unsigned> loop = after[loops.back()]; loop;
         loop = after[*loop])
      inner *= extents[*loop];
    for (unsigned loop : loops)
      size *= extents[loop];
    // A loop of one element beyond all: as a constant it would let the rest of
    // a window's coordinate pass for a whole dimension.
    if (size == 1)
      for (unsigned loop = getFirst(loops.front()); loop != loops.front();
           loop = *after[loop])
        inner *= extents[loop];
    AffineExpr part = inner == 1 ? whole : whole.floorDiv(inner);
    return before[loops.front()] && size > 1 ? part % size : part;
  }

  /// True when the body has no use for the indices of loops that become one but
  /// to count their elements.
  bool areFlat(const FlatIndices &indices) const {
    for (unsigned loop = 0; loop < after.size(); ++loop)
      if (after[loop] && !indices.areOneLoop(loop, *after[loop]))
        return false;
    return true;
  }

  /// Computes the index of a loop from that of the one that it is part of,
  /// which `index` then is.
  void splitIndex(linalg::IndexOp index) const {
    auto loop = static_cast<unsigned>(index.getDim());
    if (!before[loop] && !after[loop])
      return;
    OpBuilder b(index->getContext());
    b.setInsertionPointAfter(index);
    Location loc = index.getLoc();
    auto get = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(b, loc, number);
    };
    int64_t inner = 1;
    for (std::optional<unsigned> next = after[loop]; next; next = after[*next])
      inner *= extents[*next];
    Value part = index;
    llvm::SmallPtrSet<Operation *, 2> own;
    if (inner != 1) {
      part = arith::DivUIOp::create(b, loc, part, get(inner));
      own.insert(part.getDefiningOp());
    }
    if (before[loop]) {
      part = arith::RemUIOp::create(b, loc, part, get(extents[loop]));
      own.insert(part.getDefiningOp());
    }
    index.getResult().replaceAllUsesExcept(part, own);
    index.setDim(getFirst(loop));
  }

  SmallVector<int64_t> extents;
  SmallVector<std::optional<unsigned>> before, after;
};
} // namespace

/// Gives `op` one loop for those that index dimensions that fall together. Its
/// tensors have their types of before.
void DimCollapser::rewriteGeneric(linalg::GenericOp op) {
  llvm::SmallBitVector units = getUnitLoops(op);
  LoopChains chains(op);
  SmallVector<SmallVector<Kept>> kept;
  for (OpOperand &operand : op->getOpOperands()) {
    kept.push_back(
        getKept(operand.get(), op.getMatchingIndexingMap(&operand), units));
    for (const Kept &coord : kept.back())
      chains.add(coord.loops);
  }
  bool isFlat = chains.areFlat(FlatIndices(op));
  // Each loop that follows another is part of that one.
  llvm::SmallBitVector follows(op.getNumLoops());
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (chains.before[loop])
      follows.set(loop);
  // Loops of one element that no result has any more are none.
  Builder b(op.getContext());
  llvm::SmallBitVector gone = follows;
  auto parallel = utils::IteratorType::parallel;
  for (unsigned loop : units.set_bits()) {
    auto has = [&](ArrayRef<Kept> coords) {
      return llvm::any_of(coords, [&](const Kept &coord) {
        return coord.expr == b.getAffineDimExpr(loop);
      });
    };
    auto outputs = ArrayRef(kept).drop_front(op.getNumDpsInputs());
    bool isLeft = op.getIteratorTypesArray()[loop] == parallel
                      ? llvm::any_of(outputs, has)
                      : llvm::any_of(kept, has);
    if (!isLeft)
      gone.set(loop);
  }
  SmallVector<AffineExpr> whole, loops;
  SmallVector<int64_t> numbers;
  SmallVector<Attribute> iterators;
  // Loops are numbered as they were: what falls together need not be
  // neighbours there.
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    numbers.push_back(iterators.size());
    bool isGoneUnit = units.test(loop) && gone.test(loop);
    whole.push_back(isGoneUnit ? b.getAffineConstantExpr(0)
                               : b.getAffineDimExpr(iterators.size()));
    if (!gone.test(loop))
      iterators.push_back(op.getIteratorTypes()[loop]);
  }
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(chains.getPart(whole[chains.getFirst(loop)], loop));
  SmallVector<AffineMap> maps;
  for (SmallVector<Kept> &coords : kept) {
    SmallVector<AffineExpr> results;
    for (const Kept &coord : coords)
      results.push_back(
          coord.loops.empty()
              ? coord.expr.replaceDims(loops)
              : chains.getPart(whole[chains.getFirst(coord.loops.front())],
                               coord.loops));
    maps.push_back(
        AffineMap::get(iterators.size(), 0, results, op.getContext()));
  }
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  op.setIteratorTypesAttr(b.getArrayAttr(iterators));
  if (isFlat)
    mergeFlatSums(op, follows);
  op->walk([&](linalg::IndexOp index) {
    if (!isFlat)
      chains.splitIndex(index);
    index.setDim(numbers[index.getDim()]);
  });
}

/// The scanned dimension has a new number.
void DimCollapser::rewriteScan(ScanOp op) {
  auto number = static_cast<int64_t>(op.getAxis());
  for (int64_t before = number; before > 0; --before)
    number -= falls(op.getInputs().front(), before - 1);
  op.setAxis(number);
}

/// What is before and behind in the first dimension of a group is so many rows
/// of all others, which are whole.
void DimCollapser::rewriteMove(Operation *op) {
  Value source = getMoved(op).front();
  SmallVector<ReassociationIndices> groups = getGroups(source);
  auto shape = cast<RankedTensorType>(source.getType()).getShape();
  auto join = [&](ArrayRef<int64_t> numbers, bool isOfElements) {
    SmallVector<int64_t> joined;
    for (ArrayRef<int64_t> group : groups) {
      joined.push_back(numbers[group.front()]);
      for (int64_t dim : group.drop_front())
        if (isOfElements)
          joined.back() *= shape[dim];
    }
    return joined;
  };
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    for (auto [number, group] : llvm::enumerate(groups))
      if (llvm::is_contained(group, static_cast<int64_t>(concat.getDim()))) {
        concat.setDim(number);
        break;
      }
    return;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    if (groups.size() == shape.size())
      return;
    pad.setStaticLow(join(pad.getStaticLow(), /*isOfElements=*/true));
    pad.setStaticHigh(join(pad.getStaticHigh(), /*isOfElements=*/true));
    Block &body = pad.getRegion().front();
    body.eraseArguments(groups.size(), shape.size() - groups.size());
    return;
  }
  auto slice = cast<tensor::ExtractSliceOp>(op);
  slice.setStaticOffsets(join(slice.getStaticOffsets(), true));
  slice.setStaticSizes(join(slice.getStaticSizes(), true));
  slice.setStaticStrides(join(slice.getStaticStrides(), false));
}

/// Sizes are those of the dimensions' new numbers.
void DimCollapser::rewriteSizes() {
  OpBuilder builder(block.getParentOp()->getContext());
  for (auto dim : block.getOps<tensor::DimOp>()) {
    if (!changes(dim.getSource()))
      continue;
    int64_t number = *dim.getConstantIndex();
    for (int64_t before = *dim.getConstantIndex(); before > 0; --before)
      number -= falls(dim.getSource(), before - 1);
    builder.setInsertionPoint(dim);
    dim.getIndexMutable().assign(
        arith::ConstantIndexOp::create(builder, dim.getLoc(), number));
  }
}

/// Views split what their narrower side has left. Their tensors have their
/// types of before.
void DimCollapser::rewriteViews() {
  for (Operation &op : block) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      continue;
    auto [wide, narrow, groups] = getSides(&op);
    if (!changes(wide) && !changes(narrow))
      continue;
    SmallVector<ReassociationIndices> left;
    int64_t number = 0;
    for (unsigned dim = 0; dim < groups.size(); ++dim) {
      if (dim == 0 || !falls(narrow, dim - 1))
        left.emplace_back();
      for (int64_t part : groups[dim])
        if (part == 0 || !falls(wide, part - 1))
          left.back().push_back(number++);
    }
    Builder b(op.getContext());
    op.setAttr(tensor::ExpandShapeOp::getReassociationAttrStrName(),
               getReassociationIndicesAttribute(b, left));
    auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
    if (!expand)
      continue;
    OpBuilder builder(expand);
    SmallVector<int64_t> fixed;
    SmallVector<Value> sizes;
    dispatchIndexOpFoldResults(
        joinSizes(builder, expand.getMixedOutputShape(), getGroups(wide)),
        sizes, fixed);
    expand.setStaticOutputShape(fixed);
    expand.getOutputShapeMutable().assign(sizes);
  }
}

void DimCollapser::rewriteEmpties() {
  for (auto empty : block.getOps<tensor::EmptyOp>()) {
    if (!changes(empty) || empty.getDynamicSizes().empty())
      continue;
    OpBuilder builder(empty);
    SmallVector<int64_t> fixed;
    SmallVector<Value> sizes;
    dispatchIndexOpFoldResults(
        joinSizes(builder, empty.getMixedSizes(), getGroups(empty)), sizes,
        fixed);
    empty.getDynamicSizesMutable().assign(sizes);
  }
}

void DimCollapser::rewriteInside() {
  // What says how before types, which say what falls together.
  for (auto op : block.getOps<linalg::GenericOp>())
    rewriteGeneric(op);
  for (auto op : block.getOps<ScanOp>())
    rewriteScan(op);
  for (Operation &op : block)
    if (isDataMove(&op) && changes(op.getResult(0)))
      rewriteMove(&op);
  rewriteSizes();
  rewriteViews();
  rewriteEmpties();
  SmallVector<RankedTensorType> types;
  for (Value value : tensors)
    types.push_back(getCollapsedType(value));
  for (auto [value, type] : llvm::zip_equal(tensors, types)) {
    if (value.getType() == type)
      continue;
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(
          cast<DenseElementsAttr>(constant.getValue()).reshape(type));
    value.setType(type);
  }
  // Views that split nothing any more.
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) &&
        op.getOperand(0).getType() == op.getResult(0).getType()) {
      op.replaceAllUsesWith(ValueRange(op.getOperand(0)));
      op.erase();
    }
}
