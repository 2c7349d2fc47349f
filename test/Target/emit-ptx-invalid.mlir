// RUN: fusion-opt %s --fusion-target-emit-ptx --split-input-file --verify-diagnostics

gpu.module @intrinsic {
  llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.intr.exp' op FUS-0708: has no PTX instruction; run fusion-expand-math}}
    %y = llvm.intr.exp(%x) : (f32) -> f32
    llvm.store %y, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @intrinsic_by_name {
  llvm.func @k(%p: !llvm.ptr<1>, %x: vector<2xf64>) attributes {nvvm.kernel} {
    // expected-error @+1 {{FUS-0708: has no PTX instruction}}
    %y = llvm.call_intrinsic "llvm.exp2.v2f64"(%x) : (vector<2xf64>) -> vector<2xf64>
    llvm.store %y, %p : vector<2xf64>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// An approximate sine exists for f32 alone.
gpu.module @approximation {
  llvm.func @k(%p: !llvm.ptr<1>, %x: f32, %z: f64) attributes {nvvm.kernel} {
    %y = llvm.intr.sin(%x) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
    llvm.store %y, %p : f32, !llvm.ptr<1>
    // expected-error @+1 {{'llvm.intr.sin' op FUS-0708: has no PTX instruction}}
    %w = llvm.intr.sin(%z) {fastmathFlags = #llvm.fastmath<afn>} : (f64) -> f64
    llvm.store %w, %p : f64, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @library_call {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.call' op FUS-0707: calls '__nv_expf', which this module does not define}}
    %y = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.store %y, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @format {
  llvm.func @k(%p: !llvm.ptr<1>, %x: f128) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.fadd' op FUS-0706: uses 'f128', a format that no NVIDIA GPU computes in}}
    %y = llvm.fadd %x, %x : f128
    llvm.return
  }
}

// -----

gpu.module @wide_conversion {
  llvm.func @k(%p: !llvm.ptr<1>, %x: i128) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.sitofp' op FUS-0706: converts 'i128', wider than the 64 bits that PTX converts}}
    %y = llvm.sitofp %x : i128 to f32
    llvm.store %y, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @other_dialect {
  llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{'arith.addf' op FUS-0705: is outside the LLVM and NVVM dialects}}
    %y = arith.addf %x, %x : f32
    llvm.store %y, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
