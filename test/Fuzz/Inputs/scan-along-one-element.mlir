// fuzz: --seed=0
// outcome: verified
// A running sum along a dimension of size 1, beside what reads it.
func.func @main(%x: tensor<65x13x1xf32>) -> tensor<65x13x1xf32> {
  %z = arith.constant 0.0 : f32
  %r = fusion.scan ins(%x : tensor<65x13x1xf32>) inits(%z : f32) axis(2) -> tensor<65x13x1xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %r : tensor<65x13x1xf32>
}
