//===- Syntax.h - PTX as parsed ---------------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the syntax tree of a PTX module: names unresolved, types
// unchecked, every name a view into the text that the module keeps.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_SYNTAX_H
#define FUSION_LIB_RUNTIME_EMULATOR_SYNTAX_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fusionemu {

/// A state space, as written in PTX or found by address.
enum class Space : uint8_t {
  Generic,
  Global,
  Shared,
  Local,
  Const,
  Param,
  Reg,
  None
};

/// One operand of an instruction, unresolved.
struct Operand {
  enum class Kind : uint8_t {
    Name,    ///< A register, variable, label, function or special register.
    Integer, ///< `bits` holds the value, two's complement.
    Float,   ///< `bits` holds the pattern of `floatSize` bytes.
    Vector,  ///< {a, b, ...}
    Address, ///< [name + bits] or [bits]; further parts in `elements`.
    List,    ///< (a, b), of a call.
    Sink,    ///< _
  };
  Kind kind = Kind::Name;
  bool negated = false;  ///< !p, or a minus before a name.
  uint8_t floatSize = 0; ///< 4 or 8 for Float; 0 for a decimal float.
  std::string_view name; ///< For Name and Address.
  uint64_t bits = 0;     ///< Value, pattern or offset.
  std::vector<Operand> elements;
  /// The part after '|' (a second destination), at most one.
  std::vector<Operand> second;
};

/// A place of the source program, from .loc; file 0 when unknown.
struct SourceLoc {
  uint32_t file = 0, line = 0;
};

struct InstructionSyntax {
  uint32_t line = 0;
  SourceLoc loc;
  std::string_view guard; ///< Empty when unconditional.
  bool guardNegated = false;
  /// A bit for each byte of a load that is used, by the pragma before it.
  uint32_t usedBytes = ~uint32_t(0);
  std::string_view name;                   ///< "ld"
  std::vector<std::string_view> modifiers; ///< "global", "v2", "f32"
  std::vector<Operand> operands;
  /// "ld.global.v2.f32", as written.
  std::string_view spelling;
};

/// The address of a variable or function in an initialiser.
struct InitialAddress {
  uint64_t offset = 0; ///< In the variable that is initialised.
  uint8_t size = 8;    ///< Bytes that are written there.
  uint8_t shift = 0;   ///< Of the address, in bits: 8 for 0xff00(name).
  std::string_view symbol;
  uint64_t addend = 0;
  uint32_t line = 0;
};

/// A variable in a state space other than .reg.
struct VariableSyntax {
  uint32_t line = 0;
  Space space = Space::None;
  bool isExtern = false;
  uint32_t align = 1;
  uint32_t elementSize = 1;
  /// Total size in bytes; 0 for an unsized array.
  uint64_t size = 0;
  bool unsizedArray = false;
  std::string_view name;
  /// The first bytes; zeros follow.
  std::vector<uint8_t> init;
  std::vector<InitialAddress> initAddresses;
};

/// .reg .type name or name<count>.
struct RegisterSyntax {
  std::string_view name;
  std::string_view type; ///< ".b32"
  uint32_t count = 0;    ///< 0 for a single register.
  bool isRange = false;
  uint32_t line = 0;
};

/// One step of a body in source order. The index leads into the vector of the
/// kind in FunctionSyntax.
struct BodyItem {
  enum class Kind : uint8_t {
    Instruction,
    Label,
    Register,
    Variable,
    OpenScope,
    CloseScope,
    BranchTargets
  };
  Kind kind;
  uint32_t index = 0;
  std::string_view name; ///< For Label and BranchTargets.
};

struct FunctionSyntax {
  std::string_view name;
  uint32_t line = 0;
  bool isKernel = false;
  bool hasBody = false;
  std::vector<VariableSyntax> results, parameters;
  uint32_t reqntid[3] = {0, 0, 0};
  uint32_t maxntid[3] = {0, 0, 0};
  /// Blocks of a cluster; all 0 when the directive is absent.
  uint32_t reqnctapercluster[3] = {0, 0, 0};
  bool explicitCluster = false;   ///< .explicitcluster
  bool blocksAreClusters = false; ///< .blocksareclusters
  uint32_t maxClusterRank = 0;    ///< 0 when absent.
  uint32_t maxnreg = 0;           ///< Registers of a thread; 0 when absent.
  uint32_t minnctapersm = 0;      ///< 0 when absent.
  bool noReturn = false;
  std::vector<BodyItem> body;
  std::vector<InstructionSyntax> instructions;
  std::vector<RegisterSyntax> registers;
  std::vector<VariableSyntax> variables;
  std::vector<std::vector<std::string_view>> branchTargets;
  /// A directive that a launch must refuse, with its line; empty if none.
  std::string unsupported;
};

/// A whole module. Every string_view points into `text`.
struct ModuleSyntax {
  std::unique_ptr<const std::string> text;
  std::string target;        ///< "sm_90a"
  unsigned architecture = 0; ///< 90
  unsigned version = 0;      ///< 10 * major + minor.
  std::map<uint32_t, std::string> files;
  std::vector<VariableSyntax> variables;
  std::vector<FunctionSyntax> functions;
  /// .alias: another name of a function.
  std::map<std::string_view, std::string_view> aliases;
};

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_SYNTAX_H
