// Handles of the libraries' objects: ids, so that stale ones and garbage are errors.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace km::library {

/// Objects by id, safe for any thread. An object lives on while a call uses it.
template <class T>
class HandleMap {
 public:
  /// A new id for the object, which no other kind of object has when the tags differ.
  uint64_t add(std::shared_ptr<T> object, uint64_t tag) {
    const std::lock_guard lock(mutex_);
    const uint64_t id = kFirst + (tag << 40) + (++last_ << 4);
    objects_.emplace(id, std::move(object));
    return id;
  }
  /// Null when the id is no live one.
  std::shared_ptr<T> find(uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(id);
    return found == objects_.end() ? nullptr : found->second;
  }
  /// The object, whose id ends; null when the id is no live one.
  std::shared_ptr<T> remove(uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(id);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  // Never an address, and positive: Python programs keep handles in signed integers.
  static constexpr uint64_t kFirst = uint64_t{1} << 62;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<uint64_t, std::shared_ptr<T>> objects_;
  uint64_t last_ = 0;
};

/// A map that is never destroyed: other threads may make calls while the process exits.
template <class T>
HandleMap<T>& handle_map() {
  union Forever {
    HandleMap<T> map;
    Forever() : map() {}
    ~Forever() {}
  };
  static Forever forever;
  return forever.map;
}

}  // namespace km::library
