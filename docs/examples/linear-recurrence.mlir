// A gated linear recurrence along the sequence, as in state-space models:
//   h[t] = a[t] h[t-1] + b[t],  a = sigmoid(gate),  y = h * c.
//
// (a, b) pairs combine associatively, so the sequence is scanned in parallel;
// the gate before the scan and the product after it are in the same kernel.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// CHECK: {{^}}verified

func.func @linear_recurrence(%gate: tensor<2x70x48xf32>,
                             %b: tensor<2x70x48xf32>,
                             %c: tensor<2x70x48xf32>) -> tensor<2x70x48xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %a = fusion.sigmoid %gate : tensor<2x70x48xf32>
  %decay, %h = fusion.scan
      ins(%a, %b : tensor<2x70x48xf32>, tensor<2x70x48xf32>)
      inits(%one, %zero : f32, f32) axis(1)
      -> tensor<2x70x48xf32>, tensor<2x70x48xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %product = arith.mulf %a1, %a2 : f32
    %carried = arith.mulf %a2, %b1 : f32
    %state = arith.addf %carried, %b2 : f32
    fusion.yield %product, %state : f32, f32
  }
  %y = arith.mulf %h, %c : tensor<2x70x48xf32>
  return %y : tensor<2x70x48xf32>
}
