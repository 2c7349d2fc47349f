//===- WgmmaTest.cpp - Matrix products of a warpgroup ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests matrix descriptors with every swizzle and the products of
// wgmma in every type, from shared memory and from registers.
//
//===----------------------------------------------------------------------===//

#include "MatrixUtils.h"

#include "Matrix/MatrixDescriptor.h"

#include <set>

using namespace fusionemu;

static uint64_t encode(const MatrixDescriptor &d) {
  uint64_t mode = d.swizzle == 0     ? 0
                  : d.swizzle == 128 ? 1
                  : d.swizzle == 64  ? 2
                                     : 3;
  return d.start / 16 | uint64_t(d.leading / 16) << 16 |
         uint64_t(d.stride / 16) << 32 | uint64_t(d.baseOffset) << 49 |
         mode << 62;
}

/// A descriptor for a dense operand: what TMA leaves behind for a box as wide
/// as the swizzle.
static MatrixDescriptor dense(uint32_t start, const MatrixExtent &x,
                              uint32_t swizzle) {
  MatrixDescriptor d;
  d.start = start;
  d.swizzle = swizzle;
  if (swizzle == 0) {
    // Core matrices of 128 bytes, those along K (or M, N) first.
    d.leading = x.transposed ? x.mn * 16 : 128;
    d.stride = x.transposed ? 128 : x.k * x.elementBytes * 8;
  } else {
    d.stride = 8 * swizzle;
    d.leading = x.transposed ? x.k * swizzle : 16;
  }
  return d;
}

/// The bytes that `dense` needs.
static uint32_t bytesOf(const MatrixExtent &x, uint32_t swizzle) {
  if (swizzle == 0)
    return x.mn * x.k * x.elementBytes;
  uint32_t width = x.mn * x.elementBytes;
  return x.transposed ? (width + swizzle - 1) / swizzle * swizzle * x.k
                      : x.mn * swizzle;
}

TEST(EmulatorWgmma, DescriptorFields) {
  MatrixDescriptor d;
  d.start = 0x12340;
  d.leading = 0x2340;
  d.stride = 0x400;
  d.baseOffset = 5;
  for (uint32_t swizzle : {0, 32, 64, 128}) {
    d.swizzle = swizzle;
    MatrixDescriptor e = decodeMatrixDescriptor(encode(d));
    EXPECT_EQ(e.start, d.start);
    EXPECT_EQ(e.leading, d.leading);
    EXPECT_EQ(e.stride, d.stride);
    EXPECT_EQ(e.baseOffset, d.baseOffset);
    EXPECT_EQ(e.swizzle, d.swizzle);
    EXPECT_EQ(validateMatrixDescriptor(encode(d)), nullptr);
  }
  for (unsigned bit : {14, 15, 30, 31, 46, 47, 48, 52, 53, 60, 61})
    EXPECT_NE(validateMatrixDescriptor(uint64_t(1) << bit), nullptr) << bit;
}

TEST(EmulatorWgmma, SwizzlesOfTheAddress) {
  // A row of 128 bytes with 128-byte swizzle: chunk c of row r is chunk c ^ r.
  MatrixExtent x = {64, 16, 2, false};
  MatrixDescriptor d = dense(1024, x, 128);
  for (unsigned r = 0; r < 64; ++r)
    for (unsigned k = 0; k < 16; ++k)
      EXPECT_EQ(getMatrixOffset(d, x, r, k),
                1024 + r * 128 + ((k / 8) ^ (r % 8)) * 16 + k % 8 * 2);
  // A step along K is a step of the start address.
  d.start += 96;
  EXPECT_EQ(getMatrixOffset(d, x, 5, 8), 1024 + 5 * 128 + (7 ^ 5) * 16);
  // 64 bytes: rows of 64, of which two share what is exchanged.
  d = dense(512, x, 64);
  for (unsigned r = 0; r < 64; ++r)
    EXPECT_EQ(getMatrixOffset(d, x, r, 8),
              512 + r * 64 + (1 ^ (r / 2 % 4)) * 16);
  d = dense(256, x, 32);
  for (unsigned r = 0; r < 64; ++r)
    EXPECT_EQ(getMatrixOffset(d, x, r, 8),
              256 + r * 32 + (1 ^ (r / 4 % 2)) * 16);
  // A pattern that starts off its boundary says so with the base offset.
  d = dense(1024 + 3 * 128, x, 128);
  d.baseOffset = 3;
  for (unsigned r = 0; r < 8; ++r)
    EXPECT_EQ(getMatrixOffset(d, x, r, 0), d.start + r * 128 + r * 16);
  // N-major, 64 columns a row of 128 bytes, the next 64 at the leading offset.
  MatrixExtent y = {128, 16, 2, true};
  d = dense(2048, y, 128);
  EXPECT_EQ(getMatrixOffset(d, y, 9, 3),
            2048 + 3 * 128 + (1 ^ 3) * 16 + 1 * 2u);
  EXPECT_EQ(getMatrixOffset(d, y, 64, 8), 2048 + 16 * 128 + 8 * 128u);
}

TEST(EmulatorWgmma, RangesAreWhatTheElementsCover) {
  for (uint32_t swizzle : {0, 32, 64, 128})
    for (uint32_t element : {1, 2, 4})
      for (bool transposed : {false, true}) {
        if (transposed && element != 2)
          continue;
        MatrixExtent x = {96, 32 / element, element, transposed};
        MatrixDescriptor d = dense(1024, x, swizzle);
        std::set<uint32_t> elements, ranges;
        for (unsigned mn = 0; mn < x.mn; ++mn)
          for (unsigned k = 0; k < x.k; ++k)
            for (unsigned b = 0; b < element; ++b)
              elements.insert(getMatrixOffset(d, x, mn, k) + b);
        unsigned calls = 0;
        forEachMatrixRange(d, x, [&](uint32_t offset, uint32_t bytes) {
          ++calls;
          for (uint32_t b = 0; b < bytes; ++b)
            ranges.insert(offset + b);
        });
        EXPECT_EQ(elements, ranges) << swizzle << " " << transposed;
        EXPECT_EQ(elements.size(), x.mn * x.k * element);
        EXPECT_LE(calls, elements.size() / 16);
      }
}

namespace {
struct Form {
  unsigned n;
  const char *d, *a, *b;
  bool registersA = false;
  bool transposeA = false, transposeB = false;
  uint32_t swizzleA = 0, swizzleB = 0;
  int scaleA = 1, scaleB = 1;
  bool scaleD = true;
  bool saturate = false;
};
} // namespace

/// A block of 128 threads that fills shared memory from a buffer, multiplies
/// once and stores its accumulators.
static std::string makeKernel(const Form &f, unsigned k, unsigned countD,
                              uint64_t descA, uint64_t descB,
                              unsigned sharedBytes) {
  auto registers = [](const char *name, unsigned count) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i)
      text += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
    return text + "}";
  };
  std::string text =
      ".version 8.6\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 s, .param .u64 a, .param .u64 d)\n{\n"
      ".reg .b32 %t, %x, %y, %a<4>, %d<128>; .reg .b64 %p, %q, %da, %db;\n"
      ".reg .pred %scale, %more;\n.shared .align 1024 .b8 tile[" +
      std::to_string(sharedBytes) +
      "];\nmov.u32 %t, %tid.x;\nld.param.u64 %p, [s];\n"
      "mad.wide.u32 %p, %t, 16, %p;\nmad.lo.u32 %x, %t, 16, 0;\n"
      "LOOP: setp.ge.u32 %more, %x, " +
      std::to_string(sharedBytes) +
      ";\n@%more bra DONE;\nld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p];\n"
      "mov.u32 %y, tile; add.u32 %y, %y, %x;\n"
      "st.shared.v4.b32 [%y], {%a0, %a1, %a2, %a3};\n"
      "add.u64 %p, %p, 2048; add.u32 %x, %x, 2048;\nbra LOOP;\nDONE:\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\nld.param.u64 %p, [a];\n"
      "mad.wide.u32 %p, %t, 16, %p;\n"
      "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p];\n"
      "ld.param.u64 %q, [d];\nmad.wide.u32 %q, %t, " +
      std::to_string(countD * 4) + ", %q;\n";
  for (unsigned i = 0; i < countD; ++i)
    text += "ld.global.b32 %d" + std::to_string(i) + ", [%q+" +
            std::to_string(4 * i) + "];\n";
  bool isInteger = std::string(f.d) == "s32";
  bool is16 = getBits(parseMatrixType(f.a)) == 16;
  text += "mov.u64 %da, " + std::to_string(descA) + ";\nmov.u64 %db, " +
          std::to_string(descB) +
          ";\nmov.u32 %y, tile; shr.u32 %y, %y, 4; cvt.u64.u32 %p, %y;\n"
          "add.u64 %da, %da, %p; add.u64 %db, %db, %p;\n"
          "setp.eq.u32 %scale, " +
          std::to_string(f.scaleD) +
          ", 1;\nwgmma.fence.sync.aligned;\n"
          "wgmma.mma_async.sync.aligned.m64n" +
          std::to_string(f.n) + "k" + std::to_string(k) + "." + f.d + "." +
          f.a + "." + f.b + (f.saturate ? ".satfinite " : " ") +
          registers("d", countD) + ", " +
          (f.registersA ? registers("a", 4) : "%da") + ", %db, %scale";
  if (!isInteger)
    text += ", " + std::to_string(f.scaleA) + ", " + std::to_string(f.scaleB);
  if (is16 && !f.registersA)
    text += ", " + std::to_string(f.transposeA);
  if (is16)
    text += ", " + std::to_string(f.transposeB);
  text += ";\nwgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n";
  for (unsigned i = 0; i < countD; ++i)
    text += "st.global.b32 [%q+" + std::to_string(4 * i) + "], %d" +
            std::to_string(i) + ";\n";
  return text + "ret;\n}\n";
}

/// Multiplies the matrices: `b` is K x N. D replaces C.
static void multiply(const Form &f, Matrix &a, Matrix &b, Matrix &c) {
  unsigned k = a.columns, bytes = getBits(a.type) / 8;
  MatrixExtent extentA = {64, k, bytes, f.transposeA};
  MatrixExtent extentB = {f.n, k, bytes, f.transposeB};
  MatrixDescriptor descA = dense(0, extentA, f.swizzleA);
  uint32_t startB = (bytesOf(extentA, f.swizzleA) + 1023) / 1024 * 1024;
  MatrixDescriptor descB = dense(startB, extentB, f.swizzleB);
  uint32_t total = startB + bytesOf(extentB, f.swizzleB);
  total = (total + 2047) / 2048 * 2048;
  std::vector<uint8_t> shared(total, 0);
  for (unsigned q = 0; q < k; ++q) {
    for (unsigned i = 0; i < 64; ++i)
      std::memcpy(&shared.at(getMatrixOffset(descA, extentA, i, q)),
                  &a.at(i, q), bytes);
    for (unsigned j = 0; j < f.n; ++j)
      std::memcpy(&shared.at(getMatrixOffset(descB, extentB, j, q)),
                  &b.at(q, j), bytes);
  }
  unsigned countD = countMatrixRegisters(c.type, 16, f.n);
  std::vector<uint8_t> as(4 * 512, 0), ds(size_t(countD) * 4 * 128);
  for (unsigned w = 0; w < 4; ++w) {
    if (f.registersA)
      moveFragment(a, MatrixOperand::A, 16, 16 * w, true, &as[512 * w]);
    moveFragment(c, MatrixOperand::D, 16, 16 * w, true,
                 &ds[size_t(countD) * 128 * w]);
  }
  Fixture fixture;
  Status status = fixture.parse(
      makeKernel(f, k, countD, encode(descA), encode(descB), total));
  ASSERT_TRUE(status.ok()) << status.message();
  fixture.passBuffer("s", shared);
  fixture.passBuffer("a", as);
  uint64_t d = fixture.passBuffer("d", ds);
  status = fixture.run({}, {128, 1, 1});
  ASSERT_TRUE(status.ok()) << status.message();
  ds = fixture.get<uint8_t>(d, ds.size());
  for (unsigned w = 0; w < 4; ++w)
    moveFragment(c, MatrixOperand::D, 16, 16 * w, false,
                 &ds[size_t(countD) * 128 * w]);
}

/// Small integers: every result must be what real numbers give.
static void expectExact(const Form &f, std::mt19937 &random) {
  MatrixType type = parseMatrixType(f.a);
  unsigned k = 256 / getBits(type);
  Matrix a = Matrix(type, 64, k).fillSmall(random, 3);
  Matrix b = Matrix(parseMatrixType(f.b), k, f.n).fillSmall(random, 3);
  Matrix c = Matrix(parseMatrixType(f.d), 64, f.n).fillSmall(random, 50), d = c;
  multiply(f, a, b, d);
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned j = 0; j < f.n; ++j) {
      double sum = 0;
      for (unsigned q = 0; q < k; ++q)
        sum += a.value(i, q) * b.value(q, j);
      sum = sum * f.scaleA * f.scaleB + (f.scaleD ? c.value(i, j) : 0);
      ASSERT_EQ(d.value(i, j), sum)
          << f.a << " x " << f.b << " to " << f.d << ", n " << f.n
          << ", swizzles " << f.swizzleA << " " << f.swizzleB << ", transposed "
          << f.transposeA << f.transposeB << " at " << i << ", " << j;
    }
}

TEST(EmulatorWgmma, EveryType) {
  std::mt19937 random(5);
  const char *const types[][3] = {
      {"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
      {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e4m3"}, {"f32", "e5m2", "e4m3"},
      {"f16", "e4m3", "e5m2"}, {"f16", "e5m2", "e5m2"}, {"s32", "s8", "s8"},
      {"s32", "s8", "u8"},     {"s32", "u8", "s8"},     {"s32", "u8", "u8"}};
  for (auto &t : types)
    for (bool registers : {false, true}) {
      Form f = {24, t[0], t[1], t[2]};
      f.registersA = registers;
      expectExact(f, random);
    }
}

TEST(EmulatorWgmma, EveryWidth) {
  std::mt19937 random(6);
  for (unsigned n = 8; n <= 256; n += 8) {
    Form f = {n, n % 16 ? "f32" : "f16", "f16", "f16"};
    f.registersA = n % 3 == 0;
    expectExact(f, random);
  }
}

TEST(EmulatorWgmma, EverySwizzleAndOrder) {
  std::mt19937 random(7);
  for (uint32_t swizzleA : {0, 32, 64, 128})
    for (uint32_t swizzleB : {0, 32, 64, 128})
      for (unsigned order = 0; order < 4; ++order) {
        Form f = {72, "f32", "bf16", "bf16"};
        f.swizzleA = swizzleA;
        f.swizzleB = swizzleB;
        f.transposeA = order & 1;
        f.transposeB = order & 2;
        expectExact(f, random);
      }
  for (uint32_t swizzle : {32, 64, 128})
    for (const char *type : {"tf32", "e4m3", "s8"}) {
      Form f = {16, std::string(type) == "s8" ? "s32" : "f32", type, type};
      f.swizzleA = f.swizzleB = swizzle;
      expectExact(f, random);
    }
}

TEST(EmulatorWgmma, ScalesAndSigns) {
  std::mt19937 random(8);
  for (int scaleA : {1, -1})
    for (int scaleB : {1, -1})
      for (bool scaleD : {true, false}) {
        Form f = {32, "f32", "f16", "f16"};
        f.scaleA = scaleA;
        f.scaleB = scaleB;
        f.scaleD = scaleD;
        expectExact(f, random);
        f = {8, "f16", "e5m2", "e4m3"};
        f.scaleA = scaleA;
        f.scaleB = scaleB;
        f.scaleD = scaleD;
        f.registersA = true;
        expectExact(f, random);
      }
}

TEST(EmulatorWgmma, RandomBitsFollowTheDefinition) {
  std::mt19937_64 random(9);
  const char *const types[][3] = {
      {"f32", "f16", "f16"},   {"f16", "f16", "f16"},
      {"f32", "bf16", "bf16"}, {"f32", "tf32", "tf32"},
      {"f32", "e4m3", "e5m2"}, {"f16", "e5m2", "e4m3"}};
  for (auto &t : types)
    for (bool special : {false, true}) {
      MatrixType type = parseMatrixType(t[1]), acc = parseMatrixType(t[0]);
      unsigned k = 256 / getBits(type);
      Matrix a(type, 64, k), b(parseMatrixType(t[2]), k, 40), c(acc, 64, 40);
      for (Matrix *m : {&a, &b, &c})
        m->fill([&] {
          uint64_t x = random();
          if (!special) {
            FloatFields f = fieldsOf(m->type);
            x = (x & ~(((uint64_t(1) << f.exponent) - 1) << f.mantissa)) |
                ((uint64_t(1) << (f.exponent - 1)) - 5 + x % 9) << f.mantissa;
          }
          return x & (~uint64_t(0) >> (64 - getBits(m->type)));
        });
      Matrix d = c;
      Form f = {40, t[0], t[1], t[2]};
      f.swizzleA = 128;
      f.swizzleB = 64;
      multiply(f, a, b, d);
      DotModel model = getDotModel(type, acc, k, true);
      for (unsigned i = 0; i < 64; ++i)
        for (unsigned j = 0; j < 40; ++j) {
          uint32_t x[32], y[32];
          for (unsigned q = 0; q < k; ++q) {
            x[q] = uint32_t(a.at(i, q));
            y[q] = uint32_t(b.at(q, j));
          }
          ASSERT_EQ(d.at(i, j), fuseDot(model, type, b.type, acc, x, y, k,
                                        uint32_t(c.at(i, j))))
              << t[0] << " " << t[1] << " " << i << ", " << j;
        }
    }
}

TEST(EmulatorWgmma, IntegersSaturate) {
  Matrix a(MatrixType::U8, 64, 32), b(MatrixType::U8, 32, 8),
      c(MatrixType::S32, 64, 8);
  a.fill([] { return 255; });
  b.fill([] { return 255; });
  c.fill([] { return 0x7fff0000; });
  Form f = {8, "s32", "u8", "u8"};
  Matrix d = c;
  multiply(f, a, b, d);
  EXPECT_EQ(d.at(40, 3), (0x7fff0000u + 32 * 255 * 255));
  f.saturate = true;
  d = c;
  multiply(f, a, b, d);
  EXPECT_EQ(d.at(40, 3), 0x7fffffffu);
}

/// The error of a kernel of `threads` threads with this code.
static Status tryCode(const std::string &code, unsigned threads = 128) {
  Fixture f;
  Status status = f.parse(
      ".version 8.6\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k()\n{\n.reg .b32 %r<16>; .reg .b64 %l<4>;\n"
      ".reg .pred %p; .shared .align 1024 .b8 s[4096];\n.reg .b16 %h<8>;\n" +
      code + "\nret;\n}\n");
  return status.ok() ? f.run({}, {threads, 1, 1}) : status;
}

TEST(EmulatorWgmma, Refused) {
  const char *const unsupported[] = {
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r0,%r1,%r2,%r3},"
      " %l0, %l1, %r4, 0, 1, 1, 1, 0, 0;",
      "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc "
      "{%r0,%r1,%r2,%r3}, %l0, %l1, 1;",
      "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%r0,%r1,%r2,%r3}, "
      "%l0, %l1, 1, 1, 1, 0, 0;",
      "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r0,%r1,%r2,%r3}, "
      "%l0, %l1, 1;",
      "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%r0,%r1}, %l0, "
      "%l1, 1, 1, 1, 0, 0;",
  };
  for (const char *code : unsupported)
    EXPECT_EQ(tryCode(code).getKind(), ErrorKind::Unsupported) << code;
  const char *const wrong[] = {
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0,%r1,%r2}, %l0, "
      "%l1, 1, 1, 1, 0, 0;",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0,%r1,%r2,%r3}, "
      "%l0, %l1, 1, 2, 1, 0, 0;",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0,%r1,%r2,%r3}, "
      "%l0, %l1, 1, 1, 1, 0;",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0,%r1,%r2,%h3}, "
      "%l0, %l1, 1, 1, 1, 0, 0;",
      "wgmma.wait_group.sync.aligned %r0;",
  };
  for (const char *code : wrong)
    EXPECT_EQ(tryCode(code).getKind(), ErrorKind::Syntax) << code;
}

TEST(EmulatorWgmma, BadOperandsAreReported) {
  std::string product = "wgmma.fence.sync.aligned;\n"
                        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                        "{%r0,%r1,%r2,%r3}, %l0, %l1, 0, 1, 1, 0, 0;\n"
                        "wgmma.commit_group.sync.aligned;\n"
                        "wgmma.wait_group.sync.aligned 0;\n";
  // 4096 bytes are 256 units: A fits, B starts beyond.
  std::string beyond = "mov.u64 %l0, 0x800080000; shl.b64 %l0, %l0, 0;\n"
                       "mov.u64 %l1, 0x8000800ff;\n";
  EXPECT_EQ(tryCode(beyond + product).getKind(), ErrorKind::OutOfBounds);
  EXPECT_EQ(
      tryCode("mov.u64 %l0, 0x8000; mov.u64 %l1, 0;\n" + product).getKind(),
      ErrorKind::BadDescriptor);
  EXPECT_EQ(tryCode(product, 96).getKind(), ErrorKind::BarrierDivergence);
  EXPECT_EQ(tryCode("mov.u32 %r9, %laneid; cvt.u64.u32 %l0, %r9;\n" + product)
                .getKind(),
            ErrorKind::BarrierDivergence);
}
