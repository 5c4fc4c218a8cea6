#include "dropin/cuda/frame/host_place.h"

#include "backend/loader.h"
#include "base/memory/system_copy.h"
#include "base/process/dylib.h"

namespace km::dropin {

library::CopyHost host_copy_function() {
  static const library::CopyHost function = []() -> library::CopyHost {
    // The plugin is loaded already; this opens it once more for the symbol.
    const Result<Dylib> plugin = Dylib::open(plugin_path("cpu"));
    return plugin ? plugin->function<library::CopyHost>("km_plugin_copy_host") : nullptr;
  }();
  return function;
}

bool copy_host(void* to, const void* from, size_t size_bytes) noexcept {
  const bool is_ready = driver_is_ready.load(std::memory_order_acquire) && !is_forked();
  const library::CopyHost function = is_ready ? host_copy_function() : nullptr;
  return function != nullptr ? function(to, from, size_bytes) != 0
                             : copy_by_system(to, from, size_bytes);
}

}  // namespace km::dropin
