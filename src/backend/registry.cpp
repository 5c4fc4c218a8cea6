#include "backend/registry.h"

#include "backend/loader.h"
#include "base/log.h"

namespace km {
namespace {

Error start(const kmb_backend* found, kmb_backend* out_table) {
  Status usable = check_table(*found, out_table);
  if (!usable) return std::move(usable.error());
  Status ready = initialize_backend(*out_table);
  if (!ready) return std::move(ready.error());
  return {KM_SUCCESS, {}, 0};
}

/// A graphics interface that a device name may ask for, and the reason why no build supports it.
struct UnsupportedBackend {
  const char* name;
  const char* reason;
};
constexpr UnsupportedBackend kUnsupported[] = {
    {"metal",
     "it needs a build for macOS or iOS, which no release has yet; 'kernelmill kernels --emit msl' "
     "writes kernels for Metal"},
    {"webgpu",
     "no driver is written for it: WGSL has 64-bit integers, which the addresses of kernels are, "
     "in "
     "extensions alone; 'kernelmill kernels --emit wgsl' writes kernels for those"},
    {"opengles", "GLSL ES has no 64-bit integers, which the addresses of kernels are"},
    {"webgl2", "WebGL 2 has no compute shaders, so no build on any platform can have it"},
};

/// The reason why no build has a backend of this name; null if the name is unknown.
const char* reason_for_none(const std::string& name) {
  for (const UnsupportedBackend& each : kUnsupported) {
    if (name == each.name) return each.reason;
  }
  return nullptr;
}

}  // namespace

void Registry::add_builtin(const kmb_backend& table) {
  auto added = std::make_unique<Entry>();
  added->name = table.name;
  added->builtin = &table;
  const std::lock_guard lock(mutex_);
  entries_.push_back(std::move(added));
}

void Registry::add_plugin(const std::string& name, bool by_name_only) {
  auto added = std::make_unique<Entry>();
  added->name = name;
  added->by_name_only = by_name_only;
  const std::lock_guard lock(mutex_);
  entries_.push_back(std::move(added));
}

uint32_t Registry::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(entries_.size());
}

std::string Registry::name(uint32_t index) const { return entry(index)->name; }

Registry::Entry* Registry::entry(uint32_t index) const {
  const std::lock_guard lock(mutex_);
  return entries_[index].get();
}

/// Loads and initialises the backend, and stores the outcome in the entry.
void Registry::load(Entry& entry) {
  const kmb_backend* table = entry.builtin;
  if (table == nullptr) {
    Result<const kmb_backend*> loaded = load_plugin(entry.name);
    if (!loaded) {
      entry.failure = std::move(loaded.error());
      // The loader's errors do not distinguish a damaged file from a lack of memory or descriptors,
      // so such an outcome is not final.
      entry.is_final.store(entry.failure.status != KM_ERROR_BACKEND_UNAVAILABLE);
      return;
    }
    table = *loaded;
  }
  entry.failure = start(table, &entry.table);
  entry.is_final.store(entry.failure.status != KM_ERROR_OUT_OF_HOST_MEMORY);
  log(LogLevel::kInfo, "loader", "backend '%s': %s", entry.name.c_str(),
      entry.failure.status == KM_SUCCESS ? "ready" : entry.failure.message.c_str());
}

Result<const kmb_backend*> Registry::get(uint32_t index) {
  Entry* found = entry(index);
  if (!found->is_final.load(std::memory_order_acquire)) {
    const std::lock_guard lock(found->mutex);
    if (!found->is_final.load()) load(*found);
    if (found->failure.status != KM_SUCCESS) return found->failure;
  }
  if (found->failure.status != KM_SUCCESS) return found->failure;
  return static_cast<const kmb_backend*>(&found->table);
}

Result<const kmb_backend*> Registry::get(const std::string& name) {
  for (uint32_t index = 0; index < count(); ++index) {
    if (this->name(index) == name) return get(index);
  }
  if (const char* reason = reason_for_none(name)) {
    return make_error(KM_ERROR_UNSUPPORTED_BACKEND, "backend '%s': %s; this build has: %s",
                      name.c_str(), reason, known_names().c_str());
  }
  return make_error(KM_ERROR_BACKEND_UNAVAILABLE, "there is no backend '%s'; this build has: %s",
                    name.c_str(), known_names().c_str());
}

std::string Registry::known_names() const {
  const std::lock_guard lock(mutex_);
  std::string names;
  for (const std::unique_ptr<Entry>& each : entries_) {
    if (!names.empty()) names += ", ";
    names += each->name;
  }
  return names;
}

}  // namespace km
