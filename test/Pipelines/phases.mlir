// RUN: fusion-opt %s --fusion-to-plan | FileCheck %s --check-prefix=PLAN
// RUN: fusion-opt %s --fusion-to-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s --check-prefix=TILE
// RUN: fusion-opt %s --fusion-to-gpu | FileCheck %s --check-prefix=GPU
// RUN: fusion-opt %s --fusion-to-ptx | FileCheck %s --check-prefix=PTX
// RUN: fusion-opt %s --fusion-to-gpu | fusion-opt --fusion-ptx=target=sm_80 \
// RUN:   | FileCheck %s --check-prefix=SM80

// The phases one after the other are the same as all at once.
// RUN: fusion-opt %s --fusion-input | fusion-opt --fusion-plan \
// RUN:   | fusion-opt --fusion-schedule | fusion-opt --fusion-tile \
// RUN:   | fusion-opt --fusion-gpu | fusion-opt --fusion-ptx > %t.steps
// RUN: fusion-opt %s --fusion-to-ptx > %t.once
// RUN: diff %t.steps %t.once

// PLAN-LABEL: func.func @scale
// PLAN-SAME: fusion.plan = {{.*}}kernels_after = 1 : i64, kernels_before = 2
// PLAN: %[[R:.*]] = fusion.kernel @[[K:.*]] ins(%{{.*}} : tensor<?x128xf32>)
// PLAN-SAME: estimate = #fusion.estimate
// PLAN-NOT: schedule
// PLAN: return %[[R]]

// SCHEDULE: fusion.kernel
// SCHEDULE-SAME: schedule = #fusion.schedule<pointwise

// TILE: fusion.kernel {{.*}}program = @[[K:[a-z_]+]]
// TILE: fusion_tile.program @[[K]](%{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: index)
// TILE: fusion_tile.load {{.*}}#fusion_tile.layout

// GPU-NOT: fusion_tile.program
// GPU: gpu.module @kernels
// GPU: llvm.func @{{.*}}(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: i64)
// GPU-SAME: nvvm.kernel
// GPU-NOT: tensor<

// One module a kernel, named like it; only what the kernel uses.
// PTX: fusion.kernel {{.*}}program = @[[K:[a-z_]+]]
// PTX: gpu.module @[[K]] attributes {fusion_tile.ptx = "
// PTX-SAME: .target sm_90a
// PTX-NOT: fusion_shared
// PTX: llvm.func @[[K]]
// PTX-NOT: arith.

// SM80: .target sm_80

func.func @scale(%x: tensor<?x128xf32> {fusion.dims = ["m", "_"]})
    -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %empty = tensor.empty(%m) : tensor<?x128xf32>
  %half = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x128xf32>) outs(%empty : tensor<?x128xf32>) {
  ^bb0(%v: f32, %out: f32):
    %q = arith.divf %v, %two : f32
    linalg.yield %q : f32
  } -> tensor<?x128xf32>
  %y = arith.addf %half, %x : tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}
