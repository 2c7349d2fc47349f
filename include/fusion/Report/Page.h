//===- Page.h - A compilation as a page of HTML -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the page of --report: one file that shows an explanation
// (docs/schema/explanation.schema.json) as pictures, and asks no network for
// anything.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REPORT_PAGE_H
#define FUSION_REPORT_PAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <utility>
#include <vector>

namespace mlir::fusion {

/// A text in named parts that the page shows when it is asked for.
struct PageText {
  std::string name, description;
  /// Name and text of each part.
  std::vector<std::pair<std::string, std::string>> parts;
};

/// The page of `explanation`, with `texts` as phases of the compilation and
/// `program` as the text that lines of `programName` are of.
std::string renderPage(const llvm::json::Object &explanation,
                       llvm::ArrayRef<PageText> texts,
                       llvm::StringRef programName, llvm::StringRef program);

} // namespace mlir::fusion

#endif // FUSION_REPORT_PAGE_H
