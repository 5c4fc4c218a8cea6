// The device printf of one context: text is collected while kernels run, and delivered when the
// host synchronizes.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "kernelmill/c_api.h"

namespace km {

/// Collects text of kernels up to a limit and delivers it in order.
class Output {
 public:
  static constexpr size_t kDefaultBytes = 64 << 20;

  /// The most text that is kept between two flushes. Excess text is dropped and counted.
  uint64_t limit_bytes() const { return limit_bytes_.load(std::memory_order_relaxed); }
  /// Sets limit_bytes(). Text that is already collected is kept.
  void set_limit(uint64_t size_bytes) { limit_bytes_.store(size_bytes, std::memory_order_relaxed); }

  /// Sets the callback; null selects standard output. On return the previous callback is no longer
  /// running, unless the calling thread is inside a callback, where waiting could deadlock.
  void set_callback(km_output_callback callback, void* user_data);
  /// Appends text. It never throws: text is dropped if memory runs out.
  void append(std::string_view text) noexcept;
  /// Appends a line of a failed assertion, which goes to standard error if there is no callback.
  void append_error(std::string_view line) noexcept;
  /// Delivers all text, one thread at a time.
  void flush() noexcept {
    if (has_text_.load(std::memory_order_acquire)) flush_text();
  }
  /// Delivers the text if there is no callback, without waiting for another thread's flush, which
  /// then delivers this text too. Calls that return an error use it: they may hold locks that a
  /// callback needs.
  void flush_without_callback() noexcept;

 private:
  struct Taken;
  void flush_text() noexcept;
  void flush_locked() noexcept;
  void hand_out(const Taken& taken) noexcept;
  void append_to(std::string* text, std::string_view more) noexcept;

  std::atomic<uint64_t> limit_bytes_{kDefaultBytes};
  std::atomic<bool> has_text_{false};
  std::atomic<bool> is_wanted_{false};  // a flush was requested while another one ran
  std::mutex flush_mutex_;              // held by the flushing thread, also during the callback
  std::mutex text_mutex_;               // guards the members below
  std::string text_, error_text_;
  uint64_t dropped_ = 0;
  km_output_callback callback_ = nullptr;
  void* user_data_ = nullptr;
};

}  // namespace km
