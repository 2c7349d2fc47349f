"""Configuration of the test suite: IR tests and the unit-test binaries."""

import os

import lit.formats
from lit.llvm import llvm_config

config.name = "Fusion"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test", ".td"]
config.excludes = ["corpus", "Inputs", "lib", "unittests", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.fusion_obj_root, "test")

llvm_config.use_default_substitutions()
config.substitutions.append(("%fusion_src_root", config.fusion_src_root))
config.substitutions.append(("%fusion_obj_root", config.fusion_obj_root))
config.substitutions.append(("%mlir_tblgen", config.mlir_tblgen))
config.substitutions.append(("%python", f'"{config.python_executable}"'))

config.substitutions.append(("%clangxx", config.cxx))
config.substitutions.append(("%host_cc", config.cc))
config.substitutions.append(("%host_cxx", config.cxx))
config.substitutions.append(("%cmake", config.cmake))
config.substitutions.append(("%cpack", config.cpack))

# Our tools first, so that a test never runs an installed copy of them.
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.fusion_tools_dir, append_path=True)

# A test that needs a tool, a chip or assertions says so with REQUIRES.
if config.fusion_assertions:
    config.available_features.add("asserts")
if config.fusion_installs:
    config.available_features.add("installs")
for tool in ("fusion-opt", "fusion-compile", "fusion-run", "fusion-doctor",
             "fusion-reduce", "fusion-lsp-server", "fusion-emulate",
             "fusion-conformance", "fusion-package"):
    if os.path.exists(os.path.join(config.fusion_tools_dir, tool)):
        config.available_features.add(tool)
# Upstream's runner, and the way of host code to it.
if os.path.exists(os.path.join(config.llvm_tools_dir, "mlir-runner")):
    config.available_features.add("mlir-runner")
mlir_libs = os.path.join(os.path.dirname(config.llvm_tools_dir), "lib")
runner_libs = ",".join(os.path.join(mlir_libs, f"libmlir_{name}.so")
                       for name in ("runner_utils", "c_runner_utils"))
fusion_libs = os.path.join(config.fusion_obj_root, "lib")
config.substitutions += [
    ("%bufferize", '--one-shot-bufferize="bufferize-function-boundaries '
                   'allow-return-allocs-from-loops '
                   'function-boundary-type-conversion=identity-layout-map"'),
    ("%lower_host", "--convert-linalg-to-loops --lower-affine "
                    "--convert-scf-to-cf --expand-strided-metadata "
                    "--finalize-memref-to-llvm --convert-func-to-llvm "
                    "--convert-arith-to-llvm --convert-cf-to-llvm "
                    "--reconcile-unrealized-casts"),
    ("%run_host", "env FUSION_DEVICE=emulator mlir-runner "
                  "--entry-point-result=void"),
    ("%runtime", f"{runner_libs},{fusion_libs}/libfusion-rt.so"),
    ("%mgpu", f"{runner_libs},{fusion_libs}/libfusion-mgpu.so"),
]

# A dialect that the tools do not know.
plugin = os.path.join(config.fusion_obj_root, "lib", "FusionForeignDialect.so")
config.substitutions.append(("%foreign", f"--load-dialect-plugin={plugin}"))
if os.path.exists(plugin):
    config.available_features.add("foreign-dialect")
if "Clang" in config.cxx_id:
    config.available_features.add("clang")
if lit.util.which("dpkg-deb") and lit.util.which("dpkg-shlibdeps"):
    config.available_features.add("dpkg")
if lit.util.which("chromium"):
    config.available_features.add("chromium")
if lit.util.which("ptxas"):
    config.available_features.add("ptxas")
