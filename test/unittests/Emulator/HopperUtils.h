//===- HopperUtils.h - Running whole kernels of sm_90a ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what the tests of test/Emulator/Hopper share: the text of
// one kernel, changes to plant faults in it, matrices of small formats, tensor
// maps, and runs in both modes of asynchrony.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_EMULATOR_HOPPERUTILS_H
#define FUSION_TEST_UNITTESTS_EMULATOR_HOPPERUTILS_H

#include "TestUtils.h"

#include "fusion-rt/Emulator/TensorMap.h"

#include <cmath>
#include <fstream>
#include <regex>
#include <sstream>

namespace fusionemu {

/// The kernel `name` of test/Emulator/Hopper/`file`, without the others.
inline std::string readKernel(const std::string &file,
                              const std::string &name) {
  std::ifstream stream(FUSION_TEST_PTX_DIR "/Hopper/" + file);
  std::ostringstream contents;
  contents << stream.rdbuf();
  std::string text = contents.str(), entry = ".visible .entry ";
  size_t first = text.find(entry), begin = text.find(entry + name + "(");
  if (begin == std::string::npos) {
    ADD_FAILURE() << "no kernel " << name << " in " << file;
    return "";
  }
  size_t end = text.find(entry, begin + 1);
  return text.substr(0, first) + text.substr(begin, end - begin);
}

/// A change to the text of a kernel: in the line that holds the `occurrence`-th
/// `find` (from 0), the first match of `pattern` becomes `replacement`, where
/// $& is what matched and $1, $2 its groups. One that finds nothing fails the
/// test.
struct Edit {
  std::string find;
  unsigned occurrence = 0;
  std::string replacement;
  std::string pattern = ".+";
};

inline std::string plant(std::string text, const Edit &edit) {
  size_t at = text.find(edit.find);
  for (unsigned i = 0; i < edit.occurrence && at != std::string::npos; ++i)
    at = text.find(edit.find, at + 1);
  if (at == std::string::npos) {
    ADD_FAILURE() << "occurrence " << edit.occurrence << " of '" << edit.find
                  << "' is missing";
    return text;
  }
  size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
  std::string line = text.substr(begin, end - begin);
  std::regex pattern(edit.pattern);
  EXPECT_TRUE(std::regex_search(line, pattern))
      << "'" << edit.pattern << "' does not match " << line;
  return text.replace(
      begin, end - begin,
      std::regex_replace(line, pattern, edit.replacement,
                         std::regex_constants::format_first_only));
}

inline std::string plant(std::string text, const std::vector<Edit> &edits) {
  for (const Edit &edit : edits)
    text = plant(std::move(text), edit);
  return text;
}

/// Formats of matrix elements.
enum class Element { BF16, F16, TF32, E4M3, S8, F32 };

inline unsigned getBytes(Element e) {
  return e == Element::TF32 || e == Element::F32  ? 4
         : e == Element::E4M3 || e == Element::S8 ? 1
                                                  : 2;
}

/// A value with as many bits of significand, counted with the first, as the
/// smallest of the formats that `e` is mixed with can hold; |x| <= 1.75.
inline double makeElement(Element e, std::mt19937 &random) {
  if (e == Element::S8)
    return int(random() % 17) - 8;
  // Multiples of 1/8 up to 15/8 fit e4m3 and with it all the others.
  if (e == Element::E4M3)
    return (int(random() % 31) - 15) / 8.0;
  return (int(random() % 255) - 127) / 128.0;
}

/// The bits of a value that the format holds exactly.
inline uint32_t encodeElement(Element e, double x) {
  uint32_t f = bits(float(x));
  uint32_t sign = f >> 31, mantissa = f & 0x7fffff;
  int exponent = int(f >> 23 & 255) - 127;
  switch (e) {
  case Element::BF16:
    return f >> 16;
  case Element::F16: // No subnormals here.
    return x == 0 ? 0
                  : sign << 15 | uint32_t(exponent + 15) << 10 | mantissa >> 13;
  case Element::E4M3:
    if (x != 0 && exponent < -6) // 2^-9 units.
      return sign << 7 | uint32_t(std::fabs(x) * 512);
    return x == 0 ? 0
                  : sign << 7 | uint32_t(exponent + 7) << 3 | mantissa >> 20;
  case Element::S8:
    return uint8_t(int(x));
  default:
    return f;
  }
}

inline double decodeBF16(uint16_t x) { return asFloat(uint64_t(x) << 16); }

/// A matrix of rows that lie next to each other, as values.
struct HostMatrix {
  int rows = 0, columns = 0;
  std::vector<double> values;
  double &at(int row, int column) {
    return values[size_t(row) * columns + column];
  }
  double at(int row, int column) const {
    return values[size_t(row) * columns + column];
  }
};

inline HostMatrix makeMatrix(int rows, int columns, Element e,
                             std::mt19937 &random) {
  HostMatrix m{rows, columns, std::vector<double>(size_t(rows) * columns)};
  for (double &x : m.values)
    x = makeElement(e, random);
  return m;
}

/// A launch of a kernel that takes tensor maps and other arguments.
class HopperFixture : public Fixture {
public:
  uint64_t allocate(const std::string &name, const HostMatrix &m, Element e) {
    unsigned bytes = getBytes(e);
    std::vector<uint8_t> data(m.values.size() * bytes);
    for (size_t i = 0; i < m.values.size(); ++i) {
      uint32_t x = encodeElement(e, m.values[i]);
      std::memcpy(&data[i * bytes], &x, bytes);
    }
    uint64_t address = allocate(name, data.size());
    EXPECT_TRUE(memory.write(address, data.data(), data.size()).ok());
    return address;
  }
  uint64_t allocate(const std::string &name, uint64_t bytes) {
    uint64_t address = 0;
    EXPECT_TRUE(memory.allocate(bytes, name, address).ok());
    return address;
  }
  /// Passes a map of a matrix of rows x columns, copied in boxes of
  /// boxRows x boxColumns.
  void passMap(uint64_t address, Element e, int rows, int columns, int boxRows,
               int boxColumns, unsigned swizzle) {
    struct Map {
      uint8_t bytes[tensorMapBytes];
    } map;
    TensorMapInfo info;
    info.type = e == Element::BF16  ? TensorMapType::BF16
                : e == Element::F16 ? TensorMapType::F16
                : getBytes(e) == 1  ? TensorMapType::U8
                                    : TensorMapType::F32;
    info.rank = 2;
    info.globalAddress = address;
    info.dims[0] = uint64_t(columns);
    info.dims[1] = uint64_t(rows);
    info.strides[0] = uint64_t(columns) * getBytes(e);
    info.box[0] = uint32_t(boxColumns);
    info.box[1] = uint32_t(boxRows);
    info.swizzle = swizzle == 128  ? TensorMapSwizzle::B128
                   : swizzle == 64 ? TensorMapSwizzle::B64
                   : swizzle == 32 ? TensorMapSwizzle::B32
                                   : TensorMapSwizzle::None;
    Status status = encodeTensorMap(info, map.bytes);
    EXPECT_TRUE(status.ok()) << status.message();
    pass(map);
  }
  HostMatrix getBF16(uint64_t address, int rows, int columns) {
    HostMatrix m{rows, columns, {}};
    for (uint16_t x : get<uint16_t>(address, size_t(rows) * columns))
      m.values.push_back(decodeBF16(x));
    return m;
  }
};

/// How a kernel runs: each must give the same.
struct Mode {
  Asynchrony asynchrony;
  unsigned threads;
};
constexpr Mode allModes[] = {{Asynchrony::Late, 1},
                             {Asynchrony::Late, 2},
                             {Asynchrony::Early, 1},
                             {Asynchrony::Early, 2}};

inline std::string describe(Mode mode) {
  return std::string(mode.asynchrony == Asynchrony::Late ? "late" : "early") +
         ", threads: " + std::to_string(mode.threads);
}

} // namespace fusionemu

#endif // FUSION_TEST_UNITTESTS_EMULATOR_HOPPERUTILS_H
