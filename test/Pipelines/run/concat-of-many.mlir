// Products of many tensors side by side: their copies fit shared memory, and the
// schedule counts a tile of each in a stage.

// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s
// CHECK-LABEL: func.func @large(
// CHECK: #fusion.mma<mma_sync, stages = 2,

// RUN: fusion-compile %s --target=sm_90a -o %t.fpk
// RUN: fusion-compile %s --target=sm_80 -o %t.fpk
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=small
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=small

func.func @large(%a: tensor<4096x64xf32>, %b: tensor<4096x64xf32>, %c: tensor<4096x64xf32>, %d: tensor<4096x64xf32>, %w: tensor<512x128xf32>) -> tensor<4096x128xf32> {
  %zero = arith.constant 0.0 : f32
  %x = tensor.concat dim(1) %a, %b, %c, %d, %d, %c, %b, %a {fusion.must} : (tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<4096x512xf32>
  %e = tensor.empty() : tensor<4096x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %r = linalg.matmul ins(%x, %w : tensor<4096x512xf32>, tensor<512x128xf32>) outs(%f : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  return %r : tensor<4096x128xf32>
}

func.func @small(%a: tensor<100x40xf32>, %b: tensor<100x64xf32>, %c: tensor<100x3xf32>, %d: tensor<100x24xf32>, %w: tensor<262x128xf32>) -> tensor<100x128xf32> {
  %zero = arith.constant 0.0 : f32
  %x = tensor.concat dim(1) %a, %b, %c, %d, %d, %c, %b, %a : (tensor<100x40xf32>, tensor<100x64xf32>, tensor<100x3xf32>, tensor<100x24xf32>, tensor<100x24xf32>, tensor<100x3xf32>, tensor<100x64xf32>, tensor<100x40xf32>) -> tensor<100x262xf32>
  %e = tensor.empty() : tensor<100x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x128xf32>) -> tensor<100x128xf32>
  %r = linalg.matmul ins(%x, %w : tensor<100x262xf32>, tensor<262x128xf32>) outs(%f : tensor<100x128xf32>) -> tensor<100x128xf32>
  return %r : tensor<100x128xf32>
}
