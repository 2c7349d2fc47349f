// A number passed by value; dynamic rows.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify \
// RUN:   --dim=m=5

func.func @scalar(%x: tensor<?x37xf32> {fusion.dims=["m","_"]}, %s: f32) -> tensor<?x37xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x37xf32>
  %e = tensor.empty(%m) : tensor<?x37xf32>
  %r = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]} ins(%x: tensor<?x37xf32>) outs(%e: tensor<?x37xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %s : f32
    linalg.yield %p : f32
  } -> tensor<?x37xf32>
  return %r : tensor<?x37xf32>
}
