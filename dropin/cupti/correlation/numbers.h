// Small numbers that records have for handles and other words.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace km::cupti {

/// Numbers words in the order in which they are asked for, from 1 on.
class Numbers {
 public:
  uint32_t of(uint64_t word) {
    const std::lock_guard lock(mutex_);
    return numbers_.emplace(word, static_cast<uint32_t>(numbers_.size()) + 1).first->second;
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::map<uint64_t, uint32_t> numbers_;
};

/// The numbers of one kind of words; never destroyed, because threads may make calls during exit.
template <class Kind>
Numbers& numbers_of() {
  union Forever {
    Numbers numbers;
    Forever() : numbers() {}
    ~Forever() {}
  };
  static Forever forever;
  return forever.numbers;
}

}  // namespace km::cupti
