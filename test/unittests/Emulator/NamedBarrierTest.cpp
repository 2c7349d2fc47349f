//===- NamedBarrierTest.cpp - Phases of named barriers --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests that arrivals at a named barrier belong to one phase for
// sure: a warp that could have come a phase earlier is reported, whatever order
// the warps run in here.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace fusionemu;

/// Four warps; `code` finds the number of the warp in %w and predicates %p0 to
/// %p3 that say whether it is that one, and %low for warps 0 and 1.
static Status run(const std::string &code) {
  Fixture f;
  Status status =
      f.parse(".visible .entry k()\n{\n.reg .pred %p<4>; .reg .pred %low;\n"
              ".reg .b32 %w; .reg .b32 %id; .reg .b32 %t;\n"
              "mov.u32 %t, %tid.x;\nshr.u32 %w, %t, 5;\n"
              "setp.eq.u32 %p0, %w, 0;\nsetp.eq.u32 %p1, %w, 1;\n"
              "setp.eq.u32 %p2, %w, 2;\nsetp.eq.u32 %p3, %w, 3;\n"
              "setp.lt.u32 %low, %w, 2;\n" +
              code + "\nret;\n}\n");
  EXPECT_TRUE(status.ok()) << status.message();
  return status.ok() ? f.run({}, {128, 1, 1}) : status;
}

TEST(NamedBarrier, UnorderedArrivalsAreReported) {
  const char *const cases[] = {
      // Two pairs share a barrier.
      "barrier.sync 1, 64;",
      // And one after the other.
      "@%low barrier.sync 1, 64;\n@!%low barrier.sync 1, 64;",
      // Pairs that exchange their barriers on the way.
      "selp.u32 %id, 1, 2, %low;\nbarrier.sync %id, 64;\n"
      "sub.u32 %id, 3, %id;\nbarrier.sync %id, 64;",
      // A producer that does not wait until its signal has been taken.
      "@%p0 barrier.arrive 1, 64;\n@%p0 barrier.arrive 1, 64;\n"
      "@%p1 barrier.sync 1, 64;\n@%p1 barrier.sync 1, 64;",
      // A signal that two warps wait for in turn.
      "@%p0 barrier.arrive 1, 64;\n@%p1 barrier.sync 1, 64;\n"
      "@%p3 barrier.sync 1, 64;\n@%p2 barrier.arrive 1, 64;",
      // Ordered with one of the two that came before, not with the other.
      "@%p0 barrier.sync 1, 64;\n@%p1 barrier.arrive 1, 64;\n"
      "@%p1 barrier.arrive 2, 64;\n@%p2 barrier.sync 2, 64;\n"
      "@%p2 barrier.sync 1, 64;\n@%p3 barrier.arrive 1, 64;",
  };
  for (const char *code : cases) {
    Status status = run(code);
    EXPECT_EQ(status.getKind(), ErrorKind::BarrierMisuse) << code << "\n"
                                                          << status.message();
    EXPECT_NE(status.message().find(
                  "while nothing orders it behind the arrival of warp"),
              std::string::npos)
        << status.message();
  }
}

TEST(NamedBarrier, OrderedArrivalsAreRight) {
  const char *const cases[] = {
      // The same warps each time.
      "selp.u32 %id, 1, 2, %low;\nbarrier.sync %id, 64;\nbarrier.sync %id, 64;",
      // Others, behind a barrier of all.
      "@%low barrier.sync 1, 64;\nbar.sync 0;\n@!%low barrier.sync 1, 64;",
      // Ping and pong.
      "@%p0 barrier.arrive 1, 64;\n@%p1 barrier.sync 1, 64;\n"
      "@%p1 barrier.arrive 2, 64;\n@%p0 barrier.sync 2, 64;\n"
      "@%p0 barrier.arrive 1, 64;\n@%p1 barrier.sync 1, 64;",
  };
  for (const char *code : cases) {
    Status status = run(code);
    EXPECT_TRUE(status.ok()) << code << "\n" << status.message();
  }
}

TEST(NamedBarrier, CompletePhasesEndAtOnce) {
  // Warps 0 and 1 complete a phase without waiting; warp 2 knows of both
  // arrivals and makes the next phase with warp 3, which it tells.
  Status status = run("@%p0 barrier.arrive 1, 64;\n"
                      "@%p1 barrier.arrive 1, 64;\n"
                      "@%low barrier.arrive 2, 96;\n"
                      "@%p2 barrier.sync 2, 96;\n"
                      "@%p2 barrier.arrive 3, 64;\n"
                      "@%p3 barrier.sync 3, 64;\n"
                      "@%p2 barrier.sync 1, 64;\n"
                      "@%p3 barrier.sync 1, 64;");
  EXPECT_TRUE(status.ok()) << status.message();
}
