// Padding with constant widths below zero, among them what keeps the type:
// upstream takes that for no padding.

// RUN: fusion-run %s --entry=shifted --random --verify
// RUN: fusion-run %s --entry=cut --random --verify --dim=arg0.1=7 --dim=arg0.0=3
// RUN: fusion-run %s --entry=nothing_kept --random --verify

func.func @shifted(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = arith.constant 0.0 : f32
  %y = tensor.pad %x low[1] high[-1] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<5xf32> to tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @cut(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c = arith.constant 1.0 : f32
  %y = tensor.pad %x low[-1, 2] high[3, -4] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %s = arith.addf %y, %y : tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

func.func @nothing_kept(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant 3.0 : f32
  %y = tensor.pad %x low[-3] high[3] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<2xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}
