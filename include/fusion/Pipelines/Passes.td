//===- Passes.td - Passes between the levels of the GPU ----*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PIPELINES_PASSES_TD
#define FUSION_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckLimitsPass : Pass<"fusion-gpu-check-limits", "::mlir::ModuleOp"> {
  let summary = "Refuses kernels that the target cannot launch";
  let description = [{
    Input: `gpu.module`s whose kernels say how many threads and bytes of shared
    memory a block takes. The IR is not changed; a kernel that asks for more
    than the target gives a block is an error with the figures.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "chip to check for; the module's fusion.target when empty, sm_90a "
           "when it has none">,
  ];
}

def AcceptFunctionsPass
    : Pass<"fusion-accept-functions", "::mlir::ModuleOp"> {
  let summary = "Runs a pipeline on each function; what it refuses stays";
  let description = [{
    Input: any module. Each `func.func` with a body goes through `pipeline`, a
    pipeline of modules, in a module of its own, with the functions that it calls
    and the data that it names. Where the pipeline succeeds, what became of the
    function takes its place, and callees that nothing else calls are gone. A
    function that the pipeline refuses stays as it was: each error is a remark at
    its place, with its code, cause and remedy. All other ops of the module stay
    as they are. Private functions go through the pipeline if somebody calls them
    still.

    ```mlir
    func.func @taken(%x: tensor<8xf32>) -> tensor<8xf32>  // linalg
    func.func @left(%m: memref<8xf32>)                    // scf on memrefs
    ```
    with `pipeline=fusion-to-plan` has a `fusion.kernel` in `@taken`; of `@left`
    it says FUS-1007.
  }];
  let options = [
    Option<"pipeline", "pipeline", "std::string", "\"fusion-to-plan\"",
           "passes of modules, as --pass-pipeline has them inside "
           "'builtin.module(...)'">,
  ];
}

def SetTargetPass : Pass<"fusion-set-target", "::mlir::ModuleOp"> {
  let summary = "Writes down the chip that the module is compiled for";
  let description = [{
    Sets the module's `fusion.target`, which all passes after it read: to the
    chip named, or to the one that it has already, or to sm_90a.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "the chip; the module's fusion.target when empty, sm_90a when it "
           "has none">,
  ];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
}

def MergeProgramsPass
    : Pass<"fusion-tile-merge-programs", "::mlir::ModuleOp"> {
  let summary = "Lets equal kernels share one program";
  let description = [{
    Input: `fusion_tile.program`s, each of one kernel. Output: of programs that are
    equal but for their names and locations the first is left, and all kernels
    that had one of them name it. A network of equal layers is so compiled one
    layer at a time, and its package has each kernel once.
  }];
}

def PackKernelsPass : Pass<"fusion-gpu-pack-kernels", "::mlir::ModuleOp"> {
  let summary = "Makes one kernel of those that start in one launch";
  let description = [{
    Input: `fusion.kernel`s, some with a `launch`, and the `llvm.func`s of their
    programs. Output: for the kernels of a launch one `llvm.func`, with the
    parameters of all and the blocks of all: a block finds the program that it
    is of by its number. Programs that nobody launches any more are gone.

    ```mlir
    llvm.func @a(%x) {fusion_tile.grid = 3}  llvm.func @b(%y) {fusion_tile.grid = 5}
      ==>
    llvm.func @a_and_1_more(%x, %y) {fusion_tile.grid = 8} {
      scf.if (%block < 3) { a(%x) } else { b(%y), of block %block - 3 }
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

def SplitKernelsPass : Pass<"fusion-ptx-split-kernels", "::mlir::ModuleOp"> {
  let summary = "Gives every kernel a gpu.module of its own";
  let description = [{
    Input: `gpu.module`s with any number of kernels. Output: one `gpu.module`
    for each kernel, of the kernel's name, with the globals that it uses. A
    driver that compiles PTX when it loads it then compiles no more than what is
    launched, and kernels are translated independently of each other.

    ```mlir
    gpu.module @kernels { llvm.func @a() ... llvm.func @b() ... }
      ==>
    gpu.module @a { llvm.func @a() ... }
    gpu.module @b { llvm.func @b() ... }
    ```
  }];
}

def LowerToLLVMPass
    : Pass<"fusion-ptx-lower-to-llvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lowers what threads compute to the LLVM dialect";
  let description = [{
    Input: kernels of arith, cf, index, math, ub and vector operations among
    those of the LLVM and NVVM dialects. Output: the last two only. One
    conversion instead of one per dialect: each walks all of a kernel.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def OpaqueFloatsPass
    : Pass<"fusion-ptx-opaque-floats", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Makes each operation on floats one that payload mode knows";
  let description = [{
    Input: kernels of the LLVM and NVVM dialects. Output: the same in a form in
    which every operation on floats is one that payload mode knows, whatever
    stands around it and whichever the chip:

    - each float is behind an empty piece of inline assembly, so that no
      operation is simplified by what is known about its operands: that a root
      is not negative, that a number has been converted. Such simplifications
      hold for floats but not for the integers that payload mode puts in their
      place;
    - the bits of floats are behind one too, so that a mask of them does not
      become an operation on floats, or the other way round;
    - constants are literals of floats (`mov.f32 %r, 0f3F800000`), where LLVM
      would write the integer of their bits;
    - f16 and bf16 are computed with in f32, where LLVM would write a sum of
      bf16 as fma with the bits of 1.0, and a conversion as a shift;
    - conversions of integers and to integers, and the larger and smaller of
      two f64, are instructions, where LLVM would compute what it knows, or
      compare, or assume that a number fits.

    Without the simplifications a fused kernel computes what its operations do
    one by one.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // FUSION_PIPELINES_PASSES_TD
