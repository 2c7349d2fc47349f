//===- OpSources.cpp - Where an op comes from -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reading places and names out of locations.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/OpSources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fusion;

OpSources fusion::getOpSources(Location loc) {
  OpSources sources;
  auto add = [](std::vector<std::string> &texts, const Twine &text) {
    std::string valid = llvm::json::fixUTF8(text.str());
    if (texts.size() < kMostSources && !llvm::is_contained(texts, valid))
      texts.push_back(std::move(valid));
  };
  loc->walk([&](Location part) {
    if (auto place = dyn_cast<FileLineColRange>(part))
      add(sources.places,
          llvm::sys::path::filename(place.getFilename().getValue()) + ":" +
              Twine(place.getStartLine()));
    else if (auto name = dyn_cast<NameLoc>(part))
      add(sources.names, name.getName().strref());
    return WalkResult::advance();
  });
  return sources;
}
