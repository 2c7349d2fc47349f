//===- PrecompiledHeader.cpp - Anchor of the precompiled header -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file exists so that CMake has one target that owns the precompiled
// header; every other library reuses it.
//
//===----------------------------------------------------------------------===//
