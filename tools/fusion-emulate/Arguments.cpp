//===- Arguments.cpp - Arguments of a kernel from text --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the arguments of fusion-emulate: reading them, creating
// their buffers, and printing what a kernel left there.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

using namespace fusionemu;

std::vector<std::string> fusionemu::split(const std::string &text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);)
    parts.push_back(part);
  return parts;
}

bool fusionemu::parseInteger(const std::string &text, int64_t &value) {
  char *end = nullptr;
  errno = 0;
  value = std::strtoll(text.c_str(), &end, 0);
  if (errno == ERANGE) {
    errno = 0;
    value = int64_t(std::strtoull(text.c_str(), &end, 0));
  }
  return !text.empty() && *end == 0 && errno == 0;
}

static unsigned sizeOf(const std::string &type) {
  if (type.size() < 2 || std::strchr("iuf", type[0]) == nullptr)
    return 0;
  std::string bits = type.substr(1);
  unsigned bytes = bits == "8"    ? 1
                   : bits == "16" ? 2
                   : bits == "32" ? 4
                   : bits == "64" ? 8
                                  : 0;
  return type[0] == 'f' && bytes < 4 ? 0 : bytes;
}

/// Appends `text` as one value of `type`.
static bool appendValue(const std::string &type, const std::string &text,
                        std::vector<uint8_t> &bytes) {
  unsigned size = sizeOf(type);
  uint64_t bits = 0;
  if (type[0] == 'f') {
    char *end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0)
      return false;
    if (size == 4) {
      float narrow = float(value);
      std::memcpy(&bits, &narrow, 4);
    } else {
      std::memcpy(&bits, &value, 8);
    }
  } else {
    int64_t value;
    if (!parseInteger(text, value))
      return false;
    bits = uint64_t(value);
  }
  const auto *begin = reinterpret_cast<const uint8_t *>(&bits);
  bytes.insert(bytes.end(), begin, begin + size);
  return true;
}

/// Makes the contents of a buffer from TYPE=VALUE or TYPE=iota.
static bool makeFill(const std::string &fill, uint64_t size,
                     std::vector<uint8_t> &bytes) {
  size_t equals = fill.find('=');
  if (equals == std::string::npos)
    return false;
  std::string type = fill.substr(0, equals), value = fill.substr(equals + 1);
  unsigned element = sizeOf(type);
  if (element == 0 || size % element != 0)
    return false;
  for (uint64_t i = 0; i < size / element; ++i)
    if (!appendValue(type, value == "iota" ? std::to_string(i) : value, bytes))
      return false;
  return true;
}

static bool parseScalar(const std::vector<std::string> &parts,
                        Argument &argument) {
  return parts.size() == 2 && sizeOf(parts[0]) != 0 &&
         appendValue(parts[0], parts[1], argument.bytes);
}

/// buf:NAME:BYTES[:FILL] or out:NAME:TYPE:COUNT[:FILL]
static bool parseBuffer(const std::vector<std::string> &parts,
                        Argument &argument) {
  argument.kind = Argument::Kind::Buffer;
  argument.isOutput = parts[0] == "out";
  size_t countAt = argument.isOutput ? 3 : 2;
  if (parts.size() <= countAt || parts.size() > countAt + 2)
    return false;
  argument.name = parts[1];
  int64_t count;
  if (!parseInteger(parts[countAt], count) || count < 0)
    return false;
  unsigned element = 1;
  if (argument.isOutput) {
    argument.type = parts[2];
    element = sizeOf(argument.type);
    if (element == 0 || count > (int64_t(1) << 32))
      return false;
  }
  argument.size = uint64_t(count) * element;
  if (parts.size() > countAt + 1)
    argument.fill = parts[countAt + 1];
  return true;
}

/// tmap:BUFFER:MAP
static bool parseMap(const std::string &text, Argument &argument,
                     std::string &error) {
  argument.kind = Argument::Kind::TensorMap;
  size_t name = text.find(':') + 1, map = text.find(':', name);
  if (map == std::string::npos || map == name)
    return false;
  argument.name = text.substr(name, map - name);
  Status status =
      parseTensorMap(std::string_view(text).substr(map + 1), argument.map);
  if (!status.ok())
    error = status.message();
  return status.ok();
}

bool fusionemu::parseArgument(const std::string &text, Argument &argument,
                              std::string &error) {
  error = "cannot read the argument '" + text + "'";
  std::vector<std::string> parts = split(text, ':');
  if (parts.empty())
    return false;
  if (parts[0] == "buf" || parts[0] == "out")
    return parseBuffer(parts, argument);
  if (parts[0] == "tmap")
    return parseMap(text, argument, error);
  return parseScalar(parts, argument);
}

/// Allocates and fills one buffer.
static Preparation createBuffer(Argument &a, Memory &memory, std::string &error,
                                Status &status) {
  status = memory.allocate(a.size, a.name, a.address);
  if (!status.ok())
    return Preparation::Failed;
  std::vector<uint8_t> contents;
  if (!a.fill.empty()) {
    if (!makeFill(a.fill, a.size, contents)) {
      error = "cannot fill '" + a.name + "' with '" + a.fill + "'";
      return Preparation::BadUsage;
    }
    status = memory.write(a.address, contents.data(), a.size);
    if (!status.ok())
      return Preparation::Failed;
  }
  const auto *begin = reinterpret_cast<const uint8_t *>(&a.address);
  a.bytes.assign(begin, begin + 8);
  return Preparation::Done;
}

static const Argument *findBuffer(const std::vector<Argument> &list,
                                  const std::string &name) {
  for (const Argument &a : list)
    if (a.kind == Argument::Kind::Buffer && a.name == name)
      return &a;
  return nullptr;
}

/// Encodes the map over its buffer, which exists already.
static bool createMap(Argument &a, const std::vector<Argument> &arguments,
                      const std::vector<Argument> &buffers,
                      std::string &error) {
  const Argument *buffer = findBuffer(arguments, a.name);
  if (!buffer)
    buffer = findBuffer(buffers, a.name);
  if (!buffer) {
    error = "there is no buffer '" + a.name + "' for the tensor map";
    return false;
  }
  TensorMapInfo map = a.map;
  map.globalAddress += buffer->address;
  uint8_t bytes[tensorMapBytes];
  if (Status s = encodeTensorMap(map, bytes); !s.ok()) {
    error = s.message() + ", in the tensor map of '" + a.name + "'";
    return false;
  }
  a.bytes.assign(bytes, bytes + tensorMapBytes);
  return true;
}

static bool checkParameter(const Argument &a, const ParameterInfo &p,
                           size_t index, std::string &error) {
  if (a.bytes.size() != p.size) {
    error = "argument " + std::to_string(index) + " has " +
            std::to_string(a.bytes.size()) + " bytes, the kernel takes " +
            std::to_string(p.size);
    return false;
  }
  if (a.kind != Argument::Kind::TensorMap || p.align % tensorMapAlign == 0)
    return true;
  error = "argument " + std::to_string(index) +
          " is a tensor map, the kernel aligns it to " +
          std::to_string(p.align) + " bytes instead of " +
          std::to_string(tensorMapAlign);
  return false;
}

Preparation fusionemu::prepareArguments(std::vector<Argument> &arguments,
                                        std::vector<Argument> &buffers,
                                        const KernelInfo &kernel,
                                        Memory &memory,
                                        std::vector<uint8_t> &block,
                                        std::string &error, Status &status) {
  if (arguments.size() != kernel.parameters.size()) {
    error = "kernel '" + kernel.name + "' takes " +
            std::to_string(kernel.parameters.size()) + " arguments, " +
            std::to_string(arguments.size()) + " are given";
    return Preparation::BadUsage;
  }
  for (std::vector<Argument> *list : {&arguments, &buffers})
    for (Argument &a : *list)
      if (a.kind == Argument::Kind::Buffer)
        if (Preparation p = createBuffer(a, memory, error, status);
            p != Preparation::Done)
          return p;
  block.assign(kernel.argumentBytes, 0);
  for (size_t i = 0; i < arguments.size(); ++i) {
    Argument &a = arguments[i];
    if (a.kind == Argument::Kind::TensorMap &&
        !createMap(a, arguments, buffers, error))
      return Preparation::BadUsage;
    const ParameterInfo &p = kernel.parameters[i];
    if (!checkParameter(a, p, i, error))
      return Preparation::BadUsage;
    std::memcpy(block.data() + p.offset, a.bytes.data(), p.size);
  }
  return Preparation::Done;
}

template <typename T>
static void printAs(const std::vector<uint8_t> &bytes, const char *format,
                    std::FILE *file) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    std::fprintf(file, format, value);
  }
}

void fusionemu::printBuffer(const Argument &a,
                            const std::vector<uint8_t> &bytes,
                            std::FILE *file) {
  std::fprintf(file, "%s:", a.name.c_str());
  if (a.type == "f32") {
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      float value;
      std::memcpy(&value, bytes.data() + i, 4);
      std::fprintf(file, " %.9g", double(value));
    }
  } else if (a.type == "f64") {
    printAs<double>(bytes, " %.17g", file);
  } else if (a.type == "i8") {
    printAs<int8_t>(bytes, " %d", file);
  } else if (a.type == "u8") {
    printAs<uint8_t>(bytes, " %u", file);
  } else if (a.type == "i16") {
    printAs<int16_t>(bytes, " %d", file);
  } else if (a.type == "u16") {
    printAs<uint16_t>(bytes, " %u", file);
  } else if (a.type == "i32") {
    printAs<int32_t>(bytes, " %d", file);
  } else if (a.type == "u32") {
    printAs<uint32_t>(bytes, " %u", file);
  } else if (a.type == "i64") {
    printAs<long long>(bytes, " %lld", file);
  } else {
    printAs<unsigned long long>(bytes, " %llu", file);
  }
  std::fprintf(file, "\n");
}
