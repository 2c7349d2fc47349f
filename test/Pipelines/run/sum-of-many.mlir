// Sums of more terms than one part has, of known and unknown sizes, the last
// part and the last chunk not whole.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify --entry=unknown --dim=n=530001
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify=payload --entry=unknown --dim=n=530001
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify --entry=known
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify=payload --entry=known

func.func @unknown(%x: tensor<?xf32> {fusion.dims = ["n"]}) -> (tensor<f32>, tensor<f32>) {
  %z = arith.constant 0.0 : f32
  %l = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %g = linalg.fill ins(%l : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<?xf32>) outs(%g : tensor<f32>) dimensions = [0]
  return %s, %m : tensor<f32>, tensor<f32>
}

func.func @known(%x: tensor<1111x3x50xf16>) -> tensor<3xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<3xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<3xf16>) -> tensor<3xf16>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<1111x3x50xf16>) outs(%f : tensor<3xf16>) dimensions = [0, 2]
  return %s : tensor<3xf16>
}
