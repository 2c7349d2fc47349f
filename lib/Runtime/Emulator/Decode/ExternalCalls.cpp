//===- ExternalCalls.cpp - printf and assert ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements calls of the functions that every CUDA driver has:
// vprintf and __assertfail. Formats and their arguments come from the kernel
// and are treated as hostile.
//
//===----------------------------------------------------------------------===//

#include "Decode/Families.h"
#include "Machine/Launch.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

using namespace fusionemu;

/// Bounds of what one call may print. Longer texts are cut off.
static constexpr size_t maxText = 4096;
static constexpr int maxField = 1024;

/// The host address of `bytes` bytes at a generic address, as lane `lane` sees
/// it; null with an error when they are not there.
static const uint8_t *readGeneric(Context &c, unsigned lane, uint64_t address,
                                  unsigned bytes) {
  auto fits = [&](uint64_t offset, uint64_t limit) {
    return offset <= limit && limit - offset >= bytes;
  };
  uint64_t localBytes = c.kernel->info.localBytes;
  uint64_t offset = address - localWindow;
  if (offset < windowBytes) {
    if (fits(offset, localBytes))
      return c.warp->local + lane * localBytes + offset;
    failSpace(c, lane, "local", offset, localBytes, bytes, "reads");
    return nullptr;
  }
  offset = address - sharedWindow;
  if (hasOwnSharedBits(offset))
    offset -= ownSharedBits;
  if (offset < windowBytes) {
    if (fits(offset, c.block->sharedBytes))
      return c.block->shared + offset;
    failSpace(c, lane, "shared", offset, c.block->sharedBytes, bytes, "reads");
    return nullptr;
  }
  Allocation *a = findAllocation(c, address);
  if (a && a->live && fits(address - a->base, a->size))
    return a->data + (address - a->base);
  failGlobal(c, lane, address, bytes, "reads");
  return nullptr;
}

/// Reads a text that ends with a zero; false with an error.
static bool readText(Context &c, unsigned lane, uint64_t address,
                     std::string &text) {
  text.clear();
  while (text.size() < maxText) {
    const uint8_t *p = readGeneric(c, lane, address + text.size(), 1);
    if (!p)
      return false;
    if (*p == 0)
      return true;
    text += char(*p);
  }
  return true;
}

/// The k-th argument of a call, which lies in the caller's frame.
static uint64_t readArgument(const Context &c, const Instruction &I,
                             unsigned lane, unsigned k, unsigned bytes) {
  uint32_t offset = uint32_t(c.kernel->extraOperands[I.target + k]);
  uint64_t value = 0;
  std::memcpy(&value,
              c.warp->local + uint64_t(lane) * c.kernel->info.localBytes +
                  offset,
              bytes);
  return value;
}

namespace {
/// One conversion of a format, "%-8.3f".
struct Conversion {
  std::string flags;
  int width = -1, precision = -1;
  bool isLong = false; ///< 64 bits: l, ll, z, j, t.
  unsigned shortBytes = 4;
  char kind = 0; ///< 0 when it is none that exists.
};

/// Prints for one lane.
class Formatter {
public:
  Formatter(Context &c, unsigned lane, uint64_t arguments)
      : c(c), lane(lane), next(arguments) {}
  /// Appends to `out` what `format` says; false with an error.
  bool print(const std::string &format, std::string &out);
  int getCount() const { return count; }

private:
  bool parse(const std::string &format, size_t &at, Conversion &conversion);
  bool parseNumber(const std::string &format, size_t &at, int &value);
  bool convert(const Conversion &conversion, std::string &out);
  bool take(unsigned bytes, uint64_t &value);

  Context &c;
  unsigned lane;
  uint64_t next; ///< Of the argument that comes next.
  int count = 0;
};
} // namespace

/// Reads the next argument, each aligned to its size.
bool Formatter::take(unsigned bytes, uint64_t &value) {
  next = (next + bytes - 1) / bytes * bytes;
  const uint8_t *p = readGeneric(c, lane, next, bytes);
  if (!p)
    return false;
  value = 0;
  std::memcpy(&value, p, bytes);
  next += bytes;
  ++count;
  return true;
}

/// A width or a precision: digits, or '*' for an argument.
bool Formatter::parseNumber(const std::string &format, size_t &at, int &value) {
  if (at < format.size() && format[at] == '*') {
    ++at;
    uint64_t argument;
    if (!take(4, argument))
      return false;
    value = std::min(std::max(int(int32_t(argument)), -maxField), maxField);
    return true;
  }
  while (at < format.size() && format[at] >= '0' && format[at] <= '9') {
    value = std::min(std::max(value, 0) * 10 + (format[at] - '0'), maxField);
    ++at;
  }
  return true;
}

bool Formatter::parse(const std::string &format, size_t &at,
                      Conversion &conversion) {
  while (at < format.size() && std::strchr("-+ #0", format[at])) {
    if (conversion.flags.find(format[at]) == std::string::npos)
      conversion.flags += format[at];
    ++at;
  }
  if (!parseNumber(format, at, conversion.width))
    return false;
  if (conversion.width < -1) { // A negative width means '-'.
    conversion.flags += '-';
    conversion.width = -conversion.width;
  }
  if (at < format.size() && format[at] == '.') {
    conversion.precision = 0;
    if (!parseNumber(format, ++at, conversion.precision))
      return false;
  }
  for (; at < format.size() && std::strchr("hlLqjzt", format[at]); ++at) {
    if (format[at] == 'h')
      conversion.shortBytes = std::max(1u, conversion.shortBytes / 2);
    else
      conversion.isLong = true;
  }
  if (at < format.size() && std::strchr("diouxXcspfFeEgGaA", format[at]))
    conversion.kind = format[at++];
  return true;
}

/// snprintf, appended to `out`.
static void append(std::string &out, const char *format, ...) {
  char text[2 * maxField + 512];
  va_list arguments;
  va_start(arguments, format);
  int n = std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (n > 0)
    out.append(text, std::min(size_t(n), sizeof(text) - 1));
}

bool Formatter::convert(const Conversion &conversion, std::string &out) {
  // Built anew from what was understood, with the host's own length.
  std::string spec = "%" + conversion.flags;
  if (conversion.width >= 0)
    spec += std::to_string(conversion.width);
  if (conversion.precision >= 0)
    spec += "." + std::to_string(conversion.precision);
  bool wide = conversion.isLong;
  uint64_t value = 0;
  switch (conversion.kind) {
  case 'd':
  case 'i': {
    if (!take(wide ? 8 : 4, value))
      return false;
    unsigned shift = wide ? 0 : 64 - 8 * conversion.shortBytes;
    append(out, (spec + "lld").c_str(),
           static_cast<long long>(int64_t(value << shift) >> shift));
    return true;
  }
  case 'o':
  case 'u':
  case 'x':
  case 'X': {
    if (!take(wide ? 8 : 4, value))
      return false;
    unsigned shift = wide ? 0 : 64 - 8 * conversion.shortBytes;
    append(out, (spec + "ll" + conversion.kind).c_str(),
           static_cast<unsigned long long>(value << shift >> shift));
    return true;
  }
  case 'c':
    if (!take(4, value))
      return false;
    append(out, (spec + "c").c_str(), int(value & 0xff));
    return true;
  case 'p':
    if (!take(8, value))
      return false;
    append(out, (spec + "p").c_str(), reinterpret_cast<void *>(value));
    return true;
  case 's': {
    std::string text;
    if (!take(8, value) || !readText(c, lane, value, text))
      return false;
    append(out, (spec + "s").c_str(), text.c_str());
    return true;
  }
  default: {
    if (!take(8, value))
      return false;
    double number;
    std::memcpy(&number, &value, 8);
    append(out, (spec + conversion.kind).c_str(), number);
    return true;
  }
  }
}

bool Formatter::print(const std::string &format, std::string &out) {
  for (size_t at = 0; at < format.size() && out.size() < 16 * maxText;) {
    if (format[at] != '%') {
      out += format[at++];
      continue;
    }
    if (at + 1 < format.size() && format[at + 1] == '%') {
      out += '%';
      at += 2;
      continue;
    }
    size_t end = at + 1;
    Conversion conversion;
    if (!parse(format, end, conversion))
      return false;
    // What no conversion is, is printed as it is.
    if (conversion.kind == 0)
      out.append(format, at, end - at);
    else if (!convert(conversion, out))
      return false;
    at = end;
  }
  return true;
}

/// vprintf(format, arguments): dst is where the frame has room for the result,
/// or -1.
static Next printLanes(Context &c, const Instruction &I) {
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = unsigned(__builtin_ctz(r));
    std::string format, text;
    Formatter formatter(c, lane, readArgument(c, I, lane, 1, 8));
    if (!readText(c, lane, readArgument(c, I, lane, 0, 8), format) ||
        !formatter.print(format, text))
      return Next::Fail;
    if (c.launch->options.print)
      c.launch->options.print(text);
    int32_t count = formatter.getCount();
    if (I.offset >= 0)
      std::memcpy(c.warp->local + uint64_t(lane) * c.kernel->info.localBytes +
                      I.offset,
                  &count, 4);
  }
  return Next::Continue;
}

/// __assertfail(message, file, line, function, size of a character).
static Next failAssertion(Context &c, const Instruction &I) {
  if (!c.exec)
    return Next::Continue;
  unsigned lane = unsigned(__builtin_ctz(c.exec));
  std::string message, file, function;
  if (!readText(c, lane, readArgument(c, I, lane, 0, 8), message) ||
      !readText(c, lane, readArgument(c, I, lane, 1, 8), file) ||
      !readText(c, lane, readArgument(c, I, lane, 3, 8), function))
    return Next::Fail;
  uint32_t line = uint32_t(readArgument(c, I, lane, 2, 4));
  return fail(c, ErrorKind::Assert, lane,
              "fails the assertion '" + message + "' at " + file + ":" +
                  std::to_string(line) + " in '" + function + "'");
}

bool fusionemu::decodeExternalCall(
    InstructionDecoder &d, std::string_view name,
    const std::vector<const Operand *> &results,
    const std::vector<const Operand *> &arguments) {
  Kernel &kernel = d.getKernel();
  bool isPrint = name == "vprintf", isAssert = name == "__assertfail";
  if (!isPrint && !isAssert)
    return d.failUnsupported("a call of '" + std::string(name) +
                             "', which has no body here, is not supported");
  static const unsigned printBytes[] = {8, 8};
  static const unsigned assertBytes[] = {8, 8, 4, 8, 8};
  const unsigned *bytes = isPrint ? printBytes : assertBytes;
  size_t count = isPrint ? 2 : 5;
  if (arguments.size() != count || results.size() > 1)
    return d.failSyntax("the call does not match the parameters of '" +
                        std::string(name) + "'");
  auto place = [&](const Operand &operand, unsigned least, int64_t &offset) {
    Symbol *symbol =
        operand.kind == Operand::Kind::Name ? d.lookUp(operand.name) : nullptr;
    if (!symbol || symbol->kind != Symbol::Kind::Variable ||
        symbol->space != Space::Local || symbol->size < least)
      return d.failUnsupported("a call that passes anything but .param "
                               "variables is not supported");
    offset = symbol->where;
    return true;
  };
  Instruction I = d.make(isPrint ? printLanes : failAssertion);
  I.target = uint32_t(kernel.extraOperands.size());
  for (size_t k = 0; k < count; ++k) {
    int64_t offset = 0;
    if (!place(*arguments[k], bytes[k], offset))
      return false;
    kernel.extraOperands.push_back(int32_t(offset));
  }
  I.offset = -1;
  if (!results.empty() && !place(*results[0], 4, I.offset))
    return false;
  // Texts come in the order of the blocks.
  kernel.orderSensitive |= isPrint;
  return d.emit(I);
}
