//===- JsonText.h - JSON without a library ----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how the runtime and the tools without LLVM write JSON: as
// text whose parts are JSON already. docs/Rationale/Runtime.md says why by no
// library.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_EXECUTABLE_JSONTEXT_H
#define FUSION_EXECUTABLE_JSONTEXT_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace fusionpkg {

/// `text` as a string of JSON. Bytes from 0x80 on are taken for UTF-8.
inline std::string quoteJson(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", unsigned(c));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

/// `value` to the last bit; null for what is no finite number.
inline std::string toJsonNumber(double value) {
  if (!std::isfinite(value))
    return "null";
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

/// The members of an object, in the order they are added.
class JsonObject {
public:
  /// `json` is JSON already.
  void add(std::string_view name, const std::string &json) {
    text += (text.empty() ? "" : ", ") + quoteJson(name) + ": " + json;
  }
  void add(std::string_view name, uint64_t value) {
    add(name, std::to_string(value));
  }
  void addText(std::string_view name, std::string_view value) {
    add(name, quoteJson(value));
  }
  std::string str() const { return "{" + text + "}"; }

private:
  std::string text;
};

/// The elements of an array.
class JsonArray {
public:
  /// Elements are apart by a comma and `separator`.
  explicit JsonArray(std::string separator = " ")
      : separator("," + separator) {}
  /// `json` is JSON already.
  void add(const std::string &json) {
    text += (text.empty() ? "" : separator) + json;
  }
  std::string str() const { return "[" + text + "]"; }

private:
  std::string separator, text;
};

} // namespace fusionpkg

#endif // FUSION_EXECUTABLE_JSONTEXT_H
