//===- FuzzTest.cpp - The runtime's fuzz targets without a fuzzer ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs the fuzz targets of packages and .npy files on their corpus
// and on alterations of it.
//
//===----------------------------------------------------------------------===//

#include "PackageTarget.h"
#include "Replay.h"
#include "Targets.h"

using namespace fusionfuzz;

TEST(RuntimeFuzz, NpyCorpus) { replay("npy", fuzzNpy, 20); }
TEST(RuntimeFuzz, AlteredNpyFiles) { replayAltered("npy", fuzzNpy, 20000); }

TEST(RuntimeFuzz, EmulateCommandLineCorpus) {
  replay("emulate", fuzzEmulateCommandLine, 5);
}
TEST(RuntimeFuzz, AlteredEmulateCommandLines) {
  replayAltered("emulate", fuzzEmulateCommandLine, 5000);
}

TEST(RuntimeFuzz, PackageCorpus) { replay("package", fuzzPackage, 6); }
TEST(RuntimeFuzz, AlteredPackages) {
  replayAltered("package", fuzzPackage, 1500);
}

/// Else the alterations would test nothing but the refusal of a package.
TEST(RuntimeFuzz, PackagesOfTheCorpusRun) {
  unsigned ran = 0;
  for (const CorpusFile &file : readCorpus("package"))
    ran += runPackage(file.bytes, 5).kind == PackageOutcome::Kind::Ran;
  EXPECT_GE(ran, 6u);
}
