// Sizes as importers compute them: reshapes to shapes that are tensors, affine
// maps of sizes, extents that an argument gives.

// RUN: fusion-run %s --entry=view --device=emulator --random --verify \
// RUN:   --dim=n=5 | FileCheck %s
// RUN: fusion-run %s --entry=apply --device=emulator --random --verify \
// RUN:   --dim=n=3 | FileCheck %s
// RUN: fusion-run %s --entry=least --device=emulator --random --verify \
// RUN:   --dim=n=9 | FileCheck %s
// RUN: fusion-run %s --entry=least --device=emulator --random --verify \
// RUN:   --dim=n=129 | FileCheck %s
// RUN: fusion-run %s --entry=count --device=emulator --random --verify \
// RUN:   --dim=n=4 --int-range=6:6 | FileCheck %s
// CHECK: verified
// RUN: not fusion-run %s --entry=count --device=emulator --random \
// RUN:   --dim=n=4 --int-range=5:5 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: FUS-6009: entry 'count' (n = 4, arg1 = 5): the assertion "tensor.reshape keeps the number of elements"

func.func @view(%x: tensor<?x12xf32> {fusion.dims = ["n", "_"]})
    -> tensor<?x4x3xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x12xf32>
  %c4 = arith.constant 4 : index
  %c3 = arith.constant 3 : index
  %s = tensor.from_elements %d, %c4, %c3 : tensor<3xindex>
  %r = tensor.reshape %x(%s)
      : (tensor<?x12xf32>, tensor<3xindex>) -> tensor<?x4x3xf32>
  %y = arith.negf %r : tensor<?x4x3xf32>
  return %y : tensor<?x4x3xf32>
}

func.func @apply(%x: tensor<?x8x5xf32> {fusion.dims = ["n", "_", "_"]})
    -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x8x5xf32>
  %n = affine.apply affine_map<()[s0] -> (s0 * 8)>()[%d]
  %c = tensor.collapse_shape %x [[0, 1], [2]]
      : tensor<?x8x5xf32> into tensor<?x5xf32>
  %e = tensor.empty(%n) : tensor<?x5xf32>
  %r = linalg.exp ins(%c : tensor<?x5xf32>) outs(%e : tensor<?x5xf32>)
      -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}

func.func @least(%x: tensor<?xf32> {fusion.dims = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %n = affine.min affine_map<()[s0] -> (s0, 40, s0 floordiv 2 + 3)>()[%d]
  %s = tensor.extract_slice %x[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %y = math.absf %s : tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @count(%x: tensor<?x3xf32> {fusion.dims = ["n", "_"]}, %m: index)
    -> tensor<?x2xf32> {
  %c2 = arith.constant 2 : index
  %s = tensor.from_elements %m, %c2 : tensor<2xindex>
  %r = tensor.reshape %x(%s)
      : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x2xf32>
  %y = arith.negf %r : tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
