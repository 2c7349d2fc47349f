//===- FuzzTest.cpp - The compiler's fuzz targets without a fuzzer --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs the fuzz targets of programs and command lines on their corpus
// and on alterations of it.
//
//===----------------------------------------------------------------------===//

#include "CompilerTargets.h"
#include "Replay.h"
#include "Targets.h"

using namespace fusionfuzz;

TEST(CompilerFuzz, ProgramCorpus) { replay("program", fuzzProgram, 20); }

TEST(CompilerFuzz, AlteredPrograms) {
  std::vector<CorpusFile> files = readCorpus("program");
  std::mt19937 random(getNumber("FUSION_FUZZ_SEED", 1));
  for (unsigned i = 0, n = getNumber("FUSION_FUZZ_COUNT", 250); i < n; ++i) {
    const CorpusFile &file = files[random() % files.size()];
    std::string text = alterProgram(file.bytes, random);
    ASSERT_EQ(runTarget(fuzzProgram, text), "")
        << "alteration " << i << " of " << file.path << "\n"
        << text;
  }
}

namespace {
/// Drops what the tools print about bad command lines.
class CommandLineFuzz : public testing::Test {
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { (void)testing::internal::GetCapturedStderr(); }
};
} // namespace

TEST_F(CommandLineFuzz, Corpus) { replay("command-line", fuzzCommandLine, 5); }
TEST_F(CommandLineFuzz, Altered) {
  replayAltered("command-line", fuzzCommandLine, 1500);
}
