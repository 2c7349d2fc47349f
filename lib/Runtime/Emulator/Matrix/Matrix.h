//===- Matrix.h - Fragments and arithmetic of matrices ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines which element of a matrix lies in which register of which
// lane, and the fused dot product that tensor cores compute. Everything here
// is a pure function.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_MATRIX_H
#define FUSION_LIB_RUNTIME_EMULATOR_MATRIX_H

#include <cstdint>
#include <string_view>

namespace fusionemu {

/// The type of the elements of a matrix operand.
enum class MatrixType : uint8_t {
  None,
  F16,
  BF16,
  TF32, ///< 32 bits, of which the low 13 are not looked at.
  F64,
  S8,
  U8,
  E4M3,
  E5M2,
  F32, ///< Accumulators only, like S32.
  S32,
};

/// The size of an element in bits; 0 for None.
unsigned getBits(MatrixType type);
bool isFloat(MatrixType type);
/// The type that a PTX suffix such as "bf16" names, or None.
MatrixType parseMatrixType(std::string_view suffix);

/// Which operand of D = A * B + C a fragment belongs to; C is laid out as D.
enum class MatrixOperand : uint8_t { A, B, D };

/// Row and column of an element: of A (M x K), B (K x N) or D (M x N).
struct MatrixPlace {
  unsigned row, column;
};

/// The place of element `element` of register `reg` of a lane. `perRegister`
/// is the number of elements in a register (1 when an element fills it), `m`
/// the rows of one warp's tile, 8 or 16. One formula serves mma.sync in every
/// shape and the 16 rows that a warp owns in wgmma.
///
/// Static, not inline: compiled for several instruction sets of the host, it
/// must not be shared by the linker.
static inline MatrixPlace getMatrixPlace(MatrixOperand operand, unsigned m,
                                         unsigned perRegister, unsigned lane,
                                         unsigned reg, unsigned element) {
  unsigned group = lane / 4, inGroup = lane % 4;
  if (operand == MatrixOperand::D) {
    // Pairs of neighbours in a row, whatever the width of the register.
    unsigned index = reg * perRegister + element;
    unsigned pair = index / 2, column = inGroup * 2 + index % 2;
    if (m == 8)
      return {group, column + 8 * pair};
    return {group + 8 * (pair % 2), column + 8 * (pair / 2)};
  }
  // Along the contracted dimension the four lanes of a group take one
  // register's elements each, and the next register starts behind them.
  unsigned deep = inGroup * perRegister + element, step = 4 * perRegister;
  if (operand == MatrixOperand::B)
    return {deep + step * reg, group};
  if (m == 8)
    return {group, deep + step * reg};
  return {group + 8 * (reg % 2), deep + step * (reg / 2)};
}

/// How many registers of a lane hold an operand of rows x columns elements.
unsigned countMatrixRegisters(MatrixType type, unsigned rows, unsigned columns);

/// How a fused dot product is rounded to its result.
enum class DotRounding : uint8_t {
  TowardZero,   ///< To f32, cut off.
  TowardZero13, ///< To f32, all but 13 bits of the fraction cut off.
  NearestF16,   ///< To f16, nearest even.
};

/// The arithmetic of one instruction. Products are formed exactly. A block of
/// `blockLength` products and the accumulator are cut off, towards zero, at
/// `fractionBits` bits below the largest exponent among them, added exactly
/// and rounded once; the next block takes the result as its accumulator.
struct DotModel {
  unsigned blockLength = 16;
  unsigned fractionBits = 25;
  DotRounding rounding = DotRounding::TowardZero;
  /// Blocks take pairs of products in turns instead of runs; see getDotIndex().
  bool interleaved = false;
  /// The elements are converted to f16 first, see widenToHalf(), which gives
  /// subnormals a smaller exponent. The blocks start from zero, and the
  /// accumulator is added at the end by an ordinary addition, rounded to
  /// nearest.
  bool widens = false;
};

/// The largest exponent among the terms counts as no smaller than this.
constexpr int leastDotExponent = -133;

/// The f16 with the value of an 8-bit float.
uint32_t widenToHalf(MatrixType type, uint32_t bits);

/// The model of an instruction on Hopper: `a` is a type of A with less than 64
/// bits, `accumulator` F16 or F32, `k` the depth of the instruction, and
/// `warpgroup` is set for wgmma.
DotModel getDotModel(MatrixType a, MatrixType accumulator, unsigned k,
                     bool warpgroup);

/// The depth k of the `i`-th product of block `block`.
static inline unsigned getDotIndex(const DotModel &model, unsigned block,
                                   unsigned i) {
  if (!model.interleaved)
    return block * model.blockLength + i;
  return i / 2 * 4 + block * 2 + i % 2;
}

/// One block: the result's bits for `count` products of elements given as
/// bits, at most 32, and the bits of the accumulator. Handles every special
/// value; this is the definition that faster versions are compared with.
uint32_t fuseDot(const DotModel &model, MatrixType typeA, MatrixType typeB,
                 MatrixType accumulator, const uint32_t *a, const uint32_t *b,
                 unsigned count, uint32_t c);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_MATRIX_H
