//===- Contracts.cpp - What programs ask of ops, through rewrites ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements how contracts (`fusion.must`, `fusion.never`,
// `fusion.tf32`) outlive the rewrites of the input phase, upstream's included.
// Rewrites drop discardable attributes, or leave them on a scalar op in a body,
// but they give what they build the location of what it replaces. So contracts
// travel in locations, and return to the ops that compute tensors at the end.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Preprocessing/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_NOTECONTRACTSPASS
#define GEN_PASS_DEF_RESTORECONTRACTSPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// Attributes that hold for everything that an op is rewritten into.
static constexpr StringLiteral kContracts[] = {
    FusionDialect::kMustAttrName, FusionDialect::kNeverAttrName, "fusion.tf32"};

/// The key under which a location has contracts.
static constexpr StringLiteral kNotedKey = "fusion.contracts";

/// The contracts that `loc` itself notes, or null.
static DictionaryAttr getNoted(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto metadata = fused
                      ? dyn_cast_if_present<DictionaryAttr>(fused.getMetadata())
                      : DictionaryAttr();
  return metadata ? metadata.getAs<DictionaryAttr>(kNotedKey)
                  : DictionaryAttr();
}

namespace {
struct NoteContractsPass
    : public fusion::impl::NoteContractsPassBase<NoteContractsPass> {
  using Base::Base;

  /// Moves the contracts of `op` into its location.
  static void note(Operation *op) {
    NamedAttrList contracts;
    for (StringRef name : kContracts)
      if (Attribute value = op->removeDiscardableAttr(name))
        contracts.append(name, value);
    if (contracts.empty())
      return;
    Builder builder(op->getContext());
    NamedAttribute entry = builder.getNamedAttr(
        kNotedKey, contracts.getDictionary(op->getContext()));
    op->setLoc(FusedLoc::get(op->getContext(), op->getLoc(),
                             builder.getDictionaryAttr(entry)));
  }

  void runOnOperation() override {
    // The attributes of the function itself stay.
    getOperation().getBody().walk(note);
  }
};

struct RestoreContractsPass
    : public fusion::impl::RestoreContractsPassBase<RestoreContractsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      for (Operation &op : block)
        if (isa<linalg::LinalgOp, tensor::PadOp, tensor::ConcatOp,
                tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) ||
            isa_and_present<FusionDialect>(op.getDialect()))
          restore(&op);
    // Nobody else is to see them.
    AttrTypeReplacer replacer;
    replacer.addReplacement([](FusedLoc loc) -> std::optional<Attribute> {
      if (!getNoted(loc))
        return std::nullopt;
      return LocationAttr(loc.getLocations().front());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(),
                                          /*replaceAttrs=*/false,
                                          /*replaceLocs=*/true);
  }

  /// Gives `op` the contracts that its location notes.
  static void restore(Operation *op) {
    op->getLoc()->walk([&](Location loc) {
      if (DictionaryAttr contracts = getNoted(loc))
        for (NamedAttribute contract : contracts)
          op->setDiscardableAttr(contract.getName(), contract.getValue());
      return WalkResult::advance();
    });
  }
};
} // namespace
