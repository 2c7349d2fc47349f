// What kind of fusion each kernel is: XLA's word where it has one.
// RUN: fusion-compile %s -o /dev/null --compile-to=plan --explain | FileCheck %s

// CHECK-LABEL: @single
// CHECK: kernel  exp (line {{[0-9]+}}): exp; single;
func.func @single(%x: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %y = math.exp %x : tensor<512x256xf32>
  return %y : tensor<512x256xf32>
}

// CHECK-LABEL: @loop
// CHECK: kernel {{.*}}: exp, add; loop;
func.func @loop(%x: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %e = math.exp %x : tensor<512x256xf32>
  %y = arith.addf %e, %x : tensor<512x256xf32>
  return %y : tensor<512x256xf32>
}

// CHECK-LABEL: @transpose
// CHECK: kernel {{.*}}: exp, transpose; transpose;
func.func @transpose(%x: tensor<512x256xf32>) -> tensor<256x512xf32> {
  %e = math.exp %x : tensor<512x256xf32>
  %empty = tensor.empty() : tensor<256x512xf32>
  %y = linalg.transpose ins(%e : tensor<512x256xf32>)
      outs(%empty : tensor<256x512xf32>) permutation = [1, 0]
  return %y : tensor<256x512xf32>
}

// CHECK-LABEL: @input
// CHECK: kernel {{.*}}: exp, sum; input;
func.func @input(%x: tensor<512x256xf32>) -> tensor<512xf32> {
  %e = math.exp %x : tensor<512x256xf32>
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %y = linalg.reduce { arith.addf } ins(%e : tensor<512x256xf32>)
      outs(%zero : tensor<512xf32>) dimensions = [1]
  return %y : tensor<512xf32>
}

// CHECK-LABEL: @reduction
// CHECK: kernel {{.*}}; reduction;
func.func @reduction(%x: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %y = fusion.softmax %x axis(1) : tensor<512x256xf32>
  return %y : tensor<512x256xf32>
}

// CHECK-LABEL: @scan
// CHECK: kernel {{.*}}; scan;
func.func @scan(%x: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %e = math.exp %x : tensor<512x256xf32>
  %zero = arith.constant 0.0 : f32
  %s = fusion.scan ins(%e : tensor<512x256xf32>) inits(%zero : f32) axis(1)
      -> tensor<512x256xf32> {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    fusion.yield %sum : f32
  }
  return %s : tensor<512x256xf32>
}

// CHECK-LABEL: @epilogue
// CHECK: kernel {{.*}}: matmul, exp; contraction-epilogue (XLA: output);
func.func @epilogue(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>)
    -> tensor<512x512xf32> {
  %zero = arith.constant dense<0.0> : tensor<512x512xf32>
  %c = linalg.matmul ins(%a, %b : tensor<512x256xf16>, tensor<256x512xf16>)
      outs(%zero : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = math.exp %c : tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// CHECK-LABEL: @prologue
// CHECK: kernel {{.*}}: {{.+}}, matmul; contraction-prologue;
func.func @prologue(%a: tensor<512x256xi8>, %b: tensor<256x512xf16>)
    -> tensor<512x512xf32> {
  %wide = arith.sitofp %a : tensor<512x256xi8> to tensor<512x256xf16>
  %half = arith.constant dense<0.5> : tensor<512x256xf16>
  %scaled = arith.mulf %wide, %half : tensor<512x256xf16>
  %zero = arith.constant dense<0.0> : tensor<512x512xf32>
  %c = linalg.matmul ins(%scaled, %b : tensor<512x256xf16>, tensor<256x512xf16>)
      outs(%zero : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %c : tensor<512x512xf32>
}

// CHECK-LABEL: @prologue_epilogue
// CHECK: kernel {{.*}}: {{.+}}, matmul, exp; contraction-prologue-epilogue;
func.func @prologue_epilogue(%a: tensor<512x256xi8>, %b: tensor<256x512xf16>)
    -> tensor<512x512xf32> {
  %wide = arith.sitofp %a : tensor<512x256xi8> to tensor<512x256xf16>
  %half = arith.constant dense<0.5> : tensor<512x256xf16>
  %scaled = arith.mulf %wide, %half : tensor<512x256xf16>
  %zero = arith.constant dense<0.0> : tensor<512x512xf32>
  %c = linalg.matmul ins(%scaled, %b : tensor<512x256xf16>, tensor<256x512xf16>)
      outs(%zero : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = math.exp %c : tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// CHECK-LABEL: @siblings
// CHECK: kernel {{.*}}: matmul, matmul; contraction-siblings;
func.func @siblings(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>,
                    %d: tensor<256x512xf16>)
    -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %zero = arith.constant dense<0.0> : tensor<512x512xf32>
  %c = linalg.matmul ins(%a, %b : tensor<512x256xf16>, tensor<256x512xf16>)
      outs(%zero : tensor<512x512xf32>) -> tensor<512x512xf32>
  %e = linalg.matmul ins(%a, %d : tensor<512x256xf16>, tensor<256x512xf16>)
      outs(%zero : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %c, %e : tensor<512x512xf32>, tensor<512x512xf32>
}

// CHECK-LABEL: @cascade
// CHECK: kernel {{.*}}; cascade;
func.func @cascade(%q: tensor<1x4x128x64xbf16>, %k: tensor<1x4x128x64xbf16>,
                   %v: tensor<1x4x128x64xbf16>) -> tensor<1x4x128x64xbf16> {
  %y = fusion.attention %q, %k, %v
      : (tensor<1x4x128x64xbf16>, tensor<1x4x128x64xbf16>,
         tensor<1x4x128x64xbf16>) -> tensor<1x4x128x64xbf16>
  return %y : tensor<1x4x128x64xbf16>
}
