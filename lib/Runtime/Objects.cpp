//===- Objects.cpp - What the handles of the C interface are --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements loading packages onto a device and remembering the
// sizes that an entry has met.
//
//===----------------------------------------------------------------------===//

#include "Objects.h"

#include "fusion/Executable/Package.h"

#include <array>
#include <optional>

using namespace fusionrt;
using namespace fusionpkg;

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

FusionRtDevice::~FusionRtDevice() {
  if (dummy)
    (void)static_cast<bool>(device->free(dummy));
}

Error FusionRtDevice::allocate(uint64_t bytes, const std::string &name,
                               Address &address) {
  Error error = device->allocate(bytes, name, address);
  if (error.getCode() != ErrorCode::OutOfMemory)
    return error;
  workspaces.trim();
  return device->allocate(bytes, name, address);
}

Result<std::unique_ptr<FusionRtDevice>>
fusionrt::makeDevice(std::unique_ptr<Device> device, bool synchronous) {
  auto handle = std::make_unique<FusionRtDevice>(std::move(device));
  handle->synchronous = synchronous;
  constexpr uint64_t kDummyBytes = 256;
  if (Error error =
          handle->device->allocate(kDummyBytes, "empty tensors", handle->dummy))
    return error;
  // Loads whose check fails read the first element, and drop it.
  const std::array<uint8_t, kDummyBytes> zeros{};
  if (Error error =
          handle->device->upload(handle->dummy, zeros.data(), kDummyBytes))
    return error;
  return handle;
}

//===----------------------------------------------------------------------===//
// Package
//===----------------------------------------------------------------------===//

FusionRtPackage::~FusionRtPackage() {
  entries.clear();
  for (Address address : constantAllocations)
    (void)static_cast<bool>(device.device->free(address));
  for (ModuleHandle module : modules)
    device.device->unloadModule(module);
  device.release();
}

Error FusionRtPackage::loadKernels() {
  // The widths of the parameters of each kernel, from any launch of it:
  // verifyPackage has seen that all launches agree.
  std::vector<std::optional<std::vector<uint32_t>>> widths(
      model.kernels.size());
  for (const Entry &entry : model.entries)
    for (const Step &step : entry.steps)
      for (const LaunchVariant &variant : step.variants)
        if (step.kind == StepKind::Launch)
          widths[variant.kernel] = getParamWidths(entry, step);

  for (const Module &module : model.modules) {
    ModuleHandle handle = 0;
    if (Error error = device.device->loadModule(module, handle))
      return error;
    modules.push_back(handle);
  }
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    KernelHandle handle = 0;
    KernelFacts kernelFacts;
    const Kernel &kernel = model.kernels[i];
    // Nothing is known of the parameters of a kernel that no step launches.
    if (widths[i])
      if (Error error = device.device->loadKernel(
              modules[kernel.module], kernel, *widths[i], handle, kernelFacts))
        return error;
    kernels.push_back(handle);
    facts.push_back(kernelFacts);
  }
  return {};
}

Error FusionRtPackage::loadConstants() {
  auto upload = [&](uint64_t offset, uint64_t size, const std::string &name,
                    Address &address) -> Error {
    if (size == 0) {
      address = device.dummy;
      return {};
    }
    if (Error error = device.allocate(size, name, address))
      return error;
    constantAllocations.push_back(address);
    return device.device->upload(address, model.constantData.data() + offset,
                                 size);
  };
  Address blob = 0;
  bool isSplit = device.device->checksAllocations();
  if (!isSplit)
    if (Error error = upload(0, model.constantData.size(), "constants", blob))
      return error;
  for (const Constant &constant : model.constants) {
    Address address = blob + constant.offset;
    if (isSplit)
      if (Error error = upload(constant.offset, constant.size,
                               "constant '" + constant.name + "'", address))
        return error;
    constants.push_back(constant.size ? address : device.dummy);
  }
  return {};
}

Error FusionRtPackage::load() {
  if (Error error = device.device->checkAlive())
    return error;
  if (Error error = device.device->checkTarget(model))
    return error;
  if (Error error = loadKernels())
    return error;
  if (Error error = loadConstants())
    return error;
  // The device has them now.
  model.constantData.clear();
  model.constantData.shrink_to_fit();
  for (const Entry &entry : model.entries)
    entries.push_back(std::make_unique<FusionRtEntry>(*this, entry));
  return {};
}

Result<std::unique_ptr<FusionRtPackage>>
fusionrt::loadPackage(FusionRtDevice &device, const void *data, size_t size) {
  Result<PackageModel> model = readPackage(data, size);
  if (!model)
    return model.getError();
  auto package = std::make_unique<FusionRtPackage>(device);
  package->model = std::move(*model);
  if (Error error = package->load())
    return error;
  return package;
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

FusionRtEntry::FusionRtEntry(FusionRtPackage &package, const Entry &entry)
    : package(package), entry(entry) {
  std::vector<std::string> names;
  for (const Symbol &symbol : entry.symbols)
    names.push_back(symbol.name);
  for (const std::vector<TensorSpec> *specs : {&entry.inputs, &entry.outputs})
    for (const TensorSpec &spec : *specs) {
      dimNames.emplace_back();
      for (ExprId dim : spec.dims)
        dimNames.back().push_back(entry.exprs.print(dim, names));
    }
}

FusionRtEntry::~FusionRtEntry() {
  for (Specialization *spec = known.load(); spec;) {
    Specialization *next = spec->next;
    delete spec;
    spec = next;
  }
}

Error FusionRtEntry::specialize(const FusionRtTensor *inputs,
                                uint32_t numInputs, const Specialization *&spec,
                                std::unique_ptr<Specialization> &transient) {
  thread_local std::vector<int64_t> symbols;
  if (Error error = readSymbols(entry, inputs, numInputs, symbols))
    return error;

  for (spec = known.load(std::memory_order_acquire); spec; spec = spec->next)
    if (spec->symbols == symbols)
      return checkInputDims(entry, *spec, inputs);

  Result<std::unique_ptr<Specialization>> made =
      fusionrt::specialize(package.model, entry, symbols);
  if (!made)
    return made.getError();
  if (Error error = checkInputDims(entry, **made, inputs))
    return error;

  constexpr unsigned kMaxKnown = 64;
  spec = made->get();
  if (numKnown.fetch_add(1, std::memory_order_relaxed) >= kMaxKnown) {
    numKnown.fetch_sub(1, std::memory_order_relaxed);
    transient = std::move(*made);
    return {};
  }
  // Two threads that meet the same sizes at once both add them; the copies
  // are equal, so either serves.
  Specialization *added = made->release();
  added->next = known.load(std::memory_order_relaxed);
  while (!known.compare_exchange_weak(
      added->next, added, std::memory_order_release, std::memory_order_relaxed))
    ;
  return {};
}
