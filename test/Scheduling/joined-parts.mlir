// RUN: fusion-opt %s --fusion-schedule-select=target=sm_90a --split-input-file | FileCheck %s

// Tiles end where parts do.

// CHECK-LABEL: func.func @rows(
// CHECK: #fusion.axis<grid, tile = 16>, #fusion.axis<grid, tile = 128, vector = 8, parted>
func.func @rows(%x: tensor<8192x128xf16>, %y: tensor<8192x256xf16>, %z: tensor<8192x128xf16>) -> tensor<8192x512xf16> {
  %r = fusion.kernel @rows ins(%x, %y, %z : tensor<8192x128xf16>, tensor<8192x256xf16>, tensor<8192x128xf16>) -> (tensor<8192x512xf16>) {
  ^bb0(%a: tensor<8192x128xf16>, %b: tensor<8192x256xf16>, %c: tensor<8192x128xf16>):
    %j = tensor.concat dim(1) %a, %b, %c : (tensor<8192x128xf16>, tensor<8192x256xf16>, tensor<8192x128xf16>) -> tensor<8192x512xf16>
    fusion.yield %j : tensor<8192x512xf16>
  }
  return %r : tensor<8192x512xf16>
}

// -----

// Of two parts memory bears a choice at each element.

// CHECK-LABEL: func.func @two(
// CHECK: axes = [#fusion.axis<grid, tile = 1024, vector = 4>]
func.func @two(%x: tensor<500001xf32>, %y: tensor<700001xf32>) -> tensor<1200002xf32> {
  %r = fusion.kernel @two ins(%x, %y : tensor<500001xf32>, tensor<700001xf32>) -> (tensor<1200002xf32>) {
  ^bb0(%a: tensor<500001xf32>, %b: tensor<700001xf32>):
    %j = tensor.concat dim(0) %a, %b : (tensor<500001xf32>, tensor<700001xf32>) -> tensor<1200002xf32>
    fusion.yield %j : tensor<1200002xf32>
  }
  return %r : tensor<1200002xf32>
}

// -----

// Parts that end anywhere: tiles are as they would be, and some have elements
// of several.

// CHECK-LABEL: func.func @ends(
// CHECK: axes = [#fusion.axis<grid, tile = 1024, vector = 4, parted>]
func.func @ends(%x0: tensor<500001xf32>, %x1: tensor<3xf32>, %x2: tensor<700001xf32>, %x3: tensor<20001xf32>, %x4: tensor<100000xf32>, %x5: tensor<60001xf32>, %x6: tensor<8xf32>, %x7: tensor<90001xf32>, %x8: tensor<5xf32>, %x9: tensor<1000xf32>) -> tensor<1471021xf32> {
  %r = fusion.kernel @ends ins(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9 : tensor<500001xf32>, tensor<3xf32>, tensor<700001xf32>, tensor<20001xf32>, tensor<100000xf32>, tensor<60001xf32>, tensor<8xf32>, tensor<90001xf32>, tensor<5xf32>, tensor<1000xf32>) -> (tensor<1471021xf32>) {
  ^bb0(%a0: tensor<500001xf32>, %a1: tensor<3xf32>, %a2: tensor<700001xf32>, %a3: tensor<20001xf32>, %a4: tensor<100000xf32>, %a5: tensor<60001xf32>, %a6: tensor<8xf32>, %a7: tensor<90001xf32>, %a8: tensor<5xf32>, %a9: tensor<1000xf32>):
    %j = tensor.concat dim(0) %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9 : (tensor<500001xf32>, tensor<3xf32>, tensor<700001xf32>, tensor<20001xf32>, tensor<100000xf32>, tensor<60001xf32>, tensor<8xf32>, tensor<90001xf32>, tensor<5xf32>, tensor<1000xf32>) -> tensor<1471021xf32>
    fusion.yield %j : tensor<1471021xf32>
  }
  return %r : tensor<1471021xf32>
}
