//===- Diagnostics.cpp - Diagnostics with their parts ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements how a diagnostic of MLIR gets its code, its remedy and
// its place.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/Diagnostics.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace mlir::fusion;

static DiagnosticRecord makeRecord(Diagnostic &diagnostic) {
  DiagnosticRecord record;
  record.severity = diagnostic.getSeverity();
  // A location may hold others; the first place in a file is the text's own.
  LocationAttr location = diagnostic.getLocation();
  location.walk([&](Location part) {
    auto place = dyn_cast<FileLineColRange>(part);
    if (!place)
      return WalkResult::advance();
    record.file = place.getFilename().str();
    record.line = place.getStartLine();
    record.column = place.getStartColumn();
    return WalkResult::interrupt();
  });
  return record;
}

CodedDiagnostics::CodedDiagnostics(llvm::SourceMgr &sourceMgr,
                                   MLIRContext *context, raw_ostream &os)
    : SourceMgrDiagnosticHandler(sourceMgr, context, os) {
  // The op is at the place shown; printing it again hides the message.
  context->printOpOnDiagnostic(false);
  setHandler([this](Diagnostic &diagnostic) {
    handle(diagnostic);
    return success();
  });
}

void CodedDiagnostics::handle(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
    return;
  DiagnosticRecord record = makeRecord(diagnostic);
  std::string text = diagnostic.str();
  if (record.severity == DiagnosticSeverity::Error) {
    if (!findErrorNumber(text))
      text = formatError(defaultCode, text);
    record.message = parseMessage(text);
    text = record.message.str();
    if (exitStatus == kExitOk)
      exitStatus = fusion::getExitStatus(record.message.number);
  } else {
    record.message = parseMessage(text);
  }
  emitDiagnostic(diagnostic.getLocation(), text, diagnostic.getSeverity());
  for (Diagnostic &note : diagnostic.getNotes()) {
    DiagnosticRecord noteRecord = makeRecord(note);
    noteRecord.message.cause = note.str();
    emitDiagnostic(note.getLocation(), noteRecord.message.cause,
                   note.getSeverity());
    record.notes.push_back(std::move(noteRecord));
  }
  records.push_back(std::move(record));
}
