//===- Timeline.h - Ranges on a profiler's timeline -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how a launch tells a profiler, such as Nsight Systems, what
// it is doing: as ranges of NVTX, if one listens.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_TIMELINE_H
#define FUSION_LIB_RUNTIME_TIMELINE_H

#include <string>

namespace fusionrt {

/// Where a profiler takes ranges. It says so by the environment variable
/// NVTX_INJECTION64_PATH, the name of a library, which is loaded when this is
/// first asked for.
struct Timeline {
  int (*push)(const char *name) = nullptr;
  int (*pop)() = nullptr;
};

/// Null if no profiler listens. The same for the life of the process.
const Timeline *getTimeline();

/// A range on the timeline of this thread for as long as this lives. Without a
/// profiler it costs a comparison, and no name is made.
class TimelineRange {
public:
  /// `makeName` returns a std::string.
  template <typename MakeName>
  explicit TimelineRange(MakeName makeName) : timeline(getTimeline()) {
    if (timeline)
      timeline->push(std::string(makeName()).c_str());
  }
  ~TimelineRange() {
    if (timeline)
      timeline->pop();
  }
  TimelineRange(const TimelineRange &) = delete;
  TimelineRange &operator=(const TimelineRange &) = delete;

private:
  const Timeline *timeline;
};

} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_TIMELINE_H
