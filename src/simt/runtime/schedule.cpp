#include "simt/runtime/schedule.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

#include "base/assert.h"
#include "base/split_mix.h"
#include "simt/abi.h"

namespace km::simt {
namespace {

/// Blocks that may wait for each other begin near their place, so that all of those before one can
/// be resident with it.
constexpr uint64_t kWaitingBlocks = 64;
constexpr uint32_t kRankOdds = 256;

/// A number with no divisor in common with `count`, so that its multiples reach every index.
uint64_t coprime(uint64_t wanted, uint64_t count) {
  uint64_t factor = wanted % count;
  while (std::gcd(factor, count) != 1) factor = factor + 1 < count ? factor + 1 : 1;
  return factor;
}

}  // namespace

Schedule::Style Schedule::style_of(uint64_t seed) {
  constexpr Style kStyles[] = {
      {true, LaneOrder::highest, Group::one, 0, 1, 0, 0, 0},
      {false, LaneOrder::random, Group::some, 4, 8, 0, 2, 0},
      {true, LaneOrder::in_code_order, Group::all, 0, 1, 0, 0, 2},
      {false, LaneOrder::in_code_order, Group::all, 2, 256, 0, 1, 0},
      {false, LaneOrder::ranked, Group::one, 64, 2, 0, 4, 0},
      {false, LaneOrder::random, Group::one, 4, 8, 0, 0, 2},
      {false, LaneOrder::random, Group::some, 16, 256, 0, 2, 0},
      {false, LaneOrder::ranked, Group::some, 8, 4, 64, 1, 0},
  };
  return kStyles[(seed - 1) % std::size(kStyles)];
}

Schedule::Schedule(uint64_t seed, bool in_step, uint64_t most_steps)
    : style_(style_of(seed)), has_seed_(true), state_(seed), most_steps_(most_steps) {
  KM_ASSERT(seed != 0, "an order is asked for by the seed that means none");
  if (in_step) {
    style_.lanes = LaneOrder::in_code_order;
    style_.group = Group::all;
  }
  block_factor_ = next();
  block_offset_ = next();
}

uint64_t Schedule::next() { return split_mix(&state_); }

uint32_t Schedule::draw(uint32_t count) { return static_cast<uint32_t>((next() >> 32) % count); }

uint64_t Schedule::block_at(uint64_t index, uint64_t count, bool may_wait) const {
  KM_ASSERT(index < count, "a block begins that the launch does not have");
  if (!has_seed_) return index;
  const uint64_t first = may_wait ? index / kWaitingBlocks * kWaitingBlocks : 0;
  const uint64_t size = may_wait ? std::min(kWaitingBlocks, count - first) : count;
  const uint64_t at = index - first;
  if (style_.is_reversed || size < 3) return first + size - 1 - at;
  using Wide = unsigned __int128;
  const Wide product = Wide{coprime(block_factor_, size)} * at + block_offset_;
  return first + static_cast<uint64_t>(product % size);
}

uint32_t Schedule::pick(uint32_t count) {
  if (!has_seed_) return 0;
  return style_.is_reversed ? count - 1 : draw(count);
}

bool Schedule::passes(uint32_t warp) {
  constexpr uint32_t kSlowWarps = 4;
  if (style_.slow_odds == 0 || warp % kSlowWarps != block_factor_ % kSlowWarps) return false;
  return draw(style_.slow_odds) != 0;
}

bool Schedule::interrupts() {
  return style_.interrupt_odds != 0 && draw(style_.interrupt_odds) == 0;
}

bool Schedule::delays_store() { return style_.delay_odds != 0 && draw(style_.delay_odds) == 0; }

bool Schedule::makes_store() {
  constexpr uint32_t kSoon = 8, kLate = 512;
  return draw(style_.delay_odds == 1 ? kLate : kSoon) == 0;
}

uint32_t Schedule::pick_old(uint32_t count) {
  return draw(style_.old_odds) == 0 ? draw(count) : count;
}

uint32_t Schedule::pick_lane(uint32_t lanes) {
  KM_ASSERT(lanes != 0, "a lane is picked of none");
  switch (style_.lanes) {
    case LaneOrder::in_code_order:
      return kWarpLanes;
    case LaneOrder::highest:
      return static_cast<uint32_t>(std::bit_width(lanes)) - 1;
    case LaneOrder::random: {
      auto skipped = draw(static_cast<uint32_t>(std::popcount(lanes)));
      for (; skipped != 0; --skipped) lanes &= lanes - 1;
      return static_cast<uint32_t>(std::countr_zero(lanes));
    }
    case LaneOrder::ranked:
      break;
  }
  if (draw(kRankOdds) == 0) {
    rank_factor_ = draw(kWarpLanes) | 1;
    rank_offset_ = draw(kWarpLanes);
  }
  uint32_t best = 0, best_rank = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t rank = 1 + (lane * rank_factor_ + rank_offset_) % kWarpLanes;
    if (rank > best_rank) best = lane;
    best_rank = std::max(best_rank, rank);
  }
  return best;
}

uint32_t Schedule::pick_group(uint32_t lane, uint32_t lanes) {
  const uint32_t own = uint32_t{1} << lane;
  if (style_.group == Group::one) return own;
  if (style_.group == Group::all) return lanes;
  return (lanes & static_cast<uint32_t>(next() >> 32)) | own;
}

}  // namespace km::simt
