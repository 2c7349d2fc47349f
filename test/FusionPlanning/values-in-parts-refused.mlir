// RUN: fusion-opt %s --fusion-to-plan='target=sm_90a largest-value=1000000' --remarks-filter='fusion.*' 2>%t | FileCheck %s --implicit-check-not='fusion.in_place'
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: not fusion-compile %s --target=sm_90a --largest-value=-1 -o %t.fpk 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not fusion-run %s --target=sm_90a --largest-value=-1 --device=emulator --random 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// Values that are larger than the limit and stay in memory, each with its reason.

// NEGATIVE: --largest-value=-1 is less than 0

#ik = affine_map<(i, j, k) -> (i, k)>
#jk = affine_map<(i, j, k) -> (j, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ki = affine_map<(i, j, k) -> (k, i)>
#ij = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A softmax that is stored for two products: its sum asks for all of a row before.
// Scores alone are made again; the maximum has them in memory.
// REMARK: part-readers {{.*}}Function=read_by_others
// CHECK-LABEL: func @read_by_others(
func.func @read_by_others(%x: tensor<512x64xf32>, %v: tensor<64x4096xf32>, %w: tensor<4096x64xf32>) -> (tensor<512x64xf32>, tensor<512xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<512x4096xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %s = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%x, %v : tensor<512x64xf32>, tensor<64x4096xf32>) outs(%sz : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %me = tensor.empty() : tensor<512xf32>
  %mz = linalg.fill ins(%least : f32) outs(%me : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<512x4096xf32>) outs(%mz : tensor<512xf32>) {
  ^bb0(%in: f32, %o: f32):
    %0 = arith.maximumf %in, %o : f32
    linalg.yield %0 : f32
  } -> tensor<512xf32>
  %ye = tensor.empty() : tensor<512x64xf32>
  %yz = linalg.fill ins(%zero : f32) outs(%ye : tensor<512x64xf32>) -> tensor<512x64xf32>
  %y = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%s, %w : tensor<512x4096xf32>, tensor<4096x64xf32>) outs(%yz : tensor<512x64xf32>) -> tensor<512x64xf32>
  return %y, %m : tensor<512x64xf32>, tensor<512xf32>
}

// A product of a value with itself has it along two dimensions.
// REMARK: part-readers {{.*}}Function=squared
// CHECK-LABEL: func @squared(
func.func @squared(%x: tensor<1024x64xf32>, %v: tensor<64x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<1024x1024xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %s = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%x, %v : tensor<1024x64xf32>, tensor<64x1024xf32>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %y = linalg.contract indexing_maps = [#ik, #jk, #ij] ins(%s, %s : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// A concatenation is no elementwise operation.
// REMARK: part-makers {{.*}}Function=joined
// CHECK-LABEL: func @joined(
func.func @joined(%a: tensor<1000x300xbf16>, %b: tensor<1000x1000xbf16>, %w: tensor<1300x1024xbf16>) -> tensor<1000x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %s = tensor.concat dim(1) %a, %b : (tensor<1000x300xbf16>, tensor<1000x1000xbf16>) -> tensor<1000x1300xbf16>
  %ye = tensor.empty() : tensor<1000x1024xf32>
  %yz = linalg.fill ins(%zero : f32) outs(%ye : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  %y = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%s, %w : tensor<1000x1300xbf16>, tensor<1300x1024xbf16>) outs(%yz : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %y : tensor<1000x1024xf32>
}

// Pairs of rows and of columns read one element.
// REMARK: part-coordinates {{.*}}Function=enlarged
// CHECK-LABEL: func @enlarged(
func.func @enlarged(%x: tensor<1024x64xbf16>, %v: tensor<64x1024xbf16>, %g: tensor<512x512xf32>, %w: tensor<1024x512xbf16>) -> tensor<1024x512xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<1024x1024xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %s = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%x, %v : tensor<1024x64xbf16>, tensor<64x1024xbf16>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %de = tensor.empty() : tensor<1024x1024xbf16>
  %d = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (i floordiv 2, j floordiv 2)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %g : tensor<1024x1024xf32>, tensor<512x512xf32>) outs(%de : tensor<1024x1024xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<1024x1024xbf16>
  %ye = tensor.empty() : tensor<1024x512xf32>
  %yz = linalg.fill ins(%zero : f32) outs(%ye : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %y = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%d, %w : tensor<1024x1024xbf16>, tensor<1024x512xbf16>) outs(%yz : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %y : tensor<1024x512xf32>
}

// Sums are rounded to 16 bits, which is to be done once.
// REMARK: part-sums {{.*}}Function=rounded
// CHECK-LABEL: func @rounded(
func.func @rounded(%x: tensor<1024x64xbf16>, %v: tensor<64x1024xbf16>, %w: tensor<1024x1024xbf16>) -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : bf16
  %se = tensor.empty() : tensor<1024x1024xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %s = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%x, %v : tensor<1024x64xbf16>, tensor<64x1024xbf16>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %de = tensor.empty() : tensor<1024x1024xbf16>
  %d = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<1024x1024xf32>) outs(%de : tensor<1024x1024xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = math.tanh %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<1024x1024xbf16>
  %yz = linalg.fill ins(%none : bf16) outs(%de : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %y = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%d, %w : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%yz : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %z = linalg.contract indexing_maps = [#ki, #kj, #ij] ins(%d, %w : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%yz : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %y, %z : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>
}

// REMARK: part-sizes {{.*}}Function=dynamic
// CHECK-LABEL: func @dynamic(
func.func @dynamic(%x: tensor<?x1024xbf16>, %v: tensor<1024x8192xbf16>, %w: tensor<8192x1024xbf16>) -> tensor<?x1024xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x1024xbf16>
  %se = tensor.empty(%n) : tensor<?x8192xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<?x8192xf32>) -> tensor<?x8192xf32>
  %s = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%x, %v : tensor<?x1024xbf16>, tensor<1024x8192xbf16>) outs(%sz : tensor<?x8192xf32>) -> tensor<?x8192xf32>
  %de = tensor.empty(%n) : tensor<?x8192xbf16>
  %d = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?x8192xf32>) outs(%de : tensor<?x8192xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = math.tanh %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<?x8192xbf16>
  %ye = tensor.empty(%n) : tensor<?x1024xf32>
  %yz = linalg.fill ins(%zero : f32) outs(%ye : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %y = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%d, %w : tensor<?x8192xbf16>, tensor<8192x1024xbf16>) outs(%yz : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}

// Each reader sums over one dimension, and its sums are larger than the limit.
// REMARK: parts-too-large {{.*}}Function=large_sums
// CHECK-LABEL: func @large_sums(
func.func @large_sums(%x: tensor<1024x64xbf16>, %v: tensor<64x1024xbf16>, %w: tensor<1024x1024xbf16>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<1024x1024xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %s = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%x, %v : tensor<1024x64xbf16>, tensor<64x1024xbf16>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %de = tensor.empty() : tensor<1024x1024xbf16>
  %d = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<1024x1024xf32>) outs(%de : tensor<1024x1024xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = math.tanh %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<1024x1024xbf16>
  %y = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%d, %w : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %z = linalg.contract indexing_maps = [#ki, #kj, #ij] ins(%d, %w : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %y, %z : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}

// Parts are more kernels than the function may become.
// REMARK: part-makers {{.*}}Function=few_kernels {{.*}}the limit is 2
// CHECK-LABEL: func @few_kernels(
func.func @few_kernels(%x: tensor<1024x1024xbf16>, %v: tensor<1024x1024xbf16>, %w: tensor<1024x1024xbf16>) -> tensor<1024x1024xf32> attributes {fusion.max_kernels = 2} {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<1024x1024xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %s = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%x, %v : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %de = tensor.empty() : tensor<1024x1024xbf16>
  %d = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<1024x1024xf32>) outs(%de : tensor<1024x1024xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = math.tanh %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<1024x1024xbf16>
  %y = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%d, %w : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// What leaves the function is stored for that.
// REMARK-NOT: Missed] part{{.*}}Function=returned
// CHECK-LABEL: func @returned(
func.func @returned(%x: tensor<1024x1024xbf16>, %v: tensor<1024x1024xbf16>, %w: tensor<1024x1024xbf16>) -> (tensor<1024x1024xf32>, tensor<1024x1024xbf16>) {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<1024x1024xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %s = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%x, %v : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %de = tensor.empty() : tensor<1024x1024xbf16>
  %d = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<1024x1024xf32>) outs(%de : tensor<1024x1024xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = math.tanh %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<1024x1024xbf16>
  %y = linalg.contract indexing_maps = [#ik, #kj, #ij] ins(%d, %w : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%sz : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %y, %d : tensor<1024x1024xf32>, tensor<1024x1024xbf16>
}
