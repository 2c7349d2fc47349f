//===- SharedPlacesTest.cpp - Tests of places in shared memory ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/SharedPlaces.h"
#include "gtest/gtest.h"

using namespace mlir::fusion;
using llvm::SmallVector;

static SharedPiece getBuffer(int64_t bytes, unsigned moment) {
  SharedPiece piece{bytes};
  piece.first = piece.last = moment;
  return piece;
}

TEST(SharedPlacesTest, LittleIsNotShared) {
  SmallVector<SharedPiece> pieces{getBuffer(kPlentifulShared / 2, 0),
                                  getBuffer(kPlentifulShared / 2, 1)};
  EXPECT_EQ(placeShared(pieces).ofBlock, kPlentifulShared);
}

TEST(SharedPlacesTest, MuchIsSharedInTurn) {
  SmallVector<SharedPiece> pieces{getBuffer(kPlentifulShared, 0),
                                  getBuffer(kPlentifulShared - 16, 1)};
  EXPECT_EQ(placeShared(pieces).ofBlock, kPlentifulShared);
  EXPECT_EQ(pieces[1].offset, 0);
}

TEST(SharedPlacesTest, RingsAreNotShared) {
  SmallVector<SharedPiece> pieces{getBuffer(kPlentifulShared, 0),
                                  getBuffer(kPlentifulShared, 1)};
  pieces.push_back({1024, 1024, SharedPiece::Kind::Ring});
  EXPECT_EQ(placeShared(pieces).ofBlock, kPlentifulShared + 1024);
}

TEST(SharedPlacesTest, GroupsHaveAreas) {
  SmallVector<SharedPiece> pieces{getBuffer(1024, 0), getBuffer(512, 1)};
  pieces[0].alignment = 1024;
  pieces[0].isOfGroup = pieces[1].isOfGroup = true;
  pieces.push_back({64, 64, SharedPiece::Kind::Ring});
  SharedBytes bytes = placeShared(pieces, /*groups=*/2);
  EXPECT_EQ(bytes.ofGroup, 2048);
  EXPECT_EQ(bytes.ofBlock, 2 * 2048 + 64);
  EXPECT_EQ(pieces[2].offset, 4096);
}

TEST(SharedPlacesTest, ClustersWriteBehindAllElse) {
  SmallVector<SharedPiece> pieces{getClusterMemory(80), getBuffer(20, 0)};
  EXPECT_EQ(placeShared(pieces).ofBlock, 32 + 80);
  EXPECT_EQ(pieces[0].offset, 32);
}
