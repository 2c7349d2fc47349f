// The terms of the predicted time of each schedule of a kernel, and how they
// follow the constants of the chip.

// RUN: fusion-opt %s --split-input-file --fusion-to-plan=target=sm_90a --fusion-schedule-print-prices -o %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fusion-opt %s --split-input-file --fusion-to-plan=target=sm_80 --fusion-schedule-print-prices=target=sm_80 -o %t | FileCheck %s --check-prefix=A100

// A copy is as fast as memory, after a launch.
// CHECK: {"chip":"sm_90a","kernel":"relu","schedules":[{"blocks":
// CHECK-SAME: "bytes":134217728,
// CHECK-SAME: "schedule":"#fusion.schedule<pointwise, axes =
// CHECK-SAME: "launch":{"slopes":{"rates.dramLatencySeconds":0.35{{[0-9]*}},"rates.launchSeconds":0.64{{[0-9]*}}},"value":1.8{{[0-9]*}}e-06}
// CHECK-SAME: "memory":{"slopes":{"rates.dramBytesPerSecond":-0.99
// A100: {"chip":"sm_80","kernel":"relu"
// IR: fusion.kernel @relu
// IR-NOT: schedule
func.func @copy(%x: tensor<16777216xf32>) -> tensor<16777216xf32> {
  %y = fusion.relu %x : tensor<16777216xf32>
  return %y : tensor<16777216xf32>
}

// -----

// Blocks that share a row wait for each other: there are several schedules.
// CHECK: "kernel":"softmax","schedules":[{
// CHECK-SAME: cluster = 4>
// CHECK-SAME: "launch":{"slopes":{"kernels.clusterStepSeconds":0.
// CHECK-SAME: #fusion.axis<loop, tile = 4096
// CHECK-SAME: "memory":{"slopes":{"loops.
func.func @rows(%x: tensor<4096x50000xf32>) -> tensor<4096x50000xf32> {
  %y = fusion.softmax %x axis(1) : tensor<4096x50000xf32>
  return %y : tensor<4096x50000xf32>
}

// -----

// Constants that were measured count.
// CHECK: "kernel":"relu"
// CHECK-SAME: "launch":{"slopes":{"rates.dramLatencySeconds":0.14{{[0-9]*}},"rates.launchSeconds":0.85{{[0-9]*}}},"value":4.6{{[0-9]*}}e-06}
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {rates = {launchSeconds = 4.0e-6 : f64}}>} {
func.func @slow_launch(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %y = fusion.relu %x : tensor<1024xf32>
  return %y : tensor<1024xf32>
}
}

// -----

// Products are priced by models of their own.
// CHECK: {{"kernel":"matmul.*","schedules":\[\]}}
func.func @product(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
