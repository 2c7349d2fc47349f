// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --device=emulator --random --verify=payload | FileCheck %s --check-prefix=PAYLOAD

// Kernels of all kinds, of different threads and shared memory, start in one
// launch for each level.
// CHECK: started by 2 launches
// CHECK: launches: 2,
// CHECK: verified
// PAYLOAD: payload: 6 tensors equal
func.func @main(%a: tensor<37x129xf32>, %b: tensor<64x50xf16>, %c: tensor<1000xf32>, %d: tensor<33x40xf32>)
    -> (tensor<37xf32>, tensor<50x64xf16>, tensor<1000xf32>, tensor<33x40xf32>, tensor<129xf32>, tensor<50xf16>) {
  %0 = fusion.softmax %a axis(1) : tensor<37x129xf32>
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<37xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<37xf32>) -> tensor<37xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<37x129xf32>) outs(%f1 : tensor<37xf32>) dimensions = [1]
  %et = tensor.empty() : tensor<50x64xf16>
  %t = linalg.transpose ins(%b : tensor<64x50xf16>) outs(%et : tensor<50x64xf16>) permutation = [1, 0]
  %g = fusion.gelu %c : tensor<1000xf32>
  %h = fusion.softmax %d axis(0) : tensor<33x40xf32>
  %e2 = tensor.empty() : tensor<129xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<129xf32>) -> tensor<129xf32>
  %s = linalg.reduce { arith.addf } ins(%0 : tensor<37x129xf32>) outs(%f2 : tensor<129xf32>) dimensions = [0]
  %zh = arith.constant 0.0 : f16
  %e3 = tensor.empty() : tensor<50xf16>
  %f3 = linalg.fill ins(%zh : f16) outs(%e3 : tensor<50xf16>) -> tensor<50xf16>
  %m = linalg.reduce { arith.maximumf } ins(%t : tensor<50x64xf16>) outs(%f3 : tensor<50xf16>) dimensions = [1]
  return %r, %t, %g, %h, %s, %m : tensor<37xf32>, tensor<50x64xf16>, tensor<1000xf32>, tensor<33x40xf32>, tensor<129xf32>, tensor<50xf16>
}
