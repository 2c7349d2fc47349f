//===- CApi.cpp - C interface of the Fusion runtime -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the functions of Runtime.h over the objects behind its
// handles.
//
//===----------------------------------------------------------------------===//

#include "Objects.h"

#include "fusion/Executable/Package.h"
#include "fusion/Version.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace fusionrt;
using namespace fusionpkg;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {

struct LastError {
  FusionRtStatus code = 0;
  std::string text, cause, remedy;
};

} // namespace

static LastError &getLast() {
  thread_local LastError last;
  return last;
}

/// Keeps the error for the thread and turns it into a status.
static FusionRtStatus finish(const Error &error) {
  if (!error)
    return 0;
  LastError &last = getLast();
  last.code = static_cast<FusionRtStatus>(error.getCode());
  last.text = error.str();
  last.cause = error.getCause();
  last.remedy = error.getRemedy();
  return last.code;
}

static Error nullArgument(const char *name) {
  return Error(ErrorCode::BadArgument,
               std::string("the argument '") + name + "' is null");
}

static Error badIndex(const char *what, uint64_t index, uint64_t count) {
  return Error(ErrorCode::BadArgument,
               std::string(what) + " " + std::to_string(index) +
                   " does not exist: there are " + std::to_string(count));
}

/// Copies `own` to the caller, as much of it as the caller knows of.
template <typename T>
static void writeStruct(T *callers, const T &own) {
  size_t size = std::min(callers->structSize, sizeof(T));
  size_t skip = sizeof(callers->structSize);
  if (size > skip)
    std::memcpy(reinterpret_cast<char *>(callers) + skip,
                reinterpret_cast<const char *>(&own) + skip, size - skip);
}

Error fusionrt::checkStruct(const void *callers, size_t size, size_t known) {
  // No struct of the interface is nearly as large: it is another number.
  constexpr size_t kMaxSize = 4096;
  if (size < sizeof(size) || size > kMaxSize)
    return Error(ErrorCode::BadArgument,
                 "the structSize of a struct is " + std::to_string(size),
                 "make the struct with FUSION_RT_INIT");
  const char *bytes = static_cast<const char *>(callers);
  for (size_t i = known; i < size; ++i)
    if (bytes[i])
      return Error(ErrorCode::VersionMismatch,
                   "a struct of " + std::to_string(size) +
                       " bytes has a field set that version " +
                       FUSION_VERSION_STRING " of the runtime, with " +
                       std::to_string(known) + " bytes, does not have");
  return Error();
}

uint32_t fusionRtGetAbiVersion(void) { return FUSION_RT_ABI_VERSION; }

FusionRtStatus fusionRtCheckVersion(uint32_t abiVersion, uint32_t apiVersion) {
  if (abiVersion == FUSION_RT_ABI_VERSION &&
      apiVersion <= FUSION_RT_API_VERSION)
    return 0;
  auto name = [](uint32_t abi, uint32_t api) {
    return "ABI " + std::to_string(abi) + ", interface " + std::to_string(api);
  };
  return finish(
      Error(ErrorCode::VersionMismatch,
            "the program was built for " + name(abiVersion, apiVersion) +
                " of the runtime; version " + FUSION_VERSION_STRING " has " +
                name(FUSION_RT_ABI_VERSION, FUSION_RT_API_VERSION)));
}

const char *fusionRtGetVersion(void) { return FUSION_VERSION_STRING; }
const char *fusionRtGetLastError(void) { return getLast().text.c_str(); }
const char *fusionRtGetLastErrorCause(void) { return getLast().cause.c_str(); }
const char *fusionRtGetLastErrorRemedy(void) {
  return getLast().remedy.c_str();
}
FusionRtStatus fusionRtGetLastErrorCode(void) { return getLast().code; }

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// Parses "cuda" or "cuda:N"; -1 for anything else.
static int parseCudaName(const std::string &name) {
  if (name == "cuda")
    return 0;
  constexpr size_t kMaxDigits = 4;
  if (name.rfind("cuda:", 0) != 0 || name.size() == 5 ||
      name.size() > 5 + kMaxDigits)
    return -1;
  int index = 0;
  for (char c : name.substr(5)) {
    if (c < '0' || c > '9')
      return -1;
    index = index * 10 + (c - '0');
  }
  return index;
}

FusionRtStatus fusionRtDeviceCreate(const char *name,
                                    const FusionRtDeviceOptions *options,
                                    FusionRtDevice **device) {
  if (!name)
    return finish(nullArgument("name"));
  if (!device)
    return finish(nullArgument("device"));
  FusionRtDeviceOptions own;
  if (Error error = readStruct(options, own))
    return finish(error);
  const char *environment = std::getenv("FUSION_SYNC");
  bool synchronous = own.synchronous || (environment && *environment == '1');

  std::string text = name;
  int index = parseCudaName(text);
  if (text != "emulator" && index < 0)
    return finish(Error(ErrorCode::BadArgument,
                        "there is no device '" + text + "'",
                        "choose 'cuda', 'cuda:N' or 'emulator'"));
  Result<std::unique_ptr<Device>> made = text == "emulator"
                                             ? createEmulatorDevice(own)
                                             : createCudaDevice(index, own);
  if (!made)
    return finish(made.getError());
  Result<std::unique_ptr<FusionRtDevice>> handle =
      makeDevice(std::move(*made), synchronous);
  if (!handle)
    return finish(handle.getError());
  *device = handle->release();
  return 0;
}

void fusionRtDeviceDestroy(FusionRtDevice *device) {
  if (device)
    device->release();
}

FusionRtStatus fusionRtGetCudaDeviceCount(int32_t *count) {
  if (!count)
    return finish(nullArgument("count"));
  Result<int> result = countCudaDevices();
  if (!result)
    return finish(result.getError());
  *count = *result;
  return 0;
}

FusionRtStatus fusionRtDeviceGetInfo(FusionRtDevice *device,
                                     FusionRtDeviceInfo *info) {
  if (!device || !info)
    return finish(nullArgument(device ? "info" : "device"));
  FusionRtDeviceInfo own = {};
  if (Error error = device->device->getInfo(own))
    return finish(error);
  writeStruct(info, own);
  return 0;
}

FusionRtStatus fusionRtMalloc(FusionRtDevice *device, uint64_t bytes,
                              const char *name, FusionRtAddress *address) {
  if (!device || !address)
    return finish(nullArgument(device ? "address" : "device"));
  // Nobody may use the byte, but every allocation needs its own address.
  return finish(device->allocate(std::max<uint64_t>(bytes, 1), name ? name : "",
                                 *address));
}

FusionRtStatus fusionRtFree(FusionRtDevice *device, FusionRtAddress address) {
  if (!device)
    return finish(nullArgument("device"));
  return finish(address ? device->device->free(address) : Error());
}

FusionRtStatus fusionRtCopyToDevice(FusionRtDevice *device, FusionRtAddress dst,
                                    const void *src, uint64_t bytes,
                                    FusionRtStream stream) {
  if (!device || (!src && bytes))
    return finish(nullArgument(device ? "src" : "device"));
  return finish(bytes ? device->device->copyIn(dst, src, bytes, stream)
                      : Error());
}

FusionRtStatus fusionRtCopyToHost(FusionRtDevice *device, void *dst,
                                  FusionRtAddress src, uint64_t bytes,
                                  FusionRtStream stream) {
  if (!device || (!dst && bytes))
    return finish(nullArgument(device ? "dst" : "device"));
  return finish(bytes ? device->device->copyOut(dst, src, bytes, stream)
                      : Error());
}

FusionRtStatus fusionRtFill(FusionRtDevice *device, FusionRtAddress dst,
                            uint8_t value, uint64_t bytes,
                            FusionRtStream stream) {
  if (!device)
    return finish(nullArgument("device"));
  return finish(bytes ? device->device->fill(dst, 1, value, bytes, stream)
                      : Error());
}

FusionRtStatus fusionRtStreamCreate(FusionRtDevice *device,
                                    FusionRtStream *stream) {
  if (!device || !stream)
    return finish(nullArgument(device ? "stream" : "device"));
  return finish(device->device->createStream(*stream));
}

void fusionRtStreamDestroy(FusionRtDevice *device, FusionRtStream stream) {
  if (device && stream)
    device->device->destroyStream(stream);
}

FusionRtStatus fusionRtSynchronize(FusionRtDevice *device,
                                   FusionRtStream stream) {
  if (!device)
    return finish(nullArgument("device"));
  return finish(device->device->synchronize(stream));
}

FusionRtStatus fusionRtEncodeTensorMap(FusionRtDevice *device,
                                       const FusionRtTensorMapDesc *desc,
                                       void *map) {
  if (!device || !desc || !map)
    return finish(nullArgument(!device ? "device" : desc ? "map" : "desc"));
  fusionemu::TensorMapInfo info;
  FusionRtTensorMapDesc own;
  if (Error error = readStruct(desc, own))
    return finish(error);
  if (Error error = readTensorMap(own, info))
    return finish(error);
  uint8_t bytes[fusionemu::tensorMapBytes];
  if (Error error = device->device->encodeTensorMap(info, bytes))
    return finish(error);
  std::memcpy(map, bytes, sizeof(bytes));
  return 0;
}

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

FusionRtStatus fusionRtPackageLoad(FusionRtDevice *device, const void *data,
                                   size_t size, FusionRtPackage **package) {
  if (!device || !data || !package)
    return finish(nullArgument(!device ? "device" : data ? "package" : "data"));
  Result<std::unique_ptr<FusionRtPackage>> loaded =
      loadPackage(*device, data, size);
  if (!loaded)
    return finish(loaded.getError());
  *package = loaded->release();
  return 0;
}

FusionRtStatus fusionRtPackageLoadFile(FusionRtDevice *device, const char *path,
                                       FusionRtPackage **package) {
  if (!device || !path || !package)
    return finish(nullArgument(!device ? "device" : path ? "package" : "path"));
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return finish(bytes.getError());
  Result<std::unique_ptr<FusionRtPackage>> loaded =
      loadPackage(*device, bytes->data(), bytes->size());
  if (!loaded)
    return finish(
        loaded.getError().inContext("package '" + std::string(path) + "'"));
  *package = loaded->release();
  return 0;
}

void fusionRtPackageDestroy(FusionRtPackage *package) { delete package; }

FusionRtStatus fusionRtPackageGetInfo(const FusionRtPackage *package,
                                      FusionRtPackageInfo *info) {
  if (!package || !info)
    return finish(nullArgument(package ? "info" : "package"));
  const PackageModel &model = package->model;
  FusionRtPackageInfo own = {};
  own.target = model.target.c_str();
  own.producer = model.producer.c_str();
  own.ledgerJson = model.ledgerJson.c_str();
  own.ptxVersion = model.ptxVersion;
  own.numEntries = static_cast<uint32_t>(model.entries.size());
  own.numKernels = static_cast<uint32_t>(model.kernels.size());
  writeStruct(info, own);
  return 0;
}

FusionRtStatus fusionRtPackageGetKernel(const FusionRtPackage *package,
                                        uint32_t index,
                                        FusionRtKernelInfo *info) {
  if (!package || !info)
    return finish(nullArgument(package ? "info" : "package"));
  if (index >= package->model.kernels.size())
    return finish(badIndex("kernel", index, package->model.kernels.size()));
  const Kernel &kernel = package->model.kernels[index];
  const KernelFacts &facts = package->facts[index];
  FusionRtKernelInfo own = {};
  own.name = kernel.name.c_str();
  own.source = kernel.source.c_str();
  own.blockX = kernel.blockX;
  own.staticSharedBytes = kernel.staticSharedBytes;
  own.dynamicSharedBytes = kernel.dynamicSharedBytes;
  own.predictedRegisters = kernel.predicted.registers;
  own.predictedSpillBytes = kernel.predicted.spillBytes;
  own.predictedSharedBytes = kernel.predicted.sharedBytes;
  own.measuredRegisters = kernel.measured.registers;
  own.measuredSpillBytes = kernel.measured.spillBytes;
  own.measuredSharedBytes = kernel.measured.sharedBytes;
  own.loadedRegisters = facts.registers;
  own.loadedLocalBytes = facts.localBytes;
  own.loadedSharedBytes = facts.sharedBytes;
  own.loadedMaxThreads = facts.maxThreads;
  own.predictedMicroseconds = kernel.predictedMicroseconds;
  writeStruct(info, own);
  return 0;
}

FusionRtStatus fusionRtPackageGetEntry(FusionRtPackage *package, uint32_t index,
                                       FusionRtEntry **entry) {
  if (!package || !entry)
    return finish(nullArgument(package ? "entry" : "package"));
  if (index >= package->entries.size())
    return finish(badIndex("entry", index, package->entries.size()));
  *entry = package->entries[index].get();
  return 0;
}

FusionRtStatus fusionRtPackageFindEntry(FusionRtPackage *package,
                                        const char *name,
                                        FusionRtEntry **entry) {
  if (!package || !entry)
    return finish(nullArgument(package ? "entry" : "package"));
  std::string all;
  for (const std::unique_ptr<FusionRtEntry> &candidate : package->entries) {
    if (name ? candidate->entry.name == name : package->entries.size() == 1) {
      *entry = candidate.get();
      return 0;
    }
    constexpr size_t kMaxListed = 1000;
    if (all.size() < kMaxListed)
      all += (all.empty() ? "'" : ", '") + candidate->entry.name + "'";
  }
  return finish(
      Error(ErrorCode::NoSuchEntry,
            name ? "the package has no entry '" + std::string(name) + "'"
                 : "the package does not have exactly one entry",
            all.empty() ? "compile a program with a function"
                        : "choose one of " + all));
}

FusionRtStatus fusionRtEntryGetInfo(const FusionRtEntry *entry,
                                    FusionRtEntryInfo *info) {
  if (!entry || !info)
    return finish(nullArgument(entry ? "info" : "entry"));
  const Entry &model = entry->entry;
  FusionRtEntryInfo own = {};
  own.name = model.name.c_str();
  own.numInputs = static_cast<uint32_t>(model.inputs.size());
  own.numOutputs = static_cast<uint32_t>(model.outputs.size());
  own.numSymbols = static_cast<uint32_t>(model.symbols.size());
  own.numSteps = static_cast<uint32_t>(model.steps.size());
  own.kernelsBefore = model.summary.kernelsBefore;
  own.kernelsAfter = model.summary.kernelsAfter;
  own.predictedMicroseconds = model.summary.predictedMicroseconds;
  writeStruct(info, own);
  return 0;
}

static FusionRtStatus getTensor(const FusionRtEntry *entry, bool isInput,
                                uint32_t index, FusionRtTensorInfo *info) {
  if (!entry || !info)
    return finish(nullArgument(entry ? "info" : "entry"));
  const Entry &model = entry->entry;
  const std::vector<TensorSpec> &specs = isInput ? model.inputs : model.outputs;
  if (index >= specs.size())
    return finish(badIndex(isInput ? "input" : "output", index, specs.size()));
  const TensorSpec &spec = specs[index];
  const std::vector<std::string> &names =
      entry->dimNames[index + (isInput ? 0 : model.inputs.size())];
  FusionRtTensorInfo own = {};
  own.name = spec.name.c_str();
  own.dtype = static_cast<int32_t>(spec.dtype);
  own.rank = static_cast<int32_t>(spec.dims.size());
  own.byValue = spec.byValue;
  for (size_t d = 0; d < spec.dims.size(); ++d) {
    own.dims[d] = model.exprs.getConstant(spec.dims[d]).value_or(-1);
    own.dimNames[d] = names[d].c_str();
  }
  own.overwritesInput = spec.overwrites.has_value();
  own.overwrittenInput = spec.overwrites.value_or(0);
  writeStruct(info, own);
  return 0;
}

FusionRtStatus fusionRtEntryGetInput(const FusionRtEntry *entry, uint32_t index,
                                     FusionRtTensorInfo *info) {
  return getTensor(entry, /*isInput=*/true, index, info);
}

FusionRtStatus fusionRtEntryGetOutput(const FusionRtEntry *entry,
                                      uint32_t index,
                                      FusionRtTensorInfo *info) {
  return getTensor(entry, /*isInput=*/false, index, info);
}

FusionRtStatus fusionRtEntryGetSymbol(const FusionRtEntry *entry,
                                      uint32_t index,
                                      FusionRtSymbolInfo *info) {
  if (!entry || !info)
    return finish(nullArgument(entry ? "info" : "entry"));
  const std::vector<Symbol> &symbols = entry->entry.symbols;
  if (index >= symbols.size())
    return finish(badIndex("symbol", index, symbols.size()));
  FusionRtSymbolInfo own = {};
  own.name = symbols[index].name.c_str();
  own.input = symbols[index].input;
  own.dim = symbols[index].dim;
  writeStruct(info, own);
  return 0;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

FusionRtStatus fusionRtInferShapes(FusionRtEntry *entry,
                                   const FusionRtTensor *inputs,
                                   uint32_t numInputs, FusionRtShape *outputs,
                                   uint32_t numOutputs) {
  if (!entry || (!outputs && numOutputs))
    return finish(nullArgument(entry ? "outputs" : "entry"));
  const Entry &model = entry->entry;
  const Specialization *spec = nullptr;
  std::unique_ptr<Specialization> transient;
  if (Error error = entry->specialize(inputs, numInputs, spec, transient))
    return finish(error);
  if (numOutputs != model.outputs.size())
    return finish(
        Error(ErrorCode::WrongArity, "entry '" + model.name + "' has " +
                                         std::to_string(model.outputs.size()) +
                                         " outputs, asked for " +
                                         std::to_string(numOutputs)));
  const int64_t *dims = spec->outputDims.data();
  for (size_t i = 0; i < numOutputs; ++i) {
    FusionRtShape shape = {};
    shape.dtype = static_cast<int32_t>(model.outputs[i].dtype);
    shape.rank = static_cast<int32_t>(model.outputs[i].dims.size());
    std::copy(dims, dims + shape.rank, shape.dims);
    shape.bytes = static_cast<uint64_t>(spec->outputBytes[i]);
    outputs[i] = shape;
    dims += shape.rank;
  }
  return 0;
}

FusionRtStatus fusionRtQueryFigures(FusionRtEntry *entry,
                                    const FusionRtTensor *inputs,
                                    uint32_t numInputs,
                                    FusionRtFigures *figures) {
  if (!entry || !figures)
    return finish(nullArgument(entry ? "figures" : "entry"));
  const Specialization *spec = nullptr;
  std::unique_ptr<Specialization> transient;
  if (Error error = entry->specialize(inputs, numInputs, spec, transient))
    return finish(error);
  FusionRtFigures own = {};
  own.bytesBefore = spec->bytesBefore;
  own.bytesAfter = spec->bytesAfter;
  own.flops = spec->flops;
  own.workspaceBytes = spec->workspaceBytes;
  own.numLaunches = spec->numLaunches;
  writeStruct(figures, own);
  return 0;
}

FusionRtStatus fusionRtQueryWorkspace(FusionRtEntry *entry,
                                      const FusionRtTensor *inputs,
                                      uint32_t numInputs, uint64_t *bytes) {
  if (!entry || !bytes)
    return finish(nullArgument(entry ? "bytes" : "entry"));
  const Specialization *spec = nullptr;
  std::unique_ptr<Specialization> transient;
  if (Error error = entry->specialize(inputs, numInputs, spec, transient))
    return finish(error);
  *bytes = static_cast<uint64_t>(spec->workspaceBytes);
  return 0;
}

FusionRtStatus fusionRtReserveWorkspace(FusionRtEntry *entry,
                                        const FusionRtTensor *inputs,
                                        uint32_t numInputs) {
  uint64_t bytes = 0;
  if (FusionRtStatus status =
          fusionRtQueryWorkspace(entry, inputs, numInputs, &bytes))
    return status;
  return finish(bytes ? entry->package.device.workspaces.reserve(bytes)
                      : Error());
}

FusionRtStatus fusionRtSectionsCreate(FusionRtEntry *entry,
                                      const FusionRtTensor *inputs,
                                      uint32_t numInputs,
                                      const FusionRtSectionOptions *options,
                                      FusionRtSections **sections) {
  if (!entry || !sections)
    return finish(nullArgument(entry ? "sections" : "entry"));
  FusionRtSectionOptions own;
  if (Error error = readStruct(options, own))
    return finish(error);
  Result<std::unique_ptr<FusionRtSections>> made =
      makeSections(*entry, inputs, numInputs, own);
  if (!made)
    return finish(made.getError());
  *sections = made->release();
  return 0;
}

void fusionRtSectionsDestroy(FusionRtSections *sections) { delete sections; }

FusionRtStatus fusionRtSectionsGetInfo(const FusionRtSections *sections,
                                       FusionRtSectionsInfo *info) {
  if (!sections || !info)
    return finish(nullArgument(sections ? "info" : "sections"));
  const SectionPlan &plan = sections->plan;
  FusionRtSectionsInfo own = {};
  own.numSections = static_cast<uint32_t>(plan.firstSteps.size());
  own.numBlocks = static_cast<uint32_t>(plan.blocks.size());
  own.bytes = static_cast<uint64_t>(plan.bytes);
  own.wholeBytes = static_cast<uint64_t>(plan.wholeBytes);
  writeStruct(info, own);
  return 0;
}

FusionRtStatus fusionRtSectionsGetUse(const FusionRtSections *sections,
                                      int32_t used, uint32_t index,
                                      FusionRtUse *use) {
  if (!sections || !use)
    return finish(nullArgument(sections ? "use" : "sections"));
  const SectionPlan &plan = sections->plan;
  const Entry &entry = sections->entry.entry;
  if (used < FUSION_RT_USED_INPUT || used > FUSION_RT_USED_BLOCK)
    return finish(badIndex("kind of memory", used, 3));
  bool isBlock = used == FUSION_RT_USED_BLOCK;
  bool isInput = used == FUSION_RT_USED_INPUT;
  size_t count = isBlock   ? plan.blocks.size()
                 : isInput ? entry.inputs.size()
                           : entry.outputs.size();
  if (index >= count)
    return finish(badIndex(isBlock   ? "block"
                           : isInput ? "input"
                                     : "output",
                           index, count));
  Lifetime life = {0, 1, 0};
  BufferKind kind = isInput ? BufferKind::Input : BufferKind::Output;
  for (size_t i = 0; !isBlock && i < entry.buffers.size(); ++i)
    if (entry.buffers[i].kind == kind && entry.buffers[i].index == index)
      life = plan.uses[i];
  if (isBlock)
    life = plan.blocks[index];
  *use = {static_cast<uint64_t>(life.bytes), life.first, life.last};
  return 0;
}

FusionRtStatus fusionRtLaunch(FusionRtEntry *entry,
                              const FusionRtLaunchArgs *args) {
  if (!entry || !args)
    return finish(nullArgument(entry ? "args" : "entry"));
  FusionRtLaunchArgs own;
  if (Error error = readStruct(args, own))
    return finish(error);
  return finish(launchEntry(*entry, own));
}

FusionRtStatus fusionRtDeviceSetLaunchCallback(FusionRtDevice *device,
                                               FusionRtLaunchCallback callback,
                                               void *userData) {
  if (!device)
    return finish(nullArgument("device"));
  return finish(device->device->setLaunchCallback(callback, userData));
}

/// Times a launch with a workspace of its own, so that the graph in which it
/// is captured owns none of the pool's.
static Error bench(FusionRtEntry &entry, FusionRtLaunchArgs args,
                   const FusionRtBenchOptions &options,
                   FusionRtBenchResult &result) {
  FusionRtDevice &device = entry.package.device;
  const Specialization *spec = nullptr;
  std::unique_ptr<Specialization> transient;
  if (Error error =
          entry.specialize(args.inputs, args.numInputs, spec, transient))
    return error;
  Address workspace = 0;
  if (args.workspace == 0 && spec->workspaceBytes > 0) {
    args.workspaceBytes = static_cast<uint64_t>(spec->workspaceBytes);
    if (Error error =
            device.allocate(args.workspaceBytes, "workspace", workspace))
      return error;
    args.workspace = workspace;
  }
  Address signals = 0;
  if (spec->signalsOffset >= 0) {
    std::vector<uint8_t> zeros(fusionpkg::kSignalBytes);
    Error error = device.allocate(zeros.size(), "signals", signals);
    if (!error)
      error = device.device->upload(signals, zeros.data(), zeros.size());
    if (error)
      return error;
  }
  Error error = device.device->time(
      [&](Stream stream) {
        args.stream = stream;
        return launchEntry(entry, args, signals);
      },
      options, result);
  for (Address own : {workspace, signals}) {
    if (own == 0)
      continue;
    Error freeError = device.device->free(own);
    if (!error)
      error = freeError;
  }
  return error;
}

FusionRtStatus fusionRtBench(FusionRtEntry *entry,
                             const FusionRtLaunchArgs *args,
                             const FusionRtBenchOptions *options,
                             FusionRtBenchResult *result) {
  if (!entry || !args || !result)
    return finish(nullArgument(!entry ? "entry" : args ? "result" : "args"));
  FusionRtBenchOptions own;
  FusionRtLaunchArgs ownArgs;
  if (Error error = readStruct(options, own))
    return finish(error);
  if (Error error = readStruct(args, ownArgs))
    return finish(error);
  constexpr uint32_t kMaxCount = 1000000;
  if (own.warmup > kMaxCount || own.repeats > kMaxCount ||
      own.batch > kMaxCount)
    return finish(Error(ErrorCode::BadArgument,
                        "a count of launches to time is above one million"));
  if (own.batch > 1 && !own.keepL2)
    return finish(Error(ErrorCode::BadArgument,
                        "a batch of launches cannot have the cache flushed "
                        "between its launches",
                        "set keepL2, or time launches one by one"));
  own.warmup = own.warmup ? own.warmup : 5;
  own.repeats = own.repeats ? own.repeats : 30;
  own.batch = own.batch ? own.batch : 1;
  FusionRtBenchResult measured = {};
  if (Error error = bench(*entry, ownArgs, own, measured))
    return finish(error);
  writeStruct(result, measured);
  return 0;
}
