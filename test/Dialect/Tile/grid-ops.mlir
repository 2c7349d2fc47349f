// What blocks of a grid hand to each other.

// RUN: fusion-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: fusion_tile.program @exchange
fusion_tile.program @exchange(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  // CHECK: %[[SLOTS:.*]] = fusion_tile.scratch 65536 : !llvm.ptr<1>
  %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
  // CHECK: %[[SIGNALS:.*]] = fusion_tile.scratch 32 signals : !llvm.ptr<1>
  %signals = fusion_tile.scratch 32 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64x64xf32>
  %b = fusion_tile.splat %f : f32 -> tensor<64x32xf32>
  // CHECK: fusion_tile.publish %[[A:.*]], %[[B:.*]] to %[[SLOTS]] signals %[[SIGNALS]][%{{.*}}] : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x32xf32>
  fusion_tile.publish %a, %b to %slots signals %signals[%i] : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x32xf32>
  // CHECK: %{{.*}}:2 = fusion_tile.collect %[[A]], %[[B]] from %[[SLOTS]] signals %[[SIGNALS]][%{{.*}}] : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x32xf32>
  %c:2 = fusion_tile.collect %a, %b from %slots signals %signals[%i] : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x32xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @empty() attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  // expected-error @below {{has no bytes}}
  %slots = fusion_tile.scratch 0 : !llvm.ptr<1>
  fusion_tile.return
}

// -----

fusion_tile.program @bits(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %slots = fusion_tile.scratch 64 : !llvm.ptr<1>
  %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %t = arith.constant true
  %a = fusion_tile.splat %t : i1 -> tensor<64xi1>
  // expected-error @below {{elements of type 'i1' cannot be exchanged}}
  fusion_tile.publish %a to %slots signals %signals[%i] : !llvm.ptr<1>, tensor<64xi1>
  fusion_tile.return
}

// -----

fusion_tile.program @nothing(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %slots = fusion_tile.scratch 64 : !llvm.ptr<1>
  %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  // expected-error @below {{has no tiles}}
  "fusion_tile.publish"(%slots, %signals, %i) : (!llvm.ptr<1>, !llvm.ptr<1>, index) -> ()
  fusion_tile.return
}

// -----

// CHECK-LABEL: fusion_tile.program @reduce
fusion_tile.program @reduce(%i: index, %r: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
  %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64x64xf32>
  %b = fusion_tile.splat %f : f32 -> tensor<64x32xf32>
  // CHECK: %{{.*}}:2 = fusion_tile.grid_reduce %{{.*}}, %{{.*}} through %{{.*}} signals %{{.*}}[%{{.*}}, %{{.*}}] along 1 : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x32xf32> -> tensor<64x16xf32>, tensor<64x8xf32>
  %c:2 = fusion_tile.grid_reduce %a, %b through %slots signals %signals[%i, %r] along 1 : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x32xf32> -> tensor<64x16xf32>, tensor<64x8xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @alone(%i: index, %p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64x64xf32>
  // expected-error @below {{stands in a program whose blocks do not wait for each other ('together')}}
  %c = fusion_tile.grid_reduce %a through %p signals %p[%i, %i] along 1 : !llvm.ptr<1>, tensor<64x64xf32> -> tensor<64x16xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @rank(%i: index, %p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64x64xf32>
  // expected-error @below {{dimension 2 is outside the tile's rank}}
  %c = fusion_tile.grid_reduce %a through %p signals %p[%i, %i] along 2 : !llvm.ptr<1>, tensor<64x64xf32> -> tensor<64x16xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @size(%i: index, %p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64x2xf32>
  // expected-error @below {{size 2 cannot be shared by 4 blocks}}
  %c = fusion_tile.grid_reduce %a through %p signals %p[%i, %i] along 1 : !llvm.ptr<1>, tensor<64x2xf32> -> tensor<64x1xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @part(%i: index, %p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64x64xf32>
  // expected-error @below {{results must be one block's parts of the tiles}}
  %c = fusion_tile.grid_reduce %a through %p signals %p[%i, %i] along 1 : !llvm.ptr<1>, tensor<64x64xf32> -> tensor<64x32xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @count(%i: index, %p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64x64xf32>
  // expected-error @below {{has 2 tiles and 1 results}}
  %c = fusion_tile.grid_reduce %a, %a through %p signals %p[%i, %i] along 1 : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x16xf32>
  fusion_tile.return
}

// -----

// expected-error @below {{at most 256 blocks wait for each other, got 257}}
fusion_tile.program @many() attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 257 : i64} {
  fusion_tile.return
}

// -----

// expected-error @below {{blocks that wait for each other are no cluster}}
fusion_tile.program @both() attributes {num_warps = 4 : i64, index_bits = 32 : i64, cluster = 2 : i64, together = 2 : i64} {
  fusion_tile.return
}
// -----

// What the blocks of a panel combine.

// CHECK-LABEL: fusion_tile.program @panel
fusion_tile.program @panel(%panel: index, %member: index, %turn: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 3 : i64} {
  // CHECK: %[[MEMORY:.*]] = fusion_tile.scratch 6272 signals : !llvm.ptr<1>
  %memory = fusion_tile.scratch 6272 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64xf32>
  // CHECK: fusion_tile.panel_reduce %{{.*}} through %[[MEMORY]][%{{.*}}, %{{.*}}, %{{.*}}] members 3 copies 2 at 128 of 3200 : !llvm.ptr<1>, tensor<64xf32> -> tensor<64xf32> {
  // CHECK-NEXT: ^bb0(%[[U:.*]]: f32, %[[V:.*]]: f32):
  // CHECK-NEXT: %[[W:.*]] = arith.addf %[[U]], %[[V]] : f32
  // CHECK-NEXT: fusion_tile.yield %[[W]] : f32
  %b = fusion_tile.panel_reduce %a through %memory[%panel, %member, %turn] members 3 copies 2 at 128 of 3200 : !llvm.ptr<1>, tensor<64xf32> -> tensor<64xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  // CHECK: fusion_tile.panel_reduce %{{.*}}, %{{.*}} through %[[MEMORY]][%{{.*}}, %{{.*}}, %{{.*}}] members 3 copies 1 at 128 of 3200 : !llvm.ptr<1>, f32, i32 -> f32, i32 {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
  %n = arith.constant 2 : i32
  %c:2 = fusion_tile.panel_reduce %f, %n through %memory[%panel, %member, %turn] members 3 copies 1 at 128 of 3200 : !llvm.ptr<1>, f32, i32 -> f32, i32 {
  ^bb0(%x: f32, %y: i32, %u: f32, %v: i32):
    fusion_tile.yield %u, %v : f32, i32
  }
  // CHECK: fusion_tile.panel_leave %[[MEMORY]][%{{.*}}] arrivals 3 of 3200 : !llvm.ptr<1>
  fusion_tile.panel_leave %memory[%panel] arrivals 3 of 3200 : !llvm.ptr<1>
  fusion_tile.return
}
// -----

fusion_tile.program @wide(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 3 : i64} {
  %memory = fusion_tile.scratch 6272 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f64
  %a = fusion_tile.splat %f : f64 -> tensor<64xf64>
  // expected-error @below {{elements of type 'f64' do not fit beside the number of an exchange}}
  %b = fusion_tile.panel_reduce %a through %memory[%i, %i, %i] members 3 copies 2 at 128 of 3200 : !llvm.ptr<1>, tensor<64xf64> -> tensor<64xf64> {
  ^bb0(%u: f64, %v: f64):
    fusion_tile.yield %u : f64
  }
  fusion_tile.return
}
// -----

fusion_tile.program @alone(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %memory = fusion_tile.scratch 6272 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{needs two members and one copy at least}}
  %b = fusion_tile.panel_reduce %a through %memory[%i, %i, %i] members 1 copies 2 at 128 of 3200 : !llvm.ptr<1>, tensor<64xf32> -> tensor<64xf32> {
  ^bb0(%u: f32, %v: f32):
    fusion_tile.yield %u : f32
  }
  fusion_tile.return
}
// -----

fusion_tile.program @small(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 3 : i64} {
  %memory = fusion_tile.scratch 6272 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{has 384 words from byte 144 on, of 3200 bytes}}
  %b = fusion_tile.panel_reduce %a through %memory[%i, %i, %i] members 3 copies 2 at 144 of 3200 : !llvm.ptr<1>, tensor<64xf32> -> tensor<64xf32> {
  ^bb0(%u: f32, %v: f32):
    fusion_tile.yield %u : f32
  }
  fusion_tile.return
}
// -----

fusion_tile.program @combiner(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 3 : i64} {
  %memory = fusion_tile.scratch 6272 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{combines two states of the values' elements}}
  %b = fusion_tile.panel_reduce %a through %memory[%i, %i, %i] members 3 copies 2 at 128 of 3200 : !llvm.ptr<1>, tensor<64xf32> -> tensor<64xf32> {
  ^bb0(%u: f16, %v: f16):
    fusion_tile.yield %u : f16
  }
  fusion_tile.return
}
// -----

fusion_tile.program @shapes(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 3 : i64} {
  %memory = fusion_tile.scratch 6272 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64xf32>
  %b = fusion_tile.splat %f : f32 -> tensor<32xf32>
  // expected-error @below {{takes tiles of several shapes}}
  %c:2 = fusion_tile.panel_reduce %a, %b through %memory[%i, %i, %i] members 3 copies 2 at 128 of 3200 : !llvm.ptr<1>, tensor<64xf32>, tensor<32xf32> -> tensor<64xf32>, tensor<32xf32> {
  ^bb0(%u: f32, %v: f32, %w: f32, %x: f32):
    fusion_tile.yield %u, %v : f32, f32
  }
  fusion_tile.return
}
// -----

fusion_tile.program @left(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %memory = fusion_tile.scratch 6272 signals : !llvm.ptr<1>
  // expected-error @below {{bytes of a panel are a multiple of 16}}
  fusion_tile.panel_leave %memory[%i] arrivals 3 of 3208 : !llvm.ptr<1>
  fusion_tile.return
}

// -----

fusion_tile.program @others(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %memory = fusion_tile.scratch 6272 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %a = fusion_tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{has other members than the program has blocks that wait for each other ('together' or 'cluster')}}
  %b = fusion_tile.panel_reduce %a through %memory[%i, %i, %i] members 3 copies 2 at 128 of 3200 : !llvm.ptr<1>, tensor<64xf32> -> tensor<64xf32> {
  ^bb0(%u: f32, %v: f32):
    fusion_tile.yield %u : f32
  }
  fusion_tile.return
}

// -----

// CHECK-LABEL: fusion_tile.program @gather
fusion_tile.program @gather(%i: index, %r: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
  %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %m = fusion_tile.splat %f : f32 -> tensor<64xf32>
  %o = fusion_tile.splat %f : f32 -> tensor<64x32xf32>
  // CHECK: %{{.*}}:2 = fusion_tile.grid_gather %{{.*}}, %{{.*}} through %{{.*}} signals %{{.*}}[%{{.*}}, %{{.*}}] along [-1, 1] : !llvm.ptr<1>, tensor<64xf32>, tensor<64x32xf32> -> tensor<64x4xf32>, tensor<64x8x4xf32>
  %a:2 = fusion_tile.grid_gather %m, %o through %slots signals %signals[%i, %r] along [-1, 1] : !llvm.ptr<1>, tensor<64xf32>, tensor<64x32xf32> -> tensor<64x4xf32>, tensor<64x8x4xf32>
  // Two blocks have the same half.
  // CHECK: fusion_tile.grid_gather {{.*}} along [1] : {{.*}} -> tensor<64x16x4xf32>
  %b = fusion_tile.grid_gather %o through %slots signals %signals[%i, %r] along [1] : !llvm.ptr<1>, tensor<64x32xf32> -> tensor<64x16x4xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @three(%i: index, %r: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 3 : i64} {
  %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
  %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %m = fusion_tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{stands in a program of 3 blocks together, no power of two}}
  %a = fusion_tile.grid_gather %m through %slots signals %signals[%i, %r] along [-1] : !llvm.ptr<1>, tensor<64xf32> -> tensor<64x3xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @alone(%i: index, %r: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
  %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %m = fusion_tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{stands in a program whose blocks do not wait for each other ('together')}}
  %a = fusion_tile.grid_gather %m through %slots signals %signals[%i, %r] along [-1] : !llvm.ptr<1>, tensor<64xf32> -> tensor<64x1xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @uneven(%i: index, %r: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
  %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %o = fusion_tile.splat %f : f32 -> tensor<64x32xf32>
  // expected-error @below {{size 32 has no parts of 4 for 4 blocks}}
  %a = fusion_tile.grid_gather %o through %slots signals %signals[%i, %r] along [1] : !llvm.ptr<1>, tensor<64x32xf32> -> tensor<64x4x4xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @shape(%i: index, %r: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
  %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %o = fusion_tile.splat %f : f32 -> tensor<64x32xf32>
  // expected-error @below {{results must be all blocks' shares of the tiles}}
  %a = fusion_tile.grid_gather %o through %slots signals %signals[%i, %r] along [1] : !llvm.ptr<1>, tensor<64x32xf32> -> tensor<64x8x2xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @rank(%i: index, %r: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
  %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %o = fusion_tile.splat %f : f32 -> tensor<64x32xf32>
  // expected-error @below {{dimension 2 is outside the tile's rank}}
  %a = fusion_tile.grid_gather %o through %slots signals %signals[%i, %r] along [2] : !llvm.ptr<1>, tensor<64x32xf32> -> tensor<64x8x4xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @count(%i: index, %r: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
  %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %o = fusion_tile.splat %f : f32 -> tensor<64x32xf32>
  // expected-error @below {{has 1 tiles and parts of 2}}
  %a = fusion_tile.grid_gather %o through %slots signals %signals[%i, %r] along [1, 1] : !llvm.ptr<1>, tensor<64x32xf32> -> tensor<64x8x4xf32>
  fusion_tile.return
}
