// Large arrays in huge pages, so that no contestant loses to the page tables.
#pragma once

#include <cstdlib>

#include <sys/mman.h>

#include "common/benchmark.h"

namespace km::bench {

template <class T>
class Pages {
 public:
  explicit Pages(uint64_t count) : count_(count) {
    constexpr uint64_t kHugePage = 2 << 20;
    const uint64_t size = (size_bytes() + kHugePage - 1) / kHugePage * kHugePage;
    data_ = static_cast<T*>(std::aligned_alloc(kHugePage, size));
    if (data_ == nullptr) fail("out of memory");
    madvise(data_, size, MADV_HUGEPAGE);
  }
  /// With `make(i)` for each element.
  template <class Make>
  Pages(uint64_t count, Make make) : Pages(count) {
    for (uint64_t i = 0; i < count; ++i) data_[i] = make(i);
  }
  ~Pages() { std::free(data_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](uint64_t i) { return data_[i]; }
  const T& operator[](uint64_t i) const { return data_[i]; }
  uint64_t count() const { return count_; }
  uint64_t size_bytes() const { return count_ * sizeof(T); }

 private:
  uint64_t count_ = 0;
  T* data_ = nullptr;
};

/// Numbers in [low, high), the same for every contestant.
class RandomFloats {
 public:
  RandomFloats(uint64_t seed, float low, float high)
      : state_(seed * 0x9E3779B97F4A7C15u + 1), low_(low), high_(high) {}
  float operator()(uint64_t) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return low_ + (high_ - low_) * static_cast<float>(state_ >> 40) * 0x1p-24f;
  }

 private:
  uint64_t state_;
  float low_, high_;
};

}  // namespace km::bench
