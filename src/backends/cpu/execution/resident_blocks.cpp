#include "backends/cpu/execution/resident_blocks.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/execution/block_index.h"
#include "backends/cpu/execution/fiber_block.h"
#include "backends/cpu/execution/independent_block.h"
#include "backends/cpu/trials/trial.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

/// Allocates memory for a block; the first block of a cluster has the shared memory of all of them.
bool prepare_block(ResidentBlock& block, uint32_t rank, const LaunchRun& launch,
                   uint32_t warp_count) {
  uint64_t shared_bytes = launch.shared_bytes;
  if (launch.cluster_blocks > 1) {
    shared_bytes = rank == 0 ? uint64_t{launch.cluster_blocks} << launch.record.cluster_bits : 0;
  }
  return block.prepare(*launch.unit, shared_bytes, warp_count);
}

}  // namespace

std::unique_ptr<ResidentBlock> ResidentBlocks::make_block(const CodeUnit& unit) {
  if (unit.independent_entry != nullptr) return std::make_unique<IndependentBlock>();
  return std::make_unique<FiberBlock>(guard_);
}

/// Blocks do not share memory, so each of them is prepared.
bool ResidentBlocks::prepare(const LaunchRun& launch, uint32_t warp_count) {
  Blocks& blocks = blocks_of(*launch.unit);
  bool ready = true;
  for (uint32_t rank = 0; rank < launch.cluster_blocks && ready; ++rank) {
    if (blocks.size() == rank) blocks.push_back(make_block(*launch.unit));
    ready = prepare_block(*blocks[rank], rank, launch, warp_count);
  }
  return ready;
}

void ResidentBlocks::begin(LaunchRun& launch, ReportedStore* store) {
  store_ = store;
  launch_ = &launch;
  running_.clear();
  idle_.clear();
  for (auto& block : blocks_of(*launch_->unit)) idle_.push_back(block.get());
  std::reverse(idle_.begin(), idle_.end());
  idle_clusters_.clear();
  for (auto& cluster : clusters_) idle_clusters_.push_back(cluster.get());
  first_untaken_ = end_untaken_ = 0;
}

/// Prepares `count` blocks at the end of idle_, the first as the last element. Returns false if
/// there is no memory for one.
bool ResidentBlocks::make_ready(uint32_t count, uint32_t warp_count) {
  Blocks& blocks = blocks_of(*launch_->unit);
  while (idle_.size() < count) {
    blocks.push_back(make_block(*launch_->unit));
    idle_.insert(idle_.begin(), blocks.back().get());
  }
  for (uint32_t rank = 0; rank < count; ++rank) {
    if (!prepare_block(**(idle_.rbegin() + rank), rank, *launch_, warp_count)) return false;
  }
  return true;
}

Cluster* ResidentBlocks::new_cluster(uint32_t size) {
  if (idle_clusters_.empty()) {
    clusters_.push_back(std::make_unique<Cluster>());
    idle_clusters_.push_back(clusters_.back().get());
  }
  KM_ASSERT(!idle_.empty(), "a cluster begins without memory");
  Cluster* const cluster = idle_clusters_.back();
  idle_clusters_.pop_back();
  cluster->begin(size, idle_.back()->window(), uint64_t{1} << launch_->record.cluster_bits);
  return cluster;
}

/// It takes at most as many blocks as there is room for, because other threads could not start the
/// rest.
bool ResidentBlocks::start_next(simt::BlockState& state, uint32_t* part) {
  const uint32_t count = launch_->cluster_blocks;
  KM_ASSERT(count != 0 && running_.size() <= kMaxResidentBlocks && first_untaken_ <= end_untaken_,
            "a thread has claimed more blocks than it has room for");
  const uint64_t room = (kMaxResidentBlocks - running_.size()) / count;
  if (room == 0) return false;
  if (first_untaken_ == end_untaken_ &&
      !launch_->take(part, &first_untaken_, &end_untaken_, room)) {
    return false;
  }
  if (!make_ready(count, state.warp_count)) return false;
  KM_ASSERT(idle_.size() >= count, "a block begins without memory");
  Cluster* const cluster = count > 1 ? new_cluster(count) : nullptr;
  const uint32_t* size = launch_->record.block;
  uint64_t index = first_untaken_++;
  simt::Schedule* schedule = nullptr;
  if (launch_->trial != nullptr) [[unlikely]] {
    schedule = &launch_->trial->schedule;
    index = schedule->block_at(index, launch_->block_count, launch_->unit->waits);
  }
  for (uint32_t rank = 0; rank < count; ++rank) {
    ResidentBlock* const block = idle_.back();
    idle_.pop_back();
    running_.push_back(block);
    if (cluster != nullptr) {
      cluster->members.push_back(block);
      set_block_of_cluster(&state, launch_->record, index, rank);
    } else {
      set_block(&state, launch_->record, index);
    }
    block->set_schedule(schedule);
    block->begin(state, size[0] * size[1] * size[2], cluster, rank);
    if (launch_->checks != nullptr) [[unlikely]] {
      block->begin_checks(checked_block(*launch_, state, store_));
    } else {
      block->end_checks();
    }
    if (const uint64_t reserved = launch_->reserved_shared_bytes; reserved != 0) [[unlikely]] {
      memset(block->state()->shared + launch_->shared_bytes - reserved, 0, reserved);
    }
  }
  return true;
}

bool ResidentBlocks::finish(size_t index) {
  KM_ASSERT(index < running_.size(), "a block that does not run ends");
  ResidentBlock* const block = running_[index];
  if (launch_->trial != nullptr) [[unlikely]]
    launch_->trial->stores.make_own(block->checks()->block_number());
  running_.erase(running_.begin() + static_cast<ptrdiff_t>(index));
  Cluster* const cluster = block->cluster();
  if (cluster == nullptr) {
    idle_.push_back(block);
    return true;
  }
  if (!cluster->leave()) return false;
  KM_ASSERT(cluster->members.size() == launch_->cluster_blocks, "a cluster lacks blocks");
  idle_.insert(idle_.end(), cluster->members.rbegin(), cluster->members.rend());
  idle_clusters_.push_back(cluster);
  return true;
}

void ResidentBlocks::mix(simt::Schedule& schedule) {
  if (!schedule.has_seed()) return;
  for (size_t left = running_.size(); left > 1; --left) {
    std::swap(running_[left - 1], running_[schedule.pick(static_cast<uint32_t>(left))]);
  }
}

void ResidentBlocks::abandon() {
  for (auto& block : fiber_blocks_) static_cast<FiberBlock&>(*block).abandon();
}

}  // namespace km::cpu
