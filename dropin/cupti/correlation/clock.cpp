#include "dropin/cupti/correlation/clock.h"

#include <mutex>

#include "base/thread/clock.h"

namespace km::cupti {
namespace {

/// The program's clock, which may run at another rate than the engine's: two moments of both give
/// the line that stamps lie on.
class ProgramClock {
 public:
  /// The function is called without the lock, because it may call CUPTI or wait for threads that
  /// do.
  void use(CUpti_TimestampCallbackFunc function) {
    const Moment now = function != nullptr ? read(function) : Moment();
    const std::lock_guard lock(mutex_);
    function_ = function;
    first_ = last_ = now;
  }
  /// The program's function; null if it gave none.
  CUpti_TimestampCallbackFunc function() {
    const std::lock_guard lock(mutex_);
    return function_;
  }
  uint64_t stamp(uint64_t engine_ns) {
    refresh();
    const std::lock_guard lock(mutex_);
    const auto since = static_cast<double>(engine_ns) - static_cast<double>(first_.engine_ns);
    double rate = 1;
    if (last_.engine_ns - first_.engine_ns > kStaleNs / 2) {
      rate = static_cast<double>(last_.program - first_.program) /
             static_cast<double>(last_.engine_ns - first_.engine_ns);
    }
    return first_.program + static_cast<uint64_t>(static_cast<int64_t>(since * rate));
  }

 private:
  struct Moment {
    uint64_t engine_ns = 0, program = 0;
  };
  static constexpr uint64_t kStaleNs = 10'000'000;

  static Moment read(CUpti_TimestampCallbackFunc function) {
    const uint64_t before = engine_now_ns();
    const uint64_t program = function();
    return {before + (engine_now_ns() - before) / 2, program};
  }

  /// Reads the program's clock again if its last moment is old, unless it has been replaced
  /// meanwhile.
  void refresh() {
    CUpti_TimestampCallbackFunc function;
    {
      const std::lock_guard lock(mutex_);
      if (engine_now_ns() - last_.engine_ns <= kStaleNs) return;
      function = function_;
    }
    if (function == nullptr) return;
    const Moment now = read(function);
    const std::lock_guard lock(mutex_);
    if (function_ == function && now.engine_ns > last_.engine_ns) last_ = now;
  }

  std::mutex mutex_;  // guards the members below
  CUpti_TimestampCallbackFunc function_ = nullptr;
  Moment first_, last_;
};

ProgramClock& program_clock() {
  union Forever {
    ProgramClock clock;
    Forever() : clock() {}
    ~Forever() {}  // engine threads may end work during exit
  };
  static Forever forever;
  return forever.clock;
}

/// The difference of the system's clock, read once so that stamps never go back.
uint64_t system_offset_ns() {
  static const uint64_t offset = static_cast<uint64_t>(wall_clock_ns()) - engine_now_ns();
  return offset;
}

}  // namespace

uint64_t engine_now_ns() noexcept { return now_ns(); }

uint64_t stamp_of(uint64_t engine_ns) {
  if (program_clock().function() != nullptr) return program_clock().stamp(engine_ns);
  return engine_ns + system_offset_ns();
}

uint64_t stamp_now() {
  const CUpti_TimestampCallbackFunc function = program_clock().function();
  return function != nullptr ? function() : stamp_of(engine_now_ns());
}

void use_clock(CUpti_TimestampCallbackFunc function) { program_clock().use(function); }

}  // namespace km::cupti
