# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ctypes mirrors name what the C headers declare, field by field."""

import ctypes
import pathlib
import re
import unittest

from fusion_compiler import abi, compiler

INCLUDE = pathlib.Path(__file__).resolve().parent.parent.parent / "include"
C_TYPES = {
    "size_t": ctypes.c_size_t, "double": ctypes.c_double,
    "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
    "FusionRtAddress": ctypes.c_uint64, "FusionRtStream": ctypes.c_void_p,
    "const void *": ctypes.c_void_p, "const char *": ctypes.c_char_p,
    "char": ctypes.c_char,
    "const int64_t *": ctypes.POINTER(ctypes.c_int64),
    "const FusionRtTensor *": ctypes.POINTER(abi.Tensor),
    "const FusionRtAddress *": ctypes.POINTER(ctypes.c_uint64),
    "const FusionRtSections *": ctypes.c_void_p,
    "FusionRtSectionCallback": ctypes.c_void_p, "void *": ctypes.c_void_p,
}


def parse_structs(path, wanted):
    """{struct name: [(field, ctypes type)]} of those structs of a header."""
    text = re.sub(r"//.*", "", path.read_text())
    text = text.replace("FUSION_RT_MAX_RANK", str(abi.MAX_RANK))
    structs = {}
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\}", text,
                                 re.S):
        if name not in wanted:
            continue
        fields = structs[name] = []
        for declaration in filter(None, map(str.strip, body.split(";"))):
            kind, names = re.match(r"((?:const )?\w+ (?:\*)?)(.*)",
                                   " ".join(declaration.split())).groups()
            for field in names.split(","):
                pointer, field, count = re.match(
                    r"(\*?)(\w+)(?:\[(\d+)\])?$", field.strip()).groups()
                base = kind.strip() if not pointer else kind.rstrip(" *") + " *"
                ctype = C_TYPES[base]
                fields.append((field, ctype * int(count) if count else ctype))
    return structs


class StructTest(unittest.TestCase):

    def compare(self, header, prefix, module, expected):
        """`expected` names structs of the header without the prefix; as a
        dictionary, also their mirrors."""
        structs = parse_structs(INCLUDE / header,
                                [prefix + name for name in expected])
        for name in expected:
            with self.subTest(struct=name):
                mirror = getattr(module, expected[name] if
                                 isinstance(expected, dict) else name)._fields_
                self.assertEqual([field for field, _ in mirror],
                                 [field for field, _ in structs[prefix + name]])
                for (field, ours), (_, theirs) in zip(mirror,
                                                      structs[prefix + name]):
                    self.assertIs(ours, theirs, field)

    def test_runtime(self):
        self.compare("fusion-rt/Runtime.h", "FusionRt", abi,
                     ["DeviceOptions", "DeviceInfo", "PackageInfo",
                      "KernelInfo", "EntryInfo", "TensorInfo", "SymbolInfo",
                      "Tensor", "Shape", "Figures", "LaunchArgs"])

    def test_compiler(self):
        self.compare("fusion-c/Fusion.h", "Fusion", compiler,
                     {"CompileOptions": "CompileOptions",
                      "Diagnostic": "CDiagnostic"})

    def test_element_types(self):
        text = (INCLUDE / "fusion-rt" / "Runtime.h").read_text()
        body = re.search(r"typedef enum FusionRtDType \{(.*?)\}", text,
                         re.S).group(1)
        declared = re.findall(r"FUSION_RT_(\w+) = (\d+)", body)
        self.assertEqual([(name.lower(), int(value))
                          for name, value in declared],
                         [(name, i) for i, name in enumerate(abi.DTYPES)])

    def test_functions_exist(self):
        text = (INCLUDE / "fusion-rt" / "Runtime.h").read_text()
        for name in abi._FUNCTIONS:
            self.assertIn(f"fusionRt{name}(", text)

    def test_exports(self):
        # The libraries export what the headers declare, and nothing else.
        for headers, exports, macro in (
                (("fusion-rt/Runtime.h", "fusion-rt/HostCalls.h"),
                 "lib/Runtime/fusion-rt.exports", "FUSION_RT_API"),
                (("fusion-rt/Runtime.h", "fusion-rt/HostCalls.h"),
                 "lib/Runtime/fusion-mgpu.exports", "FUSION_RT_API"),
                (("fusion-c/Fusion.h",), "lib/CAPI/fusion-c.exports",
                 "FUSION_C_API")):
            text = re.sub("//[^\n]*", "", "".join(
                (INCLUDE / header).read_text() for header in headers))
            declared = re.findall(macro + r" [\w\s*]*?\b(fusion\w+)\(", text)
            script = re.sub(r"/\*.*?\*/", "",
                            (INCLUDE.parent / exports).read_text(), flags=re.S)
            exported = re.findall(r"^\s+(fusion\w+);$", script, re.M)
            self.assertGreater(len(declared), 9)
            self.assertEqual(declared, exported, exports)
            # The newest node has the number of the interface.
            newest = re.search(f"#define {macro}_VERSION (\\d+)\n", text)
            nodes = re.findall(macro.replace("API", r"(\d+) \{"), script)
            self.assertEqual(max(map(int, nodes)), int(newest.group(1)))

    def test_versions(self):
        for header, name, ours in (
                ("fusion-rt/Runtime.h", "FUSION_RT_ABI_VERSION",
                 abi.ABI_VERSION),
                ("fusion-c/Fusion.h", "FUSION_C_ABI_VERSION",
                 compiler.ABI_VERSION)):
            text = (INCLUDE / header).read_text()
            self.assertIn(f"#define {name} {ours}\n", text)


if __name__ == "__main__":
    unittest.main()
