#include "backends/cpu/output.h"
#include "base/text.h"

#include <cstdio>
#include <new>
#include <utility>

#include "base/cancellation.h"

namespace km::cpu {

void Output::set_callback(km_output_callback callback, void* user_data) {
  std::lock_guard lock(flush_mutex_);
  callback_ = callback;
  user_data_ = user_data;
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
  {
    std::lock_guard lock(flush_mutex_);
    if (callback_ != nullptr) return;
  }
  flush();
}

void Output::flush_text() noexcept {
  const NoCancellation postponed;
  std::lock_guard flush_lock(flush_mutex_);
  std::string text, error_text;
  uint64_t dropped = 0;
  {
    std::lock_guard lock(text_mutex_);
    text = std::exchange(text_, {});
    error_text = std::exchange(error_text_, {});
    dropped = std::exchange(dropped_, 0);
    has_text_.store(false, std::memory_order_release);
  }
  char note[80];
  int note_size = dropped == 0 ? 0
                               : snprintf(note, sizeof note, "[%s of device printf dropped]\n",
                                          counted(dropped, "byte").c_str());
  if (callback_ != nullptr) {
    if (!text.empty()) callback_(user_data_, text.data(), text.size());
    if (note_size > 0) callback_(user_data_, note, static_cast<uint64_t>(note_size));
    if (!error_text.empty()) callback_(user_data_, error_text.data(), error_text.size());
    return;
  }
  // The host has not asked for the text: it goes where it goes on a GPU.
  FILE* out = stdout;
  fwrite(text.data(), 1, text.size(), out);
  fwrite(note, 1, static_cast<size_t>(note_size), out);
  fflush(out);
  fwrite(error_text.data(), 1, error_text.size(), stderr);
}

}  // namespace km::cpu
