#include "backends/cpu/resident_block.h"

#include <atomic>

#include "base/log.h"

namespace km::cpu {
namespace {

constexpr uint64_t kWindowBytes = uint64_t{4} << 30;
constexpr uint64_t kSmallestWindowBytes = 16 << 20;

std::atomic<uint64_t> window_bytes{kWindowBytes};

}  // namespace

/// Smaller where a limit forbids 4 GiB. Offsets are signed: half of the window lies below its
/// beginning.
GuardedRange reserve_window() {
  for (uint64_t size = window_bytes.load(); size >= kSmallestWindowBytes; size /= 4) {
    GuardedRange range = GuardedRange::reserve(size / 2, size / 2);
    if (!range) continue;
    if (window_bytes.exchange(size) != size) {
      log(LogLevel::kInfo, "cpu",
          "address space is limited: shared memory windows are %llu MiB instead of 4 GiB, so "
          "wild shared memory addresses may not fault",
          static_cast<unsigned long long>(size >> 20));
    }
    return range;
  }
  return {};
}

bool ResidentBlock::prepare(const CodeUnit& unit, uint64_t shared_bytes, uint32_t warp_count) {
  has_shared_ = shared_bytes != 0;
  if (has_shared_) {
    const uint64_t wanted = round_up(shared_bytes, kPageBytes);
    if (!window_) window_ = reserve_window();
    if (!window_ || (allowed_bytes_ != wanted && !window_.allow(wanted))) return false;
    allowed_bytes_ = wanted;
  }
  const uint64_t needed = unit.scratch_bytes * warp_count;
  if (needed > scratch_.size_bytes()) {
    scratch_ = GuardedRange();
    scratch_ = GuardedRange::make(round_up(needed, uint64_t{64} << 10));
    if (!scratch_) return false;
    if (needed >= kHugePageBytes) scratch_.use_huge_pages();
  }
  scratch_bytes_ = unit.scratch_bytes;
  return true;
}

void ResidentBlock::begin(const simt::BlockState& state, uint32_t thread_count) {
  state_ = state;
  if (has_shared_) state_.shared = window_.data();
  state_.scratch = scratch_.data();
  thread_count_ = thread_count;
  start();
}

}  // namespace km::cpu
