// Device printf of one context: collected while kernels run, handed out at synchronise.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "kernelmill/c_api.h"

namespace km::cpu {

class Output {
 public:
  static constexpr size_t kDefaultBytes = 64 << 20;

  /// Text beyond this, between two flushes, is counted and dropped.
  uint64_t limit_bytes() const { return limit_bytes_.load(std::memory_order_relaxed); }
  void set_limit(uint64_t size_bytes) { limit_bytes_.store(size_bytes, std::memory_order_relaxed); }

  /// Null: standard output. The callback before is not under way any more at the return; inside a
  /// callback, which may be that one, nothing is waited for.
  void set_callback(km_output_callback callback, void* user_data);
  /// Never throws; text is dropped when memory is short.
  void append(std::string_view text) noexcept;
  /// append() for lines of failed assertions, which without a callback go to standard error.
  void append_error(std::string_view line) noexcept;
  /// Hands everything to the callback, one thread at a time.
  void flush() noexcept {
    if (has_text_.load(std::memory_order_acquire)) flush_text();
  }
  /// flush() without a callback, which is for threads that wait. For calls that return an error:
  /// they may hold locks that a callback asks for, and never wait for one; who flushes now hands
  /// out their text too.
  void flush_without_callback() noexcept;

 private:
  struct Taken;
  void flush_text() noexcept;
  void flush_locked() noexcept;
  void hand_out(const Taken& taken) noexcept;
  void append_to(std::string* text, std::string_view more) noexcept;

  std::atomic<uint64_t> limit_bytes_{kDefaultBytes};
  std::atomic<bool> has_text_{false};
  std::atomic<bool> is_wanted_{false};  // a flush, by a call that found another one under way
  std::mutex flush_mutex_;              // of the one that flushes; held during the callback
  std::mutex text_mutex_;               // guards what follows
  std::string text_, error_text_;
  uint64_t dropped_ = 0;
  km_output_callback callback_ = nullptr;
  void* user_data_ = nullptr;
};

}  // namespace km::cpu
