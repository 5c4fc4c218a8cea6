#include "backends/cpu/check/copy_groups.h"

#include <algorithm>

#include "base/assert.h"

namespace km::cpu {
namespace {

/// Programs keep few groups in flight. More than these would make each access a long search.
constexpr size_t kMostCommits = 64, kMostWaits = 16;

}  // namespace

size_t CopyGroups::index_of(uint32_t thread, simt::CopyKind kind) {
  KM_ASSERT(kind == simt::CopyKind::group || kind == simt::CopyKind::bulk_group,
            "a group of copies that do not come in groups");
  return kKinds * thread + (kind == simt::CopyKind::group ? 0 : 1);
}

CopyGroups::Groups& CopyGroups::groups_of(uint32_t thread, simt::CopyKind kind) {
  const size_t index = index_of(thread, kind);
  if (index >= threads_.size()) threads_.resize(kKinds * (size_t{thread} + 1));
  return threads_[index];
}

void CopyGroups::commit(uint32_t thread, simt::CopyKind kind, uint32_t now) {
  std::vector<uint32_t>& commits = groups_of(thread, kind).commits;
  KM_ASSERT(commits.empty() || commits.back() <= now, "a group that ends before the last one");
  if (commits.size() == kMostCommits) commits.erase(commits.begin());
  commits.push_back(now);
}

void CopyGroups::add(Groups& groups, const Wait& wait) {
  std::vector<Wait>& waits = groups.waits;
  if (!waits.empty() && wait.end <= waits.back().end) return;  // nothing new is complete
  if (waits.size() == kMostWaits) {
    groups.forgotten = waits.front().end;
    waits.erase(waits.begin());
  }
  waits.push_back(wait);
}

void CopyGroups::wait(uint32_t thread, simt::CopyKind kind, uint32_t pending, uint32_t now) {
  const size_t index = index_of(thread, kind);
  if (index >= threads_.size()) return;  // no group was ever committed
  const std::vector<uint32_t>& commits = threads_[index].commits;
  if (commits.size() <= pending) return;
  add(threads_[index], {commits[commits.size() - 1 - pending], now});
}

void CopyGroups::wait_all(uint32_t thread, simt::CopyKind kind, uint32_t now) {
  add(groups_of(thread, kind), {now, now});
}

std::optional<uint32_t> CopyGroups::completed(uint32_t thread, simt::CopyKind kind,
                                              uint32_t tick) const {
  const size_t index = index_of(thread, kind);
  if (index >= threads_.size()) return std::nullopt;
  const Groups& groups = threads_[index];
  // The wait was later than the copy, which can only hide races of what came between.
  if (tick < groups.forgotten) return tick;
  const auto at = std::upper_bound(groups.waits.begin(), groups.waits.end(), tick,
                                   [](uint32_t time, const Wait& each) { return time < each.end; });
  if (at == groups.waits.end()) return std::nullopt;
  return at->at;
}

}  // namespace km::cpu
