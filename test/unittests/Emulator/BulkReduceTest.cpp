//===- BulkReduceTest.cpp - Reductions on their way -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the reductions of plain and tensor bulk copies against the
// host.
//
//===----------------------------------------------------------------------===//

#include "AsyncTestUtils.h"
#include "fusion-rt/Emulator/TensorMap.h"

#include <functional>

using namespace fusionemu;

/// A kernel `k` with a tensor map `map` and a buffer `io` of 8192 words, 8192
/// words of `tile` and an mbarrier.
static std::string tensorKernel(const std::string &body) {
  return header() + R"(
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 io)
{
  .shared .align 1024 .b8 tile[32768];
  .shared .align 8 .b64 bars[1];
  .reg .b64 %io, %map, %x<10>; .reg .b32 %t, %r<20>; .reg .b16 %h<8>;
  .reg .pred %p<8>, %one;
  ld.param.u64 %io, [io]; mov.b64 %map, map; cvta.param.u64 %map, %map;
  mov.u32 %t, %tid.x; setp.eq.u32 %one, %t, 0;
  @%one mbarrier.init.shared.b64 [bars], 1;
  @%one fence.mbarrier_init.release.cluster;
  mov.u32 %r9, tile; mad.lo.u32 %r0, %t, 4, %r9;
  mad.wide.u32 %x0, %t, 4, %io;
  bar.sync 0;
)" + body +
         "\n  ret;\n}\n";
}

/// All of tile to io, or the other way round.
static std::string copyAll(bool toTile) {
  return std::string("mov.u32 %r1, %t; mov.u32 %r2, %r0; mov.u64 %x2, %x0;\n") +
         (toTile ? "L: ld.global.u32 %r3, [%x2]; st.shared.u32 [%r2], %r3;\n"
                 : "L: ld.shared.u32 %r3, [%r2]; st.global.u32 [%x2], %r3;\n") +
         "add.u32 %r1, %r1, 128; add.u32 %r2, %r2, 512; add.u64 %x2, %x2, 512;"
         "\nsetp.lt.u32 %p1, %r1, 8192; @%p1 bra L;\n";
}

static Status runTensor(const std::string &body, const TensorMapInfo &map,
                        std::vector<uint8_t> &tensor, std::vector<uint8_t> &io,
                        Asynchrony mode) {
  Fixture f;
  if (Status s = f.parse(tensorKernel(body)); !s.ok())
    return s;
  uint64_t at = 0, ioAt = 0;
  EXPECT_TRUE(f.memory.allocate(tensor.size(), "tensor", at).ok());
  EXPECT_TRUE(f.memory.write(at, tensor.data(), tensor.size()).ok());
  EXPECT_TRUE(f.memory.allocate(io.size(), "io", ioAt).ok());
  EXPECT_TRUE(f.memory.write(ioAt, io.data(), io.size()).ok());
  TensorMapInfo placed = map;
  placed.globalAddress = at;
  uint8_t bytes[tensorMapBytes];
  if (Status s = encodeTensorMap(placed, bytes); !s.ok())
    return s;
  f.arguments.assign(bytes, bytes + tensorMapBytes);
  f.pass(ioAt);
  f.options.asynchrony = mode;
  Status s = f.run({}, {128, 1, 1});
  if (s.ok()) {
    tensor = f.get<uint8_t>(at, tensor.size());
    io = f.get<uint8_t>(ioAt, io.size());
  }
  return s;
}

/// Reduces 64 elements of T by the bulk or tensor form and compares.
template <typename T>
static void expectReduction(const char *op, const char *type, const char *map,
                            std::function<T(T, T)> f, bool noftz = false) {
  for (bool isTensor : {false, true})
    for (Asynchrony mode : {Asynchrony::Late, Asynchrony::Early}) {
      TensorMapInfo info;
      std::string text = std::string(map) + ":64:64";
      ASSERT_TRUE(parseTensorMap(text, info).ok()) << text;
      std::string body = copyAll(true) + "fence.proxy.async; bar.sync 0;\n";
      body += isTensor
                  ? std::string("@%one cp.reduce.async.bulk.tensor.1d.global."
                                "shared::cta.") +
                        op + ".tile.bulk_group [%map, {0}], [tile];\n"
                  : std::string("@%one cp.reduce.async.bulk.global.shared::cta."
                                "bulk_group.") +
                        op + (noftz ? ".noftz." : ".") + type +
                        " [%io], [tile], " + std::to_string(64 * sizeof(T)) +
                        ";\n";
      body += "@%one cp.async.bulk.commit_group;\n"
              "@%one cp.async.bulk.wait_group 0;\n";
      std::vector<uint8_t> tensor(64 * sizeof(T)), io(32768);
      std::vector<T> a(64), b(64), result(64);
      std::mt19937 random(7);
      for (unsigned i = 0; i < 64; ++i) {
        a[i] = T(int(random() % 200) - 100);
        b[i] = i % 8 == 0 ? a[i] : T(int(random() % 200) - 100);
        result[i] = isTensor ? f(a[i], b[i]) : f(b[i], b[i]);
      }
      std::memcpy(tensor.data(), a.data(), tensor.size());
      std::memcpy(io.data(), b.data(), tensor.size());
      Status s = runTensor(body, info, tensor, io, mode);
      ASSERT_TRUE(s.ok()) << op << type << ": " << s.message();
      EXPECT_EQ(std::memcmp(isTensor ? tensor.data() : io.data(), result.data(),
                            tensor.size()),
                0)
          << op << "." << type << (isTensor ? " tensor" : "");
    }
}

template <typename T>
static void expectIntegers(const char *type, const char *map) {
  expectReduction<T>("add", type, map, [](T a, T b) { return T(a + b); });
  expectReduction<T>("min", type, map, [](T a, T b) { return a < b ? a : b; });
  expectReduction<T>("max", type, map, [](T a, T b) { return a < b ? b : a; });
}

TEST(EmulatorBulkReduce, Reductions) {
  expectIntegers<uint32_t>("u32", "u32");
  expectIntegers<int32_t>("s32", "s32");
  expectIntegers<uint64_t>("u64", "u64");
  expectIntegers<int64_t>("s64", "s64");
  using U = uint32_t;
  using L = uint64_t;
  expectReduction<U>("and", "b32", "u32", [](U a, U b) { return a & b; });
  expectReduction<U>("or", "b32", "s32", [](U a, U b) { return a | b; });
  expectReduction<U>("xor", "b32", "u32", [](U a, U b) { return a ^ b; });
  expectReduction<L>("and", "b64", "u64", [](L a, L b) { return a & b; });
  expectReduction<L>("or", "b64", "s64", [](L a, L b) { return a | b; });
  expectReduction<L>("xor", "b64", "s64", [](L a, L b) { return a ^ b; });
  expectReduction<U>("inc", "u32", "u32",
                     [](U a, U b) { return a >= b ? 0 : a + 1; });
  expectReduction<U>("dec", "u32", "u32",
                     [](U a, U b) { return a == 0 || a > b ? b : a - 1; });
  expectReduction<float>("add", "f32", "f32",
                         [](float a, float b) { return a + b; });
  expectReduction<double>("add", "f64", "f64",
                          [](double a, double b) { return a + b; });
  using H = _Float16;
  expectReduction<H>(
      "add", "f16", "f16", [](H a, H b) { return H(a + b); }, true);
  expectReduction<H>("min", "f16", "f16",
                     [](H a, H b) { return a < b ? a : b; });
  expectReduction<H>("max", "f16", "f16",
                     [](H a, H b) { return a < b ? b : a; });
}

TEST(EmulatorBulkReduce, SumsOfSubnormalsAreFlushed) {
  TensorMapInfo info;
  ASSERT_TRUE(parseTensorMap("f32:4:4", info).ok());
  std::vector<float> a = {1e-39f, 0x1p-126f, 1, 2};
  std::vector<float> b = {1e-39f, -0x1.8p-126f, 1, 3};
  std::vector<uint8_t> tensor(16), io(32768);
  std::memcpy(tensor.data(), a.data(), 16);
  std::memcpy(io.data(), b.data(), 16);
  Status s = runTensor(
      copyAll(true) +
          "fence.proxy.async; bar.sync 0;\n@%one cp.reduce.async.bulk.tensor."
          "1d.global.shared::cta.add.tile.bulk_group [%map, {0}], [tile];\n"
          "@%one cp.async.bulk.commit_group;\n"
          "@%one cp.async.bulk.wait_group 0;\n",
      info, tensor, io, Asynchrony::Late);
  ASSERT_TRUE(s.ok()) << s.message();
  std::memcpy(a.data(), tensor.data(), 16);
  EXPECT_EQ(bits(a[0]), bits(0.0f));
  EXPECT_EQ(bits(a[1]), bits(-0.0f));
  EXPECT_EQ(a[2], 2);
  EXPECT_EQ(a[3], 5);
}

TEST(EmulatorBulkReduce, ReductionsThatCannotBe) {
  for (const char *map : {"u8:64:64", "f32:64:64", "tf32:64:64"}) {
    TensorMapInfo info;
    ASSERT_TRUE(parseTensorMap(map, info).ok());
    std::vector<uint8_t> tensor(256), io(32768);
    Status s = runTensor(
        copyAll(true) +
            "fence.proxy.async; bar.sync 0;\n@%one cp.reduce.async.bulk."
            "tensor.1d.global.shared::cta.max.tile.bulk_group [%map, {0}], "
            "[tile];\n",
        info, tensor, io, Asynchrony::Late);
    EXPECT_EQ(s.getKind(), ErrorKind::BadDescriptor) << map << s.message();
  }
}
