//===- SharedMemory.cpp - Addresses in shared memory ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the addresses of buffers and barriers in shared memory,
// whether they stand still or belong to a stage of a ring.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/SharedMemory.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

int64_t SharedPlace::alignment() const {
  // The block's shared memory begins at a multiple of 1024.
  return llvm::MinAlign(
      llvm::MinAlign(llvm::MinAlign(offset, stageBytes), groupBytes), 1024);
}

SharedPlace SharedMemory::getPlace(Value buffer) const {
  auto known = places.find(buffer);
  if (known != places.end())
    return known->second;
  if (auto alloc = buffer.getDefiningOp<tile::AllocOp>())
    return SharedPlace::at(*alloc.getOffset());
  assert(known != places.end() && "operand is lowered before its user");
  return known->second;
}

Value SharedMemory::getBase() {
  if (!base) {
    OpBuilder::InsertionGuard guard(builder);
    Region *region = builder.getInsertionBlock()->getParent();
    while (!isa<LLVM::LLVMFuncOp>(region->getParentOp()))
      region = region->getParentRegion();
    builder.setInsertionPointToStart(&region->front());
    base = LLVM::AddressOfOp::create(builder, global);
  }
  return base;
}

Value SharedMemory::getAddress(const SharedPlace &place, Value threadOffset,
                               uint64_t xorPart, uint64_t immediate) {
  Value address = getBase();
  auto pointer = cast<LLVM::LLVMPointerType>(address.getType());
  auto advance = [&](LLVM::GEPArg by) {
    address = LLVM::GEPOp::create(builder, pointer, builder.getI8Type(),
                                  address, ArrayRef<LLVM::GEPArg>{by});
  };
  if (xorPart)
    threadOffset = arith::XOrIOp::create(builder, threadOffset,
                                         builder.constantIndex(xorPart));
  if (threadOffset)
    advance(threadOffset);
  for (auto [number, bytes] : {std::pair(place.stage, place.stageBytes),
                               std::pair(place.group, place.groupBytes)})
    if (number)
      advance(arith::MulIOp::create(builder, number, builder.constant32(bytes))
                  .getResult());
  // Constants last: they become immediate offsets of the instruction.
  if (int64_t constant = place.offset + immediate)
    advance(static_cast<int32_t>(constant));
  return address;
}

Value SharedMemory::getAddress32(const SharedPlace &place) {
  return LLVM::PtrToIntOp::create(builder, builder.getI32Type(),
                                  getAddress(place));
}
