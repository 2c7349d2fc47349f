//===- Error.h - Coded errors without exceptions ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the error value that the package library and the runtime
// return: a code from Errors.def, what is wrong and where, and what to do.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_EXECUTABLE_ERROR_H
#define FUSION_EXECUTABLE_ERROR_H

#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fusionpkg {

/// Every code of the package library and the runtime. The value is the number
/// that users see as FUS-nnnn.
enum class ErrorCode : int {
  None = 0,
#define FUSION_ERROR(name, number, meaning, remedy) name = number,
#include "fusion/Executable/Errors.def"
};

/// What the table says about one code.
struct ErrorInfo {
  ErrorCode code;
  const char *name, *meaning, *remedy;
};

/// The table, in the order of the numbers.
const std::vector<ErrorInfo> &getErrorTable();

/// The remedy that goes with `code` when the place of the error knows none
/// that is more exact.
const char *getDefaultRemedy(ErrorCode code);

/// One error, or none. Converts to true when it holds an error. No error is a
/// null pointer, since launches pass one through every call.
class [[nodiscard]] Error {
public:
  Error() = default;
  Error(ErrorCode code, std::string cause)
      : Error(code, std::move(cause), getDefaultRemedy(code)) {}
  Error(ErrorCode code, std::string cause, std::string remedy)
      : content(std::make_shared<const Content>(
            Content{code, std::move(cause), std::move(remedy)})) {
    assert(code != ErrorCode::None && "an error needs a code");
  }

  explicit operator bool() const { return content != nullptr; }
  ErrorCode getCode() const {
    return content ? content->code : ErrorCode::None;
  }
  std::string getCause() const { return content ? content->cause : ""; }
  std::string getRemedy() const { return content ? content->remedy : ""; }

  /// Puts the place in front of the cause: "<place>: <cause>".
  Error inContext(const std::string &place) const {
    return Error(getCode(), place + ": " + getCause(), getRemedy());
  }

  /// "FUS-5001: <cause>; <remedy>".
  std::string str() const;

private:
  struct Content {
    ErrorCode code;
    std::string cause, remedy;
  };
  std::shared_ptr<const Content> content;
};

/// A value, or the error that stood in its way.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Error error) : error(std::move(error)) {
    assert(this->error && "a result without a value needs an error");
  }

  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }
  const Error &getError() const { return error; }

private:
  std::optional<T> value;
  Error error;
};

} // namespace fusionpkg

#endif // FUSION_EXECUTABLE_ERROR_H
