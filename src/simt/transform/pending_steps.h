// Sets of steps with waiting lanes, for linearisation. Equal sets are one list, and sets that
// differ only in their first steps share the rest.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace km::simt {

class PendingSteps {
 public:
  using Set = uint32_t;  // 0: empty
  static constexpr Set kEmpty = 0;

  PendingSteps() : nodes_(1) {}

  uint32_t first(Set set) const { return nodes_[set].step; }
  Set without_first(Set set) const { return nodes_[set].rest; }
  Set with(Set set, uint32_t step);
  Set merged(Set a, Set b);
  /// The number of steps visited so far, over all calls, to bound the work.
  uint64_t work() const { return work_; }

 private:
  struct Node {
    uint32_t step = 0;
    Set rest = kEmpty;
  };

  Set list(uint32_t step, Set rest);
  Set prepended(Set rest);

  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, Set> known_;  // by first step and rest
  std::vector<uint32_t> before_;             // while a set is built: steps before the shared rest
  uint64_t work_ = 0;
};

}  // namespace km::simt
