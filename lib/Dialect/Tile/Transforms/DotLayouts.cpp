//===- DotLayouts.cpp - Layouts that matrix instructions want -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of layouts for products by mma.sync.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/Transforms/DotLayouts.h"
#include "fusion/Dialect/Tile/IR/MmaSyncLayouts.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile;

bool tile::hasMmaSync(Type a, Type b, Type accumulator, bool tf32) {
  if (isFloat8(a) && isFloat8(b))
    return accumulator.isF32();
  if (a != b)
    return false;
  if (a.isF16() || a.isBF16() || (a.isF32() && tf32))
    return accumulator.isF32();
  if (a.isInteger(8))
    return accumulator.isInteger(32);
  return a.isF64() && accumulator.isF64();
}

/// The bits of the narrowest numbers, repeated ones by their share, that are
/// loaded to compute `value` element by element; 32 at most.
static unsigned narrowestSource(Value value) {
  unsigned narrowest = 32;
  SmallVector<std::pair<Value, unsigned>> pending = {{value, 0}};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!pending.empty()) {
    auto [next, log2Share] = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || op->getNumRegions() != 0 || !seen.insert(op).second)
      continue;
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      pending.push_back(
          {repeat.getValue(), log2Share + repeat.getLog2Factor()});
    } else if (isa<LoadOp>(op)) {
      Type element = getTileElementType(next.getType());
      if (element.isIntOrFloat())
        narrowest =
            std::min(narrowest, std::max(element.getIntOrFloatBitWidth(), 8u) >>
                                    log2Share);
    } else if (!isa<TileDialect>(op->getDialect()) ||
               isa<ConvertLayoutOp>(op)) {
      for (Value operand : op->getOperands())
        pending.push_back({operand, log2Share});
    }
  }
  return std::max(narrowest, 1u);
}

/// The base-two logarithm of how many elements a thread reads side by side
/// along the depth: as many as make one 32-bit register of the narrowest type
/// that the operands are loaded in, so that dequantised operands are not read
/// byte by byte.
static unsigned log2Run(DotOp dot) {
  unsigned run = llvm::Log2_32(
      32 / std::min(narrowestSource(dot.getA()), narrowestSource(dot.getB())));
  int64_t depth = getTileShape(dot.getA().getType())[1];
  while (run > 0 && (int64_t(4) << run) > depth)
    --run;
  return run;
}

std::optional<LinearLayout> tile::getDotAccumulatorLayout(DotOp dot) {
  auto program = dot->getParentOfType<ProgramOp>();
  std::optional<PipelineAttr> pipeline = program.getPipeline();
  if (!pipeline || pipeline->getKind() != MmaKind::MmaSync)
    return std::nullopt;
  Type element = getTileElementType(dot.getA().getType());
  if (!hasMmaSync(element, getTileElementType(dot.getB().getType()),
                  getTileElementType(dot.getType()), dot.getTf32()))
    return std::nullopt;
  unsigned bits = element.getIntOrFloatBitWidth();
  int64_t depth = getTileShape(dot.getA().getType())[1];
  // With few rows the columns are the instruction's rows: 8 then suffice.
  ArrayRef<int64_t> shape = getTileShape(dot.getType());
  for (bool swapped : {shape[0] < 16, shape[0] >= 16}) {
    std::optional<LinearLayout> layout =
        mmaSyncAccumulator(shape, program.getNumWarps(), bits, swapped);
    if (layout && mmaSyncOperand(0, *layout, depth, bits, log2Run(dot)))
      return layout;
  }
  return std::nullopt;
}

LinearLayout tile::getDotOperandLayout(DotOp dot, unsigned operand,
                                       const LinearLayout &accumulator) {
  Type type = dot->getOperand(operand).getType();
  return *mmaSyncOperand(operand, accumulator, getTileShape(type)[1],
                         getTileElementType(type).getIntOrFloatBitWidth(),
                         log2Run(dot));
}
