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

/// One error, or none. Converts to true when it holds an error.
class [[nodiscard]] Error {
public:
  Error() = default;
  Error(ErrorCode code, std::string cause)
      : code(code), cause(std::move(cause)), remedy(getDefaultRemedy(code)) {}
  Error(ErrorCode code, std::string cause, std::string remedy)
      : code(code), cause(std::move(cause)), remedy(std::move(remedy)) {}

  explicit operator bool() const { return code != ErrorCode::None; }
  ErrorCode getCode() const { return code; }
  const std::string &getCause() const { return cause; }
  const std::string &getRemedy() const { return remedy; }

  /// Puts the place in front of the cause: "<place>: <cause>".
  Error inContext(const std::string &place) const {
    return Error(code, place + ": " + cause, remedy);
  }

  /// "FUS-5001: <cause>; <remedy>".
  std::string str() const;

private:
  ErrorCode code = ErrorCode::None;
  std::string cause, remedy;
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
