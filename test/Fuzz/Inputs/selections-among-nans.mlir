// fuzz: --target=sm_90a
// outcome: verified
// Half of the elements are NaN. A comparison that is false for NaN keeps the
// greatest number; beside a maximum that is NaN, the place is that of the first.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<6x77xf32>) -> (tensor<6xf32>, tensor<6xi32>, tensor<6xf32>, tensor<6xi64>) {
  %ninf = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i32
  %wide = arith.constant -1 : i64
  %e = tensor.empty() : tensor<6x77xf32>
  %e0 = tensor.empty() : tensor<6xf32>
  %e1 = tensor.empty() : tensor<6xi32>
  %e2 = tensor.empty() : tensor<6xi64>
  %y = linalg.sqrt ins(%x : tensor<6x77xf32>) outs(%e : tensor<6x77xf32>) -> tensor<6x77xf32>
  %f0 = linalg.fill ins(%ninf : f32) outs(%e0 : tensor<6xf32>) -> tensor<6xf32>
  %f1 = linalg.fill ins(%none : i32) outs(%e1 : tensor<6xi32>) -> tensor<6xi32>
  %f2 = linalg.fill ins(%wide : i64) outs(%e2 : tensor<6xi64>) -> tensor<6xi64>
  %a:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<6x77xf32>) outs(%f0, %f1 : tensor<6xf32>, tensor<6xi32>) {
  ^bb0(%in: f32, %m: f32, %at: i32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %g = arith.cmpf oge, %in, %m : f32
    %n = arith.select %g, %in, %m : f32
    %p = arith.select %g, %j, %at : i32
    linalg.yield %n, %p : f32, i32
  } -> (tensor<6xf32>, tensor<6xi32>)
  %b:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<6x77xf32>) outs(%f0, %f2 : tensor<6xf32>, tensor<6xi64>) {
  ^bb0(%in: f32, %m: f32, %at: i64):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %n = arith.maximumf %in, %m : f32
    %g = arith.cmpf ogt, %in, %m : f32
    %p = arith.select %g, %j, %at : i64
    linalg.yield %n, %p : f32, i64
  } -> (tensor<6xf32>, tensor<6xi64>)
  return %a#0, %a#1, %b#0, %b#1 : tensor<6xf32>, tensor<6xi32>, tensor<6xf32>, tensor<6xi64>
}
