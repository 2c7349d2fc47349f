//===- Manifest.cpp - Reading a manifest ----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the line format of conformance manifests.
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace conformance;

/// Buffers above this are a typing error.
static constexpr uint64_t maxCount = uint64_t(1) << 28;

bool conformance::readFile(const std::string &path, std::string &text) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return false;
  std::ostringstream contents;
  contents << stream.rdbuf();
  text = contents.str();
  return true;
}

static std::vector<std::string> splitWords(const std::string &line) {
  std::vector<std::string> words;
  std::istringstream stream(line.substr(0, line.find('#')));
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

static bool parseUnsigned(const std::string &text, uint64_t &value) {
  char *end = nullptr;
  errno = 0;
  value = std::strtoull(text.c_str(), &end, 0);
  return !text.empty() && text[0] != '-' && *end == 0 && errno == 0;
}
static bool parseReal(const std::string &text, double &value) {
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0;
}

namespace {
/// Reads one manifest line by line.
class Reader {
public:
  Reader(Manifest &manifest, std::string &error)
      : manifest(manifest), error(error) {}
  bool readLine(const std::vector<std::string> &words, unsigned line);
  bool finish();

private:
  bool fail(const std::string &reason);
  bool readDim(const std::vector<std::string> &words, fusionemu::Dim3 &dim);
  bool readArgument(const std::vector<std::string> &words);
  bool readFill(const std::vector<std::string> &words, Fill &fill);
  bool readScalar(const std::string &text, Argument &argument);
  bool readMap(const std::vector<std::string> &words, Argument &argument);
  bool readExpectation(const std::vector<std::string> &words);

  Manifest &manifest;
  std::string &error;
  unsigned line = 0;
};
} // namespace

bool Reader::fail(const std::string &reason) {
  error = manifest.path + ":" + std::to_string(line) + ": " + reason;
  return false;
}

bool Reader::readDim(const std::vector<std::string> &words,
                     fusionemu::Dim3 &dim) {
  uint32_t *out[] = {&dim.x, &dim.y, &dim.z};
  if (words.size() < 2 || words.size() > 4)
    return fail("expected one to three numbers");
  for (size_t i = 1; i < words.size(); ++i) {
    uint64_t value;
    if (!parseUnsigned(words[i], value) || value > 0x7fffffff)
      return fail("'" + words[i] + "' is not a number of blocks or threads");
    *out[i - 1] = uint32_t(value);
  }
  return true;
}

/// words: arg NAME TYPE[COUNT] KIND NUMBER...
bool Reader::readFill(const std::vector<std::string> &words, Fill &fill) {
  if (words.size() == 3)
    return true;
  struct Kind {
    const char *name;
    Fill::Kind kind;
    size_t least, most;
  };
  static const Kind kinds[] = {{"bits", Fill::Kind::Bits, 0, 0},
                               {"random", Fill::Kind::Random, 0, 0},
                               {"uniform", Fill::Kind::Uniform, 2, 2},
                               {"iota", Fill::Kind::Iota, 0, 2},
                               {"const", Fill::Kind::Constant, 1, 1}};
  for (const Kind &kind : kinds) {
    if (words[3] != kind.name)
      continue;
    size_t numbers = words.size() - 4;
    if (numbers < kind.least || numbers > kind.most)
      return fail("wrong number of values for '" + words[3] + "'");
    fill.kind = kind.kind;
    fill.high = kind.kind == Fill::Kind::Iota ? 1 : 0;
    if ((numbers > 0 && !parseReal(words[4], fill.low)) ||
        (numbers > 1 && !parseReal(words[5], fill.high)))
      return fail("expected numbers after '" + words[3] + "'");
    return true;
  }
  return fail("'" + words[3] + "' is not a fill");
}

bool Reader::readScalar(const std::string &text, Argument &argument) {
  const Element &e = *argument.element;
  uint64_t bits = 0;
  if (e.isFloat() && text.rfind("0x", 0) != 0) {
    double value;
    if (!parseReal(text, value))
      return fail("'" + text + "' is not a number");
    bits = encodeElement(e, value);
  } else {
    char *end = nullptr;
    errno = 0;
    bits = text[0] == '-' ? uint64_t(std::strtoll(text.c_str(), &end, 0))
                          : std::strtoull(text.c_str(), &end, 0);
    if (*end != 0 || errno != 0)
      return fail("'" + text + "' is not a number");
  }
  argument.value.resize(e.bytes);
  std::memcpy(argument.value.data(), &bits, e.bytes);
  return true;
}

/// words: arg NAME tmap BUFFER MAP
bool Reader::readMap(const std::vector<std::string> &words,
                     Argument &argument) {
  if (words.size() != 5)
    return fail("expected 'arg NAME tmap BUFFER ELEMENT:DIMS:BOX[:OPTION]'");
  argument.mapBuffer = words[3];
  argument.value.resize(fusionemu::tensorMapBytes);
  fusionemu::Status status = fusionemu::parseTensorMap(words[4], argument.map);
  return status.ok() || fail(status.message());
}

bool Reader::readArgument(const std::vector<std::string> &words) {
  if (words.size() < 3)
    return fail("expected 'arg NAME TYPE[COUNT] FILL' or 'arg NAME TYPE "
                "VALUE'");
  Argument argument;
  argument.name = words[1];
  std::string type = words[2];
  size_t bracket = type.find('[');
  if (type == "tmap") {
    if (!readMap(words, argument))
      return false;
  } else if (type == "bytes") {
    if (words.size() != 4 || words[3].size() % 2 != 0)
      return fail("expected an even number of hexadecimal digits");
    for (size_t i = 0; i < words[3].size(); i += 2) {
      char *end = nullptr;
      std::string two = words[3].substr(i, 2);
      argument.value.push_back(uint8_t(std::strtoul(two.c_str(), &end, 16)));
      if (*end != 0)
        return fail("'" + two + "' is not hexadecimal");
    }
  } else {
    argument.element = findElement(type.substr(0, bracket));
    if (!argument.element)
      return fail("'" + type + "' is not a type");
    if (bracket == std::string::npos) {
      if (words.size() != 4)
        return fail("expected the value of '" + words[1] + "'");
      if (!readScalar(words[3], argument))
        return false;
    } else {
      argument.isBuffer = true;
      if (type.back() != ']' ||
          !parseUnsigned(type.substr(bracket + 1, type.size() - bracket - 2),
                         argument.count) ||
          argument.count == 0 || argument.count > maxCount)
        return fail("'" + type + "' has no proper number of elements");
      if (!readFill(words, argument.fill))
        return false;
    }
  }
  manifest.cases.back().arguments.push_back(std::move(argument));
  return true;
}

bool Reader::readExpectation(const std::vector<std::string> &words) {
  Expectation &e = manifest.cases.back().expectation;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "because")
      return true;
    bool hasNext = i + 1 < words.size();
    if (words[i] == "exact") {
      e.exact = true;
    } else if (words[i] == "any-nan") {
      e.anyNaN = true;
    } else if (words[i] == "ulp" && hasNext &&
               parseUnsigned(words[i + 1], e.ulp)) {
      e.exact = false;
      ++i;
    } else if (words[i] == "abs" && hasNext &&
               parseReal(words[i + 1], e.absolute)) {
      e.exact = false;
      ++i;
    } else if (words[i] == "rel" && hasNext &&
               parseReal(words[i + 1], e.relative)) {
      e.exact = false;
      ++i;
    } else {
      return fail("cannot read '" + words[i] + "'");
    }
  }
  return true;
}

bool Reader::readLine(const std::vector<std::string> &words, unsigned number) {
  line = number;
  const std::string &key = words[0];
  if (key == "ptx" && words.size() == 2) {
    size_t slash = manifest.path.rfind('/');
    manifest.ptx = slash == std::string::npos
                       ? words[1]
                       : manifest.path.substr(0, slash + 1) + words[1];
    return true;
  }
  if (key == "kernel" && words.size() >= 2) {
    Case added;
    added.line = number;
    added.patterns.assign(words.begin() + 1, words.end());
    manifest.cases.push_back(std::move(added));
    return true;
  }
  if (manifest.cases.empty())
    return fail("expected 'ptx FILE' or 'kernel PATTERN'");
  Case &current = manifest.cases.back();
  if (key == "grid")
    return readDim(words, current.grid);
  if (key == "block")
    return readDim(words, current.block);
  if (key == "shared" && words.size() == 2) {
    uint64_t bytes;
    if (!parseUnsigned(words[1], bytes) || bytes > 0xffffffff)
      return fail("'" + words[1] + "' is not a number of bytes");
    current.sharedBytes = uint32_t(bytes);
    return true;
  }
  if (key == "arg")
    return readArgument(words);
  if (key == "expect")
    return readExpectation(words);
  return fail("cannot read '" + key + "'");
}

fusionemu::TensorMapInfo
conformance::locateMap(const Case &c, const Argument &a,
                       const std::vector<uint64_t> &addresses) {
  fusionemu::TensorMapInfo map = a.map;
  for (size_t i = 0; i < c.arguments.size(); ++i)
    if (c.arguments[i].isBuffer && c.arguments[i].name == a.mapBuffer)
      map.globalAddress += addresses[i];
  return map;
}

static bool hasBuffer(const Case &c, const std::string &name) {
  for (const Argument &a : c.arguments)
    if (a.isBuffer && a.name == name)
      return true;
  return false;
}

bool Reader::finish() {
  for (const Case &c : manifest.cases)
    for (const Argument &a : c.arguments)
      if (a.isMap() && !hasBuffer(c, a.mapBuffer)) {
        line = c.line;
        return fail("there is no buffer '" + a.mapBuffer +
                    "' for the tensor map '" + a.name + "'");
      }
  if (manifest.ptx.empty())
    return fail("names no PTX file");
  return true;
}

bool conformance::readManifest(const std::string &path, Manifest &manifest,
                               std::string &error) {
  manifest.path = path;
  size_t slash = path.rfind('/');
  manifest.name = slash == std::string::npos ? path : path.substr(slash + 1);
  manifest.name = manifest.name.substr(0, manifest.name.rfind('.'));
  std::ifstream stream(path);
  if (!stream) {
    error = path + ": cannot be opened";
    return false;
  }
  Reader reader(manifest, error);
  std::string text;
  for (unsigned line = 1; std::getline(stream, text); ++line) {
    std::vector<std::string> words = splitWords(text);
    if (!words.empty() && !reader.readLine(words, line))
      return false;
  }
  return reader.finish();
}
