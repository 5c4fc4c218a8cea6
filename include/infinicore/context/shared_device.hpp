// The state that all Runtimes of a device share, and the calling thread's current Runtime.
#ifndef INFINICORE_CONTEXT_SHARED_DEVICE_HPP
#define INFINICORE_CONTEXT_SHARED_DEVICE_HPP

#include <infinicore/infinirt.hpp>
#include <infinicore/memory.hpp>

#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace infinicore {

/// Receives the warnings of the runtime; it must not throw.
using WarningHandler = void (*)(const char* text) noexcept;

namespace detail {

inline void print_warning(const char* text) noexcept {
  std::fprintf(stderr, "infinicore: warning: %s\n", text);
}

inline std::atomic<WarningHandler>& warning_handler() noexcept {
  static std::atomic<WarningHandler> handler{print_warning};
  return handler;
}

inline void warn(const std::string& text) { warning_handler().load()(text.c_str()); }

// An opened device with its memory, one for all Runtimes that exist at the same time.
struct SharedDevice {
  km::context context;
  std::shared_ptr<const km::pool> pool;

  explicit SharedDevice(const Device& device)
      : context(device.toString(), KM_CONTEXT_DEFAULT),
        pool(std::make_shared<const km::pool>(context)) {}

  static std::shared_ptr<SharedDevice> of(const Device& device) {
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<SharedDevice>> open;
    const std::lock_guard<std::mutex> lock(mutex);
    std::weak_ptr<SharedDevice>& entry = open[device.toString()];
    std::shared_ptr<SharedDevice> shared = entry.lock();
    if (!shared) {
      shared = std::make_shared<SharedDevice>(device);
      entry = shared;
    }
    return shared;
  }
};

// A thread's current Runtime. It has no destructor, so that Runtimes in static objects can be
// destroyed after it; the handle of a destroyed stream is invalid, not dangling.
class Current {
 public:
  void set(const void* runtime, const Device& device, infinirtStream_t stream) noexcept {
    runtime_ = runtime;
    device_ = device;
    stream_ = stream;
  }
  void forget(const void* runtime) noexcept {
    if (runtime_ == runtime) *this = Current();
  }
  const Device& device() const {
    check();
    return device_;
  }
  infinirtStream_t stream() const {
    check();
    return stream_;
  }

 private:
  void check() const {
    if (runtime_ != nullptr) return;
    throw Error(KM_ERROR_NOT_PERMITTED,
                "infinicore::context: the calling thread has no current Runtime; make one, or call "
                "activate() on one");
  }

  const void* runtime_ = nullptr;
  Device device_;
  infinirtStream_t stream_{};
};

inline Current& current() noexcept {
  static thread_local Current state;
  return state;
}

}  // namespace detail

/// Sends warnings to `handler` instead of the standard error; null restores that.
inline void setWarningHandler(WarningHandler handler) noexcept {
  detail::warning_handler() = handler == nullptr ? detail::print_warning : handler;
}

namespace context {

/// The device of the calling thread's current Runtime: the one created or activated last.
inline Device getDevice() { return detail::current().device(); }
/// The stream of the current Runtime, for operators that know no Runtime.
inline infinirtStream_t getStream() { return detail::current().stream(); }

}  // namespace context

}  // namespace infinicore

#endif
