// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s
// RUN: fusion-run %s --entry=all --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=all --device=emulator --random --verify=payload | FileCheck %s --check-prefix=PAYLOAD
// RUN: fusion-run %s --entry=columns --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=beside --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=common --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=reused --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=offset --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-compile %s -o %t.fpk --target=sm_90a --explain | FileCheck %s --check-prefix=EXPLAIN
// A reduction of what depends on an earlier one of some of its dimensions begins
// with these, in the kernel of that.

// VERIFY: {{^}}verified
// PAYLOAD: {{tensors?}} equal
// EXPLAIN: fused {{.*}} begun-by-rows

// CHECK-LABEL: func.func @all
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} ins(%arg0 : tensor<300x5000xf32>) -> (tensor<300xf32>)
// CHECK: fusion.kernel {{.*}} : tensor<300xf32>) -> (tensor<f32>)
func.func @all(%x: tensor<300x5000xf32>) -> tensor<f32> {
  %s = fusion.log_softmax %x axis(1) : tensor<300x5000xf32>
  %q = arith.mulf %s, %x : tensor<300x5000xf32>
  %z = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%q : tensor<300x5000xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  return %r : tensor<f32>
}

// A maximum and a sum of one pass, by the last dimension, of which the middle
// one is reduced earlier.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} -> (tensor<120x64xf32>, tensor<120x64xf32>)
// CHECK: fusion.kernel {{.*}} -> (tensor<64xf32>, tensor<64xf32>)
func.func @columns(%x: tensor<120x40x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %s = fusion.log_softmax %x axis(1) : tensor<120x40x64xf32>
  %z = arith.constant 0.0 : f32
  %l = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %g = linalg.fill ins(%l : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (k)>],
                         iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%s : tensor<120x40x64xf32>) outs(%f, %g : tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%v: f32, %a: f32, %b: f32):
    %0 = arith.addf %a, %v : f32
    %1 = arith.maximumf %b, %v : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<64xf32>, tensor<64xf32>)
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

// Nothing is nested where both reduce the same, or where the sum in between would
// be rounded to bf16.
// CHECK-LABEL: func.func @same
// CHECK-SAME: kernels_after = 1 : i64
func.func @same(%x: tensor<300x5000xf32>) -> tensor<300xf32> {
  %s = fusion.log_softmax %x axis(1) : tensor<300x5000xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<300xf32>) -> tensor<300xf32>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<300x5000xf32>) outs(%f : tensor<300xf32>) dimensions = [1]
  return %r : tensor<300xf32>
}

// CHECK-LABEL: func.func @rounded
// CHECK-NOT: tensor<300xbf16>
// CHECK: return
func.func @rounded(%x: tensor<300x5000xbf16>) -> tensor<bf16> {
  %s = fusion.log_softmax %x axis(1) : tensor<300x5000xbf16>
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<bf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<bf16>) -> tensor<bf16>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<300x5000xbf16>) outs(%f : tensor<bf16>) dimensions = [0, 1]
  return %r : tensor<bf16>
}

// The sum of all beside the sums of rows: one kernel reads the tensor.
// CHECK-LABEL: func.func @beside
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} ins(%arg0 : tensor<128x8192xf32>)
// CHECK-NOT: ins(%arg0
func.func @beside(%x: tensor<128x8192xf32>) -> (tensor<f32>, tensor<128xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %all = linalg.reduce { arith.addf } ins(%x : tensor<128x8192xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  %er = tensor.empty() : tensor<128xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<128xf32>) -> tensor<128xf32>
  %rows = linalg.reduce { arith.addf } ins(%x : tensor<128x8192xf32>) outs(%fr : tensor<128xf32>) dimensions = [1]
  return %all, %rows : tensor<f32>, tensor<128xf32>
}

// Neither of sums of rows and of columns begins with the other: those of columns
// begin with granules of rows (begin-by-blocks.mlir).
// CHECK-LABEL: func.func @apart
// CHECK: fusion.kernel {{.*}} ins(%arg0 {{.*}} -> (tensor<{{[0-9]+}}x8192xf32>, tensor<4096xf32>)
// CHECK: fusion.kernel {{.*}}x8192xf32>) -> (tensor<8192xf32>)
func.func @apart(%x: tensor<4096x8192xf32>) -> (tensor<8192xf32>, tensor<4096xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %columns = linalg.reduce { arith.addf } ins(%x : tensor<4096x8192xf32>) outs(%f : tensor<8192xf32>) dimensions = [0]
  %er = tensor.empty() : tensor<4096xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<4096xf32>) -> tensor<4096xf32>
  %rows = linalg.reduce { arith.addf } ins(%x : tensor<4096x8192xf32>) outs(%fr : tensor<4096xf32>) dimensions = [1]
  return %columns, %rows : tensor<8192xf32>, tensor<4096xf32>
}

// Two sums that both reduce the rows, and each another dimension besides: one
// kernel reads the tensor and sums its rows, light ones finish.
// CHECK-LABEL: func.func @common
// CHECK: fusion.kernel {{.*}} : tensor<160x8001xf32>) -> (tensor<160xf32>)
// CHECK-NOT: fusion.kernel {{.*}}x8001xf32>
// CHECK: return
func.func @common(%x: tensor<10x16x8001xf32>) -> (tensor<16xf32>, tensor<10xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %a = linalg.reduce { arith.addf } ins(%x : tensor<10x16x8001xf32>) outs(%f : tensor<16xf32>) dimensions = [0, 2]
  %eb = tensor.empty() : tensor<10xf32>
  %fb = linalg.fill ins(%z : f32) outs(%eb : tensor<10xf32>) -> tensor<10xf32>
  %b = linalg.reduce { arith.addf } ins(%x : tensor<10x16x8001xf32>) outs(%fb : tensor<10xf32>) dimensions = [1, 2]
  return %a, %b : tensor<16xf32>, tensor<10xf32>
}

// The sum of all is that of the sums of rows, which the program computes later
// and which are not computed again.
// CHECK-LABEL: func.func @reused
// CHECK: fusion.kernel {{.*}} ins(%arg0 : tensor<20000x96xf32>) -> (tensor<20000xf32>)
// CHECK-NOT: ins(%arg0
// CHECK: return
func.func @reused(%x: tensor<20000x96xf32>) -> (tensor<f32>, tensor<20000xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %all = linalg.reduce { arith.addf } ins(%x : tensor<20000x96xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  %er = tensor.empty() : tensor<20000xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<20000xf32>) -> tensor<20000xf32>
  %rows = linalg.reduce { arith.addf } ins(%x : tensor<20000x96xf32>) outs(%fr : tensor<20000xf32>) dimensions = [1]
  return %all, %rows : tensor<f32>, tensor<20000xf32>
}

// Sums of rows that start from one are not those that the sum of all is made of.
// CHECK-LABEL: func.func @offset
// CHECK: fusion.kernel {{.*}} ins(%arg0 : tensor<20000x96xf32>) -> (tensor<20000xf32>, tensor<20000xf32>)
func.func @offset(%x: tensor<20000x96xf32>) -> (tensor<f32>, tensor<20000xf32>) {
  %z = arith.constant 0.0 : f32
  %o = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %all = linalg.reduce { arith.addf } ins(%x : tensor<20000x96xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  %er = tensor.empty() : tensor<20000xf32>
  %fr = linalg.fill ins(%o : f32) outs(%er : tensor<20000xf32>) -> tensor<20000xf32>
  %rows = linalg.reduce { arith.addf } ins(%x : tensor<20000x96xf32>) outs(%fr : tensor<20000xf32>) dimensions = [1]
  return %all, %rows : tensor<f32>, tensor<20000xf32>
}
