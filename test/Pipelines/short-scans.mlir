// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o - | FileCheck %s --check-prefix=PTX

// Where what is scanned is short, and so is what lies beside it in memory, a
// thread has all of both, 32 bytes that lie together, and neighbouring lanes
// have what follows. Nothing is exchanged.

// CHECK-LABEL: fusion_tile.program @scan
// CHECK-COUNT-2: fusion_tile.load {{.*}}reg={{\[\[}}0,1,0],[0,2,0],[0,0,1],[0,0,2]], lane={{\[\[}}1,0,0],[2,0,0],[4,0,0],[8,0,0],[16,0,0]], warp={{\[\[}}32,0,0],[64,0,0]], shape=[128,4,4]}
// CHECK-NOT: fusion_tile.local_store
// CHECK: fusion_tile.store

// PTX: .entry scan
// PTX-NOT: ld.shared
// PTX-NOT: shfl
// PTX: st.global.v4.b32
func.func @main(%a: tensor<40064x4x4xbf16>, %b: tensor<40064x4x4xbf16>) -> tensor<40064x4x4xbf16> {
  %one = arith.constant 1.0 : bf16
  %zero = arith.constant 0.0 : bf16
  %h:2 = fusion.scan ins(%a, %b : tensor<40064x4x4xbf16>, tensor<40064x4x4xbf16>) inits(%one, %zero : bf16, bf16) axis(1)
      -> tensor<40064x4x4xbf16>, tensor<40064x4x4xbf16> {
  ^bb0(%a1: bf16, %b1: bf16, %a2: bf16, %b2: bf16):
    %p = arith.mulf %a1, %a2 : bf16
    %q = arith.mulf %a2, %b1 : bf16
    %t = arith.addf %q, %b2 : bf16
    fusion.yield %p, %t : bf16, bf16
  }
  return %h#1 : tensor<40064x4x4xbf16>
}
