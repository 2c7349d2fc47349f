//===- Emulator.h - Run PTX without a GPU, checked --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the public interface of the PTX emulator: a device memory
// with an address space of its own, a parsed PTX module, and a checked launch.
//
// Everything here reports failure through Status. PTX is treated as hostile
// input: it can be refused and it can fail, but it cannot crash the caller,
// hang it beyond the step limit, or reach memory outside the device's own.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RT_EMULATOR_EMULATOR_H
#define FUSION_RT_EMULATOR_EMULATOR_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fusionemu {

/// What went wrong. The number is the last part of the FUS-7nnn code that
/// Status::message() starts with, and never changes its meaning.
enum class ErrorKind : unsigned {
  None = 0,
  Syntax = 1,              ///< The PTX text cannot be parsed.
  Unsupported = 2,         ///< A valid instruction that is not implemented.
  BadLaunch = 3,           ///< Unknown kernel, bad grid, block or arguments.
  OutOfMemory = 4,         ///< The host cannot back an allocation.
  InvalidAddress = 5,      ///< An address that no allocation ever contained.
  OutOfBounds = 6,         ///< An access that leaves its allocation.
  UseAfterFree = 7,        ///< An access to an allocation that was freed.
  Misaligned = 8,          ///< An address that is not a multiple of its access.
  UninitializedGlobal = 9, ///< A read of global bytes nobody wrote.
  UninitializedShared = 10, ///< A read of shared bytes nobody wrote.
  SharedRace = 11, ///< Two threads, no barrier between, one of them writes.
  GlobalRace = 12, ///< Two blocks, no ordering between, one writes.
  BarrierDivergence = 13, ///< Threads of a warp disagree about a barrier.
  Deadlock = 14,          ///< Every thread left waits, none can be released.
  StepLimit = 15,         ///< A warp ran more instructions than allowed.
  Trap = 16,              ///< The kernel executed trap.
  BadFree = 17,           ///< free() of something that is not allocated.
  ReadOnly = 18,          ///< A store to constant memory or to a parameter.
  InFlight = 19,          ///< Use of what an asynchronous operation still uses.
  MissingFence = 20,  ///< No proxy fence or wgmma.fence where one is needed.
  BarrierMisuse = 21, ///< An mbarrier that is not one, or is used wrongly.
  BarrierLeak = 22,   ///< A block ends with an mbarrier phase half done.
  BadDescriptor = 23, ///< A matrix descriptor or bulk copy that cannot be.
  BadTensorMap = 24,  ///< A tensor map that is none, or that cannot be.
  Assert = 25,        ///< A device-side assertion failed.
};

/// The result of an operation: success, or one error with its kind and text.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(ErrorKind kind, std::string text, unsigned line = 0);

  bool ok() const { return kind == ErrorKind::None; }
  ErrorKind getKind() const { return kind; }
  /// "FUS-7006: ..."; empty on success.
  const std::string &message() const { return text; }
  /// The line of the PTX text that the error is about, 1-based; 0 if none.
  unsigned getLine() const { return line; }

private:
  ErrorKind kind = ErrorKind::None;
  std::string text;
  unsigned line = 0;
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// The global memory of one emulated device. An address is a 64-bit number of
/// the device's own, never a host pointer; no two allocations ever share one,
/// also after free(). Not thread-safe: one host thread at a time.
class Memory {
public:
  Memory();
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Reserves `bytes` bytes, aligned to 256, under a name that reports use.
  /// The bytes count as uninitialised until the host or a kernel writes them.
  /// Pages are backed by the host when first touched.
  Status allocate(uint64_t bytes, std::string_view name, uint64_t &address);
  /// Ends the life of the allocation that starts at `address`.
  Status free(uint64_t address);

  /// Copies out of or into the device; the range must lie in one allocation.
  Status read(uint64_t address, void *destination, uint64_t bytes) const;
  Status write(uint64_t address, const void *source, uint64_t bytes);
  Status fill(uint64_t address, uint8_t value, uint64_t bytes);
  Status copy(uint64_t destination, uint64_t source, uint64_t bytes);

  /// Replaces the name of the live allocation that starts at `address`.
  Status rename(uint64_t address, std::string_view name);
  /// Forgets which bytes of the allocation at `address` were written, so that
  /// a buffer that is used again is checked as if it were new.
  Status markUninitialized(uint64_t address);

  /// The sum of the sizes of the live allocations.
  uint64_t getBytesInUse() const;
  /// An allocation that would make the sum larger than this is refused.
  void setLimit(uint64_t bytes);

  class Impl;
  Impl &getImpl() const { return *impl; }

private:
  std::unique_ptr<Impl> impl;
};

struct ParameterInfo {
  std::string name;
  uint32_t size = 0;   ///< In bytes.
  uint32_t align = 1;  ///< In bytes.
  uint32_t offset = 0; ///< In the argument block of a launch.
};

struct KernelInfo {
  std::string name;
  std::vector<ParameterInfo> parameters;
  uint32_t argumentBytes = 0; ///< Size of the argument block.
  uint32_t staticSharedBytes = 0;
  uint32_t localBytes = 0;   ///< Per thread.
  uint32_t instructions = 0; ///< Static count.
  bool usesDynamicShared = false;
  Dim3 reqntid{0, 0, 0}; ///< .reqntid, all 0 when absent.
  Dim3 maxntid{0, 0, 0}; ///< .maxntid, all 0 when absent.
  /// .reqnctapercluster, all 0 when absent.
  Dim3 cluster{0, 0, 0};
  bool gridOfClusters = false; ///< .blocksareclusters: a grid counts clusters.
  /// Why launch() will refuse this kernel (an unsupported instruction, by name
  /// and line); empty when it will not.
  std::string unsupported;
};

struct ParseOptions {
  /// Replaces floats by integers that wrap: the bits of every float are a
  /// signed number, arithmetic on it is exact modulo a power of two whatever
  /// its order, and conversions keep its low bits. Two programs that differ by
  /// fusion, tiling or the order of sums then agree in every bit
  /// (docs/Emulator.md has the mapping).
  bool payload = false;
};

/// A parsed and decoded PTX module. Immutable after parse(), so launches on
/// different Memory objects may share one.
class Module {
public:
  Module();
  ~Module();
  Module(Module &&) noexcept;
  Module &operator=(Module &&) noexcept;

  /// Parses `text`. On failure the status names line and reason, and `*this`
  /// keeps its former contents. A kernel with an unsupported instruction does
  /// not fail the parse: see KernelInfo::unsupported.
  Status parse(std::string_view text, std::string_view fileName = "<ptx>",
               const ParseOptions &options = {});

  const std::vector<KernelInfo> &getKernels() const;
  /// The kernel of that name, or null.
  const KernelInfo *findKernel(std::string_view name) const;
  /// The .target directive, for example "sm_90a".
  const std::string &getTarget() const;

  class Impl;
  const Impl *getImpl() const { return impl.get(); }

private:
  std::unique_ptr<Impl> impl;
};

/// What a launch checks beyond bounds and alignment, which are always checked.
struct Checks {
  bool uninitialized = true; ///< Reads of global and shared bytes.
  bool sharedRaces = true;   ///< Between the warps of a block.
  bool globalRaces = true;   ///< Between the blocks of a launch.
  /// Use of memory and registers that asynchronous operations still use,
  /// missing fences, mbarriers left half done.
  bool asynchrony = true;
};

/// When asynchronous operations take effect, within what PTX allows.
enum class Asynchrony : uint8_t {
  Late,  ///< Only when somebody has to wait for them.
  Early, ///< At once.
};

class Profile;

struct Options {
  Checks checks;
  Asynchrony asynchrony = Asynchrony::Late;
  /// Instructions that one warp may execute before the launch is stopped.
  uint64_t maxSteps = uint64_t(1) << 28;
  /// Instructions that all warps together may execute: a grid of billions of
  /// blocks takes hours, whatever each does.
  uint64_t maxLaunchSteps = ~uint64_t(0);
  /// Host threads to spread blocks over; 0 takes one per processor. Results
  /// and reports do not depend on it.
  unsigned threads = 0;
  /// Count sectors, distinct bytes and bank conflicts (costs a little time).
  bool countMemory = true;
  /// Blocks of a cluster; all 0 takes what the kernel requires, or 1.
  Dim3 cluster{0, 0, 0};
  /// Blocks of consecutive numbers that wait for each other: they run in turns.
  uint32_t residentBlocks = 1;
  /// Bytes of shared memory that a block may have, static and dynamic.
  uint32_t maxSharedBytes = 232448;
  /// Receives the text of the kernel's printf calls; empty drops it.
  std::function<void(std::string_view)> print;
  /// Receives counts for each instruction, which also fill Counters::pipes;
  /// null leaves them out, and then they cost nothing.
  Profile *profile = nullptr;
};

/// The unit of a processor that an instruction occupies.
enum class Pipe : uint8_t {
  Fma,     ///< f16, bf16 and f32 add, multiply and multiply-add, integer mad.
  Alu,     ///< Other integer arithmetic, logic, comparison, selection, moves.
  Fp64,    ///< Arithmetic on f64.
  Xu,      ///< Special functions, divisions and conversions.
  Lsu,     ///< Loads, stores, atomics, shuffles, ldmatrix, cp.async.
  Tensor,  ///< mma and wgmma.
  Copy,    ///< The copy engine: bulk and tensor copies, mbarrier.
  Control, ///< Branches, barriers, fences, votes, waits.
  Other,
};
constexpr unsigned numPipes = 9;
/// "fma"
const char *getPipeName(Pipe pipe);

/// What one launch did. A request is one warp-wide memory instruction.
struct Counters {
  uint64_t instructions = 0;     ///< Warp instructions.
  uint64_t laneInstructions = 0; ///< Summed over the lanes that took part.
  uint64_t globalLoadRequests = 0;
  uint64_t globalStoreRequests = 0;
  uint64_t globalAtomicRequests = 0;
  uint64_t globalLoadSectors = 0; ///< 32-byte sectors, summed over requests.
  uint64_t globalStoreSectors = 0;
  uint64_t globalAtomicSectors = 0;
  uint64_t globalLoadBytes = 0; ///< Bytes asked for by lanes.
  uint64_t globalStoreBytes = 0;
  uint64_t globalAtomicBytes = 0;
  uint64_t distinctLoadBytes = 0;  ///< 32 x distinct sectors read.
  uint64_t distinctStoreBytes = 0; ///< 32 x distinct sectors written.
  uint64_t sharedLoadRequests = 0;
  uint64_t sharedStoreRequests = 0;
  uint64_t sharedAtomicRequests = 0;
  /// Extra passes over the 32 banks beyond the least the access size needs.
  uint64_t bankConflicts = 0;
  uint64_t barriers = 0; ///< Barriers executed by warps.
  uint64_t divergentBranches = 0;
  uint64_t cpAsyncBytes = 0; ///< Read from global memory by cp.async.
  /// Moved by cp.async.bulk between global and shared memory; the tensor forms
  /// apart. A multicast counts once.
  uint64_t bulkLoadBytes = 0, bulkStoreBytes = 0;
  uint64_t tensorLoadBytes = 0, tensorStoreBytes = 0;
  /// Warp instructions by Pipe; counted with Options::profile only.
  uint64_t pipes[numPipes] = {};

  Counters &operator+=(const Counters &other);
};

/// Runs `kernel` over the grid and returns when every thread has exited.
/// `arguments` is the argument block: each parameter at its offset of
/// KernelInfo. Global stores made before an error stay.
Status launch(Memory &memory, const Module &module, std::string_view kernel,
              Dim3 grid, Dim3 block, uint32_t dynamicSharedBytes,
              const void *arguments, size_t argumentBytes,
              const Options &options = {}, Counters *counters = nullptr);

/// Builds an argument block from one pointer per parameter, as cuLaunchKernel
/// takes them. Each pointer must lead to that parameter's number of bytes.
std::vector<uint8_t> packArguments(const KernelInfo &kernel,
                                   const void *const *parameters);

/// The address of the module's .global or .const variable `name` in `memory`,
/// which is created there on first use; 0 when there is none.
uint64_t getGlobalAddress(Memory &memory, const Module &module,
                          std::string_view name);

} // namespace fusionemu

#endif // FUSION_RT_EMULATOR_EMULATOR_H
