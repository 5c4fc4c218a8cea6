// Schedule, the order that a seed gives to the blocks, warps and lanes of a launch.
#pragma once

#include <cstdint>

namespace km::simt {

/// Draws the order in which one thread runs the parts of a launch in mode c. A seed gives the same
/// order to every launch that does the same.
class Schedule {
 public:
  /// The order that code has without a seed, with its steps counted.
  Schedule() = default;
  /// The order of a seed other than 0. If `in_step` is true, lanes at one place run together. The
  /// launch is given up after `most_steps`.
  Schedule(uint64_t seed, bool in_step, uint64_t most_steps);

  bool has_seed() const { return has_seed_; }
  /// Counts the runs of a group of lanes up to the next access to memory that others see.
  void count_step() { ++steps_; }
  uint64_t steps() const { return steps_; }
  /// True if the launch has taken more steps than it may.
  bool is_over() const { return steps_ > most_steps_; }

  /// The block that begins as number `index` of `count`. If blocks may wait for those before them,
  /// it is one near that number.
  uint64_t block_at(uint64_t index, uint64_t count, bool may_wait) const;
  /// The number of blocks that take turns.
  uint32_t resident_blocks() const { return style_.resident_blocks; }
  /// The index of the one of `count` blocks or warps that has the next turn.
  uint32_t pick(uint32_t count);
  /// True if a warp of the block lets this turn pass.
  bool passes(uint32_t warp);
  /// True if a warp stops here for others to run.
  bool interrupts();
  /// True if a store is seen by other threads later.
  bool delays_store();
  /// True if one of the delayed stores is seen now.
  bool makes_store();
  /// True if plain loads may see what memory held before.
  bool has_old_values() const { return style_.old_odds != 0; }
  /// The one of `count` older values that a load sees; `count` if it sees memory's.
  uint32_t pick_old(uint32_t count);
  /// One of the lanes, to run next; 32 if the lanes' own order decides.
  uint32_t pick_lane(uint32_t lanes);
  /// Those of the lanes at the place of `lane` that run with it.
  uint32_t pick_group(uint32_t lane, uint32_t lanes);
  /// A random number below `count`.
  uint32_t draw(uint32_t count);

 private:
  enum class LaneOrder : uint8_t { in_code_order, highest, random, ranked };
  enum class Group : uint8_t { all, one, some };
  /// The way in which a seed is unusual. Chance alone would hardly ever run the last block first.
  struct Style {
    bool is_reversed = false;  // blocks and warps
    LaneOrder lanes = LaneOrder::in_code_order;
    Group group = Group::all;
    uint32_t interrupt_odds = 0;  // one in so many steps; 0: never
    uint32_t resident_blocks = 1;
    uint32_t slow_odds = 0;   // one warp of each block has one turn in so many
    uint32_t delay_odds = 0;  // one store in so many is delayed; 0: none
    uint32_t old_odds = 0;    // one load in so many sees an older value, if there is one; 0: none
  };
  static Style style_of(uint64_t seed);
  uint64_t next();

  Style style_;
  bool has_seed_ = false;
  uint64_t state_ = 0;
  uint64_t steps_ = 0, most_steps_ = UINT64_MAX;
  uint64_t block_factor_ = 0, block_offset_ = 0;
  uint32_t rank_factor_ = 1, rank_offset_ = 0;
};

}  // namespace km::simt
