//===- Scratch.cpp - Memory that blocks exchange in -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the memory in which blocks hand sums to each other.
//
//===----------------------------------------------------------------------===//

#include "Scratch.h"

#include "fusion/Executable/PackageModel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::fusion;

int64_t mlir::fusion::countBytes(ValueRange tiles) {
  int64_t bytes = 0;
  for (Value tile : tiles) {
    int64_t bits =
        tile::getTileElementType(tile.getType()).getIntOrFloatBitWidth();
    for (int64_t size : tile::getTileShape(tile.getType()))
      bits *= size;
    bytes += bits / 8;
  }
  return bytes;
}

FailureOr<Scratch> mlir::fusion::makeScratch(int64_t slotBytes,
                                             int64_t numSlots,
                                             TileBuilder &builder) {
  Location loc = builder.getLoc();
  constexpr int64_t kWord = 4;
  int64_t signalBytes =
      numSlots * builder.getKernel().getSchedule().getWarps() * kWord;
  if (signalBytes > fusionpkg::kSignalBytes)
    return failure();
  auto pointer =
      LLVM::LLVMPointerType::get(builder.getContext(), /*addressSpace=*/1);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&builder.getProgram().getBody().front());
  Scratch scratch;
  scratch.slots =
      tile::ScratchOp::create(builder, loc, pointer, slotBytes * numSlots,
                              /*signals=*/false);
  scratch.signals = tile::ScratchOp::create(builder, loc, pointer, signalBytes,
                                            /*signals=*/true);
  return scratch;
}
