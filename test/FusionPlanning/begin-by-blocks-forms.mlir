// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s
// RUN: fusion-run %s --entry=ints --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=total --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=kept --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=across --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=soft --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// Reductions past rows beside those of rows, of other forms than sums of a matrix.

// VERIFY: {{^}}verified

// Integers, and another combination along the rows.
// CHECK-LABEL: func.func @ints
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} ins(%arg0 {{.*}} -> (tensor<{{[0-9]+}}x300xi32>, tensor<6000xi32>)
func.func @ints(%x: tensor<6000x300xi32>) -> (tensor<300xi32>, tensor<6000xi32>) {
  %z = arith.constant 0 : i32
  %ec = tensor.empty() : tensor<300xi32>
  %fc = linalg.fill ins(%z : i32) outs(%ec : tensor<300xi32>) -> tensor<300xi32>
  %c = linalg.reduce { arith.addi } ins(%x : tensor<6000x300xi32>) outs(%fc : tensor<300xi32>) dimensions = [0]
  %er = tensor.empty() : tensor<6000xi32>
  %fr = linalg.fill ins(%z : i32) outs(%er : tensor<6000xi32>) -> tensor<6000xi32>
  %r = linalg.reduce { arith.maxsi } ins(%x : tensor<6000x300xi32>) outs(%fr : tensor<6000xi32>) dimensions = [1]
  return %c, %r : tensor<300xi32>, tensor<6000xi32>
}

// Both keep the middle dimension, of which blocks own an element each.
// CHECK-LABEL: func.func @kept
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} ins(%arg0 {{.*}} -> (tensor<{{[0-9]+}}x6x200xf32>, tensor<2000x6xf32>)
func.func @kept(%x: tensor<2000x6x200xf32>) -> (tensor<6x200xf32>, tensor<2000x6xf32>) {
  %z = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<6x200xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<6x200xf32>) -> tensor<6x200xf32>
  %c = linalg.reduce { arith.addf } ins(%x : tensor<2000x6x200xf32>) outs(%fc : tensor<6x200xf32>) dimensions = [0]
  %er = tensor.empty() : tensor<2000x6xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<2000x6xf32>) -> tensor<2000x6xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<2000x6x200xf32>) outs(%fr : tensor<2000x6xf32>) dimensions = [2]
  return %c, %r : tensor<6x200xf32>, tensor<2000x6xf32>
}

// Both keep the last one, of which blocks own tiles.
// CHECK-LABEL: func.func @across
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} ins(%arg0 {{.*}} -> (tensor<{{[0-9]+}}x8x100xf32>, tensor<3000x100xf32>)
func.func @across(%x: tensor<3000x8x100xf32>) -> (tensor<8x100xf32>, tensor<3000x100xf32>) {
  %z = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<8x100xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<8x100xf32>) -> tensor<8x100xf32>
  %c = linalg.reduce { arith.addf } ins(%x : tensor<3000x8x100xf32>) outs(%fc : tensor<8x100xf32>) dimensions = [0]
  %er = tensor.empty() : tensor<3000x100xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<3000x100xf32>) -> tensor<3000x100xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<3000x8x100xf32>) outs(%fr : tensor<3000x100xf32>) dimensions = [1]
  return %c, %r : tensor<8x100xf32>, tensor<3000x100xf32>
}

// The sums of columns of what needs sums of rows first.
// CHECK-LABEL: func.func @soft
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} ins(%arg0 {{.*}} -> (tensor<4000x256xf32>, tensor<{{[0-9]+}}x256xf32>)
func.func @soft(%x: tensor<4000x256xf32>) -> (tensor<256xf32>, tensor<4000x256xf32>) {
  %s = fusion.softmax %x axis(1) : tensor<4000x256xf32>
  %z = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<256xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<256xf32>) -> tensor<256xf32>
  %c = linalg.reduce { arith.addf } ins(%s : tensor<4000x256xf32>) outs(%fc : tensor<256xf32>) dimensions = [0]
  return %c, %s : tensor<256xf32>, tensor<4000x256xf32>
}

// The maximum of all beside those of short rows: blocks have parts of it, and
// nobody reads the maxima of rows again.
// CHECK-LABEL: func.func @total
// CHECK: fusion.kernel {{.*}} ins(%arg0 : tensor<700001x3xf32>) -> (tensor<700001xf32>, tensor<{{[0-9]+}}xf32>)
// CHECK-NOT: fusion.kernel {{.*}}tensor<700001xf32>) ->
// CHECK: return
func.func @total(%x: tensor<700001x3xf32>) -> (tensor<f32>, tensor<700001xf32>) {
  %l = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%l : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %all = linalg.reduce { arith.maximumf } ins(%x : tensor<700001x3xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  %er = tensor.empty() : tensor<700001xf32>
  %fr = linalg.fill ins(%l : f32) outs(%er : tensor<700001xf32>) -> tensor<700001xf32>
  %rows = linalg.reduce { arith.maximumf } ins(%x : tensor<700001x3xf32>) outs(%fr : tensor<700001xf32>) dimensions = [1]
  return %all, %rows : tensor<f32>, tensor<700001xf32>
}
