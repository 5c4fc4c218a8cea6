#include "base/callback/device_output.h"

#include <cstdio>
#include <new>
#include <utility>

#include "base/text.h"
#include "base/thread/cancellation.h"

namespace km {
namespace {

/// Marks the calling thread as flushing. Scopes nest, because a callback may flush the output of
/// another context.
class FlushScope {
 public:
  explicit FlushScope(const Output* output)
      : output_(output), outer_(std::exchange(innermost, this)) {}
  ~FlushScope() { innermost = outer_; }
  FlushScope(const FlushScope&) = delete;
  FlushScope& operator=(const FlushScope&) = delete;

  /// True if the calling thread flushes any output.
  static bool is_any() { return innermost != nullptr; }
  /// True if the calling thread flushes this output.
  static bool is_of(const Output* output) {
    const FlushScope* scope = innermost;
    while (scope != nullptr && scope->output_ != output) scope = scope->outer_;
    return scope != nullptr;
  }

 private:
  static thread_local const FlushScope* innermost;
  const NoCancellation postponed_;
  const Output* const output_;
  const FlushScope* const outer_;
};

thread_local const FlushScope* FlushScope::innermost = nullptr;

}  // namespace

/// The text of one flush, moved out of the members so that the callback runs without their lock.
struct Output::Taken {
  std::string text, error_text;
  uint64_t dropped = 0;
  km_output_callback callback = nullptr;
  void* user_data = nullptr;
};

void Output::set_callback(km_output_callback callback, void* user_data) {
  {
    const std::lock_guard lock(text_mutex_);
    callback_ = callback;
    user_data_ = user_data;
  }
  if (FlushScope::is_any()) return;
  const std::lock_guard until_it_has_returned(flush_mutex_);
}

void Output::append(std::string_view text) noexcept { append_to(&text_, text); }

void Output::append_error(std::string_view line) noexcept { append_to(&error_text_, line); }

void Output::append_to(std::string* text, std::string_view more) noexcept {
  std::lock_guard lock(text_mutex_);
  if (text->size() + more.size() > limit_bytes()) {
    dropped_ += more.size();
  } else {
    try {
      *text += more;
    } catch (const std::bad_alloc&) {
      dropped_ += more.size();
    }
  }
  has_text_.store(true, std::memory_order_release);
}

void Output::flush_without_callback() noexcept {
  if (!has_text_.load(std::memory_order_acquire)) return;
  {
    const std::lock_guard lock(text_mutex_);
    if (callback_ != nullptr) return;
  }
  is_wanted_.store(true);
  while (is_wanted_.load()) {
    std::unique_lock lock(flush_mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    is_wanted_.store(false);
    flush_locked();
  }
}

void Output::flush_text() noexcept {
  if (FlushScope::is_of(this)) return;  // called by this output's callback
  {
    const std::lock_guard lock(flush_mutex_);
    flush_locked();
  }
  if (is_wanted_.load()) flush_without_callback();
}

void Output::flush_locked() noexcept {
  const FlushScope scope(this);
  Taken taken;
  {
    const std::lock_guard lock(text_mutex_);
    taken = {std::exchange(text_, {}), std::exchange(error_text_, {}), std::exchange(dropped_, 0),
             callback_, user_data_};
    has_text_.store(false, std::memory_order_release);
  }
  hand_out(taken);
}

void Output::hand_out(const Taken& taken) noexcept {
  const std::string &text = taken.text, &error_text = taken.error_text;
  char note[80];
  int note_size = taken.dropped == 0
                      ? 0
                      : snprintf(note, sizeof note, "[%s of device printf dropped]\n",
                                 counted(taken.dropped, "byte").c_str());
  if (taken.callback != nullptr) {
    const auto call = [&](const char* begin, uint64_t size_bytes) {
      if (size_bytes != 0) taken.callback(taken.user_data, begin, size_bytes);
    };
    call(text.data(), text.size());
    call(note, static_cast<uint64_t>(note_size));
    call(error_text.data(), error_text.size());
    return;
  }
  // Without a callback, the text goes to the same streams as on a GPU.
  FILE* out = stdout;
  fwrite(text.data(), 1, text.size(), out);
  fwrite(note, 1, static_cast<size_t>(note_size), out);
  fflush(out);
  fwrite(error_text.data(), 1, error_text.size(), stderr);
}

}  // namespace km
