// Sums relative to a maximum, made in one sweep with it: of rows with infinity,
// with negative infinity alone, with NaN, with negative infinity up to the
// last quarter, and of numbers.

// RUN: fusion-run %s --target=sm_80 --device=emulator --random --explain --output=%t | FileCheck %s
// RUN: od -A n -f -w20 -j 128 %t/output0.npy | FileCheck %s --check-prefix=KINDS
// RUN: sed 's/maximumf/maxnumf/' %s > %t.mlir
// RUN: fusion-run %t.mlir --target=sm_80 --device=emulator --random --explain --output=%t | FileCheck %s
// RUN: od -A n -f -w20 -j 128 %t/output0.npy | FileCheck %s --check-prefix=KINDS
// CHECK: rescaled-sum
// KINDS: -1 -1 -1 1 1

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
#vector = affine_map<(r) -> (r)>

func.func @main(%x: tensor<5x400003xf32>) -> tensor<5xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %inf = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x400003xf32>
  %y = linalg.generic {indexing_maps=[#full,#full], iterator_types=["parallel","parallel"]} ins(%x : tensor<5x400003xf32>) outs(%e : tensor<5x400003xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 300007 : index
    %at = arith.cmpi eq, %c, %c7 : index
    %before = arith.cmpi ult, %c, %c7 : index
    %r0 = arith.cmpi eq, %r, %c0 : index
    %r1 = arith.cmpi eq, %r, %c1 : index
    %r2 = arith.cmpi eq, %r, %c2 : index
    %r3 = arith.cmpi eq, %r, %c3 : index
    %p0 = arith.andi %r0, %at : i1
    %p2 = arith.andi %r2, %at : i1
    %p3 = arith.andi %r3, %before : i1
    %v0 = arith.select %p0, %inf, %a : f32
    %v1 = arith.select %r1, %ninf, %v0 : f32
    %v2 = arith.select %p2, %nan, %v1 : f32
    %v3 = arith.select %p3, %ninf, %v2 : f32
    linalg.yield %v3 : f32
  } -> tensor<5x400003xf32>
  %er = tensor.empty() : tensor<5xf32>
  %m0 = linalg.fill ins(%ninf : f32) outs(%er : tensor<5xf32>) -> tensor<5xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%er : tensor<5xf32>) -> tensor<5xf32>
  %m = linalg.reduce { arith.maximumf } ins(%y : tensor<5x400003xf32>) outs(%m0 : tensor<5xf32>) dimensions = [1]
  %ex = linalg.generic {indexing_maps=[#full,#row,#full], iterator_types=["parallel","parallel"]} ins(%y, %m : tensor<5x400003xf32>, tensor<5xf32>) outs(%e : tensor<5x400003xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %z = math.exp %d : f32
    linalg.yield %z : f32
  } -> tensor<5x400003xf32>
  %s = linalg.reduce { arith.addf } ins(%ex : tensor<5x400003xf32>) outs(%s0 : tensor<5xf32>) dimensions = [1]
  // -1 for NaN, 1 for sums of what is in reach, 0 for others.
  %told = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%s : tensor<5xf32>) outs(%er : tensor<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %minus = arith.constant -1.0 : f32
    %isnan = arith.cmpf uno, %a, %a : f32
    %least = arith.constant 1.0 : f32
    %most = arith.constant 1.0e6 : f32
    %high = arith.cmpf oge, %a, %least : f32
    %low = arith.cmpf ole, %a, %most : f32
    %both = arith.andi %high, %low : i1
    %kind = arith.uitofp %both : i1 to f32
    %r = arith.select %isnan, %minus, %kind : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  return %told : tensor<5xf32>
}
