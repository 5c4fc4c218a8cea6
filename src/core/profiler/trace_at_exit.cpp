#include "core/profiler/trace_at_exit.h"

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <new>
#include <string>
#include <system_error>

#include "base/env.h"
#include "base/log.h"
#include "base/process/at_exit.h"
#include "core/profiler/profile_counters.h"

namespace km {
namespace {

/// Never destroyed, because the end of the process uses it.
struct Traced {
  std::mutex mutex;
  std::vector<std::shared_ptr<Profiler>> profilers;
  std::shared_ptr<Profiler> compiler;  // created by the first compilation
  std::string path;  // absolute, because the program may change its working directory
  bool is_registered = false;
};

Traced& traced() {
  static auto* const made = new Traced;
  return *made;
}

void print_counters(const std::vector<Profiler::Snapshot>& snapshots) {
  std::vector<Profiler::Row> rows;
  for (const Profiler::Snapshot& profile : snapshots) {
    rows.insert(rows.end(), profile.rows.begin(), profile.rows.end());
  }
  const std::string text = counters_summary(rows);
  if (!text.empty()) {
    std::fputs(text.c_str(), stderr);
    return;
  }
  log(LogLevel::kWarn, "trace",
      "KM_COUNTERS is set, but no kernel was counted: only kernels of CPU devices are, and those "
      "that have ended before the program does");
}

void write_at_exit(int) {
  Traced& all = traced();
  try {
    std::vector<Profiler::Snapshot> snapshots;
    {
      const std::lock_guard lock(all.mutex);
      for (const auto& profiler : all.profilers) snapshots.push_back(profiler->snapshot());
    }
    if (is_counting()) print_counters(snapshots);
    if (!is_tracing()) return;
    const Status written = write_profile(all.path, snapshots);
    if (!written) log(LogLevel::kError, "trace", "%s", written.error().message.c_str());
  } catch (const std::bad_alloc&) {
    log(LogLevel::kError, "trace", "no memory to write %s", all.path.c_str());
  }
}

/// The caller must hold the lock.
void add_profiler(Traced& all, std::shared_ptr<Profiler> profiler) {
  if (!all.is_registered) {
    std::error_code none;
    all.path = std::filesystem::absolute(env(EnvVar::KM_TRACE).value_or(""), none).string();
    all.is_registered = run_at_exit(write_at_exit);
  }
  all.profilers.push_back(std::move(profiler));
}

}  // namespace

bool is_counting() {
  const Result<bool> flag = env_flag(EnvVar::KM_COUNTERS, false);
  return flag && *flag;
}

bool is_tracing() {
  const std::optional<std::string> path = env(EnvVar::KM_TRACE);
  return path && !path->empty();
}

void trace_at_exit(std::shared_ptr<Profiler> profiler) {
  Traced& all = traced();
  const std::lock_guard lock(all.mutex);
  add_profiler(all, std::move(profiler));
}

void trace_compilation(std::string_view name, uint64_t begin_ns) {
  Traced& all = traced();
  const std::lock_guard lock(all.mutex);
  if (all.compiler == nullptr) {
    all.compiler = std::make_shared<Profiler>("CUDA C++ compiler");
    all.compiler->set_on(true);
    add_profiler(all, all.compiler);
  }
  all.compiler->record_compilation(name, begin_ns);
}

}  // namespace km
