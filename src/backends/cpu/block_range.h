// The blocks (or bytes) of one command that are still to be done, handed out in order.
#pragma once

#include <atomic>
#include <cstdint>

namespace km::cpu {

class BlockRange {
 public:
  void reset(uint64_t begin, uint64_t end, uint64_t chunk) {
    end_ = end;
    chunk_ = chunk;
    next_.store(begin, std::memory_order_relaxed);
  }
  /// The next chunk [*first, *last); false when there is none.
  bool take(uint64_t* first, uint64_t* last) {
    if (next_.load(std::memory_order_relaxed) >= end_) return false;
    uint64_t from = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (from >= end_) return false;
    *first = from;
    *last = end_ - from < chunk_ ? end_ : from + chunk_;
    return true;
  }
  /// Nothing more is handed out.
  void close() { next_.store(end_, std::memory_order_relaxed); }
  bool exhausted() const { return next_.load(std::memory_order_relaxed) >= end_; }

 private:
  std::atomic<uint64_t> next_{0};
  uint64_t end_ = 0;
  uint64_t chunk_ = 1;
};

}  // namespace km::cpu
