#include "run_delay.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace km::fuzz {
namespace {

constexpr uint64_t kNoteEveryNs = 1'000'000'000;

uint64_t delay_of(pid_t process) {
  uint64_t sum_ns = 0;
  std::error_code ended;
  const std::string threads = "/proc/" + std::to_string(process) + "/task";
  std::filesystem::directory_iterator thread(threads, ended);
  for (; !ended && thread != std::filesystem::directory_iterator(); thread.increment(ended)) {
    std::ifstream file(thread->path() / "schedstat");
    uint64_t run_ns = 0, delay_ns = 0;
    if (file >> run_ns >> delay_ns) sum_ns += delay_ns;
  }
  return sum_ns;
}

}  // namespace

void RunDelay::note(uint64_t now_ns) {
  if (!notes_.empty() && now_ns - notes_.back().first < kNoteEveryNs) return;
  notes_.emplace_back(now_ns, delay_of(process_));
}

uint64_t RunDelay::since_ns(uint64_t from_ns) const {
  uint64_t sum_ns = 0;
  for (size_t i = 1; i < notes_.size(); ++i) {
    if (notes_[i].first <= from_ns || notes_[i].second <= notes_[i - 1].second) continue;
    sum_ns += notes_[i].second - notes_[i - 1].second;  // less when threads have ended
  }
  return sum_ns;
}

}  // namespace km::fuzz
