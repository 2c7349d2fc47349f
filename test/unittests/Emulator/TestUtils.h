//===- TestUtils.h - Running small kernels in tests -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines helpers that run one instruction on many values, or one
// kernel on named buffers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_EMULATOR_TESTUTILS_H
#define FUSION_TEST_UNITTESTS_EMULATOR_TESTUTILS_H

#include "fusion-rt/Emulator/Emulator.h"

#include "gtest/gtest.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace fusionemu {

template <typename To, typename From>
To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}
inline uint32_t bits(float x) { return bitsAs<uint32_t>(x); }
inline uint64_t bits(double x) { return bitsAs<uint64_t>(x); }
inline float asFloat(uint64_t x) { return bitsAs<float>(uint32_t(x)); }
inline double asDouble(uint64_t x) { return bitsAs<double>(x); }

using Values = std::vector<uint64_t>;

/// The lines that every hand-written module starts with.
inline std::string header() {
  return ".version 8.6\n.target sm_100a\n.address_size 64\n";
}

/// Runs `code` once for each index of the inputs, in threads of one block. It
/// finds the inputs in registers %a, %b, %c, %e (bits as in `inputBits`) and
/// leaves its result in %d of `outputBits` bits; predicates %p0 to %p3 and
/// registers %t0 to %t9 (32 bits), %h0 to %h9 (16 bits), %l0 to %l9 (64 bits)
/// are free to use.
inline Values evaluate(const std::string &code,
                       const std::vector<unsigned> &inputBits,
                       const std::vector<Values> &inputs, unsigned outputBits,
                       const ParseOptions &parseOptions = {}) {
  static const char *const names[] = {"%a", "%b", "%c", "%e"};
  std::string text = header() + ".visible .entry k(.param .u64 out";
  for (size_t i = 0; i < inputs.size(); ++i)
    text += ", .param .u64 in" + std::to_string(i);
  text += ")\n{\n.reg .pred %p<4>; .reg .b32 %t<10>; .reg .b16 %h<10>;\n"
          ".reg .b64 %l<10>; .reg .b64 %x<10>; .reg .b32 %y;\n"
          ".reg .b" +
          std::to_string(outputBits) + " %d;\n";
  for (size_t i = 0; i < inputs.size(); ++i)
    text += ".reg .b" + std::to_string(inputBits[i]) + " " + names[i] + ";\n";
  text += "mov.u32 %y, %tid.x;\n";
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string n = std::to_string(i);
    text += "ld.param.u64 %x" + n + ", [in" + n + "];\n" + "mad.wide.u32 %x" +
            n + ", %y, " + std::to_string(inputBits[i] / 8) + ", %x" + n +
            ";\nld.global.b" + std::to_string(inputBits[i]) + " " + names[i] +
            ", [%x" + n + "];\n";
  }
  text += code;
  text += "\nld.param.u64 %x9, [out];\nmad.wide.u32 %x9, %y, " +
          std::to_string(outputBits / 8) + ", %x9;\nst.global.b" +
          std::to_string(outputBits) + " [%x9], %d;\nret;\n}\n";

  Module module;
  Status status = module.parse(text, "<ptx>", parseOptions);
  EXPECT_TRUE(status.ok()) << status.message() << "\n" << text;
  if (!status.ok())
    return {};
  size_t count = inputs.empty() ? 32 : inputs[0].size();
  Memory memory;
  std::vector<uint64_t> arguments;
  uint64_t out = 0;
  EXPECT_TRUE(memory.allocate(count * outputBits / 8, "out", out).ok());
  arguments.push_back(out);
  for (size_t i = 0; i < inputs.size(); ++i) {
    unsigned size = inputBits[i] / 8;
    std::vector<uint8_t> bytes(count * size);
    for (size_t k = 0; k < count; ++k)
      std::memcpy(&bytes[k * size], &inputs[i][k], size);
    uint64_t address = 0;
    EXPECT_TRUE(memory.allocate(bytes.size(), "in", address).ok());
    EXPECT_TRUE(memory.write(address, bytes.data(), bytes.size()).ok());
    arguments.push_back(address);
  }
  status = launch(memory, module, "k", {}, {uint32_t(count), 1, 1}, 0,
                  arguments.data(), arguments.size() * 8);
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status.ok())
    return {};
  std::vector<uint8_t> bytes(count * outputBits / 8);
  EXPECT_TRUE(memory.read(out, bytes.data(), bytes.size()).ok());
  Values result(count, 0);
  for (size_t k = 0; k < count; ++k)
    std::memcpy(&result[k], &bytes[k * outputBits / 8], outputBits / 8);
  return result;
}

/// `count` values: edge cases of integers and floats, then random bits.
inline Values interesting(size_t count, unsigned width, unsigned seed) {
  static const uint64_t edges32[] = {
      0,          1,          2,          31,         32,         33,
      0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x00800000, 0x007fffff,
      0x3f800000, 0xbf800000, 0x3f000000, 0x40200000, 0x7f800000, 0xff800000,
      0x7fc00000, 0x7f7fffff, 0x00000003, 0x4b000001, 0xcf000000, 0x4f000000,
      0x33800000, 0x477ff000, 0x38800000, 0x387fc000, 0x80800000, 0xfffffff0};
  static const uint64_t edges64[] = {0x7fffffffffffffff, 0x8000000000000000,
                                     0xffffffffffffffff, 0x3ff0000000000000,
                                     0x7ff0000000000000, 0xfff8000000000000,
                                     0x0000000000000001, 0x43e0000000000000,
                                     0x4010000000000001, 0x3ca0000000000000};
  std::mt19937_64 random(seed);
  Values values;
  for (size_t i = 0; i < count; ++i) {
    uint64_t value = random();
    // A pair of lists of different strides meets many combinations.
    if (i % 4 < 2 && width == 64)
      value = edges64[random() % 10];
    else if (i % 2 == 0)
      value = edges32[random() % 30];
    if (width < 64)
      value &= (uint64_t(1) << width) - 1;
    if (width == 32 && i % 5 == 0) // A float of moderate size.
      value = bits(float(int32_t(random())) / 65536.0f);
    if (width == 16 && i % 3 == 0)
      value = (0x3000 + random() % 0x1800) | (random() & 0x8000);
    values.push_back(value);
  }
  return values;
}

/// Compares evaluate() with a function of the host on interesting values.
template <typename F>
void expectUnary(const std::string &code, unsigned in, unsigned out, F f,
                 unsigned seed = 1) {
  Values a = interesting(1024, in, seed);
  Values d = evaluate(code, {in}, {a}, out);
  ASSERT_EQ(d.size(), a.size()) << code;
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(d[i], uint64_t(f(a[i]))) << code << " of " << std::hex << a[i];
}
template <typename F>
void expectBinary(const std::string &code, unsigned in, unsigned out, F f,
                  unsigned inB = 0) {
  Values a = interesting(1024, in, 1), b = interesting(1024, inB ? inB : in, 2);
  Values d = evaluate(code, {in, inB ? inB : in}, {a, b}, out);
  ASSERT_EQ(d.size(), a.size()) << code;
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(d[i], uint64_t(f(a[i], b[i])))
        << code << " of " << std::hex << a[i] << ", " << b[i];
}
template <typename F>
void expectTernary(const std::string &code, unsigned in, unsigned inC,
                   unsigned out, F f) {
  Values a = interesting(1024, in, 1), b = interesting(1024, in, 2),
         c = interesting(1024, inC, 3);
  Values d = evaluate(code, {in, in, inC}, {a, b, c}, out);
  ASSERT_EQ(d.size(), a.size()) << code;
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(d[i], uint64_t(f(a[i], b[i], c[i])))
        << code << " of " << std::hex << a[i] << ", " << b[i] << ", " << c[i];
}

/// A module with one kernel and everything to run it.
class Fixture {
public:
  Memory memory;
  Module module;
  Options options;
  Counters counters;
  std::vector<uint8_t> arguments;
  std::string kernel = "k";

  /// Adds the header unless the text has one.
  Status parse(const std::string &text) {
    return module.parse(
        text.find(".version") == std::string::npos ? header() + text : text);
  }
  template <typename T>
  void pass(T value) {
    while (arguments.size() % sizeof(T))
      arguments.push_back(0);
    const auto *begin = reinterpret_cast<const uint8_t *>(&value);
    arguments.insert(arguments.end(), begin, begin + sizeof(T));
  }
  template <typename T>
  uint64_t passBuffer(const std::string &name, const std::vector<T> &contents) {
    uint64_t address = passEmpty(name, contents.size() * sizeof(T));
    EXPECT_TRUE(
        memory.write(address, contents.data(), contents.size() * sizeof(T))
            .ok());
    return address;
  }
  uint64_t passEmpty(const std::string &name, uint64_t bytes) {
    uint64_t address = 0;
    EXPECT_TRUE(memory.allocate(bytes, name, address).ok());
    pass(address);
    return address;
  }
  Status run(Dim3 grid, Dim3 block, uint32_t shared = 0) {
    return launch(memory, module, kernel, grid, block, shared, arguments.data(),
                  arguments.size(), options, &counters);
  }
  template <typename T>
  std::vector<T> get(uint64_t address, size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(memory.read(address, values.data(), count * sizeof(T)).ok());
    return values;
  }
};

} // namespace fusionemu

#endif // FUSION_TEST_UNITTESTS_EMULATOR_TESTUTILS_H
