//===- ApproximateInstructions.cpp - The hardware's approximations --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements host functions that stand for the GPU's approximate
// instructions.
//
//===----------------------------------------------------------------------===//

#include "ApproximateInstructions.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

double approximationError = 0;

static float flush(float x) {
  return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}

/// `exact` off by the relative error `bound`, rounded to f32.
static float off(double exact, double bound) {
  return static_cast<float>(exact * (1.0 + approximationError * bound));
}

static float ex2(float x) { return off(std::exp2(double(x)), 0x1p-22); }
static float ex2Ftz(float x) { return flush(ex2(flush(x))); }

static float lg2(float x) {
  if (x > 0.5f && x < 2.0f)
    return static_cast<float>(std::log2(double(x)) +
                              approximationError * 0x1p-22);
  return off(std::log2(double(x)), 0x1p-22);
}

static float rcpFtz(float x) {
  return flush(off(1.0 / double(flush(x)), 0x1p-23));
}
static float rsqrt(float x) {
  return off(1.0 / std::sqrt(double(x)), 0x1.125fp-23);
}
static float sqrtApprox(float x) { return off(std::sqrt(double(x)), 0x1p-23); }
static float divFull(float a, float b) {
  return off(double(a) / double(b), 0x1p-23);
}

static float sinApprox(float x) {
  return static_cast<float>(std::sin(double(x)) + approximationError * 0x1p-20);
}
static float cosApprox(float x) {
  return static_cast<float>(std::cos(double(x)) + approximationError * 0x1p-20);
}

/// `x` with the error of tanh.approx.
static float tanhApprox(float x) {
  float result = off(std::tanh(double(x)), 0x1p-11);
  return std::fabs(result) > 1 ? std::copysign(1.0f, x) : result;
}

//===----------------------------------------------------------------------===//
// bf16, which the host may lack or flush
//===----------------------------------------------------------------------===//

static uint16_t truncateToBF16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isnan(x))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// The compiler's runtime function: the result comes in a vector register.
static __bf16 truncsfbf2(float x) {
  uint16_t bits = truncateToBF16(x);
  __bf16 result;
  std::memcpy(&result, &bits, sizeof bits);
  return result;
}

llvm::ArrayRef<HostFunction> hostFunctions() {
  static const HostFunction functions[] = {
      {"llvm.nvvm.ex2.approx.f32", "host_ex2", (void *)ex2},
      {"llvm.nvvm.ex2.approx.ftz.f32", "host_ex2_ftz", (void *)ex2Ftz},
      {"llvm.nvvm.lg2.approx.f", "host_lg2", (void *)lg2},
      {"llvm.nvvm.rcp.approx.ftz.f", "host_rcp_ftz", (void *)rcpFtz},
      {"llvm.nvvm.rsqrt.approx.f", "host_rsqrt", (void *)rsqrt},
      {"llvm.nvvm.div.full", "host_div_full", (void *)divFull},
      {"llvm.nvvm.sqrt.approx.f", "host_sqrt", (void *)sqrtApprox},
      {"llvm.nvvm.sin.approx.f", "host_sin", (void *)sinApprox},
      {"llvm.nvvm.cos.approx.f", "host_cos", (void *)cosApprox},
      {"llvm.tanh.f32", "host_tanh", (void *)tanhApprox},
      {"", "__truncsfbf2", (void *)truncsfbf2},
  };
  return functions;
}
