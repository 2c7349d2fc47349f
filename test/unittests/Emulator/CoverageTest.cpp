//===- CoverageTest.cpp - The table of instructions -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file goes through the instruction tables of docs/Emulator.md: what they
// call supported must have a kernel somewhere, what they call refused must be
// refused by name.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

using namespace fusionemu;

static std::string readAll(const std::filesystem::path &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The `names` in the first column of the table that starts with `title`.
static std::vector<std::string> readTable(const std::string &title) {
  std::istringstream page(readAll(FUSION_TEST_SOURCE_DIR "/docs/Emulator.md"));
  std::vector<std::string> names;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| " + title + " |", 0) == 0)
      inside = true;
    else if (inside && line[0] != '|')
      break;
    if (!inside)
      continue;
    std::string first = line.substr(0, line.find('|', 1));
    for (size_t at = first.find('`'); at != std::string::npos;
         at = first.find('`', at)) {
      size_t end = first.find('`', at + 1);
      names.push_back(first.substr(at + 1, end - at - 1));
      at = end + 1;
    }
  }
  return names;
}

/// Every word of `text` that stands where an instruction may begin.
static void collectMnemonics(const std::string &text,
                             std::set<std::string> &known) {
  auto isWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t i = 0; i < text.size();) {
    if (!isWord(text[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && isWord(text[end]))
      ++end;
    char before = i ? text[i - 1] : '\n';
    std::string word = text.substr(i, end - i);
    // In a C++ text an instruction may follow an escaped new line.
    if (before == '\\' && word.size() > 1 && (word[0] == 'n' || word[0] == 't'))
      word.erase(0, 1);
    char after = end < text.size() ? text[end] : '\n';
    bool starts = std::strchr("\"\\ \t\n{;", before) != nullptr;
    if (starts && (after == '.' || after == ';' || after == ' '))
      known.insert(word);
    i = end;
  }
}

TEST(EmulatorCoverage, SupportedInstructionsHaveKernels) {
  std::set<std::string> known;
  for (const char *folder : {"/test/Emulator", "/test/unittests/Emulator"})
    for (const auto &entry : std::filesystem::recursive_directory_iterator(
             std::string(FUSION_TEST_SOURCE_DIR) + folder))
      if ((entry.path().extension() == ".ptx" ||
           entry.path().extension() == ".cpp") &&
          entry.path().filename() != "CoverageTest.cpp")
        collectMnemonics(readAll(entry.path()), known);
  std::vector<std::string> supported = readTable("Supported");
  ASSERT_GT(supported.size(), 100u);
  for (const std::string &name : supported)
    EXPECT_TRUE(known.count(name)) << "no kernel has '" << name << "'";
}

TEST(EmulatorCoverage, RefusedInstructionsAreNamed) {
  std::vector<std::string> refused = readTable("Refused");
  ASSERT_GT(refused.size(), 20u);
  for (const std::string &name : refused) {
    Module module;
    Status s =
        module.parse(header() + ".visible .entry k()\n{\n.reg .b32 %r<4>;\n" +
                     name + ".b32 %r0, %r1, %r2;\nret;\n}\n");
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_NE(module.getKernels()[0].unsupported.find("instruction '" + name +
                                                      ".b32' is not supported"),
              std::string::npos)
        << name << ": " << module.getKernels()[0].unsupported;
  }
}
