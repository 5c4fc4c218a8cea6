// The decisions about a kernel variant's code: mode, lanes, regions, order of steps.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/analysis/control/convergence.h"
#include "simt/analysis/shape.h"
#include "simt/engine.h"
#include "simt/kernel/layout.h"
#include "simt/transform/linearize.h"
#include "simt/transform/regions.h"

namespace km::simt {

/// The mode, packet size and regions of one kernel variant, and the analyses behind them.
/// `choose_plan()` makes it; CodePlan has the decisions that follow from it.
struct Plan {
  const std::vector<uint8_t>* spin_loop = nullptr;  // Classification::spin_loop
  const Kernel* kernel = nullptr;
  const Shapes* shapes = nullptr;
  const MemoryLayout* layout = nullptr;
  // Maps a module symbol to a Program variable.
  const std::vector<uint32_t>* variable_of_symbol = nullptr;
  const std::vector<Param>* params = nullptr;
  Variant variant;
  Mode mode = Mode::run_to_completion;
  bool waits = false;  // modes a and b, and scheduled code: the kernel has spin loops
  uint32_t lanes = kWarpLanes;
  uint32_t packets = 1;             // maximum number per block
  bool splits_at_barriers = false;  // barriers end regions
  Regions regions;
  std::vector<LinearPlan> linear;  // by region

  /// Mode c: each lane has its own position in the code.
  bool has_independent_threads() const { return mode == Mode::independent_threads; }
  /// True if barriers divide the kernel into regions that run one after the other.
  bool has_phases() const { return mode == Mode::run_to_completion && regions.list.size() > 1; }
  /// The machine that the code is made for.
  const Machine& machine() const { return variant.machine; }
  /// True if the kernel has a loop that waits for other threads.
  bool has_spin_loop() const;
  /// True if the block lies in a loop that waits for other threads.
  bool is_in_spin_loop(BlockId block) const;
  /// True if the edge leads back to the header of a loop that waits for other threads. Both blocks
  /// must be in the region.
  bool is_waiting_edge(uint32_t region, BlockId from, BlockId to) const;
};

}  // namespace km::simt
