//===- Runtime.h - C interface of the Fusion runtime ----------- -*- C -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how a program loads a package and runs it, on a CUDA
// device through the driver, or on the built-in PTX emulator.
//
// Rules that hold for every function:
//  - A function that can fail returns a FusionRtStatus: 0, or nnnn of the error
//    FUS-nnnn, whose text fusionRtGetLastError then has for the calling thread.
//    Nothing aborts. What a failed function should have written is left alone.
//  - A struct begins with its size, set by the caller with
//    FUSION_RT_INIT(Type): an older caller works with a newer library. What a
//    newer caller sets that an older library does not know is refused.
//  - Handles may be used from several threads at once, except that destroying a
//    handle must not meet any other use of it. Launching takes no lock.
//  - Strings that are returned belong to the handle they were asked of.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RT_RUNTIME_H
#define FUSION_RT_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FUSION_RT_API __attribute__((visibility("default")))
#else
#define FUSION_RT_API
#endif

/// A zeroed struct that knows its size.
#ifdef __cplusplus
template <typename T>
static inline T fusionRtInit() {
  T value = {};
  value.structSize = sizeof(T);
  return value;
}
#define FUSION_RT_INIT(Type) (fusionRtInit<Type>())
extern "C" {
#else
#define FUSION_RT_INIT(Type) ((Type){.structSize = sizeof(Type)})
#endif

//===----------------------------------------------------------------------===//
// Errors and version
//===----------------------------------------------------------------------===//

typedef int32_t FusionRtStatus;

/// Changes when a caller built against an older header could break. The number
/// behind the library's name, libfusion-rt.so.1.
#define FUSION_RT_ABI_VERSION 1
FUSION_RT_API uint32_t fusionRtGetAbiVersion(void);

/// Grows when the interface does: by functions, fields or values of an
/// enumeration. A function of version N is exported as FUSION_RT_N.
#define FUSION_RT_API_VERSION 1

/// An error if the library that was loaded cannot serve a caller that was built
/// with a header of these versions: another ABI, or a newer interface. Programs
/// that load the library themselves (dlopen) call it first, with the versions
/// of their header: no loader has checked them.
FUSION_RT_API FusionRtStatus fusionRtCheckVersion(uint32_t abiVersion,
                                                  uint32_t apiVersion);
/// The same for this header.
#define FUSION_RT_CHECK_VERSION()                                              \
  (fusionRtCheckVersion(FUSION_RT_ABI_VERSION, FUSION_RT_API_VERSION))

/// The release of the library, "0.2.0".
FUSION_RT_API const char *fusionRtGetVersion(void);

/// The last error of the calling thread: "FUS-6004: cause; remedy", and its
/// parts. Empty and 0 when no call of this thread has failed. The strings live
/// until the thread's next failing call.
FUSION_RT_API const char *fusionRtGetLastError(void);
FUSION_RT_API const char *fusionRtGetLastErrorCause(void);
FUSION_RT_API const char *fusionRtGetLastErrorRemedy(void);
FUSION_RT_API FusionRtStatus fusionRtGetLastErrorCode(void);

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

typedef struct FusionRtDevice FusionRtDevice;
/// A device address. On the emulator it is no host address.
typedef uint64_t FusionRtAddress;
/// A CUstream; null is the default stream. The emulator ignores it.
typedef void *FusionRtStream;

typedef struct FusionRtDeviceOptions {
  size_t structSize;
  /// Not 0: wait for every kernel, so that an error names the kernel that made
  /// it. The environment variable FUSION_SYNC=1 does the same.
  int32_t synchronous;
  /// Emulator only. Not 0: leave out the checks for uninitialised reads and
  /// races (bounds and alignment are always checked).
  int32_t skipUninitializedCheck, skipRaceChecks;
  /// Emulator only: host threads, 0 for one per processor.
  uint32_t emulatorThreads;
  /// Emulator only: the most device memory, 0 for half of the host's.
  uint64_t memoryLimit;
  /// Emulator only. Not 0: count for each instruction, for the launch callback.
  int32_t profile;
  /// Emulator only. Not 0: floats are integers that wrap, so that arithmetic is
  /// exact in any order (docs/Emulator.md, "Payload mode").
  int32_t payload;
  /// Emulator only. Not 0: asynchronous operations take effect at once instead
  /// of as late as PTX allows.
  int32_t earlyAsynchrony;
  /// Emulator only: instructions that one warp may run before the launch is
  /// stopped, 0 for 2^28.
  uint64_t maxSteps;
  /// Emulator only: instructions that all warps of a launch together may
  /// execute before it is stopped (FUS-7015), 0 for any number.
  uint64_t maxLaunchSteps;
} FusionRtDeviceOptions;

/// Opens "cuda", "cuda:N" or "emulator". `options` may be null. On a CUDA
/// device this takes part in the primary context, as PyTorch does.
FUSION_RT_API FusionRtStatus
fusionRtDeviceCreate(const char *name, const FusionRtDeviceOptions *options,
                     FusionRtDevice **device);
/// The device itself goes with the last package loaded on it. Null is allowed.
FUSION_RT_API void fusionRtDeviceDestroy(FusionRtDevice *device);

/// The number of CUDA devices; an error where there is no driver.
FUSION_RT_API FusionRtStatus fusionRtGetCudaDeviceCount(int32_t *count);

typedef struct FusionRtDeviceInfo {
  size_t structSize;
  char name[256];
  int32_t isEmulator;
  int32_t computeMajor, computeMinor; // 0 on the emulator
  int32_t multiprocessors;
  int32_t driverVersion; // as cuDriverGetVersion, 13000
  uint64_t memoryBytes;  // total and free
  uint64_t memoryFreeBytes;
  uint64_t l2Bytes;
  int32_t memoryClockKHz; // 0 where the driver does not say
  int32_t memoryBusBits;
  int32_t clockKHz;
  uint32_t sharedBytesPerBlock; // the most a kernel can opt in to
} FusionRtDeviceInfo;
FUSION_RT_API FusionRtStatus fusionRtDeviceGetInfo(FusionRtDevice *device,
                                                   FusionRtDeviceInfo *info);

/// Device memory, aligned to 256 bytes. `name` (may be null) is what the
/// emulator's reports call it. Zero bytes gives an address that is not 0.
FUSION_RT_API FusionRtStatus fusionRtMalloc(FusionRtDevice *device,
                                            uint64_t bytes, const char *name,
                                            FusionRtAddress *address);
FUSION_RT_API FusionRtStatus fusionRtFree(FusionRtDevice *device,
                                          FusionRtAddress address);

/// Copies on a stream and waits for it.
FUSION_RT_API FusionRtStatus fusionRtCopyToDevice(FusionRtDevice *device,
                                                  FusionRtAddress dst,
                                                  const void *src,
                                                  uint64_t bytes,
                                                  FusionRtStream stream);
FUSION_RT_API FusionRtStatus fusionRtCopyToHost(FusionRtDevice *device,
                                                void *dst, FusionRtAddress src,
                                                uint64_t bytes,
                                                FusionRtStream stream);
/// Sets bytes on a stream without waiting.
FUSION_RT_API FusionRtStatus fusionRtFill(FusionRtDevice *device,
                                          FusionRtAddress dst, uint8_t value,
                                          uint64_t bytes,
                                          FusionRtStream stream);

/// A stream that does not wait for the default stream; null on the emulator.
FUSION_RT_API FusionRtStatus fusionRtStreamCreate(FusionRtDevice *device,
                                                  FusionRtStream *stream);
FUSION_RT_API void fusionRtStreamDestroy(FusionRtDevice *device,
                                         FusionRtStream stream);
/// Waits for the stream. An error of a kernel that ran before shows here.
FUSION_RT_API FusionRtStatus fusionRtSynchronize(FusionRtDevice *device,
                                                 FusionRtStream stream);

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

#define FUSION_RT_TENSOR_MAP_BYTES 128

typedef enum FusionRtTensorMapKind {
  FUSION_RT_TENSOR_MAP_TILED = 0,
  FUSION_RT_TENSOR_MAP_IM2COL = 1
} FusionRtTensorMapKind;

/// What a tensor copy (cp.async.bulk.tensor) reads or writes: the parameters of
/// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, under their rules. The
/// enumerations have the values of the CUDA driver's.
typedef struct FusionRtTensorMapDesc {
  size_t structSize;
  FusionRtAddress address;
  int32_t kind;     // FusionRtTensorMapKind
  int32_t dataType; // as CUtensorMapDataType
  int32_t interleave, swizzle, l2Promotion, oobFill;
  int32_t rank;
  uint64_t dims[5];           // in elements, the innermost first
  uint64_t strides[4];        // in bytes, of dimensions 1 and up
  uint32_t box[5];            // in elements; tiled only
  uint32_t elementStrides[5]; // 0 means 1
  /// Im2col only; the corners in the order W, H, D.
  int32_t lowerCorner[3], upperCorner[3];
  uint32_t channelsPerPixel, pixelsPerColumn;
} FusionRtTensorMapDesc;

/// Writes the FUSION_RT_TENSOR_MAP_BYTES bytes that a kernel of this device
/// takes as a parameter, which the kernel aligns to 64. They are of no use on
/// another device. A description that breaks a rule is refused in the same
/// words on every device.
FUSION_RT_API FusionRtStatus fusionRtEncodeTensorMap(
    FusionRtDevice *device, const FusionRtTensorMapDesc *desc, void *map);

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

typedef struct FusionRtPackage FusionRtPackage;
typedef struct FusionRtEntry FusionRtEntry;

/// Checks a package and loads its kernels and constants. The bytes are not
/// needed afterwards.
FUSION_RT_API FusionRtStatus fusionRtPackageLoad(FusionRtDevice *device,
                                                 const void *data, size_t size,
                                                 FusionRtPackage **package);
FUSION_RT_API FusionRtStatus fusionRtPackageLoadFile(FusionRtDevice *device,
                                                     const char *path,
                                                     FusionRtPackage **package);
/// Work of the package that is under way must be finished. Null is allowed.
FUSION_RT_API void fusionRtPackageDestroy(FusionRtPackage *package);

typedef struct FusionRtPackageInfo {
  size_t structSize;
  const char *target, *producer, *ledgerJson;
  uint32_t ptxVersion;
  uint32_t numEntries, numKernels;
} FusionRtPackageInfo;
FUSION_RT_API FusionRtStatus fusionRtPackageGetInfo(
    const FusionRtPackage *package, FusionRtPackageInfo *info);

/// What is known of one kernel; -1 where nothing is. The `loaded` figures are
/// those of the module that the driver made.
typedef struct FusionRtKernelInfo {
  size_t structSize;
  const char *name, *source;
  uint32_t blockX, staticSharedBytes, dynamicSharedBytes;
  int32_t predictedRegisters, predictedSpillBytes, predictedSharedBytes;
  int32_t measuredRegisters, measuredSpillBytes, measuredSharedBytes;
  int32_t loadedRegisters, loadedLocalBytes, loadedSharedBytes;
  int32_t loadedMaxThreads;
  double predictedMicroseconds;
} FusionRtKernelInfo;
FUSION_RT_API FusionRtStatus fusionRtPackageGetKernel(
    const FusionRtPackage *package, uint32_t index, FusionRtKernelInfo *info);

/// An entry by position, or by name; a null name means the only entry.
FUSION_RT_API FusionRtStatus fusionRtPackageGetEntry(FusionRtPackage *package,
                                                     uint32_t index,
                                                     FusionRtEntry **entry);
FUSION_RT_API FusionRtStatus fusionRtPackageFindEntry(FusionRtPackage *package,
                                                      const char *name,
                                                      FusionRtEntry **entry);

typedef struct FusionRtEntryInfo {
  size_t structSize;
  const char *name;
  uint32_t numInputs, numOutputs, numSymbols, numSteps;
  uint32_t kernelsBefore, kernelsAfter;
  double predictedMicroseconds; // -1 if unknown
} FusionRtEntryInfo;
FUSION_RT_API FusionRtStatus fusionRtEntryGetInfo(const FusionRtEntry *entry,
                                                  FusionRtEntryInfo *info);

typedef enum FusionRtDType {
  FUSION_RT_F64 = 0,
  FUSION_RT_F32 = 1,
  FUSION_RT_F16 = 2,
  FUSION_RT_BF16 = 3,
  FUSION_RT_F8E4M3 = 4,
  FUSION_RT_F8E5M2 = 5,
  FUSION_RT_I64 = 6,
  FUSION_RT_I32 = 7,
  FUSION_RT_I16 = 8,
  FUSION_RT_I8 = 9,
  FUSION_RT_I4 = 10, // two to a byte, the low half first
  FUSION_RT_I1 = 11  // one byte each, 0 or 1
} FusionRtDType;

#define FUSION_RT_MAX_RANK 16

typedef struct FusionRtTensorInfo {
  size_t structSize;
  const char *name;
  int32_t dtype; // FusionRtDType
  int32_t rank;
  /// Not 0: passed by value (FusionRtTensor::value), of rank 0.
  int32_t byValue;
  /// -1 where the size is not fixed.
  int64_t dims[FUSION_RT_MAX_RANK];
  /// The size as an expression: "m", "128", "ceildiv(m, 2)".
  const char *dimNames[FUSION_RT_MAX_RANK];
  /// Outputs only. Not 0: the output is the memory of input `overwrittenInput`,
  /// which a launch overwrites.
  int32_t overwritesInput;
  uint32_t overwrittenInput;
} FusionRtTensorInfo;
FUSION_RT_API FusionRtStatus fusionRtEntryGetInput(const FusionRtEntry *entry,
                                                   uint32_t index,
                                                   FusionRtTensorInfo *info);
FUSION_RT_API FusionRtStatus fusionRtEntryGetOutput(const FusionRtEntry *entry,
                                                    uint32_t index,
                                                    FusionRtTensorInfo *info);

/// A named size and where it is read: a dimension of an input tensor, or, with
/// dim = -1, the value of a by-value input.
typedef struct FusionRtSymbolInfo {
  size_t structSize;
  const char *name;
  uint32_t input;
  int32_t dim;
} FusionRtSymbolInfo;
FUSION_RT_API FusionRtStatus fusionRtEntryGetSymbol(const FusionRtEntry *entry,
                                                    uint32_t index,
                                                    FusionRtSymbolInfo *info);

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// One input or output: contiguous, row-major, on the device, aligned to 16
/// bytes. `dims` has `rank` elements. A tensor without elements needs no
/// address. A by-value input has no address but `value`, on the host. An output
/// that is the memory of an input (overwritesInput) has the input's address or
/// 0.
typedef struct FusionRtTensor {
  FusionRtAddress address;
  const void *value;
  const int64_t *dims;
  int32_t dtype; // FusionRtDType
  int32_t rank;
} FusionRtTensor;

typedef struct FusionRtShape {
  int32_t dtype, rank;
  int64_t dims[FUSION_RT_MAX_RANK];
  uint64_t bytes;
} FusionRtShape;

/// Checks the inputs against the signature and gives the shapes of all outputs.
/// Addresses are not looked at, so they may be 0; by-value integers that a
/// size depends on must be there.
FUSION_RT_API FusionRtStatus fusionRtInferShapes(FusionRtEntry *entry,
                                                 const FusionRtTensor *inputs,
                                                 uint32_t numInputs,
                                                 FusionRtShape *outputs,
                                                 uint32_t numOutputs);

/// Figures for these sizes; -1 where the package has none.
typedef struct FusionRtFigures {
  size_t structSize;
  int64_t bytesBefore, bytesAfter; // DRAM traffic, unfused and fused
  int64_t flops;
  int64_t workspaceBytes;
  uint32_t numLaunches; // kernels that a launch with these sizes starts
} FusionRtFigures;
FUSION_RT_API FusionRtStatus fusionRtQueryFigures(FusionRtEntry *entry,
                                                  const FusionRtTensor *inputs,
                                                  uint32_t numInputs,
                                                  FusionRtFigures *figures);

/// The workspace that a launch with these inputs needs.
FUSION_RT_API FusionRtStatus
fusionRtQueryWorkspace(FusionRtEntry *entry, const FusionRtTensor *inputs,
                       uint32_t numInputs, uint64_t *bytes);

/// Makes sure that a launch with these inputs, also one that is being captured
/// into a graph, finds a workspace without allocating.
FUSION_RT_API FusionRtStatus fusionRtReserveWorkspace(
    FusionRtEntry *entry, const FusionRtTensor *inputs, uint32_t numInputs);

/// How a launch goes in sections, between which memory comes and goes: the
/// outputs and blocks of temporaries that a section is the first to need are
/// allocated before it, and what it was the last to need is given back after
/// it, in the order of the stream. Belongs to the entry and to the sizes that
/// it was made for; may serve several launches at a time.
typedef struct FusionRtSections FusionRtSections;

typedef struct FusionRtSectionOptions {
  size_t structSize;
  /// One for each input: not 0 if the caller gives it back when no section
  /// needs it any more. Null: none. A launch is right whatever the caller then
  /// does.
  const uint8_t *isReleased;
  /// There is one section unless those after the first spare as many bytes
  /// each.
  uint64_t leastGain;
} FusionRtSectionOptions;

/// Divides a launch with these inputs into as few sections as need no more
/// memory at a time than the neediest kernel does. `options` may be null.
FUSION_RT_API FusionRtStatus fusionRtSectionsCreate(
    FusionRtEntry *entry, const FusionRtTensor *inputs, uint32_t numInputs,
    const FusionRtSectionOptions *options, FusionRtSections **sections);
/// Before the entry's package goes.
FUSION_RT_API void fusionRtSectionsDestroy(FusionRtSections *sections);

typedef struct FusionRtSectionsInfo {
  size_t structSize;
  uint32_t numSections, numBlocks;
  /// The most at a time of inputs that are given back, outputs and temporaries:
  /// in sections, and in a launch as a whole.
  uint64_t bytes, wholeBytes;
} FusionRtSectionsInfo;
FUSION_RT_API FusionRtStatus fusionRtSectionsGetInfo(
    const FusionRtSections *sections, FusionRtSectionsInfo *info);

typedef enum FusionRtUsed {
  FUSION_RT_USED_INPUT = 0,
  FUSION_RT_USED_OUTPUT = 1,
  FUSION_RT_USED_BLOCK = 2 // of temporaries, at a multiple of 256
} FusionRtUsed;

/// The sections that need some memory, `first` to `last`; `first > last` if
/// none does, as of an input that is passed by value or an output that is an
/// input's memory. Outputs are needed to the end.
typedef struct FusionRtUse {
  uint64_t bytes;
  uint32_t first, last;
} FusionRtUse;
FUSION_RT_API FusionRtStatus
fusionRtSectionsGetUse(const FusionRtSections *sections, int32_t used,
                       uint32_t index, FusionRtUse *use);

/// Called before each section, on the thread of the launch, when the work of
/// those before has been started. Anything but 0 ends the launch (FUS-6104). It
/// must not launch anything itself on this stream.
typedef int32_t (*FusionRtSectionCallback)(void *userData, uint32_t section);

typedef struct FusionRtLaunchArgs {
  size_t structSize;
  const FusionRtTensor *inputs;
  const FusionRtTensor *outputs;
  uint32_t numInputs, numOutputs;
  FusionRtStream stream;
  /// Caller's workspace, aligned to 256 bytes, free for this launch until its
  /// work is done; 0: the runtime's own.
  FusionRtAddress workspace;
  uint64_t workspaceBytes;
  /// What a launch in sections has instead of a workspace; null: a launch as a
  /// whole. The addresses in `outputs` and `blocks` are read when a section
  /// first needs them.
  const FusionRtSections *sections;
  const FusionRtAddress *blocks;
  FusionRtSectionCallback beginSection;
  void *userData;
} FusionRtLaunchArgs;

/// Starts the entry on the stream and returns. Neither waits nor allocates once
/// there is a workspace of this size, and so can be captured into a graph.
FUSION_RT_API FusionRtStatus fusionRtLaunch(FusionRtEntry *entry,
                                            const FusionRtLaunchArgs *args);

/// The units of a processor that instructions occupy.
typedef enum FusionRtPipe {
  FUSION_RT_PIPE_FMA = 0, // f16, bf16 and f32 arithmetic, integer multiply
  FUSION_RT_PIPE_ALU = 1,
  FUSION_RT_PIPE_FP64 = 2,
  FUSION_RT_PIPE_XU = 3, // special functions, divisions, conversions
  FUSION_RT_PIPE_LSU = 4,
  FUSION_RT_PIPE_TENSOR = 5,
  FUSION_RT_PIPE_COPY = 6, // bulk and tensor copies
  FUSION_RT_PIPE_CONTROL = 7,
  FUSION_RT_PIPE_OTHER = 8
} FusionRtPipe;
#define FUSION_RT_NUM_PIPES 9

/// What one instruction of a kernel did in a launch.
typedef struct FusionRtInstructionReport {
  size_t structSize;
  uint32_t ptxLine;
  int32_t pipe;       // FusionRtPipe
  const char *source; // "model.mlir:17", or empty
  const char *text;   // "ld.global.v4.f32"
  uint64_t executions, lanes;
  uint64_t globalRequests, globalSectors, globalBytes;
  uint64_t sharedRequests, bankConflicts;
  uint64_t copyBytes; // of cp.async, bulk and tensor copies
} FusionRtInstructionReport;

/// What the emulator counted in one kernel. A request is one memory instruction
/// of a warp; a sector has 32 bytes.
typedef struct FusionRtLaunchReport {
  size_t structSize;
  const char *kernel;
  uint32_t grid[3];
  uint32_t blockX;
  uint64_t instructions; // of warps
  uint64_t globalLoadRequests, globalStoreRequests, globalAtomicRequests;
  uint64_t globalLoadSectors, globalStoreSectors;
  uint64_t globalLoadBytes, globalStoreBytes;     // asked for by threads
  uint64_t distinctLoadBytes, distinctStoreBytes; // 32 x sectors touched
  uint64_t sharedLoadRequests, sharedStoreRequests, sharedAtomicRequests;
  uint64_t bankConflicts, barriers, divergentBranches;
  uint64_t laneInstructions;
  uint64_t globalAtomicSectors, globalAtomicBytes;
  uint64_t cpAsyncBytes, bulkLoadBytes, bulkStoreBytes;
  uint64_t tensorLoadBytes, tensorStoreBytes;
  /// Only if the device was opened with `profile`: instructions by FusionRtPipe
  /// and one report for each of the kernel's instructions. They live until the
  /// callback returns.
  uint64_t pipes[FUSION_RT_NUM_PIPES];
  uint64_t numInstructionReports;
  const FusionRtInstructionReport *const *instructionReports;
} FusionRtLaunchReport;
typedef void (*FusionRtLaunchCallback)(const FusionRtLaunchReport *report,
                                       void *userData);

/// Calls back after each kernel, on the thread that launches; null stops it. An
/// error on a CUDA device, which does not count.
FUSION_RT_API FusionRtStatus fusionRtDeviceSetLaunchCallback(
    FusionRtDevice *device, FusionRtLaunchCallback callback, void *userData);

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

typedef struct FusionRtBenchOptions {
  size_t structSize;
  uint32_t warmup;  // launches before the first that counts; 0 means 5
  uint32_t repeats; // samples; 0 means 30
  /// Launches in one sample, timed together. Only without a flush: with one, a
  /// sample is one launch. 0 means 1.
  uint32_t batch;
  /// Not 0: leave what is in the L2 cache between samples. By default a buffer
  /// of twice its size is written before each.
  int32_t keepL2;
  /// Not 0: launch directly instead of by a captured graph.
  int32_t noGraph;
} FusionRtBenchOptions;

typedef struct FusionRtBenchResult {
  size_t structSize;
  double minMicroseconds, medianMicroseconds, maxMicroseconds; // per launch
  uint32_t samples;
  int32_t usedGraph;
} FusionRtBenchResult;

/// Times the launch with events on a stream of its own. `options` may be null.
/// The emulator has no time: an error there.
FUSION_RT_API FusionRtStatus fusionRtBench(FusionRtEntry *entry,
                                           const FusionRtLaunchArgs *args,
                                           const FusionRtBenchOptions *options,
                                           FusionRtBenchResult *result);

#ifdef __cplusplus
}
#endif

#endif // FUSION_RT_RUNTIME_H
