//===- MatrixMoveTest.cpp - ldmatrix, stmatrix, movmatrix -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the moves of 8x8 matrices and what is checked about them.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace fusionemu;

/// Element (row, column) of matrix m in shared memory.
static uint16_t elementOf(unsigned m, unsigned row, unsigned column) {
  return uint16_t(m * 64 + row * 8 + column);
}

/// A kernel that fills 512 bytes of shared memory with elementOf, leaves in
/// %a the address of the lane's 16-byte row (plain layout) and runs `code`,
/// which may use %r0 to %r9, %l0 to %l3, and stores %r0 to %r3 to `out`.
static std::string makeKernel(const std::string &code) {
  std::string text = R"(.visible .entry k(.param .u64 out)
{
.reg .b32 %r<10>, %a, %t, %x; .reg .b64 %p, %l<4>; .reg .b16 %h<4>; .reg .pred %q;
.shared .align 16 .b8 s[512];
mov.u32 %t, %tid.x;
mov.u32 %a, s;
)";
  // Each thread writes the 16 bytes of its row: elements 8 * t and up.
  for (unsigned i = 0; i < 4; ++i) {
    std::string n = std::to_string(2 * i), m = std::to_string(2 * i + 1);
    text += "mad.lo.u32 %r0, %t, 8, " + n + "; mad.lo.u32 %r1, %t, 8, " + m +
            "; shl.b32 %r1, %r1, 16; or.b32 %r2, %r0, %r1;\n"
            "mad.lo.u32 %x, %t, 16, %a; st.shared.b32 [%x+" +
            std::to_string(4 * i) + "], %r2;\n";
  }
  text += "mad.lo.u32 %a, %t, 16, %a;\nmov.u32 %r0, 0; mov.u32 %r1, 0; "
          "mov.u32 %r2, 0; mov.u32 %r3, 0;\n" +
          code +
          "\nld.param.u64 %p, [out];\nmad.wide.u32 %p, %t, 16, %p;\n"
          "st.global.v4.b32 [%p], {%r0, %r1, %r2, %r3};\nret;\n}\n";
  return text;
}

static std::vector<uint32_t> run(const std::string &code, Counters *n = nullptr,
                                 Status *error = nullptr) {
  Fixture f;
  Status status = f.parse(makeKernel(code));
  EXPECT_TRUE(status.ok()) << status.message();
  uint64_t out = f.passEmpty("out", 512);
  if (status.ok())
    status = f.run({}, {32, 1, 1});
  if (error) {
    *error = status;
    return {};
  }
  EXPECT_TRUE(status.ok()) << code << ": " << status.message();
  if (n)
    *n = f.counters;
  return status.ok() ? f.get<uint32_t>(out, 128) : std::vector<uint32_t>(128);
}

static uint32_t pairOf(unsigned m, unsigned lane, bool transposed) {
  unsigned row = lane / 4, k = lane % 4 * 2;
  return transposed
             ? elementOf(m, k, row) | uint32_t(elementOf(m, k + 1, row)) << 16
             : elementOf(m, row, k) | uint32_t(elementOf(m, row, k + 1)) << 16;
}

TEST(EmulatorMatrixMove, Load) {
  for (bool transposed : {false, true})
    for (unsigned count : {1, 2, 4}) {
      std::string registers = count == 1   ? "{%r0}"
                              : count == 2 ? "{%r0, %r1}"
                                           : "{%r0, %r1, %r2, %r3}";
      std::string name = "ldmatrix.sync.aligned.m8n8.x" +
                         std::to_string(count) + (transposed ? ".trans" : "");
      // With 32 and 64-bit addresses, shared and generic.
      const std::string forms[] = {
          name + ".shared.b16 " + registers + ", [%a];",
          "cvt.u64.u32 %l0, %a;" + name + ".shared::cta.b16 " + registers +
              ", [%l0];",
          "cvt.u64.u32 %l0, %a; cvta.shared.u64 %l0, %l0;" + name + ".b16 " +
              registers + ", [%l0];",
          "sub.u32 %a, %a, 64;" + name + ".shared.b16 " + registers +
              ", [%a+64];"};
      for (const std::string &code : forms) {
        std::vector<uint32_t> d = run(code);
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned m = 0; m < 4; ++m)
            ASSERT_EQ(d[lane * 4 + m],
                      m < count ? pairOf(m, lane, transposed) : 0u)
                << code << " " << lane;
      }
    }
}

TEST(EmulatorMatrixMove, RowsComeFromTheAddressesOfLanes) {
  // Row r of matrix m is what lane 8 * m + r names: here in reverse.
  std::vector<uint32_t> d =
      run("sub.u32 %x, 31, %t; mov.u32 %a, s; mad.lo.u32 %a, %x, 16, %a;\n"
          "bar.warp.sync -1;\n"
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2,%r3}, [%a];");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned m = 0; m < 4; ++m) {
      unsigned row = 31 - (8 * m + lane / 4), k = lane % 4 * 2;
      EXPECT_EQ(d[lane * 4 + m] & 0xffff, elementOf(row / 8, row % 8, k));
    }
}

TEST(EmulatorMatrixMove, StoreIsTheInverse) {
  for (bool transposed : {false, true})
    for (unsigned count : {1, 2, 4}) {
      std::string registers = count == 1   ? "{%r0}"
                              : count == 2 ? "{%r0, %r1}"
                                           : "{%r0, %r1, %r2, %r3}";
      std::string suffix = ".sync.aligned.m8n8.x" + std::to_string(count) +
                           (transposed ? ".trans" : "") + ".shared.b16 ";
      // Negated in between, so that a store that does nothing would show.
      std::string code = "ldmatrix" + suffix + registers + ", [%a];\n";
      for (unsigned i = 0; i < count; ++i)
        code += "not.b32 %r" + std::to_string(i) + ", %r" + std::to_string(i) +
                ";\n";
      code += "stmatrix" + suffix + "[%a], " + registers +
              ";\nbar.sync 0;\nld.shared.v4.b32 {%r0,%r1,%r2,%r3}, [%a];";
      std::vector<uint32_t> d = run(code);
      for (unsigned row = 0; row < 32; ++row)
        for (unsigned i = 0; i < 4; ++i) {
          uint32_t plain = elementOf(row / 8, row % 8, 2 * i) |
                           uint32_t(elementOf(row / 8, row % 8, 2 * i + 1))
                               << 16;
          ASSERT_EQ(d[row * 4 + i], row / 8 < count ? ~plain : plain)
              << code << row;
        }
    }
}

TEST(EmulatorMatrixMove, Transpose) {
  std::vector<uint32_t> d =
      run("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a];\n"
          "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;\n"
          "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;");
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(d[lane * 4 + 1], pairOf(0, lane, true));
    EXPECT_EQ(d[lane * 4 + 2], pairOf(0, lane, false));
  }
}

TEST(EmulatorMatrixMove, BankConflicts) {
  Counters plain, strided;
  run("bar.sync 0; ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
      "{%r0,%r1,%r2,%r3}, [%a];",
      &plain);
  // All rows of a matrix in the same four banks: 128 bytes apart.
  std::string same = "mov.u32 %a, s; and.b32 %x, %t, 3; mad.lo.u32 %a, %x, "
                     "128, %a; bar.sync 0;\n";
  run(same + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
             "{%r0,%r1,%r2,%r3}, [%a];",
      &strided);
  // Four phases of eight rows; in each four different rows share the banks.
  EXPECT_EQ(strided.bankConflicts - plain.bankConflicts, 4 * 3u);
}

TEST(EmulatorMatrixMove, Checks) {
  struct Case {
    const char *code;
    ErrorKind kind;
  };
  const Case cases[] = {
      {"add.u32 %a, %a, 8; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, "
       "[%a];",
       ErrorKind::Misaligned},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2,%r3}, [%a+16];",
       ErrorKind::OutOfBounds},
      {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%a+400], {%r0,%r1};",
       ErrorKind::OutOfBounds},
      {"ld.param.u64 %l0, [out]; ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, "
       "[%l0];",
       ErrorKind::InvalidAddress},
      {"setp.lt.u32 %q, %t, 8; @%q ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
       "{%r0}, [%a];",
       ErrorKind::BarrierDivergence},
  };
  for (const Case &c : cases) {
    Status status;
    run(c.code, nullptr, &status);
    EXPECT_EQ(status.getKind(), c.kind) << c.code << ": " << status.message();
  }
  // Lanes beyond the matrices name nothing.
  Status status;
  run("setp.ge.u32 %q, %t, 8; @%q mov.u32 %a, 1;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a];",
      nullptr, &status);
  EXPECT_TRUE(status.ok()) << status.message();
}

/// Two warps; warp 0 stores with `store`, warp 1 loads with `load`.
static Status runTwoWarps(const std::string &store, const std::string &load,
                          bool barrier) {
  Fixture f;
  Status status = f.parse(R"(.visible .entry k()
{
.reg .b32 %r<4>, %a, %t, %w; .reg .pred %p;
.shared .align 16 .b8 s[512];
mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; and.b32 %t, %t, 31;
mov.u32 %a, s; mad.lo.u32 %a, %t, 16, %a;
setp.ne.u32 %p, %w, 0;
@%p bra SECOND;
)" + store + (barrier ? "\nbar.sync 0;" : "") +
                          R"(
ret;
SECOND:
)" + (barrier ? "bar.sync 0;\n" : "") +
                          load + "\nret;\n}\n");
  EXPECT_TRUE(status.ok()) << status.message();
  return status.ok() ? f.run({}, {64, 1, 1}) : status;
}

TEST(EmulatorMatrixMove, RacesAndUninitialised) {
  std::string store = "mov.u32 %r0, 1;\nstmatrix.sync.aligned.m8n8.x1.shared."
                      "b16 [%a], {%r0};";
  std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%a];";
  EXPECT_TRUE(runTwoWarps(store, load, true).ok());
  EXPECT_EQ(runTwoWarps(store, load, false).getKind(), ErrorKind::SharedRace);
  EXPECT_EQ(runTwoWarps("", load, true).getKind(),
            ErrorKind::UninitializedShared);
  std::string more = "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, "
                     "[%a];";
  EXPECT_EQ(runTwoWarps(store, more, true).getKind(),
            ErrorKind::UninitializedShared);
}
