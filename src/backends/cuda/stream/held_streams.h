// Streams that groups of communicators hold until NCCL has queued their work, and the threads that
// wait for them.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace km::cuda {

class Stream;

/// Knows all holds and waits of the process, so that no thread waits for a group whose thread waits
/// for the first one's.
class HeldStreams {
 public:
  /// A thread that holds a stream.
  struct Holder {
    const Stream* stream;
    std::thread::id thread;
    uint32_t number;   // of the thread, by gettid
    const char* call;  // the work's name, of static lifetime
  };
  static HeldStreams& instance();

  void hold(const Stream* stream, const char* call);
  void release(const Stream* stream);
  bool is_held_here(const Stream* stream) const;
  /// One of the threads that hold the stream, which is held.
  Holder holder_of(const Stream* stream) const;
  /// The latest hold of the calling thread.
  std::optional<Holder> own_hold() const;

  /// Notes that the calling thread waits for the holders of the stream. If one of them waits for
  /// the calling thread, it returns that one, and notes nothing.
  std::optional<Holder> begin_wait(const Stream* stream);
  void end_wait();

 private:
  struct Wait {
    std::thread::id thread;
    const Stream* stream;
  };
  const Holder* blocking_holder(const Stream* stream, std::thread::id waiting, size_t steps) const;

  mutable std::mutex mutex_;  // guards the members below; no other lock is taken within
  std::vector<Holder> holders_;
  std::vector<Wait> waits_;
};

/// The calling thread's number as debuggers show it.
uint32_t thread_number();

}  // namespace km::cuda
