// cuLogs*: the texts of errors, as the log has them.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/file/file_writer.h"
#include "base/printable.h"
#include "dropin/cuda/frame/driver_log.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

constexpr size_t kMostBytes = 25600;

struct Listener {
  CUlogsCallback function;
  void* data;
};

struct Log {
  std::mutex mutex;
  std::deque<std::string> lines;
  unsigned first = 0;  // the number of the first line
  size_t bytes = 0;
  std::map<uint64_t, Listener> listeners;
  uint64_t last_listener = 0;

  unsigned end() const { return first + static_cast<unsigned>(lines.size()); }

  void add(std::string line) {
    bytes += line.size();
    lines.push_back(std::move(line));
    while (bytes > kMostBytes && lines.size() > 1) {
      bytes -= lines.front().size();
      lines.pop_front();
      ++first;
    }
  }

  /// The lines from a number on; says where some are gone.
  std::string from(unsigned number) const {
    std::string text;
    if (number < first) text += "(earlier messages are gone)\n";
    for (unsigned i = std::max(number, first); i < end(); ++i) text += lines[i - first] + "\n";
    return text;
  }
};

Log& log_of_errors() {
  static Log& all = *new Log;  // calls may come while the process exits
  return all;
}

std::string stamped(const char* text) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return "[" + std::to_string(ms) + "][CUDA][E] " + text;
}

/// A text that listeners have not heard yet; the bytes of the text follow.
struct Unheard {
  Unheard* next;
  size_t size_bytes;

  char* text() { return reinterpret_cast<char*>(this + 1); }
};
constexpr size_t kMostUnheard = 16;                   // of a thread
constinit thread_local Unheard* t_unheard = nullptr;  // the newest first
constinit thread_local size_t t_unheard_count = 0;
/// True while this thread runs a listener: what that fails at is kept, and no listener hears of it.
constinit thread_local bool t_listening = false;

void note_unheard(const char* text) {
  if (t_listening || t_unheard_count == kMostUnheard) return;
  const size_t size_bytes = std::strlen(text);
  auto* const made = static_cast<Unheard*>(std::malloc(sizeof(Unheard) + size_bytes + 1));
  if (made == nullptr) return;  // the call's result is what counts
  *made = {t_unheard, size_bytes};
  std::memcpy(made->text(), text, size_bytes + 1);
  t_unheard = made;
  ++t_unheard_count;
}

Unheard* take_unheard() {
  Unheard* oldest = nullptr;
  t_unheard_count = 0;
  for (Unheard* each = std::exchange(t_unheard, nullptr); each != nullptr;) {
    Unheard* const next = std::exchange(each->next, oldest);
    oldest = std::exchange(each, next);
  }
  return oldest;
}

void tell(Unheard& unheard) {
  std::map<uint64_t, Listener> listeners;
  {
    Log& all = log_of_errors();
    const std::lock_guard lock(all.mutex);
    listeners = all.listeners;
  }
  for (const auto& [id, listener] : listeners) {
    std::string copy(unheard.text(), unheard.size_bytes);
    t_listening = true;
    call_contained(
        [&] { listener.function(listener.data, CU_LOG_LEVEL_ERROR, copy.data(), copy.size()); });
    t_listening = false;
  }
}

}  // namespace

void keep_log(const char* text) noexcept {
  if (is_forked()) return;  // by a thread that may have held the lock
  try {
    Log& all = log_of_errors();
    const std::lock_guard lock(all.mutex);
    all.add(stamped(printable(text).c_str()));
    if (!all.listeners.empty()) note_unheard(text);
  } catch (...) {  // no memory for a text: the call's result is what counts
    return;
  }
}

void tell_listeners() noexcept {
  for (Unheard* each = take_unheard(); each != nullptr;) {
    try {
      tell(*each);
    } catch (...) {  // as above
    }
    std::free(std::exchange(each, each->next));
  }
}

}  // namespace km::dropin

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult check_flags(unsigned flags) {
  return flags == 0 ? CUresult{CUDA_SUCCESS} : CUresult{CUDA_ERROR_INVALID_VALUE};
}

/// The text from the iterator on (null: all), which moves to the end.
std::string take_text(CUlogIterator* iterator) {
  Log& all = log_of_errors();
  const std::lock_guard lock(all.mutex);
  std::string text = all.from(iterator != nullptr ? *iterator : all.first);
  if (iterator != nullptr) *iterator = all.end();
  return text;
}

CUresult dump_to_memory(CUlogIterator* iterator, char* buffer, size_t* size) {
  CU_REQUIRE(buffer);
  CU_REQUIRE(size);
  const size_t room = *size;
  *size = 0;
  if (room == 0) return CUDA_ERROR_INVALID_VALUE;
  std::string text = take_text(iterator);
  if (text.size() >= room) {  // the last messages are those that count
    const size_t line = text.find('\n', text.size() - room);
    if (line == text.npos || line + 1 >= text.size()) return CUDA_ERROR_INVALID_VALUE;
    text.erase(0, line + 1);
  }
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  *size = text.size();
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuLogsRegisterCallback(CUlogsCallback callback, void* data, CUlogsCallbackHandle* out) {
  return guard_before_init(__func__, [&]() -> CUresult {
    if (callback == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Log& all = log_of_errors();
    const std::lock_guard lock(all.mutex);
    const uint64_t id = ++all.last_listener;
    all.listeners[id] = {callback, data};
    if (out != nullptr) *out = reinterpret_cast<CUlogsCallbackHandle>(id);
    return CUDA_SUCCESS;
  });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return guard_before_init(__func__, [&]() -> CUresult {
    Log& all = log_of_errors();
    const std::lock_guard lock(all.mutex);
    const bool was_there = all.listeners.erase(reinterpret_cast<uint64_t>(handle)) != 0;
    return was_there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuLogsCurrent(CUlogIterator* out, unsigned int flags) {
  return guard_before_init(__func__, [&]() -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CU_TRY(check_flags(flags));
    Log& all = log_of_errors();
    const std::lock_guard lock(all.mutex);
    *out = all.end();
    return CUDA_SUCCESS;
  });
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned int flags) {
  return guard_before_init(__func__, [&]() -> CUresult {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CU_TRY(check_flags(flags));
    Result<FileWriter> file = FileWriter::open(path);
    if (!file) return CUDA_ERROR_OPERATING_SYSTEM;
    file->write(take_text(iterator));
    return file->commit() ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size,
                            unsigned int flags) {
  return guard_before_init(__func__, [&]() -> CUresult {
    CU_TRY(check_flags(flags));
    return dump_to_memory(iterator, buffer, size);
  });
}

}  // extern "C"

}  // namespace km::cu
