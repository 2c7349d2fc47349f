//===- HostilePackageTest.cpp - Packages from strangers -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checksum stops accidents, not people. These tests repair the checksum after
// the damage, so that the checks behind it are what refuses, or accepts, and
// nothing crashes. Run them under the sanitizers.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Executable/PackageLayout.h"
#include "SamplePackage.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace fusionpkg;

static void repairChecksum(std::string &bytes) {
  auto *data = reinterpret_cast<uint8_t *>(bytes.data());
  computeChecksum(data, bytes.size(), data + kChecksumOffset);
}

/// Alters bytes of `model` at random places behind the header.
static void mutate(const PackageModel &model) {
  std::string bytes = *writePackage(model);
  std::mt19937 rng(20260101);
  unsigned accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string altered = bytes;
    for (unsigned i = 0, n = 1 + rng() % 4; i < n; ++i) {
      size_t at = kHeaderBytes + rng() % (altered.size() - kHeaderBytes);
      if (rng() % 2) {
        altered[at] = static_cast<char>(rng());
      } else {
        uint32_t word = rng() % 3 ? rng() % 256 : rng();
        std::memcpy(&altered[at], &word,
                    std::min(sizeof(word), altered.size() - at));
      }
    }
    repairChecksum(altered);
    Result<PackageModel> read = readPackage(altered);
    if (!read) {
      ++refused;
      EXPECT_EQ(read.getError().getCode(), ErrorCode::PackageInvalid);
      continue;
    }
    ++accepted;
    EXPECT_FALSE(verifyPackage(*read));
    EXPECT_TRUE(writePackage(*read));
  }
  // Both outcomes must occur, else the test reaches nothing.
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(refused, 100u);
}

TEST(HostilePackageTest, MutationsWithAValidChecksumNeverCrash) {
  mutate(makeSamplePackage());
}

TEST(HostilePackageTest, MutationsOfTensorMapsNeverCrash) {
  mutate(makeTensorMapPackage());
}

TEST(HostilePackageTest, WildSectionSizesAreRefused) {
  std::string bytes = *writePackage(makeSamplePackage());
  // metaBytes, constantsOffset, constantsBytes
  for (size_t field : {24u, 32u, 40u})
    for (uint64_t value :
         {uint64_t(0), uint64_t(1), uint64_t(63), uint64_t(bytes.size()),
          uint64_t(bytes.size() + 64), uint64_t(1) << 31, uint64_t(1) << 32,
          UINT64_MAX - 63, UINT64_MAX}) {
      std::string altered = bytes;
      std::memcpy(&altered[field], &value, sizeof(value));
      repairChecksum(altered);
      EXPECT_FALSE(readPackage(altered)) << field << " " << value;
    }
}

TEST(HostilePackageTest, OnePartNamedManyTimesIsRefused) {
  // Two steps of the sample share a layout; pointing every element of the
  // steps vector at the largest one multiplies what is copied.
  PackageModel model = makeSamplePackage();
  Step big = model.entries[0].steps[1];
  big.variants.resize(64, big.variants[0]);
  model.entries[0].steps.assign(1, big);
  Step small;
  small.kind = StepKind::Fill;
  small.dst = 4;
  for (int i = 0; i < 1000; ++i)
    model.entries[0].steps.push_back(small);
  std::string bytes = *writePackage(model);

  // Find the vector: its length, 1001, followed by offsets that all lead to
  // tables behind it.
  uint32_t count = 1001;
  size_t vector = bytes.find(
      std::string(reinterpret_cast<const char *>(&count), sizeof(count)),
      kHeaderBytes);
  ASSERT_NE(vector, std::string::npos);
  uint32_t first = 0;
  std::memcpy(&first, &bytes[vector + 4], sizeof(first));
  size_t table = vector + 4 + first;
  for (uint32_t i = 0; i < count; ++i) {
    size_t slot = vector + 4 + 4 * i;
    auto offset = static_cast<uint32_t>(table - slot);
    std::memcpy(&bytes[slot], &offset, sizeof(offset));
  }
  repairChecksum(bytes);
  Result<PackageModel> read = readPackage(bytes);
  ASSERT_FALSE(read);
  EXPECT_NE(read.getError().getCause().find("many times"), std::string::npos)
      << read.getError().str();
}
