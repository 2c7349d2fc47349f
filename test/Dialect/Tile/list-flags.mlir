// Lists of flags that are set, and elements of shared memory that all threads read.

// RUN: fusion-opt %s --split-input-file --verify-diagnostics | FileCheck %s

#flags = #fusion_tile.shared_layout<"{bytes=1, align=16, offsets=[[1,2,4,8,16,32,64]]}">
#list = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128,256]]}">
!flags = !fusion_tile.buffer<128xi8, #flags>
!list = !fusion_tile.buffer<128xi32, #list>

// CHECK-LABEL: func.func @list
// CHECK-SAME: %[[FLAGS:.*]]: !fusion_tile.buffer<128xi8, {{.*}}>, %[[LIST:.*]]: !fusion_tile.buffer<128xi32, {{.*}}>
func.func @list(%flags: !flags, %list: !list) -> i32 {
  // CHECK: %[[COUNT:.*]] = fusion_tile.list_flags %[[FLAGS]] into %[[LIST]] : <128xi8, {{.*}}>, <128xi32, {{.*}}>
  %count = fusion_tile.list_flags %flags into %list : !flags, !list
  // CHECK: fusion_tile.local_element %[[LIST]][%[[COUNT]]] : <128xi32, {{.*}}>
  %element = fusion_tile.local_element %list[%count] : !list
  return %element : i32
}

// -----

!words = !fusion_tile.buffer<128xi32, #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128,256]]}">>
func.func @type(%flags: !words, %list: !words) -> index {
  // expected-error @below {{takes 128 to 8192 bytes of flags, got '!fusion_tile.buffer<128xi32}}
  %count = fusion_tile.list_flags %flags into %list : !words, !words
  return %count : index
}

// -----

!few = !fusion_tile.buffer<64xi8, #fusion_tile.shared_layout<"{bytes=1, align=16, offsets=[[1,2,4,8,16,32]]}">>
!list = !fusion_tile.buffer<64xi32, #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128]]}">>
func.func @few(%flags: !few, %list: !list) -> index {
  // expected-error @below {{takes 128 to 8192 bytes of flags, got '!fusion_tile.buffer<64xi8}}
  %count = fusion_tile.list_flags %flags into %list : !few, !list
  return %count : index
}

// -----

!flags = !fusion_tile.buffer<128xi8, #fusion_tile.shared_layout<"{bytes=1, align=16, offsets=[[1,2,4,8,16,32,64]]}">>
!list = !fusion_tile.buffer<64xi32, #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128]]}">>
func.func @short(%flags: !flags, %list: !list) -> index {
  // expected-error @below {{takes a list of as many i32 as there are flags, got '!fusion_tile.buffer<64xi32}}
  %count = fusion_tile.list_flags %flags into %list : !flags, !list
  return %count : index
}

// -----

!flags = !fusion_tile.buffer<128xi8, #fusion_tile.shared_layout<"{bytes=1, align=16, offsets=[[2,1,4,8,16,32,64]]}">>
!list = !fusion_tile.buffer<128xi32, #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128,256]]}">>
func.func @order(%flags: !flags, %list: !list) -> index {
  // expected-error @below {{takes buffers without gaps in the order of numbers, got '!fusion_tile.buffer<128xi8}}
  %count = fusion_tile.list_flags %flags into %list : !flags, !list
  return %count : index
}

// -----

!tile = !fusion_tile.buffer<4x8xf32, #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">>
func.func @rank(%buffer: !tile, %i: index) {
  // expected-error @below {{result #0 must be signless integer, but got 'f32'}}
  %element = "fusion_tile.local_element"(%buffer, %i) : (!tile, index) -> f32
  return
}

// -----

!tile = !fusion_tile.buffer<4x8xi32, #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">>
func.func @rank(%buffer: !tile, %i: index) {
  // expected-error @below {{takes a buffer of one dimension in the order of numbers, got '!fusion_tile.buffer<4x8xi32}}
  %element = fusion_tile.local_element %buffer[%i] : !tile
  return
}
