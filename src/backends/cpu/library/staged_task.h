// Tasks of several stages, each of which needs the results of the one before.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "backends/cpu/command/task.h"

namespace km::cpu {

/// The pieces of a stage may run concurrently, and begin when all pieces of the stage before have
/// ended. Threads take pieces in the order of the stages, so that those that a thread waits for are
/// all running. One run ends before the next begins, as is so for commands of streams and graphs.
class StagedTask : public Task {
 public:
  uint64_t pieces() const final { return begins_.back(); }
  Status run(uint64_t piece) const final;
  void abandon() const final;

 protected:
  /// `pieces` has the number for each stage, which are not 0.
  explicit StagedTask(const std::vector<uint64_t>& pieces);
  /// Runs one piece of a stage.
  virtual Status run_stage(uint32_t stage, uint64_t piece) const = 0;

 private:
  void wait_for(uint64_t pieces) const;

  std::vector<uint64_t> begins_;  // the pieces before each stage, and those of all
  mutable std::atomic<uint64_t> taken_{0};
  mutable std::atomic<uint64_t> ended_{0};
  mutable std::atomic<bool> is_abandoned_{false};  // a piece failed: its context is lost
};

}  // namespace km::cpu
