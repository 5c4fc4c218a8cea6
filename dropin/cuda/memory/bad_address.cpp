#include "dropin/cuda/memory/bad_address.h"

#include <algorithm>

#include "base/memory/host_range.h"
#include "base/text.h"
#include "core/context/call_findings.h"
#include "core/memory/slice.h"

namespace km::dropin {
namespace {

constexpr uint64_t kNullBytes = 4096;

bool is_in_allocation(km::Context& core, uint64_t address) {
  uint64_t begin = 0;
  Allocation allocation;
  return find_device_memory(core, address) || Driver::instance().find(address, &begin, &allocation);
}

}  // namespace

void note_bad_range(Context& context, CUdeviceptr address, uint64_t size_bytes, const char* what) {
  const Ref<km::Context> core = context.core();
  if (!core->checks(KM_CHECK_MEMORY)) return;
  const std::string name = std::string("the ") + what;
  if (address < kNullBytes) {
    report_bad_call(*core, {"null-pointer", name + " is a null pointer", address, size_bytes});
  } else if (is_in_allocation(*core, address)) {
    report_bad_call(*core, {"out-of-bounds",
                            counted(size_bytes, "byte") + " of " + name +
                                " reach beyond the end of the allocation",
                            address, size_bytes});
  } else if (const std::string freed = core->tracker().freed_at(address); !freed.empty()) {
    report_bad_call(*core, {"use-after-free", name + " is in memory that was freed: " + freed,
                            address, size_bytes});
  } else if (look_at_host_range(reinterpret_cast<const void*>(address), 1).is_mapped) {
    report_bad_call(*core, {"host-pointer", name + " is a pointer of the host, not of the device",
                            address, size_bytes});
  } else {
    report_bad_call(*core,
                    {"illegal-address", name + " lies in no allocation", address, size_bytes});
  }
}

void note_bad_free(Context& context, uint64_t address) {
  const Ref<km::Context> core = context.core();
  if (!core->checks(KM_CHECK_MEMORY)) return;
  const std::string freed = core->tracker().freed_at(address);
  if (!freed.empty()) {
    report_bad_call(*core, {"double-free", "memory is freed twice: " + freed, address});
  } else {
    report_bad_call(*core,
                    {"invalid-free", "an address is freed at which no allocation begins", address});
  }
}

void note_device_as_host(Context& context, uint64_t address, uint64_t size_bytes,
                         const char* what) {
  const Ref<km::Context> core = context.core();
  if (!core->checks(KM_CHECK_MEMORY)) return;
  uint64_t begin = 0;
  Allocation allocation;
  if (!Driver::instance().find(address, &begin, &allocation)) return;
  if (allocation.kind != AllocationKind::kDevice) return;
  report_bad_call(
      *core, {"device-pointer",
              std::string("the ") + what + " is a pointer of the device, not of the host", address,
              size_bytes});
}

}  // namespace km::dropin
