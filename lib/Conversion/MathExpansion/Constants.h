//===- Constants.h - Split constants of the math expansion ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the constants that argument reductions multiply by. A
// constant's parts sum to it well beyond the working precision.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_MATHEXPANSION_CONSTANTS_H
#define FUSION_LIB_CONVERSION_MATHEXPANSION_CONSTANTS_H

namespace mlir::fusion::constants {

inline constexpr double log2e = 0x1.71547652b82fep+0;
inline constexpr double log2eLo = 0x1.777d0ffda0d24p-56;
inline constexpr double log10e = 0x1.bcb7b1526e50ep-2;
inline constexpr double log10of2 = 0x1.34413509f79ffp-2;
inline constexpr double log10of2Lo = -0x1.9dc1da994fd21p-59;
// log10(2) in two floats.
inline constexpr double log10of2F32Hi = 0x1.344136p-2;
inline constexpr double log10of2F32Lo = -0x1.ec10cp-27;
inline constexpr double pi = 0x1.921fb54442d18p+1;
inline constexpr double twoOverPi = 0x1.45f306dc9c883p-1;

// ln(2): two floats, two doubles.
inline constexpr double ln2F32Hi = 0x1.62e43p-1;
inline constexpr double ln2F32Lo = -0x1.05c61p-29;
inline constexpr double ln2F64Hi = 0x1.62e42fefa39efp-1;
inline constexpr double ln2F64Lo = 0x1.abc9e3b39803fp-56;

// pi/2: three floats and three doubles, each truncated, so that all parts have
// one sign.
inline constexpr double halfPiF32Hi = 0x1.921fb4p+0;
inline constexpr double halfPiF32Mid = 0x1.4442dp-24;
inline constexpr double halfPiF32Lo = 0x1.84698ap-48;
// Two floats whose product is pi/2 to within 2^-45.
inline constexpr double halfPiF32FactorA = 0x1.aee9d60000000p+0;
inline constexpr double halfPiF32FactorB = 0x1.ddcb020000000p-1;
inline constexpr double halfPiF64Hi = 0x1.921fb54442d18p+0;
inline constexpr double halfPiF64Mid = 0x1.1a62633145c06p-54;
inline constexpr double halfPiF64Lo = 0x1.c1cd129024e09p-107;

// Adding and taking away these rounds to an integer, which then stands in the
// low bits: 1.5 * 2^23 and 1.5 * 2^52.
inline constexpr double magicF32 = 0x1.8p+23;
inline constexpr double magicF64 = 0x1.8p+52;

} // namespace mlir::fusion::constants

#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_CONSTANTS_H
