// Detects stalled launches, in which all blocks of every thread that runs the launch wait. Such a
// launch may wait for the host, or forever; after a while the log reports where it waits.
#pragma once

#include <atomic>
#include <cstdint>

namespace km::cpu {

/// Called by the threads of a launch. relieve() if their blocks all wait: for work in a stream,
/// perhaps, that no thread runs because all threads run such launches; a thread then runs it.
class StallRelief {
 public:
  virtual void relieve() = 0;
  /// Called once by a thread of a launch that takes longer than was expected when its number of
  /// threads was chosen: all may join now. `job` is the launch's, which may be over.
  virtual void widen(uint64_t job) = 0;

 protected:
  ~StallRelief() = default;
};

/// The counters that the threads of one launch share.
struct Stall {
  std::atomic<uint32_t> threads{0};  // threads that run blocks of the launch
  std::atomic<uint32_t> stalled{0};  // threads that have waited for too long
  std::atomic<bool> reported{false};
};

/// The part of one thread, from its first to its last block of the launch.
class StallWatch {
 public:
  StallWatch() = default;
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  void begin(Stall& launch);
  /// Called however the thread's part ends.
  void end();

  /// Called when a block has continued.
  void note_progress() {
    since_ns_ = 0;
    if (is_stalled_) [[unlikely]]
      set_stalled(false);
  }
  /// Called every few microseconds while all blocks of this thread wait. Returns true once in a
  /// launch, when all its threads have waited for KM_STALL_WARNING_MS; the caller then reports it.
  bool note_wait();

 private:
  void set_stalled(bool is_stalled);

  Stall* launch_ = nullptr;
  uint64_t since_ns_ = 0;
  bool is_stalled_ = false;
};

}  // namespace km::cpu
