// What panels-by-hand.mlir computes.

func.func @memory(%x: tensor<8x3000xf32>) -> tensor<8x3000xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %v = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<8x3000xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<8x3000xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<8x3000xf32>, tensor<8xf32>) outs(%e : tensor<8x3000xf32>) {
  ^bb1(%a: f32, %b: f32, %o: f32):
    %c = arith.subf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8x3000xf32>
  %s = linalg.reduce { arith.addf } ins(%d : tensor<8x3000xf32>) outs(%g : tensor<8xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<8x3000xf32>, tensor<8xf32>) outs(%e : tensor<8x3000xf32>) {
  ^bb1(%a: f32, %b: f32, %o: f32):
    %c = arith.divf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8x3000xf32>
  return %y : tensor<8x3000xf32>
}

func.func @cluster(%x: tensor<8x3000xf32>) -> tensor<8x3000xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %v = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<8x3000xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<8x3000xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<8x3000xf32>, tensor<8xf32>) outs(%e : tensor<8x3000xf32>) {
  ^bb1(%a: f32, %b: f32, %o: f32):
    %c = arith.subf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8x3000xf32>
  %s = linalg.reduce { arith.addf } ins(%d : tensor<8x3000xf32>) outs(%g : tensor<8xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<8x3000xf32>, tensor<8xf32>) outs(%e : tensor<8x3000xf32>) {
  ^bb1(%a: f32, %b: f32, %o: f32):
    %c = arith.divf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8x3000xf32>
  return %y : tensor<8x3000xf32>
}
