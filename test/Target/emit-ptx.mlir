// RUN: fusion-opt %s --fusion-target-emit-ptx="print line-info=false" -o %t \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=ATTR < %t
// RUN: fusion-opt %s --fusion-target-emit-ptx="print line-info=false assemble" \
// RUN:   -o /dev/null | FileCheck %s --check-prefix=ASSEMBLED

// The text stays on its module, whose body stays as it was.
// ATTR: gpu.module @pointwise attributes {fusion_tile.ptx = "
// ATTR: llvm.func @relu_add
// ASSEMBLED: .entry relu_add

// CHECK: .version 8.0
// CHECK: .target sm_90a
// CHECK: .address_size 64
// CHECK-LABEL: .entry relu_add(
// CHECK: .reqntid 128
// CHECK-NOT: .local
// Wide loads, packed conversions and wide stores, with offsets in the address.
// CHECK: ld.global.nc.v4.b32 {{.*}}, [[[A:%rd[0-9]+]]];
// CHECK-DAG: ld.global.nc.v4.b32 {{.*}}, [[[B:%rd[0-9]+]]];
// CHECK-DAG: ld.global.nc.v4.b32 {{.*}}, [[[B]]+16];
// CHECK-COUNT-8: cvt.f32.bf16
// CHECK-COUNT-8: add.rn.f32
// CHECK-COUNT-8: max.NaN.f32
// CHECK-COUNT-4: cvt.rn.bf16x2.f32
// CHECK: st.global.v4.b32 [%rd{{[0-9]+}}], {
// CHECK: ret;
gpu.module @pointwise {
  llvm.func @relu_add(%a: !llvm.ptr<1> {llvm.noalias, llvm.align = 16 : i64},
                      %b: !llvm.ptr<1> {llvm.noalias, llvm.align = 16 : i64},
                      %c: !llvm.ptr<1> {llvm.noalias, llvm.align = 16 : i64})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(dense<0.0> : vector<8xf32>) : vector<8xf32>
    %a_row = llvm.getelementptr %a[%thread]
        : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<8 x bf16>
    %b_row = llvm.getelementptr %b[%thread]
        : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<8 x f32>
    %c_row = llvm.getelementptr %c[%thread]
        : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<8 x bf16>
    %narrow = llvm.load %a_row {alignment = 16 : i64}
        : !llvm.ptr<1> -> vector<8xbf16>
    %bias = llvm.load %b_row {alignment = 16 : i64}
        : !llvm.ptr<1> -> vector<8xf32>
    %wide = llvm.fpext %narrow : vector<8xbf16> to vector<8xf32>
    %sum = llvm.fadd %wide, %bias : vector<8xf32>
    %relu = llvm.intr.maximum(%sum, %zero)
        : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    %result = llvm.fptrunc %relu : vector<8xf32> to vector<8xbf16>
    llvm.store %result, %c_row {alignment = 16 : i64}
        : vector<8xbf16>, !llvm.ptr<1>
    llvm.return
  }

  // A predicate a lane becomes one select, without a mask in memory.
  // CHECK-LABEL: .entry leaky(
  // CHECK-NOT: .local
  // CHECK-COUNT-4: setp.gt.f32
  // CHECK-COUNT-4: selp.f32
  // CHECK: st.global.v4.b32
  llvm.func @leaky(%a: !llvm.ptr<1> {llvm.noalias, llvm.align = 16 : i64},
                   %c: !llvm.ptr<1> {llvm.noalias, llvm.align = 16 : i64})
      attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(dense<0.0> : vector<4xf32>) : vector<4xf32>
    %slope = llvm.mlir.constant(dense<0.1> : vector<4xf32>) : vector<4xf32>
    %x = llvm.load %a {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %low = llvm.fmul %x, %slope : vector<4xf32>
    %positive = llvm.fcmp "ogt" %x, %zero : vector<4xf32>
    %y = llvm.select %positive, %x, %low : vector<4xi1>, vector<4xf32>
    llvm.store %y, %c {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }

  // Products and sums keep their own roundings unless they allow contraction.
  // CHECK-LABEL: .entry contract(
  // CHECK: mul.rn.f32
  // CHECK: add.rn.f32
  // CHECK: fma.rn.f32
  llvm.func @contract(%p: !llvm.ptr<1>, %x: f32, %y: f32, %z: f32)
      attributes {nvvm.kernel} {
    %m = llvm.fmul %x, %y : f32
    %s = llvm.fadd %m, %z : f32
    %m2 = llvm.fmul %s, %y {fastmathFlags = #llvm.fastmath<contract>} : f32
    %s2 = llvm.fadd %m2, %z {fastmathFlags = #llvm.fastmath<contract>} : f32
    llvm.store %s2, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
