//===- EntryBuilder.h - From a function to a launch plan --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the class that reads a package's entry off a function of
// kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_PIPELINES_ENTRYBUILDER_H
#define FUSION_LIB_PIPELINES_ENTRYBUILDER_H

#include "PackageBuilder.h"
#include "fusion/Analysis/SymbolicShapes.h"
#include "fusion/Dialect/Fusion/FusionOps.h"

namespace mlir::fusion {

class EntryBuilder {
public:
  EntryBuilder(func::FuncOp func, const PackagedKernels &kernels,
               fusionpkg::PackageModel &model)
      : func(func), kernels(kernels), model(model), shapes(func) {}

  FailureOr<fusionpkg::Entry> build();

private:
  fusionpkg::ExprId convert(AffineExpr expr);
  FailureOr<std::vector<fusionpkg::ExprId>> getDims(Value tensor);

  LogicalResult buildSignature();
  FailureOr<fusionpkg::TensorSpec> buildSpec(Value value, const Twine &name);
  /// Makes argument `input` the memory of `output`, of the same shape.
  void setOverwritten(unsigned input, fusionpkg::TensorSpec &output);
  /// The tensor whose memory has all of `result` but the slice that its kernel
  /// writes; null where that writes all of it, or the first slice.
  Value getOverwritten(Value result);
  /// Gives `result`, and what it is written into, memory.
  void setMemory(Value result, unsigned buffer);
  unsigned addBuffer(fusionpkg::BufferKind kind, uint32_t index,
                     const Twine &name);
  FailureOr<unsigned> addTemporary(Value tensor);
  /// The buffer that holds `tensor`; made, and filled by a step, if it is a
  /// constant that is asked for the first time.
  FailureOr<unsigned> getBuffer(Value tensor);
  /// Where in its buffer a slice that is read in place begins.
  static int64_t getByteOffset(Value tensor);
  /// The element that all elements of `tensor` are, if that is known.
  std::optional<FillPattern> getUniformValue(Value tensor);
  FailureOr<fusionpkg::Arg> getScalar(Value scalar);

  /// Adds the tensors and the scalars of `kernel` to the arguments of `step`.
  LogicalResult addArguments(KernelOp kernel, fusionpkg::Step &step);
  /// Adds the launch of `kernels`, which start together.
  LogicalResult addLaunch(ArrayRef<KernelOp> kernels);
  // The tensor maps that a kernel takes (TensorMaps.cpp).
  LogicalResult addTensorMaps(KernelOp kernel, ArrayAttr maps,
                              fusionpkg::Step &step);
  FailureOr<fusionpkg::TensorMap> buildTensorMap(KernelOp kernel,
                                                 DictionaryAttr map,
                                                 const fusionpkg::Step &step);
  /// The memory that a kernel takes beside its tensors.
  void addScratches(ArrayAttr scratches, fusionpkg::Step &step);
  LogicalResult addReturn(Operation *terminator);
  /// Adds the step after which `output` has `result`, if one is needed.
  LogicalResult addResult(unsigned output, Value result);
  void addCopy(unsigned to, unsigned from);
  void addFill(unsigned buffer, FillPattern pattern);

  // What the sizes of a launch must fulfil (SizeRequirements.cpp).
  LogicalResult addRequirements();

  void buildSummary();

  func::FuncOp func;
  const PackagedKernels &kernels;
  fusionpkg::PackageModel &model;
  SymbolicShapes shapes;
  fusionpkg::Entry entry;
  /// Buffers of tensors that are no views.
  DenseMap<Value, unsigned> buffers;
  SmallVector<unsigned> outputs;
  /// Copies of arguments that are overwritten before they are returned.
  DenseMap<Value, unsigned> staged;
  unsigned numTemporaries = 0;
  /// The buffer that blocks of kernels signal in.
  std::optional<unsigned> signals;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_PIPELINES_ENTRYBUILDER_H
