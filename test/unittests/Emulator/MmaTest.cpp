//===- MmaTest.cpp - mma.sync ---------------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests every shape of mma.sync, exactly on small integers and
// against the definition of the fused dot product on random bits.
//
//===----------------------------------------------------------------------===//

#include "MatrixUtils.h"

using namespace fusionemu;

namespace {
struct Shape {
  unsigned m, k;
  const char *d, *a, *b;
};
} // namespace

static const Shape shapes[] = {
    {16, 8, "f16", "f16", "f16"},    {16, 8, "f32", "f16", "f16"},
    {16, 16, "f16", "f16", "f16"},   {16, 16, "f32", "f16", "f16"},
    {16, 8, "f32", "bf16", "bf16"},  {16, 16, "f32", "bf16", "bf16"},
    {16, 4, "f32", "tf32", "tf32"},  {16, 8, "f32", "tf32", "tf32"},
    {8, 4, "f64", "f64", "f64"},     {16, 4, "f64", "f64", "f64"},
    {16, 8, "f64", "f64", "f64"},    {16, 16, "f64", "f64", "f64"},
    {8, 16, "s32", "s8", "u8"},      {8, 16, "s32", "u8", "s8"},
    {16, 16, "s32", "s8", "s8"},     {16, 16, "s32", "u8", "u8"},
    {16, 32, "s32", "s8", "u8"},     {16, 32, "s32", "u8", "s8"},
    {16, 16, "f32", "e4m3", "e5m2"}, {16, 16, "f16", "e5m2", "e4m3"},
    {16, 32, "f32", "e4m3", "e4m3"}, {16, 32, "f32", "e5m2", "e4m3"},
    {16, 32, "f16", "e4m3", "e5m2"}, {16, 32, "f16", "e5m2", "e5m2"},
};

static std::string list(const char *prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", %" : "%") + std::string(prefix) + std::to_string(i);
  return text + "}";
}

/// A kernel that multiplies fragments from buffers a, b, c once.
static std::string makeKernel(const std::string &instruction, MatrixType d,
                              unsigned countA, unsigned countB,
                              unsigned countD) {
  std::string bits = d == MatrixType::F64 ? "b64" : "b32";
  unsigned size = registerBytes(d);
  std::string text = ".visible .entry k(.param .u64 a, .param .u64 b,\n"
                     "  .param .u64 c, .param .u64 d)\n{\n"
                     ".reg .b32 %t; .reg .b64 %p;\n.reg ." +
                     bits + " %a<8>, %b<4>, %c<4>, %d<4>;\n" +
                     "mov.u32 %t, %tid.x;\n";
  auto move = [&](const char *name, unsigned count, bool load) {
    text += "ld.param.u64 %p, [" + std::string(name) +
            "];\nmad.wide.u32 %p, %t, " + std::to_string(count * size) +
            ", %p;\n";
    for (unsigned i = 0; i < count; ++i) {
      std::string reg = "%" + std::string(name) + std::to_string(i);
      std::string at = "[%p+" + std::to_string(i * size) + "]";
      text += load ? "ld.global." + bits + " " + reg + ", " + at + ";\n"
                   : "st.global." + bits + " " + at + ", " + reg + ";\n";
    }
  };
  move("a", countA, true);
  move("b", countB, true);
  move("c", countD, true);
  text += instruction + " " + list("d", countD) + ", " + list("a", countA) +
          ", " + list("b", countB) + ", " + list("c", countD) + ";\n";
  move("d", countD, false);
  return text + "ret;\n}\n";
}

static std::string nameOf(const Shape &s, const char *option = "") {
  return "mma.sync.aligned.m" + std::to_string(s.m) + "n8k" +
         std::to_string(s.k) + ".row.col" + option + "." + s.d + "." + s.a +
         "." + s.b + "." + s.d;
}

/// Runs one instruction on the matrices; D replaces C.
static void multiply(const Shape &s, const std::string &instruction, Matrix &a,
                     Matrix &b, Matrix &c) {
  unsigned size = registerBytes(c.type);
  unsigned countA = countMatrixRegisters(a.type, s.m, s.k);
  unsigned countB = countMatrixRegisters(b.type, s.k, 8);
  unsigned countD = countMatrixRegisters(c.type, s.m, 8);
  std::vector<uint8_t> as(32 * countA * size), bs(32 * countB * size),
      cs(32 * countD * size);
  moveFragment(a, MatrixOperand::A, s.m, 0, true, as.data());
  moveFragment(b, MatrixOperand::B, s.m, 0, true, bs.data());
  moveFragment(c, MatrixOperand::D, s.m, 0, true, cs.data());
  Fixture f;
  Status status =
      f.parse(makeKernel(instruction, c.type, countA, countB, countD));
  ASSERT_TRUE(status.ok()) << status.message();
  f.passBuffer("a", as);
  f.passBuffer("b", bs);
  f.passBuffer("c", cs);
  uint64_t d = f.passEmpty("d", cs.size());
  status = f.run({}, {32, 1, 1});
  ASSERT_TRUE(status.ok()) << instruction << ": " << status.message();
  cs = f.get<uint8_t>(d, cs.size());
  moveFragment(c, MatrixOperand::D, s.m, 0, false, cs.data());
}

static Matrix makeMatrix(const char *type, unsigned rows, unsigned columns) {
  return Matrix(parseMatrixType(type), rows, columns);
}

TEST(EmulatorMma, SmallIntegersAreExact) {
  std::mt19937 random(1);
  for (const Shape &s : shapes) {
    Matrix a = makeMatrix(s.a, s.m, s.k).fillSmall(random, 4);
    Matrix b = makeMatrix(s.b, s.k, 8).fillSmall(random, 4);
    Matrix c = makeMatrix(s.d, s.m, 8).fillSmall(random, 100), d = c;
    multiply(s, nameOf(s), a, b, d);
    for (unsigned i = 0; i < s.m; ++i)
      for (unsigned j = 0; j < 8; ++j) {
        double sum = c.value(i, j);
        for (unsigned k = 0; k < s.k; ++k)
          sum += a.value(i, k) * b.value(k, j);
        ASSERT_EQ(d.value(i, j), sum) << nameOf(s) << " " << i << ", " << j;
      }
  }
}

/// What a chain of blocks gives, by the scalar definition.
static uint32_t modelOf(const Shape &s, Matrix &a, Matrix &b, Matrix &c,
                        unsigned i, unsigned j) {
  DotModel model = getDotModel(a.type, c.type, s.k, false);
  uint32_t before = uint32_t(c.at(i, j));
  uint32_t sum = model.widens ? 0 : before;
  for (unsigned block = 0; block < s.k / model.blockLength; ++block) {
    uint32_t x[32], y[32];
    for (unsigned q = 0; q < model.blockLength; ++q) {
      unsigned k = getDotIndex(model, block, q);
      x[q] = uint32_t(a.at(i, k));
      y[q] = uint32_t(b.at(k, j));
      if (model.widens) {
        x[q] = widenToHalf(a.type, x[q]);
        y[q] = widenToHalf(b.type, y[q]);
      }
    }
    MatrixType typeA = model.widens ? MatrixType::F16 : a.type;
    MatrixType typeB = model.widens ? MatrixType::F16 : b.type;
    sum = fuseDot(model, typeA, typeB, c.type, x, y, model.blockLength, sum);
  }
  if (!model.widens)
    return sum;
  double total = valueOf(c.type, sum) + valueOf(c.type, before);
  return c.type == MatrixType::F32 ? bits(float(total)) : 0;
}

TEST(EmulatorMma, RandomBitsFollowTheDefinition) {
  std::mt19937_64 random(2);
  for (const Shape &s : shapes) {
    Matrix a = makeMatrix(s.a, s.m, s.k), b = makeMatrix(s.b, s.k, 8),
           c = makeMatrix(s.d, s.m, 8);
    if (a.type == MatrixType::F64 || !isFloat(a.type))
      continue;
    // The addition behind 8-bit floats is tested with numbers.
    bool narrow = getBits(a.type) == 8;
    if (narrow && c.type == MatrixType::F16)
      continue;
    for (unsigned trial = 0; trial < 20; ++trial) {
      auto draw = [&](Matrix &m) {
        m.fill([&] {
          uint64_t x = random();
          // Fewer special values than random bits would have.
          if (trial % 2 == 0 || narrow) {
            FloatFields f = fieldsOf(m.type);
            x = (x & ~(((uint64_t(1) << f.exponent) - 1) << f.mantissa)) |
                ((uint64_t(1) << (f.exponent - 1)) - 4 + x % 7) << f.mantissa;
          }
          return x & (~uint64_t(0) >> (64 - getBits(m.type)));
        });
      };
      draw(a);
      draw(b);
      draw(c);
      Matrix d = c;
      multiply(s, nameOf(s), a, b, d);
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned j = 0; j < 8; ++j)
          ASSERT_EQ(d.at(i, j), modelOf(s, a, b, c, i, j))
              << nameOf(s) << " " << i << ", " << j;
    }
  }
}

TEST(EmulatorMma, IntegersWrapOrSaturate) {
  Shape s = {16, 32, "s32", "s8", "s8"};
  for (bool saturate : {false, true})
    for (int sign : {1, -1}) {
      Matrix a = makeMatrix("s8", 16, 32), b = makeMatrix("s8", 32, 8),
             c = makeMatrix("s32", 16, 8);
      a.fill([] { return 0x80; });
      b.fill([&] { return bitsOf(MatrixType::S8, sign > 0 ? -128 : 127); });
      c.fill([&] { return sign > 0 ? 0x7fffff00u : 0x80000100u; });
      multiply(s, nameOf(s, saturate ? ".satfinite" : ""), a, b, c);
      int64_t exact = sign > 0 ? int64_t(0x7fffff00) + 32 * 16384
                               : -int64_t(0x7fffff00) - 32 * 128 * 127;
      int64_t limit = sign > 0 ? 0x7fffffff : -int64_t(0x80000000);
      EXPECT_EQ(uint32_t(c.at(3, 5)), uint32_t(saturate ? limit : exact));
    }
}

TEST(EmulatorMma, DoublesAreFusedInOrder) {
  Shape s = {16, 4, "f64", "f64", "f64"};
  std::mt19937 random(3);
  Matrix a = makeMatrix("f64", 16, 4), b = makeMatrix("f64", 4, 8),
         c = makeMatrix("f64", 16, 8);
  for (Matrix *m : {&a, &b, &c})
    m->fill([&] { return bits(double(random()) / 3 - 0x1p30); });
  Matrix d = c;
  multiply(s, nameOf(s), a, b, d);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 8; ++j) {
      double sum = c.value(i, j);
      for (unsigned k = 0; k < 4; ++k)
        sum = std::fma(a.value(i, k), b.value(k, j), sum);
      EXPECT_EQ(bits(sum), d.at(i, j));
    }
  // Of several NaN that of B is passed on, quieted, then that of C.
  a.at(0, 0) = 0x7ff8000000000001;
  b.at(0, 0) = 0xfff0000000000002;
  c.at(0, 0) = 0x7ff8000000000003;
  a.at(1, 0) = 0x7ff8000000000001;
  c.at(1, 1) = 0x7ff8000000000003;
  multiply(s, nameOf(s), a, b, c);
  EXPECT_EQ(c.at(0, 0), 0xfff8000000000002u);
  EXPECT_EQ(c.at(1, 1), 0x7ff8000000000003u);
  EXPECT_EQ(c.at(1, 2), 0x7ff8000000000001u);
}

/// The error of a kernel with only this instruction.
static Status tryInstruction(const std::string &code, Dim3 block = {32, 1, 1}) {
  Fixture f;
  Status status =
      f.parse(".visible .entry k()\n{\n.reg .b32 %r<16>; .reg .b64 %l<16>;\n"
              ".reg .pred %p; .shared .align 16 .b8 s[1024];\n" +
              code + "\nret;\n}\n");
  return status.ok() ? f.run({}, block) : status;
}

TEST(EmulatorMma, RefusedByName) {
  const char *const refused[] = {
      "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r0,%r1,%r2,%r3}, "
      "{%r0,%r1}, {%r2,%r3}, {%r0,%r1,%r2,%r3};",
      "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r0,%r1}, {%r2}, "
      "{%r3}, {%r0,%r1};",
      "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
      "{%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%r0,%r1,%r2,%r3};",
      "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0,%r1}, "
      "{%r2,%r3}, {%r4,%r5}, {%r6,%r7}, %r8, 0;",
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 {%r0,%r1}, "
      "{%r2,%r3,%r4,%r5}, {%r4,%r5}, {%r6,%r7,%r8,%r9};",
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
      "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [s];",
      "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r0}, [s];",
      "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0,%r1}, [s];",
      "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [s], {%r0};",
  };
  for (const char *code : refused) {
    Status status = tryInstruction(code);
    EXPECT_EQ(status.getKind(), ErrorKind::Unsupported) << code;
    std::string name = std::string(code).substr(0, std::string(code).find(' '));
    EXPECT_NE(status.message().find(name), std::string::npos)
        << status.message();
  }
  EXPECT_EQ(tryInstruction("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                           "{%r0,%r1,%r2}, {%r4,%r5}, {%r6}, "
                           "{%r0,%r1,%r2,%r3};")
                .getKind(),
            ErrorKind::Syntax)
      << "a wrong number of registers";
}

static const char product[] =
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, "
    "{%r4,%r5}, {%r6}, {%r0,%r1,%r2,%r3};\n";

TEST(EmulatorMma, NeedsTheWholeWarp) {
  EXPECT_TRUE(tryInstruction(product).ok());
  std::string half = "mov.u32 %r8, %laneid; setp.lt.u32 %p, %r8, 16;\n";
  const std::string wrong[] = {
      half + "@%p " + product,
      half + "@!%p bra L;\n" + product + "L: mov.u32 %r9, 1;\n",
      half + "@%p exit;\n" + product,
  };
  for (const std::string &code : wrong) {
    Status status = tryInstruction(code);
    EXPECT_EQ(status.getKind(), ErrorKind::BarrierDivergence)
        << code << status.message();
  }
  EXPECT_EQ(tryInstruction(product, {40, 1, 1}).getKind(),
            ErrorKind::BarrierDivergence);
  // Lanes that have diverged may meet at the instruction.
  Status status = tryInstruction(half +
                                 "@%p bra L;\nbar.warp.sync -1;\nbra M;"
                                 "\nL: bar.warp.sync -1;\nM:\n" +
                                 product);
  EXPECT_TRUE(status.ok()) << status.message();
}
