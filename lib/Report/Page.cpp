//===- Page.cpp - A compilation as a page of HTML -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the page of --report: the sources in Page/ with the
// explanation as JSON, and long texts packed so that a program of a thousand
// operations is still a file that opens at once.
//
//===----------------------------------------------------------------------===//

#include "fusion/Report/Page.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::fusion;

/// The files of `extension`, one after the other.
static std::string getSources(llvm::StringRef extension) {
  std::string sources;
#define PAGE_TEXT(kind, text)                                                  \
  if (extension == #kind)                                                      \
    sources += text;
#include "PageText.inc"
#undef PAGE_TEXT
  return sources;
}

/// `value` as JSON that a script element can hold: nothing in it begins a tag.
static std::string printForScript(llvm::json::Value value) {
  std::string text = llvm::formatv("{0}", value).str(), safe;
  safe.reserve(text.size());
  for (char c : text) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

/// `value` as a string that the page unpacks: {"zlib": base64} where this
/// process can compress, else {"plain": value}.
static llvm::json::Object pack(llvm::json::Value value) {
  if (!llvm::compression::zlib::isAvailable())
    return llvm::json::Object{{"plain", std::move(value)}};
  std::string text = llvm::formatv("{0}", value).str();
  llvm::SmallVector<uint8_t, 0> packed;
  llvm::compression::zlib::compress(llvm::arrayRefFromStringRef(text), packed);
  return llvm::json::Object{{"zlib", llvm::encodeBase64(packed)}};
}

static llvm::json::Object packText(const PageText &text) {
  llvm::json::Array parts;
  for (const auto &[name, content] : text.parts)
    parts.push_back(llvm::json::Array{llvm::json::fixUTF8(name),
                                      llvm::json::fixUTF8(content)});
  return llvm::json::Object{{"name", text.name},
                            {"description", text.description},
                            {"parts", pack(std::move(parts))}};
}

/// Bytes of the longest program whose text a page has: longer ones are mostly
/// constants.
static constexpr size_t kMostProgramBytes = 8 << 20;

/// `program`, or what says that it is too long.
static std::string getProgramText(llvm::StringRef program) {
  if (program.size() > kMostProgramBytes)
    return llvm::formatv("(The program has {0} bytes, more than are shown.)",
                         program.size())
        .str();
  return llvm::json::fixUTF8(program);
}

/// Replaces the one `mark` of `page`, which its sources have.
static void replace(std::string &page, llvm::StringRef mark,
                    llvm::StringRef text) {
  size_t at = page.find(mark);
  assert(at != std::string::npos && "the page lacks a mark");
  page.replace(at, mark.size(), text.data(), text.size());
}

std::string mlir::fusion::renderPage(const llvm::json::Object &explanation,
                                     llvm::ArrayRef<PageText> texts,
                                     llvm::StringRef programName,
                                     llvm::StringRef program) {
  llvm::json::Array packed;
  for (const PageText &text : texts)
    packed.push_back(packText(text));
  llvm::json::Object data{
      {"explanation", llvm::json::Object(explanation)},
      {"phases", std::move(packed)},
      {"program", llvm::json::Object{{"name", llvm::json::fixUTF8(programName)},
                                     {"text", pack(getProgramText(program))}}}};
  // The last first: no text of the program is searched for marks.
  std::string page = getSources("html");
  replace(page, "@SCRIPT@", getSources("js"));
  replace(page, "@DATA@", printForScript(std::move(data)));
  replace(page, "@STYLE@", getSources("css"));
  return page;
}
