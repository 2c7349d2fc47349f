//===- Replay.h - Fuzz targets without a fuzzer -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how unit tests run a fuzz target: on the corpus that is
// kept, and on random alterations of it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_FUZZ_REPLAY_H
#define FUSION_TEST_FUZZ_REPLAY_H

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace fusionfuzz {

using Target = std::string (*)(const uint8_t *, size_t);

struct CorpusFile {
  std::string path, bytes;
};

/// A number from the environment: FUSION_FUZZ_SEED and FUSION_FUZZ_COUNT make
/// a test try other alterations, or more.
inline unsigned getNumber(const char *variable, unsigned fallback) {
  const char *text = std::getenv(variable);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10))
              : fallback;
}

/// The files of one folder of the corpus, by name.
inline std::vector<CorpusFile> readCorpus(const std::string &corpus) {
  std::vector<CorpusFile> files;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::filesystem::path(FUSION_FUZZ_CORPUS_DIR) / corpus)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    files.push_back(
        {entry.path().string(), {std::istreambuf_iterator<char>(stream), {}}});
  }
  std::sort(files.begin(), files.end(),
            [](const auto &a, const auto &b) { return a.path < b.path; });
  return files;
}

/// Runs `target` on `bytes`, which the file that FUSION_FUZZ_LAST names has
/// then, if the process does not survive.
inline std::string runTarget(Target target, const std::string &bytes) {
  if (const char *path = std::getenv("FUSION_FUZZ_LAST"))
    std::ofstream(path, std::ios::binary) << bytes;
  return target(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

/// Runs `target` on every file of the corpus, of which there are some.
inline void replay(const std::string &corpus, Target target, size_t atLeast) {
  std::vector<CorpusFile> files = readCorpus(corpus);
  ASSERT_GE(files.size(), atLeast) << "the corpus is missing";
  for (const CorpusFile &file : files) {
    SCOPED_TRACE(file.path);
    EXPECT_EQ(runTarget(target, file.bytes), "");
  }
}

/// Alters `bytes` in one to four places: a byte, a bit, a number of 32 bits, a
/// part that is left out, doubled, or taken from `other`.
inline std::string alter(std::string bytes, const std::string &other,
                         std::mt19937 &random) {
  auto below = [&](size_t n) { return n ? random() % n : 0; };
  for (unsigned i = 0, n = 1 + random() % 4; i < n; ++i) {
    if (bytes.empty())
      bytes = other;
    size_t at = below(bytes.size());
    size_t length = 1 + below(std::min<size_t>(bytes.size() - at, 64));
    switch (random() % 7) {
    case 0:
      bytes[at] = static_cast<char>(random());
      break;
    case 1:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      break;
    case 2: {
      static const uint32_t wild[] = {0,          1,          0x7fffffff,
                                      0x80000000, 0xffffffff, 0x10000};
      uint32_t word = wild[random() % std::size(wild)];
      for (size_t k = 0; k < 4 && at + k < bytes.size(); ++k)
        bytes[at + k] = static_cast<char>(word >> (8 * k));
      break;
    }
    case 3:
      bytes.erase(at, length);
      break;
    case 4:
      bytes.insert(at, bytes.substr(at, length));
      break;
    case 5:
      bytes.resize(at + 1);
      break;
    default:
      bytes.insert(at, other.substr(below(other.size()), length));
    }
  }
  return bytes;
}

/// Runs `target` on `count` alterations of the corpus, the same ones each time
/// unless the environment says otherwise.
inline void replayAltered(const std::string &corpus, Target target,
                          unsigned count) {
  std::vector<CorpusFile> files = readCorpus(corpus);
  ASSERT_FALSE(files.empty()) << "the corpus is missing";
  unsigned seed = getNumber("FUSION_FUZZ_SEED", 1);
  count = getNumber("FUSION_FUZZ_COUNT", count);
  std::mt19937 random(seed);
  for (unsigned i = 0; i < count; ++i) {
    const CorpusFile &file = files[random() % files.size()];
    const CorpusFile &other = files[random() % files.size()];
    std::string bytes = alter(file.bytes, other.bytes, random);
    ASSERT_EQ(runTarget(target, bytes), "")
        << "alteration " << i << " of seed " << seed << ", of " << file.path;
  }
}

} // namespace fusionfuzz

#endif // FUSION_TEST_FUZZ_REPLAY_H
