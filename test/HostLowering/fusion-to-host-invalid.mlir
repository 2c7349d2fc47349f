// RUN: fusion-opt %s --fusion-to-host=form=gpu --split-input-file --verify-diagnostics
// RUN: not fusion-opt %s --fusion-to-host=form=ptx 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not fusion-opt %s --fusion-to-host=memory=shared 2>&1 | FileCheck %s --check-prefix=MEMORY

// FORM: FUS-1404: form 'ptx' is not known; see fusion-opt --help
// MEMORY: FUS-1404: memory 'shared' is not known

// expected-error @+1 {{FUS-1402: 'external' has no body; offload functions with a body}}
func.func private @external(tensor<4xf32>) -> tensor<4xf32> attributes {fusion.offload}

// -----

// expected-error @+1 {{FUS-1402: 'memory' takes a value of type memref<4xf32, strided<[2]>>}}
func.func @memory(%m: memref<4xf32, strided<[2]>>) attributes {fusion.offload} {
  return
}

// -----

// expected-error @+1 {{FUS-1402: 'nibbles' takes or gives elements of 4 bits}}
func.func @nibbles(%x: tensor<4xi4>) -> tensor<4xi4> attributes {fusion.offload} {
  return %x : tensor<4xi4>
}

// -----

// What the compiler refuses, it says where it is.
func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> attributes {fusion.offload} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{FUS-1012: 'scf.for' is not supported}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Blocks of a scan along one long row wait for each other.
// expected-error @+1 {{FUS-1403: blocks of the kernel}}
func.func @scan(%x: tensor<1x4194304xf32>) -> tensor<1x4194304xf32> attributes {fusion.offload} {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<1x4194304xf32>) inits(%zero : f32) axis(1) -> tensor<1x4194304xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<1x4194304xf32>
}
