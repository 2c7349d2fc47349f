//===- Random.cpp - Random numbers by index -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the generator that dropout draws from.
//
//===----------------------------------------------------------------------===//

#include "Random.h"

using namespace mlir::fusion::formulas;

std::array<uint32_t, 4>
mlir::fusion::formulas::drawPhilox(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) {
  constexpr uint64_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 7; ++round) {
    uint64_t product0 = kMultiply0 * counter[0];
    uint64_t product1 = kMultiply1 * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

bool Dropout::keeps(int64_t n) const {
  auto low = [](int64_t word) { return static_cast<uint32_t>(word); };
  auto high = [](int64_t word) { return static_cast<uint32_t>(word >> 32); };
  int64_t draw = n / 8;
  std::array<uint32_t, 4> words =
      drawPhilox({low(draw), high(draw), low(opId), high(opId)},
                 {low(*seed), high(*seed)});
  // Halves from the high one of the first word on.
  auto half = [&](int64_t i) {
    return i % 2 == 0 ? words[i / 2 % 4] >> 16 : words[i / 2 % 4] & 0xFFFF;
  };
  int64_t lane = n % 8;
  uint32_t bits = half(lane) << 8 | half(lane + 1) >> 8;
  return bits >= std::ceil(probability * 0x1p24);
}

Real Dropout::apply(int64_t n, const Real &x) const {
  if (!seed)
    return x.with(Bounded::unknown(x.get().value));
  // The factor may be the rounded reciprocal.
  return keeps(n) ? (x / (1 - probability)).loosen(1) : x.constant(0);
}
