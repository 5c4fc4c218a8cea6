#include "backends/cpu/command/explore.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/cpu/check/findings.h"
#include "backends/cpu/command/check_report.h"
#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/execution/diagnose.h"
#include "backends/cpu/fault/guarded_memory.h"
#include "backends/cpu/trials/trial.h"
#include "base/assert.h"
#include "base/callback/device_output.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {
namespace {

using simt::Schedule;

bool is_in_step() { return (config().check_tools & simt::check_tool::kInStep) != 0; }

/// Keeps other explored launches out, because putting back memory would lose what they write. A
/// launch whose blocks all wait lets the others run, since it may wait for one of them.
class Turn final : public StallRelief {
 public:
  explicit Turn(StallRelief* next) : next_(next), lock_(mutex()) {}
  void relieve() override {
    if (lock_.owns_lock()) lock_.unlock();
    next_->relieve();
  }
  void widen(uint64_t job) override { next_->widen(job); }
  bool has_waited() const { return !lock_.owns_lock(); }

 private:
  static std::mutex& mutex() {
    static std::mutex& one = *new std::mutex;
    return one;
  }
  StallRelief* const next_;
  std::unique_lock<std::mutex> lock_;
};

/// Loads a value of 8 bytes at most. It stays as it is if its memory has been freed meanwhile.
void load(uint64_t address, uint32_t size_bytes, uint64_t* out_value) {
  guarded_copy(out_value, reinterpret_cast<const void*>(address), size_bytes, false, nullptr);
}

/// True if two numbers differ as sums of the same numbers in another order may.
bool is_rounding(double a, double b) {
  constexpr double kMost = 1e-3;
  return std::isnormal(a) && std::isnormal(b) &&
         std::abs(a - b) <= kMost * std::max(std::abs(a), std::abs(b));
}

bool is_rounding(uint64_t a, uint64_t b, uint32_t size_bytes) {
  if (size_bytes == sizeof(double)) {
    return is_rounding(std::bit_cast<double>(a), std::bit_cast<double>(b));
  }
  const auto number = [](uint64_t bits) {
    return double{std::bit_cast<float>(static_cast<uint32_t>(bits))};
  };
  return size_bytes == sizeof(float) && is_rounding(number(a), number(b));
}

/// One launch in several orders.
class Exploration {
 public:
  Exploration(LaunchRun& run, Executor& executor, Context& context)
      : run_(run), executor_(executor), context_(context), log_(*run.allocations) {}

  void run(const std::function<void()>& run_once) {
    StallRelief* const relief = run_.relief;
    Turn turn(relief);
    Trial usual;
    usual.log = &log_;
    run_.relief = &turn;
    run_.trial = &usual;
    run_once();
    if (!context_.failed()) {
      const char* reason = usual.effect;
      if (log_.is_full()) reason = "write more than a gibibyte";
      if (turn.has_waited()) reason = "wait for other work";
      if (reason == nullptr) reason = try_orders(usual.schedule.steps());
      Findings::instance().note_orders(reason != nullptr ? reason : "");
    }
    run_.relief = relief;
    run_.trial = nullptr;
  }

 private:
  /// Returns why the orders could not be compared; null if they were.
  const char* try_orders(uint64_t steps) {
    log_.keep_result();
    most_steps_ = 1000 * steps + 1'000'000;
    Output dropped;
    std::atomic<uint32_t> assertions{0};
    Output* const output = std::exchange(run_.output, &dropped);
    std::atomic<uint32_t>* const counted = std::exchange(run_.assertions, &assertions);
    std::unique_ptr<LaunchChecks> checks = std::move(run_.checks);
    is_clean_ = checks->invalid().empty();
    const char* reason = nullptr;
    const uint64_t first = config().schedule_seed;
    for (uint64_t i = 0; i < config().explored_orders; ++i) {
      if (!try_order(first + i, &reason)) break;
    }
    run_.checks = std::move(checks);
    run_.assertions = counted;
    run_.output = output;
    log_.restore_result();
    return reason;
  }

  /// Runs the launch in the order of a seed (0: the usual one) on the memory that it found.
  Result<Ending> run_order(Trial& trial, uint64_t seed) {
    constexpr uint16_t kTools =
        simt::check_tool::kSchedule | simt::check_tool::kMemory | simt::check_tool::kInStep;
    log_.restore();
    trial.stores = {};
    trial.old = {};
    if (seed != 0) trial.schedule = Schedule(seed, is_in_step(), most_steps_);
    trial.log = &log_;
    run_.trial = &trial;
    std::fill(std::begin(run_.workspace), std::end(run_.workspace), 0);
    run_.checks = std::make_unique<LaunchChecks>(run_.unit->tools & kTools);
    run_.range.reset(0, run_.block_count, run_.block_count);
    return executor_.run(run_);
  }

  /// Returns false if no other order need be tried.
  bool try_order(uint64_t seed, const char** reason) {
    Trial trial;
    const Result<Ending> ending = run_order(trial, seed);
    if (!ending) {
      *reason = "lack memory";
      return false;
    }
    if (*ending == Ending::stopped) {
      if (trial.schedule.is_over()) {
        report_ending(seed, "no-end", "the kernel does not end", nullptr);
      }
      return false;
    }
    if (*ending == Ending::faulted) {
      const Error error = describe_fault(executor_.fault(), run_, context_.allocations());
      report_ending(seed, "fault", error.message.substr(0, error.message.find("; kernel ")),
                    &executor_.fault());
      return false;
    }
    // Invalid accesses that the usual order has, too, are told by then.
    if (is_clean_) report_checks(run_, context_.allocations(), context_.checks());
    if (trial.effect != nullptr || log_.is_full()) {
      *reason = trial.effect != nullptr ? trial.effect : "write more than a gibibyte";
      return false;
    }
    const auto found = log_.difference();
    if (!found || (found->is_of_sums && config().ignores_sum_order)) return true;
    return confirm(seed, *found, reason);
  }

  /// Runs both orders again, to see which writes differ and that the order alone decides.
  bool confirm(uint64_t seed, const WriteLog::Difference& found, const char** reason) {
    OrderDefect defect;
    defect.seed = seed;
    Trial again, usual;
    again.watched = usual.watched = found.address;
    const Result<Ending> ending = run_order(again, seed);
    const auto same = log_.difference();
    const bool is_same = ending && *ending == Ending::returned && same &&
                         same->address == found.address && same->count == found.count;
    defect.now = again.last;
    const uint32_t size_bytes = again.last.line != 0 ? again.last.element_bytes : 4;
    defect.size_bytes = std::clamp(size_bytes, 1U, 8U);
    defect.address = again.last.line != 0 ? again.last.address : found.address & ~uint64_t{3};
    load(defect.address, defect.size_bytes, &defect.value);
    const Result<Ending> plain = run_order(usual, 0);
    if (!is_same || !plain || log_.difference()) {
      *reason = "read what changes meanwhile, such as the time";
      return false;
    }
    defect.before = usual.last;
    load(defect.address, defect.size_bytes, &defect.usual_value);
    const bool is_of_sums =
        log_.has_float_sums() &&
        (found.is_of_sums || is_rounding(defect.value, defect.usual_value, defect.size_bytes));
    if (is_of_sums && config().ignores_sum_order) return true;
    defect.kind = is_of_sums ? "atomic-order" : "result";
    defect.different_bytes = found.count;
    report_order(defect, run_, context_.allocations(), context_.checks());
    return false;
  }

  void report_ending(uint64_t seed, const char* kind, const std::string& what,
                     const KernelFault* fault) {
    OrderDefect defect;
    defect.seed = seed;
    defect.kind = kind;
    defect.ending = what;
    defect.fault = fault;
    report_order(defect, run_, context_.allocations(), context_.checks());
  }

  LaunchRun& run_;
  Executor& executor_;
  Context& context_;
  WriteLog log_;
  uint64_t most_steps_ = 0;
  bool is_clean_ = false;  // the usual order has no invalid accesses
};

}  // namespace

void run_in_orders(LaunchRun& run, Executor& executor, Context& context,
                   const std::function<void()>& run_once) {
  const HostMemoryNeeded needed;
  if (config().explored_orders != 0) return Exploration(run, executor, context).run(run_once);
  Trial trial;
  trial.schedule = Schedule(config().schedule_seed, is_in_step(), UINT64_MAX);
  run.trial = &trial;
  run_once();
  run.trial = nullptr;
}

}  // namespace km::cpu
