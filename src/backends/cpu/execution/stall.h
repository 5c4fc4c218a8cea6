// Launches in which nothing happens: every thread that runs one has blocks that wait, and none gets
// on. Such a launch may wait for the host, or for ever; after a while the log says where.
#pragma once

#include <atomic>
#include <cstdint>

namespace km::cpu {

/// A StallRelief is told by a thread of a launch whose blocks all wait: what they wait for may be
/// in a stream that no thread has taken, because all of them are in such launches. It sees to it
/// that one takes it.
class StallRelief {
 public:
  virtual void relieve() = 0;

 protected:
  ~StallRelief() = default;
};

/// The counts that the threads of one launch share.
struct Stall {
  std::atomic<uint32_t> threads{0};  // that run blocks of the launch
  std::atomic<uint32_t> stalled{0};  // those of them that have waited for too long
  std::atomic<bool> reported{false};
};

/// One thread's part in it, from its first to its last block of the launch.
class StallWatch {
 public:
  StallWatch() = default;
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  void begin(Stall& launch);
  /// However the thread's part ends.
  void end();

  /// Some block has got on.
  void note_progress() {
    since_ns_ = 0;
    if (is_stalled_) [[unlikely]]
      set_stalled(false);
  }
  /// All blocks of this thread wait; called every few microseconds. True, once in a launch: all its
  /// threads have waited for as long as KM_STALL_WARNING_MS says, and the caller reports it.
  bool note_wait();

 private:
  void set_stalled(bool is_stalled);

  Stall* launch_ = nullptr;
  uint64_t since_ns_ = 0;
  bool is_stalled_ = false;
};

}  // namespace km::cpu
