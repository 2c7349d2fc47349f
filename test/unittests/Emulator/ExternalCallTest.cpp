//===- ExternalCallTest.cpp - printf and assert ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests calls of the functions that the driver provides.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <cstdio>

using namespace fusionemu;

/// A text as the bytes of a .global array.
static std::string global(const std::string &name, const std::string &text) {
  std::string result = ".global .align 1 .b8 " + name + "[" +
                       std::to_string(text.size() + 1) + "] = {";
  for (unsigned char c : text)
    result += std::to_string(unsigned(c)) + ", ";
  return result + "0};\n";
}

/// Prints `format` with `store`, which fills the arguments from %SP on.
static std::string printKernel(const std::string &format,
                               const std::string &store) {
  return header() +
         ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);"
         "\n" +
         global("text", format) + global("word", "word") +
         ".visible .entry k()\n{\n.local .align 8 .b8 depot[64];\n"
         ".reg .b64 %x<9>; .reg .b32 %r<9>; .reg .f64 %d<2>;\n"
         "mov.u64 %x0, depot;\ncvta.local.u64 %x1, %x0;\n"
         "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"
         "mov.u64 %x4, word;\n" +
         store +
         "\nmov.u64 %x2, text;\n{\n.param .b64 p0;\nst.param.b64 [p0], %x2;\n"
         ".param .b64 p1;\nst.param.b64 [p1], %x1;\n.param .b32 r0;\n"
         "call.uni (r0), vprintf, (p0, p1);\nld.param.b32 %r2, [r0];\n}\n"
         "ret;\n}\n";
}

static Status print(const std::string &ptx, Dim3 grid, Dim3 block,
                    std::string &out) {
  Module module;
  Memory memory;
  if (Status s = module.parse(ptx); !s.ok())
    return s;
  Options options;
  options.print = [&](std::string_view text) { out += text; };
  return launch(memory, module, "k", grid, block, 0, nullptr, 0, options);
}

TEST(EmulatorCalls, PrintsInOrder) {
  std::string out;
  Status s = print(printKernel("%d.%d;", "st.local.u32 [%x0], %r1;\n"
                                         "st.local.u32 [%x0+4], %r0;"),
                   {3, 1, 1}, {4, 1, 1}, out);
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(out, "0.0;0.1;0.2;0.3;1.0;1.1;1.2;1.3;2.0;2.1;2.2;2.3;");
}

TEST(EmulatorCalls, Formats) {
  struct Case {
    const char *format, *store, *expected;
  };
  static const Case cases[] = {
      {"plain 100%%\n", "", "plain 100%\n"},
      {"[%5d|%-5d|%05d|%+d]", "st.local.v4.u32 [%x0], {42, 42, 42, 42};",
       "[   42|42   |00042|+42]"},
      {"[%u %x %X %#o]", "st.local.v4.u32 [%x0], {-1, 255, 255, 8};",
       "[4294967295 ff FF 010]"},
      {"[%lld %llu]", "st.local.v2.u64 [%x0], {-5, -1};",
       "[-5 18446744073709551615]"},
      {"[%d %f %.2e %g]",
       "st.local.u32 [%x0], 7; st.local.f64 [%x0+8], 0d3FF8000000000000;"
       "st.local.f64 [%x0+16], 0d40091EB851EB851F;"
       "st.local.f64 [%x0+24], 0d3FE0000000000000;",
       "[7 1.500000 3.14e+00 0.5]"},
      {"[%s|%6s|%.2s|%c]",
       "st.local.v2.u64 [%x0], {%x4, %x4}; st.local.u64 [%x0+16], %x4;"
       "st.local.u32 [%x0+24], 65;",
       "[word|  word|wo|A]"},
      {"[%*d|%.*f]",
       "st.local.v2.u32 [%x0], {6, 5}; st.local.u32 [%x0+8], 1;"
       "st.local.f64 [%x0+16], 0d3FF8000000000000;",
       "[     5|1.5]"},
      {"[%hhd %hu]", "st.local.v2.u32 [%x0], {511, 65537};", "[-1 1]"},
      // What is no conversion stays as it is, and nothing is ever written.
      {"[%n %y %", "", "[%n %y %"},
  };
  for (const Case &c : cases) {
    std::string out;
    Status s = print(printKernel(c.format, c.store), {}, {}, out);
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_EQ(out, c.expected);
  }
}

TEST(EmulatorCalls, HostileFormats) {
  std::string out;
  // A width beyond all sense is bounded.
  Status s = print(printKernel("%999999999d%.99999999f",
                               "st.local.u32 [%x0], 1;"
                               "st.local.f64 [%x0+8], 0d7FE0000000000000;"),
                   {}, {}, out);
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_LT(out.size(), 8192u);
  // A text where there is none.
  s = print(printKernel("%s", "st.local.u64 [%x0], 12345;"), {}, {}, out);
  EXPECT_EQ(s.getKind(), ErrorKind::InvalidAddress);
  // More arguments than the frame has.
  std::string many;
  for (int i = 0; i < 20; ++i)
    many += "%lld ";
  s = print(printKernel(many, ""), {}, {}, out);
  EXPECT_EQ(s.getKind(), ErrorKind::OutOfBounds);
}

TEST(EmulatorCalls, AssertNamesItsPlace) {
  std::string ptx =
      header() +
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, "
      ".param .b64 d, .param .b64 e);\n" +
      global("message", "i < n") + global("file", "model.cu") +
      global("function", "void k()") +
      ".visible .entry k()\n{\n.reg .b64 %x<4>; .reg .b32 %r; .reg .pred %p;\n"
      "mov.u32 %r, %tid.x;\nsetp.ne.u32 %p, %r, 5;\n@%p bra DONE;\n"
      "mov.u64 %x0, message;\nmov.u64 %x1, file;\nmov.u64 %x2, function;\n{\n"
      ".param .b64 p0;\nst.param.b64 [p0], %x0;\n"
      ".param .b64 p1;\nst.param.b64 [p1], %x1;\n"
      ".param .b32 p2;\nst.param.b32 [p2], 77;\n"
      ".param .b64 p3;\nst.param.b64 [p3], %x2;\n"
      ".param .b64 p4;\nst.param.b64 [p4], 1;\n"
      "call.uni __assertfail, (p0, p1, p2, p3, p4);\n}\nDONE:\nret;\n}\n";
  std::string out;
  EXPECT_TRUE(print(ptx, {}, {5, 1, 1}, out).ok());
  Status s = print(ptx, {}, {32, 1, 1}, out);
  EXPECT_EQ(s.getKind(), ErrorKind::Assert);
  EXPECT_NE(s.message().find("thread (5,0,0)"), std::string::npos);
  EXPECT_NE(s.message().find("'i < n' at model.cu:77"), std::string::npos)
      << s.message();
}

TEST(EmulatorCalls, OtherFunctionsAreRefusedByName) {
  std::string ptx = header() +
                    ".extern .func (.param .b64 r) malloc(.param .b64 a);\n"
                    ".visible .entry k()\n{\n{\n.param .b64 p;\n"
                    "st.param.b64 [p], 8;\n.param .b64 r;\n"
                    "call.uni (r), malloc, (p);\n}\nret;\n}\n";
  Module module;
  ASSERT_TRUE(module.parse(ptx).ok());
  EXPECT_NE(module.getKernels()[0].unsupported.find("'malloc'"),
            std::string::npos);
}
