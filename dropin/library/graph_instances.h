// Objects that the operations of one captured call share in each executable graph.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace km::library {

/// A T for each executable graph that has the operations of a captured call, such as the memory
/// between them: executable graphs run at the same time (Work::for_graph).
template <class T>
class GraphInstances {
 public:
  /// The graph's T, which `make()` makes for the first operation that asks. It lives as long as one
  /// of the graph's operations holds it.
  template <class Make>
  std::shared_ptr<T> get(uint64_t graph, Make&& make) {
    const std::lock_guard lock(mutex_);
    std::erase_if(by_graph_, [](const auto& each) { return each.second.expired(); });
    std::weak_ptr<T>& place = by_graph_[graph];
    std::shared_ptr<T> found = place.lock();
    if (found == nullptr) place = found = make();
    return found;
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, std::weak_ptr<T>> by_graph_;
};

}  // namespace km::library
