//===- SpeedTest.cpp - A floor under the emulator's speed -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file guards against a catastrophic slow-down. The floor is a small part
// of what a processor of 2020 reaches, and time is that of the process, so that
// a busy machine does not fail.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>

using namespace fusionemu;

// Sanitized handlers are compiled without vector instructions.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FUSION_TEST_IS_SANITIZED
#endif
#endif
#if defined(FUSION_TEST_IS_SANITIZED) || defined(__SANITIZE_ADDRESS__) ||      \
    defined(__SANITIZE_THREAD__)
static constexpr double floorPerSecond = 1e6;
#else
static constexpr double floorPerSecond = 100e6;
#endif

static double processSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// The best of three launches of the FMA loop, in lane instructions a second.
static double measure(const Checks &checks) {
  std::ifstream file(FUSION_TEST_PTX_DIR "/Inputs/fma-loop.ptx");
  std::stringstream text;
  text << file.rdbuf();
  Fixture f;
  f.kernel = "fma_loop";
  Status s = f.parse(text.str());
  EXPECT_TRUE(s.ok()) << s.message();
  f.passEmpty("out", 4 * 16 * 256);
  f.pass(uint32_t(100));
  f.options.threads = 1;
  f.options.checks = checks;
  double best = 0;
  for (unsigned i = 0; i < 3; ++i) {
    double start = processSeconds();
    s = f.run({16, 1, 1}, {256, 1, 1});
    double seconds = processSeconds() - start;
    EXPECT_TRUE(s.ok()) << s.message();
    best = std::max(best, double(f.counters.laneInstructions) / seconds);
  }
  return best;
}

TEST(EmulatorSpeed, PlainLoopIsNotSlow) {
  EXPECT_GT(measure({}), floorPerSecond) << "with checks";
  Checks none;
  none.uninitialized = none.sharedRaces = none.globalRaces = none.asynchrony =
      false;
  EXPECT_GT(measure(none), floorPerSecond) << "without checks";
}
