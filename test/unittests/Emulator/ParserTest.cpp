//===- ParserTest.cpp - Good, bad and damaged PTX -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the errors of the PTX front end.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace fusionemu;

static Status parse(const std::string &text) {
  Module module;
  return module.parse(text, "test.ptx");
}

static void expectError(const std::string &body, unsigned line,
                        const std::string &says) {
  // The header takes three lines.
  Status s = parse(header() + body);
  EXPECT_EQ(s.getKind(), ErrorKind::Syntax) << body;
  EXPECT_EQ(s.getLine(), line + 3) << s.message();
  EXPECT_NE(s.message().find(says), std::string::npos) << s.message();
  EXPECT_NE(s.message().find("test.ptx: PTX line " + std::to_string(line + 3)),
            std::string::npos)
      << s.message();
}

TEST(EmulatorParser, ErrorsNameLineAndReason) {
  expectError("nonsense", 1, "expected a directive");
  expectError(".entry k() {\n add.u32 %r1, %r2, %r3;\n}", 2, "%r2");
  expectError(".entry k() {\n.reg .b32 %r<4>;\n mov.u32 %r4, 0;\n}", 3, "%r4");
  expectError(".entry k() {\n bra NOWHERE;\n}", 2, "not a label");
  expectError(".entry k() {\n.reg .b32 %r<4>;\n mov.u32 %r1 0;\n}", 3,
              "expected ';'");
  expectError(".entry k() {\n ret;\n", 1, "never closed");
  expectError(".entry k() {\nL: ret;\nL: ret;\n}", 1, "defined twice");
  expectError(".entry k() {\n.reg .quad %r;\n}", 2, "register type");
  expectError(".global .align 3 .b32 x;", 1, "power of two");
  expectError(".global .b32 x[2] = {1, 2, 3};", 1, "more initial values");
  expectError(".global .b64 x[9999999999999];", 1, "too large");
  expectError(".entry k() {\n.reg .b32 %r;\n@%r ret;\n}", 3, "not a predicate");
  expectError(".entry k() {\n.reg .b32 %r;\n add.u32 %r, %r;\n}", 3,
              "expected 3 operands");
  expectError(".entry k() {\n.reg .b32 %r;\n ld.global.u32 %r, %r;\n}", 3,
              "expected an address");
  expectError(".entry k() {\n.reg .b32 %r;\n mov.u32 %r, 0x;\n}", 3,
              "expected an operand");
  expectError(".entry k() {\n ret;\n}\n.entry k() {\n ret;\n}", 4,
              "defined twice");
  EXPECT_EQ(parse("").getKind(), ErrorKind::Syntax);
  EXPECT_EQ(parse(".version 1.0\n").getKind(), ErrorKind::Syntax);
  EXPECT_EQ(parse(".version 8.0 .address_size 32").getKind(),
            ErrorKind::Syntax);
}

TEST(EmulatorParser, UnsupportedInstructionsAreRefusedByName) {
  Fixture f;
  ASSERT_TRUE(f.parse(R"(
.visible .entry good() { ret; }
.visible .entry k() {
  .reg .b32 %r<4>;
  tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%r0, {%r1, %r2}];
  ret;
})")
                  .ok());
  const KernelInfo *info = f.module.findKernel("k");
  ASSERT_NE(info, nullptr);
  EXPECT_NE(info->unsupported.find("tex.2d.v4.f32.f32"), std::string::npos);
  Status s = f.run({}, {});
  EXPECT_EQ(s.getKind(), ErrorKind::Unsupported);
  EXPECT_NE(s.message().find("PTX line 8"), std::string::npos) << s.message();
  f.kernel = "good";
  EXPECT_TRUE(f.run({}, {}).ok()) << "the other kernel still runs";
}

TEST(EmulatorParser, UnknownModifiersAreNeverIgnored) {
  for (const char *code :
       {"add.wrap.u32 %r0, %r1, %r2;", "ld.global.v3.u32 %r0, [%x];",
        "cvt.f16.f32 %h, %r0;", "cvt.s32.f32 %r0, %r1;",
        "div.f32 %r0, %r1, %r2;", "ex2.f32 %r0, %r1;",
        "min.relu.f32 %r0, %r1, %r2;", "shfl.sync.left.b32 %r0,%r1,%r2,1,1;",
        "atom.global.mul.u32 %r0, [%x], 1;"}) {
    Module module;
    Status s = module.parse(header() +
                            ".entry k() {.reg .b32 %r<4>; .reg "
                            ".b64 %x; .reg .b16 %h;\n" +
                            code + "\n}");
    if (!s.ok())
      continue;
    EXPECT_NE(module.getKernels()[0].unsupported, "") << code;
  }
}

TEST(EmulatorParser, RecursionIsRefused) {
  Module module;
  Status s = module.parse(header() + R"(
.func f(.param .b32 x) { .param .b32 y; call f, (y); ret; }
.entry k() { .param .b32 x; call f, (x); ret; })");
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_NE(module.getKernels()[0].unsupported.find("recursive"),
            std::string::npos);
}

TEST(EmulatorParser, CallsThatMultiplyAreRefused) {
  // 10^15 calls in two kilobytes.
  std::string text;
  for (int i = 15; i >= 0; --i) {
    text += ".func f" + std::to_string(i) + "() {";
    for (int k = 0; k < 10 && i < 15; ++k)
      text += " call f" + std::to_string(i + 1) + ";";
    text += " }\n";
  }
  Module module;
  Status s = module.parse(header() + text + ".entry k() { call f0; }");
  EXPECT_EQ(s.getKind(), ErrorKind::Syntax);
  EXPECT_NE(s.message().find("too many instructions"), std::string::npos);
}

TEST(EmulatorParser, DebugSectionsAndDirectivesAreSkipped) {
  Module module;
  Status s = module.parse(R"(//
/* a comment
   of two lines */
.version 8.6
.target sm_90a, debug
.address_size 64
.file 1 "a.cu", 1, 2
.pragma "nounroll";
.visible .entry k(.param .u64 .ptr .global .align 16 p)
.maxntid 128, 1, 1
.reqntid 64
.minnctapersm 2
.maxnreg 64
{
  .pragma "used_bytes_mask 0xff";
  .loc 1 3 5, function_name $info+0, inlined_at 1 9 3
  ret;
}
.section .debug_str
{
$info:
.b8 95,90
.b8 0
}
)");
  ASSERT_TRUE(s.ok()) << s.message();
  const KernelInfo *k = module.findKernel("k");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->reqntid.x, 64u);
  EXPECT_EQ(k->maxntid.x, 128u);
  EXPECT_EQ(module.getTarget(), "sm_90a");
}

/// Damaged text must give an error or run, and never crash or hang.
TEST(EmulatorParser, DamagedTextNeverCrashes) {
  const std::string good = header() + R"(
.global .align 4 .b8 data[8] = {1, 2, 3, 4};
.extern .shared .align 16 .b8 dyn[];
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r<3>;
  ld.param.b32 %r1, [x]; st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .u64 out, .param .align 8 .b8 s[16])
{
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %x<6>; .reg .f32 %f<4>;
  .shared .align 4 .b32 tile[32];
  .loc 1 2 3
  ld.param.u64 %x1, [out];
  mov.u32 %r1, %tid.x;
  setp.lt.and.u32 %p1|%p2, %r1, 16, !%p0;
  @%p1 bra L;
  shfl.sync.bfly.b32 %r2|%p3, %r1, 1, 31, -1;
  mov.b64 %x2, {%r1, %r2};
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
    call.uni (b), f, (a); ld.param.b32 %r3, [b]; }
  st.shared.v2.b32 [tile+8], {%r1, %r2};
L: bar.sync 0, 64;
  cvt.rn.f32.u32 %f1, %r1; fma.rn.f32 %f2, %f1, 0f3F800000, %f1;
  atom.global.add.f32 %f3, [%x1+4], %f2;
  ret;
}
)";
  ASSERT_TRUE(parse(good).ok()) << parse(good).message();
  std::mt19937 random(11);
  static const char alphabet[] = "{}[]().,;:%@!|-+<>0129rabfpux_ \n\"$";
  unsigned parsed = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    std::string text = good;
    for (unsigned k = 0, n = 1 + random() % 3; k < n; ++k) {
      size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text[at] = alphabet[random() % (sizeof(alphabet) - 1)];
        break;
      case 1:
        text.erase(at, 1 + random() % 20);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), 12));
        break;
      default:
        text.resize(at + 1);
        break;
      }
    }
    Fixture f;
    if (!f.module.parse(text).ok())
      continue;
    ++parsed;
    f.options.maxSteps = 2000;
    f.options.threads = 1;
    f.passBuffer("out", std::vector<uint32_t>(8, 0));
    f.pass(uint64_t(0));
    f.pass(uint64_t(0));
    // Whatever it does, it comes back.
    (void)f.run({2, 1, 1}, {64, 1, 1}).ok();
  }
  EXPECT_GT(parsed, 100u) << "hardly anything was left to run";
}
