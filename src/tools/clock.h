#pragma once

#include <chrono>

namespace km::tools {

class Stopwatch {
 public:
  double elapsed_ms() const {
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start_;
    return elapsed.count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace km::tools
