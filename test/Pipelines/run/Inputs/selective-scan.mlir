// The kernels of selective-scan.mlir that are too small to be formed.

func.func @narrow_states(%x0: tensor<2x90x40x12xbf16>, %x1: tensor<2x90x40x12xbf16>) -> (tensor<2x90x40xbf16>, tensor<2x90x40xbf16>) {
  %o:2 = fusion.kernel @narrow_states_kernel ins(%x0, %x1 : tensor<2x90x40x12xbf16>, tensor<2x90x40x12xbf16>) -> (tensor<2x90x40xbf16>, tensor<2x90x40xbf16>) {
  ^bb0(%kx0: tensor<2x90x40x12xbf16>, %kx1: tensor<2x90x40x12xbf16>):
  %i0 = arith.constant 1.0 : bf16
  %i1 = arith.constant 0.0 : bf16
  %h:2 = fusion.scan  ins(%kx0, %kx1 : tensor<2x90x40x12xbf16>, tensor<2x90x40x12xbf16>) inits(%i0, %i1 : bf16, bf16) axis(1) -> tensor<2x90x40x12xbf16>, tensor<2x90x40x12xbf16> {
  ^bb0(%a0: bf16, %a1: bf16, %b0: bf16, %b1: bf16):
    %p = arith.mulf %a0, %b0 : bf16
    %q = arith.mulf %b0, %a1 : bf16
    %r = arith.addf %q, %b1 : bf16
    fusion.yield %p, %r : bf16, bf16
  }
  %e = tensor.empty() : tensor<2x90x40xbf16>
  %c0 = arith.constant 0.0 : bf16
  %f0 = linalg.fill ins(%c0 : bf16) outs(%e : tensor<2x90x40xbf16>) -> tensor<2x90x40xbf16>
  %r0 = linalg.reduce { arith.addf } ins(%h#1 : tensor<2x90x40x12xbf16>) outs(%f0 : tensor<2x90x40xbf16>) dimensions = [3]
  %c1 = arith.constant 0.0 : bf16
  %f1 = linalg.fill ins(%c1 : bf16) outs(%e : tensor<2x90x40xbf16>) -> tensor<2x90x40xbf16>
  %r1 = linalg.reduce { arith.addf } ins(%h#0 : tensor<2x90x40x12xbf16>) outs(%f1 : tensor<2x90x40xbf16>) dimensions = [3]
  fusion.yield %r0, %r1 : tensor<2x90x40xbf16>, tensor<2x90x40xbf16>
  }
  return %o#0, %o#1 : tensor<2x90x40xbf16>, tensor<2x90x40xbf16>
}

func.func @integers(%x0: tensor<2x35x24x16xi32>, %x1: tensor<2x35x24x16xi32>) -> (tensor<2x35x24xi32>, tensor<2x35x24xi32>) {
  %o:2 = fusion.kernel @integers_kernel ins(%x0, %x1 : tensor<2x35x24x16xi32>, tensor<2x35x24x16xi32>) -> (tensor<2x35x24xi32>, tensor<2x35x24xi32>) {
  ^bb0(%kx0: tensor<2x35x24x16xi32>, %kx1: tensor<2x35x24x16xi32>):
  %i0 = arith.constant 1 : i32
  %i1 = arith.constant 0 : i32
  %h:2 = fusion.scan exclusive ins(%kx0, %kx1 : tensor<2x35x24x16xi32>, tensor<2x35x24x16xi32>) inits(%i0, %i1 : i32, i32) axis(1) -> tensor<2x35x24x16xi32>, tensor<2x35x24x16xi32> {
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %p = arith.muli %a0, %b0 : i32
    %q = arith.muli %b0, %a1 : i32
    %r = arith.addi %q, %b1 : i32
    fusion.yield %p, %r : i32, i32
  }
  %e = tensor.empty() : tensor<2x35x24xi32>
  %c0 = arith.constant 0 : i32
  %f0 = linalg.fill ins(%c0 : i32) outs(%e : tensor<2x35x24xi32>) -> tensor<2x35x24xi32>
  %r0 = linalg.reduce { arith.addi } ins(%h#1 : tensor<2x35x24x16xi32>) outs(%f0 : tensor<2x35x24xi32>) dimensions = [3]
  %c1 = arith.constant 0 : i32
  %f1 = linalg.fill ins(%c1 : i32) outs(%e : tensor<2x35x24xi32>) -> tensor<2x35x24xi32>
  %r1 = linalg.reduce { arith.xori } ins(%h#0 : tensor<2x35x24x16xi32>) outs(%f1 : tensor<2x35x24xi32>) dimensions = [3]
  fusion.yield %r0, %r1 : tensor<2x35x24xi32>, tensor<2x35x24xi32>
  }
  return %o#0, %o#1 : tensor<2x35x24xi32>, tensor<2x35x24xi32>
}

func.func @doubles(%x0: tensor<2x35x24x16xf64>, %x1: tensor<2x35x24x16xf64>) -> (tensor<2x35x24xf64>) {
  %o:1 = fusion.kernel @doubles_kernel ins(%x0, %x1 : tensor<2x35x24x16xf64>, tensor<2x35x24x16xf64>) -> (tensor<2x35x24xf64>) {
  ^bb0(%kx0: tensor<2x35x24x16xf64>, %kx1: tensor<2x35x24x16xf64>):
  %i0 = arith.constant 1.0 : f64
  %i1 = arith.constant 0.0 : f64
  %h:2 = fusion.scan  ins(%kx0, %kx1 : tensor<2x35x24x16xf64>, tensor<2x35x24x16xf64>) inits(%i0, %i1 : f64, f64) axis(1) -> tensor<2x35x24x16xf64>, tensor<2x35x24x16xf64> {
  ^bb0(%a0: f64, %a1: f64, %b0: f64, %b1: f64):
    %p = arith.mulf %a0, %b0 : f64
    %q = arith.mulf %b0, %a1 : f64
    %r = arith.addf %q, %b1 : f64
    fusion.yield %p, %r : f64, f64
  }
  %e = tensor.empty() : tensor<2x35x24xf64>
  %c0 = arith.constant 0.0 : f64
  %f0 = linalg.fill ins(%c0 : f64) outs(%e : tensor<2x35x24xf64>) -> tensor<2x35x24xf64>
  %r0 = linalg.reduce { arith.addf } ins(%h#1 : tensor<2x35x24x16xf64>) outs(%f0 : tensor<2x35x24xf64>) dimensions = [3]
  fusion.yield %r0 : tensor<2x35x24xf64>
  }
  return %o#0 : tensor<2x35x24xf64>
}

func.func @largest(%x0: tensor<2x100x21x16xf16>) -> (tensor<2x100x21xf16>) {
  %o:1 = fusion.kernel @largest_kernel ins(%x0 : tensor<2x100x21x16xf16>) -> (tensor<2x100x21xf16>) {
  ^bb0(%kx0: tensor<2x100x21x16xf16>):
  %i0 = arith.constant 0xFC00 : f16
  %h:1 = fusion.scan reverse ins(%kx0 : tensor<2x100x21x16xf16>) inits(%i0 : f16) axis(1) -> tensor<2x100x21x16xf16> {
  ^bb0(%a0: f16, %b0: f16):
    %p = arith.maximumf %a0, %b0 : f16
    fusion.yield %p : f16
  }
  %e = tensor.empty() : tensor<2x100x21xf16>
  %c0 = arith.constant 0.0 : f16
  %f0 = linalg.fill ins(%c0 : f16) outs(%e : tensor<2x100x21xf16>) -> tensor<2x100x21xf16>
  %r0 = linalg.reduce { arith.addf } ins(%h#0 : tensor<2x100x21x16xf16>) outs(%f0 : tensor<2x100x21xf16>) dimensions = [3]
  fusion.yield %r0 : tensor<2x100x21xf16>
  }
  return %o#0 : tensor<2x100x21xf16>
}
