#include "backends/opengl/device/arena.h"

#include "base/assert.h"
#include "base/integers.h"

namespace km::opengl {
namespace {

constexpr uint64_t kAlignmentBytes = 256;  // as much as CUDA promises

}  // namespace

std::optional<uint64_t> Ranges::take(uint64_t size_bytes) {
  const uint64_t wanted = round_up(size_bytes, kAlignmentBytes);
  if (wanted < size_bytes) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (auto place = free_.begin(); place != free_.end(); ++place) {
    const auto [offset, size] = *place;
    if (size < wanted) continue;
    free_.erase(place);
    if (size > wanted) free_[offset + wanted] = size - wanted;
    taken_[offset] = wanted;
    return offset;
  }
  return std::nullopt;
}

void Ranges::give_back(uint64_t offset_bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = taken_.find(offset_bytes);
  KM_ASSERT(found != taken_.end(), "a range is given back that nobody has");
  uint64_t begin = offset_bytes, size = found->second;
  taken_.erase(found);
  const auto after = free_.find(begin + size);
  if (after != free_.end()) {
    size += after->second;
    free_.erase(after);
  }
  const auto next = free_.upper_bound(begin);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += size;
      return;
    }
  }
  free_[begin] = size;
}

}  // namespace km::opengl
