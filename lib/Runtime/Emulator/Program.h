//===- Program.h - PTX decoded for execution --------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the compact form that the interpreter runs: operands
// resolved to places in a register file, a function for each instruction.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_PROGRAM_H
#define FUSION_LIB_RUNTIME_EMULATOR_PROGRAM_H

#include "Matrix/MatrixOps.h"
#include "Parse/Syntax.h"
#include "fusion-rt/Emulator/Emulator.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace fusionemu {

struct Context;
struct Instruction;

/// What the interpreter does after an instruction.
enum class Next : uint8_t {
  Continue, ///< Go on at Context::pc.
  Switch,   ///< The fragment ended, blocked or split: choose another.
  Fail,     ///< Context::error is set.
};

using Handler = Next (*)(Context &, const Instruction &);

/// The lanes of a warp.
constexpr unsigned warpSize = 32;
constexpr uint32_t noTarget = ~uint32_t(0);

/// Predicate 0 is always true, 1 always false, 2 swallows what is written.
constexpr uint32_t truePredicate = 0, falsePredicate = 1, sinkPredicate = 2;

/// A decoded instruction. Operands are byte offsets into the register file of
/// a warp, where a register of n bytes is 32 consecutive lanes of n bytes and
/// constants sit beside registers; for predicates they are predicate numbers.
struct Instruction {
  Handler handler = nullptr;
  int32_t dst = 0, a = 0, b = 0, c = 0, d = 0;
  uint32_t guard = truePredicate;
  uint32_t guardXor = 0; ///< All ones for @!p.
  uint32_t aux = 0;      ///< Meaning by handler: a table, flags, a size.
  /// Branch target, or the first of `extraOperands`.
  uint32_t target = noTarget;
  /// Where the lanes of a branch meet again; noTarget if nowhere.
  uint32_t reconverge = noTarget;
  /// The offset of an address, or an immediate.
  int64_t offset = 0;
  uint32_t memoryIndex = 0; ///< Of the allocation cache, for memory access.
  uint8_t addressBytes = 0; ///< Of the address register; 0 for none.
  uint8_t accessBytes = 0;  ///< Of memory for each lane, all elements.
  uint8_t counted = 1;      ///< 0 for steps that are not PTX instructions.
  Space space = Space::None;
};

/// Where an instruction came from, kept apart from what executes.
struct InstructionInfo {
  uint32_t line = 0;
  SourceLoc loc;
  std::string_view spelling;
  Pipe pipe = Pipe::Other;
  /// The registers that the PTX instruction names, in Kernel::registerUses;
  /// only with Kernel::usesWgmma or Kernel::overwritesShared.
  uint32_t firstUse = 0, uses = 0;
};

/// A register that an instruction reads or writes.
struct RegisterUse {
  int32_t slot = 0;
  uint8_t bytes = 0;
  bool isWrite = false;
};

/// A special register whose value is set once for each warp of each block.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NTidX,
  NTidY,
  NTidZ,
  CtaIdX,
  CtaIdY,
  CtaIdZ,
  NCtaIdX,
  NCtaIdY,
  NCtaIdZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  LaneMaskEq,
  LaneMaskLt,
  LaneMaskLe,
  LaneMaskGt,
  LaneMaskGe,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NClusterIdX,
  NClusterIdY,
  NClusterIdZ,
  ClusterCtaIdX,
  ClusterCtaIdY,
  ClusterCtaIdZ,
  ClusterNCtaIdX,
  ClusterNCtaIdY,
  ClusterNCtaIdZ,
  ClusterCtaRank,
  ClusterNCtaRank,
  DynamicSharedSize,
  TotalSharedSize,
  Zero,
};

struct SpecialSlot {
  Special special;
  uint8_t size;
  int32_t slot;
};

/// A constant of the register file that a launch fills in: the address of a
/// module variable.
struct Relocation {
  int32_t slot;
  uint8_t size;
  uint32_t variable; ///< In Program::variables.
  uint64_t addend;
};

struct Constant {
  int32_t slot;
  uint8_t size;
  uint64_t low, high;
};

struct SharedVariable {
  std::string name;
  uint32_t offset, size;
};

/// What a cp.async.bulk instruction says beside its operands, which stand in
/// extraOperands: destination, source, size, mbarrier, mask, then coordinates
/// and im2col offsets; -1 for what is absent.
struct BulkForm {
  enum class Direction : uint8_t { Load, Store, Share };
  Direction direction = Direction::Load;
  Space destinationSpace = Space::Shared, sourceSpace = Space::Global;
  Space mbarrierSpace = Space::Shared;
  bool isTensor = false, isIm2col = false;
  bool isPrefetch = false;
  bool reduces = false;
  bool payload = false;     ///< Reduces floats as integers.
  uint8_t rank = 0;         ///< Of a tensor: number of coordinates.
  uint8_t op = 0, type = 0; ///< Op and Type of a reduction.
};

/// A kernel ready to run.
struct Kernel {
  KernelInfo info;
  std::vector<Instruction> code;
  std::vector<InstructionInfo> infos;
  std::vector<int32_t> extraOperands;
  std::vector<BulkForm> bulkForms;
  std::vector<MmaOp> mmas;
  std::vector<WgmmaOp> wgmmas;
  std::vector<RegisterUse> registerUses;
  std::vector<Constant> constants;
  std::vector<Relocation> relocations;
  std::vector<SpecialSlot> specials;
  std::vector<SharedVariable> sharedVariables;
  /// Bytes of registers proper, which start at 0 and are cleared for each
  /// block, and of the whole register file of a warp.
  uint32_t registerBytes = 0, fileBytes = 0;
  uint32_t predicates = 3;
  uint32_t memoryInstructions = 0;
  uint32_t dynamicSharedOffset = 0;
  /// Added to the addresses of shared variables: 0 without clusters.
  uint64_t ownSharedBits = 0;
  /// What the kernel contains, and blocks therefore have to keep track of.
  bool usesAsync = false, usesWgmma = false;
  /// Bulk copies write to shared memory.
  bool overwritesShared = false;
  /// The race detector keeps one entry for each 1 << shift bytes: the size of
  /// the kernel's smallest access, at most 4, so that neighbours in one entry
  /// never belong to different accesses.
  unsigned sharedGranuleShift = 2, globalGranuleShift = 2;
  /// The kernel orders blocks by fences or acquire and release, which the
  /// detector of races between blocks does not follow.
  bool ordersBlocks = false;
  /// The result depends on the order of the blocks, for example by a float
  /// atomic, so that they must run one after the other.
  bool orderSensitive = false;
};

/// An address in the initial value of a variable.
struct ModuleAddress {
  uint64_t offset = 0; ///< In the variable that is initialised.
  uint8_t size = 8, shift = 0;
  uint32_t variable = ~uint32_t(0); ///< None for the address of a function.
  uint64_t addend = 0;
};

struct ModuleVariable {
  std::string name;
  Space space = Space::Global;
  uint64_t size = 0;
  uint32_t align = 1;
  uint32_t elementSize = 1;
  std::vector<uint8_t> init; ///< The first bytes; zeros follow.
  std::vector<ModuleAddress> initAddresses;
};

/// A module after decoding.
struct Program {
  ModuleSyntax syntax;
  std::string fileName;
  std::vector<KernelInfo> infos;
  std::vector<Kernel> kernels;
  std::vector<ModuleVariable> variables;
  ParseOptions options;
  uint64_t id = 0; ///< Distinct for each parsed module of the process.
  /// What a name at module level means: an index in `variables`, in the
  /// syntax's variables (of shared memory), in the syntax's functions. An alias
  /// leads to its function.
  std::unordered_map<std::string_view, uint32_t> variableIndex, sharedIndex,
      functionIndex;
};

class Module::Impl {
public:
  Program program;
};

/// Addresses of the generic space that stand for the other spaces.
constexpr uint64_t globalBase = uint64_t(0x0100) << 32;
constexpr uint64_t sharedWindow = uint64_t(0x7f01) << 32;
constexpr uint64_t localWindow = uint64_t(0x7f02) << 32;
constexpr uint64_t paramWindow = uint64_t(0x7f03) << 32;
constexpr uint64_t windowBytes = uint64_t(1) << 32;
/// In the shared window, block r of a cluster lies at (r + 1) << this. What
/// lies below belongs to the block of the thread itself.
constexpr unsigned clusterShift = 24;
constexpr unsigned maxClusterSize = 16;
/// In a kernel of clusters, the address of a shared variable has bits above its
/// offset, as on a chip, where they tell the block: whoever wants the offset
/// alone, such as a matrix descriptor, must mask them. One of them is a bit
/// that a descriptor has no place for, so that a missing mask is always seen.
constexpr unsigned ownOffsetBits = 18;
constexpr uint64_t ownSharedBits =
    uint64_t(maxClusterSize + 1) << clusterShift | uint64_t(1) << ownOffsetBits;

/// An address with these bits.
constexpr bool hasOwnSharedBits(uint64_t address) {
  return address >> ownOffsetBits == ownSharedBits >> ownOffsetBits;
}
/// Where the addresses of functions lie, which are only ever compared.
constexpr uint64_t functionWindow = uint64_t(0x7f10) << 32;

/// "file.cu:12" or "" for an instruction.
std::string describeSource(const Program &program, SourceLoc loc);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_PROGRAM_H
