//===- Modifiers.cpp - Modifiers of an instruction ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the modifiers of one instruction.
//
//===----------------------------------------------------------------------===//

#include "Decode/Modifiers.h"
#include "Parse/Parser.h"

#include <algorithm>

using namespace fusionemu;

bool Modifiers::take(std::string_view name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (!used[i] && list[i] == name) {
      used[i] = true;
      return true;
    }
  return false;
}

int Modifiers::takeOneOf(std::initializer_list<std::string_view> names) {
  int index = 0;
  for (std::string_view name : names) {
    if (take(name))
      return index;
    ++index;
  }
  return -1;
}

bool Modifiers::takePrefix(std::string_view prefix) {
  bool any = false;
  for (size_t i = 0; i < list.size(); ++i)
    if (!used[i] && list[i].substr(0, prefix.size()) == prefix)
      used[i] = any = true;
  return any;
}

Type Modifiers::takeType() {
  for (size_t i = 0; i < list.size(); ++i) {
    if (used[i])
      continue;
    Type type = parseType(list[i]);
    if (type == Type::None)
      continue;
    used[i] = true;
    return type;
  }
  return Type::None;
}

bool Modifiers::takeRound(Round &round) {
  switch (takeOneOf({"rn", "rz", "rm", "rp"})) {
  case 0:
    round = Round::Nearest;
    return true;
  case 1:
    round = Round::Zero;
    return true;
  case 2:
    round = Round::Down;
    return true;
  case 3:
    round = Round::Up;
    return true;
  default:
    return false;
  }
}

bool Modifiers::has(std::string_view name) const {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool Modifiers::allTaken() const {
  return std::find(used.begin(), used.end(), false) == used.end();
}
