// h[t] = a[t] h[t-1] + b[t] along axis 1, and h * c.
func.func @linear_recurrence(
    %a: tensor<8x4096x2048xf32>, %b: tensor<8x4096x2048xf32>,
    %c: tensor<8x4096x2048xf32>) -> tensor<8x4096x2048xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %decay, %h = fusion.scan
      ins(%a, %b : tensor<8x4096x2048xf32>, tensor<8x4096x2048xf32>)
      inits(%one, %zero : f32, f32) axis(1)
      -> tensor<8x4096x2048xf32>, tensor<8x4096x2048xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %product = arith.mulf %a1, %a2 : f32
    %carried = arith.mulf %a2, %b1 : f32
    %state = arith.addf %carried, %b2 : f32
    fusion.yield %product, %state : f32, f32
  }
  %y = arith.mulf %h, %c : tensor<8x4096x2048xf32>
  return %y : tensor<8x4096x2048xf32>
}
