// What importers assert: of elements it is dropped, of sizes a launch checks it.

// RUN: fusion-run %s --entry=data --device=emulator --random --verify \
// RUN:   | FileCheck %s --check-prefix=DATA
// DATA: verified
// RUN: fusion-run %s --entry=sizes --device=emulator --random --verify \
// RUN:   --dim=n=8 | FileCheck %s --check-prefix=SIZES
// SIZES: verified
// RUN: not fusion-run %s --entry=sizes --device=emulator --random \
// RUN:   --dim=n=7 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: FUS-6009: entry 'sizes' (n = 7): the assertion "even" of cf.assert: mod(n, 2) == 0 does not hold

#i = affine_map<(i) -> (i)>

func.func @data(%x: tensor<16xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.cmpf one, %in, %zero : f32
    cf.assert %c, "unimplemented: tensor with zero element"
    %q = arith.divf %one, %in : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}

func.func @sizes(%x: tensor<?xf32> {fusion.dims = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %rest = arith.remui %n, %c2 : index
  %even = arith.cmpi eq, %rest, %c0 : index
  cf.assert %even, "even"
  %r = math.absf %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
