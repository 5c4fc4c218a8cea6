// Launch attributes of streams and kernel nodes: hints that are stored so that queries return them.
#pragma once

#include <map>
#include <mutex>

#include "dropin/cuda/frame/call.h"

namespace km::dropin {

class AttributeSet {
 public:
  /// Returns false if the attribute was never set.
  bool get(CUlaunchAttributeID id, CUlaunchAttributeValue* out) const {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(id);
    if (found == values_.end()) return false;
    *out = found->second;
    return true;
  }
  void set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
    const std::lock_guard lock(mutex_);
    values_[id] = value;
  }
  void copy_from(const AttributeSet& other) {
    if (&other == this) return;
    const std::scoped_lock lock(mutex_, other.mutex_);
    values_ = other.values_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<CUlaunchAttributeID, CUlaunchAttributeValue> values_;
};

}  // namespace km::dropin
