//===- RowStarts.cpp - Where rows begin in memory -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements where tiles begin along rows whose length is no multiple
// of what one instruction moves. Row r of N elements begins at element r N of
// memory, which is not aligned for most rows. The tile begins at the aligned
// element at or before it, up to V - 1 elements early, for accesses of V:
//
//   memory   | row r - 1 |         row r            |  row r + 1
//   aligned  +-------+-------+-------+-------+-------+-------+
//   tile             [-3 -2 -1 0  1  2 ...          N-1  N ...
//
// Positions keep their meaning, so that those before the row are negative: no
// smaller than the row's length as unsigned numbers, as those after its end.
//
//===----------------------------------------------------------------------===//

#include "RowStarts.h"
#include "fusion/Support/Hardware.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Bytes that one instruction of a thread moves at most.
static constexpr int64_t kAccessBytes = kMaxAccessBytes;

static int64_t getElementBytes(RankedTensorType type) {
  return std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
}

std::optional<RowStarts::RowStart>
RowStarts::matchRowStart(Value tensor, unsigned dim) const {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  SmallVector<unsigned> walked = kernel.getWalkedDims(dim);
  RowStart start;
  start.elements = kAccessBytes / getElementBytes(type);
  int64_t stride = 1;
  bool isAligned = true;
  for (int64_t i = type.getRank(); i-- > 0;) {
    int64_t size = type.getDimSize(i);
    std::optional<unsigned> own = kernel.getSpace().findDimOfTensor(tensor, i);
    // A single element may be read as such, by no loop.
    if (!own && size == 1)
      continue;
    if (!own || kernel.getSpace().getGranule(tensor, i) != 1)
      return std::nullopt;
    if (!walked.empty() && *own == walked.back()) {
      walked.pop_back();
    } else if (size != 1) {
      // What a row begins with has to be one position in each tile.
      if (!walked.empty() || kernel.getDecision(*own).getTile() != 1)
        return std::nullopt;
      start.rows.push_back({*own, stride % start.elements});
      isAligned &= stride % start.elements == 0;
    }
    stride *= size;
  }
  if (isAligned || !walked.empty())
    return std::nullopt;
  return start;
}

const RowStarts::RowStart *RowStarts::getRowStart(unsigned dim) {
  auto [known, isNew] = rowStarts.try_emplace(dim);
  std::optional<RowStart> &chosen = known->second;
  if (!isNew)
    return chosen ? &*chosen : nullptr;
  AxisAttr decision = kernel.getDecision(dim);
  auto extent = dyn_cast<AffineConstantExpr>(kernel.getWalkedExtent(dim));
  // What blocks share in tiles of the grid are results, of which windows or
  // other operands decide.
  bool isOwnWalk = decision.isWalked() || decision.getKind() == AxisKind::Full;
  // Other strategies have positions that stand for something besides, or rely
  // on what is past the end to come last.
  if (kernel.getStrategy() != Strategy::Reduction || kernel.getMma() ||
      !extent || decision.getTile() == 1 || kernel.hasGroups() || !isOwnWalk ||
      !axes.getStrips().empty() || !axes.getGranules().empty())
    return nullptr;
  // The tensors that have most to gain decide.
  int64_t most = 0;
  auto consider = [&](Value tensor) {
    std::optional<RowStart> start = matchRowStart(tensor, dim);
    if (!start || extent.getValue() < start->elements)
      return;
    auto type = cast<RankedTensorType>(tensor.getType());
    int64_t bytes = type.getNumElements() * getElementBytes(type);
    if (bytes > most) {
      most = bytes;
      chosen = start;
    }
  };
  llvm::for_each(kernel.getBlock().getArguments(), consider);
  llvm::for_each(kernel.getOp().getStoredValues(), consider);
  if (!chosen)
    return nullptr;
  // What is held has room for the elements before the row.
  if (!decision.isWalked() && extent.getValue() + chosen->elements - 1 >
                                  static_cast<int64_t>(llvm::alignTo(
                                      extent.getValue(), decision.getTile())))
    chosen.reset();
  return chosen ? &*chosen : nullptr;
}

int64_t RowStarts::getMostLead(unsigned dim) {
  const RowStart *start = getRowStart(dim);
  return start ? start->elements - 1 : 0;
}

Value RowStarts::getLead(const Axis &axis) {
  if (!axis.dim || axis.tile == 1)
    return nullptr;
  const RowStart *start = getRowStart(*axis.dim);
  if (!start)
    return nullptr;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value sum;
  for (auto [dim, stride] : start->rows) {
    unsigned row = axes.getBound(dim);
    if (!axes.isBound(dim) || axes.getMerged(dim) || axes[row].tile != 1 ||
        !axes[row].offset)
      return index(0);
    Value part =
        arith::MulIOp::create(builder, loc, axes[row].offset, index(stride));
    sum = sum ? arith::AddIOp::create(builder, loc, sum, part) : part;
  }
  return arith::AndIOp::create(builder, loc, sum, index(start->elements - 1));
}

void RowStarts::leadTiles(unsigned gridDepth) {
  for (unsigned number = 0; number < axes.size(); ++number) {
    Axis &axis = axes[number];
    bool isHeld = axis.dim && !kernel.getDecision(*axis.dim).isWalked() &&
                  axes.getBound(*axis.dim) == number;
    Value lead = isHeld ? getLead(axis) : Value();
    if (!lead)
      continue;
    Value begin = axis.offset;
    if (!begin)
      begin = arith::ConstantIndexOp::create(builder, loc, 0);
    axis.unled = begin;
    axis.offset = arith::SubIOp::create(builder, loc, begin, lead);
    axis.depth = gridDepth;
    axis.exact = false;
    axis.lead = getMostLead(*axis.dim);
  }
}
