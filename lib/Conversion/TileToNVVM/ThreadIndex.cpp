//===- ThreadIndex.cpp - Values that depend on the thread only ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the computation of linear functions over GF(2) of the
// thread's number: coordinates, shared-memory offsets, ownership. They are
// computed once, at the entry of the kernel.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/ThreadIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

Value ThreadIndex::apply(ArrayRef<std::pair<unsigned, uint64_t>> bits) {
  // Split into single bits, gathered by how far each moves.
  std::map<int, uint32_t> masks; // left shift -> bits of the thread's number
  std::vector<std::pair<unsigned, uint64_t>> key;
  for (auto [bit, value] : bits) {
    if (value)
      key.push_back({bit, value});
    for (unsigned target = 0; target < 64; ++target)
      if (value >> target & 1)
        masks[static_cast<int>(target) - static_cast<int>(bit)] |= 1u << bit;
  }
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(last);
  Type i32 = builder.getI32Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder,
                                     builder.getIntegerAttr(i32, value));
  };
  Value result;
  for (auto [shift, mask] : masks) {
    Value part = arith::AndIOp::create(builder, thread, constant(mask));
    if (shift > 0)
      part = arith::ShLIOp::create(builder, part, constant(shift));
    else if (shift < 0)
      part = arith::ShRUIOp::create(builder, part, constant(-shift));
    result = result ? arith::XOrIOp::create(builder, result, part) : part;
  }
  if (!result)
    result = constant(0);
  if (builder.getIndexType().getWidth() != 32)
    result = arith::ExtUIOp::create(builder, builder.getIndexType(), result);
  last = result.getDefiningOp();
  known[key] = result;
  return result;
}

Value ThreadIndex::getWarp() {
  if (warp)
    return warp;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(thread.getDefiningOp());
  // The shuffle tells ptxas that the warp agrees: branches on the number and
  // matrix descriptors made of it stay in uniform registers.
  Value number =
      arith::ShRUIOp::create(builder, thread, builder.constant32(kLaneBits));
  return warp = NVVM::ShflOp::create(
             builder, number.getType(), builder.constant32(-1), number,
             builder.constant32(0), builder.constant32(31), NVVM::ShflKind::idx,
             UnitAttr());
}

Value ThreadIndex::getCoordinate(const LinearLayout &layout, unsigned dim) {
  SmallVector<std::pair<unsigned, uint64_t>> bits;
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Lane); ++bit)
    bits.push_back({bit, layout.basis(HwDim::Lane, bit)[dim]});
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Warp); ++bit)
    bits.push_back({kLaneBits + bit, layout.basis(HwDim::Warp, bit)[dim]});
  return apply(bits);
}

Value ThreadIndex::apply(const tile::BitMatrix &lane,
                         const tile::BitMatrix &warp) {
  SmallVector<std::pair<unsigned, uint64_t>> bits;
  for (unsigned bit = 0; bit < lane.numColumns(); ++bit)
    bits.push_back({bit, lane.column(bit)});
  for (unsigned bit = 0; bit < warp.numColumns(); ++bit)
    bits.push_back({kLaneBits + bit, warp.column(bit)});
  return apply(bits);
}

Value ThreadIndex::getCoordinate(const LinearLayout &layout, unsigned dim,
                                 int64_t registerPart) {
  Value threadPart = getCoordinate(layout, dim);
  if (registerPart == 0)
    return threadPart;
  // The bits of the two parts are disjoint except in swizzled layouts.
  return arith::XOrIOp::create(builder, threadPart,
                               builder.constantIndex(registerPart));
}

Value ThreadIndex::isOwner(const LinearLayout &layout) {
  uint32_t mask = layout.freeMask(HwDim::Lane) | layout.freeMask(HwDim::Warp)
                                                     << kLaneBits;
  if (mask == 0)
    return nullptr;
  Value bits = arith::AndIOp::create(
      builder, thread, builder.constant32(static_cast<int32_t>(mask)));
  return builder.isEqual(bits, 0);
}

Value ThreadIndex::getWarpgroup() {
  return arith::ShRUIOp::create(
      builder, getWarp(), builder.constant32(llvm::Log2_32(kWarpgroupWarps)));
}

Value ThreadIndex::isFirst() { return builder.isEqual(thread, 0); }

Value ThreadIndex::getLane() {
  return arith::AndIOp::create(builder, thread,
                               builder.constant32(kWarpThreads - 1));
}

void ThreadIndex::setThread(Value number, Operation *behind) {
  thread = number;
  warp = nullptr;
  last = behind;
  known.clear();
}
