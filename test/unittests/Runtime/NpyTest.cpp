//===- NpyTest.cpp - Tests of .npy files ----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Npy.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

using namespace fusionrt;
using fusionpkg::ErrorCode;

/// A file with this header and these elements.
static std::string makeNpy(std::string header, const std::string &data,
                           int version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(header.size() >> (8 * i));
  return bytes + header + data;
}

static std::string makeHeader(const std::string &descr,
                              const std::string &shape,
                              bool isFortran = false) {
  return "{'descr': '" + descr +
         "', 'fortran_order': " + (isFortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

static ErrorCode codeOf(const std::string &bytes,
                        std::optional<DType> expected = std::nullopt) {
  return parseNpy(bytes, expected).getError().getCode();
}

TEST(NpyTest, EveryTypeSurvivesARoundTrip) {
  for (uint8_t type = 0; type <= fusionpkg::kLastDType; ++type)
    for (std::vector<int64_t> dims :
         std::vector<std::vector<int64_t>>{{}, {5}, {2, 3, 5}, {0, 4}, {1, 1}})
      for (bool bitsAsUnsigned : {false, true}) {
        auto dtype = static_cast<DType>(type);
        auto tensor = *HostTensor::create(dtype, dims);
        for (int64_t i = 0; i < tensor.getNumElements(); ++i)
          tensor.setDouble(i, double(i % 15) - 7);
        std::string bytes = formatNpy(tensor, {bitsAsUnsigned});
        auto read = parseNpy(bytes, dtype);
        ASSERT_TRUE(read) << read.getError().str();
        EXPECT_EQ(read->getDims(), dims);
        EXPECT_EQ(read->getDType(), dtype);
        ASSERT_EQ(read->getNumBytes(), tensor.getNumBytes());
        if (tensor.getNumBytes()) {
          EXPECT_EQ(
              std::memcmp(read->data(), tensor.data(), tensor.getNumBytes()),
              0);
        }
      }
}

TEST(NpyTest, TheHeaderIsAlignedAsNumPyWantsIt) {
  auto tensor = *HostTensor::create(DType::F32, {3, 4});
  std::string bytes = formatNpy(tensor);
  EXPECT_EQ(bytes.size(), 64u + 64u + 48u);
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes.substr(10, 59),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
}

TEST(NpyTest, VersionsAndSpacing) {
  std::string data(8, '\0');
  for (int version : {1, 2, 3})
    EXPECT_TRUE(parseNpy(makeNpy(makeHeader("<f4", "(2,)"), data, version)));
  EXPECT_TRUE(parseNpy(makeNpy(
      "{ \"shape\":(2L ,),'fortran_order':False , 'descr':'=f4'}", data)));
  EXPECT_EQ(codeOf(makeNpy(makeHeader("<f4", "(2,)"), data, 4)),
            ErrorCode::NpyFormat);
}

TEST(NpyTest, FortranOrderBecomesRowMajor) {
  std::string data;
  for (char c = 0; c < 24; ++c)
    data += c;
  auto read = parseNpy(makeNpy(makeHeader("|i1", "(2, 3, 4)", true), data));
  ASSERT_TRUE(read);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t k = 0; k < 4; ++k)
        EXPECT_EQ(read->getInteger((i * 3 + j) * 4 + k), i + 2 * j + 6 * k);
}

TEST(NpyTest, TypesWithoutANameNeedAnExpectation) {
  std::string two = makeNpy(makeHeader("|V2", "(1,)"), std::string("\x80?", 2));
  EXPECT_EQ(parseNpy(two)->getDType(), DType::BF16);
  EXPECT_EQ(parseNpy(two)->getDouble(0), 1.0);
  std::string bits =
      makeNpy(makeHeader("<u2", "(1,)"), std::string("\x80?", 2));
  EXPECT_EQ(parseNpy(bits, DType::BF16)->getDouble(0), 1.0);
  EXPECT_EQ(parseNpy(bits, DType::I16)->getInteger(0), 0x3f80);
  EXPECT_EQ(codeOf(bits), ErrorCode::NpyDType);
  EXPECT_EQ(codeOf(bits, DType::F16), ErrorCode::NpyDType);
  std::string one = makeNpy(makeHeader("<V1", "(1,)"), "8");
  EXPECT_EQ(codeOf(one), ErrorCode::NpyDType);
  EXPECT_EQ(parseNpy(one, DType::F8E4M3)->getDouble(0), 1.0);
  EXPECT_EQ(codeOf(makeNpy(makeHeader("<f4", "()"), "abcd"), DType::F64),
            ErrorCode::NpyDType);
}

TEST(NpyTest, SmallIntegersAreCheckedAndNormalised) {
  auto bytes = [](const std::string &descr, const std::string &data) {
    return makeNpy(makeHeader(descr, "(2,)"), data);
  };
  auto read = parseNpy(bytes("|i1", "\x07\xf8"), DType::I4);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->getNumBytes(), 1u);
  EXPECT_EQ(read->getInteger(1), -8);
  EXPECT_EQ(codeOf(bytes("|i1", "\x08\x01"), DType::I4), ErrorCode::NpyFormat);
  EXPECT_EQ(parseNpy(bytes("|u1", "\x0f\x01"), DType::I4)->getInteger(0), -1);
  EXPECT_EQ(codeOf(bytes("|u1", "\x10\x01"), DType::I4), ErrorCode::NpyFormat);
  // A boolean that is neither 0 nor 1 would be more than one true.
  auto flags = parseNpy(bytes("|b1", "\x05\x01"));
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->data()[0], 1);
}

TEST(NpyTest, MalformedFilesAreErrors) {
  std::string data(16, '\0');
  EXPECT_EQ(codeOf(""), ErrorCode::NpyFormat);
  EXPECT_EQ(codeOf("PK\x03\x04"), ErrorCode::NpyFormat);
  auto header = [&](const std::string &text) {
    return codeOf(makeNpy(text, data));
  };
  EXPECT_EQ(header(""), ErrorCode::NpyFormat);
  EXPECT_EQ(header("{}"), ErrorCode::NpyFormat);
  EXPECT_EQ(header("{'descr': '<f4'}"), ErrorCode::NpyFormat);
  EXPECT_EQ(header(makeHeader("<f4", "(4,)") + "x"), ErrorCode::NpyFormat);
  EXPECT_EQ(header(makeHeader("<f4", "(4")), ErrorCode::NpyFormat);
  EXPECT_EQ(header(makeHeader("<f4", "(-4,)")), ErrorCode::NpyFormat);
  EXPECT_EQ(header(makeHeader("<f4", "[4]")), ErrorCode::NpyFormat);
  EXPECT_EQ(header("{'descr': '<f4"), ErrorCode::NpyFormat);
  EXPECT_EQ(header("{'descr': '<f4', 'descr': '<f4', }"), ErrorCode::NpyFormat);
  EXPECT_EQ(header("{'descr': '<f4', 'fortran_order': 1, 'shape': (4,)}"),
            ErrorCode::NpyFormat);
  EXPECT_EQ(header(makeHeader("<f4", "(99999999999999999999,)")),
            ErrorCode::NpyFormat);
  EXPECT_EQ(header(makeHeader("<f4", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)")),
            ErrorCode::NpyFormat);
  EXPECT_EQ(header(makeHeader("<f4", "(3,)")), ErrorCode::NpyFormat);
  EXPECT_EQ(header(makeHeader("<f4", "(5,)")), ErrorCode::NpyTruncated);
  EXPECT_EQ(header(makeHeader("<f4", "(9223372036854775807, 8)")),
            ErrorCode::NpyTruncated);
  EXPECT_EQ(header(makeHeader(">f4", "(4,)")), ErrorCode::NpyDType);
  EXPECT_EQ(header(makeHeader("<c8", "(2,)")), ErrorCode::NpyDType);
  EXPECT_EQ(header(makeHeader("<U4", "(1,)")), ErrorCode::NpyDType);
  EXPECT_EQ(header(makeHeader("|O", "(1,)")), ErrorCode::NpyDType);
  EXPECT_EQ(header(makeHeader("<f16", "(1,)")), ErrorCode::NpyDType);
  EXPECT_EQ(header("{'descr': [('a', '<f4')], 'fortran_order': False, "
                   "'shape': (4,)}"),
            ErrorCode::NpyDType);
  std::string whole = makeNpy(makeHeader("<f4", "(4,)"), data);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parseNpy(whole.substr(0, size))) << size;
}

TEST(NpyTest, MutatedFilesNeverCrash) {
  auto tensor = *HostTensor::create(DType::F32, {3, 4});
  std::string bytes = formatNpy(tensor);
  std::mt19937 rng(5);
  unsigned accepted = 0;
  for (int round = 0; round < 50000; ++round) {
    std::string altered = bytes;
    for (unsigned i = 0, n = 1 + rng() % 3; i < n; ++i)
      altered[rng() % 80] = static_cast<char>(
          rng() % 3 ? " ,()'0123456789"[rng() % 15] : char(rng()));
    accepted += static_cast<bool>(parseNpy(altered, DType::F32));
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, 50000u);
}

TEST(NpyTest, FilesAreNamedInErrors) {
  auto missing = readNpy("/nonexistent/a.npy");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.getError().getCode(), ErrorCode::NpyUnreadable);
  char path[] = "/tmp/fusion-npy-XXXXXX";
  int fd = ::mkstemp(path);
  ASSERT_GE(fd, 0);
  ::close(fd);
  auto empty = readNpy(path);
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.getError().str().find(path), std::string::npos);
  EXPECT_FALSE(writeNpy(path, *HostTensor::create(DType::I16, {7})));
  EXPECT_EQ(readNpy(path, DType::I16)->getNumElements(), 7);
  EXPECT_EQ(writeNpy("/nonexistent/a.npy", *HostTensor::create(DType::I16, {}))
                .getCode(),
            ErrorCode::NpyWrite);
  ::unlink(path);
}
