// RUN: fusion-opt %s --fusion-outline-offloads --split-input-file --verify-diagnostics

func.func @memory(%m: memref<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %y = scf.execute_region -> tensor<4xf32> {
    // expected-error @+1 {{FUS-1401: an offloaded region reads a value of type memref<4xf32> from outside; pass ranked tensors}}
    %v = memref.load %m[%c0] : memref<4xf32>
    %f = tensor.splat %v : tensor<4xf32>
    %0 = arith.addf %x, %f : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } {fusion.offload}
  return %y : tensor<4xf32>
}

// -----

func.func @scalar(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %y = scf.execute_region -> f32 {
    // expected-error @+1 {{FUS-1401: an offloaded region gives a value of type f32;}}
    %v = tensor.extract %x[%c0] : tensor<4xf32>
    scf.yield %v : f32
  } {fusion.offload}
  return %y : f32
}

// -----

func.func @branches(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{FUS-1401: an offloaded region branches between blocks; write the region as one block}}
  %y = scf.execute_region -> tensor<4xf32> {
    cf.br ^bb1
  ^bb1:
    scf.yield %x : tensor<4xf32>
  } {fusion.offload}
  return %y : tensor<4xf32>
}

// -----

func.func @place(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{attribute 'fusion.offload' must be a unit attribute of a function or of a 'scf.execute_region'}}
  %y = math.exp %x {fusion.offload} : tensor<4xf32>
  return %y : tensor<4xf32>
}
