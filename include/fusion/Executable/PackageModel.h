//===- PackageModel.h - What a package says ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the content of a package as plain structs: the compiler
// fills them in, the runtime obeys them. docs/Package.md has the rules.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_EXECUTABLE_PACKAGEMODEL_H
#define FUSION_EXECUTABLE_PACKAGEMODEL_H

#include "fusion/Executable/Expr.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fusionpkg {

/// Element types. I4 packs two elements a byte, the low half first; I1 takes a
/// whole byte that is 0 or 1.
enum class DType : uint8_t {
  F64 = 0,
  F32 = 1,
  F16 = 2,
  BF16 = 3,
  F8E4M3 = 4, // finite only (fn), largest value 448
  F8E5M2 = 5,
  I64 = 6,
  I32 = 7,
  I16 = 8,
  I8 = 9,
  I4 = 10,
  I1 = 11,
};
constexpr uint8_t kLastDType = static_cast<uint8_t>(DType::I1);

/// "f32", "bf16", "f8e4m3", "i1", ...
const char *getDTypeName(DType type);
bool isFloat(DType type);
/// Width in bits of one stored element (4 for I4, 8 for I1).
unsigned getStorageBits(DType type);

/// PTX text that is loaded as one module; it may hold several kernels.
struct Module {
  std::string ptx;
  std::vector<uint8_t> cubin;    // empty when no ptxas was there
  uint32_t minDriverVersion = 0; // as cuDriverGetVersion, 13000; 0 if unknown
};

/// Resources of a kernel per thread or block; -1 is unknown.
struct KernelResources {
  int32_t registers = -1;   // per thread
  int32_t spillBytes = -1;  // per thread, stores plus loads as ptxas counts
  int32_t sharedBytes = -1; // per block, static and dynamic
};

/// A kernel of a module. Its parameters are, in order, what the arguments of
/// the launches that name it say (see Arg); the block is blockX x 1 x 1, the
/// cluster clusterX x 1 x 1 blocks.
struct Kernel {
  std::string name; // the .entry symbol in the PTX
  uint32_t module = 0;
  uint32_t blockX = 1;
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedBytes = 0; // the most that any launch asks for
  KernelResources predicted, measured;
  double predictedMicroseconds = -1; // -1 if unknown
  std::string source;                // where it comes from, for messages
  uint32_t clusterX = 1;             // 1: no cluster
  /// Neighbouring blocks that wait for each other: the device must run so many
  /// at a time. 1: none do.
  uint32_t together = 1;
};

/// A named size. Its value is read at launch from a dimension of an input
/// tensor, or is the value of a by-value integer input.
struct Symbol {
  std::string name;
  uint32_t input = 0;
  int32_t dim = 0; // kFromScalar: the value of the by-value input

  static constexpr int32_t kFromScalar = -1;
};

/// A tensor of the signature: contiguous, row-major. The shape of an input is
/// checked against `dims` at launch, that of an output follows from it.
struct TensorSpec {
  std::string name;
  DType dtype = DType::F32;
  std::vector<ExprId> dims;
  /// Inputs only: rank 0, passed by value to kernels instead of by pointer.
  bool byValue = false;
  /// Outputs only: the input, of the same type and dimensions, whose memory the
  /// output is. The launch overwrites it, and the output has no buffer of its
  /// own.
  std::optional<uint32_t> overwrites = std::nullopt;
};

enum class BufferKind : uint8_t {
  Input = 0,
  Output = 1,
  Constant = 2,
  Temp = 3,
  Signals = 4, // zeros, kSignalBytes of them, that every launch leaves zero
};

/// The size of what blocks of a grid signal to each other in. Kernels of one
/// stream share it, since each leaves it as it was.
constexpr int64_t kSignalBytes = 2 * 1024 * 1024;

/// Device memory that steps name. Every tensor input that is not by value and
/// every output that is no input's memory has exactly one buffer; temporaries
/// get their place in one workspace from planWorkspace, by lifetime.
struct Buffer {
  BufferKind kind = BufferKind::Temp;
  /// Index of the input, output or constant; 0 for a temporary.
  uint32_t index = 0;
  /// Temporaries only. For the others the size follows from what they are.
  ExprId bytes = kNoExpr;
  std::string name;
};

/// A range of the constants blob; the offset is a multiple of 16.
struct Constant {
  std::string name;
  uint64_t offset = 0, size = 0;
};

enum class TensorMapKind : uint8_t { Tiled = 0, Im2col = 1 };
/// Bytes that rows of a box are permuted in: none, 32, 64 or 128.
enum class TensorMapSwizzle : uint8_t { None = 0, B32 = 1, B64 = 2, B128 = 3 };

/// A tensor in a buffer as the tensor copy engine sees it: what a launch
/// encodes into the 128 bytes that a kernel takes. Lists are in the order of
/// the tensor's dimensions, the outermost first; the elements of the last one
/// lie next to each other. What lies outside of the tensor reads as zero.
struct TensorMap {
  TensorMapKind kind = TensorMapKind::Tiled;
  DType dtype = DType::F32; // not I4
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  bool tf32 = false; // F32 only: loads round to tf32
  uint32_t buffer = 0;
  ExprId offset = kNoExpr; // of the first element in bytes; none: 0
  std::vector<ExprId> sizes;
  /// In bytes, of all dimensions but the last; empty: row-major.
  std::vector<ExprId> strides;
  std::vector<uint32_t> elementStrides; // empty: all 1; the last is 1
  /// Tiled only: the elements of a copy along each dimension.
  std::vector<uint32_t> box;
  /// Im2col only, for the dimensions between the first and the last: where the
  /// bounding box begins, and where it ends, from the last element.
  std::vector<int32_t> lowerCorner, upperCorner;
  uint32_t channelsPerPixel = 0, pixelsPerColumn = 0; // im2col only
};

enum class ArgKind : uint8_t {
  Buffer = 0,    // 64-bit address of buffer `index` plus `expr` bytes if given
  I64 = 1,       // value of `expr`
  I32 = 2,       // value of `expr`; refused at launch if it does not fit
  F64 = 3,       // `number`
  F32 = 4,       // `number` rounded to f32
  Scalar = 5,    // by-value input `index`, at the width of its type
  TensorMap = 6, // tensor map `index`: 128 bytes at a multiple of 64
};

/// One parameter of a kernel.
struct Arg {
  ArgKind kind = ArgKind::I64;
  uint32_t index = 0;
  ExprId expr = kNoExpr;
  double number = 0;

  static Arg buffer(uint32_t id, ExprId byteOffset = kNoExpr) {
    return {ArgKind::Buffer, id, byteOffset, 0};
  }
  static Arg i64(ExprId value) { return {ArgKind::I64, 0, value, 0}; }
  static Arg i32(ExprId value) { return {ArgKind::I32, 0, value, 0}; }
  static Arg f64(double value) { return {ArgKind::F64, 0, kNoExpr, value}; }
  static Arg f32(double value) { return {ArgKind::F32, 0, kNoExpr, value}; }
  static Arg scalar(uint32_t input) {
    return {ArgKind::Scalar, input, kNoExpr, 0};
  }
  static Arg tensorMap(uint32_t map) {
    return {ArgKind::TensorMap, map, kNoExpr, 0};
  }
};

/// One way to do a launch. The first variant whose guard holds is taken.
struct LaunchVariant {
  ExprId guard = kNoExpr; // none: always holds
  uint32_t kernel = 0;
  ExprId gridX = kNoExpr, gridY = kNoExpr, gridZ = kNoExpr; // none: 1
  /// Dynamic shared memory; none: the kernel's dynamicSharedBytes.
  ExprId sharedBytes = kNoExpr;
};

enum class StepKind : uint8_t { Launch = 0, Copy = 1, Fill = 2 };

/// One step of an entry. Steps run in order on one stream.
struct Step {
  StepKind kind = StepKind::Launch;

  // Launch. A grid with a zero extent is skipped.
  std::vector<LaunchVariant> variants;
  std::vector<Arg> args;

  // Copy and Fill. An absent size means the whole destination.
  uint32_t dst = 0, src = 0;
  ExprId dstOffset = kNoExpr, srcOffset = kNoExpr, bytes = kNoExpr;
  /// Fill: the pattern's width, 1, 2, 4 or 8 bytes, and its bits.
  uint32_t fillWidth = 1;
  uint64_t fillBits = 0;
};

/// What must hold for the sizes of a launch, and the message if it does not.
struct Requirement {
  ExprId condition = kNoExpr;
  std::string message;
};

/// Figures for reports; every expression may be absent.
struct Summary {
  uint32_t kernelsBefore = 0, kernelsAfter = 0;
  ExprId bytesBefore = kNoExpr, bytesAfter = kNoExpr; // DRAM traffic
  ExprId flops = kNoExpr;
  double predictedMicroseconds = -1; // -1 if unknown
};

/// One function that the runtime can launch.
struct Entry {
  std::string name;
  std::vector<Symbol> symbols;
  ExprPool exprs;
  std::vector<TensorSpec> inputs, outputs;
  std::vector<Requirement> requirements;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  Summary summary;
  std::vector<TensorMap> tensorMaps;
};

/// True when buffer number `buffer` is that of an input which an output
/// overwrites. `entry` has passed the checks of its signature and buffers.
bool isOverwritten(const Entry &entry, uint32_t buffer);

/// The bytes of the kernel parameter that `arg` fills, and what its offset in
/// the block of parameters is a multiple of. `arg` has passed verifyPackage.
unsigned getParamBytes(const Entry &entry, const Arg &arg);
constexpr unsigned getParamAlign(unsigned bytes) {
  return bytes < 64 ? bytes : 64;
}

struct PackageModel {
  std::string target;      // "sm_90a"
  uint32_t ptxVersion = 0; // 80 for PTX ISA 8.0
  std::string producer;    // "fusion" and its version
  std::vector<Module> modules;
  std::vector<Kernel> kernels;
  std::vector<Constant> constants;
  std::vector<uint8_t> constantData;
  std::vector<Entry> entries;
  std::string ledgerJson;

  /// Appends data to the blob at a multiple of 16; returns the index of the
  /// new constant. Equal data is stored once.
  uint32_t addConstant(std::string name, const void *data, size_t size);
};

/// Caps that the writer and the reader both enforce.
struct PackageLimits {
  static constexpr size_t kMaxRank = 16;
  static constexpr size_t kMaxNameBytes = 4096;
  static constexpr size_t kMaxKernels = 16384;
  static constexpr size_t kMaxModules = 16384;
  static constexpr size_t kMaxEntries = 4096;
  static constexpr size_t kMaxTensors = 65536; // inputs, outputs, buffers each
  static constexpr size_t kMaxSymbols = 4096;
  static constexpr size_t kMaxExprs = 1u << 20;
  static constexpr size_t kMaxSteps = 1u << 20;
  static constexpr size_t kMaxVariants = 64;
  static constexpr size_t kMaxParamBytes = 32764;
  static constexpr uint32_t kMaxBlock = 1024;
  static constexpr uint32_t kMaxCluster = 16;
  static constexpr uint32_t kMaxTogether = 256;
  static constexpr size_t kMaxTensorMapRank = 5;
  static constexpr uint32_t kMaxSharedBytes = 1u << 20;
};

} // namespace fusionpkg

#endif // FUSION_EXECUTABLE_PACKAGEMODEL_H
