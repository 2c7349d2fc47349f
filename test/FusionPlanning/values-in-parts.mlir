// RUN: fusion-opt %s --fusion-to-plan='target=sm_90a largest-value=4000000' --remarks-filter='fusion.*' 2>%t | FileCheck %s --implicit-check-not='tensor<512x8192x'
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: fusion-opt %s --fusion-to-plan='target=sm_90a largest-value=0' | FileCheck %s --check-prefix=WHOLE
// RUN: fusion-compile %s --target=sm_90a --ptxas=false --largest-value=4000000 --explain -o %t.fpk | FileCheck %s --check-prefix=MEMORY
// RUN: fusion-compile %s --target=sm_90a --ptxas=false --largest-value=0 --explain -o %t.fpk | FileCheck %s --check-prefix=MEMORYWHOLE

// Values between contractions that are larger than the limit: nothing of them is
// in memory as a whole.

// Of the largest function; blocks that share a sum have memory for that as well.
// MEMORY: between kernels: 6.03 MB at once
// MEMORYWHOLE: between kernels: 16.78 MB at once

#ik = affine_map<(i, j, k) -> (i, k)>
#jk = affine_map<(i, j, k) -> (j, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ki = affine_map<(i, j, k) -> (k, i)>
#ij = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Along the classes, of which the first reader sums over parts and the second has
// rows. Operands begin somewhere in those of the function; kernels write slices
// of the second result. A part is read before the next one is made.
// REMARK: in-parts | {{.*}}Function=gradients {{.*}}(512x8192xbf16 in 3 parts of 2816 along dimension 1;
// REMARK: other-part | {{.*}}Function=gradients
// CHECK-LABEL: func @gradients(
// CHECK-SAME: %[[H:.*]]: tensor<512x256xbf16>, %[[W:.*]]: tensor<8192x256xbf16>
// CHECK: %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0] [2816, 256] [1, 1] {fusion.in_place
// CHECK: %[[W1:.*]] = tensor.extract_slice %[[W]][2816, 0] [2816, 256] [1, 1] {fusion.in_place
// CHECK: %[[D0:.*]] = fusion.kernel {{.*}}%[[W0]], {{.*}}-> (tensor<512x2816xbf16>)
// CHECK: fusion.kernel {{.*}}%[[D0]]
// CHECK: fusion.kernel {{.*}}%[[D0]]
// CHECK: %[[D1:.*]] = fusion.kernel {{.*}}%[[W1]], {{.*}}-> (tensor<512x2816xbf16>)
// CHECK: arith.constant 2816 : index
// WHOLE-LABEL: func @gradients(
// WHOLE: -> (tensor<512x8192xbf16>)
// WHOLE-NOT: fusion.in_place
func.func @gradients(%h: tensor<512x256xbf16>, %w: tensor<8192x256xbf16>, %t: tensor<512xi64>, %l: tensor<512xf32>) -> (tensor<512x256xf32>, tensor<8192x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %se = tensor.empty() : tensor<512x8192xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<512x8192xf32>) -> tensor<512x8192xf32>
  %s = linalg.contract indexing_maps = [#ik, #jk, #ij] ins(%h, %w : tensor<512x256xbf16>, tensor<8192x256xbf16>) outs(%sz : tensor<512x8192xf32>) -> tensor<512x8192xf32>
  %de = tensor.empty() : tensor<512x8192xbf16>
  %d = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %l, %t : tensor<512x8192xf32>, tensor<512xf32>, tensor<512xi64>) outs(%de : tensor<512x8192xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %o: bf16):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    %2 = linalg.index 1 : index
    %3 = arith.index_cast %c : i64 to index
    %4 = arith.cmpi eq, %2, %3 : index
    %5 = arith.select %4, %one, %zero : f32
    %6 = arith.subf %1, %5 : f32
    %7 = arith.truncf %6 : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<512x8192xbf16>
  %xe = tensor.empty() : tensor<512x256xf32>
  %xz = linalg.fill ins(%zero : f32) outs(%xe : tensor<512x256xf32>) -> tensor<512x256xf32>
  %x = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%d, %w : tensor<512x8192xbf16>, tensor<8192x256xbf16>) outs(%xz : tensor<512x256xf32>) -> tensor<512x256xf32>
  %ye = tensor.empty() : tensor<8192x256xf32>
  %yz = linalg.fill ins(%zero : f32) outs(%ye : tensor<8192x256xf32>) -> tensor<8192x256xf32>
  %y = linalg.contract indexing_maps = [#ki, #kj, #ij] ins(%d, %h : tensor<512x8192xbf16>, tensor<512x256xbf16>) outs(%yz : tensor<8192x256xf32>) -> tensor<8192x256xf32>
  return %x, %y : tensor<512x256xf32>, tensor<8192x256xf32>
}

// Two layers, of which the second keeps the rows: along these there are no sums.
// REMARK: in-parts | {{.*}}Function=layers {{.*}}(512x8192xbf16 in {{[0-9]+}} parts of {{[0-9]+}} along dimension 0;
// REMARK-NOT: part-{{.*}}Function=layers
// CHECK-LABEL: func @layers(
// WHOLE-LABEL: func @layers(
func.func @layers(%x: tensor<512x1024xbf16>, %v: tensor<1024x8192xbf16>, %w: tensor<8192x1024xbf16>) -> tensor<512x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<512x8192xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<512x8192xf32>) -> tensor<512x8192xf32>
  %s = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%x, %v : tensor<512x1024xbf16>, tensor<1024x8192xbf16>) outs(%sz : tensor<512x8192xf32>) -> tensor<512x8192xf32>
  %ae = tensor.empty() : tensor<512x8192xbf16>
  %a = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<512x8192xf32>) outs(%ae : tensor<512x8192xbf16>) {
  ^bb0(%in: f32, %o: bf16):
    %0 = arith.maximumf %in, %zero : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<512x8192xbf16>
  %ye = tensor.empty() : tensor<512x1024xf32>
  %yz = linalg.fill ins(%zero : f32) outs(%ye : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %y = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%a, %w : tensor<512x8192xbf16>, tensor<8192x1024xbf16>) outs(%yz : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %y : tensor<512x1024xf32>
}
