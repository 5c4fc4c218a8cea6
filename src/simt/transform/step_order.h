// Two questions about the steps of a region that linearisation asks for each of them, answered in
// logarithmic time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace km::simt {

/// Steps at which lanes wait while earlier ones run: steps are added in their order, each
/// with the one at which the first of its waiting lanes go on.
class WaitingSteps {
 public:
  explicit WaitingSteps(uint32_t steps) : ends_(steps + 1), counts_(steps + 1) {}

  /// `step` is the current one: lanes that wait for earlier ones wait no more.
  void advance(uint32_t step);
  /// `next` beyond all steps: no lanes wait there.
  void add(uint32_t step, uint32_t mask_step, uint32_t next);
  /// Lanes wait at a step after `step` with another mask than that of `step`.
  bool some_after(uint32_t step) const;

 private:
  void change(uint32_t step, int32_t by);
  uint32_t count_up_to(uint32_t step) const;

  std::vector<std::vector<uint32_t>> ends_;  // by step: those whose lanes go on there
  std::vector<uint32_t> counts_;             // a Fenwick tree by step
  uint32_t total_ = 0;
  std::map<uint32_t, uint32_t> with_mask_;  // by mask: the number of steps after that step
  std::vector<uint32_t> mask_of_;           // by step
};

/// The tests and bodies of steps that control comes through for certain on its way to each test: a
/// tree, in which a body lies below its test. The test of a step has twice the step's number, the
/// body one more.
class WayTree {
 public:
  /// The next step, to whose test control comes from `way`; UINT32_MAX for the first.
  void add_step(uint32_t way);
  uint32_t way_to(uint32_t step) const { return parent_[2 * step]; }
  /// The nearest that is on the way to both.
  uint32_t common(uint32_t a, uint32_t b) const;

 private:
  void add(uint32_t parent);

  std::vector<uint32_t> parent_, depth_;
  std::vector<uint32_t> jump_;  // an ancestor further up
};

}  // namespace km::simt
