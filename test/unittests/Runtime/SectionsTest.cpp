//===- SectionsTest.cpp - Tests of launches in sections -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SampleLaunch.h"

#include <gtest/gtest.h>

using namespace fusionrt;
using namespace fusionpkg;

namespace {

/// The sample package on a fake device: a fill and two launches, which write
/// the first output through a temporary, and a copy, which is the second one's.
class SectionsTest : public SampleLaunch {
protected:
  /// Outputs are allocated when a section begins.
  void load(const PackageModel &model = makeSamplePackage()) {
    SampleLaunch::load(model);
    for (FusionRtTensor &output : outputs)
      output.address = 0;
  }

  void divide(uint64_t leastGain = 0) {
    FusionRtSectionOptions options = FUSION_RT_INIT(FusionRtSectionOptions);
    options.isReleased = isReleased;
    options.leastGain = leastGain;
    FusionRtSections *made = nullptr;
    ASSERT_EQ(fusionRtSectionsCreate(entry, inputs, 4, &options, &made), 0)
        << fusionRtGetLastError();
    sections.reset(made);
    info = FUSION_RT_INIT(FusionRtSectionsInfo);
    ASSERT_EQ(fusionRtSectionsGetInfo(made, &info), 0);
    // The temporary is filled, and so has to be memory that there is.
    if (block == 0)
      ASSERT_EQ(fusionRtMalloc(device.get(), 4096, "block", &block), 0);
    args.sections = made;
    args.blocks = blocks;
    args.userData = this;
    args.beginSection = [](void *data, uint32_t section) {
      return static_cast<SectionsTest *>(data)->begin(section);
    };
    log.lines.clear();
  }

  FusionRtUse use(FusionRtUsed used, uint32_t index) const {
    FusionRtUse result = {};
    EXPECT_EQ(fusionRtSectionsGetUse(sections.get(), used, index, &result), 0);
    return result;
  }

  /// Gives the memory that a section is the first to need, and takes away what
  /// none needs any more.
  int32_t begin(uint32_t section) {
    log.lines.push_back("section " + std::to_string(section));
    for (uint32_t i = 0; i < 2; ++i)
      if (use(FUSION_RT_USED_OUTPUT, i).first == section)
        outputs[i].address = nextOutput += 0x100000;
    if (use(FUSION_RT_USED_BLOCK, 0).first == section)
      blocks[0] = block;
    for (uint32_t i = 0; i < 4; ++i)
      if (use(FUSION_RT_USED_INPUT, i).last + 1 == section)
        inputs[i].address = 0;
    return section == failAt ? 7 : 0;
  }

  void expectError(ErrorCode code, const std::string &text) {
    Error error = launchEntry(*entry, args);
    EXPECT_EQ(error.getCode(), code) << error.str();
    EXPECT_NE(error.getCause().find(text), std::string::npos) << error.str();
  }

  const uint8_t isReleased[4] = {1, 1, 0, 0};
  struct Destroy {
    void operator()(FusionRtSections *one) { fusionRtSectionsDestroy(one); }
  };
  std::unique_ptr<FusionRtSections, Destroy> sections;
  FusionRtSectionsInfo info = {};
  FusionRtAddress block = 0, blocks[2] = {}, nextOutput = 0x300000;
  uint32_t failAt = UINT32_MAX;
};

} // namespace

TEST_F(SectionsTest, MemoryComesBeforeTheSectionAndGoesAfterIt) {
  load();
  divide();
  // x, w and the temporary together are the most; y and copy come afterwards.
  ASSERT_EQ(info.numSections, 2u);
  ASSERT_EQ(info.numBlocks, 1u);
  EXPECT_EQ(info.bytes, 4096u + 32768u + 4096u);
  EXPECT_EQ(info.wholeBytes, 4096u + 32768u + 4096u + 2 * 4096u);
  EXPECT_EQ(use(FUSION_RT_USED_INPUT, 1).last, 0u);
  EXPECT_EQ(use(FUSION_RT_USED_OUTPUT, 0).first, 1u);
  EXPECT_GT(use(FUSION_RT_USED_INPUT, 2).first,
            use(FUSION_RT_USED_INPUT, 2).last); // by value
  ASSERT_FALSE(launchEntry(*entry, args));
  ASSERT_EQ(log.lines.size(), 6u);
  EXPECT_EQ(log.lines[0], "section 0");
  EXPECT_EQ(log.lines[1], "fill 4 0 4096");
  EXPECT_EQ(log.lines[2].rfind("launch matmul", 0), 0u);
  EXPECT_EQ(log.lines[3], "section 1");
  EXPECT_EQ(log.lines[4].rfind("launch bias_relu_v4", 0), 0u);
  auto number = [](uint64_t value) { return std::to_string(value); };
  EXPECT_NE(log.lines[4].find(" " + number(block) + " "), std::string::npos);
  EXPECT_NE(log.lines[4].find(" " + number(0x400000) + " "), std::string::npos);
  EXPECT_EQ(log.lines[5],
            "copy " + number(0x500000) + " <- " + number(0x300000) + " 4096");
}

TEST_F(SectionsTest, OneSectionWhereLittleIsGained) {
  load();
  divide(2 * 4096 + 1);
  EXPECT_EQ(info.numSections, 1u);
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(log.lines[0], "section 0");
}

TEST_F(SectionsTest, TheCallerCanEndALaunch) {
  load();
  divide();
  failAt = 1;
  expectError(ErrorCode::OutOfMemory, "before section 1");
  EXPECT_EQ(log.lines.back(), "section 1");
}

TEST_F(SectionsTest, OutputsMustNotMeetWhatIsStillThere) {
  load();
  divide();
  // The second output comes where the input that it is a copy of still is.
  nextOutput = 0x100000;
  expectError(ErrorCode::Overlap, "shares memory with input 3");
}

TEST_F(SectionsTest, BlocksAreCheckedBeforeTheyAreUsed) {
  load();
  divide();
  block += 16;
  expectError(ErrorCode::Misaligned, "block 0");
  inputs[0].address = 0x100000;
  inputs[1].address = 0x200000;
  block = 0;
  expectError(ErrorCode::NullPointer, "block 0");
  for (const std::string &line : log.lines)
    EXPECT_EQ(line, "section 0");
}

TEST_F(SectionsTest, MemoryThatWasGivenBackMayComeAgain) {
  load();
  divide();
  // y is where x was, which no step of its section reads.
  nextOutput = 0;
  inputs[3].address = 0x300000;
  EXPECT_FALSE(launchEntry(*entry, args));
}

TEST_F(SectionsTest, SectionsAreForOneEntryAndItsSizes) {
  load();
  divide();
  xDims[0] = 16;
  expectError(ErrorCode::BadArgument, "of other sizes");
  xDims[0] = 8;
  args.beginSection = nullptr;
  expectError(ErrorCode::BadArgument, "no callback");
  FusionRtUse unused;
  EXPECT_NE(fusionRtSectionsGetUse(sections.get(), 3, 0, &unused), 0);
  EXPECT_NE(
      fusionRtSectionsGetUse(sections.get(), FUSION_RT_USED_BLOCK, 1, &unused),
      0);
}

TEST_F(SectionsTest, SignalsOfACaptureAreABlockOfTheirOwn) {
  PackageModel model = makeSamplePackage();
  Entry &changed = model.entries[0];
  changed.steps[1].args.push_back(Arg::buffer(changed.buffers.size()));
  changed.buffers.push_back({BufferKind::Signals, 0, kNoExpr, "signals"});
  load(model);
  divide();
  ASSERT_EQ(info.numBlocks, 2u);
  FusionRtUse signals = use(FUSION_RT_USED_BLOCK, 1);
  EXPECT_EQ(signals.bytes, static_cast<uint64_t>(kSignalBytes));
  EXPECT_EQ(signals.last + 1, info.numSections);
  EXPECT_EQ(info.wholeBytes - info.bytes, 2 * 4096u);
  ASSERT_EQ(fusionRtMalloc(device.get(), kSignalBytes, "mine", &blocks[1]), 0);
  log.capture = 7;
  log.lines.clear();
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(log.lines[1], "fill 8 0 " + std::to_string(kSignalBytes));
  EXPECT_NE(log.lines[3].find(" " + std::to_string(blocks[1])),
            std::string::npos);
  // Outside of a capture the runtime has some.
  log.capture = 0;
  inputs[0].address = 0x100000;
  inputs[1].address = 0x200000;
  nextOutput = 0x300000;
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(std::count(log.lines.begin(), log.lines.end(),
                       "fill 8 0 " + std::to_string(kSignalBytes)),
            1);
}
