// RUN: fusion-opt %s --fusion-expand-math=alone | FileCheck %s

// 8-bit floats are computed with in f32, converted by instructions.

// CHECK-LABEL: func.func @extend(
// CHECK-SAME:    %[[X:.*]]: f8E4M3FN) -> (f32, f16, f64)
// CHECK:         %[[B:.*]] = arith.bitcast %[[X]] : f8E4M3FN to i8
// CHECK:         %[[P:.*]] = arith.extui %[[B]] : i8 to i16
// CHECK:         %[[H:.*]] = llvm.inline_asm "cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h" %[[P]] : (i16) -> i32
// CHECK:         %[[L:.*]] = arith.trunci %[[H]] : i32 to i16
// CHECK:         %[[F:.*]] = arith.bitcast %[[L]] : i16 to f16
// CHECK:         arith.extf %[[F]] : f16 to f32
// CHECK:         arith.truncf %{{.*}} : f32 to f16
// CHECK:         arith.extf %{{.*}} : f32 to f64
func.func @extend(%x: f8E4M3FN) -> (f32, f16, f64) {
  %f = arith.extf %x : f8E4M3FN to f32
  %h = arith.extf %x : f8E4M3FN to f16
  %d = arith.extf %x : f8E4M3FN to f64
  return %f, %h, %d : f32, f16, f64
}

// CHECK-LABEL: func.func @truncate(
// CHECK-SAME:    %[[X:.*]]: f32, %[[Y:.*]]: f64)
// CHECK:         %[[P:.*]] = llvm.inline_asm "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;", "=h,f,f" %{{.*}}, %[[X]] : (f32, f32) -> i16
// CHECK:         %[[B:.*]] = arith.trunci %[[P]] : i16 to i8
// CHECK:         arith.bitcast %[[B]] : i8 to f8E5M2
// CHECK:         arith.truncf %[[Y]] : f64 to f32
// CHECK:         llvm.inline_asm "cvt.rn.satfinite.e5m2x2.f32
func.func @truncate(%x: f32, %y: f64) -> (f8E5M2, f8E5M2) {
  %s = arith.truncf %x : f32 to f8E5M2
  %t = arith.truncf %y : f64 to f8E5M2
  return %s, %t : f8E5M2, f8E5M2
}

// CHECK-LABEL: func.func @compute(
// CHECK-COUNT-2: "cvt.rn.f16x2.e5m2x2 $0, $1;"
// CHECK:         arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK:         "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;"
// CHECK:         "cvt.rn.f16x2.e5m2x2 $0, $1;"
// CHECK:         llvm.call_intrinsic "llvm.fabs"(%{{.*}}) : (f32) -> f32
// CHECK:         "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;"
// CHECK-NOT:     math.absf
// CHECK:         %[[ONE:.*]] = arith.constant 1.0{{.*}} : f32
// CHECK:         "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;", "=h,f,f" %{{.*}}, %[[ONE]]
// CHECK:         arith.select %{{.*}}, %{{.*}}, %{{.*}} : f8E5M2
func.func @compute(%x: f8E5M2, %y: f8E5M2, %c: i1) -> f8E5M2 {
  %m = arith.maximumf %x, %y : f8E5M2
  %a = math.absf %m : f8E5M2
  %one = arith.constant 1.0 : f8E5M2
  %s = arith.select %c, %a, %one : f8E5M2
  return %s : f8E5M2
}
