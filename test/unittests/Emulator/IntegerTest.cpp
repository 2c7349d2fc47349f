//===- IntegerTest.cpp - Integer instructions -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests integer instructions against the host's arithmetic.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace fusionemu;

TEST(EmulatorInteger, AddSubMul) {
  expectBinary("add.u32 %d, %a, %b;", 32, 32,
               [](uint32_t a, uint32_t b) { return a + b; });
  expectBinary("add.s64 %d, %a, %b;", 64, 64,
               [](uint64_t a, uint64_t b) { return a + b; });
  expectBinary("sub.s16 %d, %a, %b;", 16, 16,
               [](uint16_t a, uint16_t b) { return uint16_t(a - b); });
  expectBinary("add.sat.s32 %d, %a, %b;", 32, 32, [](int32_t a, int32_t b) {
    int64_t s = int64_t(a) + b;
    return uint32_t(s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s);
  });
  expectBinary("mul.lo.u32 %d, %a, %b;", 32, 32,
               [](uint32_t a, uint32_t b) { return a * b; });
  expectBinary("mul.lo.s64 %d, %a, %b;", 64, 64,
               [](uint64_t a, uint64_t b) { return a * b; });
  expectBinary("mul.lo.u16 %d, %a, %b;", 16, 16,
               [](uint64_t a, uint64_t b) { return uint16_t(a * b); });
  expectBinary("mul.hi.s32 %d, %a, %b;", 32, 32, [](int32_t a, int32_t b) {
    return uint32_t(uint64_t(int64_t(a) * b) >> 32);
  });
  expectBinary("mul.hi.u64 %d, %a, %b;", 64, 64, [](uint64_t a, uint64_t b) {
    return uint64_t((unsigned __int128)a * b >> 64);
  });
  expectBinary("mul.hi.s16 %d, %a, %b;", 16, 16, [](int16_t a, int16_t b) {
    return uint16_t((int32_t(a) * b) >> 16);
  });
  expectBinary("mul.wide.s32 %d, %a, %b;", 32, 64,
               [](int32_t a, int32_t b) { return uint64_t(int64_t(a) * b); });
  expectBinary("mul.wide.u16 %d, %a, %b;", 16, 32,
               [](uint64_t a, uint64_t b) { return uint32_t(a * b); });
}

TEST(EmulatorInteger, DivRem) {
  expectBinary("div.u32 %d, %a, %b;", 32, 32,
               [](uint32_t a, uint32_t b) { return b ? a / b : 0xffffffff; });
  expectBinary("rem.u32 %d, %a, %b;", 32, 32,
               [](uint32_t a, uint32_t b) { return b ? a % b : 0xffffffff; });
  expectBinary("div.s32 %d, %a, %b;", 32, 32, [](int32_t a, int32_t b) {
    return b ? uint32_t(int64_t(a) / b) : 0xffffffff;
  });
  expectBinary("rem.s32 %d, %a, %b;", 32, 32, [](int32_t a, int32_t b) {
    return b ? uint32_t(int64_t(a) % b) : 0xffffffff;
  });
  expectBinary("div.s64 %d, %a, %b;", 64, 64, [](int64_t a, int64_t b) {
    return b ? uint64_t(__int128(a) / b) : ~uint64_t(0);
  });
}

TEST(EmulatorInteger, MultiplyAdd) {
  expectTernary("mad.lo.s32 %d, %a, %b, %c;", 32, 32, 32,
                [](uint32_t a, uint32_t b, uint32_t c) { return a * b + c; });
  expectTernary("mad.hi.u32 %d, %a, %b, %c;", 32, 32, 32,
                [](uint64_t a, uint64_t b, uint32_t c) {
                  return uint32_t((a * b) >> 32) + c;
                });
  expectTernary("mad.wide.s32 %d, %a, %b, %c;", 32, 64, 64,
                [](int32_t a, int32_t b, uint64_t c) {
                  return uint64_t(int64_t(a) * b) + c;
                });
  expectTernary("sad.s32 %d, %a, %b, %c;", 32, 32, 32,
                [](int32_t a, int32_t b, uint32_t c) {
                  int64_t d = int64_t(a) - b;
                  return uint32_t(d < 0 ? -d : d) + c;
                });
  expectBinary("mul24.lo.s32 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
    return uint32_t(int64_t(int32_t(a << 8) >> 8) * (int32_t(b << 8) >> 8));
  });
  expectTernary("mad24.hi.u32 %d, %a, %b, %c;", 32, 32, 32,
                [](uint64_t a, uint64_t b, uint32_t c) {
                  return uint32_t(((a & 0xffffff) * (b & 0xffffff)) >> 16) + c;
                });
}

TEST(EmulatorInteger, MinMaxAbsNeg) {
  expectBinary("min.s32 %d, %a, %b;", 32, 32,
               [](int32_t a, int32_t b) { return uint32_t(a < b ? a : b); });
  expectBinary("max.u64 %d, %a, %b;", 64, 64,
               [](uint64_t a, uint64_t b) { return a > b ? a : b; });
  expectUnary("abs.s32 %d, %a;", 32, 32,
              [](uint32_t a) { return a & 0x80000000 ? 0 - a : a; });
  expectUnary("neg.s64 %d, %a;", 64, 64, [](uint64_t a) { return 0 - a; });
  expectBinary("min.s16x2 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
    auto low = std::min(int16_t(a), int16_t(b));
    auto high = std::min(int16_t(a >> 16), int16_t(b >> 16));
    return uint32_t(uint16_t(high)) << 16 | uint16_t(low);
  });
  expectBinary("add.u16x2 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
    return ((a & 0xffff0000) + (b & 0xffff0000)) | ((a + b) & 0xffff);
  });
}

TEST(EmulatorInteger, Shifts) {
  expectBinary("shl.b32 %d, %a, %b;", 32, 32,
               [](uint32_t a, uint32_t b) { return b < 32 ? a << b : 0; });
  expectBinary("shr.s32 %d, %a, %b;", 32, 32, [](int32_t a, uint32_t b) {
    return uint32_t(a >> (b < 32 ? b : 31));
  });
  expectBinary(
      "shr.u64 %d, %a, %b;", 64, 64,
      [](uint64_t a, uint32_t b) { return b < 64 ? a >> b : 0; }, 32);
  expectBinary(
      "shl.b16 %d, %a, %b;", 16, 16,
      [](uint64_t a, uint32_t b) { return uint16_t(b < 16 ? a << b : 0); }, 32);
  expectTernary("shf.l.wrap.b32 %d, %a, %b, %c;", 32, 32, 32,
                [](uint64_t a, uint64_t b, uint32_t c) {
                  return uint32_t(((b << 32 | a) << (c & 31)) >> 32);
                });
  expectTernary("shf.r.clamp.b32 %d, %a, %b, %c;", 32, 32, 32,
                [](uint64_t a, uint64_t b, uint32_t c) {
                  return uint32_t((b << 32 | a) >> (c < 32 ? c : 32));
                });
}

TEST(EmulatorInteger, Logic) {
  expectBinary("and.b32 %d, %a, %b;", 32, 32,
               [](uint32_t a, uint32_t b) { return a & b; });
  expectBinary("xor.b64 %d, %a, %b;", 64, 64,
               [](uint64_t a, uint64_t b) { return a ^ b; });
  expectUnary("not.b32 %d, %a;", 32, 32, [](uint32_t a) { return ~a; });
  expectUnary("cnot.b32 %d, %a;", 32, 32,
              [](uint32_t a) { return uint32_t(a == 0); });
  for (unsigned table : {0x96u, 0xe8u, 0x1bu, 0xffu})
    expectTernary("lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";", 32,
                  32, 32, [=](uint32_t a, uint32_t b, uint32_t c) {
                    uint32_t r = 0;
                    for (unsigned i = 0; i < 32; ++i) {
                      unsigned index = ((a >> i) & 1) * 4 + ((b >> i) & 1) * 2 +
                                       ((c >> i) & 1);
                      r |= ((table >> index) & 1) << i;
                    }
                    return r;
                  });
}

TEST(EmulatorInteger, BitCounts) {
  expectUnary("popc.b32 %d, %a;", 32, 32,
              [](uint32_t a) { return __builtin_popcount(a); });
  expectUnary("popc.b64 %d, %a;", 64, 32,
              [](uint64_t a) { return __builtin_popcountll(a); });
  expectUnary("clz.b32 %d, %a;", 32, 32,
              [](uint32_t a) { return a ? __builtin_clz(a) : 32; });
  expectUnary("clz.b64 %d, %a;", 64, 32,
              [](uint64_t a) { return a ? __builtin_clzll(a) : 64; });
  expectUnary("brev.b32 %d, %a;", 32, 32,
              [](uint32_t a) { return __builtin_bitreverse32(a); });
  expectUnary("bfind.u32 %d, %a;", 32, 32, [](uint32_t a) {
    return a ? uint32_t(31 - __builtin_clz(a)) : 0xffffffff;
  });
  expectUnary("bfind.s32 %d, %a;", 32, 32, [](uint32_t a) {
    if (a & 0x80000000)
      a = ~a;
    return a ? uint32_t(31 - __builtin_clz(a)) : 0xffffffff;
  });
  expectUnary("bfind.shiftamt.u32 %d, %a;", 32, 32, [](uint32_t a) {
    return a ? uint32_t(__builtin_clz(a)) : 0xffffffff;
  });
}

/// The definition in the PTX ISA, bit by bit.
static uint64_t bitFieldExtract(uint64_t a, unsigned pos, unsigned len,
                                unsigned width, bool sign) {
  unsigned msb = width - 1;
  uint64_t fill = 0;
  if (sign && len != 0)
    fill = (a >> std::min(pos + len - 1, msb)) & 1;
  uint64_t d = 0;
  for (unsigned i = 0; i <= msb; ++i) {
    uint64_t bit = i < len && pos + i <= msb ? (a >> (pos + i)) & 1 : fill;
    d |= bit << i;
  }
  return d;
}

TEST(EmulatorInteger, BitFields) {
  std::string prepare = "and.b32 %t0, %b, 127; and.b32 %t1, %c, 127;\n";
  expectTernary(prepare + "bfe.u32 %d, %a, %t0, %t1;", 32, 32, 32,
                [](uint32_t a, uint32_t b, uint32_t c) {
                  return bitFieldExtract(a, b & 127, c & 127, 32, false);
                });
  expectTernary(prepare + "bfe.s32 %d, %a, %t0, %t1;", 32, 32, 32,
                [](uint32_t a, uint32_t b, uint32_t c) {
                  return bitFieldExtract(a, b & 127, c & 127, 32, true);
                });
  expectTernary("and.b32 %t0, %b, 31; and.b32 %t1, %c, 63;\n"
                "bfi.b32 %d, %a, %b, %t0, %t1;",
                32, 32, 32, [](uint32_t a, uint32_t b, uint32_t c) {
                  unsigned pos = b & 31, len = c & 63;
                  uint32_t d = b;
                  for (unsigned i = 0; i < len && pos + i < 32; ++i)
                    d = (d & ~(1u << (pos + i))) | ((a >> i) & 1) << (pos + i);
                  return d;
                });
}

TEST(EmulatorInteger, Permute) {
  auto pick = [](uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t bytes = uint64_t(b) << 32 | a;
    uint32_t d = 0;
    for (unsigned i = 0; i < 4; ++i) {
      unsigned nibble = (selector >> (4 * i)) & 15;
      uint32_t byte = uint32_t(bytes >> (8 * (nibble & 7))) & 0xff;
      if (nibble & 8)
        byte = byte & 0x80 ? 0xff : 0;
      d |= byte << (8 * i);
    }
    return d;
  };
  expectTernary("prmt.b32 %d, %a, %b, %c;", 32, 32, 32, pick);
  expectTernary("prmt.b32.f4e %d, %a, %b, %c;", 32, 32, 32,
                [&](uint32_t a, uint32_t b, uint32_t c) {
                  unsigned n = c & 3;
                  return pick(a, b,
                              n | (n + 1) << 4 | (n + 2) << 8 | (n + 3) << 12);
                });
  expectTernary("prmt.b32.rc8 %d, %a, %b, %c;", 32, 32, 32,
                [&](uint32_t a, uint32_t b, uint32_t c) {
                  return pick(a, b, (c & 3) * 0x1111);
                });
}

TEST(EmulatorInteger, DotProducts) {
  expectTernary("dp4a.s32.u32 %d, %a, %b, %c;", 32, 32, 32,
                [](uint32_t a, uint32_t b, uint32_t c) {
                  for (unsigned i = 0; i < 4; ++i)
                    c += uint32_t(int32_t(int8_t(a >> (8 * i))) *
                                  int32_t(uint8_t(b >> (8 * i))));
                  return c;
                });
  expectTernary("dp2a.hi.s32.s32 %d, %a, %b, %c;", 32, 32, 32,
                [](uint32_t a, uint32_t b, uint32_t c) {
                  for (unsigned i = 0; i < 2; ++i)
                    c += uint32_t(int32_t(int16_t(a >> (16 * i))) *
                                  int32_t(int8_t(b >> (16 + 8 * i))));
                  return c;
                });
}

TEST(EmulatorInteger, Carries) {
  // 128-bit arithmetic from 64-bit halves.
  expectTernary(
      "add.cc.u64 %l0, %a, %b; addc.u64 %d, %c, 0;", 64, 64, 64,
      [](uint64_t a, uint64_t b, uint64_t c) { return c + (a + b < a); });
  expectTernary(
      "sub.cc.u32 %t0, %a, %b; subc.u32 %d, %c, 5;", 32, 32, 32,
      [](uint32_t a, uint32_t b, uint32_t c) { return c - 5 - (a < b); });
  expectTernary("mad.lo.cc.u32 %t0, %a, %b, %c; madc.hi.u32 %d, %a, %b, %c;",
                32, 32, 32, [](uint64_t a, uint64_t b, uint64_t c) {
                  uint32_t low = uint32_t(a * b);
                  uint32_t carry = uint32_t(low + uint32_t(c)) < low;
                  return uint32_t((a * b) >> 32) + uint32_t(c) + carry;
                });
  // The carry out of a carry in.
  expectBinary("add.cc.u32 %t0, %a, %a; addc.cc.u32 %t1, %b, -1; "
               "addc.u32 %d, 0, 0;",
               32, 32, [](uint32_t a, uint32_t b) {
                 uint64_t in = a >> 31;
                 return uint32_t((uint64_t(b) + 0xffffffff + in) >> 32);
               });
}

TEST(EmulatorInteger, MasksAndExtension) {
  expectBinary("bmsk.clamp.b32 %d, %a, %b;", 32, 32,
               [](uint32_t a, uint32_t b) {
                 a = std::min(a, 32u);
                 b = std::min(b, 32u);
                 uint64_t mask = (uint64_t(1) << b) - 1;
                 return uint32_t(mask << a);
               });
  expectBinary("szext.wrap.s32 %d, %a, %b;", 32, 32,
               [](uint32_t a, uint32_t b) {
                 b &= 31;
                 return b ? uint32_t(int32_t(a << (32 - b)) >> (32 - b)) : 0;
               });
}

TEST(EmulatorInteger, SelectAndCompare) {
  expectTernary("setp.lt.s32 %p0, %a, %b; selp.b32 %d, %a, %c, %p0;", 32, 32,
                32, [](uint32_t a, uint32_t b, uint32_t c) {
                  return int32_t(a) < int32_t(b) ? a : c;
                });
  expectBinary("setp.hi.u32 %p0|%p1, %a, %b; selp.u32 %t0, 1, 0, %p0; "
               "selp.u32 %t1, 2, 0, %p1; or.b32 %d, %t0, %t1;",
               32, 32, [](uint32_t a, uint32_t b) { return a > b ? 1 : 2; });
  expectTernary("setp.ne.b32 %p1, %c, 0; setp.eq.and.u32 %p0, %a, %b, !%p1; "
                "selp.u32 %d, 1, 0, %p0;",
                32, 32, 32, [](uint32_t a, uint32_t b, uint32_t c) {
                  return uint32_t(a == b && c == 0);
                });
  expectBinary("set.ge.u32.s32 %d, %a, %b;", 32, 32,
               [](int32_t a, int32_t b) { return a >= b ? 0xffffffff : 0; });
  expectTernary("slct.b32.s32 %d, %a, %b, %c;", 32, 32, 32,
                [](uint32_t a, uint32_t b, uint32_t c) {
                  return int32_t(c) >= 0 ? a : b;
                });
  expectBinary("setp.gt.u32 %p0, %a, 7; setp.lt.u32 %p1, %b, 9; "
               "xor.pred %p2, %p0, %p1; not.pred %p3, %p2; "
               "selp.u32 %d, 3, 4, %p3;",
               32, 32, [](uint32_t a, uint32_t b) {
                 return (a > 7) != (b < 9) ? 4 : 3;
               });
}

TEST(EmulatorInteger, MovesAndPacking) {
  expectUnary("mov.b64 {%t0, %t1}, %a; mov.b64 %d, {%t1, %t0};", 64, 64,
              [](uint64_t a) { return a << 32 | a >> 32; });
  expectUnary("mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h1, %h0};", 32, 32,
              [](uint32_t a) { return a << 16 | a >> 16; });
  expectUnary("mov.b64 {_, %t1}, %a; mov.b32 %d, %t1;", 64, 32,
              [](uint64_t a) { return uint32_t(a >> 32); });
  expectUnary("mov.b64 {%h0, %h1, %h2, %h3}, %a; mov.b16 %d, %h2;", 64, 16,
              [](uint64_t a) { return uint16_t(a >> 32); });
}
