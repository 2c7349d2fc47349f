//===- Compilation.cpp - The result of one compilation --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the bytes of a compilation: fields in order, numbers of
// eight bytes, strings behind their length. Writer and reader are always the
// same build.
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"

#include <cstring>

using namespace mlir;
using namespace mlir::fusion;

namespace {
class Writer {
public:
  void number(uint64_t value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  void string(const std::string &value) {
    number(value.size());
    bytes += value;
  }
  void records(const std::vector<DiagnosticRecord> &list) {
    number(list.size());
    for (const DiagnosticRecord &one : list) {
      number(static_cast<uint64_t>(one.severity));
      number(static_cast<uint64_t>(one.message.number));
      string(one.message.cause);
      string(one.message.remedy);
      string(one.file);
      number(one.line);
      number(one.column);
      records(one.notes);
    }
  }

  std::string bytes;
};

class Reader {
public:
  explicit Reader(StringRef bytes) : bytes(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    if (bytes.size() < sizeof(value)) {
      complete = false;
      return 0;
    }
    std::memcpy(&value, bytes.data(), sizeof(value));
    bytes = bytes.drop_front(sizeof(value));
    return value;
  }
  std::string string() {
    uint64_t size = number();
    if (size > bytes.size()) {
      complete = false;
      return "";
    }
    std::string value = bytes.take_front(size).str();
    bytes = bytes.drop_front(size);
    return value;
  }
  std::vector<DiagnosticRecord> records() {
    std::vector<DiagnosticRecord> list;
    for (uint64_t count = number(); complete && count > 0; --count) {
      DiagnosticRecord one;
      one.severity = static_cast<DiagnosticSeverity>(number());
      one.message.number = static_cast<int>(number());
      one.message.cause = string();
      one.message.remedy = string();
      one.file = string();
      one.line = static_cast<unsigned>(number());
      one.column = static_cast<unsigned>(number());
      one.notes = records();
      list.push_back(std::move(one));
    }
    return list;
  }

  bool isDone() const { return complete && bytes.empty(); }

private:
  StringRef bytes;
  bool complete = true;
};
} // namespace

std::string FusionCompilation::write() const {
  Writer writer;
  writer.number(status);
  for (const std::string *text : {&output, &diagnostics, &explanation, &ledger})
    writer.string(*text);
  writer.records(records);
  return std::move(writer.bytes);
}

bool FusionCompilation::read(StringRef bytes) {
  Reader reader(bytes);
  status = static_cast<FusionStatus>(reader.number());
  for (std::string *text : {&output, &diagnostics, &explanation, &ledger})
    *text = reader.string();
  records = reader.records();
  return reader.isDone();
}

void FusionCompilation::addError(DiagnosticRecord record) {
  status = static_cast<FusionStatus>(getExitStatus(record.message.number));
  diagnostics += "error: " + record.message.str() + "\n";
  for (const DiagnosticRecord &note : record.notes)
    diagnostics += "note: " + note.message.cause + "\n";
  records.push_back(std::move(record));
}
