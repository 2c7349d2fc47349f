//===- Package.cpp - Packages on two devices ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements running a package through the runtime's C interface,
// once on the emulator and once on a GPU.
//
//===----------------------------------------------------------------------===//

#include "Package.h"

#include "Elements.h"
#include "fusion-rt/Runtime.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace conformance;

namespace {
/// The outputs of one entry.
struct Output {
  const Element *element = nullptr;
  std::vector<uint8_t> bytes;
};

/// One device with the package loaded.
class PackageRun {
public:
  ~PackageRun() {
    fusionRtPackageDestroy(package);
    fusionRtDeviceDestroy(device);
  }
  bool open(const char *deviceName, const std::string &path);
  bool runEntry(uint32_t index, uint64_t seed, std::vector<Output> &outputs);
  bool listKernels(std::vector<std::string> &names);
  uint32_t numEntries() const { return info.numEntries; }
  const std::string &getError() const { return error; }

private:
  bool check(FusionRtStatus status) {
    if (status)
      error = fusionRtGetLastError();
    return status == 0;
  }
  bool makeInput(const FusionRtTensorInfo &tensor, uint64_t seed,
                 std::vector<uint8_t> &bytes, std::vector<int64_t> &dims);

  FusionRtDevice *device = nullptr;
  FusionRtPackage *package = nullptr;
  FusionRtPackageInfo info = FUSION_RT_INIT(FusionRtPackageInfo);
  std::string error;
};
} // namespace

/// The element that holds a type of the runtime; null for packed nibbles.
static const Element *elementOf(int32_t dtype) {
  static const char *const names[] = {"f64",  "f32", "f16", "bf16", "e4m3",
                                      "e5m2", "s64", "s32", "s16",  "s8"};
  if (dtype == FUSION_RT_I1)
    return findElement("u8");
  return dtype >= 0 && dtype < FUSION_RT_I4 ? findElement(names[dtype])
                                            : nullptr;
}

bool PackageRun::open(const char *deviceName, const std::string &path) {
  return check(fusionRtDeviceCreate(deviceName, nullptr, &device)) &&
         check(fusionRtPackageLoadFile(device, path.c_str(), &package)) &&
         check(fusionRtPackageGetInfo(package, &info));
}

bool PackageRun::listKernels(std::vector<std::string> &names) {
  for (uint32_t i = 0; i < info.numKernels; ++i) {
    FusionRtKernelInfo kernel = FUSION_RT_INIT(FusionRtKernelInfo);
    if (!check(fusionRtPackageGetKernel(package, i, &kernel)))
      return false;
    names.push_back(kernel.name);
  }
  return true;
}

/// Floats lie in [-2, 2]; integers are small, since they may be positions.
bool PackageRun::makeInput(const FusionRtTensorInfo &tensor, uint64_t seed,
                           std::vector<uint8_t> &bytes,
                           std::vector<int64_t> &dims) {
  constexpr int64_t freeSize = 48;
  uint64_t count = 1;
  for (int32_t k = 0; k < tensor.rank; ++k) {
    dims.push_back(tensor.dims[k] < 0 ? freeSize : tensor.dims[k]);
    count *= uint64_t(dims.back());
  }
  Fill fill;
  fill.kind = Fill::Kind::Uniform;
  const Element *element = elementOf(tensor.dtype);
  if (!element) { // Two nibbles to a byte.
    element = findElement("u8");
    count = (count + 1) / 2;
    fill.high = 255;
  } else if (element->isFloat()) {
    fill.low = -2;
    fill.high = 2;
  } else {
    fill.high = tensor.dtype == FUSION_RT_I1 ? 1 : 7;
  }
  if (count > uint64_t(1) << 28) {
    error = "an input is too large";
    return false;
  }
  bytes = makeFill(*element, count, fill, seed);
  return true;
}

bool PackageRun::runEntry(uint32_t index, uint64_t seed,
                          std::vector<Output> &outputs) {
  FusionRtEntry *entry = nullptr;
  FusionRtEntryInfo entryInfo = FUSION_RT_INIT(FusionRtEntryInfo);
  if (!check(fusionRtPackageGetEntry(package, index, &entry)) ||
      !check(fusionRtEntryGetInfo(entry, &entryInfo)))
    return false;
  size_t n = entryInfo.numInputs, m = entryInfo.numOutputs;
  std::vector<std::vector<uint8_t>> bytes(n);
  std::vector<std::vector<int64_t>> dims(n);
  std::vector<FusionRtTensor> in(n), out(m);
  std::vector<FusionRtAddress> allocated;
  auto allocate = [&](uint64_t size, const char *name, FusionRtAddress &at) {
    if (!check(fusionRtMalloc(device, size, name, &at)))
      return false;
    allocated.push_back(at);
    return true;
  };
  auto run = [&] {
    for (size_t i = 0; i < n; ++i) {
      FusionRtTensorInfo tensor = FUSION_RT_INIT(FusionRtTensorInfo);
      if (!check(fusionRtEntryGetInput(entry, uint32_t(i), &tensor)) ||
          !makeInput(tensor, seed + i, bytes[i], dims[i]))
        return false;
      in[i] = {0, nullptr, dims[i].data(), tensor.dtype, tensor.rank};
      if (tensor.byValue)
        in[i].value = bytes[i].data();
      else if (!allocate(bytes[i].size(), tensor.name, in[i].address) ||
               !check(fusionRtCopyToDevice(device, in[i].address,
                                           bytes[i].data(), bytes[i].size(),
                                           nullptr)))
        return false;
    }
    std::vector<FusionRtShape> shapes(m);
    if (!check(fusionRtInferShapes(entry, in.data(), uint32_t(n), shapes.data(),
                                   uint32_t(m))))
      return false;
    for (size_t i = 0; i < m; ++i) {
      out[i] = {0, nullptr, shapes[i].dims, shapes[i].dtype, shapes[i].rank};
      if (!allocate(shapes[i].bytes, "output", out[i].address))
        return false;
    }
    FusionRtLaunchArgs args = FUSION_RT_INIT(FusionRtLaunchArgs);
    args.inputs = in.data();
    args.outputs = out.data();
    args.numInputs = uint32_t(n);
    args.numOutputs = uint32_t(m);
    if (!check(fusionRtLaunch(entry, &args)))
      return false;
    for (size_t i = 0; i < m; ++i) {
      Output output;
      output.element = elementOf(shapes[i].dtype);
      if (!output.element)
        output.element = findElement("u8");
      output.bytes.resize(shapes[i].bytes);
      if (!check(fusionRtCopyToHost(device, output.bytes.data(), out[i].address,
                                    shapes[i].bytes, nullptr)))
        return false;
      outputs.push_back(std::move(output));
    }
    return check(fusionRtSynchronize(device, nullptr));
  };
  bool fine = run();
  for (FusionRtAddress address : allocated)
    fusionRtFree(device, address);
  return fine;
}

/// Compares one output and notes what differs.
static void compareOutput(const Output &emulator, const Output &gpu,
                          const std::string &where, double bound,
                          PackageResult &result) {
  const Element &e = *gpu.element;
  if (emulator.bytes == gpu.bytes)
    return;
  result.exact = false;
  auto load = [&](const Output &o, size_t i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &o.bytes[i * e.bytes], e.bytes);
    return bits;
  };
  size_t count = gpu.bytes.size() / e.bytes;
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    double x = std::fabs(decodeElement(e, load(gpu, i)));
    largest = std::isfinite(x) ? std::max(largest, x) : largest;
  }
  for (size_t i = 0; i < count; ++i) {
    uint64_t a = load(emulator, i), b = load(gpu, i);
    if (a == b)
      continue;
    double x = decodeElement(e, a), y = decodeElement(e, b);
    double off = std::fabs(x - y) / std::max(largest, 1e-30);
    // One place of a narrow type is allowed too.
    bool within = e.isFloat() && std::isfinite(off) &&
                  (off <= bound || (e.bytes <= 2 && distance(e, a, b) <= 1));
    if (std::isfinite(off))
      result.difference = std::max(result.difference, off);
    if (within || result.failed)
      continue;
    result.failed = true;
    result.reason = where + "[" + std::to_string(i) + "]: emulator " +
                    std::to_string(x) + ", GPU " + std::to_string(y);
  }
}

PackageResult conformance::runPackage(const std::string &path, bool useGpu,
                                      uint64_t seed, double bound) {
  PackageResult result;
  auto fail = [&](const std::string &why) {
    result.failed = true;
    result.reason = why;
    return result;
  };
  PackageRun emulator, gpu;
  if (!emulator.open("emulator", path) || !emulator.listKernels(result.kernels))
    return fail(emulator.getError());
  if (useGpu && !gpu.open("cuda", path))
    return fail("on the GPU: " + gpu.getError());
  for (uint32_t k = 0; k < emulator.numEntries(); ++k) {
    std::vector<Output> ours, theirs;
    if (!emulator.runEntry(k, seed, ours))
      return fail(emulator.getError());
    if (!useGpu)
      continue;
    if (!gpu.runEntry(k, seed, theirs))
      return fail("on the GPU: " + gpu.getError());
    for (size_t i = 0; i < ours.size(); ++i)
      compareOutput(ours[i], theirs[i],
                    "entry " + std::to_string(k) + " output " +
                        std::to_string(i),
                    bound, result);
  }
  return result;
}
