//===- PtxEdits.cpp - Planted faults in PTX -------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements mutation operators on PTX text.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/PtxEdits.h"

#include "PtxStatements.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <random>
#include <tuple>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::ptx;

StringRef mlir::fusion::getPtxEditKindName(PtxEditKind kind) {
  static constexpr llvm::StringLiteral names[kNumPtxEditKinds] = {
      "drop-barrier", "drop-store", "compare",  "guard",
      "select",       "opcode",     "operands", "integer",
      "float",        "address",    "register", "rounding"};
  return names[static_cast<unsigned>(kind)];
}

//===----------------------------------------------------------------------===//
// The operators
//===----------------------------------------------------------------------===//

/// The other of a pair of words, empty if `word` is in none.
static StringRef
swapWord(StringRef word,
         llvm::ArrayRef<std::pair<StringRef, StringRef>> pairs) {
  for (auto [left, right] : pairs) {
    if (word == left)
      return right;
    if (word == right)
      return left;
  }
  return "";
}

namespace {

/// Collects the edits of one statement after the other.
class Editor {
public:
  explicit Editor(llvm::StringSet<> floats) : floats(std::move(floats)) {}

  std::vector<PtxEdit> edits;

  void visit(const Statement &statement) {
    s = &statement;
    dropStatement();
    editCompare();
    editGuard();
    editOpcode();
    editOperands();
    editConstants();
    editAddress();
    editRegister();
    editRounding();
  }

private:
  void add(PtxEditKind kind, std::string after) {
    edits.push_back(
        {kind, s->line, s->offset, s->text.str(), std::move(after)});
  }

  /// The statement with `from`, a piece of its text, replaced.
  std::string replace(StringRef from, llvm::Twine to) const {
    size_t at = from.data() - s->text.data();
    return (s->text.take_front(at) + to + s->text.drop_front(at + from.size()))
        .str();
  }

  void dropStatement() {
    StringRef name = s->name();
    bool waits = name == "bar" || name == "barrier" || name == "fence" ||
                 name == "membar" || s->has("commit_group") ||
                 s->has("commit") || s->has("wait_group") ||
                 s->has("wait_all") || s->has("arrive") || s->has("init") ||
                 s->has("expect_tx") || name == "griddepcontrol";
    if (waits)
      return add(PtxEditKind::DropBarrier, "");
    if (name == "st" || name == "red" || name == "stmatrix" ||
        (name == "cp" && s->has("async")))
      add(PtxEditKind::DropStore, "");
  }

  void editCompare() {
    if (s->name() != "setp")
      return;
    for (StringRef part : s->parts) {
      StringRef other = swapWord(part, {{"lt", "le"},
                                        {"gt", "ge"},
                                        {"eq", "ne"},
                                        {"ltu", "leu"},
                                        {"gtu", "geu"},
                                        {"equ", "neu"},
                                        {"lo", "ls"},
                                        {"hi", "hs"}});
      if (!other.empty())
        return add(PtxEditKind::Compare, replace(part, other));
    }
  }

  void editGuard() {
    StringRef guard = s->guard;
    if (guard.empty())
      return;
    add(PtxEditKind::Guard,
        replace(guard, guard.starts_with("@!") ? "@" + guard.drop_front(2)
                                               : "@!" + guard.drop_front(1)));
  }

  void editOpcode() {
    StringRef other = swapWord(
        s->name(),
        {{"add", "sub"}, {"min", "max"}, {"and", "or"}, {"shl", "shr"}});
    if (other.empty() && s->name() == "mul" && !s->has("wide") &&
        !s->has("lo") && !s->has("hi"))
      other = "add";
    if (other.empty())
      return;
    // Shifts to the right know signs, bits alone are shifted to the left.
    std::string opcode = s->opcode.str();
    opcode.replace(0, s->name().size(), other.str());
    if (other == "shr" || other == "shl") {
      size_t dot = opcode.rfind('.');
      opcode[dot + 1] = other == "shr" ? 'u' : 'b';
    }
    add(PtxEditKind::Opcode, replace(s->opcode, opcode));
  }

  void editOperands() {
    size_t count = s->operands.size();
    bool ordered = s->name() == "sub" || s->name() == "div" ||
                   s->name() == "rem" || s->name() == "fma" ||
                   s->name() == "mad";
    bool isSelect = s->name() == "selp" && count == 4;
    if (!isSelect && (!ordered || count < 3))
      return;
    StringRef left = s->operands[isSelect ? 1 : count - 2];
    StringRef right = s->operands[isSelect ? 2 : count - 1];
    if (left == right)
      return;
    size_t leftAt = left.data() - s->text.data();
    size_t rightAt = right.data() - s->text.data();
    add(isSelect ? PtxEditKind::Select : PtxEditKind::Operands,
        (s->text.take_front(leftAt) + right +
         s->text.slice(leftAt + left.size(), rightAt) + left +
         s->text.drop_front(rightAt + right.size()))
            .str());
  }

  void editConstants() {
    // What counts threads or names a barrier is not arithmetic.
    if (s->name() == "bar" || s->name() == "barrier")
      return;
    for (StringRef operand : s->operands) {
      uint64_t bits;
      if (operand.starts_with("0f") || operand.starts_with("0d")) {
        if (operand.drop_front(2).getAsInteger(16, bits))
          continue;
        bits ^= uint64_t(1) << (operand[1] == 'f' ? 23 : 52);
        std::string digits = llvm::utohexstr(bits);
        digits.insert(0, operand.size() - 2 - digits.size(), '0');
        add(PtxEditKind::Float,
            replace(operand, operand.take_front(2) + digits));
        continue;
      }
      int64_t value;
      if (operand.getAsInteger(10, value))
        continue;
      if (movesFloat())
        add(PtxEditKind::Float,
            replace(operand, llvm::Twine(editFloatBits(value))));
      else
        add(PtxEditKind::Integer, replace(operand, llvm::Twine(value + 1)));
    }
  }

  /// Whether the statement moves or selects a float as bits.
  bool movesFloat() const {
    return (s->name() == "mov" || s->name() == "selp") &&
           floats.contains(s->operands.front());
  }

  /// Another exponent; -infinity, where maxima begin, for 0, where sums do. An
  /// integer next to `bits` would be lost in any rounding.
  int64_t editFloatBits(int64_t bits) const {
    unsigned width = s->has("b64") ? 64 : s->has("b32") ? 32 : 16;
    unsigned mantissa = width == 64 ? 52 : width == 32 ? 23 : 10;
    // All bits of the sign and the exponent.
    return bits ? bits ^ int64_t(1) << mantissa
                : int64_t((~uint64_t(0) >> (64 - width)) >> mantissa
                                                                << mantissa);
  }

  void editAddress() {
    bool isAccess = s->name() == "ld" || s->name() == "st" ||
                    s->name() == "ldmatrix" || s->name() == "red" ||
                    s->name() == "atom" || s->name() == "cp";
    if (!isAccess || s->has("param"))
      return;
    for (StringRef operand : s->operands) {
      if (!operand.starts_with("[") || operand.contains(','))
        continue;
      StringRef inside = operand.drop_front().drop_back().trim();
      auto [base, offset] = inside.split('+');
      int64_t bytes = 0;
      if (!offset.empty() && offset.getAsInteger(10, bytes))
        continue;
      add(PtxEditKind::Address,
          replace(operand, "[" + base + "+" + llvm::Twine(bytes + 16) + "]"));
    }
  }

  void editRegister() {
    if (s->name() != "mov" || s->operands.size() != 2)
      return;
    StringRef other = swapWord(
        s->operands[1], {{"%tid.x", "%laneid"}, {"%ctaid.x", "%ctaid.y"}});
    if (!other.empty())
      add(PtxEditKind::Register, replace(s->operands[1], other));
  }

  void editRounding() {
    // A sum's own rounding is within what any order of its terms may do: what
    // must not change is a declared conversion.
    if (s->name() != "cvt")
      return;
    for (StringRef part : s->parts)
      if (part == "rn")
        return add(PtxEditKind::Rounding, replace(part, "rz"));
  }

  const Statement *s = nullptr;
  llvm::StringSet<> floats;
};

} // namespace

std::vector<PtxEdit> mlir::fusion::findPtxEdits(StringRef ptx) {
  std::vector<Statement> statements = findStatements(ptx);
  Editor editor(findFloatRegisters(statements));
  for (const Statement &statement : statements)
    editor.visit(statement);
  return std::move(editor.edits);
}

std::string mlir::fusion::applyPtxEdit(StringRef ptx, const PtxEdit &edit) {
  StringRef rest = ptx.drop_front(edit.offset + edit.before.size());
  // A statement left out goes with its semicolon.
  if (edit.after.empty())
    rest.consume_front(";");
  return (ptx.take_front(edit.offset) + edit.after + rest).str();
}

std::vector<PtxEdit> mlir::fusion::samplePtxEdits(std::vector<PtxEdit> edits,
                                                  unsigned count,
                                                  uint64_t seed) {
  std::mt19937_64 random(seed);
  SmallVector<std::vector<PtxEdit>> kinds(kNumPtxEditKinds);
  for (PtxEdit &edit : edits)
    kinds[static_cast<unsigned>(edit.kind)].push_back(std::move(edit));
  for (std::vector<PtxEdit> &kind : kinds)
    for (size_t i = kind.size(); i > 1; --i)
      std::swap(kind[i - 1], kind[random() % i]);
  std::vector<PtxEdit> result;
  for (bool found = true; found && result.size() < count;) {
    found = false;
    for (std::vector<PtxEdit> &kind : kinds) {
      if (kind.empty() || result.size() == count)
        continue;
      result.push_back(std::move(kind.back()));
      kind.pop_back();
      found = true;
    }
  }
  llvm::sort(result, [](const PtxEdit &left, const PtxEdit &right) {
    return std::tie(left.offset, left.kind, left.after) <
           std::tie(right.offset, right.kind, right.after);
  });
  return result;
}
