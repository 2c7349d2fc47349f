//===- GroupedTiles.cpp - Tiles of rows of one group ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements tiles of rows in groups. Where the schedule has an axis
// of kind `group`, tiles of rows are those of the groups, one after the other:
// the grid walks as many as there are.
//
//===----------------------------------------------------------------------===//

#include "GroupedTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult GroupedTiles::refuse(const Twine &reason) const {
  return kernel.emitError("FUS-3122: the schedule has tiles of rows of one "
                          "group each, but ")
         << reason;
}

LogicalResult GroupedTiles::findGroups() {
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>()) {
    std::optional<GroupedSum> sum = matchGroupedSum(op);
    if (!sum)
      continue;
    auto own = sum->groups.getDefiningOp<RowGroupsOp>();
    unsigned rowDim = kernel.getSpace().getDimOfLoop(op, sum->rowLoop);
    if (kernel.getDecision(kernel.getSpace().getDimOfLoop(op, sum->loop))
            .getKind() != AxisKind::Group)
      return refuse("a sum walks all groups");
    if (!own || !isa<BlockArgument>(own.getOffsets()))
      return refuse("offsets of the groups are computed in the kernel");
    if (groups && (groups != own || dim != rowDim))
      return refuse("it groups rows in two ways");
    groups = own;
    dim = rowDim;
  }
  if (!groups)
    return refuse("it has no sum of what belongs to a row's group");
  return success();
}

LogicalResult GroupedTiles::find() {
  if (!kernel.hasGroups())
    return success();
  if (failed(findGroups()))
    return failure();
  AxisAttr axis = kernel.getDecision(dim);
  MmaAttr mma = kernel.getMma();
  bool plain = !mma || (mma.getCluster() == 1 && !mma.getStream());
  if (axis.getKind() != AxisKind::Grid || axis.getStrip() != 1 ||
      axis.getSteps() != 1 || !llvm::isPowerOf2_64(axis.getTile()) || !plain ||
      kernel.getDim(dim).granule != 1)
    return refuse("the rows' axis is no plain one of the grid, with a "
                  "power of two as its tile");
  if (!kernel.getDim(dim).getStaticExtent() ||
      ShapedType::isDynamic(groups.getNumGroups()))
    return refuse("the numbers of rows and groups are not known");
  for (Value result : kernel.getOp().getStoredValues())
    if (cast<RankedTensorType>(result.getType()).getRank() == 0 ||
        kernel.getSpace().getDimOfTensor(result, 0) != dim)
      return refuse("rows are not the first dimension of a result");
  axes.setGroupedDim(dim);
  return success();
}

tile::FindGroupOp GroupedTiles::findGroup(Value number) {
  auto view =
      cast<TypedValue<tile::ViewType>>(views.lookup(groups.getOffsets()));
  Type index = builder.getIndexType();
  return tile::FindGroupOp::create(
      builder, loc, index, index, index, index, view, number,
      kernel.getDecision(dim).getTile(), *kernel.getDim(dim).getStaticExtent());
}

AffineExpr GroupedTiles::getMostTiles(unsigned axis) const {
  AffineExpr tiles = axes[axis].extent.ceilDiv(axes[axis].tile);
  if (!areAlong(axis))
    return tiles;
  // Each of the groups, with the rows before and after them, may end in a tile
  // that is not full, but one.
  RowGroupsOp op = groups;
  return tiles + (op.getNumGroups() + 1);
}

Value GroupedTiles::countTiles(unsigned axis) {
  if (!areAlong(axis))
    return builder.getSize(getMostTiles(axis));
  if (!total)
    total =
        findGroup(arith::ConstantIndexOp::create(builder, loc, 0)).getTotal();
  return total;
}

Value GroupedTiles::place(Value number) {
  tile::FindGroupOp found = findGroup(number);
  Value own = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                         found.getGroup());
  group = {own, {}};
  coord = axes.asCoordinate({found.getGroup(), {}}, grid.depth);
  end = found.getEnd();
  return found.getBegin();
}

TypedValue<tile::ViewType>
GroupedTiles::endWithGroup(TypedValue<tile::ViewType> view) {
  // Rows after the group's last are another's. Only the size of the outermost
  // dimension changes, on which no address depends.
  tile::ViewType type = view.getType();
  SmallVector<int64_t> sizes(type.getShape());
  sizes.front() = ShapedType::kDynamic;
  SmallVector<Value> dynamic{end};
  auto whole = view.getDefiningOp<tile::MakeViewOp>();
  llvm::append_range(dynamic, ValueRange(whole.getSizes()));
  return tile::MakeViewOp::create(
      builder, loc,
      tile::ViewType::get(builder.getContext(), sizes, type.getElementType()),
      whole.getBase(), dynamic, /*shape=*/AffineMapAttr());
}

bool GroupedTiles::isGroupOfTile(linalg::LinalgOp op, const GroupedSum &sum,
                                 ArrayRef<AffineExpr> loopCoords) const {
  return groups && sum.groups.getDefiningOp() == groups &&
         kernel.getDecision(kernel.getSpace().getDimOfLoop(op, sum.loop))
                 .getKind() == AxisKind::Group &&
         loopCoords[sum.rowLoop] ==
             builder.getAffineDimExpr(axes.getBound(dim));
}

Tile GroupedTiles::clearUngrouped(Tile sum, TypedAttr zero) const {
  RowGroupsOp op = groups;
  Value count = arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(op.getNumGroups()));
  Value isGroup = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        group.value, count);
  return builder.select({isGroup, {}}, sum, {builder.createConstant(zero), {}});
}
