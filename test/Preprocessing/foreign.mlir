// REQUIRES: foreign-dialect
// RUN: fusion-opt %s %foreign --fusion-input-raise --canonicalize --cse | FileCheck %s
// RUN: fusion-opt %s %foreign --fusion-input | FileCheck %s --check-prefix=INPUT
// RUN: fusion-compile %s %foreign --target=sm_90a --ptxas=false --compile-to=plan -o - | FileCheck %s --check-prefix=PLAN

// INPUT-NOT: foreign.
// INPUT-NOT: memref

// Two results at a time, and a scalar.
// CHECK: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @blend
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xf32>, %[[Y:.*]]: tensor<?x?xf32>, %[[W:.*]]: f32)
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]], #[[ID]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[Y]] : {{.*}}) outs(
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[B]], %[[A]]
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[D]], %[[W]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[M]]
// CHECK-NEXT: %[[F:.*]] = math.absf %[[M]]
// CHECK-NEXT: linalg.yield %[[S]], %[[F]]
func.func @blend(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %w: f32)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0:2 = foreign.blend
      ins(%x, %y, %w : tensor<?x?xf32>, tensor<?x?xf32>, f32)
      outs(%e, %e : tensor<?x?xf32>, tensor<?x?xf32>)
      -> tensor<?x?xf32>, tensor<?x?xf32>
  return %0#0, %0#1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// A reduction, fused with what it reads and what reads it.
// CHECK-LABEL: func.func @row_norm
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROW]]], iterator_types = ["parallel", "reduction"]}
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT: %[[SQ:.*]] = arith.mulf %[[A]], %[[A]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[SQ]]
// CHECK-NEXT: linalg.yield %[[NEXT]]
// PLAN-LABEL: func.func @row_norm
// PLAN: fusion.kernel
// PLAN-NOT: fusion.kernel
// PLAN: return
func.func @row_norm(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %0 = fusion.gelu %x : tensor<64x256xf32>
  %1 = foreign.row_norm ins(%0 : tensor<64x256xf32>) outs(%f : tensor<64xf32>)
      -> tensor<64xf32>
  %2 = math.sqrt %1 : tensor<64xf32>
  return %2 : tensor<64xf32>
}

// A load that no loops say is one by index.
// CHECK-LABEL: func.func @lookup
// CHECK-SAME: (%[[T:.*]]: tensor<?x8xf32>, %[[I:.*]]: tensor<?xi32>
// CHECK: linalg.generic {{.*}} ins(%[[I]] : tensor<?xi32>)
// CHECK: %[[ROW_OF:.*]] = arith.index_cast
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: tensor.extract %[[T]][%[[ROW_OF]], %[[J]]]
func.func @lookup(%t: tensor<?x8xf32>, %i: tensor<?xi32>, %o: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  %0 = foreign.lookup ins(%t, %i : tensor<?x8xf32>, tensor<?xi32>)
      outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// A window inside of its operand; a loop that no operand bounds.
// CHECK-LABEL: func.func @window
// CHECK: %[[SHAPE:.*]] = tensor.empty() : tensor<3xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}], iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %[[SHAPE]] : tensor<17xf32>, tensor<3xf32>)
func.func @window(%x: tensor<17xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %0 = foreign.window ins(%x : tensor<17xf32>) outs(%o : tensor<8xf32>)
      -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Of unknown sizes it is read by index.
// CHECK-LABEL: func.func @open_window
// CHECK: linalg.generic
// CHECK: tensor.extract
func.func @open_window(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = foreign.window ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>)
      -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @square
// CHECK: arith.mulf
func.func @square(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = foreign.square %x : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
