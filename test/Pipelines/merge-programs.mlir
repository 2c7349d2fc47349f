// RUN: fusion-opt %s --fusion-tile-merge-programs | FileCheck %s

// Equal programs become one, in whatever function they are used.
// CHECK-LABEL: func.func @f
// CHECK: fusion.kernel @a {{.*}}program = @a}
// CHECK: fusion.kernel @b {{.*}}program = @a}
// CHECK: fusion.kernel @c {{.*}}program = @c}
// CHECK: fusion.kernel @d {{.*}}program = @d}
// CHECK-LABEL: func.func @g
// CHECK: fusion.kernel @e {{.*}}program = @a}
// CHECK: fusion_tile.program @a
// CHECK-NOT: fusion_tile.program @b
// Another constant.
// CHECK: fusion_tile.program @c
// Another number of warps.
// CHECK: fusion_tile.program @d
// CHECK-NOT: fusion_tile.program
func.func @f(%x: tensor<8xf32>) {
  %0 = fusion.kernel @a ins(%x : tensor<8xf32>) -> (tensor<8xf32>)
      attributes {program = @a} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  %1 = fusion.kernel @b ins(%x : tensor<8xf32>) -> (tensor<8xf32>)
      attributes {program = @b} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  %2 = fusion.kernel @c ins(%x : tensor<8xf32>) -> (tensor<8xf32>)
      attributes {program = @c} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  %3 = fusion.kernel @d ins(%x : tensor<8xf32>) -> (tensor<8xf32>)
      attributes {program = @d} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return
}
func.func @g(%x: tensor<8xf32>) {
  %0 = fusion.kernel @e ins(%x : tensor<8xf32>) -> (tensor<8xf32>)
      attributes {program = @e} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return
}
fusion_tile.program @a(%p: !llvm.ptr<1>) attributes {index_bits = 32 : i64, num_warps = 1 : i64} {
  %0 = arith.constant 1 : index
  fusion_tile.return
}
fusion_tile.program @b(%p: !llvm.ptr<1>) attributes {index_bits = 32 : i64, num_warps = 1 : i64} {
  %0 = arith.constant 1 : index
  fusion_tile.return
}
fusion_tile.program @c(%p: !llvm.ptr<1>) attributes {index_bits = 32 : i64, num_warps = 1 : i64} {
  %0 = arith.constant 2 : index
  fusion_tile.return
}
fusion_tile.program @d(%p: !llvm.ptr<1>) attributes {index_bits = 32 : i64, num_warps = 2 : i64} {
  %0 = arith.constant 1 : index
  fusion_tile.return
}
fusion_tile.program @e(%p: !llvm.ptr<1>) attributes {index_bits = 32 : i64, num_warps = 1 : i64} {
  %0 = arith.constant 1 : index
  fusion_tile.return
}
