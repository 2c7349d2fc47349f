// Kernels whose dimensions fall together, of sizes that no tile divides: norms
// over several dimensions, by channels and by groups, of a dynamic batch, with
// neighbours that tell dimensions apart in other kernels.

// RUN: fusion-run %s --device=emulator --random --verify --entry=layer | FileCheck %s
// RUN: fusion-run %s --device=emulator --random --verify=payload --entry=layer | FileCheck %s --check-prefix=PAYLOAD
// RUN: fusion-run %s --device=emulator --random --verify --entry=channels | FileCheck %s
// RUN: fusion-run %s --device=emulator --random --verify --entry=dynamic --dim=n=5 | FileCheck %s
// RUN: fusion-run %s --device=emulator --random --verify --entry=indexed | FileCheck %s
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s --check-prefix=PLAN
// CHECK: {{^}}verified
// PAYLOAD: {{tensors?}} equal

// PLAN-LABEL: func.func @layer
// PLAN: fusion.kernel @{{.*}} : tensor<5x1539xbf16>, tensor<1539xbf16>) -> (tensor<5x1539xbf16>)
func.func @layer(%x: tensor<5x3x27x19xbf16>, %s: tensor<3x27x19xbf16>) -> tensor<5x3x27x19xbf16> {
  %y = fusion.layer_norm %x scale(%s) axis(1) eps(1.0e-5)
      : (tensor<5x3x27x19xbf16>, tensor<3x27x19xbf16>) -> tensor<5x3x27x19xbf16>
  return %y : tensor<5x3x27x19xbf16>
}

// Batches and channels stay apart.
// PLAN-LABEL: func.func @channels
// PLAN: tensor<3x7x143xf32>
func.func @channels(%x: tensor<3x7x11x13xf32>, %w: tensor<7xf32>, %b: tensor<7xf32>) -> tensor<3x7x11x13xf32> {
  %y, %m, %v = fusion.batch_norm_training %x scale(%w) bias(%b) channel_axis(1) eps(1.0e-05) : (tensor<3x7x11x13xf32>, tensor<7xf32>, tensor<7xf32>) -> (tensor<3x7x11x13xf32>, tensor<7xf32>, tensor<7xf32>)
  return %y : tensor<3x7x11x13xf32>
}

// PLAN-LABEL: func.func @dynamic
// PLAN: tensor<?x231xf16>
func.func @dynamic(%x: tensor<?x3x7x11xf16> {fusion.dims = ["n", "_", "_", "_"]}) -> tensor<?x3x7x11xf16> {
  %y = fusion.rms_norm %x axis(1) eps(1.0e-5) : (tensor<?x3x7x11xf16>) -> tensor<?x3x7x11xf16>
  return %y : tensor<?x3x7x11xf16>
}

// What the index tells apart stays apart in one kernel; in the other it does not.
// PLAN-LABEL: func.func @indexed
func.func @indexed(%x: tensor<6x5x9xf32>) -> (tensor<6x5x9xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<6x5x9xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<6x5x9xf32>) outs(%e : tensor<6x5x9xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = linalg.index 2 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %0 = arith.addf %v, %f : f32
    linalg.yield %0 : f32
  } -> tensor<6x5x9xf32>
  %z = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<f32>
  %g = linalg.fill ins(%z : f32) outs(%r : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<6x5x9xf32>) outs(%g : tensor<f32>) dimensions = [0, 1, 2]
  return %y, %s : tensor<6x5x9xf32>, tensor<f32>
}
