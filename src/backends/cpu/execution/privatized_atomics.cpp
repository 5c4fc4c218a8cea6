#include "backends/cpu/execution/privatized_atomics.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/fault/runtime_code.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

constexpr uint64_t kMaxBytes = 64 << 10;
/// The number of packets whose direct atomics cost about as much as one scan of the private copy.
constexpr uint64_t kFirstOutside = 16;

void keep_none(simt::BlockState& state, uint64_t outside) {
  state.privatized_begin = simt::kNowhere;
  state.privatized_bytes = 0;
  state.privatize_countdown = outside;
}

/// Adds two elements of 32 bits, or one of 64.
KM_LANE_SECTION void add_word(uint64_t at, uint64_t sums, bool is_wide) {
  if (is_wide) {
    __atomic_fetch_add(reinterpret_cast<uint64_t*>(at), sums, __ATOMIC_RELAXED);
    return;
  }
  auto* to = reinterpret_cast<uint32_t*>(at);
  const auto low = static_cast<uint32_t>(sums), high = static_cast<uint32_t>(sums >> 32);
  if (low != 0) __atomic_fetch_add(to, low, __ATOMIC_RELAXED);
  if (high != 0) __atomic_fetch_add(to + 1, high, __ATOMIC_RELAXED);
}

KM_LANE_SECTION void add_words(uint64_t begin, uint64_t* kept, uint64_t size_bytes, bool is_wide) {
  for (uint64_t i = 0; i < size_bytes / sizeof(uint64_t); ++i) {
    const uint64_t sums = kept[i];
    if (sums == 0) continue;
    kept[i] = 0;
    add_word(begin + i * sizeof(uint64_t), sums, is_wide);
  }
}

}  // namespace

void PrivatizedAtomics::begin(simt::BlockState& state) { keep_none(state, kFirstOutside); }

void PrivatizedAtomics::keep(simt::BlockState& state, AddressRange memory, uint32_t element_bytes) {
  state.privatize_countdown = UINT64_MAX;
  const uint64_t begin = round_up(memory.begin, sizeof(uint64_t));
  const uint64_t skipped = begin - memory.begin;
  const bool fits =
      memory.size_bytes >= skipped + sizeof(uint64_t) && memory.size_bytes <= kMaxBytes;
  if (!fits || state.privatized_bytes != 0) return;
  if (!memory_) memory_ = GuardedRange::make(kMaxBytes);
  if (!memory_) return;
  element_bytes_ = element_bytes;
  state.privatized = memory_.data();
  state.privatized_bytes = (memory.size_bytes - skipped) / sizeof(uint64_t) * sizeof(uint64_t);
  state.privatized_begin = begin;
  KM_ASSERT(state.privatized_bytes <= kMaxBytes && (element_bytes == 4 || element_bytes == 8),
            "privatized sums have no memory, or a size that add_word() does not support");
}

KM_NO_SANITIZE void PrivatizedAtomics::flush(simt::BlockState& state) {
  if (state.privatized_bytes == 0) return;
  add_words(state.privatized_begin, reinterpret_cast<uint64_t*>(state.privatized),
            state.privatized_bytes, element_bytes_ == sizeof(uint64_t));
  keep_none(state, UINT64_MAX);
}

void PrivatizedAtomics::drop(simt::BlockState& state) {
  if (state.privatized_bytes != 0) std::memset(state.privatized, 0, state.privatized_bytes);
  keep_none(state, UINT64_MAX);
}

}  // namespace km::cpu
