//===- PackageTarget.cpp - Packages from strangers ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the fuzz target of packages: reading, checking, writing
// again, and launching on the emulator through the C interface.
//
//===----------------------------------------------------------------------===//

#include "PackageTarget.h"

#include "PackageLayout.h"
#include "Targets.h"
#include "fusion-rt/HostTensor.h"
#include "fusion-rt/Runtime.h"
#include "fusion/Executable/Package.h"

#include <cstring>
#include <memory>

using namespace fusionfuzz;
using fusionrt::HostTensor;

/// Device memory, instructions and bytes of one tensor of one run.
static constexpr uint64_t kMemoryLimit = uint64_t(64) << 20;
static constexpr uint64_t kStepLimit = 40000;
static constexpr uint64_t kTensorLimit = uint64_t(1) << 20;
static constexpr uint32_t kMaxEntries = 2, kMaxTensors = 16;

void fusionfuzz::repairPackage(std::string &bytes) {
  using namespace fusionpkg;
  if (bytes.size() < kHeaderBytes)
    return;
  auto *data = reinterpret_cast<uint8_t *>(bytes.data());
  FileHeader header = decodeHeader(data);
  header.totalBytes = bytes.size();
  encodeHeader(header, data);
  computeChecksum(data, bytes.size(), data + kChecksumOffset);
}

namespace {

struct DestroyDevice {
  void operator()(FusionRtDevice *d) const { fusionRtDeviceDestroy(d); }
};
struct DestroyPackage {
  void operator()(FusionRtPackage *p) const { fusionRtPackageDestroy(p); }
};

/// One package on a device of its own.
class PackageRun {
public:
  PackageRun(int64_t size, PackageOutcome &outcome)
      : size(size), outcome(outcome) {}

  void run(const std::string &bytes);

private:
  struct Slot {
    std::vector<int64_t> dims;
    HostTensor host;
    FusionRtAddress address = 0;
    uint64_t bytes = 0;
  };

  /// Records a status that is not 0; false then.
  bool check(FusionRtStatus status, PackageOutcome::Kind kind);
  void runEntry(FusionRtEntry *entry);
  bool prepareInput(FusionRtEntry *entry, uint32_t index, Slot &slot,
                    FusionRtTensor &tensor);
  bool prepareOutput(const FusionRtShape &shape, Slot &slot,
                     FusionRtTensor &tensor);
  bool tooLarge() {
    outcome.kind = PackageOutcome::Kind::TooLarge;
    return false;
  }

  int64_t size;
  PackageOutcome &outcome;
  std::unique_ptr<FusionRtDevice, DestroyDevice> device;
  std::unique_ptr<FusionRtPackage, DestroyPackage> package;
};

} // namespace

bool PackageRun::check(FusionRtStatus status, PackageOutcome::Kind kind) {
  if (status == 0)
    return true;
  outcome.kind = kind;
  outcome.status = status;
  std::string text = fusionRtGetLastError();
  if (text.find("FUS-" + std::to_string(status)) != 0)
    outcome.wrong = "status " + std::to_string(status) + " with '" + text + "'";
  else if (!*fusionRtGetLastErrorCause() || !*fusionRtGetLastErrorRemedy())
    outcome.wrong = "no cause or no remedy: " + text;
  else if (text.size() > 20000)
    outcome.wrong = "a message of " + std::to_string(text.size()) + " bytes";
  return false;
}

bool PackageRun::prepareInput(FusionRtEntry *entry, uint32_t index, Slot &slot,
                              FusionRtTensor &tensor) {
  auto info = FUSION_RT_INIT(FusionRtTensorInfo);
  if (!check(fusionRtEntryGetInput(entry, index, &info),
             PackageOutcome::Kind::Failed))
    return false;
  for (int32_t d = 0; d < info.rank; ++d)
    slot.dims.push_back(info.dims[d] >= 0 ? info.dims[d] : size);
  auto created = HostTensor::create(static_cast<fusionpkg::DType>(info.dtype),
                                    slot.dims, kTensorLimit);
  if (!created)
    return tooLarge();
  slot.host = std::move(*created);
  for (int64_t i = 0; i < slot.host.getNumElements(); ++i)
    slot.host.setDouble(i, info.byValue ? 3.0 : double(i * 7 % 11) / 4);
  tensor.dtype = info.dtype;
  tensor.rank = info.rank;
  tensor.dims = slot.dims.data();
  slot.bytes = slot.host.getNumBytes();
  if (info.byValue) {
    tensor.value = slot.host.data();
    return true;
  }
  if (!check(fusionRtMalloc(device.get(), slot.bytes, info.name, &slot.address),
             PackageOutcome::Kind::Failed))
    return false;
  tensor.address = slot.address;
  return check(fusionRtCopyToDevice(device.get(), slot.address,
                                    slot.host.data(), slot.bytes, nullptr),
               PackageOutcome::Kind::Failed);
}

bool PackageRun::prepareOutput(const FusionRtShape &shape, Slot &slot,
                               FusionRtTensor &tensor) {
  slot.dims.assign(shape.dims, shape.dims + shape.rank);
  slot.bytes = shape.bytes;
  if (slot.bytes > kTensorLimit)
    return tooLarge();
  if (!check(fusionRtMalloc(device.get(), slot.bytes, "out", &slot.address),
             PackageOutcome::Kind::Failed) ||
      !check(fusionRtFill(device.get(), slot.address, 0, slot.bytes, nullptr),
             PackageOutcome::Kind::Failed))
    return false;
  tensor.dtype = shape.dtype;
  tensor.rank = shape.rank;
  tensor.dims = slot.dims.data();
  tensor.address = slot.address;
  return true;
}

void PackageRun::runEntry(FusionRtEntry *entry) {
  auto failed = PackageOutcome::Kind::Failed;
  auto info = FUSION_RT_INIT(FusionRtEntryInfo);
  if (!check(fusionRtEntryGetInfo(entry, &info), failed))
    return;
  if (info.numInputs > kMaxTensors || info.numOutputs > kMaxTensors) {
    tooLarge();
    return;
  }
  Slot slots[2 * kMaxTensors];
  FusionRtTensor inputs[kMaxTensors] = {}, outputs[kMaxTensors] = {};
  FusionRtShape shapes[kMaxTensors] = {};
  for (uint32_t i = 0; i < info.numInputs; ++i)
    if (!prepareInput(entry, i, slots[i], inputs[i]))
      return;
  if (!check(fusionRtInferShapes(entry, inputs, info.numInputs, shapes,
                                 info.numOutputs),
             failed))
    return;
  for (uint32_t i = 0; i < info.numOutputs; ++i)
    if (!prepareOutput(shapes[i], slots[kMaxTensors + i], outputs[i]))
      return;
  auto figures = FUSION_RT_INIT(FusionRtFigures);
  if (!check(fusionRtQueryFigures(entry, inputs, info.numInputs, &figures),
             failed))
    return;
  auto args = FUSION_RT_INIT(FusionRtLaunchArgs);
  args.inputs = inputs;
  args.outputs = outputs;
  args.numInputs = info.numInputs;
  args.numOutputs = info.numOutputs;
  if (!check(fusionRtLaunch(entry, &args), failed))
    return;
  outcome.kind = PackageOutcome::Kind::Ran;
  for (uint32_t i = 0; i < info.numOutputs; ++i) {
    const Slot &slot = slots[kMaxTensors + i];
    outcome.outputs.emplace_back(slot.bytes);
    if (!check(fusionRtCopyToHost(device.get(), outcome.outputs.back().data(),
                                  slot.address, slot.bytes, nullptr),
               failed))
      return;
  }
}

void PackageRun::run(const std::string &bytes) {
  auto options = FUSION_RT_INIT(FusionRtDeviceOptions);
  options.emulatorThreads = 1;
  options.memoryLimit = kMemoryLimit;
  options.maxLaunchSteps = kStepLimit;
  FusionRtDevice *newDevice = nullptr;
  if (!check(fusionRtDeviceCreate("emulator", &options, &newDevice),
             PackageOutcome::Kind::Failed))
    return;
  device.reset(newDevice);
  FusionRtPackage *newPackage = nullptr;
  if (!check(fusionRtPackageLoad(device.get(), bytes.data(), bytes.size(),
                                 &newPackage),
             PackageOutcome::Kind::Refused))
    return;
  package.reset(newPackage);
  auto info = FUSION_RT_INIT(FusionRtPackageInfo);
  if (!check(fusionRtPackageGetInfo(newPackage, &info),
             PackageOutcome::Kind::Failed))
    return;
  for (uint32_t i = 0; i < info.numEntries && i < kMaxEntries; ++i) {
    FusionRtEntry *entry = nullptr;
    if (!check(fusionRtPackageGetEntry(newPackage, i, &entry),
               PackageOutcome::Kind::Failed))
      return;
    runEntry(entry);
    if (outcome.kind != PackageOutcome::Kind::Ran)
      return;
  }
}

PackageOutcome fusionfuzz::runPackage(const std::string &bytes, int64_t size) {
  PackageOutcome outcome;
  PackageRun(size, outcome).run(bytes);
  return outcome;
}

/// What is wrong with the reader's answer for `bytes`.
static std::string checkReader(const std::string &bytes) {
  using namespace fusionpkg;
  Result<PackageModel> model = readPackage(bytes);
  if (!model)
    return {};
  if (Error error = verifyPackage(*model))
    return "read, but not valid: " + error.str();
  Result<std::string> written = writePackage(*model);
  if (!written)
    return "read, but not written: " + written.getError().str();
  Result<PackageModel> again = readPackage(*written);
  if (!again)
    return "written, but not read: " + again.getError().str();
  if (*writePackage(*again) != *written)
    return "written twice, differently";
  return {};
}

std::string fusionfuzz::fuzzPackage(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  // As it is: the frame. Repaired: what is behind it.
  if (std::string wrong = checkReader(bytes); !wrong.empty())
    return wrong;
  repairPackage(bytes);
  if (std::string wrong = checkReader(bytes); !wrong.empty())
    return wrong;
  return runPackage(bytes, 5).wrong;
}
