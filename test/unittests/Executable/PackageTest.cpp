//===- PackageTest.cpp - Tests of the package format ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SamplePackage.h"

#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fusionpkg;

static std::string writeSample() {
  Result<std::string> bytes = writePackage(makeSamplePackage());
  EXPECT_TRUE(bytes) << bytes.getError().str();
  return bytes ? *bytes : std::string();
}

TEST(PackageTest, RoundTripKeepsEverything) {
  std::string bytes = writeSample();
  Result<PackageModel> read = readPackage(bytes);
  ASSERT_TRUE(read) << read.getError().str();
  EXPECT_EQ(*writePackage(*read), bytes);

  PackageModel model = makeSamplePackage();
  EXPECT_EQ(read->target, "sm_90a");
  EXPECT_EQ(read->modules[0].ptx, model.modules[0].ptx);
  EXPECT_EQ(read->modules[0].minDriverVersion, 12000u);
  EXPECT_EQ(read->kernels[1].name, "bias_relu");
  EXPECT_EQ(read->kernels[1].dynamicSharedBytes, 4096u);
  EXPECT_EQ(read->kernels[0].predicted.registers, 64);
  EXPECT_EQ(read->kernels[0].measured.registers, -1);
  EXPECT_EQ(read->kernels[0].source, "model.mlir:7");
  EXPECT_EQ(read->constants[0].name, "b");
  EXPECT_EQ(read->constantData, model.constantData);
  EXPECT_EQ(read->ledgerJson, "{\"kernels\":2}");
  const Entry &entry = read->entries[0];
  EXPECT_EQ(entry.inputs[1].dtype, DType::BF16);
  EXPECT_TRUE(entry.inputs[2].byValue);
  EXPECT_EQ(entry.steps[2].args[4].number, 0.5);
  EXPECT_EQ(entry.steps[2].variants.size(), 2u);
  EXPECT_EQ(entry.requirements[0].message, "m is at most 2^20");
  EXPECT_EQ(entry.summary.kernelsBefore, 3u);
}

TEST(PackageTest, TheSameModelGivesTheSameBytes) {
  EXPECT_EQ(writeSample(), writeSample());
}

TEST(PackageTest, EveryTruncationIsRefused) {
  std::string bytes = writeSample();
  for (size_t size = 0; size < bytes.size(); ++size) {
    // An exact allocation, so that the sanitizers see one byte too many.
    std::vector<char> cut(bytes.begin(), bytes.begin() + size);
    EXPECT_FALSE(readPackage(cut.data(), cut.size())) << size;
  }
  EXPECT_FALSE(readPackage(bytes + '\0'));
}

TEST(PackageTest, EverySingleAlteredByteIsRefused) {
  std::string bytes = writeSample();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (unsigned flip : {0x01u, 0x80u, 0xffu}) {
      std::string altered = bytes;
      altered[i] = static_cast<char>(altered[i] ^ flip);
      EXPECT_FALSE(readPackage(altered)) << "byte " << i;
    }
}

TEST(PackageTest, ErrorsNameTheKindOfDamage) {
  std::string bytes = writeSample();
  auto codeOf = [](const std::string &data) {
    return readPackage(data).getError().getCode();
  };
  EXPECT_EQ(codeOf(""), ErrorCode::PackageNotAPackage);
  EXPECT_EQ(codeOf("module {}"), ErrorCode::PackageNotAPackage);
  EXPECT_EQ(codeOf(bytes.substr(0, 20)), ErrorCode::PackageTruncated);
  EXPECT_EQ(codeOf(bytes.substr(0, 200)), ErrorCode::PackageTruncated);
  EXPECT_EQ(codeOf(bytes + "x"), ErrorCode::PackageCorrupt);
  std::string altered = bytes;
  altered[100] ^= 1;
  EXPECT_EQ(codeOf(altered), ErrorCode::PackageCorrupt);
  altered = bytes;
  altered[8] = 9;
  EXPECT_EQ(codeOf(altered), ErrorCode::PackageVersion);
  std::string text = readPackage(altered).getError().str();
  EXPECT_NE(text.find("FUS-5003"), std::string::npos) << text;
  EXPECT_NE(text.find("compile the program again"), std::string::npos) << text;
}

TEST(PackageTest, UnalignedBytesAreRead) {
  std::string bytes = "x" + writeSample();
  EXPECT_TRUE(readPackage(bytes.data() + 1, bytes.size() - 1));
}

/// Breaks one rule of the sample and expects that rule's sentence.
static void expectInvalid(const std::function<void(PackageModel &)> &breakRule,
                          const std::string &sentence) {
  PackageModel model = makeSamplePackage();
  breakRule(model);
  Error error = verifyPackage(model);
  EXPECT_EQ(error.getCode(), ErrorCode::PackageInvalid) << sentence;
  EXPECT_NE(error.getCause().find(sentence), std::string::npos)
      << "got: " << error.getCause();
  EXPECT_FALSE(writePackage(model));
}

TEST(PackageTest, BrokenRulesAreNamed) {
  using M = PackageModel;
  expectInvalid([](M &m) { m.kernels[0].module = 1; }, "module id");
  expectInvalid([](M &m) { m.kernels[0].blockX = 1025; }, "1 to 1024");
  expectInvalid([](M &m) { m.kernels[0].blockX = 0; }, "1 to 1024");
  expectInvalid([](M &m) { m.kernels[0].name = ""; }, "name is empty");
  expectInvalid([](M &m) { m.kernels[0].name = std::string("a\0b", 3); },
                "zero byte");
  expectInvalid([](M &m) { m.kernels[0].name.assign(5000, 'a'); }, "too long");
  expectInvalid([](M &m) { m.target = ""; }, "name is empty");
  expectInvalid([](M &m) { m.modules[0].ptx = ""; }, "no PTX");
  expectInvalid([](M &m) { m.constants[0].offset = 8; }, "multiple of 16");
  expectInvalid([](M &m) { m.constants[0].size = 33; }, "outside the blob");
  expectInvalid([](M &m) { m.constants[0].offset = ~15ull; },
                "outside the blob");
  expectInvalid([](M &m) { m.entries.push_back(m.entries[0]); },
                "two entries have one name");
}

TEST(PackageTest, BrokenEntriesAreNamed) {
  auto inEntry = [](const std::function<void(Entry &)> &breakRule,
                    const std::string &sentence) {
    expectInvalid([&](PackageModel &m) { breakRule(m.entries[0]); }, sentence);
  };
  inEntry([](Entry &e) { e.symbols[0].input = 9; }, "input is out of range");
  inEntry([](Entry &e) { e.symbols[0].dim = 2; }, "dimension is out of range");
  inEntry([](Entry &e) { e.symbols[0].dim = 1; }, "is not the symbol");
  inEntry([](Entry &e) { e.symbols[0] = {"m", 2, Symbol::kFromScalar}; },
          "by-value integer");
  inEntry([](Entry &e) { e.inputs[0].dims[1] = 9999; }, "id is out of range");
  inEntry([](Entry &e) { e.inputs[0].dims[1] = kNoExpr; }, "is missing");
  inEntry([](Entry &e) { e.inputs[0].dims.assign(17, 0); },
          "more than 16 dimensions");
  inEntry([](Entry &e) { e.inputs[0].dtype = static_cast<DType>(12); },
          "unknown element type");
  inEntry([](Entry &e) { e.inputs[0].byValue = true; }, "not a scalar");
  inEntry([](Entry &e) { e.buffers[0].index = 1; }, "exactly its one buffer");
  inEntry([](Entry &e) { e.buffers[5].index = 0; }, "exactly its one buffer");
  inEntry([](Entry &e) { e.buffers[3].index = 1; }, "constant is out of range");
  inEntry([](Entry &e) { e.buffers[6].bytes = kNoExpr; }, "is missing");
  inEntry([](Entry &e) { e.buffers[0].bytes = 0; }, "states a size");
  inEntry([](Entry &e) { e.steps[0].dst = 0; }, "not writable");
  inEntry([](Entry &e) { e.steps[0].dst = 7; }, "out of range");
  inEntry([](Entry &e) { e.steps[0].fillWidth = 3; }, "1, 2, 4 or 8");
  inEntry([](Entry &e) { e.steps[3].src = 7; }, "source is out of range");
  inEntry([](Entry &e) { e.steps[1].variants.clear(); }, "no variant");
  inEntry([](Entry &e) { e.steps[1].variants[0].kernel = 3; },
          "kernel is out of range");
  inEntry([](Entry &e) { e.steps[1].variants[0].kernel = 1; },
          "different parameters");
  inEntry([](Entry &e) { e.steps[1].args[0].index = 7; },
          "buffer is out of range");
  inEntry([](Entry &e) { e.steps[1].args[3].expr = kNoExpr; }, "is missing");
  inEntry([](Entry &e) { e.steps[2].args[6].index = 0; }, "no by-value input");
  inEntry([](Entry &e) { e.steps[1].args.assign(5000, Arg::buffer(0)); },
          "32764 bytes");
  inEntry([](Entry &e) { e.steps[1].kind = static_cast<StepKind>(3); },
          "unknown kind");
  inEntry([](Entry &e) { e.requirements[0].condition = 12345; },
          "id is out of range");
  inEntry([](Entry &e) { e.summary.flops = 12345; }, "id is out of range");
}

/// The sample with an output that is the memory of its input of the same shape.
static PackageModel makeOverwritingPackage() {
  PackageModel model = makeSamplePackage();
  Entry &entry = model.entries[0];
  entry.outputs[1].overwrites = 3;
  // The copy of the input into the output goes, and with it the buffer.
  entry.steps.pop_back();
  entry.buffers.erase(entry.buffers.begin() + 5);
  for (Step &step : entry.steps) {
    step.dst -= step.dst > 5;
    for (Arg &arg : step.args)
      arg.index -= arg.kind == ArgKind::Buffer && arg.index > 5;
  }
  return model;
}

TEST(PackageTest, OutputsThatOverwriteInputsSurvive) {
  PackageModel model = makeOverwritingPackage();
  Result<std::string> bytes = writePackage(model);
  ASSERT_TRUE(bytes) << bytes.getError().str();
  // The version tells readers that do not know such outputs.
  EXPECT_EQ((*bytes)[8], 4);
  Result<PackageModel> read = readPackage(bytes->data(), bytes->size());
  ASSERT_TRUE(read) << read.getError().str();
  EXPECT_EQ(read->entries[0].outputs[0].overwrites, std::nullopt);
  EXPECT_EQ(read->entries[0].outputs[1].overwrites, 3u);
  EXPECT_FALSE(isOverwritten(read->entries[0], 0));
  EXPECT_TRUE(isOverwritten(read->entries[0], 2));
}

TEST(PackageTest, BrokenOverwritingIsNamed) {
  auto broken = [](const std::function<void(Entry &)> &breakRule,
                   const std::string &sentence) {
    PackageModel model = makeOverwritingPackage();
    breakRule(model.entries[0]);
    Error error = verifyPackage(model);
    EXPECT_EQ(error.getCode(), ErrorCode::PackageInvalid) << sentence;
    EXPECT_NE(error.getCause().find(sentence), std::string::npos)
        << "got: " << error.getCause();
  };
  broken([](Entry &e) { e.outputs[1].overwrites = 4; }, "out of range");
  broken([](Entry &e) { e.outputs[1].overwrites = 2; }, "by-value input");
  broken([](Entry &e) { e.outputs[1].overwrites = 1; },
         "another type or shape");
  broken([](Entry &e) { e.outputs[1].overwrites.reset(); },
         "exactly its one buffer");
  broken([](Entry &e) { e.outputs[0].overwrites = 3; }, "overwrite one input");
  broken([](Entry &e) { e.inputs[3].overwrites = 0; }, "an input overwrites");
  broken([](Entry &e) { e.steps[0].dst = 0; }, "not writable");
  PackageModel model = makeOverwritingPackage();
  model.entries[0].steps[0].dst = 2;
  EXPECT_FALSE(verifyPackage(model));
}

TEST(PackageTest, MalformedExpressionsAreRefused) {
  auto withNode = [](ExprNode node, const std::string &sentence) {
    expectInvalid(
        [&](PackageModel &m) {
          std::vector<ExprNode> nodes = m.entries[0].exprs.getNodes();
          nodes.push_back(node);
          m.entries[0].exprs.setNodes(nodes);
        },
        sentence);
  };
  withNode({ExprOp::Symbol, 0, 0, 1}, "symbol that is out of range");
  withNode({ExprOp::Symbol, 0, 0, -1}, "symbol that is out of range");
  withNode({static_cast<ExprOp>(16), 0, 0, 0}, "unknown operation");
  withNode({ExprOp::Add, 0, 5000, 0}, "not before it");
  auto self = static_cast<ExprId>(makeSamplePackage().entries[0].exprs.size());
  withNode({ExprOp::Add, 0, self, 0}, "not before it");
}

TEST(PackageTest, ConstantsAreAlignedAndSharedWhenEqual) {
  PackageModel model;
  EXPECT_EQ(model.addConstant("a", "abc", 3), 0u);
  EXPECT_EQ(model.addConstant("b", "defg", 4), 1u);
  EXPECT_EQ(model.addConstant("c", "abc", 3), 0u);
  EXPECT_EQ(model.constants[1].offset, 16u);
  EXPECT_EQ(model.constantData.size(), 20u);
}

TEST(PackageTest, StorageBytes) {
  EXPECT_EQ(getStorageBytes(DType::I4, 5), 3);
  EXPECT_EQ(getStorageBytes(DType::I1, 5), 5);
  EXPECT_EQ(getStorageBytes(DType::BF16, 5), 10);
  EXPECT_EQ(getStorageBytes(DType::F64, INT64_MAX / 4), std::nullopt);
  ExprPool pool;
  ExprId id =
      buildStorageBytes(pool, DType::I4, {pool.constant(3), pool.constant(3)});
  EXPECT_EQ(pool.getConstant(id), 5);
}

TEST(ErrorTest, TheTableIsCompleteAndInOrder) {
  const std::vector<ErrorInfo> &table = getErrorTable();
  ASSERT_FALSE(table.empty());
  for (size_t i = 0; i < table.size(); ++i) {
    std::string meaning = table[i].meaning, remedy = table[i].remedy;
    EXPECT_FALSE(meaning.empty() || remedy.empty()) << table[i].name;
    EXPECT_NE(meaning.back(), '.') << table[i].name;
    EXPECT_NE(remedy.back(), '.') << table[i].name;
    if (i > 0) {
      EXPECT_LT(static_cast<int>(table[i - 1].code),
                static_cast<int>(table[i].code));
    }
  }
  EXPECT_EQ(Error(ErrorCode::NoDriver, "why").str(),
            "FUS-6101: why; install the NVIDIA driver, or use the device "
            "'emulator'");
  EXPECT_EQ(Error().str(), "");
}

static std::vector<std::string> watched;

TEST(PackageTest, TemporaryFilesAreAnnounced) {
  char folder[] = "/tmp/fusion-package-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  std::string path = std::string(folder) + "/a.fpk";
  setTemporaryFileWatcher([](const char *temporary, bool exists) {
    watched.push_back((exists ? "+" : "-") + std::string(temporary));
    // Announced before it is there, and gone when that is said.
    EXPECT_NE(::access(temporary, F_OK), 0);
  });
  EXPECT_FALSE(writeFileAtomically(path, "text"));
  ASSERT_EQ(watched.size(), 2u);
  EXPECT_EQ(watched[0].substr(1), watched[1].substr(1));
  EXPECT_EQ(watched[0].find("+" + path), 0u);
  EXPECT_EQ(watched[1][0], '-');
  watched.clear();
  EXPECT_TRUE(bool(writeFileAtomically(std::string(folder) + "/no/a", "x")));
  EXPECT_EQ(watched.size(), 2u);
  setTemporaryFileWatcher(nullptr);
  EXPECT_EQ(::unlink(path.c_str()), 0);
  EXPECT_EQ(::rmdir(folder), 0);
}

TEST(PackageTest, FilesAreKnownUnderEveryName) {
  char folder[] = "/tmp/fusion-package-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  std::string path = std::string(folder) + "/a", link = path + "-link";
  std::string other = path + "-other";
  EXPECT_FALSE(isSameFile(path, path)); // not there
  EXPECT_FALSE(writeFileAtomically(path, "text"));
  EXPECT_FALSE(writeFileAtomically(other, "text"));
  ASSERT_EQ(::symlink("a", link.c_str()), 0);
  EXPECT_TRUE(isSameFile(path, link));
  EXPECT_TRUE(isSameFile(std::string(folder) + "/./a", path));
  EXPECT_FALSE(isSameFile(path, other));
  EXPECT_FALSE(isSameFile("/dev/null", "/dev/null"));
  for (const std::string &name : {path, link, other})
    EXPECT_EQ(::unlink(name.c_str()), 0);
  EXPECT_EQ(::rmdir(folder), 0);
}

TEST(PackageTest, FilesAreReplacedWhole) {
  char folder[] = "/tmp/fusion-package-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  std::string path = std::string(folder) + "/a.fpk";
  EXPECT_FALSE(writeFileAtomically(path, "first"));
  EXPECT_FALSE(writeFileAtomically(path, "second"));
  EXPECT_EQ(*readFile(path), "second");
  EXPECT_EQ(readFile(path, 3).getError().getCode(), ErrorCode::PackageTooLarge);
  EXPECT_EQ(readFile(path + "x").getError().getCode(),
            ErrorCode::PackageUnreadable);
  Error error = writeFileAtomically(std::string(folder) + "/no/a.fpk", "x");
  EXPECT_EQ(error.getCode(), ErrorCode::PackageWrite);
  EXPECT_NE(error.str().find("No such file"), std::string::npos);
  // Nothing but the file itself is left, so the folder goes in two steps.
  EXPECT_EQ(::unlink(path.c_str()), 0);
  EXPECT_EQ(::rmdir(folder), 0);
}
