#include "comm/operation/exchange.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/assert.h"
#include "base/process/processors.h"
#include "comm/operation/reduce.h"

namespace km::comm {
namespace {

constexpr uint64_t kPartBytes = 256 << 10;  // a multiple of each type's size
constexpr uint64_t kSwapBytes = 4096;

const uint8_t* bytes(const void* buffer, uint64_t offset) {
  return static_cast<const uint8_t*>(buffer) + offset;
}
uint8_t* bytes(void* buffer, uint64_t offset) { return static_cast<uint8_t*>(buffer) + offset; }

/// Copies unless the operation is in place.
void copy(void* to, const void* from, uint64_t size_bytes) {
  if (to != from) std::memmove(to, from, size_bytes);
}

}  // namespace

uint64_t written_bytes(const Signature& call, uint64_t ranks) noexcept {
  switch (call.kind) {
    case Kind::kAllReduce:
    case Kind::kBroadcast:
    case Kind::kReduceScatter:
    case Kind::kGather:
    case Kind::kScatter:
      return call.block_bytes() * ranks;
    case Kind::kAllGather:
    case Kind::kAllToAll:
      return call.block_bytes() * ranks * ranks;
    case Kind::kReduce:
    case Kind::kSend:
    case Kind::kReceive:
      return call.block_bytes();
  }
  return 0;
}

bool bypasses_caches(const Signature& call, uint64_t ranks) {
  // Inputs take as much as results, and what computes beside the operation keeps half.
  constexpr uint64_t kShare = 4;
  static const Result<uint64_t> cache_bytes = cache_limit_bytes();
  return cache_bytes && written_bytes(call, ranks) > *cache_bytes / kShare;
}

/// The pieces of memory of one block's size that are written independently: pairs of ranks for an
/// all-to-all, whose buffers may be the same.
uint64_t Exchange::blocks() const noexcept {
  switch (call().kind) {
    case Kind::kAllGather:
    case Kind::kReduceScatter:
    case Kind::kGather:
    case Kind::kScatter:
      return ranks_.size();
    case Kind::kAllToAll:
      return ranks_.size() * ranks_.size();
    default:
      return 1;
  }
}

uint64_t Exchange::parts() const noexcept {
  return blocks() * ((call().block_bytes() + kPartBytes - 1) / kPartBytes);
}

Exchange::Range Exchange::range_of(uint64_t part) const noexcept {
  const uint64_t size = call().block_bytes(), of_block = (size + kPartBytes - 1) / kPartBytes;
  const uint64_t first = part % of_block * kPartBytes;
  return {part / of_block, first, std::min(kPartBytes, size - first)};
}

void Exchange::run(uint64_t part) const {
  KM_ASSERT(part < parts(), "an exchange has no such part");
  const Range range = range_of(part);
  if (has_reduction(call().kind)) return reduce_range(range);
  copy_range(range);
}

void Exchange::reduce_range(const Range& range) const {
  std::vector<Source> sources;
  std::vector<Destination> destinations;
  const bool bypasses = bypasses_caches(call(), ranks_.size());
  // Buffers of a reduce-scatter's inputs hold a block for each rank.
  const uint64_t offset = range.block * call().block_bytes();
  sources.reserve(ranks_.size());
  for (const Operation& each : ranks_) {
    sources.push_back({bytes(each.send, offset), each.scalar_place()});
  }
  switch (call().kind) {
    case Kind::kAllReduce:
      for (const Operation& each : ranks_) destinations.push_back({each.receive, bypasses});
      break;
    case Kind::kReduce:
      destinations.push_back({ranks_[static_cast<size_t>(call().root)].receive, bypasses});
      break;
    default:
      destinations.push_back({ranks_[range.block].receive, bypasses});
  }
  const uint64_t size = size_bytes(call().type);
  reduce(call().type, call().reduction, sources, destinations, range.first_byte / size,
         range.size_bytes / size);
}

/// Exchanges the blocks of two ranks piece by piece, since the buffers of either may be the same.
void Exchange::swap_range(uint64_t first_rank, uint64_t second_rank, const Range& range) const {
  const uint64_t block = call().block_bytes();
  const Operation &a = ranks_[first_rank], &b = ranks_[second_rank];
  uint8_t of_a[kSwapBytes], of_b[kSwapBytes];
  for (uint64_t done = 0; done < range.size_bytes; done += kSwapBytes) {
    const uint64_t size = std::min(kSwapBytes, range.size_bytes - done);
    const uint64_t in_a = second_rank * block + range.first_byte + done;
    const uint64_t in_b = first_rank * block + range.first_byte + done;
    std::memcpy(of_a, bytes(a.send, in_a), size);
    std::memcpy(of_b, bytes(b.send, in_b), size);
    std::memcpy(bytes(b.receive, in_b), of_a, size);
    std::memcpy(bytes(a.receive, in_a), of_b, size);
  }
}

void Exchange::copy_range(const Range& range) const {
  const uint64_t block = call().block_bytes(), number = range.block;
  const uint64_t offset = number * block + range.first_byte;
  const Operation& root = ranks_[has_root(call().kind) ? static_cast<size_t>(call().root) : 0];
  switch (call().kind) {
    case Kind::kBroadcast:
      for (const Operation& each : ranks_) {
        copy(bytes(each.receive, offset), bytes(root.send, offset), range.size_bytes);
      }
      return;
    case Kind::kAllGather:
      for (const Operation& each : ranks_) {
        copy(bytes(each.receive, offset), bytes(ranks_[number].send, range.first_byte),
             range.size_bytes);
      }
      return;
    case Kind::kGather:
      return copy(bytes(root.receive, offset), bytes(ranks_[number].send, range.first_byte),
                  range.size_bytes);
    case Kind::kScatter:
      return copy(bytes(ranks_[number].receive, range.first_byte), bytes(root.send, offset),
                  range.size_bytes);
    case Kind::kAllToAll: {
      const uint64_t first = number / ranks_.size(), second = number % ranks_.size();
      if (first < second) return swap_range(first, second, range);
      if (first > second) return;
      const uint64_t own = first * block + range.first_byte;
      return copy(bytes(ranks_[first].receive, own), bytes(ranks_[first].send, own),
                  range.size_bytes);
    }
    default:
      KM_ASSERT(false, "an exchange without reduction is not in the list");
  }
}

}  // namespace km::comm
