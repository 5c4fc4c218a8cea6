#include "dropin/cuda/frame/driver_log.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "base/assert.h"
#include "base/callback/contained_call.h"
#include "base/printable.h"
#include "base/process/fork.h"

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
      KM_ASSERT(bytes >= lines.front().size(), "the log counts the bytes of its lines");
      bytes -= lines.front().size();
      lines.pop_front();
      ++first;
    }
  }

  /// The lines from `number` on, with a note if earlier ones have been discarded.
  std::string from(unsigned number) const {
    std::string text;
    if (number < first) text += "(earlier messages are gone)\n";
    for (unsigned i = std::max(number, first); i < end(); ++i) text += lines[i - first] + "\n";
    return text;
  }
};

Log& log_of_errors() {
  static Log& all = *new Log;  // never destroyed: calls may come during exit
  return all;
}

std::string stamped(const char* text) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return "[" + std::to_string(ms) + "][CUDA][E] " + text;
}

/// A text that has not been passed to listeners yet; its bytes follow the structure.
struct Unheard {
  Unheard* next;
  size_t size_bytes;

  char* text() { return reinterpret_cast<char*>(this + 1); }
};
constexpr size_t kMostUnheard = 16;                   // per thread
constinit thread_local Unheard* t_unheard = nullptr;  // newest first
constinit thread_local size_t t_unheard_count = 0;
/// True while this thread runs a listener. Failures inside a listener are logged but not passed to
/// listeners, which would recurse.
constinit thread_local bool t_listening = false;

void note_unheard(const char* text) {
  if (t_listening || t_unheard_count == kMostUnheard) return;
  const size_t size_bytes = std::strlen(text);
  auto* const made = static_cast<Unheard*>(std::malloc(sizeof(Unheard) + size_bytes + 1));
  if (made == nullptr) return;  // out of memory: the call's result matters more
  *made = {t_unheard, size_bytes};
  std::memcpy(made->text(), text, size_bytes + 1);
  KM_ASSERT((t_unheard == nullptr) == (t_unheard_count == 0), "the count matches the list");
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
  if (is_forked()) return;  // the parent's thread may have held the lock
  try {
    Log& all = log_of_errors();
    const std::lock_guard lock(all.mutex);
    all.add(stamped(printable(text).c_str()));
    if (!all.listeners.empty()) note_unheard(text);
  } catch (...) {  // no memory for the text: the caller still needs its result
    return;
  }
}

void tell_listeners() noexcept {
  for (Unheard* each = take_unheard(); each != nullptr;) {
    try {
      tell(*each);
    } catch (...) {  // no memory for the text: the caller still needs its result
    }
    std::free(std::exchange(each, each->next));
  }
}

uint64_t add_log_listener(CUlogsCallback callback, void* data) {
  Log& all = log_of_errors();
  const std::lock_guard lock(all.mutex);
  const uint64_t id = ++all.last_listener;
  all.listeners[id] = {callback, data};
  return id;
}

bool remove_log_listener(uint64_t id) {
  Log& all = log_of_errors();
  const std::lock_guard lock(all.mutex);
  return all.listeners.erase(id) != 0;
}

unsigned end_of_log() {
  Log& all = log_of_errors();
  const std::lock_guard lock(all.mutex);
  return all.end();
}

std::string take_log(CUlogIterator* iterator) {
  Log& all = log_of_errors();
  const std::lock_guard lock(all.mutex);
  std::string text = all.from(iterator != nullptr ? *iterator : all.first);
  if (iterator != nullptr) *iterator = all.end();
  return text;
}

}  // namespace km::dropin
