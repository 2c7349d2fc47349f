//===- FitRing.cpp - Stages of a ring that shared memory holds ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements how many stages a ring gets: those of the schedule, or
// as many as shared memory has room for beside what else the loop keeps there.
//
//===----------------------------------------------------------------------===//

#include "LoopPipeliner.h"

#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Support/Hardware.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion::tile;

static int64_t getTileBytes(Type tile) {
  Type element = getTileElementType(tile);
  int64_t bits = element.isIntOrFloat()
                     ? std::max(8u, element.getIntOrFloatBitWidth())
                     : 64;
  for (int64_t size : getTileShape(tile))
    bits *= size;
  return bits / 8;
}

/// Bytes that tiles of `loop` take for a moment on their way to other threads:
/// one after the other, so that the largest counts. What `isCopied` holds for
/// is read from the ring.
static int64_t getExchangeBytes(scf::ForOp loop,
                                function_ref<bool(Value)> isCopied) {
  int64_t most = 0;
  loop.walk([&](ConvertLayoutOp convert) {
    if (isCopied(convert.getValue()))
      return;
    if (classifyConversion(getLayout(convert.getValue().getType()).getLinear(),
                           getLayout(convert.getType()).getLinear()) ==
        ConversionKind::Shared)
      most = std::max(most, getTileBytes(convert.getType()));
  });
  return most;
}

bool LoopPipeliner::fitStages() {
  auto isCopied = [&](Value value) {
    return llvm::any_of(
        copies, [&](Copied &copy) { return copy.load.getResult() == value; });
  };
  int64_t stageBytes = fusion::kStageBarrierBytes;
  for (const Copied &copy : copies) {
    const SharedLayout &buffer =
        copy.tensor.buffer ? copy.tensor.buffer.getLayout().getShared()
                           : copy.plan.buffer;
    int64_t alignment = std::max<int64_t>(buffer.alignment(), kBankRowBytes);
    stageBytes += llvm::alignTo(buffer.sizeInBytes(), alignment);
  }
  int64_t fit = (sharedBytes - getExchangeBytes(loop, isCopied)) / stageBytes;
  if (fit >= stages)
    return true;
  std::string text = "FUS-3215: " + std::to_string(stages) +
                     " stages do not fit shared memory; ";
  text += fit < 2 ? "what they would hold is loaded as it is used"
                  : "the ring has " + std::to_string(fit);
  auto opts = remark::RemarkOpts::name("fewer-stages")
                  .category("fusion-tile")
                  .function(loop->getParentOfType<ProgramOp>().getName());
  if (auto remark = remark::missed(loc, opts))
    remark << text;
  if (fit < 2)
    return false;
  stages = fit;
  return true;
}
