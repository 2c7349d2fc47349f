// fuzz: --seed=1
// outcome: verified
// The mask of the rows of a pad, whose source has no dimensions.
func.func @main(%x: f32) -> tensor<68x2x67xf32> {
  %splat = tensor.splat %x : tensor<65x64xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %splat low[0, 0] high[3, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<65x64xf32> to tensor<68x67xf32>
  %e = tensor.empty() : tensor<68x2x67xf32>
  %r = linalg.broadcast ins(%padded : tensor<68x67xf32>) outs(%e : tensor<68x2x67xf32>) dimensions = [1]
  return %r : tensor<68x2x67xf32>
}
