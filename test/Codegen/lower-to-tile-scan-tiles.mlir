// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file --verify-diagnostics | FileCheck %s

// A block walks its row in tiles, each scanned from what came before; elements
// past the end come last and need no mask. Sums of short floats are made in
// f32, from tile to tile too.

// CHECK-LABEL: fusion_tile.program @sum
// CHECK: %[[ZERO:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: scf.for {{.*}} iter_args(%[[CARRY:.*]] = %[[ZERO]]) -> (f32)
// CHECK-NOT: select
// CHECK:   %[[WIDE:.*]] = arith.extf %{{.*}} : tensor<256xbf16> to tensor<256xf32>
// CHECK:   %[[R:.*]], %[[T:.*]] = fusion_tile.scan %[[WIDE]] inits(%[[CARRY]] : f32) along 0 : tensor<256xf32> -> tensor<256xf32> totals f32
// CHECK:     arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:   %[[OUT:.*]] = arith.truncf %[[R]] : tensor<256xf32> to tensor<256xbf16>
// CHECK:   fusion_tile.store %[[OUT]]
// CHECK:   scf.yield %[[T]] : f32
func.func @main(%a: tensor<8x1000xbf16>) -> tensor<8x1000xbf16> {
  %r = fusion.kernel @sum ins(%a : tensor<8x1000xbf16>) -> (tensor<8x1000xbf16>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 256>], warps = 2>} {
  ^bb0(%x: tensor<8x1000xbf16>):
    %zero = arith.constant 0.0 : bf16
    %s = fusion.scan ins(%x : tensor<8x1000xbf16>) inits(%zero : bf16) axis(1) -> tensor<8x1000xbf16> {
    ^bb1(%u: bf16, %v: bf16):
      %w = arith.addf %u, %v : bf16
      fusion.yield %w : bf16
    }
    fusion.yield %s : tensor<8x1000xbf16>
  }
  return %r : tensor<8x1000xbf16>
}

// -----

// Backwards, the last tile comes first, and in it what lies past the end: the
// identities of the recurrence's product and sum stand there.

// CHECK-LABEL: fusion_tile.program @recurrence
// CHECK: scf.for %[[I:[a-z0-9]*]] = {{.*}} -> (tensor<32xf32>, tensor<32xf32>)
// CHECK:   arith.divui
// CHECK:   arith.muli
// CHECK:   %[[AT:.*]] = arith.subi %{{.*}}, %[[I]] : index
// CHECK:   fusion_tile.load %{{.*}} (%[[AT]], %{{.*}})
// CHECK:   %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:   %[[ONES:.*]] = fusion_tile.splat %[[ONE]] : f32 -> tensor<32x64xf32>
// CHECK:   %[[A:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ONES]]
// CHECK:   %[[ZERO:.*]] = arith.constant -0.000000e+00 : f32
// CHECK:   %[[ZEROS:.*]] = fusion_tile.splat %[[ZERO]] : f32 -> tensor<32x64xf32>
// CHECK:   %[[B:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ZEROS]]
// CHECK:   fusion_tile.scan %[[A]], %[[B]] inits(%{{.*}}, %{{.*}} : tensor<32xf32>, tensor<32xf32>) along 1 exclusive reverse :
func.func @main(%a: tensor<100x64xf32>, %b: tensor<100x64xf32>) -> tensor<100x64xf32> {
  %r = fusion.kernel @recurrence ins(%a, %b : tensor<100x64xf32>, tensor<100x64xf32>) -> (tensor<100x64xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 64>, #fusion.axis<grid, tile = 32>], warps = 2>} {
  ^bb0(%x: tensor<100x64xf32>, %y: tensor<100x64xf32>):
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %s:2 = fusion.scan exclusive reverse ins(%x, %y : tensor<100x64xf32>, tensor<100x64xf32>) inits(%one, %zero : f32, f32) axis(0)
        -> tensor<100x64xf32>, tensor<100x64xf32> {
    ^bb1(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
      %p = arith.mulf %a1, %a2 : f32
      %q = arith.mulf %a2, %b1 : f32
      %t = arith.addf %q, %b2 : f32
      fusion.yield %p, %t : f32, f32
    }
    fusion.yield %s#1 : tensor<100x64xf32>
  }
  return %r : tensor<100x64xf32>
}

// -----

// What is not known to be associative cannot be walked in tiles.

func.func @main(%a: tensor<100xf32>) -> tensor<100xf32> {
  %r = fusion.kernel @unknown ins(%a : tensor<100xf32>) -> (tensor<100xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 64>], warps = 1>} {
  ^bb0(%x: tensor<100xf32>):
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{FUS-3127: a scan whose combination is not known to be associative is walked in tiles}}
    %s = fusion.scan ins(%x : tensor<100xf32>) inits(%zero : f32) axis(0) -> tensor<100xf32> {
    ^bb1(%u: f32, %v: f32):
      %d = arith.subf %u, %v : f32
      fusion.yield %d : f32
    }
    fusion.yield %s : tensor<100xf32>
  }
  return %r : tensor<100xf32>
}

// -----

// So few elements may be combined one by one.

// CHECK-LABEL: fusion_tile.program @in_order
// CHECK: fusion_tile.scan {{.*}} along 1 in_order :
func.func @main(%a: tensor<30x100xf32>) -> tensor<30x100xf32> {
  %r = fusion.kernel @in_order ins(%a : tensor<30x100xf32>) -> (tensor<30x100xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 32>, #fusion.axis<grid, tile = 128>], warps = 4>} {
  ^bb0(%x: tensor<30x100xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan ins(%x : tensor<30x100xf32>) inits(%zero : f32) axis(0) -> tensor<30x100xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<30x100xf32>
  }
  return %r : tensor<30x100xf32>
}
