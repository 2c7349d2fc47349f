//===- ProgramLowering.h - Distributes one tile program over threads -*- C++
//-*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the lowering of one tile program to the code of a thread.
// A tile becomes the list of the scalars that a thread holds of it, one for
// each register of its layout.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_PROGRAMLOWERING_H
#define FUSION_LIB_CONVERSION_TILETONVVM_PROGRAMLOWERING_H

#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace mlir::fusion {

/// The scalars of a value that one thread holds.
using Scalars = SmallVector<Value>;

/// Lowers one program into a kernel function.
class ProgramLowering {
public:
  ProgramLowering(tile::ProgramOp program, OpBuilder &builder,
                  LLVM::GlobalOp sharedMemory);

  FailureOr<LLVM::LLVMFuncOp> run();

private:
  // Structure (ProgramLowering.cpp).
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOp(Operation *op);
  LogicalResult lowerFor(scf::ForOp op);
  LogicalResult lowerIf(scf::IfOp op);
  LogicalResult lowerElementwise(Operation *op);
  void lowerIndexCast(Operation *op);
  LogicalResult lowerIndex(tile::IndexOp op);
  LogicalResult lowerBroadcast(tile::BroadcastOp op);
  LogicalResult lowerDot(tile::DotOp op);

  /// The scalar form of a type: `index` becomes an integer.
  Type scalarType(Type type) const;
  unsigned numScalars(Type type) const;
  const Scalars &get(Value value) const;
  Value getScalar(Value value) const;
  Value constantIndex(int64_t value);
  Value toIndex(Value value);

  // Threads (ThreadIndex.cpp).
  Value threadId();
  /// The part of the coordinate along `dim` that depends on the thread.
  Value threadCoord(const tile::LinearLayout &layout, unsigned dim);
  /// The coordinate along `dim` of a register whose own part is `registerPart`.
  Value coordinate(const tile::LinearLayout &layout, unsigned dim,
                   int64_t registerPart);
  /// XOR of `matrix` columns over the set bits of lane and warp.
  Value applyToThread(const tile::BitMatrix &lane, const tile::BitMatrix &warp);
  Value applyBits(ArrayRef<std::pair<unsigned, uint64_t>> bits);
  /// True in the one thread that stands for all that hold the same elements;
  /// null when every thread does.
  Value isOwner(const tile::LinearLayout &layout);

  // Global memory (LowerMemory.cpp).
  LogicalResult lowerLoad(tile::LoadOp op);
  LogicalResult lowerStore(tile::StoreOp op);
  struct AccessPlan;
  AccessPlan planAccess(const tile::Access &access, ValueRange indices);
  /// Address and condition (null: always) of the group that starts at register
  /// `reg`. The address is that of the view's start where the condition fails.
  std::pair<Value, Value> addressOf(AccessPlan &plan, unsigned reg);
  Value expand(AffineExpr expr, ArrayRef<Value> dims, ArrayRef<Value> symbols);
  static bool isNonNegative(AffineExpr expr);
  /// Between a value and its form in memory.
  Value fromMemory(Value value, Type type);
  Value toMemory(Value value);
  Value extractElement(Value vector, unsigned position);
  Value buildVector(ArrayRef<Value> elements);

  // Instructions of a warp on matrices (LowerMmaSync.cpp).
  /// Makes the products by mma.sync; false when the layouts are not those of an
  /// instruction.
  bool lowerMmaSync(tile::DotOp op);
  /// One register of 32 bits (64: an f64) from the elements that share it.
  Value packOperand(ArrayRef<Value> elements, bool tf32);

  // Exchange between threads (LowerExchange.cpp).
  LogicalResult lowerReduce(tile::ReduceOp op);
  LogicalResult lowerConvert(tile::ConvertLayoutOp op);
  LogicalResult lowerLocalStore(tile::LocalStoreOp op);
  LogicalResult lowerLocalLoad(tile::LocalLoadOp op);
  Value shuffle(Value value, Value lane, bool butterfly);
  Scalars combine(tile::ReduceOp op, const Scalars &lhs, const Scalars &rhs);
  Value sharedAddress(tile::AllocOp alloc, Value threadOffset, uint64_t xorPart,
                      uint64_t immediate);

  tile::ProgramOp program;
  OpBuilder &builder;
  Location loc;
  LLVM::GlobalOp sharedMemory;
  IntegerType indexType;
  LLVM::LLVMFuncOp function;
  Block *entry = nullptr;
  Operation *lastThreadOp = nullptr;
  DenseMap<Value, Scalars> values;
  DenseSet<Value> writtenViews;
  std::map<std::vector<std::pair<unsigned, uint64_t>>, Value> threadValues;
  Value thread;
  Value sharedBase;
};

/// The type that holds an element of `type` in memory: one bit is a byte, and a
/// float without a register form is its bits.
Type memoryType(Type type);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_PROGRAMLOWERING_H
