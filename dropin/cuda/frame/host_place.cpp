#include "dropin/cuda/frame/host_place.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "backend/loader.h"
#include "base/process/dylib.h"

namespace km::dropin {
namespace {

/// Copies by a system call, for which nothing has to be loaded. If a sandbox forbids the call,
/// memcpy() takes its place.
bool copy_by_system(void* to, const void* from, size_t size_bytes) {
  const iovec local = {to, size_bytes};
  const iovec remote = {const_cast<void*>(from), size_bytes};
  const int saved_errno = errno;
  const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  const bool is_refused = copied < 0 && (errno == ENOSYS || errno == EPERM);
  errno = saved_errno;
  if (is_refused) std::memcpy(to, from, size_bytes);
  return is_refused || (copied >= 0 && static_cast<size_t>(copied) == size_bytes);
}

}  // namespace

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
