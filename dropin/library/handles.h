// Handles of the libraries' objects: ids, so that stale ones and garbage are errors.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace km::library {

/// The kinds of objects with ids, over all libraries: an id of one is none of another's.
enum class HandleKind : uint8_t {
  kCublas = 1,
  kCublasLt = 2,
  kCurand = 7,
  kCublasXt = 8,
  kMatrixLayout = 16,
  kMatmulDescriptor = 17,
  kTransformDescriptor = 18,
  kPreference = 19,
  kEmulationDescriptor = 20
};

// An id is never an address, and positive: Python programs keep handles in signed integers. Its
// kind lies above what tells objects of the kind apart.
constexpr uint64_t kFirstHandle = uint64_t{1} << 62;
constexpr int kHandleKindBit = 40;

/// The number for ids of a kind from a library; those of CUDA 12 and 13 may be in one process.
constexpr uint64_t handle_tag(HandleKind kind, unsigned library_version) {
  return static_cast<uint64_t>(kind) | uint64_t{library_version & 0x3f} << 8;
}
/// True for an id of the kind from any version of its library, whether it lives or not.
constexpr bool is_handle_of(uint64_t id, HandleKind kind) {
  return id >> 62 == 1 && (id >> kHandleKindBit & 0xff) == static_cast<uint64_t>(kind);
}

/// Objects by id, safe for any thread. An object lives on while a call uses it.
template <class T>
class HandleMap {
 public:
  /// A new id for the object, which no other kind of object has when the tags differ.
  uint64_t add(std::shared_ptr<T> object, uint64_t tag) {
    const std::lock_guard lock(mutex_);
    const uint64_t id = kFirstHandle + (tag << kHandleKindBit) + (++last_ << 4);
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
