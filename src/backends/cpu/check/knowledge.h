// Knowledge, the times up to which accesses of other threads happened before those of one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace km::cpu {

/// Times of threads and of whole blocks. An access at time t is known if the entry's time is
/// greater. Objects are shared and never change once they are published.
class Knowledge {
 public:
  /// Adds that all accesses of the block before `tick` are known.
  void add_block(uint32_t block, uint32_t tick) { add(uint64_t{block} << 16, tick); }
  /// Adds the same of one thread of the block.
  void add_thread(uint32_t block, uint32_t thread, uint32_t tick) {
    add(uint64_t{block} << 16 | (thread + 1), tick);
  }
  /// Adds the same of the asynchronous copies of a thread that complete on mbarrier objects.
  void add_copies(uint32_t block, uint32_t thread, uint32_t tick) {
    add_thread(block, kCopies + thread, tick);
  }
  /// Adds all that `other` knows; null: nothing.
  void add_all(const Knowledge* other);

  /// True if it knows all that `other` knows.
  bool contains(const Knowledge& other) const;

  /// True if the access of a thread at this time is known.
  bool covers(uint32_t block, uint32_t thread, uint32_t tick) const;
  /// True if the thread's asynchronous copy of this time is known to be complete. What is known of
  /// whole blocks says nothing of copies.
  bool covers_copy(uint32_t block, uint32_t thread, uint32_t tick) const;
  /// True if all accesses of the block up to this time are known.
  bool covers_block(uint32_t block, uint32_t tick) const;
  /// True if that is known of any of the block's threads.
  bool covers_any(uint32_t block, uint32_t tick) const;
  /// Removes what is known of threads if as much is known of their blocks.
  void simplify();

 private:
  static constexpr uint32_t kCopies = 1 << 14;  // added to the index of a thread that copies

  /// The block in the high bits; 0 for the whole block or a thread's index plus one below.
  struct Entry {
    uint64_t who;
    uint32_t tick;
  };
  void add(uint64_t who, uint32_t tick);
  void keep_blocks();
  uint32_t tick_of(uint64_t who) const;

  std::vector<Entry> entries_;  // in the order of `who`
  bool is_coarse_ = false;      // only whole blocks are kept
};

using SharedKnowledge = std::shared_ptr<const Knowledge>;

/// All that both know; one of them if the other is null.
SharedKnowledge joined(const SharedKnowledge& a, const SharedKnowledge& b);

}  // namespace km::cpu
