//===- MmaAsyncPlan.h - How a product in flight is made ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how a product of a program's warps is made of instructions
// of a warpgroup.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_MMAASYNCPLAN_H
#define FUSION_LIB_CONVERSION_TILETONVVM_MMAASYNCPLAN_H

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"

namespace mlir::fusion {

/// Rows of an instruction.
constexpr int64_t kInstructionRows = 64;

/// How the product of a program's warps is made of instructions.
struct MmaAsyncPlan {
  /// The operand that gives the instruction's rows, and that of its columns.
  Value a, b;
  Type aElement, bElement, accElement;
  /// Warpgroups along the instruction's rows and along its columns, columns of
  /// one warpgroup and of one instruction.
  int64_t alongRows, alongColumns, ownColumns, n;
  /// Instructions of one warpgroup along rows, columns and depth.
  int64_t rowBlocks, columnBlocks, steps;
  int64_t depth;
  std::optional<tile::MatrixDescriptor> aDescriptor, bDescriptor;

  bool aInShared() const { return isa<tile::BufferType>(a.getType()); }
  /// Registers of the accumulator in one instruction.
  unsigned blockRegs() const { return n / 2; }
  /// The instruction's name and, behind its descriptors, whether it keeps the
  /// accumulator, signs, and majors.
  std::string name() const;
  std::string flags() const;
};

/// Emits an error where no instruction makes the product.
FailureOr<MmaAsyncPlan> planMmaAsync(ProgramLowering &lowering,
                                     tile::MmaAsyncOp op);

/// True when one instruction can make the columns of `plan`, which is the plan
/// of products started before, and then those of `next`: the buffers lie one
/// behind the other as if they were one.
bool continues(const MmaAsyncPlan &plan, const MmaAsyncPlan &next,
               const SharedMemory &sharedMemory);

/// The layout of a buffer.
const tile::SharedLayout &getSharedLayout(Value buffer);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_MMAASYNCPLAN_H
