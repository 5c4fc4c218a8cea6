#include "backends/cpu/fault/host_copy.h"

#include "backends/cpu/fault/fault.h"
#include "backends/cpu/threads/futex.h"
#include "base/memory/system_copy.h"

namespace km::cpu {
namespace {

/// True if the handler would receive a fault of this thread.
bool can_catch_faults(uint64_t now) {
  static const bool is_installed = static_cast<bool>(install_fault_handler());
  return is_installed && thread_could_fault(now);
}

}  // namespace
}  // namespace km::cpu

extern "C" uint32_t km_plugin_copy_host(void* destination, const void* source,
                                        uint64_t size_bytes) {
  const uint64_t now = km::cpu::now_ticks();
  km::cpu::look_after_host(now);
  if (!km::cpu::can_catch_faults(now)) {
    return km::copy_by_system(destination, source, size_bytes) ? 1 : 0;
  }
  return static_cast<uint32_t>(km_cpu_host_copy(destination, source, size_bytes));
}
