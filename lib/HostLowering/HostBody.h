//===- HostBody.h - Host code in the place of a program ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what host code of every form has: buffers of the
// function's tensors, and sizes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_HOSTLOWERING_HOSTBODY_H
#define FUSION_LIB_HOSTLOWERING_HOSTBODY_H

#include "fusion/Executable/PackageModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::fusion {

/// Where the tensors of host code are.
enum class HostMemory { Device, Host };

/// Writes the body of one function, which launches `entry`.
class HostBody : public OpBuilder {
public:
  /// Empties `func`.
  HostBody(func::FuncOp func, const fusionpkg::Entry &entry, HostMemory memory);

  Location getLoc() { return func.getLoc(); }
  const fusionpkg::Entry &getEntry() const { return entry; }

  /// The memref of a tensor that is passed; the value of any other input.
  Value getInput(unsigned index) const { return inputs[index]; }
  /// The memref of a result, which this function allocates, or is given where
  /// it returns nothing. One that is an argument's memory begins as a copy of
  /// that, or is it.
  Value getOutput(unsigned index) const { return outputs[index]; }
  /// The number of the first byte of `memref`, as an i64.
  Value getAddress(Value memref);
  /// Returns the outputs as tensors, but for those that are given.
  void finish();

  Value createIndex(int64_t value);
  Value createI64(int64_t value);
  Value createI32(int64_t value);
  Value asI64(Value index);
  /// The value of an expression of the entry, of type index.
  Value evaluate(fusionpkg::ExprId id);
  std::optional<int64_t> getConstant(fusionpkg::ExprId id) const {
    return entry.exprs.getConstant(id);
  }

  /// Memory of this call for `count` elements of `type`, on the stack.
  Value createStack(Type type, int64_t count, unsigned alignment);
  /// Stores `value` as element `index` of an array of its type.
  void storeElement(Value array, int64_t index, Value value);
  // Work on the device goes on where a token says, and leaves the next.
  Value beginStream();
  void waitFor(Value token);
  Value allocateOnDevice(MemRefType type, ValueRange sizes, Value &token);
  void copyOnDevice(Value to, Value from, Value &token);

  LLVM::CallOp callRuntime(StringRef name, Type result, ValueRange arguments);

private:
  void addBuffers();
  void addOutputs();
  Value evaluateSymbol(int64_t number);
  Value evaluateBinary(const fusionpkg::ExprNode &node);

  /// Whether whoever calls passes memory for the results, behind the inputs.
  bool isGivenOutputs() {
    return func.getNumResults() == 0 && !entry.outputs.empty();
  }
  Value createOutput(MemRefType type, ValueRange sizes);
  void copy(Value to, Value from);

  func::FuncOp func;
  const fusionpkg::Entry &entry;
  HostMemory memory;
  SmallVector<Value> inputs, outputs;
  DenseMap<fusionpkg::ExprId, Value> sizes;
  DenseMap<int64_t, Value> indices;
};

/// The constant of `module` with these bytes, as a pointer in `body`.
Value createBytes(HostBody &body, ModuleOp module, StringRef name,
                  StringRef bytes);

/// Makes of each `fusion.buffer_kernel` of `module` a call of a function of
/// memrefs, inputs and then outputs, that has no body; and of its kernel a
/// function of tensors of the same name in `program`. Returns the former.
SmallVector<func::FuncOp> outlineBufferKernels(ModuleOp module,
                                               ModuleOp program);

/// Writes a call of the runtime, whose package is `bytes`.
LogicalResult writeRuntimeCall(func::FuncOp func, const fusionpkg::Entry &entry,
                               StringRef bytes, HostMemory memory);

/// Writes the launches of `model`, whose kernels addKernelBinaries() added.
LogicalResult writeGpuLaunches(func::FuncOp func, const fusionpkg::Entry &entry,
                               const fusionpkg::PackageModel &model,
                               HostMemory memory);
/// Adds the kernels of `model` to `module`.
void addKernelBinaries(ModuleOp module, const fusionpkg::PackageModel &model);

} // namespace mlir::fusion

#endif // FUSION_LIB_HOSTLOWERING_HOSTBODY_H
