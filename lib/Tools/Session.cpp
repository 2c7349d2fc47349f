//===- Session.cpp - A package on a device --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the use of the runtime on host tensors.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/Session.h"
#include "fusion/Analysis/TargetInfo.h"

#include "fusion/Executable/Error.h"
#include "fusion/Reference/Compare.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::fusion;

/// The runtime's element types are those of the package.
static_assert(int(FUSION_RT_F64) == int(DType::F64) &&
                  int(FUSION_RT_I1) == int(DType::I1),
              "element types of the runtime and the package differ");

/// The last error of the runtime, "FUS-6004: cause; remedy".
static llvm::Error takeRuntimeError() {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 fusionRtGetLastError());
}

static llvm::Error check(FusionRtStatus status) {
  return status ? takeRuntimeError() : llvm::Error::success();
}

bool fusion::isWithoutGpu(FusionRtStatus status) {
  return status == int(fusionpkg::ErrorCode::NoDriver) ||
         status == int(fusionpkg::ErrorCode::NoDevice);
}

llvm::Expected<std::unique_ptr<Session>>
Session::open(StringRef name, const FusionRtDeviceOptions *deviceOptions) {
  std::unique_ptr<Session> session(new Session);
  std::string wanted = name.str();
  if (name == "auto") {
    int32_t count = 0;
    FusionRtStatus status = fusionRtGetCudaDeviceCount(&count);
    wanted = status == 0 && count > 0 ? "cuda" : "emulator";
    // A machine without a GPU is one thing, a GPU that cannot be used another.
    if (status && !isWithoutGpu(status))
      llvm::WithColor::warning()
          << fusionRtGetLastError() << "; running on the emulator\n";
  }
  if (fusionRtDeviceCreate(wanted.c_str(), deviceOptions, &session->device))
    return takeRuntimeError();
  session->info = FUSION_RT_INIT(FusionRtDeviceInfo);
  if (fusionRtDeviceGetInfo(session->device, &session->info))
    return takeRuntimeError();
  return session;
}

Session::~Session() {
  fusionRtPackageDestroy(package);
  if (device)
    fusionRtDeviceDestroy(device);
}

std::string Session::getDeviceName() const {
  return isEmulator() ? "emulator" : info.name;
}

std::string Session::getTarget() const {
  if (isEmulator())
    return "";
  const TargetInfo *target =
      findTargetFor(info.computeMajor, info.computeMinor);
  // The compiler's error says which chips there are.
  return target ? target->name.str()
                : ("sm_" + Twine(info.computeMajor) + Twine(info.computeMinor))
                      .str();
}

std::string Session::getEntryName() const {
  auto entryInfo = FUSION_RT_INIT(FusionRtEntryInfo);
  if (!entry || fusionRtEntryGetInfo(entry, &entryInfo))
    return "";
  return entryInfo.name;
}

std::string Session::getPackageTarget() const {
  auto packageInfo = FUSION_RT_INIT(FusionRtPackageInfo);
  if (!package || fusionRtPackageGetInfo(package, &packageInfo))
    return "";
  return packageInfo.target;
}

std::string Session::getLedger() const {
  auto packageInfo = FUSION_RT_INIT(FusionRtPackageInfo);
  if (!package || fusionRtPackageGetInfo(package, &packageInfo))
    return "";
  return packageInfo.ledgerJson;
}

bool Session::hasDynamicSizes() const {
  auto entryInfo = FUSION_RT_INIT(FusionRtEntryInfo);
  return !entry || fusionRtEntryGetInfo(entry, &entryInfo) ||
         entryInfo.numSymbols != 0;
}

/// Adds one launch to a ProfileReport.
static void recordLaunch(const FusionRtLaunchReport *launch, void *userData) {
  fusionemu::Counters n;
  n.instructions = launch->instructions;
  n.laneInstructions = launch->laneInstructions;
  n.globalLoadRequests = launch->globalLoadRequests;
  n.globalStoreRequests = launch->globalStoreRequests;
  n.globalAtomicRequests = launch->globalAtomicRequests;
  n.globalLoadSectors = launch->globalLoadSectors;
  n.globalStoreSectors = launch->globalStoreSectors;
  n.globalAtomicSectors = launch->globalAtomicSectors;
  n.globalLoadBytes = launch->globalLoadBytes;
  n.globalStoreBytes = launch->globalStoreBytes;
  n.globalAtomicBytes = launch->globalAtomicBytes;
  n.distinctLoadBytes = launch->distinctLoadBytes;
  n.distinctStoreBytes = launch->distinctStoreBytes;
  n.sharedLoadRequests = launch->sharedLoadRequests;
  n.sharedStoreRequests = launch->sharedStoreRequests;
  n.sharedAtomicRequests = launch->sharedAtomicRequests;
  n.bankConflicts = launch->bankConflicts;
  n.barriers = launch->barriers;
  n.divergentBranches = launch->divergentBranches;
  n.cpAsyncBytes = launch->cpAsyncBytes;
  n.bulkLoadBytes = launch->bulkLoadBytes;
  n.bulkStoreBytes = launch->bulkStoreBytes;
  n.tensorLoadBytes = launch->tensorLoadBytes;
  n.tensorStoreBytes = launch->tensorStoreBytes;
  llvm::copy(launch->pipes, n.pipes);
  fusionemu::Profile profile;
  for (uint64_t i = 0; i < launch->numInstructionReports; ++i) {
    const FusionRtInstructionReport &one = *launch->instructionReports[i];
    fusionemu::InstructionProfile p;
    p.line = one.ptxLine;
    p.source = one.source;
    p.text = one.text;
    p.pipe = static_cast<fusionemu::Pipe>(one.pipe);
    p.counts.executions = one.executions;
    p.counts.lanes = one.lanes;
    p.counts.globalRequests = one.globalRequests;
    p.counts.globalSectors = one.globalSectors;
    p.counts.globalBytes = one.globalBytes;
    p.counts.sharedRequests = one.sharedRequests;
    p.counts.bankConflicts = one.bankConflicts;
    p.counts.copyBytes = one.copyBytes;
    profile.instructions.push_back(std::move(p));
  }
  static_cast<fusionemu::ProfileReport *>(userData)->addLaunch(
      launch->kernel, {launch->grid[0], launch->grid[1], launch->grid[2]},
      {launch->blockX, 1, 1}, n, profile);
}

llvm::Error Session::setProfile(fusionemu::ProfileReport *report) {
  return check(fusionRtDeviceSetLaunchCallback(
      device, report ? recordLaunch : nullptr, report));
}

llvm::Error Session::load(StringRef bytes, StringRef entryName) {
  if (fusionRtPackageLoad(device, bytes.data(), bytes.size(), &package))
    return takeRuntimeError();
  std::string name = entryName.str();
  if (fusionRtPackageFindEntry(package, name.empty() ? nullptr : name.c_str(),
                               &entry))
    return takeRuntimeError();
  return readSignature();
}

static TensorSignature makeSignature(const FusionRtTensorInfo &info,
                                     unsigned index) {
  TensorSignature tensor;
  tensor.dtype = static_cast<DType>(info.dtype);
  tensor.isScalar = info.byValue;
  for (int32_t dim = 0; dim < info.rank; ++dim) {
    tensor.shape.push_back(info.dims[dim] < 0 ? TensorSignature::kDynamic
                                              : info.dims[dim]);
    bool hasName = info.dims[dim] < 0 && info.dimNames[dim];
    tensor.dimNames.push_back(
        hasName ? info.dimNames[dim]
                : ("arg" + Twine(index) + "." + Twine(dim)).str());
  }
  return tensor;
}

llvm::Error Session::readSignature() {
  auto entryInfo = FUSION_RT_INIT(FusionRtEntryInfo);
  if (llvm::Error error = check(fusionRtEntryGetInfo(entry, &entryInfo)))
    return error;
  signature = {};
  overwritten.clear();
  auto tensorInfo = FUSION_RT_INIT(FusionRtTensorInfo);
  for (uint32_t i = 0; i < entryInfo.numInputs; ++i) {
    if (llvm::Error error = check(fusionRtEntryGetInput(entry, i, &tensorInfo)))
      return error;
    signature.inputs.push_back(makeSignature(tensorInfo, i));
  }
  for (uint32_t i = 0; i < entryInfo.numOutputs; ++i) {
    if (llvm::Error error =
            check(fusionRtEntryGetOutput(entry, i, &tensorInfo)))
      return error;
    signature.outputs.push_back(makeSignature(tensorInfo, i));
    overwritten.push_back(tensorInfo.overwritesInput
                              ? std::optional(tensorInfo.overwrittenInput)
                              : std::nullopt);
  }
  return llvm::Error::success();
}

/// The arguments of one launch and the device memory behind them.
class Session::Launch {
public:
  Launch(Session &session, ArrayRef<HostTensor> inputs)
      : session(session), inputs(inputs) {
    for (auto [i, input] : llvm::enumerate(inputs)) {
      FusionRtTensor argument = {};
      argument.dims = input.getDims().data();
      argument.rank = static_cast<int32_t>(input.getDims().size());
      argument.dtype = static_cast<int32_t>(input.getDType());
      // A scalar of the signature is read on the host.
      if (i < session.signature.inputs.size() &&
          session.signature.inputs[i].isScalar)
        argument.value = input.data();
      arguments.push_back(argument);
    }
  }

  ~Launch() {
    for (FusionRtAddress address : allocations)
      fusionRtFree(session.device, address);
  }

  /// Allocates everything, copies the inputs and poisons the outputs.
  llvm::Error prepare() {
    size_t numOutputs = session.signature.outputs.size();
    std::vector<FusionRtShape> shapes(numOutputs);
    if (llvm::Error error = check(
            fusionRtInferShapes(session.entry, arguments.data(),
                                arguments.size(), shapes.data(), numOutputs)))
      return error;
    for (auto [i, input] : llvm::enumerate(inputs)) {
      if (arguments[i].value)
        continue;
      if (llvm::Error error =
              allocate(input.getNumBytes(), "input " + std::to_string(i),
                       arguments[i].address))
        return error;
      if (llvm::Error error =
              check(fusionRtCopyToDevice(session.device, arguments[i].address,
                                         input.data(), input.getNumBytes(),
                                         /*stream=*/nullptr)))
        return error;
    }
    for (const FusionRtShape &shape : shapes) {
      auto output = HostTensor::create(
          static_cast<DType>(shape.dtype),
          std::vector<int64_t>(shape.dims, shape.dims + shape.rank));
      if (!output)
        return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                       output.getError().str());
      outputs.push_back(std::move(*output));
    }
    for (auto [i, output] : llvm::enumerate(outputs)) {
      FusionRtTensor result = {};
      result.dims = output.getDims().data();
      result.rank = static_cast<int32_t>(output.getDims().size());
      result.dtype = static_cast<int32_t>(output.getDType());
      if (std::optional<uint32_t> input = session.overwritten[i]) {
        result.address = arguments[*input].address;
        results.push_back(result);
        continue;
      }
      if (llvm::Error error =
              allocate(output.getNumBytes(), "output " + std::to_string(i),
                       result.address))
        return error;
      poison(output);
      if (llvm::Error error = check(fusionRtCopyToDevice(
              session.device, result.address, output.data(),
              output.getNumBytes(), /*stream=*/nullptr)))
        return error;
      results.push_back(result);
    }
    return check(fusionRtSynchronize(session.device, /*stream=*/nullptr));
  }

  FusionRtLaunchArgs getArguments() const {
    auto launch = FUSION_RT_INIT(FusionRtLaunchArgs);
    launch.inputs = arguments.data();
    launch.numInputs = arguments.size();
    launch.outputs = results.data();
    launch.numOutputs = results.size();
    return launch;
  }

  /// Waits for the run and copies the outputs back.
  llvm::Expected<SmallVector<HostTensor>> finish() {
    if (llvm::Error error =
            check(fusionRtSynchronize(session.device, /*stream=*/nullptr)))
      return error;
    for (auto [i, output] : llvm::enumerate(outputs))
      if (llvm::Error error = check(fusionRtCopyToHost(
              session.device, output.data(), results[i].address,
              output.getNumBytes(), /*stream=*/nullptr)))
        return error;
    return std::move(outputs);
  }

  std::vector<FusionRtTensor> arguments, results;

private:
  llvm::Error allocate(size_t bytes, const std::string &name,
                       FusionRtAddress &address) {
    if (llvm::Error error = check(
            fusionRtMalloc(session.device, bytes, name.c_str(), &address)))
      return error;
    allocations.push_back(address);
    return llvm::Error::success();
  }

  Session &session;
  ArrayRef<HostTensor> inputs;
  SmallVector<HostTensor> outputs;
  std::vector<FusionRtAddress> allocations;
};

llvm::Expected<SmallVector<HostTensor>>
Session::run(ArrayRef<HostTensor> inputs) {
  Launch launch(*this, inputs);
  if (llvm::Error error = launch.prepare())
    return error;
  FusionRtLaunchArgs arguments = launch.getArguments();
  if (llvm::Error error = check(fusionRtLaunch(entry, &arguments)))
    return error;
  return launch.finish();
}

llvm::Expected<FusionRtBenchResult>
Session::bench(ArrayRef<HostTensor> inputs) {
  Launch launch(*this, inputs);
  if (llvm::Error error = launch.prepare())
    return error;
  FusionRtLaunchArgs arguments = launch.getArguments();
  auto result = FUSION_RT_INIT(FusionRtBenchResult);
  if (llvm::Error error =
          check(fusionRtBench(entry, &arguments, /*options=*/nullptr, &result)))
    return error;
  return result;
}

llvm::Expected<FusionRtFigures>
Session::getFigures(ArrayRef<HostTensor> inputs) {
  Launch launch(*this, inputs);
  auto figures = FUSION_RT_INIT(FusionRtFigures);
  if (llvm::Error error = check(fusionRtQueryFigures(
          entry, launch.arguments.data(), launch.arguments.size(), &figures)))
    return error;
  return figures;
}
