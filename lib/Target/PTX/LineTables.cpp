//===- LineTables.cpp - Debug scopes for PTX line tables --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the preparation of a module's locations for .loc
// directives.
//
//===----------------------------------------------------------------------===//

#include "LineTables.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fusion;

/// The first file position inside `loc`, outermost first; a call site counts
/// as its callee. Null when there is none.
static FileLineColRange findFilePosition(Location loc) {
  FileLineColRange found;
  loc->walk([&](Location nested) {
    found = dyn_cast<FileLineColRange>(nested);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

namespace {
/// Builds the debug attributes of one module.
class ScopeBuilder {
public:
  explicit ScopeBuilder(MLIRContext *context) : context(context) {}

  /// The position as the text names it: the file's name without its folder, so
  /// that equal programs give equal PTX wherever they were compiled.
  FileLineColLoc position(FileLineColRange range) {
    StringAttr name = StringAttr::get(
        context, llvm::sys::path::filename(range.getFilename().getValue()));
    return FileLineColLoc::get(name, range.getStartLine(),
                               range.getStartColumn());
  }

  LLVM::DISubprogramAttr subprogram(LLVM::LLVMFuncOp func,
                                    FileLineColLoc position) {
    LLVM::DIFileAttr file =
        LLVM::DIFileAttr::get(context, position.getFilename().getValue(), "");
    auto name = StringAttr::get(context, func.getName());
    auto type = LLVM::DISubroutineTypeAttr::get(
        context, llvm::dwarf::DW_CC_normal, /*types=*/{});
    return LLVM::DISubprogramAttr::get(
        context, distinct(), compileUnit(file), file, name, name, file,
        position.getLine(), position.getLine(),
        LLVM::DISubprogramFlags::Definition |
            LLVM::DISubprogramFlags::Optimized,
        type, /*retainedNodes=*/{}, /*annotations=*/{});
  }

  /// `position` for an operation inside `subprogram`. The export takes the
  /// file from the scope, so a position in another file brings its own.
  Location inside(FileLineColLoc position, LLVM::DISubprogramAttr subprogram) {
    LLVM::DIFileAttr file =
        LLVM::DIFileAttr::get(context, position.getFilename().getValue(), "");
    if (file == subprogram.getFile())
      return position;
    auto scope = LLVM::DILexicalBlockFileAttr::get(context, subprogram, file,
                                                   /*discriminator=*/0);
    return FusedLoc::get(context, {position}, scope);
  }

private:
  DistinctAttr distinct() {
    return DistinctAttr::create(UnitAttr::get(context));
  }

  /// One compile unit a module. It asks for directives only: full tables would
  /// mark the text `.target debug`, which ptxas takes as a wish to not
  /// optimise.
  LLVM::DICompileUnitAttr compileUnit(LLVM::DIFileAttr file) {
    if (!unit)
      unit = LLVM::DICompileUnitAttr::get(
          distinct(), llvm::dwarf::DW_LANG_C, file,
          StringAttr::get(context, "fusion"), /*isOptimized=*/true,
          LLVM::DIEmissionKind::DebugDirectivesOnly);
    return unit;
  }

  MLIRContext *context;
  LLVM::DICompileUnitAttr unit;
};
} // namespace

void mlir::fusion::attachLineTables(Operation *module) {
  MLIRContext *context = module->getContext();
  ScopeBuilder builder(context);
  module->walk([&](LLVM::LLVMFuncOp func) {
    if (func.isExternal())
      return;
    FileLineColRange position = findFilePosition(func.getLoc());
    // A function without a place borrows the first one of its body.
    if (!position)
      func.walk([&](Operation *op) {
        position = findFilePosition(op->getLoc());
        return position ? WalkResult::interrupt() : WalkResult::advance();
      });
    if (!position)
      return;
    FileLineColLoc start = builder.position(position);
    LLVM::DISubprogramAttr scope = builder.subprogram(func, start);
    func->setLoc(FusedLoc::get(context, {start}, scope));
    func.getBody().walk([&](Operation *op) {
      if (FileLineColRange place = findFilePosition(op->getLoc()))
        op->setLoc(builder.inside(builder.position(place), scope));
      else if (isa<LLVM::CallOp>(op))
        // LLVM demands a place of every call that it might inline.
        op->setLoc(start);
      else
        op->setLoc(UnknownLoc::get(context));
    });
  });
}

void mlir::fusion::stripLineTables(Operation *module) {
  auto unknown = UnknownLoc::get(module->getContext());
  module->walk([&](Operation *op) { op->setLoc(unknown); });
}
