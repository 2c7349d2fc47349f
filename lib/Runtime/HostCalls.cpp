//===- HostCalls.cpp - Packages called by compiled host code --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements calls of packages that a program carries as constants.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/HostCalls.h"
#include "DefaultDevice.h"
#include "fusion/Executable/Package.h"

#include <map>
#include <mutex>
#include <vector>

using namespace fusionrt;

/// The package at `data`; null where it cannot be loaded.
static FusionRtPackage *getPackage(const void *data, uint64_t size) {
  // They stay loaded: nothing says when the program calls for the last time.
  static std::mutex mutex;
  static auto &loaded = *new std::map<const void *, FusionRtPackage *>();
  std::lock_guard<std::mutex> lock(mutex);
  FusionRtPackage *&package = loaded[data];
  if (package)
    return package;
  FusionRtDevice *device = getDefaultDevice();
  if (!device || fusionRtPackageLoad(device, data, size, &package) != 0)
    package = nullptr;
  return package;
}

namespace {
/// Tensors of host memory on the device, for one call.
class DeviceTensors {
public:
  explicit DeviceTensors(FusionRtDevice *device) : device(device) {}
  ~DeviceTensors() {
    for (FusionRtAddress address : allocated)
      fusionRtFree(device, address);
  }

  FusionRtStatus add(FusionRtTensor &tensor) {
    FusionRtAddress address = 0;
    if (FusionRtStatus status =
            fusionRtMalloc(device, getBytes(tensor), "", &address))
      return status;
    allocated.push_back(address);
    tensor.address = address;
    return 0;
  }

  static uint64_t getBytes(const FusionRtTensor &tensor) {
    int64_t elements = 1;
    for (int32_t i = 0; i < tensor.rank; ++i)
      elements *= tensor.dims[i];
    return static_cast<uint64_t>(
        fusionpkg::getStorageBytes(fusionpkg::DType(tensor.dtype), elements)
            .value_or(0));
  }

private:
  FusionRtDevice *device;
  std::vector<FusionRtAddress> allocated;
};
} // namespace

static void *toHost(FusionRtAddress address) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

static FusionRtStatus launch(FusionRtEntry *entry,
                             const std::vector<FusionRtTensor> &inputs,
                             const std::vector<FusionRtTensor> &outputs) {
  auto args = FUSION_RT_INIT(FusionRtLaunchArgs);
  args.inputs = inputs.data();
  args.numInputs = static_cast<uint32_t>(inputs.size());
  args.outputs = outputs.data();
  args.numOutputs = static_cast<uint32_t>(outputs.size());
  return fusionRtLaunch(entry, &args);
}

/// Launches with copies on the device, and waits.
static FusionRtStatus launchFromHost(FusionRtDevice *device,
                                     FusionRtEntry *entry,
                                     std::vector<FusionRtTensor> inputs,
                                     std::vector<FusionRtTensor> outputs) {
  DeviceTensors memory(device);
  for (FusionRtTensor &input : inputs) {
    if (input.value)
      continue;
    FusionRtAddress host = input.address;
    if (FusionRtStatus status = memory.add(input))
      return status;
    if (FusionRtStatus status =
            fusionRtCopyToDevice(device, input.address, toHost(host),
                                 DeviceTensors::getBytes(input), nullptr))
      return status;
  }
  std::vector<FusionRtTensor> back(outputs);
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    auto info = FUSION_RT_INIT(FusionRtTensorInfo);
    if (FusionRtStatus status = fusionRtEntryGetOutput(entry, i, &info))
      return status;
    if (info.overwritesInput)
      outputs[i].address = inputs[info.overwrittenInput].address;
    else if (FusionRtStatus status = memory.add(outputs[i]))
      return status;
  }
  if (FusionRtStatus status = launch(entry, inputs, outputs))
    return status;
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (FusionRtStatus status = fusionRtCopyToHost(
            device, toHost(back[i].address), outputs[i].address,
            DeviceTensors::getBytes(outputs[i]), nullptr))
      return status;
  return 0;
}

FusionRtStatus fusionRtCallPackage(const void *package, uint64_t size,
                                   const char *entryName,
                                   const FusionRtTensor *inputs,
                                   uint32_t numInputs,
                                   const FusionRtTensor *outputs,
                                   uint32_t numOutputs, int32_t memory) {
  FusionRtPackage *loaded = getPackage(package, size);
  FusionRtEntry *entry = nullptr;
  FusionRtStatus status =
      loaded ? fusionRtPackageFindEntry(loaded, entryName, &entry)
             : fusionRtGetLastErrorCode();
  if (status == 0) {
    std::vector<FusionRtTensor> in(inputs, inputs + numInputs);
    std::vector<FusionRtTensor> out(outputs, outputs + numOutputs);
    status = memory == FUSION_RT_MEMORY_HOST
                 ? launchFromHost(getDefaultDevice(), entry, std::move(in),
                                  std::move(out))
                 : launch(entry, in, out);
  }
  if (status != 0)
    printLastError(entryName);
  return status;
}
