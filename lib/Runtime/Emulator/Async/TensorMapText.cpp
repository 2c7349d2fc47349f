//===- TensorMapText.cpp - Tensor maps on a command line ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of tensor maps from text.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Emulator/TensorMap.h"

#include <charconv>

using namespace fusionemu;

static Status cannotRead(std::string_view text, const std::string &expected) {
  return Status(ErrorKind::BadTensorMap, "tensor map: cannot read '" +
                                             std::string(text) +
                                             "', expected " + expected);
}

/// Cuts the text before the next `at` off `rest`.
static std::string_view takePart(std::string_view &rest, char at) {
  size_t end = rest.find(at);
  std::string_view part = rest.substr(0, end);
  rest =
      end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

/// Reads numbers separated by commas into `list`, at most `most`.
template <typename T>
static bool parseList(std::string_view text, T *list, uint32_t most,
                      uint32_t &count) {
  count = 0;
  while (true) {
    size_t end = std::min(text.find(','), text.size());
    T value = 0;
    auto [after, error] =
        std::from_chars(text.data(), text.data() + end, value);
    if (error != std::errc() || after != text.data() + end || count == most)
      return false;
    list[count++] = value;
    if (end == text.size())
      return true;
    text.remove_prefix(end + 1);
  }
}

namespace {
struct Name {
  const char *text;
  uint32_t value;
};

/// An option whose value is a list of numbers, one for each of `count`
/// dimensions.
struct ListOption {
  const char *name;
  uint64_t *wide;
  uint32_t *narrow;
  int32_t *isSigned;
  uint32_t count;
};
} // namespace

static const Name swizzleNames[] = {{"none", 0},       {"32", 1},
                                    {"64", 2},         {"128", 3},
                                    {"128.atom32", 4}, {"128.atom32.flip8", 5},
                                    {"128.atom64", 6}, {nullptr, 0}};
static const Name interleaveNames[] = {
    {"none", 0}, {"16", 1}, {"32", 2}, {nullptr, 0}};
static const Name fillNames[] = {{"zero", 0}, {"nan", 1}, {nullptr, 0}};
static const Name l2Names[] = {
    {"none", 0}, {"64", 1}, {"128", 2}, {"256", 3}, {nullptr, 0}};

/// Looks `text` up; on failure `expected` lists the names.
static bool findName(const Name *names, std::string_view text, uint32_t &value,
                     std::string &expected) {
  for (const Name *n = names; n->text; ++n) {
    if (text == n->text) {
      value = n->value;
      return true;
    }
    expected += (expected.empty() ? "" : " or ") + std::string(n->text);
  }
  return false;
}

static Status parseNamed(TensorMapInfo &info, std::string_view name,
                         std::string_view value, bool &isKnown) {
  uint32_t found = 0;
  std::string expected;
  isKnown = true;
  auto result = [&](const Name *names) {
    return findName(names, value, found, expected)
               ? Status()
               : cannotRead(value, expected + " for " + std::string(name));
  };
  Status status;
  if (name == "swizzle") {
    status = result(swizzleNames);
    info.swizzle = TensorMapSwizzle(found);
  } else if (name == "interleave") {
    status = result(interleaveNames);
    info.interleave = TensorMapInterleave(found);
  } else if (name == "fill") {
    status = result(fillNames);
    info.fill = TensorMapFill(found);
  } else if (name == "l2") {
    status = result(l2Names);
    info.l2Promotion = TensorMapL2Promotion(found);
  } else {
    isKnown = false;
  }
  return status;
}

static Status parseOption(TensorMapInfo &info, std::string_view text) {
  std::string_view value = text;
  std::string_view name = takePart(value, '=');
  bool isKnown = false;
  if (Status s = parseNamed(info, name, value, isKnown); isKnown)
    return s;
  uint32_t spatial = info.rank > 2 ? info.rank - 2 : 0;
  bool isIm2col = info.kind == TensorMapKind::Im2col;
  const ListOption options[] = {
      {"strides", info.strides, nullptr, nullptr, info.rank - 1},
      {"element-strides", nullptr, info.elementStrides, nullptr, info.rank},
      {"offset", &info.globalAddress, nullptr, nullptr, 1},
      {"lower", nullptr, nullptr, info.lowerCorner, isIm2col ? spatial : 0},
      {"upper", nullptr, nullptr, info.upperCorner, isIm2col ? spatial : 0},
      {"channels", nullptr, &info.channelsPerPixel, nullptr, isIm2col},
      {"pixels", nullptr, &info.pixelsPerColumn, nullptr, isIm2col},
  };
  for (const ListOption &option : options) {
    if (name != option.name || option.count == 0)
      continue;
    uint32_t count = 0;
    bool isGood = option.wide
                      ? parseList(value, option.wide, option.count, count)
                  : option.narrow
                      ? parseList(value, option.narrow, option.count, count)
                      : parseList(value, option.isSigned, option.count, count);
    if (isGood && count == option.count)
      return {};
    return cannotRead(text, std::to_string(option.count) +
                                (option.count == 1 ? " number" : " numbers") +
                                " for " + option.name);
  }
  return cannotRead(text, "an option of a map of this kind and rank");
}

Status fusionemu::parseTensorMap(std::string_view text, TensorMapInfo &info) {
  TensorMapInfo read;
  std::string_view rest = text;
  std::string_view type = takePart(rest, ':');
  if (!parseTypeName(type, read.type))
    return cannotRead(type, "an element type such as u8, s32, f16, bf16, f32 "
                            "or tf32");
  std::string_view dims = takePart(rest, ':');
  if (!parseList(dims, read.dims, 5, read.rank))
    return cannotRead(dims, "the sizes of 1 to 5 dimensions");
  std::string_view box = takePart(rest, ':');
  uint32_t count = 0;
  if (box == "im2col")
    read.kind = TensorMapKind::Im2col;
  else if (!parseList(box, read.box, 5, count) || count != read.rank)
    return cannotRead(box, "the " + std::to_string(read.rank) +
                               " sizes of a box, or im2col");
  // Without interleave, rows that follow each other.
  uint64_t bytes = read.dims[0] * getElementBits(read.type) / 8;
  for (uint32_t i = 0; i + 1 < read.rank; ++i) {
    read.strides[i] = bytes;
    bytes *= read.dims[i + 1];
  }
  while (!rest.empty())
    if (Status s = parseOption(read, takePart(rest, ':')); !s.ok())
      return s;
  info = read;
  return {};
}
