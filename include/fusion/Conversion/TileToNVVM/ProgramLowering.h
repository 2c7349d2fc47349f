//===- ProgramLowering.h - Distributes a program over threads ---*- C++ -*-===//
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

#ifndef FUSION_CONVERSION_TILETONVVM_PROGRAMLOWERING_H
#define FUSION_CONVERSION_TILETONVVM_PROGRAMLOWERING_H

#include "fusion/Conversion/TileToNVVM/SharedMemory.h"
#include "fusion/Conversion/TileToNVVM/ThreadBuilder.h"
#include "fusion/Conversion/TileToNVVM/ThreadIndex.h"
#include "fusion/Conversion/TileToNVVM/WarpRole.h"
#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include <memory>

namespace mlir::fusion {

class LoweringSet;

/// Lowers one program into a kernel function, and holds what the lowerings of
/// its operations share.
class ProgramLowering {
public:
  /// The kernel goes where `builder` inserts.
  ProgramLowering(tile::ProgramOp program, const LoweringSet &lowerings,
                  const OpBuilder &builder, LLVM::GlobalOp sharedMemory);

  FailureOr<LLVM::LLVMFuncOp> run();
  /// Lowers what is in `block` to where the builder inserts.
  LogicalResult lowerBlock(Block &block);

  tile::ProgramOp getProgram() const { return program; }
  LLVM::LLVMFuncOp getKernel() const { return kernel; }
  ThreadBuilder &getBuilder() { return builder; }
  ThreadIndex &getThreads() { return threads; }
  SharedMemory &getSharedMemory() { return sharedMemory; }
  WarpRole &getRole() { return role; }
  /// The program is for chips that have tensor copies, and so stmatrix.
  bool hasTensorCopies() const { return usesTensorCopies; }

  //===--------------------------------------------------------------------===//
  // Registers
  //===--------------------------------------------------------------------===//

  /// The scalar form of a type: `index` becomes an integer.
  Type scalarType(Type type) const;
  unsigned numScalars(Type type) const;
  const Scalars &get(Value value) const;
  Value getScalar(Value value) const;
  bool isLowered(Value value) const { return values.contains(value); }
  void set(Value value, Scalars scalars) { values[value] = std::move(scalars); }
  /// The scalars of `value` in these registers, in their order.
  Scalars pick(Value value, const tile::RegisterMap &registers) const;
  /// What `combiner` makes of two lists of states.
  Scalars combine(Region &combiner, const Scalars &lhs, const Scalars &rhs);

  //===--------------------------------------------------------------------===//
  // Parameters besides the program's arguments
  //===--------------------------------------------------------------------===//

  /// Gives the kernel one of `type` that is `op`'s.
  void addParameter(Operation *op, Type type);
  unsigned getParameterNumber(Operation *op) const {
    return parameters.lookup(op);
  }
  Value getParameter(Operation *op);
  /// Bytes that LLVM is told `pointer` to be a multiple of.
  int64_t getAlignment(Value pointer);

  /// What lowerings keep of this program from one operation to another, in a
  /// type of their own.
  template <typename StateT>
  StateT &getState() {
    std::shared_ptr<void> &state = states[TypeID::get<StateT>()];
    if (!state)
      state = std::make_shared<StateT>();
    return *static_cast<StateT *>(state.get());
  }

private:
  void createKernel();
  /// Tells LLVM how arguments are aligned.
  void describeAlignment();

  tile::ProgramOp program;
  const LoweringSet &lowerings;
  ThreadBuilder builder;
  ThreadIndex threads;
  SharedMemory sharedMemory;
  WarpRole role;
  bool usesTensorCopies;
  LLVM::LLVMFuncOp kernel;
  SmallVector<Type> parameterTypes;
  DenseMap<Operation *, unsigned> parameters;
  DenseMap<Value, Scalars> values;
  DenseMap<TypeID, std::shared_ptr<void>> states;
};

} // namespace mlir::fusion

#endif // FUSION_CONVERSION_TILETONVVM_PROGRAMLOWERING_H
