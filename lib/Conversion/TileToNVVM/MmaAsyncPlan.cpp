//===- MmaAsyncPlan.cpp - How a product in flight is made -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the division of a product into instructions: whether
// layouts and buffers are those of wgmma, and how many there are.
//
//===----------------------------------------------------------------------===//

#include "MmaAsyncPlan.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

static constexpr int64_t kInstructionColumns = 256;
static constexpr int64_t kDepthBytes = 32;

/// How wgmma spells an operand's element type; empty when it has none such.
static StringRef operandType(Type type) {
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isF32())
    return "tf32";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return type.isInteger(8) ? "s8" : "";
}

static Type operandElement(Type type) {
  if (auto buffer = dyn_cast<tile::BufferType>(type))
    return buffer.getElementType();
  return tile::getTileElementType(type);
}

std::string MmaAsyncPlan::name() const {
  return ("wgmma.mma_async.sync.aligned.m64n" + Twine(n) + "k" + Twine(depth) +
          (accElement.isF32() ? ".f32." : ".s32.") + operandType(aElement) +
          "." + operandType(bElement))
      .str();
}

std::string MmaAsyncPlan::flags() const {
  std::string flags = ", keep";
  if (accElement.isF32())
    flags += ", 1, 1";
  if (aElement.getIntOrFloatBitWidth() == 16) {
    if (aDescriptor)
      flags += aDescriptor->kMajor ? ", 0" : ", 1";
    flags += bDescriptor->kMajor ? ", 0" : ", 1";
  }
  return flags;
}

const tile::SharedLayout &mlir::fusion::getSharedLayout(Value buffer) {
  return cast<tile::BufferType>(buffer.getType()).getLayout().getShared();
}

/// Divides a product of so many rows and columns among warpgroups and
/// instructions.
static void divide(MmaAsyncPlan &plan, int64_t rows, int64_t columns,
                   unsigned numWarps) {
  int64_t groups = numWarps / kWarpgroupWarps;
  plan.alongRows = std::min(groups, rows / kInstructionRows);
  plan.alongColumns = groups / plan.alongRows;
  plan.ownColumns = columns / plan.alongColumns;
  plan.n = std::min(plan.ownColumns, kInstructionColumns);
  plan.rowBlocks = rows / (kInstructionRows * plan.alongRows);
  plan.columnBlocks = plan.ownColumns / plan.n;
  plan.depth = kDepthBytes / (plan.aElement.getIntOrFloatBitWidth() / 8);
  plan.steps =
      cast<tile::BufferType>(plan.b.getType()).getShape()[1] / plan.depth;
}

/// Finds the descriptor by which an instruction reads so many rows of `buffer`.
static LogicalResult describe(tile::MmaAsyncOp op,
                              const SharedMemory &sharedMemory, Value buffer,
                              int64_t rows,
                              std::optional<tile::MatrixDescriptor> &found) {
  found = tile::getMatrixDescriptor(getSharedLayout(buffer), rows);
  if (!found || sharedMemory.getPlace(buffer).alignment() <
                    tile::getSwizzleAlignment(found->swizzle))
    return op.emitOpError("FUS-3315: no matrix descriptor reads ")
           << buffer.getType();
  return success();
}

FailureOr<MmaAsyncPlan> mlir::fusion::planMmaAsync(ProgramLowering &lowering,
                                                   tile::MmaAsyncOp op) {
  bool swapped = op.getSwapped();
  MmaAsyncPlan plan;
  plan.a = swapped ? op.getB() : op.getA();
  plan.b = swapped ? op.getA() : op.getB();
  plan.aElement = operandElement(plan.a.getType());
  plan.bElement = operandElement(plan.b.getType());
  plan.accElement = tile::getTileElementType(op.getType());
  bool isInteger = plan.aElement.isInteger(8);
  if (operandType(plan.aElement).empty() ||
      operandType(plan.bElement).empty() ||
      (isInteger ? !plan.accElement.isInteger(32) : !plan.accElement.isF32()))
    return op.emitOpError("FUS-3312: wgmma has no product of ")
           << plan.aElement << " and " << plan.bElement << " into "
           << plan.accElement;
  if (!lowering.getRole().isConsumer() &&
      lowering.getProgram().getExtraWarps().value_or(0))
    return op.emitOpError("FUS-3313: stands outside the consumer's role");

  const SharedMemory &sharedMemory = lowering.getSharedMemory();
  ArrayRef<int64_t> shape = tile::getTileShape(op.getType());
  unsigned numWarps = lowering.getProgram().getNumWarps();
  auto wanted = tile::getWgmmaAccumulatorLayout(shape, numWarps, swapped);
  tile::LayoutAttr given = tile::getLayout(op.getType());
  if (!wanted || !given || given.getLinear() != *wanted)
    return op.emitOpError("FUS-3314: the accumulator does not have wgmma's "
                          "layout for ")
           << numWarps << " warps";
  divide(plan, shape[swapped ? 1 : 0], shape[swapped ? 0 : 1], numWarps);
  if (failed(describe(op, sharedMemory, plan.b, plan.n, plan.bDescriptor)))
    return failure();
  if (plan.aInShared()) {
    if (failed(describe(op, sharedMemory, plan.a, kInstructionRows,
                        plan.aDescriptor)))
      return failure();
    return plan;
  }
  int64_t bytes = plan.aElement.getIntOrFloatBitWidth() / 8;
  auto operand = tile::getWgmmaOperandALayout(
      tile::getTileShape(plan.a.getType()), bytes, numWarps);
  tile::LayoutAttr layout = tile::getLayout(plan.a.getType());
  if (!operand || !layout || layout.getLinear() != *operand)
    return op.emitOpError("FUS-3316: the operand in registers does not have "
                          "wgmma's layout");
  return plan;
}

bool mlir::fusion::continues(const MmaAsyncPlan &plan, const MmaAsyncPlan &next,
                             const SharedMemory &sharedMemory) {
  if (!plan.aInShared() || plan.a != next.a || plan.bElement != next.bElement ||
      plan.accElement != next.accElement || plan.alongColumns != 1 ||
      next.alongColumns != 1 || plan.columnBlocks != 1 ||
      next.columnBlocks != 1 || plan.n + next.n > kInstructionColumns)
    return false;
  const tile::MatrixDescriptor &first = *plan.bDescriptor,
                               &second = *next.bDescriptor;
  if (first.kMajor != second.kMajor || first.swizzle != second.swizzle ||
      first.stride != second.stride ||
      (second.leading && second.leading != first.leading))
    return false;
  for (int64_t step = 0; step < plan.steps; ++step)
    if (tile::getOperandOffset(getSharedLayout(plan.b), first, 0,
                               step * plan.depth) !=
        tile::getOperandOffset(getSharedLayout(next.b), second, 0,
                               step * plan.depth))
      return false;
  // Rows of a group of eight, or columns of a panel as wide as the swizzle.
  int64_t group = 8, distance = first.stride;
  if (!first.kMajor) {
    int64_t bytes = plan.bElement.getIntOrFloatBitWidth() / 8;
    group = tile::getSwizzleSpan(first.swizzle) / bytes;
    distance = first.leading;
  }
  SharedPlace from = sharedMemory.getPlace(plan.b),
              to = sharedMemory.getPlace(next.b);
  return plan.n % group == 0 && from.stageBytes == to.stageBytes &&
         to.offset - from.offset == plan.n / group * distance;
}
