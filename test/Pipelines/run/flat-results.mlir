// Results whose dimensions are one to their kernel: windows along rows, which are
// padded and computed, the positions that a body asks for, values of rows and of
// columns, and some that the kernel computes itself.

// RUN: fusion-run %s --entry=window --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=padded --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=average --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=one_row --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=columns --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=both --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=planes --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=transposed --device=emulator --random --verify | FileCheck %s
// CHECK: {{^}}verified

// All are but the last one, which a tile of both directions reads and writes in
// order. Planes of short rows are (2100x1300x5 f32: 48 us on an H100, 51 by
// tiles).
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s --check-prefix=PLAN
// PLAN-LABEL: func.func @window
// PLAN: fusion.kernel {{.*}} -> (tensor<4104xf32>)
// PLAN-LABEL: func.func @padded
// PLAN: fusion.kernel {{.*}} -> (tensor<4104xf32>)
// PLAN-LABEL: func.func @average
// PLAN: fusion.kernel {{.*}} -> (tensor<4104xf32>)
// PLAN-LABEL: func.func @one_row
// PLAN: fusion.kernel {{.*}} -> (tensor<8100xf32>)
// PLAN-LABEL: func.func @columns
// PLAN: fusion.kernel {{.*}} -> (tensor<7003xf16>)
// PLAN-LABEL: func.func @both
// PLAN: fusion.kernel {{.*}} -> (tensor<7003xf32>)
// PLAN-LABEL: func.func @planes
// PLAN: fusion.kernel {{.*}} -> (tensor<1365xf32>)
// PLAN-LABEL: func.func @transposed
// PLAN: fusion.kernel {{.*}} -> (tensor<1040x72xf32>)

func.func @window(%x: tensor<6x9x1x77xf32>) -> tensor<6x9x1x76xf32> {
  %r = fusion.pool max nchw %x window [1, 2] : (tensor<6x9x1x77xf32>) -> tensor<6x9x1x76xf32>
  return %r : tensor<6x9x1x76xf32>
}

func.func @padded(%x: tensor<6x9x1x75xf32>) -> tensor<6x9x1x76xf32> {
  %a = fusion.silu %x : tensor<6x9x1x75xf32>
  %r = fusion.pool max nchw %a window [1, 2] {padding = array<i64: 0, 0, 1, 1>} : (tensor<6x9x1x75xf32>) -> tensor<6x9x1x76xf32>
  return %r : tensor<6x9x1x76xf32>
}

// How many elements a window has is computed from its place.
func.func @average(%x: tensor<6x9x1x75xf32>) -> tensor<6x9x1x76xf32> {
  %r = fusion.pool avg nchw %x window [1, 2] {padding = array<i64: 0, 0, 1, 1>} : (tensor<6x9x1x75xf32>) -> tensor<6x9x1x76xf32>
  return %r : tensor<6x9x1x76xf32>
}

// A dimension of one window of several.
func.func @one_row(%x: tensor<54x2x3x150xf32>) -> tensor<54x2x1x75xf32> {
  %r = fusion.pool max nchw %x window [2, 2] {strides = array<i64: 2, 2>} : (tensor<54x2x3x150xf32>) -> tensor<54x2x1x75xf32>
  return %r : tensor<54x2x1x75xf32>
}

func.func @columns(%x: tensor<149x47xf16>, %b: tensor<47xf16>) -> tensor<149x47xf16> {
  %e = tensor.empty() : tensor<149x47xf16>
  %w = linalg.broadcast ins(%b : tensor<47xf16>) outs(%e : tensor<149x47xf16>) dimensions = [0]
  %s = arith.addf %x, %w : tensor<149x47xf16>
  %r = fusion.gelu %s : tensor<149x47xf16>
  return %r : tensor<149x47xf16>
}

// What is computed of a value of each row is computed for its elements.
func.func @both(%x: tensor<149x47xf32>, %b: tensor<47xf32>, %c: tensor<149xf32>) -> tensor<149x47xf32> {
  %e = tensor.empty() : tensor<149x47xf32>
  %d = math.absf %c : tensor<149xf32>
  %w = linalg.broadcast ins(%b : tensor<47xf32>) outs(%e : tensor<149x47xf32>) dimensions = [0]
  %v = linalg.broadcast ins(%d : tensor<149xf32>) outs(%e : tensor<149x47xf32>) dimensions = [1]
  %s = arith.mulf %x, %w : tensor<149x47xf32>
  %r = arith.addf %s, %v : tensor<149x47xf32>
  return %r : tensor<149x47xf32>
}

// The rows of two planes change places.
func.func @planes(%x: tensor<21x13x5xf32>) -> tensor<13x21x5xf32> {
  %e = tensor.empty() : tensor<13x21x5xf32>
  %t = linalg.transpose ins(%x : tensor<21x13x5xf32>) outs(%e : tensor<13x21x5xf32>) permutation = [1, 0, 2]
  %r = math.absf %t : tensor<13x21x5xf32>
  return %r : tensor<13x21x5xf32>
}

// Rows become columns.
func.func @transposed(%x: tensor<72x1040xf32>) -> tensor<1040x72xf32> {
  %e = tensor.empty() : tensor<1040x72xf32>
  %t = linalg.transpose ins(%x : tensor<72x1040xf32>) outs(%e : tensor<1040x72xf32>) permutation = [1, 0]
  %r = math.absf %t : tensor<1040x72xf32>
  return %r : tensor<1040x72xf32>
}
