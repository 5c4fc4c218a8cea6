// Work of the library's own in a stream, in pieces that any threads may do at the same time.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace km::cpu {

class Task {
 public:
  Task() = default;
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  /// For profiles; static.
  virtual const char* name() const = 0;
  virtual uint64_t pieces() const = 0;
  /// How long all of it takes, roughly.
  virtual float ticks() const = 0;
  /// One piece; again and again where it is part of a graph. With the state of floating point that
  /// programs start with. An access to what is not there (a file that was truncated while it is
  /// mapped) ends it in the middle: what it holds then is lost.
  virtual Status run(uint64_t piece) const = 0;
  /// Told when run() ended so.
  virtual void abandon() const {}
  /// Operations of floating point, for profiles.
  virtual uint64_t operations() const { return 0; }
};

}  // namespace km::cpu
