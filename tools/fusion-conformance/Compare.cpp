//===- Compare.cpp - Do two results agree ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the comparison of results, bit by bit or within a
// bound.
//
//===----------------------------------------------------------------------===//

#include "Compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace conformance;

static uint64_t loadElement(const Element &e, const std::vector<uint8_t> &bytes,
                            uint64_t index) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * e.bytes, e.bytes);
  return bits;
}

static bool isWithin(const Expectation &expected, const Element &e, uint64_t a,
                     uint64_t b) {
  if (expected.exact || !e.isFloat())
    return false;
  if (isNaN(e, a) || isNaN(e, b))
    return false;
  if (distance(e, a, b) <= expected.ulp)
    return true;
  double x = decodeElement(e, a), y = decodeElement(e, b);
  return std::isfinite(x) && std::isfinite(y) &&
         std::fabs(x - y) <=
             expected.absolute + expected.relative * std::fabs(y);
}

static std::string describeElement(const Element &e, uint64_t bits) {
  char text[64];
  std::snprintf(text, sizeof(text), "0x%0*llx", int(e.bytes) * 2,
                static_cast<unsigned long long>(bits));
  std::string result = text;
  if (e.isFloat()) {
    std::snprintf(text, sizeof(text), " (%.9g)", decodeElement(e, bits));
    result += text;
  }
  return result;
}

/// What the filled buffers held at index `i`, wrapped around: kernels of
/// several results have them one behind the other.
static std::string describeOperands(const Case &c, const Buffers &initial,
                                    uint64_t i) {
  std::string text;
  for (size_t k = 0; k < c.arguments.size(); ++k) {
    const Argument &a = c.arguments[k];
    if (!a.isBuffer || a.fill.kind == Fill::Kind::Poison)
      continue;
    text += (text.empty() ? " from " : ", ") + a.name + " " +
            describeElement(*a.element,
                            loadElement(*a.element, initial[k], i % a.count));
  }
  return text;
}

Comparison conformance::compareBuffers(const Case &c, const Buffers &initial,
                                       const Buffers &emulator,
                                       const Buffers &gpu, size_t describe) {
  Comparison result;
  for (size_t k = 0; k < c.arguments.size(); ++k) {
    const Argument &argument = c.arguments[k];
    if (!argument.isBuffer || emulator[k] == gpu[k])
      continue;
    const Element &e = *argument.element;
    for (uint64_t i = 0; i < argument.count; ++i) {
      uint64_t a = loadElement(e, emulator[k], i),
               b = loadElement(e, gpu[k], i);
      if (a == b || (c.expectation.anyNaN && isNaN(e, a) && isNaN(e, b)))
        continue;
      result.identical = false;
      if (e.isFloat() && !isNaN(e, a) && !isNaN(e, b))
        result.largestUlp = std::max(result.largestUlp, distance(e, a, b));
      if (isWithin(c.expectation, e, a, b))
        continue;
      if (result.mismatches.size() < describe)
        result.mismatches.push_back(argument.name + "[" + std::to_string(i) +
                                    "]: emulator " + describeElement(e, a) +
                                    ", GPU " + describeElement(e, b) +
                                    describeOperands(c, initial, i));
      result.agrees = false;
      ++result.different;
    }
  }
  return result;
}

uint64_t conformance::hashBuffers(const Case &c, const Buffers &buffers) {
  uint64_t hash = hashStart;
  for (size_t k = 0; k < c.arguments.size(); ++k) {
    const Argument &argument = c.arguments[k];
    if (!argument.isBuffer)
      continue;
    if (!c.expectation.anyNaN || !argument.element->isFloat()) {
      hash = hashBytes(buffers[k].data(), buffers[k].size(), hash);
      continue;
    }
    const Element &e = *argument.element;
    for (uint64_t i = 0; i < argument.count; ++i) {
      uint64_t bits = loadElement(e, buffers[k], i);
      if (isNaN(e, bits))
        bits = ~uint64_t(0);
      hash = hashBytes(&bits, e.bytes, hash);
    }
  }
  return hash;
}
