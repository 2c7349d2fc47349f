// RUN: fusion-opt %s --fusion-gpu-pack-kernels | FileCheck %s

// The kernels of a launch are one: a block finds its program by its number, and
// what a program asks for is what it would have in a launch of its own. What
// several kernels run is there once. Launches
// of the same programs share their kernel; what nobody launches any more is
// gone. How many blocks a multiprocessor has room for was said of one program.

// CHECK-LABEL: func.func @f
// CHECK: fusion.kernel @a {{.*}} program = @a_and_2_more}
// CHECK: fusion.kernel @b {{.*}} program = @a_and_2_more}
// CHECK: fusion.kernel @c {{.*}} program = @a_and_2_more}
// CHECK: fusion.kernel @alone {{.*}}program = @alone}
// CHECK-LABEL: func.func @g
// CHECK-COUNT-3: program = @a_and_2_more}

// CHECK-NOT: llvm.func @a(
// CHECK-NOT: llvm.func @b(
// CHECK: llvm.func @a_and_2_more(%[[X:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[Y:.*]]: !llvm.ptr<1>, %[[Z:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64})
// CHECK-SAME: fusion_tile.grid = [[GRID:#.*]], fusion_tile.shared_bytes = 512 : i64
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[SECOND:.*]] = arith.constant 6 : i32
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %[[BLOCK]], %[[SECOND]]
// CHECK: scf.if %[[FIRST]] {
// Two kernels run this program: their blocks differ in its arguments alone.
// CHECK:   %[[EACH:.*]] = arith.constant 3 : i32
// CHECK:   %[[MEMBER:.*]] = arith.divui %[[BLOCK]], %[[EACH]]
// CHECK:   %[[OWNBLOCK:.*]] = arith.remui %[[BLOCK]], %[[EACH]]
// Fewer threads than the launch has: the others do nothing, and are not waited
// for.
// CHECK:   %[[OWN:.*]] = arith.constant 32 : i32
// CHECK:   %[[WORKS:.*]] = arith.cmpi slt, %{{.*}}, %[[OWN]]
// CHECK:   scf.if %[[WORKS]] {
// CHECK:     %[[ONE:.*]] = arith.constant 1 : i32
// CHECK:     %[[ISFIRST:.*]] = arith.cmpi slt, %[[MEMBER]], %[[ONE]]
// CHECK:     %[[ARGUMENT:.*]] = scf.if %[[ISFIRST]] -> (!llvm.ptr<1>) {
// CHECK:       scf.yield %[[X]]
// CHECK:     } else {
// CHECK:       scf.yield %[[Z]]
// CHECK:     nvvm.read.ptx.sreg.tid.x range <i32, 0, 128>
// CHECK:     %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK:     %[[COUNT:.*]] = arith.constant 32 : i32
// CHECK:     nvvm.barrier id = %[[ZERO]] number_of_threads = %[[COUNT]]
// CHECK:     llvm.store %[[OWNBLOCK]], %[[ARGUMENT]]
// CHECK: } else {
// CHECK:   %[[OFFSET:.*]] = arith.constant 6 : i32
// CHECK:   %[[NUMBER:.*]] = arith.subi %[[BLOCK]], %[[OFFSET]]
// CHECK-NOT: scf.if
// CHECK:   nvvm.barrier{{$}}
// CHECK:   %[[BLOCKS:.*]] = arith.constant 5 : i32
// CHECK:   %[[SUM:.*]] = arith.addi %[[NUMBER]], %[[BLOCKS]]
// CHECK:   llvm.store %[[SUM]], %[[Y]]
// CHECK: llvm.return
// CHECK: llvm.func @alone
// CHECK-NOT: llvm.func
#three = affine_map<() -> (3)>
#five = affine_map<() -> (5)>
func.func @f(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = fusion.kernel @a ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {launch = #fusion.launch<0, time_us = 2.0>, program = @a} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  %1 = fusion.kernel @b ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {launch = #fusion.launch<0, time_us = 2.0>, program = @b} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  %2 = fusion.kernel @c ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {launch = #fusion.launch<0, time_us = 2.0>, program = @a} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  %3 = fusion.kernel @alone ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {program = @alone} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func @g(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = fusion.kernel @a ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {launch = #fusion.launch<0, time_us = 2.0>, program = @a} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  %1 = fusion.kernel @b ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {launch = #fusion.launch<0, time_us = 2.0>, program = @b} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  %2 = fusion.kernel @c ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {launch = #fusion.launch<0, time_us = 2.0>, program = @a} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
gpu.module @kernels {
  llvm.func @a(%x: !llvm.ptr<1> {llvm.align = 16 : i64}) attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 32, 1, 1>, fusion_tile.grid = #three, fusion_tile.shared_bytes = 0 : i64} {
    %t = nvvm.read.ptx.sreg.tid.x range <i32, 0, 32> : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    nvvm.barrier
    llvm.store %b, %x : i32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @b(%y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, fusion_tile.grid = #five, fusion_tile.shared_bytes = 512 : i64} {
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    nvvm.barrier
    %n = nvvm.read.ptx.sreg.nctaid.x : i32
    %s = arith.addi %b, %n : i32
    llvm.store %s, %y : i32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @alone(%y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, fusion_tile.grid = #five, fusion_tile.shared_bytes = 512 : i64} {
    llvm.return
  }
}
