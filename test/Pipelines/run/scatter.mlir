// Scatters: of several indices that name one place the last one wins, indices
// that name none are ignored.

// RUN: fusion-run %s --entry=rows --device=emulator --random --verify \
// RUN:   --int-range=2:3 | FileCheck %s
// RUN: fusion-run %s --entry=rows --device=emulator --random --verify \
// RUN:   --int-range=-3:11 | FileCheck %s
// RUN: fusion-run %s --entry=points --device=emulator --random --verify \
// RUN:   --int-range=0:2 --dim=n=7 | FileCheck %s
// CHECK: verified

func.func @rows(%s: tensor<5x6xf32>, %d: tensor<8x6xf32>, %i: tensor<5x1xi64>)
    -> tensor<8x6xf32> {
  %r = tensor.scatter %s into %d[%i] scatter_dims([0]) unique
      : (tensor<5x6xf32>, tensor<8x6xf32>, tensor<5x1xi64>) -> tensor<8x6xf32>
  return %r : tensor<8x6xf32>
}

func.func @points(%s: tensor<?x2x1x4x1xf32> {fusion.dims = ["n", "_", "_", "_", "_"]},
                  %d: tensor<3x4x3xf32>,
                  %i: tensor<?x2x2xi32> {fusion.dims = ["n", "_", "_"]})
    -> tensor<3x4x3xf32> {
  %r = tensor.scatter %s into %d[%i] scatter_dims([0, 2]) unique
      : (tensor<?x2x1x4x1xf32>, tensor<3x4x3xf32>, tensor<?x2x2xi32>)
      -> tensor<3x4x3xf32>
  return %r : tensor<3x4x3xf32>
}
