// RUN: fusion-opt %s --split-input-file --fusion-to-plan=target=sm_90a --fusion-schedule-select \
// RUN:   --fusion-schedule-pack-launches --remarks-filter='fusion-schedule' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Which kernels start in one launch: small ones that do not depend on each
// other.

// REMARK: [Passed] one-launch | Category:fusion-schedule | Function=two_levels | Remark="2 kernels start in one launch", TimeAfter=2.{{[0-9]+}}e+00, TimeBefore=4.{{[0-9]+}}e+00
// REMARK: [Passed] one-launch | Category:fusion-schedule | Function=two_levels | Remark="2 kernels start in one launch"
// REMARK: [Missed] own-launch | Category:fusion-schedule | Function=products | Remark="kernel 'matmul' starts on its own: product: products use the chip in their own way"
// REMARK: [Missed] own-launch | Category:fusion-schedule | Function=dynamic | Remark="kernel 'exp' starts on its own: dynamic-size: only the run knows its blocks"
// REMARK: [Missed] own-launch | Category:fusion-schedule | Function=exchange | Remark="kernel 'sum' starts on its own: exchange: its blocks tell each other results"
// REMARK: [Missed] own-launch | Category:fusion-schedule | Function=large | Remark="kernel 'exp' starts on its own: not-profitable: no other kernel is predicted to run faster beside it than after it"
// REMARK: [Missed] own-launch | Category:fusion-schedule | Function=by_hand | Remark="kernel 'exp' starts on its own: by-hand: its schedule has no price"

// Each level has a launch of its own, and its kernels stand together, whatever
// the threads of their blocks. On its own the maximum would have four warps for
// each row, for which the blocks of the sum would wait.
// CHECK-LABEL: func.func @two_levels
// CHECK: fusion.kernel @sum ins{{.*}}launch = #fusion.launch<0, time_us = [[FIRST:[0-9.e+]+]]>, schedule = #fusion.schedule<{{.*}}, warps = 1>
// CHECK: fusion.kernel @max ins{{.*}}launch = #fusion.launch<0, time_us = [[FIRST]]>, schedule = #fusion.schedule<{{.*}}, warps = 2>
// CHECK: fusion.kernel @sum_exp ins{{.*}}launch = #fusion.launch<1,
// CHECK: fusion.kernel @max_exp ins{{.*}}launch = #fusion.launch<1,
func.func @two_levels(%x: tensor<64x128xf32>, %y: tensor<32x2048xf32>) -> (tensor<64xf32>, tensor<32xf32>) {
  %i = tensor.empty() : tensor<64xf32>
  %j = tensor.empty() : tensor<32xf32>
  %a = fusion.kernel @sum ins(%x, %i : tensor<64x128xf32>, tensor<64xf32>) -> (tensor<64xf32>) {
  ^bb0(%u: tensor<64x128xf32>, %v: tensor<64xf32>):
    %s = linalg.reduce { arith.addf } ins(%u : tensor<64x128xf32>) outs(%v : tensor<64xf32>) dimensions = [1]
    fusion.yield %s : tensor<64xf32>
  }
  %c = fusion.kernel @sum_exp ins(%a : tensor<64xf32>) -> (tensor<64xf32>) {
  ^bb0(%u: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %s = linalg.exp ins(%u : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    fusion.yield %s : tensor<64xf32>
  }
  %b = fusion.kernel @max ins(%y, %j : tensor<32x2048xf32>, tensor<32xf32>) -> (tensor<32xf32>) {
  ^bb0(%u: tensor<32x2048xf32>, %v: tensor<32xf32>):
    %s = linalg.reduce { arith.maximumf } ins(%u : tensor<32x2048xf32>) outs(%v : tensor<32xf32>) dimensions = [1]
    fusion.yield %s : tensor<32xf32>
  }
  %d = fusion.kernel @max_exp ins(%b : tensor<32xf32>) -> (tensor<32xf32>) {
  ^bb0(%u: tensor<32xf32>):
    %e = tensor.empty() : tensor<32xf32>
    %s = linalg.exp ins(%u : tensor<32xf32>) outs(%e : tensor<32xf32>) -> tensor<32xf32>
    fusion.yield %s : tensor<32xf32>
  }
  return %c, %d : tensor<64xf32>, tensor<32xf32>
}

// The plan has the time of the launch.
// CHECK-LABEL: func.func @planned
// CHECK-SAME: kernels_after = 3 : i64, {{.*}}time_us = 1.{{[0-9]+}}e+00
// CHECK-COUNT-3: launch = #fusion.launch<0,
func.func @planned(%x: tensor<100xf32>, %y: tensor<7x9xf16>, %z: tensor<3000xf32>) -> (tensor<100xf32>, tensor<7x9xf16>, tensor<3000xf32>) {
  %a = fusion.gelu %x : tensor<100xf32>
  %b = fusion.gelu %y : tensor<7x9xf16>
  %c = fusion.gelu %z : tensor<3000xf32>
  return %a, %b, %c : tensor<100xf32>, tensor<7x9xf16>, tensor<3000xf32>
}

// -----

// CHECK-LABEL: func.func @products
// CHECK-NOT: #fusion.launch
func.func @products(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %i: tensor<8x8xf32>, %y: tensor<100xf32>) -> (tensor<8x8xf32>, tensor<100xf32>) {
  %a = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = fusion.relu %y : tensor<100xf32>
  return %a, %b : tensor<8x8xf32>, tensor<100xf32>
}

// -----

// CHECK-LABEL: func.func @dynamic
// CHECK-NOT: #fusion.launch
func.func @dynamic(%x: tensor<?xf32>, %e: tensor<?xf32>, %y: tensor<100xf32>) -> (tensor<?xf32>, tensor<100xf32>) {
  %a = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %b = fusion.relu %y : tensor<100xf32>
  return %a, %b : tensor<?xf32>, tensor<100xf32>
}

// -----

// CHECK-LABEL: func.func @exchange
// CHECK-NOT: #fusion.launch
func.func @exchange(%x: tensor<16777216xf32>, %i: tensor<f32>, %y: tensor<100xf32>) -> (tensor<f32>, tensor<100xf32>) {
  %a = linalg.reduce { arith.addf } ins(%x : tensor<16777216xf32>) outs(%i : tensor<f32>) dimensions = [0]
  %b = fusion.relu %y : tensor<100xf32>
  return %a, %b : tensor<f32>, tensor<100xf32>
}

// -----

// CHECK-LABEL: func.func @large
// CHECK-NOT: #fusion.launch
func.func @large(%x: tensor<16777216xf32>, %y: tensor<33554432xf32>) -> (tensor<16777216xf32>, tensor<33554432xf32>) {
  %e = tensor.empty() : tensor<16777216xf32>
  %a = linalg.exp ins(%x : tensor<16777216xf32>) outs(%e : tensor<16777216xf32>) -> tensor<16777216xf32>
  %b = fusion.relu %y : tensor<33554432xf32>
  return %a, %b : tensor<16777216xf32>, tensor<33554432xf32>
}

// -----

// CHECK-LABEL: func.func @by_hand
// CHECK-NOT: #fusion.launch
func.func @by_hand(%x: tensor<64xf32>, %y: tensor<100xf32>) -> (tensor<64xf32>, tensor<100xf32>) {
  %a = fusion.kernel @exp ins(%x : tensor<64xf32>) -> (tensor<64xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 32>], warps = 1>} {
  ^bb0(%u: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %s = linalg.exp ins(%u : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    fusion.yield %s : tensor<64xf32>
  }
  %b = fusion.kernel @other ins(%y : tensor<100xf32>) -> (tensor<100xf32>) {
  ^bb0(%u: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %s = linalg.exp ins(%u : tensor<100xf32>) outs(%e : tensor<100xf32>) -> tensor<100xf32>
    fusion.yield %s : tensor<100xf32>
  }
  return %a, %b : tensor<64xf32>, tensor<100xf32>
}

// -----

// What writes in place stays between what stands before and after it: the exp
// reads what is overwritten.
// CHECK-LABEL: func.func @in_place
// CHECK: fusion.kernel @exp
// CHECK: fusion.kernel @append
// CHECK: fusion.kernel @relu
// CHECK-NOT: #fusion.launch
// REMARK-NOT: Function=in_place
func.func @in_place(%cache: tensor<8x128xf32> {fusion.overwritten_by = 1}, %row: tensor<1x128xf32>, %y: tensor<100xf32>) -> (tensor<8x128xf32>, tensor<8x128xf32>, tensor<100xf32>) {
  %a = fusion.kernel @exp ins(%cache : tensor<8x128xf32>) -> (tensor<8x128xf32>) {
  ^bb0(%u: tensor<8x128xf32>):
    %e = tensor.empty() : tensor<8x128xf32>
    %s = linalg.exp ins(%u : tensor<8x128xf32>) outs(%e : tensor<8x128xf32>) -> tensor<8x128xf32>
    fusion.yield %s : tensor<8x128xf32>
  }
  %c = fusion.kernel @append ins(%cache, %row : tensor<8x128xf32>, tensor<1x128xf32>) -> (tensor<8x128xf32>) {
  ^bb0(%u: tensor<8x128xf32>, %v: tensor<1x128xf32>):
    %s = tensor.insert_slice %v into %u[3, 0] [1, 128] [1, 1] {fusion.in_place} : tensor<1x128xf32> into tensor<8x128xf32>
    fusion.yield %s : tensor<8x128xf32>
  }
  %b = fusion.kernel @relu ins(%y : tensor<100xf32>) -> (tensor<100xf32>) {
  ^bb0(%u: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %s = linalg.exp ins(%u : tensor<100xf32>) outs(%e : tensor<100xf32>) -> tensor<100xf32>
    fusion.yield %s : tensor<100xf32>
  }
  return %a, %c, %b : tensor<8x128xf32>, tensor<8x128xf32>, tensor<100xf32>
}
