// km_limits limits|failures COUNT: processes that run out of something in the middle of their work.
// Each has to end its work, with right results, or to get a status with a reason; and when there is
// enough of everything again, the same process has to do all of its work.
//
// limits: of address space, data, files, locked memory and stacks (setrlimit), COUNT values of
// each. failures: a call of the system that fails, once or for ever: COUNT places where it does so.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>

#include "failing_calls.h"
#include "work.h"

namespace km::limits_test {
namespace {

constexpr unsigned kLimitS = 60;

// How a process ends.
enum Verdict { kAllDone = 0, kStatus = 1, kWrong = 2, kNoReason = 3, kLost = 4, kNotReached = 5 };
const char* const kVerdicts[] = {"all done",         "a status",   "a wrong result",
                                 "no text or blame", "lost since", "not reached"};

/// What a call may say that ran out of something.
bool is_reason(const Outcome& outcome) {
  switch (outcome.status) {
    case KM_ERROR_OUT_OF_HOST_MEMORY:
    case KM_ERROR_OUT_OF_DEVICE_MEMORY:
    case KM_ERROR_BACKEND_UNAVAILABLE:
    case KM_ERROR_IO:
      return true;
    default:
      return false;
  }
}

Verdict judge(const Outcome& outcome) {
  if (outcome.is_wrong) return kWrong;
  if (outcome.status == KM_SUCCESS) return kAllDone;
  // Without memory there is no text.
  if (outcome.status == KM_ERROR_OUT_OF_HOST_MEMORY) return kStatus;
  return is_reason(outcome) && !outcome.message.empty() ? kStatus : kNoReason;
}

void say(const Outcome& outcome) {
  if (outcome.status == KM_SUCCESS) return;
  const char* name = "?";
  km_status_name(outcome.status, &name);
  std::printf("    %s: %s\n", name, outcome.message.c_str());
}

/// Once more, with enough of everything.
Verdict check_again(Verdict before, const Outcome& outcome) {
  const Outcome again = work();
  const bool is_bad = again.is_wrong || again.status != KM_SUCCESS;
  if (is_bad || before >= kWrong) {
    say(outcome);
    say(again);
  }
  return is_bad && before < kWrong ? kLost : before;
}

struct Limit {
  const char* name;
  int resource;
  uint64_t least, most;  // of the values that are tried
};

uint64_t address_space_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages;
  return pages * 4096;
}

/// Of a limit's values from the least to the most, a place between the two.
Verdict under_limit(const Limit& limit, double place) {
  rlimit before = {};
  const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
  getrlimit(resource, &before);
  rlimit now = before;
  now.rlim_cur = limit.least + static_cast<uint64_t>(place * double(limit.most - limit.least));
  if (limit.resource == RLIMIT_AS) now.rlim_cur += address_space_bytes();
  if (setrlimit(resource, &now) != 0) return kNotReached;
  const Outcome outcome = work();
  setrlimit(resource, &before);
  return check_again(judge(outcome), outcome);
}

struct Failure {
  const char* name;
  SystemCall call;
  bool for_ever;
};

Verdict with_failure(const Failure& failure, int successes) {
  fail_calls(failure.call, successes, failure.for_ever);
  const Outcome outcome = work();
  if (!stop_failing()) return kNotReached;
  return check_again(judge(outcome), outcome);
}

/// Runs `body` in a process of its own; its verdict, or 256 and its signal.
template <class Body>
int in_child(Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) {
    alarm(kLimitS);
    const Verdict verdict = body();
    std::fflush(stdout);
    _exit(verdict);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) std::abort();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/// Counts the ends of the processes of one kind.
class Tally {
 public:
  explicit Tally(const char* name) : name_(name) {}
  void add(int end, double at) {
    ++counts_[end];
    if (end == kAllDone || end == kStatus || end == kNotReached) return;
    is_good_ = false;
    std::printf("  %s at %g: %s\n", name_, at, text_of(end).c_str());
  }
  bool print() const {
    std::printf("%s:", name_);
    for (const auto& [end, count] : counts_) std::printf(" %u %s", count, text_of(end).c_str());
    std::printf("\n");
    return is_good_;
  }

 private:
  static std::string text_of(int end) {
    if (end > 256) return end - 256 == SIGALRM ? "a hang" : "signal " + std::to_string(end - 256);
    const auto index = static_cast<size_t>(end);
    return index < sizeof kVerdicts / sizeof kVerdicts[0] ? kVerdicts[index]
                                                          : "status " + std::to_string(end);
  }

  const char* name_;
  std::map<int, unsigned> counts_;
  bool is_good_ = true;
};

constexpr uint64_t kMiB = 1 << 20;
constexpr Limit kLimits[] = {
    {"address space", RLIMIT_AS, 0, 600 * kMiB},
    {"data", RLIMIT_DATA, kMiB, 300 * kMiB},
    {"files", RLIMIT_NOFILE, 0, 24},
    {"locked memory", RLIMIT_MEMLOCK, 0, kMiB},
    {"stack", RLIMIT_STACK, 16 << 10, 64 * kMiB},
};
constexpr Failure kFailures[] = {
    {"mmap fails once", SystemCall::map, false},
    {"mmap fails for ever", SystemCall::map, true},
    {"mprotect fails once", SystemCall::protect, false},
    {"mprotect fails for ever", SystemCall::protect, true},
    {"pthread_create fails once", SystemCall::start_thread, false},
    {"pthread_create fails for ever", SystemCall::start_thread, true},
    {"open fails once", SystemCall::open_file, false},
    {"open fails for ever", SystemCall::open_file, true},
};

bool try_limits(int count) {
  bool is_good = true;
  for (const Limit& limit : kLimits) {
    Tally tally(limit.name);
    for (int i = 0; i < count; ++i) {
      const double place = count > 1 ? double(i) / (count - 1) : 0;
      tally.add(in_child([&] { return under_limit(limit, place); }), place);
    }
    is_good = tally.print() && is_good;
  }
  return is_good;
}

/// Each place at first, then ever fewer: most calls are made early.
bool try_failures(int count) {
  bool is_good = true;
  for (const Failure& failure : kFailures) {
    Tally tally(failure.name);
    int place = 0;
    for (int i = 0; i < count; ++i) {
      const int end = in_child([&] { return with_failure(failure, place); });
      tally.add(end, place);
      if (end == kNotReached) {
        if (place == 0) is_good = false;  // nobody makes such a call
        break;
      }
      place += 1 + (count < 100 ? i / 3 : 0);
    }
    is_good = tally.print() && is_good;
  }
  return is_good;
}

}  // namespace
}  // namespace km::limits_test

int main(int argc, char** argv) {
  using namespace km::limits_test;
  const int count = argc == 3 ? std::atoi(argv[2]) : 0;
  if (count > 0 && std::strcmp(argv[1], "limits") == 0) return try_limits(count) ? 0 : 1;
  if (count > 0 && std::strcmp(argv[1], "failures") == 0) return try_failures(count) ? 0 : 1;
  std::fprintf(stderr, "usage: %s limits|failures COUNT\n", argv[0]);
  return 2;
}
