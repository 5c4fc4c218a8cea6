#include "dropin/frame/reason.h"

#include <cstdio>
#include <new>

#include "base/callback/unwinder.h"
#include "base/log.h"
#include "base/thread/thread_object.h"

namespace km::frame {

namespace {

/// Prepared at load time, because a thread may end inside its first call.
[[gnu::constructor]] void let_threads_end() noexcept { prepare_unwinder(); }

}  // namespace

const char*& current_function() noexcept {
  static thread_local const char* function = "a call";
  return function;
}

void log_call(const char* function, const char* status) noexcept {
  if (!log_enabled(LogLevel::kDebug, "cuda")) {
    calls_are_logged.store(false, std::memory_order_relaxed);  // settings never change
    return;
  }
  log(LogLevel::kDebug, "cuda", "%s: %s", function, status);
}

namespace {

/// It is not thread-local itself, because libraries have little room for such objects.
struct LastReason {
  char text[512] = {};
};

}  // namespace

const char* last_reason() noexcept {
  const LastReason* const last = ThreadObject<LastReason>::find();
  return last == nullptr ? "" : last->text;
}

void tell_reason(const char* text) noexcept {
  try {
    LastReason& last = ThreadObject<LastReason>::get();
    std::snprintf(last.text, sizeof last.text, "%s", text);
  } catch (const std::bad_alloc&) {  // the reason is only for messages
  }
  log(LogLevel::kInfo, "cuda", "%s", text);
  if (const ReasonKeeper keeper = reason_keeper.load(std::memory_order_relaxed)) keeper(text);
}

void explain_list(const char* format, va_list arguments) noexcept {
  char text[1024];
  const int length = std::snprintf(text, sizeof text, "%s: ", current_function());
  std::vsnprintf(text + length, sizeof text - static_cast<size_t>(length), format, arguments);
  tell_reason(text);
}

void explain(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  explain_list(format, arguments);
  va_end(arguments);
}

}  // namespace km::frame
