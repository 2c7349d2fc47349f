// Dynamic sizes count as 1024 where plans are priced: seven of them are more
// bytes than a count holds, and the count is the largest then.
// RUN: fusion-opt %s --fusion-to-plan | FileCheck %s

// CHECK: dram_bytes = 9223372036854775807
func.func @seven_dynamic_sizes(%x: tensor<?x?x?x?x?x?x?xf32>)
    -> tensor<?x?x?x?x?x?x?xf32> {
  %y = arith.addf %x, %x : tensor<?x?x?x?x?x?x?xf32>
  return %y : tensor<?x?x?x?x?x?x?xf32>
}
