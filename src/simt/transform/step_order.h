// Two queries about the steps of a region, which linearisation makes for each step, in logarithmic
// time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace km::simt {

/// The steps at which lanes wait while earlier ones run. Steps are added in their order, each with
/// the step at which the first of its waiting lanes resume.
class WaitingSteps {
 public:
  explicit WaitingSteps(uint32_t steps) : ends_(steps + 1), counts_(steps + 1) {}

  /// Makes `step` the current one; lanes that waited for earlier steps do not wait any more.
  void advance(uint32_t step);
  /// Adds a step; a `next` beyond all steps means that no lanes wait there.
  void add(uint32_t step, uint32_t mask_step, uint32_t next);
  /// True if lanes wait at a step after `step` with a mask other than that of `step`.
  bool some_after(uint32_t step) const;

 private:
  void change(uint32_t step, int32_t by);
  uint32_t count_up_to(uint32_t step) const;

  std::vector<std::vector<uint32_t>> ends_;  // by step: the steps whose waiting lanes resume there
  std::vector<uint32_t> counts_;             // a Fenwick tree by step
  uint32_t total_ = 0;
  std::map<uint32_t, uint32_t> with_mask_;  // by mask: the number of steps after that step
  std::vector<uint32_t> mask_of_;           // by step
};

/// The tests and bodies of steps that control certainly passes on its way to each test: a dominator
/// tree in which a body is below its test. The test of step n has the number 2n, its body 2n + 1.
class WayTree {
 public:
  /// Adds the next step; control reaches its test from `way` (UINT32_MAX for the first step).
  void add_step(uint32_t way);
  uint32_t way_to(uint32_t step) const { return parent_[2 * step]; }
  /// The nearest common ancestor: the last test or body on every path to both.
  uint32_t common(uint32_t a, uint32_t b) const;

 private:
  void add(uint32_t parent);

  std::vector<uint32_t> parent_, depth_;
  std::vector<uint32_t> jump_;  // a further ancestor, to skip levels
};

}  // namespace km::simt
