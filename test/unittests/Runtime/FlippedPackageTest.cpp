//===- FlippedPackageTest.cpp - Packages with one byte altered ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An accident is found by the checksum, whichever byte it meets. Behind a
// checksum that was computed again, an altered package is another program: it
// is refused, stopped by a check with an error that has a code, or runs, to the
// same result or, where a constant or an instruction was altered, to another.
//
// One byte in 41 is tried; with FUSION_FLIP_ALL=1 in the environment, each;
// with FUSION_FLIP_ALL=I/N those whose offset is I modulo N, so that N
// processes share the work.
//
//===----------------------------------------------------------------------===//

#include "PackageTarget.h"
#include "Replay.h"
#include "fusion/Executable/Package.h"

#include <cstdio>
#include <cstdlib>

using namespace fusionfuzz;

namespace {

struct Figures {
  unsigned refused = 0, failed = 0, tooLarge = 0, same = 0, other = 0;
};

/// The bytes to alter: `first` and every `step`-th behind it.
struct Part {
  size_t first = 0, step = 41;
};

class FlippedPackageTest : public testing::TestWithParam<const char *> {};

} // namespace

static Part getPart() {
  const char *text = std::getenv("FUSION_FLIP_ALL");
  if (!text)
    return {};
  unsigned first = 0, step = 1;
  if (std::sscanf(text, "%u/%u", &first, &step) != 2)
    return {0, 1};
  return {first, std::max(step, 1u)};
}

static std::string readPackageOfCorpus(const std::string &name) {
  for (const CorpusFile &file : readCorpus("package"))
    if (file.path.size() > name.size() &&
        file.path.substr(file.path.size() - name.size()) == name)
      return file.bytes;
  return {};
}

static void count(const PackageOutcome &outcome, const PackageOutcome &right,
                  Figures &figures) {
  switch (outcome.kind) {
  case PackageOutcome::Kind::Refused:
    ++figures.refused;
    break;
  case PackageOutcome::Kind::TooLarge:
    ++figures.tooLarge;
    break;
  case PackageOutcome::Kind::Failed:
    ++figures.failed;
    break;
  case PackageOutcome::Kind::Ran:
    ++(outcome.outputs == right.outputs ? figures.same : figures.other);
  }
}

TEST_P(FlippedPackageTest, IsRefusedOrRunsOrFailsCleanly) {
  std::string bytes = readPackageOfCorpus(GetParam());
  ASSERT_FALSE(bytes.empty());
  PackageOutcome right = runPackage(bytes, 5);
  ASSERT_EQ(right.kind, PackageOutcome::Kind::Ran);
  Part part = getPart();
  Figures figures;
  for (size_t at = part.first; at < bytes.size(); at += part.step)
    for (int mask : {0xff, 1 << at % 8}) {
      SCOPED_TRACE("byte " + std::to_string(at) + ", mask " +
                   std::to_string(mask));
      std::string altered = bytes;
      altered[at] = static_cast<char>(altered[at] ^ mask);
      ASSERT_FALSE(fusionpkg::readPackage(altered));
      repairPackage(altered);
      PackageOutcome outcome = runPackage(altered, 5);
      ASSERT_EQ(outcome.wrong, "");
      count(outcome, right, figures);
    }
  std::printf("%s, %zu bytes: %u refused, %u stopped with an error, %u too "
              "large to try, %u the same result, %u another\n",
              GetParam(), bytes.size(), figures.refused, figures.failed,
              figures.tooLarge, figures.same, figures.other);
  EXPECT_GT(figures.refused, 0u);
  EXPECT_GT(figures.failed, 0u);
  EXPECT_GT(figures.same, 0u);
}

INSTANTIATE_TEST_SUITE_P(Corpus, FlippedPackageTest,
                         testing::Values("/dynamic-rows", "/softmax",
                                         "/constant", "/tma"));
