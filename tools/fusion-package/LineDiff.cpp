//===- LineDiff.cpp - How two texts differ --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the difference of two texts by Hirschberg's division of
// the longest common subsequence, in memory proportional to the lines.
//
//===----------------------------------------------------------------------===//

#include "LineDiff.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

using namespace packagetool;

namespace {
using Lines = std::vector<std::string_view>;
using Numbers = std::vector<uint32_t>;

/// Marks the lines of two texts that belong to both.
class CommonLines {
public:
  CommonLines(const Numbers &a, const Numbers &b)
      : isCommonA(a.size()), isCommonB(b.size()), a(a), b(b) {
    mark(0, a.size(), 0, b.size());
  }
  std::vector<bool> isCommonA, isCommonB;

private:
  void mark(size_t a0, size_t a1, size_t b0, size_t b1);
  Numbers measure(size_t a0, size_t a1, size_t b0, size_t b1) const;
  Numbers measureBack(size_t a0, size_t a1, size_t b0, size_t b1) const;

  const Numbers &a, &b;
};
} // namespace

/// For each k, how many lines a[a0, a1) and the first k of b[b0, b1) share.
Numbers CommonLines::measure(size_t a0, size_t a1, size_t b0, size_t b1) const {
  Numbers row(b1 - b0 + 1), next(row.size());
  for (size_t i = a0; i < a1; ++i) {
    for (size_t k = 1; k < row.size(); ++k)
      next[k] = a[i] == b[b0 + k - 1] ? row[k - 1] + 1
                                      : std::max(row[k], next[k - 1]);
    std::swap(row, next);
  }
  return row;
}

/// For each k, how many lines a[a0, a1) and all of b[b0, b1) but the first k
/// share.
Numbers CommonLines::measureBack(size_t a0, size_t a1, size_t b0,
                                 size_t b1) const {
  Numbers row(b1 - b0 + 1), next(row.size());
  for (size_t i = a1; i-- > a0;) {
    for (size_t k = row.size() - 1; k-- > 0;)
      next[k] =
          a[i] == b[b0 + k] ? row[k + 1] + 1 : std::max(row[k], next[k + 1]);
    std::swap(row, next);
  }
  return row;
}

void CommonLines::mark(size_t a0, size_t a1, size_t b0, size_t b1) {
  auto markPair = [&](size_t i, size_t k) {
    isCommonA[i] = true;
    isCommonB[k] = true;
  };
  for (; a0 < a1 && b0 < b1 && a[a0] == b[b0]; ++a0, ++b0)
    markPair(a0, b0);
  for (; a0 < a1 && b0 < b1 && a[a1 - 1] == b[b1 - 1]; --a1, --b1)
    markPair(a1 - 1, b1 - 1);
  if (a0 == a1 || b0 == b1)
    return;
  if (a1 - a0 == 1) {
    auto found = std::find(b.begin() + b0, b.begin() + b1, a[a0]);
    if (found != b.begin() + b1)
      markPair(a0, size_t(found - b.begin()));
    return;
  }
  size_t middle = a0 + (a1 - a0) / 2, best = 0;
  {
    Numbers front = measure(a0, middle, b0, b1);
    Numbers back = measureBack(middle, a1, b0, b1);
    for (size_t k = 1; k < front.size(); ++k)
      if (front[k] + back[k] > front[best] + back[best])
        best = k;
  }
  mark(a0, middle, b0, b0 + best);
  mark(middle, a1, b0 + best, b1);
}

static Lines splitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

namespace {
/// One line of the result: ' ', '-' or '+', and where it is in both texts.
struct Edit {
  char sign;
  size_t a, b;
};
} // namespace

static std::vector<Edit> listEdits(const Lines &a, const Lines &b) {
  std::unordered_map<std::string_view, uint32_t> known;
  auto number = [&](const Lines &lines) {
    Numbers numbers;
    for (std::string_view line : lines)
      numbers.push_back(
          known.emplace(line, uint32_t(known.size())).first->second);
    return numbers;
  };
  Numbers numbersA = number(a), numbersB = number(b);
  CommonLines common(numbersA, numbersB);
  std::vector<Edit> edits;
  for (size_t i = 0, k = 0; i < a.size() || k < b.size();) {
    if (i < a.size() && !common.isCommonA[i])
      edits.push_back({'-', i++, k});
    else if (k < b.size() && !common.isCommonB[k])
      edits.push_back({'+', i, k++});
    else
      edits.push_back({' ', i++, k++});
  }
  return edits;
}

std::string packagetool::diffLines(const std::string &before,
                                   const std::string &after,
                                   const std::string &beforeName,
                                   const std::string &afterName) {
  constexpr size_t kContext = 3;
  Lines a = splitLines(before), b = splitLines(after);
  std::vector<Edit> edits = listEdits(a, b);
  std::string text;
  for (size_t at = 0; at < edits.size();) {
    if (edits[at].sign == ' ') {
      ++at;
      continue;
    }
    // A hunk ends before as many equal lines as belong to two of them.
    size_t begin = at - std::min(at, kContext), last = at;
    for (size_t i = at; i < edits.size() && i <= last + 2 * kContext; ++i)
      if (edits[i].sign != ' ')
        last = i;
    size_t end = std::min(last + 1 + kContext, edits.size());
    size_t countA = 0, countB = 0;
    std::string body;
    for (size_t i = begin; i < end; ++i) {
      const Edit &edit = edits[i];
      countA += edit.sign != '+';
      countB += edit.sign != '-';
      body += edit.sign;
      body += edit.sign == '+' ? b[edit.b] : a[edit.a];
      body += '\n';
    }
    auto range = [](size_t first, size_t count) {
      // A range without lines is named by the line before it.
      return std::to_string(first + (count ? 1 : 0)) + "," +
             std::to_string(count);
    };
    text += "@@ -" + range(edits[begin].a, countA) + " +" +
            range(edits[begin].b, countB) + " @@\n" + body;
    at = end;
  }
  return text.empty()
             ? text
             : "--- " + beforeName + "\n+++ " + afterName + "\n" + text;
}
