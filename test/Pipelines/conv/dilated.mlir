// Elements of a window two apart, and any number of images.

// RUN: for n in 1 2 5; do fusion-run %s --device=emulator --random --seed=1 --dim=arg0.0=$n --verify || exit 1; done
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.tensor_map {{.*}} im2col = #fusion_tile.im2col<lower = [-2, -2], upper = [-2, -2]>
// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @dilated(%x: tensor<?x9x9x32xbf16>, %w: tensor<40x3x3x32xbf16>, %b: tensor<40xbf16>) -> tensor<?x9x9x40xbf16> {
    %y = fusion.conv nhwc %x, %w bias(%b) {dilations = array<i64: 2, 2>, padding = array<i64: 2, 2, 2, 2>} : (tensor<?x9x9x32xbf16>, tensor<40x3x3x32xbf16>, tensor<40xbf16>) -> tensor<?x9x9x40xbf16>
    return %y : tensor<?x9x9x40xbf16>
  }
}
