// RUN: fusion-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error@+1 {{unknown chip 'sm_70'; known chips: sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_103, sm_110, sm_120, sm_121}}
module attributes {fusion.target = #fusion.target<chip = "sm_70">} {}

// -----

// expected-error@+1 {{attribute 'fusion.target' must be a #fusion.target attribute, got "sm_90"}}
module attributes {fusion.target = "sm_90"} {}

// -----

// expected-error@+1 {{attribute 'fusion.target' is only valid on modules}}
func.func private @f() attributes {fusion.target = #fusion.target<chip = "sm_90">}

// -----

// expected-error@+1 {{attribute 'fusion.max_kernels' must be a positive 64-bit integer, got 0}}
func.func private @f() attributes {fusion.max_kernels = 0 : i64}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{attribute 'fusion.max_kernels' is only valid on functions}}
  %0 = math.exp %x {fusion.max_kernels = 1 : i64} : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{cannot have both 'fusion.must' and 'fusion.never'}}
  %0 = math.exp %x {fusion.must, fusion.never} : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{attribute 'fusion.must' must be a unit attribute}}
  %0 = math.exp %x {fusion.must = 1 : i64} : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{unknown attribute 'fusion.mus' of the fusion dialect}}
  %0 = math.exp %x {fusion.mus} : tensor<8xf32>
  return
}

// -----

// expected-error@+1 {{attribute 'fusion.dims' of argument #0 has 1 names for rank 2}}
func.func private @f(tensor<?x8xf32> {fusion.dims = ["m"]})

// -----

// expected-error@+1 {{attribute 'fusion.dims' of argument #0 is only valid on ranked tensors}}
func.func private @f(f32 {fusion.dims = ["m"]})

// -----

// expected-error@+1 {{attribute 'fusion.dims' of argument #0 must be an array of strings}}
func.func private @f(tensor<?xf32> {fusion.dims = [1]})

// -----

// expected-error@+1 {{attribute 'fusion.overwritten_by' of argument #0 must be a 64-bit integer, got "0"}}
func.func private @f(tensor<8xf32> {fusion.overwritten_by = "0"}) -> tensor<8xf32>

// -----

// expected-error@+1 {{attribute 'fusion.overwritten_by' of argument #0 is 1, but the function has 1 results}}
func.func private @f(tensor<8xf32> {fusion.overwritten_by = 1}) -> tensor<8xf32>

// -----

// expected-error@+1 {{attribute 'fusion.overwritten_by' of argument #0 needs one ranked tensor type for both: the argument is 'tensor<8xf32>', result #0 is 'tensor<4xf32>'}}
func.func private @f(tensor<8xf32> {fusion.overwritten_by = 0}) -> tensor<4xf32>

// -----

// expected-error@+1 {{attribute 'fusion.overwritten_by' of argument #0 needs one ranked tensor type for both: the argument is 'f32', result #0 is 'f32'}}
func.func private @f(f32 {fusion.overwritten_by = 0}) -> f32

// -----

// expected-error@+1 {{attribute 'fusion.overwritten_by' of argument #1 and of argument #0 name one result}}
func.func private @f(tensor<8xf32> {fusion.overwritten_by = 0}, tensor<8xf32> {fusion.overwritten_by = 0}) -> tensor<8xf32>

// -----

// expected-error@+1 {{attribute 'fusion.in_place' must be a unit attribute of a 'tensor.insert_slice' or a 'tensor.extract_slice'}}
"test.a"() {fusion.in_place} : () -> ()

// -----

// expected-error@+1 {{attribute 'fusion.part' must be an array of two non-negative 64-bit integers}}
"test.a"() {fusion.part = array<i64: 1>} : () -> ()

// -----

// expected-error@+1 {{attribute 'fusion.part' must be an array of two non-negative 64-bit integers}}
"test.a"() {fusion.part = array<i64: 0, -1>} : () -> ()

// -----

// expected-error@+1 {{'tile' must be a power of two, got 3}}
"test.a"() {a = #fusion.axis<loop, tile = 3>} : () -> ()

// -----

// expected-error@+1 {{'tile' must be positive, got 0}}
"test.a"() {a = #fusion.axis<grid, tile = 0>} : () -> ()

// -----

// expected-error@+1 {{'tile' must be a power of two, got 192; one axis of a contraction that no cluster shares may have a sum of them}}
"test.a"() {a = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 192>], warps = 4>} : () -> ()

// -----

// expected-error@+1 {{'tile' must be a power of two, got 192; one axis}}
"test.a"() {a = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 192>], warps = 4, mma = #fusion.mma<wgmma, split = 2>>} : () -> ()

// -----

// expected-error@+1 {{'multicast' must be a power of two of at most 16, got 3}}
"test.a"() {a = #fusion.mma<wgmma, multicast = 3>} : () -> ()

// -----

// expected-error@+1 {{either share a sum ('split') or an operand ('multicast')}}
"test.a"() {a = #fusion.mma<wgmma, split = 2, multicast = 2>} : () -> ()

// -----

// expected-error@+1 {{'blocks' (131) must be a multiple of 'multicast' (2)}}
"test.a"() {a = #fusion.mma<wgmma, blocks = 131, multicast = 2>} : () -> ()

// -----

// expected-error@+1 {{'vector' (8) must not be larger than 'tile' (4)}}
"test.a"() {a = #fusion.axis<grid, tile = 4, vector = 8>} : () -> ()

// -----

// expected-error@+1 {{'strip' must be 1 to 64, got 0}}
"test.a"() {a = #fusion.axis<grid, tile = 4, strip = 0>} : () -> ()

// -----

// expected-error@+1 {{'tile' must be a power of two beside 'strip', got 24}}
"test.a"() {a = #fusion.axis<grid, tile = 24, strip = 2>} : () -> ()

// -----

// expected-error@+1 {{'strip' is for dimensions of the grid}}
"test.a"() {a = #fusion.axis<loop, tile = 4, strip = 2>} : () -> ()

// -----

// expected-error@+1 {{'steps' must be positive, got 0}}
"test.a"() {a = #fusion.axis<grid, tile = 4, steps = 0>} : () -> ()

// -----

// expected-error@+1 {{'steps' is for dimensions of the grid}}
"test.a"() {a = #fusion.axis<full, tile = 4, steps = 2>} : () -> ()

// -----

// expected-error@+1 {{'tile' must be a power of two beside 'steps', got 24}}
"test.a"() {a = #fusion.axis<grid, tile = 24, steps = 2>} : () -> ()

// -----

// expected-error@+1 {{'steps' is for dimensions of the grid}}
"test.a"() {a = #fusion.axis<loop, tile = 8, vector = 2, steps = 2>} : () -> ()

// -----

// expected-error@+1 {{'vector' must be more than 1 and less than 'tile' (8) beside the 'steps' of a 'loop' dimension}}
"test.a"() {a = #fusion.axis<loop, tile = 8, steps = 2, split = 2>} : () -> ()

// -----

// expected-error@+1 {{'vector' must be more than 1 and less than 'tile' (8) beside the 'steps' of a 'loop' dimension}}
"test.a"() {a = #fusion.axis<loop, tile = 8, vector = 8, steps = 2, split = 2>} : () -> ()

// -----

// expected-error@+1 {{'steps' of a 'loop' dimension are for scans}}
"test.a"() {a = #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = 8, vector = 2, steps = 2, split = 2>], warps = 1>} : () -> ()

// -----

// expected-error@+1 {{only one axis may have 'steps'}}
"test.a"() {a = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 4, steps = 2>, #fusion.axis<grid, tile = 4, steps = 2>], warps = 1>} : () -> ()

// -----

// expected-error@+1 {{expected 'warps', 'vector', 'strip', 'steps', 'split', 'cluster', 'stages', 'limited', 'descending' or 'parted', in this order}}
"test.a"() {a = #fusion.axis<grid, tile = 4, strip = 2, vector = 2>} : () -> ()

// -----

// expected-error@+1 {{'split' must be positive, got 0}}
"test.a"() {a = #fusion.axis<loop, tile = 4, split = 0>} : () -> ()

// -----

// expected-error@+1 {{'split' is for dimensions that blocks walk}}
"test.a"() {a = #fusion.axis<full, tile = 4, split = 2>} : () -> ()

// -----

// expected-error@+1 {{'cluster' must be 1 to 16, got 32}}
"test.a"() {a = #fusion.axis<full, tile = 4, cluster = 32>} : () -> ()

// -----

// expected-error@+1 {{'cluster' is for dimensions that as many blocks share ('full' or 'split')}}
"test.a"() {a = #fusion.axis<loop, tile = 4, split = 2, cluster = 4>} : () -> ()

// -----

// expected-error@+1 {{'stages' must be 1 to 16, got 17}}
"test.a"() {a = #fusion.axis<loop, tile = 4, stages = 17>} : () -> ()

// -----

// expected-error@+1 {{'stages' are for dimensions that blocks walk}}
"test.a"() {a = #fusion.axis<grid, tile = 4, stages = 3>} : () -> ()

// -----

// expected-error@+1 {{'limited' is for 'sequential' dimensions}}
"test.a"() {a = #fusion.axis<loop, tile = 4, limited>} : () -> ()

// -----

// expected-error@+1 {{'limited' is for 'sequential' dimensions, and for 'loop' dimensions with tiles of 1 and no 'split'}}
"test.a"() {a = #fusion.axis<loop, tile = 1, split = 2, limited>} : () -> ()

// -----

// expected-error@+1 {{'descending' is for dimensions of the grid}}
"test.a"() {a = #fusion.axis<sequential, tile = 4, limited, descending>} : () -> ()

// -----

// expected-error@+1 {{'parted' is for dimensions of the grid}}
"test.a"() {a = #fusion.axis<loop, tile = 4, parted>} : () -> ()

// -----

// expected-error@+1 {{only one axis may have a 'split'}}
"test.a"() {a = #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = 4, split = 2>, #fusion.axis<loop, tile = 4, split = 2>], warps = 1>} : () -> ()

// -----

// expected-error@+1 {{the axes use 4 warps, the schedule has 2}}
"test.a"() {a = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 4, warps = 4>], warps = 2>} : () -> ()

// -----

// expected-error@+1 {{'warps' must be a power of two of at most 32, got 64}}
"test.a"() {a = #fusion.schedule<pointwise, axes = [], warps = 64>} : () -> ()

// -----

// expected-error@+1 {{'flops' must not be negative, got -1}}
"test.a"() {a = #fusion.estimate<time_us = 1.0, dram_bytes = 1, flops = -1, registers = 1, shared_bytes = 1, saved_bytes = 1, saved_launches = 1>} : () -> ()

// -----

// expected-error@+1 {{'time_us' must be finite and not negative}}
"test.a"() {a = #fusion.estimate<time_us = -1.0, dram_bytes = 1, flops = 1, registers = 1, shared_bytes = 1, saved_bytes = 1, saved_launches = 1>} : () -> ()

// -----

// expected-error@+1 {{attribute 'fusion.tf32' must be a unit attribute}}
module attributes {fusion.tf32 = true} {}

// -----

// expected-error@+1 {{'groups' must be 1 to 4, got 5}}
"test.a"() {a = #fusion.mma<wgmma, blocks = 4, groups = 5>} : () -> ()

// -----

// expected-error@+1 {{several 'groups' are for wgmma without clusters}}
"test.a"() {a = #fusion.mma<wgmma, stages = 4, multicast = 2, groups = 2>} : () -> ()

// -----

// expected-error@+1 {{several 'groups' take turns on a grid of 'blocks', or have rows of a tile whose number is no power of two}}
"test.a"() {a = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 128>], warps = 4, mma = #fusion.mma<wgmma, groups = 3>>} : () -> ()

// -----

// Rows of groups, and parts of columns: nothing is left for a third axis.
// expected-error@+1 {{'tile' must be a power of two, got 96}}
"test.a"() {a = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 192>, #fusion.axis<grid, tile = 160>, #fusion.axis<loop, tile = 96>], warps = 4, mma = #fusion.mma<wgmma, groups = 3>>} : () -> ()

// -----

// expected-error@+1 {{'groups' of 'warps' must be at most 28 warps, got 32}}
"test.a"() {a = #fusion.schedule<contraction, axes = [], warps = 16, mma = #fusion.mma<wgmma, blocks = 4, groups = 2>>} : () -> ()

// -----

// expected-error@+1 {{'apart' must be 0 or 1, got 2}}
"test.a"() {a = #fusion.mma<wgmma, split = 2, apart = 2>} : () -> ()

// -----

// expected-error@+1 {{'apart' is for wgmma with a 'split' and without 'blocks'}}
"test.a"() {a = #fusion.mma<wgmma, apart = 1>} : () -> ()

// -----

// expected-error@+1 {{'apart' is for wgmma with a 'split' and without 'blocks'}}
"test.a"() {a = #fusion.mma<wgmma, split = 2, blocks = 4, apart = 1>} : () -> ()

// -----

// expected-error@+1 {{'apart' is for wgmma with a 'split' and without 'blocks'}}
"test.a"() {a = #fusion.mma<mma_sync, split = 2, apart = 1>} : () -> ()

// -----

// expected-error@+1 {{'stream' must be 0 to 1024, got 1025}}
"test.a"() {a = #fusion.mma<wgmma, blocks = 4, stream = 1025>} : () -> ()

// -----

// expected-error@+1 {{'stream' is for wgmma on a grid of 'blocks' without 'split' or 'groups'}}
"test.a"() {a = #fusion.mma<mma_sync, blocks = 4, stream = 1>} : () -> ()

// -----

// expected-error@+1 {{'skew' is for wgmma}}
"test.a"() {a = #fusion.mma<mma_sync, skew = 1>} : () -> ()

// -----

// expected-error@+1 {{'skew' must be 0 or 1, got 2}}
"test.a"() {a = #fusion.mma<wgmma, skew = 2>} : () -> ()

// -----

// expected-error@+1 {{'split' is for dimensions that blocks walk}}
"test.a"() {a = #fusion.axis<sequential, tile = 4, split = 2>} : () -> ()
