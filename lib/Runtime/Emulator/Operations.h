//===- Operations.h - What the interpreter can do ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the operations that PTX instructions are decoded to and
// the table through which the decoder finds their handlers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_OPERATIONS_H
#define FUSION_LIB_RUNTIME_EMULATOR_OPERATIONS_H

#include "Program.h"
#include "SmallFloat.h"

namespace fusionemu {

struct Block;
struct Warp;

/// The type of the values that an operation works on. Untyped bits of PTX are
/// unsigned here.
enum class Type : uint8_t {
  None,
  Pred,
  U8,
  S8,
  U16,
  S16,
  U32,
  S32,
  U64,
  S64,
  B128,
  F16,
  BF16,
  F32,
  F64,
  TF32,
  U16x2,
  S16x2,
  F16x2,
  BF16x2,
  F32x2,
  E4M3,
  E5M2, ///< In pairs, 16 bits a pair.
};

enum class Op : uint8_t {
  Add,
  Sub,
  MulLo,
  MulHi,
  Div,
  Rem,
  Min,
  Max,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  AddSat,
  SubSat,
  Neg,
  Abs,
  Not,
  Cnot,
  Popc,
  Clz,
  Brev,
  Bfind,
  BfindShift,
  MadLo,
  MadHi,
  MadHiSat,
  Sad,
  Bfe,
  Bfi,
  Prmt,
  ShfL,
  ShfR,
  ShfLClamp,
  ShfRClamp,
  Lop3,
  Dp4a,
  Dp2a,
  Mul24Lo,
  Mul24Hi,
  Mad24Lo,
  Mad24Hi,
  MulWide,
  MadWide,
  Bmsk,
  Szext,
  Slct,
  SlctF,
  AddCarry,
  SubCarry,
  MadCarryLo,
  MadCarryHi,
  Mul,
  Fma,
  Sqrt,
  Rcp,
  Rsqrt,
  Sin,
  Cos,
  Lg2,
  Ex2,
  Tanh,
  Copysign,
  Testp,
  Exch,
  Cas,
  Inc,
  Dec,
  Popcount,
  MinRelu,
  MaxRelu,
};

struct FloatMode {
  Round round = Round::Nearest;
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool nan = false;
  bool approx = false;
  bool xorsign = false;
};

enum class Compare : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge, ///< False on NaN, except Ne.
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  NotNum, ///< True on NaN.
};

enum class BoolOp : uint8_t { None, And, Or, Xor };

/// A conversion. Integer rounding applies to float sources only.
struct Conversion {
  Type to = Type::None, from = Type::None;
  Round round = Round::Nearest;
  bool toInteger = false; ///< .rni and friends: round to an integral value.
  bool ftz = false, sat = false, relu = false, satfinite = false;
};

enum class TestKind : uint8_t {
  Finite,
  Infinite,
  Number,
  NotNumber,
  Normal,
  Subnormal
};

/// ldmatrix, stmatrix, movmatrix.
enum class MatrixMove : uint8_t { Load, Store, Transpose };

/// Flags of carry instructions, in Instruction::aux.
constexpr uint32_t carryIn = 1, carryOut = 2;

/// Flags of memory instructions, in Instruction::aux.
constexpr uint32_t vectorMask = 15, strongAccess = 16, reductionOnly = 32,
                   signedLoad = 64;

/// Bytes from byte `at` on that one access moves of a load of which the bytes
/// `used` are used: as many as are aligned; 0 where none is used.
inline unsigned getUsedRun(uint32_t used, unsigned at) {
  uint64_t rest = uint64_t(used) >> at;
  unsigned size = rest & 1;
  while (size && size < 32 && at % (2 * size) == 0 &&
         (~rest & ((uint64_t(1) << 2 * size) - 1)) == 0)
    size *= 2;
  return size;
}

/// The interpreter's instructions, built once for each host instruction set.
/// Each returns null for a combination that does not exist.
struct HandlerTable {
  const char *name;
  Handler (*integer)(Op op, Type type);
  Handler (*floating)(Op op, Type type, FloatMode mode);
  Handler (*rounded)(Op op, Type type, FloatMode mode);
  Handler (*half)(Op op, Type type, FloatMode mode);
  Handler (*compare)(Compare op, Type type, bool ftz, bool toRegister);
  Handler (*convert)(const Conversion &conversion);
  Handler (*move)(unsigned bytes);
  Handler (*resize)(unsigned from, unsigned to, bool isSigned);
  Handler (*pack)(unsigned from, unsigned to);
  Handler (*unpack)(unsigned from, unsigned to);
  Handler (*select)(unsigned bytes);
  Handler (*load)(unsigned bytes, bool isSigned, unsigned registerBytes);
  Handler (*store)(unsigned bytes, unsigned registerBytes);
  /// `vector` picks the form that works on several elements at once.
  Handler (*atomic)(Op op, Type type, bool vector);
  Handler (*special)(std::string_view name);
  Handler (*matrixMove)(MatrixMove move, bool transposed);
  Handler (*mma)(bool isDouble);
  /// See computeWgmma() in Wgmma.h.
  void (*wgmma)(Context &c, Warp &warp, const WgmmaOp &op, uint64_t descA,
                uint64_t descB, bool scaleD, Block &block);
  /// Runs the current fragment for at most `budget` instructions; Continue
  /// when the budget is used up.
  Next (*run)(Context &c, uint64_t budget);
  /// Floats are integers: see ParseOptions::payload.
  bool payload;
};

/// The table that modules are decoded with from now on: the fastest that this
/// processor can run, unless another was selected.
const HandlerTable &getHandlers(bool payload = false);
/// Selects the table of that name, for comparisons in tests. False when this
/// build has none or the processor cannot run it. Not while a module is being
/// parsed or run.
bool selectHandlers(std::string_view name);

/// The size of one value in bytes; 0 for Pred and None.
unsigned getSize(Type type);
bool isSigned(Type type);
bool isInteger(Type type);
/// The type that a PTX suffix such as "s32" names, or None.
Type parseType(std::string_view suffix);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_OPERATIONS_H
