#include "pool.h"

#include <algorithm>
#include <utility>

namespace km::fuzz {

void Pool::note_ended(Word value) { ended_[ended_count_++ % kEnded] = value; }

std::optional<PoolEntry> Pool::add(const PoolEntry& entry, size_t most, Random& random) {
  const std::lock_guard lock(mutex_);
  if (live_.size() < most) {
    live_.push_back(entry);
    return std::nullopt;
  }
  PoolEntry& place = live_[random.below(live_.size())];
  const PoolEntry gone = place;
  place = entry;
  note_ended(gone.value);
  return gone;
}

PoolEntry Pool::live(Random& random, uint32_t group, Word parent) {
  const uint64_t choice = random.next();
  const std::lock_guard lock(mutex_);
  if (live_.empty()) return {};
  const size_t first = choice % live_.size();
  const auto find = [&](auto&& test) {
    for (size_t i = 0; i < live_.size(); ++i) {
      if (test(live_[(first + i) % live_.size()])) return (first + i) % live_.size();
    }
    return live_.size();
  };
  size_t found = live_.size();
  if (parent != 0) found = find([&](const PoolEntry& entry) { return entry.parent == parent; });
  if (found == live_.size() && group != 0) {
    found = find([&](const PoolEntry& entry) { return entry.group == group; });
  }
  return live_[found == live_.size() ? first : found];
}

Word Pool::ended(Random& random) {
  const uint64_t choice = random.next();
  const std::lock_guard lock(mutex_);
  const size_t count = std::min(ended_count_, kEnded);
  return count == 0 ? 0 : ended_[choice % count];
}

uint32_t Pool::end(Word value) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(live_.begin(), live_.end(),
                                  [&](const PoolEntry& entry) { return entry.value == value; });
  if (found == live_.end()) return 0;
  const uint32_t group = found->group;
  *found = live_.back();
  live_.pop_back();
  note_ended(value);
  return group;
}

uint32_t Pool::group_of(Word value) {
  const std::lock_guard lock(mutex_);
  for (const PoolEntry& entry : live_) {
    if (entry.value == value) return entry.group;
  }
  return 0;
}

size_t Pool::count(uint32_t group) {
  const std::lock_guard lock(mutex_);
  if (group == 0) return live_.size();
  return static_cast<size_t>(std::count_if(
      live_.begin(), live_.end(), [&](const PoolEntry& entry) { return entry.group == group; }));
}

template <class Test>
std::vector<Word> Pool::take_if(Test&& test) {
  std::vector<Word> taken;
  const std::lock_guard lock(mutex_);
  for (size_t i = live_.size(); i-- > 0;) {
    if (!test(live_[i])) continue;
    taken.push_back(live_[i].value);
    note_ended(live_[i].value);
    live_[i] = live_.back();
    live_.pop_back();
  }
  return taken;
}

std::vector<Word> Pool::take_group(uint32_t group) {
  return take_if([&](const PoolEntry& entry) { return entry.group == group; });
}

std::vector<Word> Pool::take_children(Word parent) {
  return take_if([&](const PoolEntry& entry) { return entry.parent == parent; });
}

std::vector<Word> Pool::all() {
  std::vector<Word> found;
  const std::lock_guard lock(mutex_);
  for (const PoolEntry& entry : live_) found.push_back(entry.value);
  return found;
}

std::vector<PoolEntry> Pool::take_all() {
  const std::lock_guard lock(mutex_);
  return std::exchange(live_, {});
}

}  // namespace km::fuzz
