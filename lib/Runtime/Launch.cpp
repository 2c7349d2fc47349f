//===- Launch.cpp - Starting an entry -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements launching: the checks of the caller's addresses, the
// workspace, and the steps. Nothing here waits for the device, takes a lock or,
// once there is a workspace, allocates.
//
//===----------------------------------------------------------------------===//

#include "Objects.h"
#include "Timeline.h"

#include "fusion/Executable/Package.h"

#include <algorithm>
#include <cstring>

namespace fusionrt {

using namespace fusionpkg;

namespace {

/// Temporaries in allocations of their own, for devices that check accesses
/// against allocations: an overrun of one is then found at once.
class SeparateTemps {
public:
  explicit SeparateTemps(FusionRtDevice &device) : device(device) {}
  ~SeparateTemps() {
    for (Address address : allocated)
      (void)static_cast<bool>(device.device->free(address));
  }
  Error allocate(uint64_t bytes, const std::string &name, Address &address) {
    if (Error error = device.allocate(bytes, name, address))
      return error;
    allocated.push_back(address);
    return {};
  }

private:
  FusionRtDevice &device;
  std::vector<Address> allocated;
};

/// One launch of an entry.
class Launcher {
public:
  Launcher(FusionRtEntry &owner, const FusionRtLaunchArgs &args,
           const Specialization &spec, std::vector<Address> &bases,
           std::vector<uint8_t> &params, Address signals)
      : owner(owner), entry(owner.entry), device(*owner.package.device.device),
        args(args), spec(spec), bases(bases), params(params), signals(signals),
        temps(owner.package.device) {}

  Error run();

private:
  Error tensorAddress(bool isInput, uint32_t index, int64_t bytes,
                      Address &address) const;
  Error checkScalars() const;
  Error checkOverwritten() const;
  Error checkOverlap(size_t a, size_t b) const;
  Error checkOverlaps() const;
  Error resolveTensor(size_t buffer);
  Error resolveBuffers();
  Error workspaceBase(Address &base);
  Error findSignals(Address reserve);
  Error checkSections() const;
  Error resolveTemp(size_t buffer);
  Error beginSection(uint32_t section);
  Error placeSignals();
  Error runSections();
  Error runSteps(uint32_t first, uint32_t last);
  Error checkSignals();
  Error placeTensorMap(const PreparedTensorMap &map, uint8_t *place);
  Error launchStep(const PreparedStep &step);
  Error runStep(const PreparedStep &step);
  std::string describeStep(const PreparedStep &step) const;

  FusionRtEntry &owner;
  const Entry &entry;
  Device &device;
  const FusionRtLaunchArgs &args;
  const Specialization &spec;
  /// The address of every buffer.
  std::vector<Address> &bases;
  std::vector<uint8_t> &params;
  /// What kernels signal in.
  Address signals;
  WorkspacePool::Lease lease, signalsLease;
  SeparateTemps temps;
};

} // namespace

Error Launcher::tensorAddress(bool isInput, uint32_t index, int64_t bytes,
                              Address &address) const {
  if (bytes == 0) {
    address = owner.package.device.dummy;
    return {};
  }
  address = (isInput ? args.inputs : args.outputs)[index].address;
  if (address == 0)
    return Error(ErrorCode::NullPointer,
                 describeTensor(entry, isInput, index) + " has a null address");
  constexpr Address kAlignment = 16;
  if (address % kAlignment != 0)
    return Error(ErrorCode::Misaligned,
                 describeTensor(entry, isInput, index) +
                     " has an address that is " +
                     std::to_string(address % kAlignment) +
                     " more than a multiple of 16");
  if (address + static_cast<uint64_t>(bytes) < address)
    return Error(ErrorCode::BadArgument,
                 describeTensor(entry, isInput, index) +
                     " reaches past the end of the address space");
  return {};
}

Error Launcher::checkScalars() const {
  for (uint32_t i = 0; i < entry.inputs.size(); ++i)
    if (entry.inputs[i].byValue && !args.inputs[i].value)
      return Error(ErrorCode::NullPointer,
                   describeTensor(entry, true, i) +
                       " is passed by value but has none",
                   "set the value of the tensor");
  return {};
}

/// An output that is an input's memory names that or none.
Error Launcher::checkOverwritten() const {
  for (uint32_t i = 0; i < entry.outputs.size(); ++i) {
    const std::optional<uint32_t> &input = entry.outputs[i].overwrites;
    if (!input || args.outputs[i].address == 0 ||
        args.outputs[i].address == args.inputs[*input].address)
      continue;
    return Error(ErrorCode::BadArgument,
                 describeTensor(entry, false, i) + " is the memory of input " +
                     std::to_string(*input) + " and has another address",
                 "pass the input's address or 0");
  }
  return {};
}

/// What is written, buffer `a`, and shares memory with an input or another
/// output, `b`, would be a wrong result without a word.
Error Launcher::checkOverlap(size_t a, size_t b) const {
  Address begin = bases[a], end = begin + spec.bufferBytes[a];
  Address otherEnd = bases[b] + spec.bufferBytes[b];
  if (begin >= otherEnd || bases[b] >= end || spec.bufferBytes[a] == 0 ||
      spec.bufferBytes[b] == 0)
    return {};
  bool isOutput = entry.buffers[a].kind == BufferKind::Output;
  bool isInput = entry.buffers[b].kind == BufferKind::Input;
  return Error(ErrorCode::Overlap,
               describeTensor(entry, !isOutput, entry.buffers[a].index) +
                   (isOutput ? "" : ", which is overwritten,") +
                   " shares memory with " + (isInput ? "input " : "output ") +
                   std::to_string(entry.buffers[b].index));
}

Error Launcher::checkOverlaps() const {
  for (size_t a = 0; a < entry.buffers.size(); ++a) {
    if (!spec.written[a] || spec.bufferBytes[a] == 0)
      continue;
    bool isOutput = entry.buffers[a].kind == BufferKind::Output;
    for (size_t b = 0; b < entry.buffers.size(); ++b) {
      BufferKind kind = entry.buffers[b].kind;
      bool isOther = kind == BufferKind::Input ||
                     (kind == BufferKind::Output && isOutput && b < a);
      if (!isOther || b == a)
        continue;
      if (Error error = checkOverlap(a, b))
        return error;
    }
  }
  return {};
}

Error Launcher::workspaceBase(Address &base) {
  auto needed = static_cast<uint64_t>(spec.workspaceBytes);
  base = args.workspace;
  if (needed == 0)
    return {};
  if (base == 0) {
    Result<WorkspacePool::Lease> leased =
        owner.package.device.workspaces.acquire(needed, args.stream);
    if (!leased)
      return leased.getError().inContext("entry '" + entry.name + "'");
    lease = std::move(*leased);
    base = lease.getAddress();
    return {};
  }
  if (args.workspaceBytes < needed)
    return Error(ErrorCode::WorkspaceTooSmall,
                 "entry '" + entry.name + "' needs a workspace of " +
                     std::to_string(needed) + " bytes, got " +
                     std::to_string(args.workspaceBytes));
  if (base % kWorkspaceAlignment != 0)
    return Error(ErrorCode::Misaligned,
                 "the workspace's address is not a multiple of 256",
                 "align the workspace to 256 bytes");
  return {};
}

/// Zeros that kernels signal in. The runtime has some for each stream, which
/// kernels leave as they are; where memory cannot be allocated, inside a
/// capture, they are written each time, to `reserve` if that is not 0.
Error Launcher::findSignals(Address reserve) {
  WorkspacePool &pool = owner.package.device.signals;
  Result<WorkspacePool::Lease> leased = pool.acquire(kSignalBytes, args.stream);
  if (leased) {
    signalsLease = std::move(*leased);
    signals = signalsLease.getAddress();
    // One for a capture that may follow.
    uint64_t capture = 0;
    if (Error error = device.getCapture(args.stream, capture))
      return error;
    return capture == 0 ? pool.reserve(kSignalBytes) : Error();
  }
  if (reserve == 0 ||
      leased.getError().getCode() != ErrorCode::CaptureWithoutWorkspace)
    return leased.getError().inContext("entry '" + entry.name + "'");
  signals = reserve;
  return device.fill(signals, 8, 0, kSignalBytes, args.stream);
}

/// Kernels must leave signals as they were: the next launch relies on it.
Error Launcher::checkSignals() {
  std::vector<uint8_t> bytes(kSignalBytes);
  if (Error error = device.synchronize(args.stream))
    return error;
  if (Error error =
          device.copyOut(bytes.data(), signals, kSignalBytes, args.stream))
    return error;
  if (std::all_of(bytes.begin(), bytes.end(),
                  [](uint8_t byte) { return byte == 0; }))
    return {};
  return Error(ErrorCode::LaunchFailed,
               "entry '" + entry.name +
                   "' left a signal between blocks that none took back");
}

/// The address of what is there before the launch, and of outputs.
Error Launcher::resolveTensor(size_t index) {
  const Buffer &buffer = entry.buffers[index];
  switch (buffer.kind) {
  case BufferKind::Input:
  case BufferKind::Output:
    return tensorAddress(buffer.kind == BufferKind::Input, buffer.index,
                         spec.bufferBytes[index], bases[index]);
  case BufferKind::Constant:
    bases[index] = owner.package.constants[buffer.index];
    break;
  case BufferKind::Temp:
  case BufferKind::Signals:
    break;
  }
  return {};
}

Error Launcher::resolveBuffers() {
  bool isSeparate = device.checksAllocations() && args.workspace == 0;
  Address workspace = 0;
  for (size_t i = 0; i < bases.size(); ++i)
    if (Error error = resolveTensor(i))
      return error;
  if (Error error = checkOverwritten())
    return error;
  if (Error error = checkOverlaps())
    return error;

  if (!isSeparate)
    if (Error error = workspaceBase(workspace))
      return error;
  if (spec.signalsOffset >= 0 && signals == 0)
    if (Error error = findSignals(
            workspace ? workspace + static_cast<Address>(spec.signalsOffset)
                      : 0))
      return error;
  for (size_t i = 0; i < bases.size(); ++i) {
    if (entry.buffers[i].kind == BufferKind::Signals)
      bases[i] = signals;
    if (entry.buffers[i].kind != BufferKind::Temp)
      continue;
    if (spec.bufferBytes[i] == 0)
      bases[i] = owner.package.device.dummy;
    else if (!isSeparate)
      bases[i] = workspace + spec.tempOffsets[i];
    else if (Error error = temps.allocate(
                 spec.bufferBytes[i],
                 "temporary '" + entry.buffers[i].name + "'", bases[i]))
      return error;
  }
  return {};
}

std::string Launcher::describeStep(const PreparedStep &step) const {
  std::string text =
      "entry '" + entry.name + "', step " + std::to_string(step.index);
  if (step.kind != StepKind::Launch)
    return text;
  const Kernel &kernel = owner.package.model.kernels[step.kernel];
  text += ", kernel '" + kernel.name + "'";
  if (!kernel.source.empty())
    text += " from " + kernel.source;
  return text;
}

/// Puts a tensor map into the argument block: one that was encoded for this
/// address before, if it is remembered.
Error Launcher::placeTensorMap(const PreparedTensorMap &map, uint8_t *place) {
  Address address = map.isEmpty ? owner.package.device.dummy
                                : bases[map.buffer] + map.byteOffset;
  if (map.cache->find(address, place))
    return {};
  fusionemu::TensorMapInfo info = map.info;
  info.globalAddress = address;
  if (Error error = device.encodeTensorMap(info, place))
    return error;
  map.cache->insert(address, place);
  return {};
}

Error Launcher::launchStep(const PreparedStep &step) {
  // The block is copied, since other threads may launch these sizes too.
  const uint8_t *block = spec.args.data() + step.argOffset;
  std::copy(block, block + step.argBytes, params.begin());
  for (size_t i = 0; i < step.numPatches; ++i) {
    const Patch &patch = spec.patches[step.firstPatch + i];
    uint8_t *place = params.data() + patch.offset;
    switch (patch.kind) {
    case Patch::Kind::Address: {
      Address address = bases[patch.index] + patch.byteOffset;
      std::memcpy(place, &address, sizeof(address));
      break;
    }
    case Patch::Kind::Scalar:
      std::memcpy(place, args.inputs[patch.index].value, patch.width);
      break;
    case Patch::Kind::TensorMap:
      if (Error error = placeTensorMap(spec.tensorMaps[patch.index], place))
        return error;
      break;
    }
  }
  LaunchRequest request;
  request.kernel = owner.package.kernels[step.kernel];
  request.grid = step.grid;
  const Kernel &kernel = owner.package.model.kernels[step.kernel];
  TimelineRange range([&] {
    return kernel.source.empty() ? kernel.name
                                 : kernel.name + " (" + kernel.source + ")";
  });
  request.blockX = kernel.blockX;
  request.clusterX = kernel.clusterX;
  request.together = kernel.together;
  request.dynamicSharedBytes = step.dynamicSharedBytes;
  request.args = params.data();
  request.argBytes = step.argBytes;
  request.stream = args.stream;
  return device.launch(request);
}

Error Launcher::runStep(const PreparedStep &step) {
  switch (step.kind) {
  case StepKind::Launch:
    return launchStep(step);
  case StepKind::Copy:
    return device.copy(bases[step.dst] + step.dstOffset,
                       bases[step.src] + step.srcOffset,
                       static_cast<uint64_t>(step.bytes), args.stream);
  case StepKind::Fill:
    return device.fill(bases[step.dst] + step.dstOffset, step.fillWidth,
                       step.fillBits, static_cast<uint64_t>(step.bytes),
                       args.stream);
  }
  return {};
}

/// Runs the steps of the entry from `first` up to, not including, `last`.
Error Launcher::runSteps(uint32_t first, uint32_t last) {
  // Inside a capture nothing runs yet, so there is nothing to wait for.
  uint64_t capture = 0;
  bool waits = owner.package.device.synchronous;
  if (waits)
    if (Error error = device.getCapture(args.stream, capture))
      return error;
  waits = waits && capture == 0;
  auto step = std::lower_bound(spec.steps.begin(), spec.steps.end(), first,
                               [](const PreparedStep &one, uint32_t index) {
                                 return one.index < index;
                               });
  for (; step != spec.steps.end() && step->index < last; ++step) {
    Error error = runStep(*step);
    if (!error && waits)
      error = device.synchronize(args.stream);
    if (error)
      return error.inContext(describeStep(*step));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// In sections
//===----------------------------------------------------------------------===//

Error Launcher::checkSections() const {
  const FusionRtSections &sections = *args.sections;
  if (&sections.entry != &owner || sections.symbols != spec.symbols)
    return Error(ErrorCode::BadArgument,
                 "entry '" + entry.name +
                     "': the sections are of another entry or of other sizes",
                 "make sections of this entry for these sizes");
  if (!args.beginSection || (!args.blocks && !sections.plan.blocks.empty()))
    return Error(ErrorCode::BadArgument,
                 "entry '" + entry.name +
                     "': a launch in sections has no callback or no blocks");
  return checkOverwritten();
}

/// The address of a temporary, or of signals, in its block.
Error Launcher::resolveTemp(size_t buffer) {
  const SectionPlan &plan = args.sections->plan;
  if (plan.blockOf[buffer] == UINT32_MAX) {
    bases[buffer] = owner.package.device.dummy;
    return {};
  }
  Address block = args.blocks[plan.blockOf[buffer]];
  if (block == 0 || block % kWorkspaceAlignment != 0)
    return Error(block ? ErrorCode::Misaligned : ErrorCode::NullPointer,
                 "entry '" + entry.name + "': the address of block " +
                     std::to_string(plan.blockOf[buffer]) +
                     (block ? " is not a multiple of 256" : " is null"),
                 "pass the memory of each block, aligned to 256 bytes");
  bases[buffer] = block + static_cast<Address>(plan.offsets[buffer]);
  return {};
}

/// Has the caller allocate what a section begins to need, and takes it.
Error Launcher::beginSection(uint32_t section) {
  if (args.beginSection(args.userData, section) != 0)
    return Error(ErrorCode::OutOfMemory,
                 "entry '" + entry.name +
                     "': the caller ended the launch before section " +
                     std::to_string(section));
  const SectionPlan &plan = args.sections->plan;
  for (uint32_t i : args.sections->begun[section]) {
    bool isTemp = entry.buffers[i].kind == BufferKind::Temp;
    if (Error error = isTemp ? resolveTemp(i) : resolveTensor(i))
      return error;
  }
  for (uint32_t a : args.sections->begun[section])
    for (uint32_t b = 0; b < bases.size(); ++b) {
      bool isThere =
          plan.uses[b].first <= section && section <= plan.uses[b].last;
      BufferKind kind = entry.buffers[b].kind;
      if (a == b || !isThere ||
          (kind != BufferKind::Input && kind != BufferKind::Output))
        continue;
      bool isRead = entry.buffers[a].kind == BufferKind::Input;
      if (spec.written[a] && (kind == BufferKind::Input || !isRead))
        if (Error error = checkOverlap(a, b))
          return error;
      if (spec.written[b] && isRead)
        if (Error error = checkOverlap(b, a))
          return error;
    }
  return {};
}

/// Signals of a launch in sections: the runtime's own or else in a block.
Error Launcher::placeSignals() {
  for (size_t i = 0; i < bases.size(); ++i) {
    if (entry.buffers[i].kind != BufferKind::Signals)
      continue;
    if (signals == 0)
      if (Error error =
              findSignals(args.blocks[args.sections->plan.blockOf[i]]))
        return error;
    bases[i] = signals;
  }
  return {};
}

Error Launcher::runSections() {
  if (Error error = checkSections())
    return error;
  const SectionPlan &plan = args.sections->plan;
  size_t count = plan.firstSteps.size();
  for (uint32_t section = 0; section < count; ++section) {
    if (Error error = beginSection(section))
      return error;
    if (section == 0)
      if (Error error = placeSignals())
        return error;
    uint32_t end =
        section + 1 < count ? plan.firstSteps[section + 1] : UINT32_MAX;
    if (Error error = runSteps(plan.firstSteps[section], end))
      return error;
  }
  return {};
}

Error Launcher::run() {
  if (Error error = checkScalars())
    return error;
  bases.assign(entry.buffers.size(), 0);
  params.resize(std::max(params.size(), spec.maxArgBytes));
  if (args.sections) {
    if (Error error = runSections())
      return error;
  } else {
    if (Error error = resolveBuffers())
      return error;
    if (Error error = runSteps(0, UINT32_MAX))
      return error;
  }
  if (signalsLease.getAddress() && device.checksAllocations())
    return checkSignals();
  return {};
}

Error launchEntry(FusionRtEntry &owner, const FusionRtLaunchArgs &args,
                  Address signals) {
  if (Error error = owner.package.device.device->checkAlive())
    return error;
  TimelineRange range([&] { return "fusion: " + owner.entry.name; });
  const Specialization *spec = nullptr;
  std::unique_ptr<Specialization> transient;
  if (Error error =
          owner.specialize(args.inputs, args.numInputs, spec, transient))
    return error;
  if (Error error =
          checkOutputs(owner.entry, *spec, args.outputs, args.numOutputs))
    return error;
  if (args.sections) {
    // The caller's function may do anything, on this thread as well.
    std::vector<Address> bases;
    std::vector<uint8_t> params;
    return Launcher(owner, args, *spec, bases, params, signals).run();
  }
  // Kept from launch to launch, so that a launch does not allocate.
  thread_local std::vector<Address> bases;
  thread_local std::vector<uint8_t> params;
  return Launcher(owner, args, *spec, bases, params, signals).run();
}

} // namespace fusionrt
