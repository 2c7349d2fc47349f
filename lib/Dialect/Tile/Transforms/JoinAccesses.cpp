//===- JoinAccesses.cpp - Accesses of neighbours at once ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that joins loads, and stores, whose elements
// lie side by side in memory: the windows that a thread has, and their results.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"
#include "fusion/Support/Hardware.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_JOINACCESSESPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-join-accesses"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

namespace {
/// A load or store, and how far its elements lie from those of the others that
/// differ from it in nothing else.
struct ShiftedAccess {
  Operation *op;
  int64_t shift;
};

/// Accesses that differ in a constant part of the coordinate along memory
/// alone.
struct Neighbours {
  TypedValue<ViewType> view;
  /// The last dimension of the view that has more than one element.
  unsigned along;
  ValueRange symbols;
  RankedTensorType type;
  bool isStore;
  /// The map without this part.
  AffineMap map;
  SmallVector<ShiftedAccess> accesses;

  bool isSame(const Neighbours &other) const {
    return view == other.view && symbols == other.symbols &&
           type == other.type && isStore == other.isStore && map == other.map;
  }
};

/// Joins the accesses of one group.
class AccessJoiner {
public:
  AccessJoiner(const Neighbours &group, IRRewriter &rewriter)
      : group(group), rewriter(rewriter),
        checked(group.map.getNumResults(), true) {}

  void run();

private:
  /// The access of several elements from `shift` on, each for one more position
  /// along a dimension of the tile behind the others.
  AffineMap getMap(int64_t shift) const;
  RankedTensorType getType(int64_t width) const;
  /// The widest access of elements that begin at multiples of it; 1 for none.
  int64_t findWidth() const;
  /// Joins what lies in one piece of memory of so many elements.
  void join(ArrayRef<ShiftedAccess> accesses, int64_t width);
  void joinLoads(ArrayRef<ShiftedAccess> loads, int64_t shift, int64_t width);
  void joinStores(ArrayRef<ShiftedAccess> stores, int64_t shift);

  const Neighbours &group;
  IRRewriter &rewriter;
  SmallVector<bool> checked;
};
} // namespace

/// `map` without the constant part of result `along`, and that part.
static std::pair<AffineMap, int64_t> splitShift(AffineMap map, unsigned along) {
  map = simplifyAffineMap(map);
  SmallVector<AffineExpr> results(map.getResults());
  AffineExpr &own = results[along];
  auto sum = dyn_cast<AffineBinaryOpExpr>(own);
  auto constant = dyn_cast<AffineConstantExpr>(own);
  if (sum && sum.getKind() == AffineExprKind::Add)
    constant = dyn_cast<AffineConstantExpr>(sum.getRHS());
  int64_t shift = constant ? constant.getValue() : 0;
  own = own - shift;
  return {AffineMap::get(map.getNumDims(), map.getNumSymbols(), results,
                         map.getContext()),
          shift};
}

/// Adds `op`, which accesses a tile of `type`, to the one of `groups` that it
/// belongs to.
template <typename OpTy>
static void addAccess(OpTy op, Type tile, SmallVectorImpl<Neighbours> &groups) {
  auto type = dyn_cast<RankedTensorType>(tile);
  ArrayRef<int64_t> sizes = op.getView().getType().getShape();
  if (!type || !getLayout(type) || sizes.empty())
    return;
  unsigned along = sizes.size() - 1;
  while (along > 0 && sizes[along] == 1)
    --along;
  auto [map, shift] = splitShift(op.getMap(), along);
  Neighbours own{
      op.getView(), along, op.getSymbols(), type, std::is_same_v<OpTy, StoreOp>,
      map,          {}};
  auto *group = llvm::find_if(
      groups, [&](const Neighbours &known) { return known.isSame(own); });
  if (group == groups.end())
    group = &groups.emplace_back(std::move(own));
  group->accesses.push_back({op, shift});
}

AffineMap AccessJoiner::getMap(int64_t shift) const {
  unsigned dims = group.map.getNumDims();
  SmallVector<AffineExpr> results(group.map.getResults());
  results[group.along] =
      results[group.along] + rewriter.getAffineDimExpr(dims) + shift;
  return AffineMap::get(dims + 1, group.map.getNumSymbols(), results,
                        rewriter.getContext());
}

RankedTensorType AccessJoiner::getType(int64_t width) const {
  SmallVector<int64_t> shape(group.type.getShape());
  shape.push_back(width);
  LinearLayout layout = tile::getLayout(group.type)
                            .getLinear()
                            .expandDim(shape.size() - 1, width);
  return cast<RankedTensorType>(
      getTileType(shape, group.type.getElementType(),
                  LayoutAttr::get(rewriter.getContext(), layout)));
}

int64_t AccessJoiner::findWidth() const {
  int64_t size = group.view.getType().getShape()[group.along];
  unsigned bits = group.view.getType().getElementType().getIntOrFloatBitWidth();
  if (ShapedType::isDynamic(size) || size == 0 || bits < 8)
    return 1;
  // Whole accesses lie in a row, or none of their elements does.
  int64_t width =
      std::min<int64_t>(8 * fusion::kMaxAccessBytes / bits, size & -size);
  for (; width > 1; width /= 2) {
    Access access{group.view, getMap(0),      group.symbols,
                  checked,    getType(width), /*isDivisible=*/false};
    if (getVectorWidth(access, group.map.getNumDims(), width) == width)
      break;
  }
  return width;
}

void AccessJoiner::joinLoads(ArrayRef<ShiftedAccess> loads, int64_t shift,
                             int64_t width) {
  Operation *earliest = loads.front().op;
  for (const ShiftedAccess &load : loads)
    if (load.op->isBeforeInBlock(earliest))
      earliest = load.op;
  rewriter.setInsertionPoint(earliest);
  Location loc = earliest->getLoc();
  Value joined =
      LoadOp::create(rewriter, loc, getType(width), group.view, group.symbols,
                     ValueRange(), getMap(shift), checked);
  SmallVector<int64_t> offsets(group.type.getRank() + 1, 0);
  for (const ShiftedAccess &load : loads) {
    offsets.back() = load.shift - shift;
    Value slice = SliceOp::create(rewriter, loc, getType(1), joined, offsets);
    rewriter.replaceOpWithNewOp<ReshapeOp>(load.op, group.type, slice);
  }
}

void AccessJoiner::joinStores(ArrayRef<ShiftedAccess> stores, int64_t shift) {
  SmallVector<Value> values;
  Operation *latest = stores.front().op;
  for (const ShiftedAccess &store : stores) {
    values.push_back(cast<StoreOp>(store.op).getValue());
    if (latest->isBeforeInBlock(store.op))
      latest = store.op;
  }
  rewriter.setInsertionPoint(latest);
  Location loc = latest->getLoc();
  Value joined = StackOp::create(
      rewriter, loc, getType(static_cast<int64_t>(values.size())), values);
  StoreOp::create(rewriter, loc, joined, group.view, group.symbols,
                  getMap(shift), checked);
  for (const ShiftedAccess &store : stores)
    rewriter.eraseOp(store.op);
}

void AccessJoiner::join(ArrayRef<ShiftedAccess> accesses, int64_t width) {
  if (accesses.size() < 2)
    return;
  int64_t first = accesses.front().shift, last = accesses.back().shift;
  int64_t shift = first - llvm::mod(first, width);
  if (group.isStore) {
    // What no one has is not written.
    bool isWhole = static_cast<int64_t>(accesses.size()) == width &&
                   last - first == width - 1;
    if (isWhole)
      return joinStores(accesses, shift);
  } else if (last >= shift + width / 2 && first < shift + width / 2) {
    return joinLoads(accesses, shift, width);
  }
  // Each half for itself.
  const ShiftedAccess *middle =
      llvm::find_if(accesses, [&](const ShiftedAccess &access) {
        return access.shift >= shift + width / 2;
      });
  join(ArrayRef(accesses.begin(), middle), width / 2);
  join(ArrayRef(middle, accesses.end()), width / 2);
}

void AccessJoiner::run() {
  if (group.accesses.size() < 2)
    return;
  int64_t width = findWidth();
  if (width == 1)
    return;
  checked.assign(checked.size(), false);
  SmallVector<ShiftedAccess> accesses = group.accesses;
  for (const ShiftedAccess &access : accesses) {
    auto load = dyn_cast<LoadOp>(access.op);
    for (auto [all, own] :
         llvm::zip(checked, load ? load.getChecked()
                                 : cast<StoreOp>(access.op).getChecked()))
      all |= own;
  }
  llvm::sort(accesses, [](const ShiftedAccess &a, const ShiftedAccess &b) {
    return a.shift < b.shift;
  });
  // Two stores to one place stay as they are.
  for (auto [a, b] : llvm::zip(accesses, llvm::drop_begin(accesses)))
    if (group.isStore && a.shift == b.shift)
      return;
  auto pieceOf = [&](const ShiftedAccess &access) {
    return access.shift - llvm::mod(access.shift, width);
  };
  for (auto *begin = accesses.begin(); begin != accesses.end();) {
    auto *end =
        std::find_if(begin, accesses.end(), [&](const ShiftedAccess &access) {
          return pieceOf(access) != pieceOf(*begin);
        });
    join(ArrayRef(begin, end), width);
    begin = end;
  }
}

/// Joins what accesses `block` has between others of its effects. Programs do
/// not read what they write.
static void joinAccesses(Block &block, IRRewriter &rewriter) {
  SmallVector<Neighbours> groups;
  auto joinAll = [&] {
    for (const Neighbours &group : groups)
      AccessJoiner(group, rewriter).run();
    groups.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    if (load && load.getIndices().empty())
      addAccess(load, load.getType(), groups);
    else if (store)
      addAccess(store, store.getValue().getType(), groups);
    else if (!load && (op.getNumRegions() > 0 || !isMemoryEffectFree(&op)))
      joinAll();
  }
  joinAll();
}

namespace {
class JoinAccessesPass
    : public tile::impl::JoinAccessesPassBase<JoinAccessesPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    // Views of one tensor may be written and read, where results take the
    // place of operands.
    DenseSet<Value> written;
    bool readsBack = false;
    getOperation().getBody().walk([&](StoreOp store) {
      written.insert(store.getView().getDefiningOp<MakeViewOp>().getBase());
    });
    getOperation().getBody().walk([&](LoadOp load) {
      readsBack |= written.contains(
          load.getView().getDefiningOp<MakeViewOp>().getBase());
    });
    if (readsBack)
      return;
    IRRewriter rewriter(&getContext());
    getOperation().getBody().walk(
        [&](Block *block) { joinAccesses(*block, rewriter); });
  }
};
} // namespace
