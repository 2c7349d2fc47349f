//===- WorkspacePoolTest.cpp - Tests of the workspace pool ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDevice.h"

#include <gtest/gtest.h>
#include <thread>

using namespace fusionrt;

static Stream makeStream(uintptr_t id) { return reinterpret_cast<Stream>(id); }

TEST(WorkspacePoolTest, AStreamGetsItsBlockAgainAndOthersGetTheirOwn) {
  FakeLog log;
  FakeDevice device(log);
  {
    WorkspacePool pool(device);
    Address first = pool.acquire(1000, makeStream(1))->getAddress();
    EXPECT_EQ(pool.acquire(500, makeStream(1))->getAddress(), first);
    EXPECT_NE(pool.acquire(500, makeStream(2))->getAddress(), first);
    EXPECT_EQ(log.live.size(), 2u);
  }
  EXPECT_TRUE(log.live.empty());
}

TEST(WorkspacePoolTest, ABlockThatIsHeldIsNotSharedEvenOnItsStream) {
  FakeLog log;
  FakeDevice device(log);
  WorkspacePool pool(device);
  auto held = std::move(*pool.acquire(100, makeStream(1)));
  EXPECT_NE(pool.acquire(100, makeStream(1))->getAddress(), held.getAddress());
}

TEST(WorkspacePoolTest, GrowthReplacesTheBlock) {
  FakeLog log;
  FakeDevice device(log);
  WorkspacePool pool(device);
  (void)pool.acquire(100, makeStream(1))->getAddress();
  (void)pool.acquire(100000, makeStream(1))->getAddress();
  EXPECT_EQ(log.live.size(), 1u);
}

TEST(WorkspacePoolTest, CapturesNeedAReservedBlockAndKeepIt) {
  FakeLog log;
  FakeDevice device(log);
  WorkspacePool pool(device);
  Address used = pool.acquire(4096, makeStream(1))->getAddress();
  log.capture = 7;
  auto refused = pool.acquire(4096, makeStream(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.getError().getCode(), ErrorCode::CaptureWithoutWorkspace);

  log.capture = 0;
  ASSERT_FALSE(pool.reserve(4096));
  ASSERT_FALSE(pool.reserve(4000)); // is there already
  EXPECT_EQ(log.live.size(), 2u);
  log.capture = 7;
  Address captured = pool.acquire(4096, makeStream(1))->getAddress();
  EXPECT_NE(captured, used);
  // The same capture may go on with it; nothing else ever gets it.
  EXPECT_EQ(pool.acquire(4096, makeStream(1))->getAddress(), captured);
  log.capture = 8;
  EXPECT_FALSE(pool.acquire(4096, makeStream(1)));
  log.capture = 0;
  EXPECT_EQ(pool.acquire(4096, makeStream(1))->getAddress(), used);
  pool.trim();
  EXPECT_EQ(log.live.count(captured), 1u);
  EXPECT_EQ(log.live.count(used), 0u);
}

TEST(WorkspacePoolTest, ThreadsNeverHoldTheSameBlock) {
  FakeLog log;
  FakeDevice device(log);
  WorkspacePool pool(device);
  constexpr int kThreads = 4;
  // Enough blocks beforehand, since the fake device is not thread-safe.
  {
    std::vector<WorkspacePool::Lease> leases;
    for (int i = 0; i < kThreads; ++i)
      leases.push_back(std::move(*pool.acquire(64, makeStream(1))));
  }
  std::map<Address, std::atomic<int>> users;
  for (const auto &block : log.live)
    users[block.first] = 0;
  std::atomic<int> clashes{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        auto lease = pool.acquire(64, makeStream(1));
        std::atomic<int> &count = users.at(lease->getAddress());
        clashes += count.fetch_add(1) != 0;
        count.fetch_sub(1);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(clashes.load(), 0);
}

TEST(WorkspacePoolTest, AZeroedBlockIsWrittenWhenItIsAllocated) {
  FakeLog log;
  FakeDevice device(log);
  WorkspacePool pool(device, /*zeroed=*/true);
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(pool.acquire(512, makeStream(1)));
  std::vector<std::string> expected = {"allocate 512 workspace", "copyIn 512"};
  EXPECT_EQ(log.lines, expected);
  // One that cannot be written is given back.
  log.failAt = log.calls + 1;
  EXPECT_FALSE(pool.acquire(512, makeStream(2)));
  EXPECT_EQ(log.live.size(), 1u);
}
