//===- ParseProgram.cpp - Programs as text --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the parsing of programs, and the hint for those that
// were not converted to linalg.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/ParseProgram.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A dialect that programs are converted from, and how.
struct ForeignDialect {
  StringLiteral prefix, remedy;
};
} // namespace

static constexpr StringLiteral kFromStableHLO =
    "convert the program first: python -m fusion_compiler.importing IN.mlir -o "
    "OUT.mlir (pip install torch-mlir), or compile the JAX function with "
    "fusion.jax.compile";
static constexpr StringLiteral kFromTorch =
    "export the program with output_type=\"linalg-on-tensors\" of torch-mlir";

static constexpr ForeignDialect kForeignDialects[] = {
    {"stablehlo", kFromStableHLO},
    {"chlo", kFromStableHLO},
    {"vhlo", "convert the program to StableHLO text first: "
             "stablehlo-translate --deserialize"},
    {"mhlo", "convert the program first: mlir-hlo-opt "
             "--hlo-legalize-to-stablehlo, then stablehlo-opt "
             "--stablehlo-legalize-to-linalg"},
    {"torch", kFromTorch},
    {"torch_c", kFromTorch},
    {"tm_tensor", kFromTorch},
    {"onnx", "compile the model with fusion.onnx.compile, or convert it: "
             "python -m fusion_compiler.importing IN.onnx -o OUT.mlir (pip "
             "install onnx torch-mlir)"},
    {"tfl", "convert the program to TOSA first: tf-opt "
            "--tfl-to-tosa-pipeline"},
};

/// True when `line` has an op, a type or an attribute of the dialect `prefix`.
static bool mentions(StringRef line, StringRef prefix) {
  line = line.split("//").first;
  for (size_t at = line.find(prefix); at != StringRef::npos;
       at = line.find(prefix, at + 1)) {
    bool begins = at == 0 || (!llvm::isAlnum(line[at - 1]) &&
                              !StringRef("_.$@").contains(line[at - 1]));
    if (begins && line.substr(at + prefix.size()).starts_with("."))
      return true;
  }
  return false;
}

/// The foreign dialect that `error` itself names: of bytecode there is no line.
static const ForeignDialect *findForeignNamed(const Diagnostic &error) {
  std::string message = error.str();
  for (const ForeignDialect &dialect : kForeignDialects)
    if (StringRef(message).contains(("'" + dialect.prefix + "'").str()))
      return &dialect;
  return nullptr;
}

/// The dialect that stands in the line of `error`, if it is a foreign one.
static const ForeignDialect *findForeign(llvm::SourceMgr &sources,
                                         const Diagnostic &error) {
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  if (isBytecode(buffer->getMemBufferRef()))
    return findForeignNamed(error);
  auto place = dyn_cast<FileLineColLoc>(error.getLocation());
  if (!place)
    return nullptr;
  StringRef text = buffer->getBuffer();
  for (unsigned line = 1; line < place.getLine(); ++line)
    text = text.split('\n').second;
  text = text.split('\n').first;
  for (const ForeignDialect &dialect : kForeignDialects)
    if (mentions(text, dialect.prefix))
      return &dialect;
  return nullptr;
}

/// Refuses a linalg.broadcast that names a dimension twice: it has too few left
/// for those of its operand.
static LogicalResult checkDimensions(linalg::BroadcastOp op) {
  DenseI64ArrayAttr added = op.getDimensionsAttr();
  if (!added)
    return success();
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t dim : added.asArrayRef())
    if (!seen.insert(dim).second)
      return op.emitOpError() << "dimension " << dim << " is named twice";
  return success();
}

/// Refuses an operand that is defined further down: verifiers of operations
/// rely on what those of their operands' operations have seen.
static LogicalResult checkOrder(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *definition = operand.get().getDefiningOp();
    Operation *user = definition
                          ? definition->getBlock()->findAncestorOpInBlock(*op)
                          : nullptr;
    if (!user || !mayHaveSSADominance(*definition->getParentRegion()))
      continue;
    if (user != definition && user->isBeforeInBlock(definition)) {
      InFlightDiagnostic error = op->emitOpError() << "uses operand #"
                                                   << operand.getOperandNumber()
                                                   << " before it is defined";
      error.attachNote(definition->getLoc()) << "it is defined here";
      return error;
    }
  }
  return success();
}

/// Refuses what upstream's verifier does not survive.
static LogicalResult checkVerifiable(ModuleOp module) {
  WalkResult result = module.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (failed(checkOrder(op)))
      return WalkResult::interrupt();
    auto broadcast = dyn_cast<linalg::BroadcastOp>(op);
    return WalkResult(broadcast ? checkDimensions(broadcast) : success());
  });
  return failure(result.wasInterrupted());
}

static OwningOpRef<ModuleOp> parseAndVerify(llvm::SourceMgr &sources,
                                            MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(
      sources, ParserConfig(context, /*verifyAfterParse=*/false));
  if (module && (failed(checkVerifiable(*module)) || failed(verify(*module))))
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> fusion::parseProgram(llvm::SourceMgr &sources,
                                           MLIRContext *context) {
  std::vector<Diagnostic> said;
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      said.push_back(std::move(diagnostic));
    });
    module = parseAndVerify(sources, context);
  }
  bool hasError = llvm::any_of(said, [](const Diagnostic &diagnostic) {
    return diagnostic.getSeverity() == DiagnosticSeverity::Error;
  });
  // Some of upstream's operations are not parsed, and do not say so.
  if (!module && !hasError) {
    StringRef name =
        sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier();
    emitCodedError(FileLineColLoc::get(context, name, 1, 1),
                   ErrorCode::InputInvalid,
                   "an operation is malformed, and its parser does not say "
                   "which");
  }
  for (Diagnostic &diagnostic : said) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      if (const ForeignDialect *dialect = findForeign(sources, diagnostic)) {
        emitCodedError(diagnostic.getLocation(), ErrorCode::UnsupportedOp,
                       "the program uses the dialect '" + dialect->prefix + "'",
                       dialect->remedy);
        break;
      }
    context->getDiagEngine().emit(std::move(diagnostic));
  }
  return module;
}
