//===- SharedPlace.cpp - Addresses in shared memory -----------------------===//
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

#include "ProgramLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

int64_t ProgramLowering::SharedPlace::alignment() const {
  // The block's shared memory begins at a multiple of 1024.
  return llvm::MinAlign(
      llvm::MinAlign(llvm::MinAlign(offset, stageBytes), groupBytes), 1024);
}

ProgramLowering::SharedPlace ProgramLowering::placeOf(Value buffer) const {
  auto known = ringBuffers.find(buffer);
  if (known != ringBuffers.end())
    return known->second;
  if (auto alloc = buffer.getDefiningOp<tile::AllocOp>())
    return SharedPlace::at(*alloc.getOffset());
  assert(known != ringBuffers.end() && "operand is lowered before its user");
  return known->second;
}

Value ProgramLowering::getSharedBase() {
  if (!sharedBase) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    sharedBase = LLVM::AddressOfOp::create(builder, loc, sharedMemory);
  }
  return sharedBase;
}

Value ProgramLowering::sharedAddress(const SharedPlace &place,
                                     Value threadOffset, uint64_t xorPart,
                                     uint64_t immediate) {
  Value address = getSharedBase();
  auto pointer = cast<LLVM::LLVMPointerType>(address.getType());
  auto advance = [&](LLVM::GEPArg by) {
    address = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(),
                                  address, ArrayRef<LLVM::GEPArg>{by});
  };
  if (xorPart)
    threadOffset = arith::XOrIOp::create(builder, loc, threadOffset,
                                         constantIndex(xorPart));
  if (threadOffset)
    advance(threadOffset);
  for (auto [number, bytes] : {std::pair(place.stage, place.stageBytes),
                               std::pair(place.group, place.groupBytes)})
    if (number)
      advance(arith::MulIOp::create(builder, loc, number, constant32(bytes))
                  .getResult());
  // Constants last: they become immediate offsets of the instruction.
  if (int64_t constant = place.offset + immediate)
    advance(static_cast<int32_t>(constant));
  return address;
}
