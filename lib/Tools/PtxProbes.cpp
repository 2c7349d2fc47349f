//===- PtxProbes.cpp - Does a planted fault have an effect? ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the variants of PTX that judge an edit nobody found.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/PtxProbes.h"

#include "PtxStatements.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::ptx;

/// Whether the first operand of a statement is what it computes.
static bool hasResult(const Statement &statement) {
  StringRef name = statement.name();
  return name == "mov" || name == "add" || name == "sub" || name == "mul" ||
         name == "mad" || name == "fma" || name == "div" || name == "rem" ||
         name == "min" || name == "max" || name == "and" || name == "or" ||
         name == "xor" || name == "not" || name == "neg" || name == "abs" ||
         name == "shl" || name == "shr" || name == "shf" || name == "selp" ||
         name == "setp" || name == "cvt" || name == "ld" || name == "shfl" ||
         name == "prmt" || name == "lop3" || name == "bfe" || name == "bfi" ||
         name == "ldmatrix" || name == "ex2" || name == "rcp" || name == "cvta";
}

namespace {

/// The registers that an edited statement writes, and their types.
struct Result {
  Statement before, after;
  SmallVector<StringRef> names, types;
};

} // namespace

static std::optional<Result> findResult(StringRef ptx, const PtxEdit &edit) {
  std::optional<Statement> before = parseStatement(edit.before);
  std::optional<Statement> after = parseStatement(edit.after);
  if (!before || !after || !hasResult(*before) || before->operands.empty() ||
      after->operands.empty() || before->guard != after->guard ||
      before->operands.front() != after->operands.front())
    return std::nullopt;
  Result result = {*before, *after, getRegisters(before->operands.front()), {}};
  RegisterTypes types(ptx);
  for (StringRef name : result.names) {
    result.types.push_back(types.lookup(name));
    if (result.types.back().empty())
      return std::nullopt;
  }
  if (result.names.empty())
    return std::nullopt;
  return result;
}

/// "b32" for "f32": what bits are moved and compared as.
static std::string getBitsType(StringRef type) {
  return type == "pred" ? "pred" : ("b" + type.drop_front()).str();
}

/// `ptx` with the edited statement replaced by `text`, which ends like one.
static std::string substitute(StringRef ptx, const PtxEdit &edit,
                              std::string text) {
  PtxEdit other = edit;
  other.after = std::move(text);
  std::string result = applyPtxEdit(ptx, other);
  // The semicolon of the statement goes after a brace no more.
  result[result.find(';', edit.offset + other.after.size())] = ' ';
  return result;
}

/// `ptx` with the statement as it was, and the edited one beside it. For each
/// register of the result, `otherwise` follows, with %mutantDiffers true where
/// the two differ. In it, $ stands for the register, ~ for the edited result,
/// and # for the type of their bits.
static std::string compare(StringRef ptx, const PtxEdit &edit,
                           const Result &result, StringRef otherwise) {
  std::string declarations, results, comparisons;
  llvm::raw_string_ostream begin(declarations), end(comparisons);
  for (auto [i, type] : llvm::enumerate(result.types)) {
    std::string other = "%mutantResult" + std::to_string(i);
    std::string bits = getBitsType(type);
    // A guard may leave it as it is.
    begin << ".reg ." << type << " " << other << "; mov." << bits << " "
          << other << ", " << result.names[i] << "; ";
    results += (i ? ", " : "") + other;
    end << (type == "pred" ? "xor.pred" : "setp.ne." + bits)
        << " %mutantDiffers, " << result.names[i] << ", " << other << "; ";
    for (StringRef rest = otherwise; !rest.empty();) {
      StringRef text = rest.take_until(
          [](char c) { return c == '$' || c == '#' || c == '~'; });
      rest = rest.drop_front(text.size());
      end << text;
      if (rest.empty())
        break;
      end << (rest.front() == '$'   ? result.names[i]
              : rest.front() == '#' ? StringRef(bits)
                                    : StringRef(other));
      rest = rest.drop_front();
    }
  }
  // The edited statement first: its result may be one of its operands.
  StringRef operand = result.after.operands.front();
  size_t at = operand.data() - result.after.text.data();
  if (operand.starts_with("{"))
    results = "{" + results + "}";
  return substitute(ptx, edit,
                    ("{ .reg .pred %mutantDiffers; " + declarations +
                     result.after.text.take_front(at) + results +
                     result.after.text.drop_front(at + operand.size()) + "; " +
                     result.before.text + "; " + comparisons + "}")
                        .str());
}

std::optional<std::string> fusion::buildComparison(StringRef ptx,
                                                   const PtxEdit &edit) {
  std::optional<Result> result = findResult(ptx, edit);
  if (!result)
    return std::nullopt;
  return compare(ptx, edit, *result, "@%mutantDiffers trap; ");
}

/// The address of the edited access, 1 GiB further on.
static std::vector<std::string> moveAddress(StringRef ptx,
                                            const PtxEdit &edit) {
  StringRef after = edit.after;
  size_t begin = after.find("+"), end = after.find("]", begin);
  // The edit is the last offset that was added to.
  for (size_t i = 0; i < after.size() && i < edit.before.size(); ++i)
    if (after[i] != edit.before[i]) {
      end = after.find("]", i);
      begin = after.take_front(end).rfind('+');
      break;
    }
  if (begin == StringRef::npos || end == StringRef::npos)
    return {};
  PtxEdit far = edit;
  far.after =
      (after.take_front(begin) + "+1073741824" + after.drop_front(end)).str();
  return {applyPtxEdit(ptx, far)};
}

/// `ptx` with the edit of a predicate, and the asynchronous copies that it
/// guards replaced by stores of something else. Empty if it guards others.
static std::vector<std::string>
corruptCopies(StringRef ptx, const PtxEdit &edit, StringRef predicate) {
  std::string edited = applyPtxEdit(ptx, edit);
  // Inline assembly: the predicate ends with its scope.
  StringRef scope =
      StringRef(edited).drop_front(edit.offset).take_until([](char c) {
        return c == '}';
      });
  size_t begin = scope.find('@');
  if (begin == StringRef::npos)
    return {};
  StringRef text =
      scope.drop_front(begin).take_until([](char c) { return c == ';'; });
  std::optional<Statement> copy = parseStatement(text);
  if (!copy || copy->guard.drop_front() != predicate ||
      !copy->opcode.starts_with("cp.async.cg.shared") ||
      copy->operands.empty() || scope.drop_front(begin + 1).contains('@'))
    return {};
  PtxEdit other;
  other.offset = edit.offset + begin;
  other.before = text.str();
  other.after =
      ("{ .reg .b32 %mutantValue; mov.b32 %mutantValue, 2146302635; " +
       copy->guard + " st.shared.v4.b32 " + copy->operands.front() +
       ", {%mutantValue, %mutantValue, %mutantValue, %mutantValue}; "
       "}")
          .str();
  return {substitute(edited, other, other.after)};
}

std::vector<std::string> fusion::buildCorruptions(StringRef ptx,
                                                  const PtxEdit &edit) {
  if (edit.kind == PtxEditKind::Address)
    return moveAddress(ptx, edit);
  std::optional<Result> result = findResult(ptx, edit);
  if (!result)
    return {};
  if (llvm::is_contained(result->types, "pred"))
    return corruptCopies(ptx, edit, result->names.front());
  std::vector<std::string> variants;
  for (StringRef corruption : {"not.# $, ~", "xor.# $, ~, 21845", "mov.# $, 0"})
    variants.push_back(compare(ptx, edit, *result,
                               ("@%mutantDiffers " + corruption + "; ").str()));
  return variants;
}
