//===- Specialization.h - An entry for given sizes ----------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines an entry with all its expressions evaluated for one set of
// sizes, so that a launch only puts addresses in place.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_SPECIALIZATION_H
#define FUSION_LIB_RUNTIME_SPECIALIZATION_H

#include "PreparedTensorMap.h"
#include "fusion/Executable/BufferPlan.h"

namespace fusionrt {

/// A step with numbers instead of expressions.
struct PreparedStep {
  fusionpkg::StepKind kind = fusionpkg::StepKind::Launch;
  /// Its position in the entry, for messages.
  uint32_t index = 0;

  // Launch: `args` of this step start at argOffset in the specialization's
  // block; the patches say where addresses and by-value inputs go.
  uint32_t kernel = 0;
  Dim3 grid;
  uint32_t dynamicSharedBytes = 0;
  size_t argOffset = 0, argBytes = 0;
  size_t firstPatch = 0, numPatches = 0;

  // Copy and Fill
  uint32_t dst = 0, src = 0;
  int64_t dstOffset = 0, srcOffset = 0, bytes = 0;
  uint32_t fillWidth = 1;
  uint64_t fillBits = 0;
};

/// A place in the argument block that is only known at launch.
struct Patch {
  /// What is put there: an address, a by-value input or a tensor map.
  enum class Kind : uint8_t { Address, Scalar, TensorMap };

  size_t offset = 0;
  Kind kind = Kind::Address;
  uint32_t index = 0;     // buffer, by-value input, or tensor map
  int64_t byteOffset = 0; // into the buffer
  uint32_t width = 8;
};

struct Specialization {
  std::vector<int64_t> symbols;
  /// Dims of all inputs and of all outputs, one after the other.
  std::vector<int64_t> inputDims, outputDims;
  std::vector<int64_t> outputBytes;
  /// Size of every buffer, and the offset of every temporary.
  std::vector<int64_t> bufferBytes, tempOffsets;
  /// Of every buffer, whether it is an output or an input that is overwritten.
  std::vector<bool> written;
  int64_t workspaceBytes = 0;
  /// Where in the workspace signals go when nothing else has them; -1: none.
  int64_t signalsOffset = -1;
  std::vector<PreparedStep> steps;
  std::vector<Patch> patches;
  /// In the order of the entry; those that no step uses are not filled in.
  std::vector<PreparedTensorMap> tensorMaps;
  std::vector<uint8_t> args;
  size_t maxArgBytes = 0;
  uint32_t numLaunches = 0;
  int64_t bytesBefore = -1, bytesAfter = -1, flops = -1;

  Specialization *next = nullptr; // in the entry's list
};

/// Reads the symbols from the inputs: count, types and ranks must be right.
Error readSymbols(const fusionpkg::Entry &entry, const FusionRtTensor *inputs,
                  uint32_t numInputs, std::vector<int64_t> &symbols);

/// Evaluates the entry for these symbols. Fails when a requirement does not
/// hold, a size overflows, a grid is beyond the limits, or a step leaves its
/// buffers.
Result<std::unique_ptr<Specialization>>
specialize(const fusionpkg::PackageModel &model, const fusionpkg::Entry &entry,
           const std::vector<int64_t> &symbols);

/// Checks every dimension of the inputs against the specialization.
Error checkInputDims(const fusionpkg::Entry &entry, const Specialization &spec,
                     const FusionRtTensor *inputs);
/// Checks count, types and shapes of the outputs.
Error checkOutputs(const fusionpkg::Entry &entry, const Specialization &spec,
                   const FusionRtTensor *outputs, uint32_t numOutputs);

/// The widths of the parameters of a launch, in order.
std::vector<uint32_t> getParamWidths(const fusionpkg::Entry &entry,
                                     const fusionpkg::Step &step);

/// "entry 'main', input 0 ('x')".
std::string describeTensor(const fusionpkg::Entry &entry, bool isInput,
                           size_t index);

} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_SPECIALIZATION_H
