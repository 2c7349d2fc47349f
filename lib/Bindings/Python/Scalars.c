//===- Scalars.c - Numbers that are passed by value -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements turning Python's own ints, floats and bools into the
// bytes of a by-value input. Other numbers, other types and what does not fit
// are left to Entry._scalar_bytes, which takes all that NumPy can cast.
//
//===----------------------------------------------------------------------===//

#include "Native.h"

#include <limits.h>
#include <string.h>

/// To nearest, ties to even; NaN stays NaN.
static uint16_t roundToBf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  if (value != value)
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + (0x7fff + (bits >> 16 & 1))) >> 16);
}

static Outcome storeInteger(int32_t dtype, long long number, uint64_t *bytes) {
  int bits = dlDataTypes[dtype].bits;
  long long most = LLONG_MAX >> (64 - bits);
  if (number > most || number < -most - 1)
    return SLOW;
  memcpy(bytes, &number, sizeof(number)); // little-endian
  return DONE;
}

static Outcome storeFloat(int32_t dtype, double number, uint64_t *bytes) {
  float single = (float)number;
  uint16_t half = 0;
  switch (dtype) {
  case FUSION_RT_F64:
    memcpy(bytes, &number, sizeof(number));
    return DONE;
  case FUSION_RT_F32:
    memcpy(bytes, &single, sizeof(single));
    return DONE;
  case FUSION_RT_BF16:
    half = roundToBf16(single);
    memcpy(bytes, &half, sizeof(half));
    return DONE;
  default:
    return SLOW;
  }
}

static Outcome convertOwn(int32_t dtype, PyObject *number, uint64_t *bytes) {
  *bytes = 0;
  if (PyFloat_CheckExact(number))
    return storeFloat(dtype, PyFloat_AsDouble(number), bytes);
  if (dtype == FUSION_RT_I1 && PyBool_Check(number)) {
    *bytes = number == Py_True;
    return DONE;
  }
  if (!PyLong_CheckExact(number))
    return SLOW;
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow)
    return SLOW;
  if (dtype >= FUSION_RT_I64 && dtype <= FUSION_RT_I8)
    return storeInteger(dtype, value, bytes);
  // Integers that a double holds are rounded once.
  const long long exact = 1LL << 53;
  if (value <= exact && value >= -exact)
    return storeFloat(dtype, (double)value, bytes);
  return SLOW;
}

Outcome convertScalar(Caller *caller, uint32_t index, PyObject *number,
                      uint64_t *bytes) {
  Outcome outcome = convertOwn(caller->inputs[index].dtype, number, bytes);
  if (outcome != SLOW)
    return outcome;
  PyObject *stored = PyObject_CallMethod((PyObject *)caller, "_scalar_bytes",
                                         "IO", (unsigned)index, number);
  if (!stored)
    return FAILED;
  char *text = NULL;
  Py_ssize_t size = 0;
  outcome = PyBytes_AsStringAndSize(stored, &text, &size) < 0 ? FAILED : DONE;
  if (outcome == DONE && size <= (Py_ssize_t)sizeof(*bytes)) {
    *bytes = 0;
    memcpy(bytes, text, (size_t)size);
  }
  Py_DECREF(stored);
  return outcome;
}
