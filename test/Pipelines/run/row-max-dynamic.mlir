// Rows of any length; the reduced value leaves the function, too.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify \
// RUN:   --dim=m=9 --dim=n=70
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify \
// RUN:   --dim=m=33 --dim=n=1
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify \
// RUN:   --dim=m=1 --dim=n=1500

func.func @rowmax(%x: tensor<?x?xf32> {fusion.dims=["m","n"]}) -> (tensor<?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0xFF800000 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i)>], iterator_types=["parallel","reduction"]} ins(%x: tensor<?x?xf32>) outs(%f: tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.maximumf %o, %a : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  %e2 = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r2 = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i)>,affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]} ins(%x, %r: tensor<?x?xf32>, tensor<?xf32>) outs(%e2: tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.subf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32>
  return %r, %r2 : tensor<?xf32>, tensor<?x?xf32>
}
