#include "backends/cpu/check/knowledge.h"

#include <algorithm>

namespace km::cpu {
namespace {

constexpr uint64_t kThreadBits = 16;
constexpr size_t kMostThreads = 4096;  // of which one list has entries

/// The part of an entry's key within its block: 0 for the whole block.
uint64_t index_of(uint64_t who) { return who & ((uint64_t{1} << kThreadBits) - 1); }

}  // namespace

void Knowledge::add(uint64_t who, uint32_t tick) {
  if (tick == 0) return;
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), who,
                                   [](const Entry& each, uint64_t key) { return each.who < key; });
  if (at != entries_.end() && at->who == who) {
    at->tick = std::max(at->tick, tick);
  } else {
    entries_.insert(at, {who, tick});
  }
}

void Knowledge::add_all(const Knowledge* other) {
  if (other == nullptr) return;
  is_coarse_ |= other->is_coarse_;
  std::vector<Entry> all;
  all.reserve(entries_.size() + other->entries_.size());
  std::merge(entries_.begin(), entries_.end(), other->entries_.begin(), other->entries_.end(),
             std::back_inserter(all), [](const Entry& a, const Entry& b) { return a.who < b.who; });
  entries_.clear();
  for (const Entry& each : all) {
    if (!entries_.empty() && entries_.back().who == each.who) {
      entries_.back().tick = std::max(entries_.back().tick, each.tick);
    } else {
      entries_.push_back(each);
    }
  }
}

bool Knowledge::contains(const Knowledge& other) const {
  if (other.is_coarse_ && !is_coarse_) return false;
  Entry whole{UINT64_MAX, 0};  // the last block of which something is known as a whole
  auto at = entries_.begin();
  for (const Entry& each : other.entries_) {
    for (; at != entries_.end() && at->who < each.who; ++at) {
      if (index_of(at->who) == 0) whole = *at;
    }
    if (at != entries_.end() && at->who == each.who && at->tick >= each.tick) continue;
    const bool is_of_whole = whole.who >> kThreadBits == each.who >> kThreadBits &&
                             each.tick <= whole.tick && index_of(each.who) <= kCopies;
    if (!is_of_whole) return false;
  }
  return true;
}

uint32_t Knowledge::tick_of(uint64_t who) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), who,
                                   [](const Entry& each, uint64_t key) { return each.who < key; });
  return at != entries_.end() && at->who == who ? at->tick : 0;
}

bool Knowledge::covers_block(uint32_t block, uint32_t tick) const {
  return tick < tick_of(uint64_t{block} << kThreadBits);
}

bool Knowledge::covers(uint32_t block, uint32_t thread, uint32_t tick) const {
  return covers_block(block, tick) || tick < tick_of(uint64_t{block} << kThreadBits | (thread + 1));
}

bool Knowledge::covers_copy(uint32_t block, uint32_t thread, uint32_t tick) const {
  if (is_coarse_) return covers_block(block, tick);
  return tick < tick_of(uint64_t{block} << kThreadBits | (kCopies + thread + 1));
}

bool Knowledge::covers_any(uint32_t block, uint32_t tick) const {
  const uint64_t first = uint64_t{block} << kThreadBits;
  const auto begin =
      std::lower_bound(entries_.begin(), entries_.end(), first,
                       [](const Entry& each, uint64_t key) { return each.who < key; });
  return std::any_of(begin, entries_.end(), [&](const Entry& each) {
    return each.who >> kThreadBits == block && tick < each.tick;
  });
}

void Knowledge::simplify() {
  uint64_t block = UINT64_MAX;
  uint32_t whole = 0;
  std::erase_if(entries_, [&](const Entry& each) {
    if (each.who >> kThreadBits != block) {
      block = each.who >> kThreadBits;
      whole = 0;
    }
    const uint64_t index = index_of(each.who);
    if (index == 0) whole = each.tick;
    return index != 0 && index <= kCopies && each.tick <= whole;
  });
  if (entries_.size() > kMostThreads) keep_blocks();
}

/// Says of each block what is known of the thread of which most is. That hides races, but lists of
/// all threads of a grid, which each atomic would copy, would take minutes.
void Knowledge::keep_blocks() {
  std::vector<Entry> blocks;
  for (const Entry& each : entries_) {
    const uint64_t block = each.who >> kThreadBits << kThreadBits;
    if (blocks.empty() || blocks.back().who != block) blocks.push_back({block, 0});
    blocks.back().tick = std::max(blocks.back().tick, each.tick);
  }
  entries_ = std::move(blocks);
  is_coarse_ = true;
}

SharedKnowledge joined(const SharedKnowledge& a, const SharedKnowledge& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  // Threads that synchronise again and again know nearly the same: a walk costs less than a copy.
  if (a->contains(*b)) return a;
  if (b->contains(*a)) return b;
  auto all = std::make_shared<Knowledge>(*a);
  all->add_all(b.get());
  all->simplify();
  return all;
}

}  // namespace km::cpu
