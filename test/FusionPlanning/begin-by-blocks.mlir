// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s
// RUN: fusion-compile %s -o %t.fpk --target=sm_90a --explain | FileCheck %s --check-prefix=EXPLAIN
// RUN: fusion-run %s --entry=small --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=small --device=emulator --random --verify=payload | FileCheck %s --check-prefix=PAYLOAD
// RUN: fusion-run %s --entry=batches --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=norm --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=differ --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=unknown --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// Reductions past rows begin in the kernel of one along the rows: its blocks have
// a granule of rows each.

// VERIFY: {{^}}verified
// PAYLOAD: {{tensors?}} equal

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// One kernel reads the matrix; the other adds up what the blocks have. The sums of
// columns are made of 256 parts, of 64 rows each.
// EXPLAIN-LABEL: @both for sm_90a
// EXPLAIN: fused sum {{.*}}begun-by-blocks, {{.*}}saves 520.09 MB
// CHECK: #[[PART:.*]] = affine_map<(d0, d1) -> (d0 floordiv 64, d1)>
// CHECK-LABEL: func.func @both
// CHECK-SAME: bytes_after = 553746432
// The program has two operations; a third one came with the granules.
// CHECK-SAME: kernels_after = 2 : i64, kernels_before = 2 : i64
// CHECK: fusion.kernel {{.*}} ins(%arg0 : tensor<16384x8192xf32>) -> (tensor<256x8192xf32>, tensor<16384xf32>)
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[PART]]], iterator_types = ["reduction", "parallel"]}
// CHECK: fusion.kernel {{.*}} : tensor<256x8192xf32>) -> (tensor<8192xf32>)
func.func @both(%x: tensor<16384x8192xf32>) -> (tensor<8192xf32>, tensor<16384xf32>) {
  %z = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<8192xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<8192xf32>) -> tensor<8192xf32>
  %c = linalg.reduce { arith.addf } ins(%x : tensor<16384x8192xf32>) outs(%fc : tensor<8192xf32>) dimensions = [0]
  %er = tensor.empty() : tensor<16384xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<16384xf32>) -> tensor<16384xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<16384x8192xf32>) outs(%fr : tensor<16384xf32>) dimensions = [1]
  return %c, %r : tensor<8192xf32>, tensor<16384xf32>
}

// A size that no tile divides, two reductions past rows at once, and what is
// computed before them.
// CHECK-LABEL: func.func @small
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} ins(%arg0 : tensor<5001x300xbf16>) -> (tensor<{{[0-9]+}}x300xf32>, tensor<{{[0-9]+}}x300xf32>, tensor<5001xf32>)
// CHECK: fusion.kernel {{.*}} -> (tensor<300xf32>, tensor<300xf32>)
func.func @small(%x: tensor<5001x300xbf16>) -> (tensor<300xf32>, tensor<300xf32>, tensor<5001xf32>) {
  %z = arith.constant 0.0 : f32
  %l = arith.constant 0xFF800000 : f32
  %ec = tensor.empty() : tensor<300xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<300xf32>) -> tensor<300xf32>
  %gc = linalg.fill ins(%l : f32) outs(%ec : tensor<300xf32>) -> tensor<300xf32>
  %c:2 = linalg.generic {indexing_maps = [#all, #column, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<5001x300xbf16>) outs(%fc, %gc : tensor<300xf32>, tensor<300xf32>) {
  ^bb0(%v: bf16, %a: f32, %b: f32):
    %w = arith.extf %v : bf16 to f32
    %0 = arith.addf %a, %w : f32
    %1 = arith.maximumf %b, %w : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<300xf32>, tensor<300xf32>)
  %er = tensor.empty() : tensor<5001xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<5001xf32>) -> tensor<5001xf32>
  %r = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5001x300xbf16>) outs(%fr : tensor<5001xf32>) {
  ^bb0(%v: bf16, %a: f32):
    %w = arith.extf %v : bf16 to f32
    %p = arith.mulf %w, %w : f32
    %0 = arith.addf %a, %p : f32
    linalg.yield %0 : f32
  } -> tensor<5001xf32>
  return %c#0, %c#1, %r : tensor<300xf32>, tensor<300xf32>, tensor<5001xf32>
}

// Two loops of rows: the longer one is divided.
// CHECK-LABEL: func.func @batches
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} ins(%arg0 : tensor<6x1500x512xf32>) -> (tensor<6x{{[0-9]+}}x512xf32>, tensor<6x1500xf32>)
func.func @batches(%x: tensor<6x1500x512xf32>) -> (tensor<512xf32>, tensor<6x1500xf32>) {
  %z = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<512xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<512xf32>) -> tensor<512xf32>
  %c = linalg.reduce { arith.addf } ins(%x : tensor<6x1500x512xf32>) outs(%fc : tensor<512xf32>) dimensions = [0, 1]
  %er = tensor.empty() : tensor<6x1500xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<6x1500xf32>) -> tensor<6x1500xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<6x1500x512xf32>) outs(%fr : tensor<6x1500xf32>) dimensions = [2]
  return %c, %r : tensor<512xf32>, tensor<6x1500xf32>
}

// The backward of an RMS norm: dx needs a sum along each row, dgamma one over all
// rows; both read x and dy.
// CHECK-LABEL: func.func @norm
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} -> (tensor<4096x512xbf16>, tensor<{{[0-9]+}}x512xf32>)
// CHECK: fusion.kernel {{.*}}x512xf32>) -> (tensor<512xf32>)
func.func @norm(%dy: tensor<4096x512xbf16>, %x: tensor<4096x512xbf16>, %g: tensor<512xbf16>, %rstd: tensor<4096xf32>) -> (tensor<4096x512xbf16>, tensor<512xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x512xf32>
  %xhat = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd : tensor<4096x512xbf16>, tensor<4096xf32>) outs(%e : tensor<4096x512xf32>) {
  ^bb0(%v: bf16, %s: f32, %o: f32):
    %w = arith.extf %v : bf16 to f32
    %p = arith.mulf %w, %s : f32
    linalg.yield %p : f32
  } -> tensor<4096x512xf32>
  %ec = tensor.empty() : tensor<512xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<512xf32>) -> tensor<512xf32>
  %dg = linalg.generic {indexing_maps = [#all, #all, #column], iterator_types = ["reduction", "parallel"]}
      ins(%dy, %xhat : tensor<4096x512xbf16>, tensor<4096x512xf32>) outs(%fc : tensor<512xf32>) {
  ^bb0(%v: bf16, %h: f32, %a: f32):
    %w = arith.extf %v : bf16 to f32
    %p = arith.mulf %w, %h : f32
    %s = arith.addf %a, %p : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  %wdy = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%dy, %g : tensor<4096x512xbf16>, tensor<512xbf16>) outs(%e : tensor<4096x512xf32>) {
  ^bb0(%v: bf16, %s: bf16, %o: f32):
    %w = arith.extf %v : bf16 to f32
    %t = arith.extf %s : bf16 to f32
    %p = arith.mulf %w, %t : f32
    linalg.yield %p : f32
  } -> tensor<4096x512xf32>
  %er = tensor.empty() : tensor<4096xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<4096xf32>) -> tensor<4096xf32>
  %c = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%wdy, %xhat : tensor<4096x512xf32>, tensor<4096x512xf32>) outs(%fr : tensor<4096xf32>) {
  ^bb0(%v: f32, %h: f32, %a: f32):
    %p = arith.mulf %v, %h : f32
    %s = arith.addf %a, %p : f32
    linalg.yield %s : f32
  } -> tensor<4096xf32>
  %eb = tensor.empty() : tensor<4096x512xbf16>
  %dx = linalg.generic {indexing_maps = [#all, #all, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%wdy, %xhat, %c, %rstd : tensor<4096x512xf32>, tensor<4096x512xf32>, tensor<4096xf32>, tensor<4096xf32>) outs(%eb : tensor<4096x512xbf16>) {
  ^bb0(%v: f32, %h: f32, %s: f32, %r: f32, %o: bf16):
    %k = arith.constant 0.001953125 : f32
    %m = arith.mulf %s, %k : f32
    %p = arith.mulf %m, %h : f32
    %d = arith.subf %v, %p : f32
    %q = arith.mulf %d, %r : f32
    %t = arith.truncf %q : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x512xbf16>
  return %dx, %dg : tensor<4096x512xbf16>, tensor<512xf32>
}

// No block holds a row.
// EXPLAIN-LABEL: @long for sm_90a
// EXPLAIN: refused sum {{.*}}row-too-long
// CHECK-LABEL: func.func @long
// CHECK-SAME: kernels_after = 2 : i64
// CHECK-NOT: floordiv
func.func @long(%x: tensor<4096x100000xf32>) -> (tensor<100000xf32>, tensor<4096xf32>) {
  %z = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<100000xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<100000xf32>) -> tensor<100000xf32>
  %c = linalg.reduce { arith.addf } ins(%x : tensor<4096x100000xf32>) outs(%fc : tensor<100000xf32>) dimensions = [0]
  %er = tensor.empty() : tensor<4096xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<4096xf32>) -> tensor<4096xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<4096x100000xf32>) outs(%fr : tensor<4096xf32>) dimensions = [1]
  return %c, %r : tensor<100000xf32>, tensor<4096xf32>
}

// How many granules there are is not known.
// EXPLAIN-LABEL: @unknown for sm_90a
// EXPLAIN: refused sum {{.*}}unknown-rows
// CHECK-LABEL: func.func @unknown
// CHECK-SAME: kernels_after = 2 : i64
func.func @unknown(%x: tensor<?x512xf32>) -> (tensor<512xf32>, tensor<?xf32>) {
  %z = arith.constant 0.0 : f32
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x512xf32>
  %ec = tensor.empty() : tensor<512xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<512xf32>) -> tensor<512xf32>
  %c = linalg.reduce { arith.addf } ins(%x : tensor<?x512xf32>) outs(%fc : tensor<512xf32>) dimensions = [0]
  %er = tensor.empty(%n) : tensor<?xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?x512xf32>) outs(%fr : tensor<?xf32>) dimensions = [1]
  return %c, %r : tensor<512xf32>, tensor<?xf32>
}

// Reading a few rows twice costs less than the parts.
// EXPLAIN-LABEL: @few for sm_90a
// EXPLAIN: refused sum {{.*}}not-profitable
// CHECK-LABEL: func.func @few
// CHECK-SAME: kernels_after = 2 : i64
func.func @few(%x: tensor<40x512xf32>) -> (tensor<512xf32>, tensor<40xf32>) {
  %z = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<512xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<512xf32>) -> tensor<512xf32>
  %c = linalg.reduce { arith.addf } ins(%x : tensor<40x512xf32>) outs(%fc : tensor<512xf32>) dimensions = [0]
  %er = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<40xf32>) -> tensor<40xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<40x512xf32>) outs(%fr : tensor<40xf32>) dimensions = [1]
  return %c, %r : tensor<512xf32>, tensor<40xf32>
}

// What would lie in between would be rounded to bf16.
// CHECK-LABEL: func.func @rounded
// CHECK-SAME: kernels_after = 2 : i64
// CHECK-NOT: x512xbf16>, tensor<4096xbf16>)
// CHECK: return
func.func @rounded(%x: tensor<4096x512xbf16>) -> (tensor<512xbf16>, tensor<4096xbf16>) {
  %z = arith.constant 0.0 : bf16
  %ec = tensor.empty() : tensor<512xbf16>
  %fc = linalg.fill ins(%z : bf16) outs(%ec : tensor<512xbf16>) -> tensor<512xbf16>
  %c = linalg.reduce { arith.addf } ins(%x : tensor<4096x512xbf16>) outs(%fc : tensor<512xbf16>) dimensions = [0]
  %er = tensor.empty() : tensor<4096xbf16>
  %fr = linalg.fill ins(%z : bf16) outs(%er : tensor<4096xbf16>) -> tensor<4096xbf16>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<4096x512xbf16>) outs(%fr : tensor<4096xbf16>) dimensions = [1]
  return %c, %r : tensor<512xbf16>, tensor<4096xbf16>
}

// Blocks have one granule of rows, and no two of different lengths.
// EXPLAIN-LABEL: @differ for sm_90a
// EXPLAIN: refused sum {{.*}}granules-differ
// CHECK-LABEL: func.func @differ
// CHECK-SAME: kernels_after = 2 : i64
func.func @differ(%x: tensor<1000x512xf32>) -> (tensor<16x512xf32>, tensor<32x512xf32>) {
  %z = arith.constant 0.0 : f32
  %ea = tensor.empty() : tensor<16x512xf32>
  %fa = linalg.fill ins(%z : f32) outs(%ea : tensor<16x512xf32>) -> tensor<16x512xf32>
  %a = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (i floordiv 64, j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<1000x512xf32>) outs(%fa : tensor<16x512xf32>) {
  ^bb0(%v: f32, %s: f32):
    %0 = arith.addf %s, %v : f32
    linalg.yield %0 : f32
  } -> tensor<16x512xf32>
  %eb = tensor.empty() : tensor<32x512xf32>
  %fb = linalg.fill ins(%z : f32) outs(%eb : tensor<32x512xf32>) -> tensor<32x512xf32>
  %b = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (i floordiv 32, j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<1000x512xf32>) outs(%fb : tensor<32x512xf32>) {
  ^bb0(%v: f32, %s: f32):
    %0 = arith.addf %s, %v : f32
    linalg.yield %0 : f32
  } -> tensor<32x512xf32>
  return %a, %b : tensor<16x512xf32>, tensor<32x512xf32>
}
