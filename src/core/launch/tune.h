// Tuning: measures several ways to launch a kernel, selects the fastest and stores the choice on
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

  /// `options` are options of the compiler, one on each line.
  Result<uint32_t> add_candidate(const LaunchShape& shape, std::string_view options);
  /// Null data means zeros.
  Status add_buffer(const void* data, uint64_t size_bytes, bool is_output);
  Status add_scalar(const void* value, uint64_t size_bytes);
  Status set_check(km_tune_check check, double tolerance);
  Status set_budget(uint64_t budget_ns, uint32_t warmup_count);
  Status set_progress(km_tune_callback callback, void* user_data);

  /// Returns the best candidate's index. With an empty `problem`, the choice is not stored.
  Result<uint32_t> run(std::string_view problem, bool again);
  Result<km_tune_result> result(uint32_t candidate);
  Result<std::string> message(uint32_t candidate);
  /// Loads the candidate's kernel into a context, which need not be one of the tuning.
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
  /// Compiles each candidate, launches it once and checks its results.
  Status try_all(TunePlan* plan, std::optional<Session>* session);
  /// Runs `work` in the session, or in a new one if there is none. A candidate for which it fails
  /// is excluded.
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
  bool is_running_ = false;  // guarded by mutex_; the members below do not change while it is true
  std::vector<Candidate> candidates_;
  std::vector<Argument> arguments_;
  km_tune_check check_ = KM_TUNE_CHECK_OFF;
  double tolerance_ = 0;
  uint64_t budget_ns_ = 1000000000;
  uint32_t warmup_count_ = 1;
  km_tune_callback progress_ = nullptr;
  void* progress_data_ = nullptr;
  std::vector<std::vector<std::byte>> expected_;  // the first candidate's results, by output
  std::string expected_of_;                       // the name of that candidate
};

}  // namespace km
