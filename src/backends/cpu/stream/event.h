// An event: the latest of its recordings.
#pragma once

#include <cstdint>

#include "backends/cpu/stream/marker.h"
#include "backends/cpu/threads/futex.h"

namespace km::cpu {

class Context;

class Event {
 public:
  Event(Context* context, bool timing);
  ~Event();
  Context* context() const { return context_; }
  bool has_timing() const { return timing_; }

  /// The latest recording with a reference for the caller, null when never recorded.
  Marker* latest();
  /// Takes over the caller's reference.
  void set_latest(Marker* marker);
  /// It is over when the stream has completed this ticket; no command says so.
  void record_at(Stream* stream, uint64_t ticket);

 private:
  Context* const context_;
  const bool timing_;
  SpinLock lock_;
  Marker* latest_ = nullptr;
};

}  // namespace km::cpu
