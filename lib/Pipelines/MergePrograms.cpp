//===- MergePrograms.cpp - One program for equal kernels ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that lets equal kernels share one program.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Pipelines/Passes.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/Hashing.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_MERGEPROGRAMSPASS
#include "fusion/Pipelines/Passes.h.inc"
} // namespace mlir::fusion

#define DEBUG_TYPE "fusion-tile-merge-programs"

using namespace mlir;
using namespace mlir::fusion;

/// The attributes of a program that are not its name.
static DictionaryAttr getFacts(tile::ProgramOp program) {
  NamedAttrList attributes(program->getAttrDictionary());
  attributes.erase(SymbolTable::getSymbolAttrName());
  return attributes.getDictionary(program.getContext());
}

/// Equal for equal programs.
static llvm::hash_code getHash(tile::ProgramOp program) {
  llvm::hash_code hash = llvm::hash_combine(getFacts(program));
  program.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName(), op->getAttrDictionary(),
                              op->getResultTypes());
  });
  return hash;
}

static bool isEqual(tile::ProgramOp lhs, tile::ProgramOp rhs) {
  return getFacts(lhs) == getFacts(rhs) &&
         OperationEquivalence::isRegionEquivalentTo(
             &lhs.getBody(), &rhs.getBody(),
             OperationEquivalence::IgnoreLocations);
}

namespace {
class MergeProgramsPass
    : public fusion::impl::MergeProgramsPassBase<MergeProgramsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    // The first of equal programs stays.
    DenseMap<size_t, SmallVector<tile::ProgramOp, 1>> kept;
    DenseMap<StringAttr, FlatSymbolRefAttr> replacements;
    for (auto program :
         llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>())) {
      SmallVector<tile::ProgramOp, 1> &equals =
          kept[static_cast<size_t>(getHash(program))];
      auto *known = llvm::find_if(equals, [&](tile::ProgramOp other) {
        return isEqual(program, other);
      });
      if (known == equals.end()) {
        equals.push_back(program);
        continue;
      }
      replacements[program.getSymNameAttr()] =
          FlatSymbolRefAttr::get(known->getSymNameAttr());
      program.erase();
    }
    if (replacements.empty())
      return markAllAnalysesPreserved();
    getOperation().walk([&](KernelOp kernel) {
      auto program = kernel->getAttrOfType<FlatSymbolRefAttr>("program");
      if (!program)
        return;
      if (FlatSymbolRefAttr other = replacements.lookup(program.getAttr()))
        kernel->setAttr("program", other);
    });
  }
};
} // namespace
