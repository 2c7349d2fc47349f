//===- ProgramMutator.cpp - Programs with altered tokens
//-------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the alteration of programs. Random bytes are refused by
// the lexer; tokens that could stand where they stand get further.
//
//===----------------------------------------------------------------------===//

#include "CompilerTargets.h"

#include <cctype>
#include <vector>

namespace {
/// A piece of text that the lexer of MLIR would take as one, or a blank.
struct Token {
  std::string text;
  bool isNumber() const { return std::isdigit((unsigned char)text[0]) != 0; }
  bool isWord() const {
    return std::isalpha((unsigned char)text[0]) || text[0] == '%' ||
           text[0] == '@' || text[0] == '#';
  }
};
} // namespace

static const char *const numbers[] = {
    "0",   "1",    "2",     "3",          "7",
    "16",  "17",   "32",    "64",         "128",
    "513", "1024", "65536", "2147483648", "9223372036854775807",
    "-1",  "0.5",  "1e38",  "0x7FC00000", "18446744073709551616"};

static const char *const words[] = {"f32",
                                    "f16",
                                    "bf16",
                                    "f64",
                                    "f8E4M3FN",
                                    "f8E5M2",
                                    "i1",
                                    "i4",
                                    "i8",
                                    "i16",
                                    "i32",
                                    "i64",
                                    "index",
                                    "i128",
                                    "tensor",
                                    "vector",
                                    "memref",
                                    "complex",
                                    "none",
                                    "true",
                                    "false",
                                    "dense",
                                    "unit",
                                    "affine_map",
                                    "parallel",
                                    "reduction",
                                    "arith.addf",
                                    "arith.subf",
                                    "arith.mulf",
                                    "arith.divf",
                                    "arith.maximumf",
                                    "arith.minnumf",
                                    "arith.addi",
                                    "arith.divsi",
                                    "arith.remui",
                                    "arith.shli",
                                    "arith.select",
                                    "arith.cmpf",
                                    "arith.truncf",
                                    "arith.extf",
                                    "arith.sitofp",
                                    "arith.fptosi",
                                    "arith.bitcast",
                                    "arith.index_cast",
                                    "math.exp",
                                    "math.rsqrt",
                                    "math.powf",
                                    "math.tanh",
                                    "linalg.generic",
                                    "linalg.fill",
                                    "linalg.matmul",
                                    "linalg.transpose",
                                    "linalg.broadcast",
                                    "linalg.reduce",
                                    "linalg.softmax",
                                    "linalg.index",
                                    "linalg.yield",
                                    "tensor.empty",
                                    "tensor.extract_slice",
                                    "tensor.insert_slice",
                                    "tensor.expand_shape",
                                    "tensor.collapse_shape",
                                    "tensor.concat",
                                    "tensor.pad",
                                    "tensor.cast",
                                    "tensor.dim",
                                    "tensor.splat",
                                    "tensor.generate",
                                    "tensor.extract",
                                    "tosa.reshape",
                                    "tosa.transpose",
                                    "tosa.reduce_sum",
                                    "tosa.gather",
                                    "fusion.relu",
                                    "fusion.softmax",
                                    "fusion.attention",
                                    "fusion.kernel",
                                    "func.func",
                                    "func.call",
                                    "return",
                                    "private",
                                    "scf.if"};

static bool isPart(char c) {
  return std::isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

static std::vector<Token> tokenize(const std::string &text) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    bool isSigil = text[at] == '%' || text[at] == '@' || text[at] == '#';
    // A shape, 4x8xf32, is a token for each size.
    if (std::isdigit((unsigned char)text[at]))
      while (end < text.size() && std::isdigit((unsigned char)text[end]))
        ++end;
    else if (isSigil || isPart(text[at]))
      while (end < text.size() && isPart(text[end]))
        ++end;
    else if (text[at] == ' ')
      while (end < text.size() && text[end] == ' ')
        ++end;
    tokens.push_back({text.substr(at, end - at)});
    at = end;
  }
  return tokens;
}

static std::string join(const std::vector<Token> &tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += token.text;
  return text;
}

/// Leaves out a line, doubles it, or exchanges it with another.
static std::string alterLine(const std::string &text, std::mt19937 &random) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (lines.empty())
    return text;
  size_t one = random() % lines.size(), other = random() % lines.size();
  switch (random() % 3) {
  case 0:
    lines.erase(lines.begin() + one);
    break;
  case 1:
    lines.insert(lines.begin() + other, std::string(lines[one]));
    break;
  default:
    std::swap(lines[one], lines[other]);
  }
  std::string result;
  for (const std::string &line : lines)
    result += line + "\n";
  return result;
}

std::string fusionfuzz::alterProgram(const std::string &text,
                                     std::mt19937 &random) {
  if (random() % 8 == 0)
    return alterLine(text, random);
  std::vector<Token> tokens = tokenize(text);
  if (tokens.empty())
    return "module {}";
  auto pick = [&](auto &table) { return table[random() % std::size(table)]; };
  for (unsigned i = 0, n = 1 + random() % 3; i < n; ++i) {
    Token &token = tokens[random() % tokens.size()];
    const Token &other = tokens[random() % tokens.size()];
    switch (random() % 8) {
    case 0:
      token.text = "";
      break;
    case 1:
      token.text += other.text;
      break;
    case 2:
    case 3:
      token = other;
      break;
    default:
      if (token.isNumber())
        token.text = random() % 8 ? pick(numbers) : "?";
      else if (token.isWord())
        token.text = random() % 4 ? pick(words) : other.text;
      else
        token = other;
    }
    if (token.text.empty())
      token.text = " ";
  }
  return join(tokens);
}
