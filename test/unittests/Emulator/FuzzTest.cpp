//===- FuzzTest.cpp - The fuzz targets without a fuzzer -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs the bodies of the fuzz targets on the corpus that is kept and
// on fresh random programs, so that every build guards them.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "Replay.h"
#include "Targets.h"
#include "Templates.h"
#include "fusion-rt/Emulator/Emulator.h"

#include "gtest/gtest.h"

#include <cctype>

using namespace fusionfuzz;

TEST(EmulatorFuzz, ParserCorpus) { replay("parser", fuzzParser, 20); }
TEST(EmulatorFuzz, ExecutionCorpus) { replay("exec", fuzzExecution, 20); }

/// A template that the emulator refuses would make every program with it
/// worthless.
TEST(EmulatorFuzz, EveryTemplateIsSupported) {
  for (unsigned i = 0; i < numTemplates; ++i) {
    std::string text = templates[i];
    for (size_t at; (at = text.find('~')) != std::string::npos;) {
      char kind = char(std::tolower(text[at + 1]));
      text.replace(at, 2, std::string("%") + kind + "1");
    }
    if (size_t at = text.find('$'); at != std::string::npos)
      text.replace(at, 1, "200");
    fusionemu::Module module;
    fusionemu::Status s = module.parse(
        ".version 8.7\n.target sm_100a\n.address_size 64\n"
        ".entry k(.param .u64 in, .param .u64 out, .param .u32 scalar) {\n"
        ".reg .pred %p<2>; .reg .b16 %h<2>; .reg .b32 %r<2>;\n"
        ".reg .b64 %x<2>; .reg .f32 %f<2>; .reg .f64 %d<2>;\n"
        ".reg .b128 %q<2>; .shared .b32 tile, dyn;\n" +
        text + ";\n}");
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_EQ(module.findKernel("k")->unsupported, "");
  }
}

TEST(EmulatorFuzz, RandomProgramsAgreeWithThemselves) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(20 + random() % 600);
    for (uint8_t &byte : bytes)
      byte = uint8_t(random());
    ASSERT_EQ(fuzzExecution(bytes.data(), bytes.size()), "")
        << "seed " << seed << "\n"
        << generate(bytes.data(), bytes.size()).text;
  }
}
