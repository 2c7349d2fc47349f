// What is joined, padded or cut out along the rows of a result: short rows that
// threads have, and results that are walked as they lie in memory, at places that
// begin anywhere or where vectors do.

// RUN: fusion-run %s --entry=short_rows --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=narrow_rows --device=emulator --random --verify | FileCheck %s
// RUN: fusion-compile %S/Inputs/rows-in-threads.mlir --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=short_rows --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=narrow_rows --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=three --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=padded_part --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=computed_part --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=cut --device=emulator --random --verify | FileCheck %s
// CHECK: {{^}}verified

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s --check-prefix=PLAN
// PLAN-LABEL: func.func @three
// PLAN: fusion.kernel {{.*}} -> (tensor<57285xf32>)
// PLAN-LABEL: func.func @padded_part
// PLAN: fusion.kernel {{.*}} -> (tensor<105927xbf16>)
// PLAN-NOT: fusion.kernel
// PLAN-LABEL: func.func @computed_part
// PLAN: fusion.kernel {{.*}} -> (tensor<132704xf16>)
// PLAN-NOT: fusion.kernel
// PLAN-LABEL: func.func @cut
// PLAN: fusion.kernel {{.*}} -> (tensor<5180xf16>)

func.func @short_rows(%x: tensor<1501x3xf16>, %y: tensor<1501x3xf16>) -> tensor<1501x6xf16> {
  %r = tensor.concat dim(1) %y, %x : (tensor<1501x3xf16>, tensor<1501x3xf16>) -> tensor<1501x6xf16>
  return %r : tensor<1501x6xf16>
}

func.func @narrow_rows(%x: tensor<1501x5xi8>, %y: tensor<1501x2xi8>) -> tensor<1501x7xi8> {
  %r = tensor.concat dim(1) %x, %y : (tensor<1501x5xi8>, tensor<1501x2xi8>) -> tensor<1501x7xi8>
  return %r : tensor<1501x7xi8>
}

func.func @three(%x: tensor<57x15x23xf32>, %y: tensor<57x15x1xf32>, %z: tensor<57x15x43xf32>) -> tensor<57x15x67xf32> {
  %a = math.absf %z : tensor<57x15x43xf32>
  %r = tensor.concat dim(2) %x, %y, %a : (tensor<57x15x23xf32>, tensor<57x15x1xf32>, tensor<57x15x43xf32>) -> tensor<57x15x67xf32>
  return %r : tensor<57x15x67xf32>
}

func.func @padded_part(%x: tensor<1x29x3x17x26xbf16>, %y: tensor<1x31x3x17x37xbf16>) -> tensor<1x31x3x17x67xbf16> {
  %z = arith.constant 1.5 : bf16
  %p = tensor.pad %x low[0, 0, 0, 0, 1] high[0, 2, 0, 0, 3] {
  ^bb0(%i: index, %j: index, %k: index, %l: index, %m: index):
    tensor.yield %z : bf16
  } : tensor<1x29x3x17x26xbf16> to tensor<1x31x3x17x30xbf16>
  %r = tensor.concat dim(4) %p, %y : (tensor<1x31x3x17x30xbf16>, tensor<1x31x3x17x37xbf16>) -> tensor<1x31x3x17x67xbf16>
  return %r : tensor<1x31x3x17x67xbf16>
}

// All parts have rows of multiples of eight: 16 bytes at a time are in one of them.
func.func @computed_part(%x: tensor<13x27x4x32xf16>, %y: tensor<13x2x4x32xf16>, %z: tensor<13x29x4x56xf16>) -> tensor<13x29x4x88xf16> {
  %c = tensor.concat dim(1) %x, %y : (tensor<13x27x4x32xf16>, tensor<13x2x4x32xf16>) -> tensor<13x29x4x32xf16>
  %s = fusion.sigmoid %c : tensor<13x29x4x32xf16>
  %r = tensor.concat dim(3) %z, %s : (tensor<13x29x4x56xf16>, tensor<13x29x4x32xf16>) -> tensor<13x29x4x88xf16>
  return %r : tensor<13x29x4x88xf16>
}

func.func @cut(%x: tensor<149x47xf16>) -> tensor<140x37xf16> {
  %r = tensor.extract_slice %x[5, 3] [140, 37] [1, 1] : tensor<149x47xf16> to tensor<140x37xf16>
  return %r : tensor<140x37xf16>
}
