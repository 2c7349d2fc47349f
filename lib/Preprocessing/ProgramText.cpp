//===- ProgramText.cpp - Text that may be parsed --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the checks of a program's text.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/ProgramText.h"

#include "fusion/Executable/Package.h"
#include "fusion/Preprocessing/ParserFaults.h"
#include "fusion/Support/ErrorCodes.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult fusion::checkProgramText(StringRef text, StringRef name,
                                       MLIRContext *context) {
  if (fusionpkg::looksLikePackage(text.data(), text.size()))
    return emitCodedError(UnknownLoc::get(context), ErrorCode::InputInvalid,
                          name + " is a package, not a program",
                          "give the text it was compiled from");
  if (name.ends_with(".onnx"))
    return emitCodedError(UnknownLoc::get(context), ErrorCode::InputInvalid,
                          name + " is an ONNX model",
                          "compile it with fusion.onnx.compile, or convert "
                          "it: python -m fusion_compiler.importing IN.onnx -o "
                          "OUT.mlir (pip install onnx torch-mlir)");
  if (text.contains('\0') || text.starts_with("ML\xEFR"))
    return emitCodedError(UnknownLoc::get(context), ErrorCode::InputInvalid,
                          name + " is not text",
                          "give the program as MLIR text; the tools take its "
                          "bytecode too");
  if (std::optional<TextPosition> deep = findDeepNesting(text))
    return emitCodedError(
        FileLineColLoc::get(context, name, deep->line, deep->column),
        ErrorCode::InputTooDeep,
        "brackets nest more than " + Twine(kMaxNestingDepth) + " deep");
  if (std::optional<ParserFault> fault = findParserFault(text))
    return emitCodedError(FileLineColLoc::get(context, name, fault->place.line,
                                              fault->place.column),
                          ErrorCode::InputInvalid, fault->cause);
  return success();
}
