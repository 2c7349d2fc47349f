// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-assign-layouts,fusion-tile-allocate-shared-memory),fusion-convert-tile-to-nvvm)' | FileCheck %s

// A tensor is aligned by what divides its size, 16 bytes at most. Accesses under
// one condition have one address and displacements; where there is nothing they
// read as far from the tensor's beginning.

// CHECK-LABEL: llvm.func @condition
// CHECK-SAME: (%[[P:[a-z0-9]+]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.align = 16 : i64})
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[AT:.*]] = arith.select %[[IN]], %{{.*}}, %c0_i32
// CHECK: %[[A:.*]] = llvm.getelementptr %[[P]][%[[AT]]]
// CHECK: llvm.getelementptr %{{.*}}[1]
// CHECK: arith.cmpi ult
// CHECK: %[[MINUS:.*]] = arith.select %{{.*}}, %{{.*}}, %c2_i32
// CHECK: %[[B:.*]] = llvm.getelementptr %[[P]][%[[MINUS]]]
// CHECK: llvm.getelementptr %[[B]][-2]
fusion_tile.program @condition(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<27x2xf64>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<32xf64>
  %s = fusion_tile.load %x[affine_map<(a) -> (a, 0)>] () checked [true, false] : !fusion_tile.view<27x2xf64> -> tensor<32xf64>
  %t = fusion_tile.load %x[affine_map<(a) -> (a, 1)>] () checked [true, false] : !fusion_tile.view<27x2xf64> -> tensor<32xf64>
  %v = fusion_tile.load %x[affine_map<(a) -> (a - 1, 0)>] () checked [true, false] : !fusion_tile.view<27x2xf64> -> tensor<32xf64>
  %u = arith.addf %s, %t : tensor<32xf64>
  %w = arith.addf %u, %v : tensor<32xf64>
  fusion_tile.store %w, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<32xf64>, !fusion_tile.view<32xf64>
  fusion_tile.return
}

// What the program does not write is loaded under its condition where an element
// has no more than a register, or half of one.

// CHECK-LABEL: llvm.func @narrow
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[A:.*]] = llvm.getelementptr %{{.*}} f16
// CHECK: %[[AT:.*]] = llvm.mlir.constant(2 : i32) : i32
// CHECK: %[[S:.*]] = llvm.inline_asm asm_dialect = att "mov.b16 $0, 0; @$2 ld.global.nc.b16 $0, [$1+$3];", "=&h,l,b,n" %[[A]], %[[IN]], %[[AT]] : (!llvm.ptr<1>, i1, i32) -> i16
// CHECK: llvm.bitcast %[[S]] : i16 to f16
// CHECK: %[[B:.*]] = llvm.inline_asm asm_dialect = att "mov.b16 $0, 0; @$2 ld.global.nc.b8 $0, [$1+$3];", "=&h,l,b,n"
// CHECK: arith.trunci %[[B]] : i16 to i8
fusion_tile.program @narrow(%p: !llvm.ptr<1>, %b: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<27x2xf16>
  %m = fusion_tile.view %b[] : !llvm.ptr<1> to !fusion_tile.view<27xi8>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<32xf16>
  %s = fusion_tile.load %x[affine_map<(a) -> (a, 1)>] () checked [true, false] : !fusion_tile.view<27x2xf16> -> tensor<32xf16>
  %n = fusion_tile.load %m[affine_map<(a) -> (a - 1)>] () checked [true] : !fusion_tile.view<27xi8> -> tensor<32xi8>
  %f = arith.sitofp %n : tensor<32xi8> to tensor<32xf16>
  %u = arith.addf %s, %f : tensor<32xf16>
  fusion_tile.store %u, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<32xf16>, !fusion_tile.view<32xf16>
  fusion_tile.return
}

// A group is aligned as it is large, which may be more than what divides the
// size of the tensor. Then its address is not what LLVM sees of its elements'.

// CHECK-LABEL: llvm.func @group
// CHECK-SAME: (%[[P:[a-z0-9]+]]: !llvm.ptr<1> {llvm.align = 2 : i64}, %[[Q:[a-z0-9]+]]: !llvm.ptr<1> {llvm.align = 16 : i64})
// CHECK: %[[GROUP:.*]] = llvm.intr.strip.invariant.group %[[P]] : !llvm.ptr<1>
// CHECK: %[[WHOLE:.*]] = llvm.getelementptr %[[GROUP]]
// CHECK: llvm.load %[[WHOLE]] {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xf16>
// CHECK: scf.if
// CHECK: %[[ONE:.*]] = llvm.getelementptr %[[P]]
// CHECK: llvm.load %[[ONE]] : !llvm.ptr<1> -> f16
// CHECK: %[[OUT:.*]] = llvm.getelementptr %[[Q]]
// CHECK: llvm.store %{{.*}}, %[[OUT]] {alignment = 8 : i64} : vector<4xf16>, !llvm.ptr<1>
// CHECK: %[[GROUP:.*]] = llvm.intr.strip.invariant.group %[[P]] : !llvm.ptr<1>
// CHECK: %[[WHOLE:.*]] = llvm.getelementptr %[[GROUP]]
// CHECK: llvm.store %{{.*}}, %[[WHOLE]] {alignment = 8 : i64} : vector<4xf16>, !llvm.ptr<1>
fusion_tile.program @group(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<127xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<128xf16>
  %s = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [true] : !fusion_tile.view<127xf16> -> tensor<128xf16>
  fusion_tile.store %s, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<128xf16>, !fusion_tile.view<128xf16>
  fusion_tile.store %s, %x[affine_map<(a) -> (a)>] () checked [true] : tensor<128xf16>, !fusion_tile.view<127xf16>
  fusion_tile.return
}

// A constant of a map that is more than an operation's attribute has room for is
// a value.
// CHECK-LABEL: llvm.func @far
// CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
fusion_tile.program @far(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<600000000xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<32xf16>
  %s = fusion_tile.load %x[affine_map<(a) -> (a + 300000000)>] () checked [false] : !fusion_tile.view<600000000xf16> -> tensor<32xf16>
  fusion_tile.store %s, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<32xf16>, !fusion_tile.view<32xf16>
  fusion_tile.return
}
