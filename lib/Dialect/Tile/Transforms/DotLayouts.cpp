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
#include "CopyPlan.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Dialect/Tile/IR/MmaSyncLayouts.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "fusion/Support/Float8.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

bool tile::hasMmaSync(Type a, Type b, Type accumulator) {
  if (fusion::isFloat8(a) && fusion::isFloat8(b))
    return accumulator.isF32();
  if (a != b)
    return false;
  if (a.isF16() || a.isBF16() || a.isF32())
    return accumulator.isF32();
  if (a.isInteger(8))
    return accumulator.isInteger(32);
  return a.isF64() && accumulator.isF64();
}

namespace {
/// The narrowest numbers that an operand is computed from.
struct NarrowSource {
  /// Bits of one; 32 at most.
  unsigned bits = 32;
  /// What loads them, as stored (several in an element).
  LoadOp load;
};
} // namespace

/// The narrowest numbers that are loaded to compute `value` element by element.
/// What a whole group of elements shares, a factor, is none of them.
static NarrowSource narrowestSource(Value value) {
  NarrowSource narrowest;
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
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      Type element = getTileElementType(next.getType());
      if (!element.isIntOrFloat() || (log2Share > 0 && !element.isInteger()))
        continue;
      unsigned bits =
          std::max(element.getIntOrFloatBitWidth(), 8u) >> log2Share;
      if (bits > 0 && bits < narrowest.bits)
        narrowest = {bits, load};
    } else if (!isa<TileDialect>(op->getDialect()) ||
               isa<ConvertLayoutOp>(op)) {
      for (Value operand : op->getOperands())
        pending.push_back({operand, log2Share});
    }
  }
  return narrowest;
}

static NarrowSource narrowestSource(DotOp dot) {
  NarrowSource a = narrowestSource(dot.getA());
  NarrowSource b = narrowestSource(dot.getB());
  return b.bits < a.bits ? b : a;
}

/// Whether warps have a part of the depth each.
static bool isInParts(DotOp dot) {
  return getTileShape(dot.getType()).size() == 3;
}

static bool liesAlong(LoadOp load, unsigned dim) {
  return load && getTileShape(load.getType()).size() == 2 &&
         isContiguous(Access::of(load), dim);
}

/// The base-two logarithm of how many elements a thread reads side by side
/// along the depth: as many as make one 32-bit register of the narrowest type
/// that the operands are loaded in, so that dequantised operands are not read
/// byte by byte. Where warps share the depth, operands are read once: then as
/// many as a load moves.
static unsigned log2Run(DotOp dot) {
  NarrowSource source = narrowestSource(dot);
  bool wide = isInParts(dot) && (!source.load || liesAlong(source.load, 1));
  unsigned run = llvm::Log2_32((wide ? 128 : 32) / source.bits);
  int64_t depth = getTileShape(dot.getA().getType())[1];
  if (isInParts(dot))
    depth /= getTileShape(dot.getType())[0];
  while (run > 0 && (int64_t(4) << run) > depth)
    --run;
  return run;
}

/// Whether a producer brings an operand of several numbers a byte to `dot`, of
/// which `rows` rows share it.
static bool isProduced(DotOp dot, int64_t rows) {
  FailureOr<fusion::TargetInfo> target = fusion::resolveTarget(dot);
  return succeeded(target) && rows <= target->fitted.fewRows.producedPackedRows;
}

/// The same along the rows of the instruction, `extent` of them, for an operand
/// `dim` that is stored along them and has to be unpacked: `ldmatrix`
/// transposes elements of 16 bits only.
static unsigned log2RowRun(DotOp dot, unsigned dim, int64_t extent) {
  constexpr int64_t kLaneRows = 8;
  NarrowSource source = narrowestSource(dim == 0 ? dot.getA() : dot.getB());
  // Several numbers in a byte come by the copy engine, where there is one. Its
  // swizzle gives rows whose numbers differ in bit 2 other banks, and four
  // lanes read 16 bytes each of one: lanes then have rows that are four apart.
  constexpr unsigned kSwizzleRun = 2;
  auto program = dot->getParentOfType<ProgramOp>();
  if (isInParts(dot) && program.getPipeline()->getMbarriers() &&
      source.bits < 8 && liesAlong(source.load, 1) &&
      isProduced(dot, getTileShape(dot.getType())[2 - dim]))
    return (kLaneRows << kSwizzleRun) <= extent ? kSwizzleRun : 0;
  if (!isInParts(dot) || source.bits >= 16 || !liesAlong(source.load, 0))
    return 0;
  unsigned run = llvm::Log2_32(128 / source.bits);
  while (run > 0 && (kLaneRows << run) > extent)
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
                  getTileElementType(dot.getType())))
    return std::nullopt;
  unsigned bits = element.getIntOrFloatBitWidth();
  int64_t depth = getTileShape(dot.getA().getType())[1];
  // With few rows the columns are the instruction's rows: 8 then suffice. Warps
  // that share the depth leave a whole tile to each: its longer side.
  ArrayRef<int64_t> shape = getTileShape(dot.getType());
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  bool preferSwapped = rows < 16 || (isInParts(dot) && columns > rows);
  for (bool swapped : {preferSwapped, !preferSwapped}) {
    std::optional<LinearLayout> layout = mmaSyncAccumulator(
        shape, program.getNumWarps(), bits, swapped,
        log2RowRun(dot, swapped ? 1 : 0, swapped ? columns : rows));
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
