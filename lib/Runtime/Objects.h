//===- Objects.h - What the handles of the C interface are --- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the objects behind the opaque handles of Runtime.h.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_OBJECTS_H
#define FUSION_LIB_RUNTIME_OBJECTS_H

#include "Specialization.h"
#include "WorkspacePool.h"

#include "fusion/Executable/SectionPlan.h"

struct FusionRtDevice {
  explicit FusionRtDevice(std::unique_ptr<fusionrt::Device> device)
      : device(std::move(device)), workspaces(*this->device),
        signals(*this->device, /*zeroed=*/true) {}
  ~FusionRtDevice();

  /// Device memory; once more after giving back unused workspaces when it is
  /// short.
  fusionrt::Error allocate(uint64_t bytes, const std::string &name,
                           fusionrt::Address &address);

  /// The creator and every package loaded here hold the device, so that they
  /// may go in any order.
  void retain() { numHolders.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (numHolders.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

  std::unique_ptr<fusionrt::Device> device;
  fusionrt::WorkspacePool workspaces;
  /// What kernels signal in: zeros whenever none runs.
  fusionrt::WorkspacePool signals;
  /// Where tensors without elements point, so that no kernel gets a null.
  fusionrt::Address dummy = 0;
  bool synchronous = false;

private:
  std::atomic<unsigned> numHolders{1};
};

struct FusionRtEntry {
  FusionRtEntry(FusionRtPackage &package, const fusionpkg::Entry &entry);
  ~FusionRtEntry();

  /// The entry evaluated for the sizes of these inputs, which are checked. What
  /// is returned lives as long as the entry, or as `transient`, which is set
  /// when the entry has met too many sizes to remember them all.
  fusionrt::Error
  specialize(const FusionRtTensor *inputs, uint32_t numInputs,
             const fusionrt::Specialization *&spec,
             std::unique_ptr<fusionrt::Specialization> &transient);

  FusionRtPackage &package;
  const fusionpkg::Entry &entry;
  /// The printed form of every dimension: inputs, then outputs.
  std::vector<std::vector<std::string>> dimNames;

private:
  /// Sizes met so far. The list only grows, so that reading takes no lock.
  std::atomic<fusionrt::Specialization *> known{nullptr};
  std::atomic<unsigned> numKnown{0};
};

struct FusionRtPackage {
  explicit FusionRtPackage(FusionRtDevice &device) : device(device) {
    device.retain();
  }
  ~FusionRtPackage();

  /// Loads modules, kernels and constants. The model is set.
  fusionrt::Error load();

  FusionRtDevice &device;
  fusionpkg::PackageModel model;
  std::vector<fusionrt::ModuleHandle> modules;
  std::vector<fusionrt::KernelHandle> kernels;
  std::vector<fusionrt::KernelFacts> facts;
  /// One address for the whole blob, or, where accesses are checked, one for
  /// each constant.
  std::vector<fusionrt::Address> constantAllocations;
  std::vector<fusionrt::Address> constants;
  std::vector<std::unique_ptr<FusionRtEntry>> entries;

private:
  fusionrt::Error loadKernels();
  fusionrt::Error loadConstants();
};

struct FusionRtSections {
  const FusionRtEntry &entry;
  /// The sizes that the plan is for.
  std::vector<int64_t> symbols;
  fusionpkg::SectionPlan plan;
  /// By section, the buffers that it is the first to need.
  std::vector<std::vector<uint32_t>> begun;
};

namespace fusionrt {

/// A handle around any device; tests bring their own.
Result<std::unique_ptr<FusionRtDevice>>
makeDevice(std::unique_ptr<Device> device, bool synchronous);

Result<std::unique_ptr<FusionRtPackage>>
loadPackage(FusionRtDevice &device, const void *data, size_t size);

/// fusionRtSectionsCreate, with the error as a value.
Result<std::unique_ptr<FusionRtSections>>
makeSections(FusionRtEntry &entry, const FusionRtTensor *inputs,
             uint32_t numInputs, const FusionRtSectionOptions &options);

/// fusionRtLaunch, with the error as a value.
/// `signals`: zeros for kernels to signal in, which they leave as they are; 0:
/// the runtime's own.
Error launchEntry(FusionRtEntry &entry, const FusionRtLaunchArgs &args,
                  Address signals = 0);

/// An error if a caller's struct of `size` bytes, of which this library knows
/// `known`, has no size or says something with what lies behind those.
Error checkStruct(const void *callers, size_t size, size_t known);

/// Copies a caller's struct into one of this library's size: what the caller
/// does not know of is zero, and so is all of it if there is none.
template <typename T>
Error readStruct(const T *callers, T &own) {
  own = {};
  if (callers) {
    size_t size = callers->structSize;
    if (size != sizeof(T))
      if (Error error = checkStruct(callers, size, sizeof(T)))
        return error;
    __builtin_memcpy(&own, callers, size < sizeof(T) ? size : sizeof(T));
  }
  own.structSize = sizeof(T);
  return Error();
}

} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_OBJECTS_H
