//===- FrontEndTest.cpp - What PTX producers print ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests directives, declarations, initial values and constant
// expressions of PTX, well formed and malformed.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <algorithm>
#include <ctime>

using namespace fusionemu;

static Status parse(const std::string &text) {
  Module module;
  return module.parse(text);
}

/// Expects a syntax error on that line, behind the three lines of the header.
static void expectRefused(const std::string &text, const std::string &says,
                          unsigned line = 1) {
  Status s = parse(header() + text);
  EXPECT_EQ(s.getKind(), ErrorKind::Syntax) << text;
  EXPECT_NE(s.message().find(says), std::string::npos)
      << text << ": " << s.message();
  EXPECT_EQ(s.getLine(), line + 3) << text << ": " << s.message();
}

static void expectAccepted(const std::string &text) {
  Status s = parse(header() + text);
  EXPECT_TRUE(s.ok()) << text << ": " << s.message();
}

/// The value of a constant expression in an instruction.
static uint64_t valueOf(const std::string &expression) {
  Values d = evaluate("mov.b64 %d, " + expression + ";", {}, {}, 64);
  return d.empty() ? 0xdead : d[0];
}

/// The bytes that variable `name` starts with.
static std::vector<uint8_t> bytesOf(const std::string &text,
                                    const std::string &name, size_t count) {
  Module module;
  Status s = module.parse(header() + text);
  EXPECT_TRUE(s.ok()) << s.message();
  Memory memory;
  uint64_t address = getGlobalAddress(memory, module, name);
  EXPECT_NE(address, 0u);
  std::vector<uint8_t> bytes(count);
  s = memory.read(address, bytes.data(), count);
  EXPECT_TRUE(s.ok()) << s.message();
  return bytes;
}

template <typename T>
static std::vector<T> valuesOf(const std::string &text, const std::string &name,
                               size_t count) {
  std::vector<uint8_t> bytes = bytesOf(text, name, count * sizeof(T));
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(EmulatorFrontEnd, Versions) {
  auto withVersion = [](const std::string &version) {
    return parse(".version " + version +
                 "\n.target sm_90\n.address_size 64\n.entry k() { ret; }");
  };
  for (const char *version : {"6.0", "7.0", "7.8", "8.8", "9.0", "9.2"})
    EXPECT_TRUE(withVersion(version).ok()) << version;
  for (const char *version : {"5.9", "1.0", "10.0", "99999999999.0"}) {
    Status s = withVersion(version);
    EXPECT_NE(s.message().find("6.0 to 9.9"), std::string::npos) << version;
    EXPECT_EQ(s.getLine(), 1u);
  }
  for (const char *version : {"8", "a.b", "8.10", "8.", "8.5e3"})
    EXPECT_NE(withVersion(version).message().find("such as 8.5"),
              std::string::npos)
        << version;
  expectRefused(".version 8.0", "second .version");
  EXPECT_NE(parse(".target sm_90").message().find(".version directive first"),
            std::string::npos);
}

TEST(EmulatorFrontEnd, Targets) {
  auto withTarget = [](const std::string &target) {
    return parse(".version 8.7\n.target " + target +
                 "\n.address_size 64\n.entry k() { ret; }");
  };
  for (const char *target :
       {"sm_50", "sm_80", "sm_90a", "sm_100a", "sm_100f", "sm_120a", "sm_121",
        "sm_90, debug", "sm_90, texmode_independent, debug"})
    EXPECT_TRUE(withTarget(target).ok())
        << target << ": " << withTarget(target).message();
  for (const char *target : {"sm_", "sm_90b", "sm_90aa", "compute_90", "90"})
    EXPECT_NE(withTarget(target).message().find("such as sm_90a"),
              std::string::npos)
        << target;
  for (const char *target : {"sm_35", "sm_130", "sm_99999999999999"})
    EXPECT_NE(withTarget(target).message().find("sm_50 to sm_12x"),
              std::string::npos)
        << target;
  for (const char *target : {"sm_90, fast", "sm_90,", "sm_90, map_f64_to_f32"})
    EXPECT_EQ(withTarget(target).getKind(), ErrorKind::Syntax) << target;
}

TEST(EmulatorFrontEnd, ModulesSayHowWideAddressesAre) {
  EXPECT_NE(parse(".version 8.0\n.target sm_90\n.entry k() { ret; }")
                .message()
                .find(".address_size 64 first"),
            std::string::npos);
  EXPECT_NE(parse(".version 8.0\n.address_size 64\n.entry k() { ret; }")
                .message()
                .find(".target directive first"),
            std::string::npos);
  EXPECT_NE(parse(".version 8.0\n.target sm_90\n.address_size 32")
                .message()
                .find("only .address_size 64"),
            std::string::npos);
}

TEST(EmulatorFrontEnd, DirectivesOfAnEntry) {
  Module module;
  Status s = module.parse(header() + R"(
.visible .entry k(.param .b64 .ptr .global .align 16 x, .param .u64 .ptr y,
                  .param .align 64 .b8 map[128], .param .u64 .ptr .align 4 z)
  .reqntid 64, 2
  .maxntid 128
  .minnctapersm 2
  .maxnctapersm 3
  .maxnreg 255
  .maxclusterrank 8
  .reqnctapercluster 1, 1, 1
  .pragma "nounroll";
{ ret; }
.entry other() .blocksareclusters .reqntid 32 .reqnctapercluster 1 { ret; }
.func f() .noreturn .abi_preserve 16 .abi_preserve_control 2 { ret; })");
  ASSERT_TRUE(s.ok()) << s.message();
  const KernelInfo *k = module.findKernel("k");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->reqntid.x, 64u);
  EXPECT_EQ(k->reqntid.y, 2u);
  EXPECT_EQ(k->reqntid.z, 1u);
  EXPECT_EQ(k->maxntid.x, 128u);
  ASSERT_EQ(k->parameters.size(), 4u);
  EXPECT_EQ(k->parameters[0].offset, 0u);
  EXPECT_EQ(k->parameters[2].align, 64u);
  EXPECT_EQ(k->parameters[2].offset, 64u);
  EXPECT_EQ(k->parameters[3].offset, 192u);
  EXPECT_EQ(k->unsupported, "");

  expectRefused(".entry k() .reqntid 0 { ret; }", "from 1 to 2147483647");
  expectRefused(".entry k() .reqntid 9999999999 { ret; }", "from 1 to");
  expectRefused(".entry k() .maxnreg 0 { ret; }", "from 1 to 2147483647");
  expectRefused(".entry k() .maxnreg { ret; }", "expected a count");
  expectRefused(".entry k() .fast { ret; }", "unknown directive '.fast'");
  expectRefused(".entry k() .blocksareclusters { ret; }", "needs .reqntid");
  expectRefused(".func f() .maxnreg 8 { ret; }", "only allowed for an entry");
  expectRefused(".entry (.param .b32 r) k() { ret; }", "returns nothing");
  expectRefused(".entry k(.param .b32 a[99999]) { ret; }", "64 KiB");
  expectRefused(".entry k(.param .b32) { ret; }", "name of the parameter");
  expectRefused(".entry k(.b32 a) { ret; }", "expected .param");
  expectRefused(".entry k(.param .align 3 .b32 a) { ret; }", "power of two");
  expectRefused(".entry k(.param .texref t) { ret; }", "textures");
}

TEST(EmulatorFrontEnd, DebugInformationIsSkipped) {
  expectAccepted(".file 1 \"a \\\" b.cu\", 1700000000, 512\n"
                 ".visible .entry k() {\r\n"
                 ".loc 1 7 0\r\n"
                 ".loc\t1 7 3, function_name $L__info+16, inlined_at 1 9 2\r\n"
                 "ret;\r\n}\r\n"
                 ".section\t.debug_loc { .b8 1; .b64 $L__info+3 { } }\n"
                 ".section .debug_str\n{\n$L__info:\n.b8 95,90 // }\n}\n"
                 ".pragma \"a\", \"b\";");
  expectRefused(".section .debug_str\n{ .b8 1 {", "never closed", 2);
  expectRefused(".section { }", "name of the section");
  expectRefused(".file 1 name", "name of the file");
  expectRefused(".file 99999999999 \"a\"", "too large");
  expectRefused(".entry k() {\n.loc 1 2\nret; }", "column number", 3);
  expectRefused(".entry k() { .loc 1 2 3, made_by x\nret; }", "function_name");
  expectRefused(".entry k() { .loc 1 2 3, inlined_at 1 2\nret; }", "a column",
                2);
  expectRefused(".pragma nounroll;", "a string after .pragma");
  expectRefused(".pragma \"open\n;", "a string after .pragma");
}

TEST(EmulatorFrontEnd, MasksOfUsedBytes) {
  auto masked = [](const std::string &text) {
    return ".entry k() {\n.reg .b32 %r; .shared .b32 s;\n.pragma \"" + text +
           "\";\nld.shared.u32 %r, [s];\nret; }";
  };
  for (const char *text :
       {"used_bytes_mask 0xff", "used_bytes_mask 15", "used_bytes_mask 0b0101 ",
        " used_bytes_mask 017U", "used_bytes_masks", "frequency 3", ""})
    expectAccepted(masked(text));
  for (const char *text :
       {"used_bytes_mask", "used_bytes_mask x", "used_bytes_mask 0x",
        "used_bytes_mask -1", "used_bytes_mask 1.0", "used_bytes_mask 3 4",
        "used_bytes_mask 0x100000000"})
    expectRefused(masked(text), "32 bits after used_bytes_mask", 3);
}

TEST(EmulatorFrontEnd, LinkageAndAttributes) {
  expectAccepted(".weak .func (.param .b32 r) f(.param .b32 a) { ret; }\n"
                 ".common .global .b32 c;\n"
                 ".visible .global .attribute(.managed) .align 4 .b32 m;\n"
                 ".visible .global .attribute(.unified(1, 2)) .b32 u;\n"
                 ".func .attribute(.unified(0xAB, 0xCD)) g() { ret; }\n"
                 ".extern .func (.param .b32 r) vprintf(.param .b64 a, "
                 ".param .b64 b);\n"
                 ".weak .entry k() { ret; }");
  expectRefused(".visible .global .attribute(.shiny) .b32 m;",
                "unknown attribute");
  expectRefused(".visible .global .attribute(.unified(1)) .b32 m;",
                "expected ','");
  expectRefused(".extern .global .b32 m;", "another module");
  expectRefused(".global .texref t;", "textures");
  expectRefused(".func f() { ret; }\n.func f() { ret; }", "defined twice", 2);
  Module module;
  ASSERT_TRUE(module
                  .parse(header() +
                         ".extern .shared .b32 s;\n.entry k() { .reg .b32 %r;\n"
                         "ld.shared.b32 %r, [s]; }")
                  .ok());
  EXPECT_NE(module.findKernel("k")->unsupported.find("another module"),
            std::string::npos);
}

TEST(EmulatorFrontEnd, AliasesAndPrototypes) {
  Fixture f;
  Status s = f.parse(R"(
.func (.param .b32 r) twice(.param .b32 x)
{ .reg .b32 %r<2>; ld.param.b32 %r1, [x]; add.u32 %r1, %r1, %r1;
  st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) other(.param .b32 x);
.alias other, twice;
.entry k(.param .u64 out) {
  .reg .b32 %r<3>; .reg .b64 %x;
  .param .b32 a; .param .b32 b;
P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16])
     .noreturn;
T: .calltargets twice, other;
  ld.param.u64 %x, [out];
  st.param.b32 [a], 21;
  call.uni (b), other, (a);
  ld.param.b32 %r1, [b];
  st.global.b32 [%x], %r1;
  ret;
})");
  ASSERT_TRUE(s.ok()) << s.message();
  uint64_t out = f.passEmpty("out", 4);
  s = f.run({}, {});
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(f.get<uint32_t>(out, 1)[0], 42u);

  EXPECT_NE(parse(header() + ".alias a, b;").message().find("not defined"),
            std::string::npos);
  expectRefused(".alias a;", "expected ','");
  expectRefused(".func f() {ret;}\n.alias a, f;\n.alias a, f;", "twice", 3);
  expectRefused(".entry k() {\nP: .callprototype (.param .b32 _);\n}",
                "name of the prototype", 2);
  expectRefused(".entry k() {\nP: .calltargets 3;\n}", "expected a function",
                2);
  expectRefused(".entry k() {\nP: .branchtargets ;\n}", "expected a label", 2);
}

TEST(EmulatorFrontEnd, Literals) {
  EXPECT_EQ(valueOf("0x1F"), 31u);
  EXPECT_EQ(valueOf("0X1fU"), 31u);
  EXPECT_EQ(valueOf("017"), 15u);
  EXPECT_EQ(valueOf("0b101"), 5u);
  EXPECT_EQ(valueOf("0"), 0u);
  EXPECT_EQ(valueOf("-1"), ~uint64_t(0));
  EXPECT_EQ(valueOf("18446744073709551615"), ~uint64_t(0));
  EXPECT_EQ(valueOf("WARP_SZ"), 32u);
  EXPECT_EQ(valueOf("0d3FF8000000000000"), bits(1.5));
  EXPECT_EQ(valueOf("-1.5e0"), bits(-1.5));
  EXPECT_EQ(valueOf("2."), bits(2.0));
  for (const char *literal :
       {"18446744073709551616", "0xfffffffffffffffff", "08", "0b2", "0x",
        "0f3F80000", "1e", "1.2.3", "12ab", "1e999", "0b"})
    expectRefused(".entry k() { .reg .b64 %d; mov.b64 %d, " +
                      std::string(literal) + "; }",
                  "malformed literal");
}

TEST(EmulatorFrontEnd, ConstantExpressions) {
  EXPECT_EQ(valueOf("1+2*3"), 7u);
  EXPECT_EQ(valueOf("(1+2)*3"), 9u);
  EXPECT_EQ(valueOf("7-2-1"), 4u);
  EXPECT_EQ(valueOf("100/7% 5"), 4u);
  EXPECT_EQ(valueOf("1<<4>>2"), 4u);
  EXPECT_EQ(valueOf("1<<64"), 0u);
  EXPECT_EQ(valueOf("-16>>2"), uint64_t(-4));
  EXPECT_EQ(valueOf("-16>>99"), ~uint64_t(0));
  EXPECT_EQ(valueOf("(.u64)-16>>60"), 15u);
  EXPECT_EQ(valueOf("0xf0&0x3c|1^3"), 0x32u);
  EXPECT_EQ(valueOf("~0"), ~uint64_t(0));
  EXPECT_EQ(valueOf("!5"), 0u);
  EXPECT_EQ(valueOf("!0+1"), 2u);
  EXPECT_EQ(valueOf("- - 3"), 3u);
  EXPECT_EQ(valueOf("-7/2"), uint64_t(-3));
  EXPECT_EQ(valueOf("-7 % 3"), uint64_t(-1));
  EXPECT_EQ(valueOf("-1 < 0"), 1u);
  EXPECT_EQ(valueOf("-1 < 0U"), 0u) << "an unsigned operand decides";
  EXPECT_EQ(valueOf("3>=3 && 2!=2 || 4<=4"), 1u);
  EXPECT_EQ(valueOf("1==1 ? 5 : 6"), 5u);
  EXPECT_EQ(valueOf("0 ? 5 : 0 ? 6 : 7"), 7u);
  EXPECT_EQ(valueOf("(-9223372036854775807-1)/-1"), uint64_t(1) << 63);
  EXPECT_EQ(valueOf("(-9223372036854775807-1)%-1"), 0u);
  std::string move = ".entry k() { .reg .b64 %d; mov.b64 %d, ";
  expectRefused(move + "1/0; }", "division by zero");
  expectRefused(move + "1%(2-2); }", "division by zero");
  expectRefused(move + "(1+2; }", "expected ')'");
  expectRefused(move + "1+; }", "expected an integer");
  expectRefused(move + "1 ? 2; }", "expected ':'");
  expectRefused(move + "1+%d; }", "expected an integer");
  expectRefused(move + "%d+1; }", "addend");
  for (const char *deep : {"(", "-", "~", "!", "1?1:", "(1?", "(.s64)"}) {
    std::string text;
    for (unsigned i = 0; i < 100000; ++i)
      text += deep;
    expectRefused(move + text + "1; }", "nested too deeply");
  }
}

TEST(EmulatorFrontEnd, AddressesTakeExpressions) {
  Fixture f;
  Status s = f.parse(R"(
.global .align 4 .b32 table[8] = {10, 11, 12, 13, 14, 15, 16, 17};
.entry k(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %x<3>; .shared .align 8 .b8 tile[64];
  ld.param.u64 %x1, [out];
  mov.u64 %x2, table+4*2;
  ld.global.u32 %r1, [%x2];
  ld.global.u32 %r2, [%x2+4*3-(1<<2)];
  ld.global.u32 %r3, [%x2+-8];
  ld.global.u32 %r4, [%x2-8];
  ld.global.u32 %r5, [table + 7*4];
  st.shared.u32 [tile+0x10], 99;
  ld.shared.u32 %r6, [tile+8*2];
  st.global.v4.u32 [%x1], {%r1, %r2, %r3, %r4};
  st.global.v2.u32
     [ %x1
       + 16 ]   /* an instruction
     of several lines */ , { %r5 ,
                             %r6 } ;
  ret;
})");
  ASSERT_TRUE(s.ok()) << s.message();
  uint64_t out = f.passEmpty("out", 24);
  s = f.run({}, {});
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(f.get<uint32_t>(out, 6),
            (std::vector<uint32_t>{12, 14, 10, 10, 17, 99}));
}

TEST(EmulatorFrontEnd, InitialValues) {
  using U32 = std::vector<uint32_t>;
  EXPECT_EQ(valuesOf<uint32_t>(".global .b32 x = (3+4)*5 % 8 << 2;", "x", 1),
            (U32{12}));
  EXPECT_EQ(valuesOf<uint32_t>(".global .b32 x[4] = {1, -2};", "x", 4),
            (U32{1, uint32_t(-2), 0, 0}));
  EXPECT_EQ(valuesOf<uint32_t>(".global .b32 x[] = {1, 2, 3};", "x", 3),
            (U32{1, 2, 3}));
  // Rows that are not full end in zeros.
  EXPECT_EQ(valuesOf<uint32_t>(".global .s32 x[][2] = {{1}, {3, 4}};", "x", 4),
            (U32{1, 0, 3, 4}));
  EXPECT_EQ(
      valuesOf<uint32_t>(".global .v2 .b32 x[2] = {{1, 2}, {3, 4}};", "x", 4),
      (U32{1, 2, 3, 4}));
  EXPECT_EQ(valuesOf<uint32_t>(
                ".const .f32 x[4] = {1.5, -0f3F800000, 0d4000000000000000, 0};",
                "x", 4),
            (U32{bits(1.5f), bits(-1.0f), bits(2.0f), 0}));
  EXPECT_EQ(valuesOf<double>(".global .f64 x[2] = {0f3F800000, -2.5};", "x", 2),
            (std::vector<double>{1.0, -2.5}));
  EXPECT_EQ(bytesOf(".global .align 1 .b8 x[4] = {300, -1, 0x7F};", "x", 4),
            (std::vector<uint8_t>{44, 255, 127, 0}));

  expectRefused(".global .b32 x[2][2] = {1, 2, 3, 4};", "expected '{'");
  expectRefused(".global .b32 x[2] = {1, 2, 3};", "more initial values");
  expectRefused(".global .b32 x[2] = 1;", "expected '{'");
  expectRefused(".global .b32 x = {1};", "expected an integer");
  expectRefused(".global .b32 x = 1.0;", "where none fits");
  expectRefused(".global .f32 x = 1;", "an integer initialises a float");
  expectRefused(".global .f16 x = 1.0;", "where none fits");
  expectRefused(".shared .b32 x = 1;", "only .global and .const");
  expectRefused(".shared .b32 x[];", "has no size");
  expectRefused(".global .b32 x[2][];", "first dimension");
  expectRefused(".global .b32 x[65536][65536][65536];", "too large");
  expectRefused(".global .b8 x[1073741824] = {0}, y[2][1073741824] = {{0}, "
                "{1}};",
                "initialisers of the module are too large");
}

TEST(EmulatorFrontEnd, AddressesAsInitialValues) {
  Module module;
  Status s = module.parse(header() + R"(
.global .align 4 .b8 foo[32];
.func f() { ret; }
.global .u64 a[4] = {foo, generic(foo)+4, foo+2*8, f};
.global .u32 low = foo;
.global .u8 m[8] = {0xFF(foo+8), 0xFF00(foo+8), 0xFF0000(generic(foo)),
                    0xFF000000(foo), 0xFF00000000(foo), 7};
)");
  ASSERT_TRUE(s.ok()) << s.message();
  Memory memory;
  uint64_t foo = getGlobalAddress(memory, module, "foo");
  uint64_t a[4];
  ASSERT_TRUE(
      memory.read(getGlobalAddress(memory, module, "a"), a, sizeof(a)).ok());
  EXPECT_EQ(a[0], foo);
  EXPECT_EQ(a[1], foo + 4);
  EXPECT_EQ(a[2], foo + 16);
  EXPECT_NE(a[3], 0u) << "a function is not null";
  uint32_t low = 0;
  ASSERT_TRUE(
      memory.read(getGlobalAddress(memory, module, "low"), &low, 4).ok());
  EXPECT_EQ(low, uint32_t(foo));
  uint8_t m[8];
  ASSERT_TRUE(
      memory.read(getGlobalAddress(memory, module, "m"), m, sizeof(m)).ok());
  for (unsigned i = 0; i < 5; ++i)
    EXPECT_EQ(m[i], uint8_t((foo + (i < 2 ? 8 : 0)) >> (8 * i))) << i;
  EXPECT_EQ(m[5], 7u);

  expectRefused(".global .u64 x = nowhere;", "'nowhere' is no variable");
  expectRefused(".shared .b32 s;\n.global .u64 x = s;", "'s' is no variable",
                2);
  expectRefused(".global .b32 y;\n.global .u16 x = y;", "does not fit", 2);
  expectRefused(".global .b32 y;\n.global .u8 x = 0x7F(y);", "mask", 2);
  expectRefused(".global .b32 y;\n.global .u64 x = generic(y;", "expected ')'",
                2);
}

TEST(EmulatorFrontEnd, NamesAndScopes) {
  Fixture f;
  Status s = f.parse(R"(
.global .b32 $str_0, _x, %odd;
.entry k(.param .u64 out) {
  .reg .b32 %r<3>, a$b, _;
  .reg .b64 %x;
  .reg .b128 %q;
  ld.param.u64 %x, [out];
  { .reg .b32 %r<2>; mov.u32 %r1, 5;
    { .reg .b32 %r1; mov.u32 %r1, 6; }
    mov.u32 a$b, %r1; }
  mov.u32 %r1, a$b;
  bra $L__BB0_1;
$L__BB0_1:
  mov.b128 %q, {%x, %x};
  st.global.u32 [%x], %r1;
})");
  ASSERT_TRUE(s.ok()) << s.message();
  uint64_t out = f.passEmpty("out", 4);
  s = f.run({}, {});
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(f.get<uint32_t>(out, 1)[0], 5u);

  std::string deep;
  for (unsigned i = 0; i < 1000; ++i)
    deep += "{";
  expectRefused(".entry k() { " + deep, "nested too deeply");
  expectRefused(".entry k() { mov.b32 {{{{{{", "nested too deeply");
  expectRefused(".entry k() {\n { ret; \n", "never closed");
  expectRefused(".entry k() { .reg .v2 .b32 %r; }", "vector registers");
  expectRefused(".entry k() { .reg .b32 %r<99999999999>; }", "too many");
}

/// A text of many tiny parts is refused before it takes much memory or time.
TEST(EmulatorFrontEnd, HugeTextsAreBounded) {
  auto repeat = [](const std::string &part, size_t count) {
    std::string text;
    text.reserve(part.size() * count);
    for (size_t i = 0; i < count; ++i)
      text += part;
    return text;
  };
  size_t many = 3 << 20;
  EXPECT_NE(parse(header() + ".entry k() {" + repeat("x;", many))
                .message()
                .find("declarations, labels and instructions"),
            std::string::npos);
  EXPECT_NE(parse(header() + ".entry k() {" + repeat("x:", many))
                .message()
                .find("declarations, labels and instructions"),
            std::string::npos);
  EXPECT_NE(parse(header() + ".entry k() { x " + repeat("a,", many))
                .message()
                .find("too many operands"),
            std::string::npos);
  std::string variables;
  for (unsigned i = 0; i < 9000; ++i)
    variables += ".global .b8 v" + std::to_string(i) + ";\n";
  EXPECT_NE(parse(header() + variables).message().find("one too many"),
            std::string::npos);
  // Many kernels that each call the same large function.
  std::string text = ".func f() {" + repeat("ret;\n", 100000) + "}\n";
  for (unsigned i = 0; i < 1000; ++i)
    text += ".entry k" + std::to_string(i) + "() { call f; }\n";
  EXPECT_NE(parse(header() + text).message().find("kernels of the module"),
            std::string::npos);
  // A function without instructions costs as well.
  text = ".func f() { .reg .b32 a; " + repeat("{}", 10000) + "}\n.entry k() {" +
         repeat("call f;\n", 10000) + "}";
  EXPECT_NE(parse(header() + text).message().find("too many instructions"),
            std::string::npos);
}

/// The processor time that it takes to decode a ladder of branches back and
/// forth, on which an iteration to a fixed point takes quadratic time.
static double timeLadder(unsigned n) {
  std::string text = ".entry k() { .reg .pred p;\n";
  for (unsigned i = 0; i < n; ++i)
    text += "L" + std::to_string(i) + ": @p bra L" +
            std::to_string(i ? i - 1 : 0) + ";\n@p bra L" +
            std::to_string(std::min(n - 1, i + 2)) + ";\n";
  std::clock_t start = std::clock();
  expectAccepted(text + "ret; }");
  return double(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(EmulatorFrontEnd, ControlFlowIsAnalysedInLinearTime) {
  // Linear is 8 times as long, quadratic 64 times.
  double small = timeLadder(5000), large = timeLadder(40000);
  EXPECT_LT(large, 24 * std::max(small, 0.005));
}
