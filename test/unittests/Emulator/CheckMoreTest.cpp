//===- CheckMoreTest.cpp - More planted faults ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file proves the checks that need the host or end a kernel by planted
// faults, and their silence by the repairs.
//
//===----------------------------------------------------------------------===//

#include "AsyncTestUtils.h"

using namespace fusionemu;

namespace {
/// Two bodies for asyncKernel().
struct Pair {
  const char *name;
  std::string faulty, repaired;
  std::vector<std::string> says;
};
} // namespace

static void expectKind(ErrorKind kind, const std::vector<Pair> &pairs,
                       uint64_t maxSteps = 1 << 28,
                       const std::string &module = "") {
  EXPECT_GE(pairs.size(), 5u);
  for (const Pair &p : pairs)
    for (bool isFaulty : {true, false}) {
      Fixture f;
      std::string text = asyncKernel(isFaulty ? p.faulty : p.repaired);
      text.insert(header().size(), module);
      Status s = f.parse(text);
      ASSERT_TRUE(s.ok()) << p.name << s.message();
      f.passBuffer("source", std::vector<uint32_t>(1024, 1));
      f.passBuffer("result", std::vector<uint32_t>(1024, 2));
      f.options.maxSteps = maxSteps;
      s = f.run({2, 1, 1}, {64, 1, 1});
      EXPECT_EQ(s.getKind(), isFaulty ? kind : ErrorKind::None)
          << p.name << ": " << s.message();
      for (const std::string &word : p.says)
        EXPECT_TRUE(!isFaulty || s.message().find(word) != std::string::npos)
            << p.name << ": no '" << word << "' in " << s.message();
    }
}

TEST(EmulatorMoreChecks, Trap) {
  expectKind(ErrorKind::Trap,
             {{"one thread",
               "setp.eq.u32 %p1, %t, 5; @%p1 trap;",
               "setp.eq.u32 %p1, %t, 64; @%p1 trap;",
               {"thread (5,0,0) of block (0,0,0)", "trap"}},
              {"one block",
               "setp.eq.u32 %p1, %c, 1; @%p1 trap;",
               "setp.eq.u32 %p1, %c, 2; @%p1 trap;",
               {"block (1,0,0)"}},
              {"a branch",
               "setp.lt.u32 %p1, %t, 40; @%p1 bra END; trap;\nEND: mov.u32 "
               "%r1, 0;",
               "setp.lt.u32 %p1, %t, 64; @%p1 bra END; trap;\nEND: mov.u32 "
               "%r1, 0;",
               {"thread (40,0,0)"}},
              {"a later round of a loop",
               "mov.u32 %r1, 0;\nL: setp.eq.u32 %p1, %r1, 7; @%p1 trap; "
               "add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 9; @%p2 bra L;",
               "mov.u32 %r1, 0;\nL: setp.eq.u32 %p1, %r1, 9; @%p1 trap; "
               "add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 9; @%p2 bra L;",
               {"model.mlir:17"}},
              {"a bad value of a buffer",
               "ld.global.u32 %r1, [%x0]; setp.ne.u32 %p1, %r1, 0; @%p1 trap;",
               "ld.global.u32 %r1, [%x0]; setp.ne.u32 %p1, %r1, 1; @%p1 trap;",
               {"thread (0,0,0)"}}});
}

TEST(EmulatorMoreChecks, StepLimit) {
  expectKind(
      ErrorKind::StepLimit,
      {{"a branch to itself",
        "L: bra L;",
        "bra L;\nL: mov.u32 %r1, 0;",
        {"20000 instructions"}},
       {"a step over the end",
        "mov.u32 %r1, 1;\nL: add.u32 %r1, %r1, 2; setp.ne.u32 %p1, %r1, 100; "
        "@%p1 bra L;",
        "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 2; setp.ne.u32 %p1, %r1, 100; "
        "@%p1 bra L;",
        {}},
       {"a flag that nobody sets",
        "L: ld.volatile.global.u32 %r1, [%in]; setp.ne.u32 %p1, %r1, 2; @%p1 "
        "bra L;",
        "L: ld.volatile.global.u32 %r1, [%in]; setp.ne.u32 %p1, %r1, 1; @%p1 "
        "bra L;",
        {}},
       {"one lane only",
        "setp.eq.u32 %p1, %t, 33;\nL: add.u32 %r1, %t, 1; @%p1 bra L;",
        "setp.eq.u32 %p1, %t, 65;\nL: add.u32 %r1, %t, 1; @%p1 bra L;",
        {"warp 1"}},
       {"a lock that is never let go",
        "@%one st.shared.u32 [%s], 0; bar.sync 0; setp.ne.u32 %p2, %lane, 0;\n"
        "@%p2 bra END;\n"
        "L: atom.shared.cas.b32 %r1, [%s], 0, 1; setp.ne.u32 %p1, %r1, 0; "
        "@%p1 bra L;\nEND: mov.u32 %r2, 0;",
        "@%one st.shared.u32 [%s], 0; bar.sync 0; setp.ne.u32 %p2, %lane, 0;\n"
        "@%p2 bra END;\n"
        "L: atom.shared.cas.b32 %r1, [%s], 0, 1; setp.ne.u32 %p1, %r1, 0; "
        "@%p1 bra L; atom.shared.exch.b32 %r1, [%s], 0;\nEND: mov.u32 %r2, 0;",
        {"warp 1"}}},
      20000);
}

TEST(EmulatorMoreChecks, ReadOnly) {
  std::string table = ".const .align 16 .b32 table[8] = {1, 2};\n";
  std::string address = "mov.u64 %x2, table; ";
  expectKind(ErrorKind::ReadOnly,
             {{"a store",
               address + "st.global.u32 [%x2], 3;",
               address + "ld.global.u32 %r1, [%x2];",
               {"'table'", "constant"}},
              {"a generic store",
               "mov.u64 %x2, table; cvta.const.u64 %x2, %x2; st.u32 [%x2], 3;",
               "mov.u64 %x2, table; cvta.const.u64 %x2, %x2; ld.u32 %r1, "
               "[%x2];",
               {"'table'"}},
              {"a vector",
               address + "st.global.v2.u32 [%x2+8], {%t,%t};",
               address + "ld.global.v2.u32 {%r1,%r2}, [%x2+8];",
               {"8 bytes"}},
              {"an atomic",
               address + "atom.global.add.u32 %r1, [%x2], 3;",
               address + "atom.global.add.u32 %r1, [%in], 3;",
               {"'table'"}},
              {"a bulk copy",
               address + "st.shared.u32 [%my], %t; fence.proxy.async; bar.sync "
                         "0; @%one cp.async.bulk.global.shared::cta.bulk_group "
                         "[%x2], [%s], 32; @%one cp.async.bulk.commit_group; "
                         "@%one cp.async.bulk.wait_group 0;",
               "mad.wide.u32 %x2, %c, 64, %out; st.shared.u32 [%my], %t; "
               "fence.proxy.async; bar.sync 0; @%one cp.async.bulk.global."
               "shared::cta.bulk_group [%x2], [%s], 32; @%one "
               "cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0;",
               {"'table'"}},
              {"a parameter",
               "mov.b64 %x2, out; cvta.param.u64 %x2, %x2; st.u32 [%x2], %t;",
               "mov.b64 %x2, out; cvta.param.u64 %x2, %x2; ld.u32 %r1, [%x2];",
               {"constant"}}},
             1 << 28, table);
}

TEST(EmulatorMoreChecks, UseAfterFree) {
  static const char *const uses[] = {
      "ld.global.u32 %r1, [%x0];",
      "st.global.u32 [%x0], %t;",
      "ld.u32 %r1, [%x0];",
      "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%in+16];",
      "atom.global.add.u32 %r1, [%in], 1;",
      "red.global.max.u32 [%in], 1;",
      "cp.async.ca.shared.global [%my], [%x0], 4; cp.async.wait_all;",
  };
  for (const std::string use : uses) {
    Fixture f;
    ASSERT_TRUE(f.parse(asyncKernel(use)).ok());
    uint64_t stale = f.passBuffer("stale", std::vector<uint32_t>(64, 1));
    f.passEmpty("result", 256);
    Status s = f.run({}, {64, 1, 1});
    EXPECT_TRUE(s.ok()) << use << s.message();
    ASSERT_TRUE(f.memory.free(stale).ok());
    s = f.run({}, {64, 1, 1});
    EXPECT_EQ(s.getKind(), ErrorKind::UseAfterFree) << use << s.message();
    EXPECT_NE(s.message().find("'stale'"), std::string::npos) << s.message();
  }
}

TEST(EmulatorMoreChecks, BadFree) {
  Memory memory;
  uint64_t a = 0, b = 0;
  ASSERT_TRUE(memory.allocate(4096, "a", a).ok());
  ASSERT_TRUE(memory.allocate(4096, "b", b).ok());
  auto kindOf = [&](uint64_t address) {
    return memory.free(address).getKind();
  };
  EXPECT_EQ(kindOf(0), ErrorKind::BadFree);
  EXPECT_EQ(kindOf(a + 16), ErrorKind::BadFree);
  EXPECT_EQ(kindOf(a + 4096), ErrorKind::BadFree);
  EXPECT_EQ(kindOf(~uint64_t(0)), ErrorKind::BadFree);
  EXPECT_EQ(kindOf(a - 1), ErrorKind::BadFree);
  EXPECT_EQ(kindOf(a), ErrorKind::None);
  EXPECT_EQ(kindOf(a), ErrorKind::BadFree);
  EXPECT_EQ(kindOf(b), ErrorKind::None);
}
