//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reading and writing .npy files. A file is a stranger's:
// nothing in its header is believed before it is compared with the bytes there.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Npy.h"

#include "fusion/Executable/Package.h"

#include <cstring>

namespace fusionrt {

using namespace fusionpkg;

namespace {

/// What the header says.
struct Header {
  std::string descr; // "<f4"
  bool isFortran = false;
  std::vector<int64_t> dims;
};

/// Reads the Python dictionary of the header: string keys; a string, a boolean
/// or a tuple of integers as values.
class HeaderParser {
public:
  explicit HeaderParser(const std::string &text) : text(text) {}

  Error parse(Header &header);

private:
  Error fail(const std::string &what) const {
    return Error(ErrorCode::NpyFormat, "the .npy header is malformed at byte " +
                                           std::to_string(at) + ": " + what);
  }
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' ||
                                text[at] == '\t' || text[at] == '\r'))
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool takeWord(const char *word) {
    skipSpace();
    size_t length = std::strlen(word);
    if (text.compare(at, length, word) != 0)
      return false;
    at += length;
    return true;
  }
  Error string(std::string &out);
  Error dims(std::vector<int64_t> &out);
  Error integer(int64_t &out);

  const std::string &text;
  size_t at = 0;
};

} // namespace

Error HeaderParser::string(std::string &out) {
  skipSpace();
  char quote = at < text.size() ? text[at] : '\0';
  if (quote != '\'' && quote != '"')
    return fail("expected a string");
  size_t end = text.find(quote, ++at);
  if (end == std::string::npos)
    return fail("a string does not end");
  out = text.substr(at, end - at);
  at = end + 1;
  return {};
}

Error HeaderParser::integer(int64_t &out) {
  skipSpace();
  size_t begin = at;
  out = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    if (__builtin_mul_overflow(out, int64_t(10), &out) ||
        __builtin_add_overflow(out, int64_t(text[at] - '0'), &out))
      return fail("a dimension does not fit 64 bits");
  if (at == begin)
    return fail("expected a dimension");
  if (at < text.size() && text[at] == 'L') // Python 2
    ++at;
  return {};
}

Error HeaderParser::dims(std::vector<int64_t> &out) {
  if (!take('('))
    return fail("expected a tuple");
  while (!take(')')) {
    int64_t dim = 0;
    if (Error error = integer(dim))
      return error;
    out.push_back(dim);
    if (out.size() > PackageLimits::kMaxRank)
      return fail("more than 16 dimensions");
    if (take(','))
      continue;
    if (!take(')'))
      return fail("expected ',' or ')'");
    break;
  }
  return {};
}

Error HeaderParser::parse(Header &header) {
  bool hasDescr = false, hasOrder = false, hasShape = false;
  if (!take('{'))
    return fail("expected '{'");
  while (!take('}')) {
    std::string key;
    if (Error error = string(key))
      return error;
    if (!take(':'))
      return fail("expected ':'");
    if (key == "descr" && !hasDescr) {
      hasDescr = true;
      skipSpace();
      if (at < text.size() && text[at] == '[')
        return Error(ErrorCode::NpyDType,
                     "the .npy file has a structured element type");
      if (Error error = string(header.descr))
        return error;
    } else if (key == "fortran_order" && !hasOrder) {
      hasOrder = true;
      header.isFortran = takeWord("True");
      if (!header.isFortran && !takeWord("False"))
        return fail("expected True or False");
    } else if (key == "shape" && !hasShape) {
      hasShape = true;
      if (Error error = dims(header.dims))
        return error;
    } else {
      return fail("unexpected key '" + key.substr(0, 40) + "'");
    }
    if (take(','))
      continue;
    if (!take('}'))
      return fail("expected ',' or '}'");
    break;
  }
  skipSpace();
  if (at != text.size())
    return fail("text after the dictionary");
  if (!hasDescr || !hasOrder || !hasShape)
    return fail("a key of descr, fortran_order and shape is missing");
  return {};
}

/// How the elements lie in the file.
struct FileType {
  char kind = 0; // f, i, u, b, V
  unsigned width = 0;
};

static Error parseDescr(const std::string &descr, FileType &type) {
  Error unknown(ErrorCode::NpyDType,
                "the .npy file has the unsupported element type '" +
                    descr.substr(0, 40) + "'");
  if (descr.size() < 3 || descr.size() > 4)
    return unknown;
  type.kind = descr[1];
  type.width = 0;
  for (char c : descr.substr(2)) {
    if (c < '0' || c > '9')
      return unknown;
    type.width = type.width * 10 + static_cast<unsigned>(c - '0');
  }
  bool isKnown = false;
  switch (type.kind) {
  case 'f':
    isKnown = type.width == 2 || type.width == 4 || type.width == 8;
    break;
  case 'i':
  case 'u':
    isKnown = type.width == 1 || type.width == 2 || type.width == 4 ||
              type.width == 8;
    break;
  case 'b':
    isKnown = type.width == 1;
    break;
  case 'V':
    isKnown = type.width == 1 || type.width == 2;
    break;
  default:
    break;
  }
  if (!isKnown)
    return unknown;
  if (descr[0] == '>' && type.width > 1)
    return Error(ErrorCode::NpyDType,
                 "the .npy file is big-endian ('" + descr + "')");
  if (!std::strchr("<>=|", descr[0]))
    return unknown;
  return {};
}

/// The type that the file names by itself, if it does.
static std::optional<DType> getOwnType(const FileType &type) {
  switch (type.kind) {
  case 'f':
    return type.width == 2   ? DType::F16
           : type.width == 4 ? DType::F32
                             : DType::F64;
  case 'i':
    return type.width == 1   ? DType::I8
           : type.width == 2 ? DType::I16
           : type.width == 4 ? DType::I32
                             : DType::I64;
  case 'b':
    return DType::I1;
  case 'V':
    if (type.width == 2)
      return DType::BF16;
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Whether the file's elements can be those of `wanted`.
static bool canHold(const FileType &type, DType wanted) {
  if (getOwnType(type) == wanted)
    return true;
  bool isBits = type.kind == 'u' || type.kind == 'V';
  switch (wanted) {
  case DType::BF16:
    return isBits && type.width == 2;
  case DType::F8E4M3:
  case DType::F8E5M2:
    return isBits && type.width == 1;
  case DType::I4:
    return (type.kind == 'u' || type.kind == 'i') && type.width == 1;
  case DType::I1:
    return type.kind == 'u' && type.width == 1;
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
    return type.kind == 'u' && type.width * 8 == getStorageBits(wanted);
  default:
    return false;
  }
}

/// Copies the elements of a Fortran-ordered array into row-major order.
static void transposeInto(const uint8_t *source, unsigned width,
                          const std::vector<int64_t> &dims, uint8_t *out) {
  size_t rank = dims.size();
  std::vector<int64_t> strides(rank, 1), index(rank, 0);
  for (size_t d = 1; d < rank; ++d)
    strides[d] = strides[d - 1] * dims[d - 1];
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  int64_t from = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + i * width, source + from * width, width);
    for (size_t d = rank; d-- > 0;) {
      from += strides[d];
      if (++index[d] < dims[d])
        break;
      from -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
}

/// Puts elements of one byte each into i4 or i1 storage.
static Error packBytes(const std::vector<uint8_t> &elements,
                       const FileType &type, HostTensor &tensor) {
  for (size_t i = 0; i < elements.size(); ++i) {
    int value = type.kind == 'i' ? static_cast<int8_t>(elements[i])
                                 : static_cast<int>(elements[i]);
    int most = type.kind == 'i' ? 7 : 15;
    if (tensor.getDType() == DType::I4 && (value < -8 || value > most))
      return Error(ErrorCode::NpyFormat,
                   "element " + std::to_string(i) + " of the .npy file is " +
                       std::to_string(value) + ", which is no 4-bit integer");
    tensor.setInteger(static_cast<int64_t>(i), value);
  }
  return {};
}

/// Splits the file into header text and the offset of the elements.
static Error parseFrame(const std::string &bytes, std::string &headerText,
                        size_t &dataOffset) {
  static const char kNpyMagic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
  auto byteAt = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i]));
  };
  if (bytes.size() < sizeof(kNpyMagic) ||
      std::memcmp(bytes.data(), kNpyMagic, sizeof(kNpyMagic)) != 0)
    return Error(ErrorCode::NpyFormat, "the file is not a .npy file");
  if (bytes.size() < 10)
    return Error(ErrorCode::NpyTruncated, "the .npy file ends in its header");
  uint32_t major = byteAt(6), minor = byteAt(7);
  if (major < 1 || major > 3 || minor != 0)
    return Error(ErrorCode::NpyFormat, "the .npy file has version " +
                                           std::to_string(major) + "." +
                                           std::to_string(minor));
  size_t lengthBytes = major == 1 ? 2 : 4;
  dataOffset = 8 + lengthBytes;
  if (bytes.size() < dataOffset)
    return Error(ErrorCode::NpyTruncated, "the .npy file ends in its header");
  uint64_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= static_cast<uint64_t>(byteAt(8 + i)) << (8 * i);
  if (length > bytes.size() - dataOffset)
    return Error(ErrorCode::NpyTruncated, "the .npy file ends in its header");
  headerText = bytes.substr(dataOffset, length);
  dataOffset += length;
  return {};
}

Result<HostTensor> parseNpy(const std::string &bytes,
                            std::optional<DType> expected) {
  std::string headerText;
  size_t dataOffset = 0;
  if (Error error = parseFrame(bytes, headerText, dataOffset))
    return error;
  Header header;
  if (Error error = HeaderParser(headerText).parse(header))
    return error;
  FileType type;
  if (Error error = parseDescr(header.descr, type))
    return error;

  std::optional<DType> own = getOwnType(type);
  if (!expected && !own)
    return Error(ErrorCode::NpyDType, "the .npy file's element type '" +
                                          header.descr +
                                          "' has no meaning of its own");
  DType dtype = expected ? *expected : *own;
  if (!canHold(type, dtype))
    return Error(ErrorCode::NpyDType, "the .npy file's element type '" +
                                          header.descr + "' is not " +
                                          getDTypeName(dtype));

  // The data's size is checked before anything is allocated for it.
  uint64_t present = bytes.size() - dataOffset;
  std::optional<int64_t> needed = type.width;
  bool isEmpty = false;
  for (int64_t dim : header.dims) {
    isEmpty |= dim == 0;
    if (needed)
      needed = applyExprOp(ExprOp::Mul, *needed, dim);
  }
  if (isEmpty)
    needed = 0;
  if (!needed || static_cast<uint64_t>(*needed) > present)
    return Error(ErrorCode::NpyTruncated,
                 "the .npy file states " +
                     (needed ? std::to_string(*needed) : "over 2^63") +
                     " bytes of elements but has " + std::to_string(present));
  if (static_cast<uint64_t>(*needed) < present)
    return Error(ErrorCode::NpyFormat, "the .npy file has " +
                                           std::to_string(present - *needed) +
                                           " bytes after its elements");

  Result<HostTensor> tensor = HostTensor::create(dtype, header.dims);
  if (!tensor)
    return tensor;
  const auto *source =
      reinterpret_cast<const uint8_t *>(bytes.data()) + dataOffset;
  bool isPacked = dtype == DType::I4 || dtype == DType::I1;
  std::vector<uint8_t> elements(isPacked ? *needed : 0);
  uint8_t *target = isPacked ? elements.data() : tensor->data();
  if (*needed == 0)
    return tensor;
  if (header.isFortran)
    transposeInto(source, type.width, header.dims, target);
  else
    std::memcpy(target, source, static_cast<size_t>(*needed));
  if (isPacked)
    if (Error error = packBytes(elements, type, *tensor))
      return error;
  return tensor;
}

Result<HostTensor> readNpy(const std::string &path,
                           std::optional<DType> expected) {
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return Error(ErrorCode::NpyUnreadable, bytes.getError().getCause());
  Result<HostTensor> tensor = parseNpy(*bytes, expected);
  if (!tensor)
    return tensor.getError().inContext("'" + path + "'");
  return tensor;
}

static const char *getDescr(DType dtype, bool bitsAsUnsigned) {
  switch (dtype) {
  case DType::F64:
    return "<f8";
  case DType::F32:
    return "<f4";
  case DType::F16:
    return "<f2";
  case DType::BF16:
    return bitsAsUnsigned ? "<u2" : "<V2";
  case DType::F8E4M3:
  case DType::F8E5M2:
    return bitsAsUnsigned ? "|u1" : "|V1";
  case DType::I64:
    return "<i8";
  case DType::I32:
    return "<i4";
  case DType::I16:
    return "<i2";
  case DType::I8:
  case DType::I4:
    return "|i1";
  case DType::I1:
    return "|b1";
  }
  return "";
}

std::string formatNpy(const HostTensor &tensor,
                      const NpyWriteOptions &options) {
  std::string header = "{'descr': '";
  header += getDescr(tensor.getDType(), options.bitsAsUnsigned);
  header += "', 'fortran_order': False, 'shape': (";
  const std::vector<int64_t> &dims = tensor.getDims();
  for (size_t d = 0; d < dims.size(); ++d)
    header += (d ? ", " : "") + std::to_string(dims[d]);
  header += dims.size() == 1 ? ",), }" : "), }";
  // The elements begin at a multiple of 64, after a line break.
  constexpr size_t kFrame = 10, kAlignment = 64;
  header.append(kAlignment - 1 - (kFrame + header.size()) % kAlignment, ' ');
  header += '\n';

  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  if (tensor.getDType() == DType::I4) {
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      bytes += static_cast<char>(tensor.getInteger(i));
    return bytes;
  }
  bytes.append(reinterpret_cast<const char *>(tensor.data()),
               tensor.getNumBytes());
  return bytes;
}

Error writeNpy(const std::string &path, const HostTensor &tensor,
               const NpyWriteOptions &options) {
  Error error = writeFileAtomically(path, formatNpy(tensor, options));
  if (error)
    return Error(ErrorCode::NpyWrite, error.getCause());
  return {};
}

} // namespace fusionrt
