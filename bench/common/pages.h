// Large arrays in huge pages, so that no contestant loses to the page tables.
#pragma once

#include <cstdlib>

#include <sys/mman.h>

#include "common/benchmark.h"

namespace km::bench {

template <class T>
class Pages {
 public:
  explicit Pages(uint64_t count) {
    constexpr uint64_t kHugePage = 2 << 20;
    const uint64_t size = (count * sizeof(T) + kHugePage - 1) / kHugePage * kHugePage;
    data_ = static_cast<T*>(std::aligned_alloc(kHugePage, size));
    if (data_ == nullptr) fail("out of memory");
    madvise(data_, size, MADV_HUGEPAGE);
  }
  ~Pages() { std::free(data_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  T* data() { return data_; }
  T& operator[](uint64_t i) { return data_[i]; }

 private:
  T* data_ = nullptr;
};

}  // namespace km::bench
