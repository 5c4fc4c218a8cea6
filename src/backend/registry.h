// The backends of this build and their state.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "backend/interface.h"
#include "base/result.h"

namespace km {

/// The backends in the order in which "auto" tries them. A backend is loaded at its first use. A
/// load that failed for lack of memory or descriptors is tried again the next time; every other
/// outcome is final for the life of the process.
class Registry {
 public:
  /// Adds a backend that is linked into this library.
  void add_builtin(const kmb_backend& table);
  /// Adds a backend in its own plugin: libkernelmill-<name>.so. A backend `by_name_only` is loaded
  /// for those who ask for it: its devices are not counted among all devices.
  void add_plugin(const std::string& name, bool by_name_only = false);

  uint32_t count() const;
  /// The name of backend `index`, which must be below count().
  std::string name(uint32_t index) const;
  bool is_by_name_only(uint32_t index) const { return entry(index)->by_name_only; }
  /// The loaded and initialised backend, or the reason why it cannot be used.
  Result<const kmb_backend*> get(uint32_t index);
  /// The backend of this name; KM_ERROR_UNSUPPORTED_BACKEND for a known one that no build has,
  /// KM_ERROR_BACKEND_UNAVAILABLE for unknown names.
  Result<const kmb_backend*> get(const std::string& name);

 private:
  struct Entry {
    std::string name;
    const kmb_backend* builtin = nullptr;  // null: a plugin
    bool by_name_only = false;
    std::mutex mutex;  // guards the members below until the outcome is final
    kmb_backend table{};
    Error failure{KM_SUCCESS, {}, 0};
    std::atomic<bool> is_final{false};
  };
  static void load(Entry& entry);
  Entry* entry(uint32_t index) const;
  std::string known_names() const;

  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<Entry>> entries_;
};

/// Adds the backends of this build, in the order in which "auto" tries them. It is defined in
/// src/backends/register.cpp, so that lower layers need not know backends by name.
void register_backends(Registry& registry);

}  // namespace km
