#include "backends/cpu/execution/resident_block.h"

#include <atomic>

#include "backends/cpu/check/undefined_memory.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {
namespace {

constexpr uint64_t kWindowBytes = uint64_t{4} << 30;
constexpr uint64_t kSmallestWindowBytes = 16 << 20;

std::atomic<uint64_t> window_bytes{kWindowBytes};

}  // namespace

/// The window is smaller if a limit forbids 4 GiB. Offsets are signed, so half of the window lies
/// below its beginning.
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

bool open_window(GuardedRange& window, uint64_t shared_bytes) {
  if (!window) window = reserve_window();
  return window && window.allow(shared_bytes);
}

namespace {

/// Tells the checker that memory is given back, which may become any other memory.
void forget_content(const GuardedRange& memory) {
  if (!memory || !UndefinedMemory::is_used()) return;
  UndefinedMemory::instance().define(memory.begin(), memory.allowed_bytes());
}

}  // namespace

bool grow_scratch(GuardedRange& scratch, uint64_t needed_bytes, const CodeUnit& unit) {
  if (needed_bytes <= scratch.size_bytes()) return true;
  forget_content(scratch);
  scratch = GuardedRange();
  scratch = GuardedRange::make(round_up(needed_bytes, uint64_t{64} << 10));
  const bool is_dense = needed_bytes >= kHugePageBytes && !unit.has_large_stacks;
  if (scratch && is_dense) scratch.use_huge_pages();
  return static_cast<bool>(scratch);
}

ResidentBlock::~ResidentBlock() {
  forget_content(window_);
  forget_content(scratch_);
}

bool ResidentBlock::prepare(const CodeUnit& unit, uint64_t shared_bytes, uint32_t warp_count) {
  has_shared_ = shared_bytes != 0;
  if (has_shared_ && !open_window(window_, shared_bytes)) return false;
  if (!grow_scratch(scratch_, unit.scratch_bytes * warp_count, unit)) return false;
  scratch_bytes_ = unit.scratch_bytes;
  return true;
}

bool ResidentBlock::sync_cluster() {
  if (cluster_ == nullptr) return true;
  if (!waits_for_cluster_) {
    if (is_checked_) [[unlikely]] {
      const HostMemoryNeeded needed;
      cluster_->add_known(checks_->clock().all_known());
    }
    cluster_round_ = cluster_->arrive();
  }
  waits_for_cluster_ = !cluster_->is_past(cluster_round_);
  return !waits_for_cluster_;
}

bool ResidentBlock::has_synced_cluster() {
  if (!waits_for_cluster_ || !cluster_->is_past(cluster_round_)) return false;
  waits_for_cluster_ = false;
  return true;
}

void ResidentBlock::begin_checks(const BlockChecks::Block& block) {
  const HostMemoryNeeded needed;  // generated code is on the stack, or soon will be
  if (!checks_) checks_ = std::make_unique<BlockChecks>();
  BlockChecks::Block own = block;
  own.shared.begin = reinterpret_cast<uint64_t>(state_.shared);
  own.scratch = {scratch_.begin(), scratch_.size_bytes()};
  if (cluster_ != nullptr) own.cluster = &cluster_->shadows;
  checks_->begin(own);
  is_checked_ = true;
}

/// Threads of one cluster meet at its barrier, which is open for all blocks when it opens for one.
void ResidentBlock::open_checked(uint32_t barrier, uint32_t expected) {
  const HostMemoryNeeded needed;  // generated code is on the stack, through which nothing is thrown
  checks_->clock().open(barrier, expected == 0 || expected >= thread_count_);
  checks_->barriers().open(barrier);
  if (barrier == simt::kClusterBarrier && cluster_ != nullptr) {
    checks_->clock().learn(cluster_->known());
  }
}

void ResidentBlock::begin(const simt::BlockState& state, uint32_t thread_count, Cluster* cluster,
                          uint32_t rank) {
  KM_ASSERT(thread_count != 0 && thread_count <= kMaxWarps * simt::kWarpLanes,
            "a block has no threads, or more than it may have");
  KM_ASSERT(cluster == nullptr || rank < cluster->members.size(),
            "a block begins before it is a member of its cluster");
  state_ = state;
  cluster_ = cluster;
  waits_for_cluster_ = false;
  tensor_storage_.begin();
  if (cluster != nullptr) {
    state_.shared = cluster->shared_of(rank);
  } else if (has_shared_) {
    state_.shared = window_.data();
  }
  state_.scratch = scratch_.data();
  thread_count_ = thread_count;
  start();
}

}  // namespace km::cpu
