#include "backends/cpu/order/access_history.h"

#include <algorithm>
#include <map>
#include <set>

namespace km::cpu {
namespace {

bool conflict(Touch a, Touch b) {
  return (writes(a) || writes(b)) && !(is_strong(a) && is_strong(b));
}

/// True if an access after one of another kind makes that one's record needless: whoever is not
/// ordered after it is not ordered after the later one either.
bool replaces(Touch now, Touch before) {
  if (is_strong(now) && !is_strong(before)) return false;
  return writes(now) || !writes(before);
}

}  // namespace

/// The comparison of one origin's accesses with what is known.
class AccessHistory::Comparison {
 public:
  Comparison(const std::shared_ptr<const AccessOrigin>& now, Judge& judge)
      : now_(now), judge_(judge) {}

  void compare(Layers& layers, const PageTouches& page) {
    for (Layer& layer : layers) {
      if (is_ordered(layer.origin)) {
        supersede(layer, page);
      } else {
        find_conflicts(layer, page);
      }
    }
    std::erase_if(layers, [](const Layer& layer) { return layer.bytes.is_empty(); });
  }

  std::vector<StreamConflict> take() {
    std::vector<StreamConflict> all;
    for (auto& [key, conflict] : found_) {
      // Kernels that run at one time may hand each other memory by an atomic and fences.
      const auto& before = std::get<0>(key);
      if (met_.contains(before) && before->has_fences && now_->has_fences) continue;
      all.push_back(std::move(conflict));
    }
    return all;
  }

 private:
  bool is_ordered(const std::shared_ptr<const AccessOrigin>& before) {
    const auto [known, is_new] = ordered_.try_emplace(before.get(), false);
    if (is_new) known->second = judge_.is_ordered(*before, *now_);
    return known->second;
  }

  static void supersede(Layer& layer, const PageTouches& page) {
    for (size_t i = 0; i < kTouches; ++i) {
      if (!page.sets[i].is_empty() && replaces(static_cast<Touch>(i), layer.touch)) {
        layer.bytes.remove(page.sets[i]);
      }
    }
  }

  void find_conflicts(const Layer& layer, const PageTouches& page) {
    for (size_t i = 0; i < kTouches; ++i) {
      const auto touch = static_cast<Touch>(i);
      if (page.sets[i].is_empty()) continue;
      const bool may_meet = is_strong(touch) && is_strong(layer.touch);
      if (!may_meet && !conflict(touch, layer.touch)) continue;
      const ByteSet both = layer.bytes.common(page.sets[i]);
      if (both.is_empty()) continue;
      if (may_meet) {
        met_.insert(layer.origin);
      } else {
        note(layer, touch, page.page * ByteSet::kBytes + both.first(), both.count());
      }
    }
  }

  void note(const Layer& layer, Touch touch, uint64_t address, uint64_t size_bytes) {
    StreamConflict& found = found_[{layer.origin, layer.touch, touch}];
    if (found.size_bytes == 0) {
      found.first = {layer.origin, layer.touch};
      found.second = {now_, touch};
      const bool is_late = layer.origin->operation->number > now_->operation->number;
      if (is_late) std::swap(found.first, found.second);
      found.address = address;
    }
    found.address = std::min(found.address, address);
    found.size_bytes += size_bytes;
  }

  const std::shared_ptr<const AccessOrigin>& now_;
  Judge& judge_;
  std::unordered_map<const AccessOrigin*, bool> ordered_;
  std::set<std::shared_ptr<const AccessOrigin>> met_;
  std::map<std::tuple<std::shared_ptr<const AccessOrigin>, Touch, Touch>, StreamConflict> found_;
};

std::vector<StreamConflict> AccessHistory::add(const std::shared_ptr<const AccessOrigin>& now,
                                               std::span<PageTouches> pages, Judge& judge) {
  Comparison comparison(now, judge);
  for (PageTouches& page : pages) {
    Layers& layers = pages_[page.page];
    comparison.compare(layers, page);
    if (layers.size() > kFewLayers) make_room(layers, judge);
    for (size_t i = 0; i < kTouches; ++i) {
      if (page.sets[i].is_empty()) continue;
      layers.push_back({now, static_cast<Touch>(i), std::move(page.sets[i])});
    }
  }
  return comparison.take();
}

void AccessHistory::make_room(Layers& layers, Judge& judge) {
  std::erase_if(layers, [&](const Layer& layer) { return judge.is_over(*layer.origin); });
  if (layers.size() <= kMostLayers) return;
  layers.erase(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(layers.size() / 2));
}

void AccessHistory::forget(uint64_t address, uint64_t size_bytes) {
  const uint64_t end = address + size_bytes;
  while (address < end) {
    const uint64_t number = address / ByteSet::kBytes, begin = number * ByteSet::kBytes;
    const uint64_t last = std::min<uint64_t>(end, begin + ByteSet::kBytes);
    const auto page = pages_.find(number);
    if (page != pages_.end()) {
      const ByteSet gone = ByteSet::of_run(static_cast<uint32_t>(address - begin),
                                           static_cast<uint32_t>(last - begin));
      for (Layer& layer : page->second) layer.bytes.remove(gone);
      std::erase_if(page->second, [](const Layer& layer) { return layer.bytes.is_empty(); });
      if (page->second.empty()) pages_.erase(page);
    }
    address = last;
  }
}

}  // namespace km::cpu
