//===- TargetFile.cpp - Measured constants in files -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the text form of a chip's fitted constants.
//
//===----------------------------------------------------------------------===//

#include "fusion/Pipelines/TargetFile.h"
#include "fusion/Analysis/TargetConstants.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <limits>

using namespace mlir;
using namespace mlir::fusion;

/// Grows when a constant gets another meaning: values measured before do not
/// suit then.
static constexpr int64_t kVersion = 1;

/// The constants in `file`, which are `target`'s.
static llvm::Expected<DictionaryAttr>
readConstants(const llvm::json::Value &file, const TargetInfo &target,
              Builder builder) {
  const llvm::json::Object *object = file.getAsObject();
  if (!object || object->getInteger("version") != kVersion)
    return llvm::createStringError("it is not of version " + Twine(kVersion));
  StringRef chip = object->getString("chip").value_or("");
  if (chip != target.name)
    return llvm::createStringError("it is for '" + chip + "', not " +
                                   target.name);
  const llvm::json::Object *groups = object->getObject("fitted");
  if (!groups)
    return llvm::createStringError("it has no constants");
  TargetInfo changed = target;
  SmallVector<NamedAttribute> attributes;
  for (const auto &[group, constants] : *groups) {
    SmallVector<NamedAttribute> own;
    if (!constants.getAsObject())
      return llvm::createStringError("'" + group.str() +
                                     "' is no group of constants");
    for (const auto &[name, number] : *constants.getAsObject()) {
      double value = number.getAsNumber().value_or(
          std::numeric_limits<double>::quiet_NaN());
      if (llvm::Error error = setConstant(changed, group, name, value))
        return error;
      own.push_back(builder.getNamedAttr(StringRef(name),
                                         builder.getF64FloatAttr(value)));
    }
    attributes.push_back(
        builder.getNamedAttr(StringRef(group), builder.getDictionaryAttr(own)));
  }
  return builder.getDictionaryAttr(attributes);
}

FailureOr<DictionaryAttr> mlir::fusion::readTargetFile(StringRef path,
                                                       const TargetInfo &target,
                                                       Location loc) {
  auto refuse = [&](const Twine &cause, StringRef remedy = "") {
    emitCodedError(loc, ErrorCode::BadTargetConstants, path + ": " + cause,
                   remedy);
    return failure();
  };
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return refuse(buffer.getError().message(),
                  "check the path and its permissions");
  llvm::Expected<llvm::json::Value> file =
      llvm::json::parse((*buffer)->getBuffer());
  if (!file)
    return refuse(llvm::toString(file.takeError()));
  llvm::Expected<DictionaryAttr> constants =
      readConstants(*file, target, Builder(loc.getContext()));
  if (!constants)
    return refuse(llvm::toString(constants.takeError()));
  return *constants;
}

void mlir::fusion::writeTargetFile(const TargetInfo &target, raw_ostream &os) {
  llvm::json::Object groups;
  target.fitted.visit([&](StringRef group, StringRef name, double value) {
    llvm::json::Value &constants =
        groups.try_emplace(group, llvm::json::Object()).first->second;
    (*constants.getAsObject())[name] = value;
  });
  os << llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object{
                                     {"version", kVersion},
                                     {"chip", target.name},
                                     {"part", target.fitted.part},
                                     {"fitted", std::move(groups)}}));
}
