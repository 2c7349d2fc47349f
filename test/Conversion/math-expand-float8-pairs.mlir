// 8-bit floats that lie side by side in a register are extended two at a time,
// where the chip has an instruction for it.

// RUN: fusion-opt %s --fusion-expand-math --cse --split-input-file | FileCheck %s

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
// CHECK-LABEL: func.func @pair(
// CHECK-SAME: %[[X:.*]]: vector<4xi8>
// CHECK: %[[PAIRS:.*]] = llvm.bitcast %[[X]] : vector<4xi8> to vector<2xi16>
// CHECK: %[[PAIR:.*]] = llvm.extractelement %[[PAIRS]]
// CHECK: %[[HALVES:.*]] = llvm.call_intrinsic "llvm.nvvm.e4m3x2.to.f16x2.rn"(%[[PAIR]])
// CHECK: %[[LOW:.*]] = llvm.extractelement %[[HALVES]]
// CHECK: arith.extf %[[LOW]] : f16 to f32
// CHECK-NOT: arith.shli
// CHECK: return
func.func @pair(%x: vector<4xi8>) -> (f32, f16) {
  %c2 = llvm.mlir.constant(2 : i32) : i32
  %c3 = llvm.mlir.constant(3 : i32) : i32
  %a = llvm.extractelement %x[%c2 : i32] : vector<4xi8>
  %b = llvm.extractelement %x[%c3 : i32] : vector<4xi8>
  %fa = arith.bitcast %a : i8 to f8E4M3FN
  %fb = arith.bitcast %b : i8 to f8E4M3FN
  %ya = arith.extf %fa : f8E4M3FN to f32
  %yb = arith.extf %fb : f8E4M3FN to f16
  return %ya, %yb : f32, f16
}

// CHECK-LABEL: func.func @other(
// CHECK: llvm.call_intrinsic "llvm.nvvm.e5m2x2.to.f16x2.rn"
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: return
func.func @other(%x: vector<2xi8>) -> bf16 {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %a = llvm.extractelement %x[%c0 : i32] : vector<2xi8>
  %f = arith.bitcast %a : i8 to f8E5M2
  %y = arith.extf %f : f8E5M2 to bf16
  return %y : bf16
}

// One alone has no neighbour.
// CHECK-LABEL: func.func @alone(
// CHECK-NOT: x2.to.f16x2
// CHECK: return
func.func @alone(%x: i8) -> f32 {
  %f = arith.bitcast %x : i8 to f8E4M3FN
  %y = arith.extf %f : f8E4M3FN to f32
  return %y : f32
}
}

// -----

module attributes {fusion.target = #fusion.target<chip = "sm_80">} {
// CHECK-LABEL: func.func @older(
// CHECK-NOT: x2.to.f16x2
// CHECK: return
func.func @older(%x: vector<2xi8>) -> f32 {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %a = llvm.extractelement %x[%c0 : i32] : vector<2xi8>
  %f = arith.bitcast %a : i8 to f8E4M3FN
  %y = arith.extf %f : f8E4M3FN to f32
  return %y : f32
}
}
