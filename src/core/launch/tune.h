// Tuning: which of several ways to launch a kernel is the fastest, by measurement, remembered on
// disk.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/launch/launch.h"
#include "core/launch/tune_plan.h"

namespace km {

class Tune final : public Object {
 public:
  Tune(Ref<Device> device, std::string_view source, std::string kernel)
      : device_(std::move(device)), source_(source), kernel_(std::move(kernel)) {}

  /// Options of the compiler, one a line.
  Result<uint32_t> add_candidate(const LaunchShape& shape, std::string_view options);
  /// Null data: zeros.
  Status add_buffer(const void* data, uint64_t size_bytes, bool is_output);
  Status add_scalar(const void* value, uint64_t size_bytes);
  Status set_check(km_tune_check check, double tolerance);
  Status set_budget(uint64_t budget_ns, uint32_t warmup_count);
  Status set_progress(km_tune_callback callback, void* user_data);

  /// The best candidate's number. `problem` empty: nothing is remembered.
  Result<uint32_t> run(std::string_view problem, bool again);
  Result<km_tune_result> result(uint32_t candidate);
  Result<std::string> message(uint32_t candidate);
  /// The candidate's kernel, in any context.
  Result<Ref<Function>> function(uint32_t candidate, Context& context);

 private:
  struct Candidate {
    LaunchShape shape;
    std::vector<std::string> options;
    km_tune_result result{};
    std::string message;
  };
  struct Argument {
    bool is_buffer = false, is_output = false;
    std::vector<std::byte> bytes;
  };
  struct Session;

  Status require_idle();
  Status require_candidate(uint32_t candidate) const;
  std::string key_of(std::string_view problem) const;
  std::optional<uint32_t> remembered(const std::string& key) const;
  void remember(const std::string& key, uint32_t candidate) const;
  Result<uint32_t> measure_all();
  /// Compiles each candidate, launches it once and checks what it leaves.
  Status try_all(TunePlan* plan, std::optional<Session>* session);
  /// Runs `work` in a session, a new one if need be. A candidate for which it fails is left out.
  void attempt(uint32_t candidate, TunePlan* plan, std::optional<Session>* session,
               Status (Tune::*work)(uint32_t candidate, TunePlan* plan, Session& session));
  Status try_one(uint32_t candidate, TunePlan* plan, Session& session);
  Status launch_once(uint32_t candidate, TunePlan* plan, Session& session);
  /// True if no kernel has faulted in the session's context.
  static bool is_usable(const Session& session);
  void note_result(uint32_t candidate, const TunePlan& plan);
  Result<Session> open_session() const;
  Status check_results(Session& session);
  Status upload(Session& session) const;
  Result<Ref<Launch>> launch_of(Session& session, const Candidate& candidate);
  Result<Ref<Function>> load(Context& context, const Candidate& candidate) const;

  const Ref<Device> device_;
  const std::string source_, kernel_;

  std::mutex mutex_;
  bool is_running_ = false;  // under mutex_; what follows does not change while it runs
  std::vector<Candidate> candidates_;
  std::vector<Argument> arguments_;
  km_tune_check check_ = KM_TUNE_CHECK_OFF;
  double tolerance_ = 0;
  uint64_t budget_ns_ = 1000000000;
  uint32_t warmup_count_ = 1;
  km_tune_callback progress_ = nullptr;
  void* progress_data_ = nullptr;
  std::vector<std::vector<std::byte>> expected_;  // what the first candidate left, by output
  std::string expected_of_;                       // which one that was
};

}  // namespace km
