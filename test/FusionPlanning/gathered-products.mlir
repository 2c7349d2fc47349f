// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --remarks-filter='fusion.*' 2>%t | FileCheck %s --implicit-check-not='(tensor<512x32000'
// RUN: FileCheck %s --check-prefix=REMARK < %t

// A loss reads one logit of each row: it is added up for itself, so that the
// logits are in no kernel's results.

// REMARK: gathered-product {{.*}}Function=losses {{.*}}matmul -> log_add_compare
// CHECK-LABEL: func @losses(
// CHECK: fusion.kernel {{.*}} -> (tensor<512x500xf32>, tensor<512x500xf32>)
// CHECK: tensor.extract %{{.*}} : tensor<32000x256xbf16>
// CHECK: return
func.func @losses(%x: tensor<512x256xbf16>, %w: tensor<32000x256xbf16>, %t: tensor<512xi64>) -> tensor<512xbf16> {
  %l = fusion.linear_cross_entropy none %x, %w, %t : (tensor<512x256xbf16>, tensor<32000x256xbf16>, tensor<512xi64>) -> tensor<512xbf16>
  return %l : tensor<512xbf16>
}

// What is computed of the product's results on the way is computed of the
// element, too; the number of rows is known at run time only.
// REMARK: gathered-product {{.*}}Function=biased_mean {{.*}}matmul -> log_add_compare
// CHECK-LABEL: func @biased_mean(
// CHECK-NOT: -> (tensor<?x32000xf32>
// CHECK: tensor.extract %{{.*}} : tensor<32000x256xbf16>
// CHECK: return
func.func @biased_mean(%x: tensor<?x256xbf16>, %w: tensor<32000x256xbf16>, %b: tensor<32000xbf16>, %t: tensor<?xi64>) -> tensor<bf16> {
  %l = fusion.linear_cross_entropy mean %x, %w, %t bias(%b) : (tensor<?x256xbf16>, tensor<32000x256xbf16>, tensor<?xi64>, tensor<32000xbf16>) -> tensor<bf16>
  return %l : tensor<bf16>
}
