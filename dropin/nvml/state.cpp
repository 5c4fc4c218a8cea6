// Initialisation, shutdown, device handles and error strings.
#include <atomic>
#include <cstring>

#include "dropin/nvml/nvml.h"

namespace km::nvml {
namespace {

std::atomic<int> users{0};
constexpr uint64_t kFirstHandle = 0x5000000000000010;  // never an address, and positive

}  // namespace

bool is_initialized() { return users.load(std::memory_order_relaxed) > 0; }

nvmlDevice_t handle_of(unsigned index) {
  return reinterpret_cast<nvmlDevice_t>(kFirstHandle + 16 * uint64_t{index});
}

const char* NvmlLibrary::name_of(nvmlReturn_t status) noexcept { return nvmlErrorString(status); }

nvmlReturn_t find_device(const Driver& driver, nvmlDevice_t handle, cu::CUdevice* out) {
  int count = 0;
  LIB_CHECK(driver.cuDeviceGetCount(&count));
  const uint64_t place = reinterpret_cast<uint64_t>(handle) - kFirstHandle;
  if (place % 16 != 0 || place / 16 >= static_cast<uint64_t>(count)) {
    return invalid("the handle is not a device");
  }
  return status_of(driver.cuDeviceGet(out, static_cast<int>(place / 16)));
}

nvmlReturn_t give_text(const char* text, char* out, unsigned size_bytes) {
  LIB_REQUIRE(out);
  const size_t length = std::strlen(text);
  if (length >= size_bytes) return NVML_ERROR_INSUFFICIENT_SIZE;
  return store_bytes(out, text, length + 1);
}

extern "C" {

nvmlReturn_t nvmlInitWithFlags(unsigned) {
  return call_before_init([] {
    if (library::driver() == nullptr) return NVML_ERROR_DRIVER_NOT_LOADED;
    users.fetch_add(1);
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlInit() { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlInit_v2() { return nvmlInitWithFlags(0); }

nvmlReturn_t nvmlShutdown() {
  return call_before_init([] {
    int known = users.load();
    while (known > 0) {
      if (users.compare_exchange_weak(known, known - 1)) return NVML_SUCCESS;
    }
    return NVML_ERROR_UNINITIALIZED;
  });
}

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS:
      return "Success";
    case NVML_ERROR_UNINITIALIZED:
      return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
      return "Not Supported";
    case NVML_ERROR_NOT_FOUND:
      return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
      return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
    case NVML_ERROR_MEMORY:
      return "Insufficient Memory";
    default:
      return "Unknown Error";
  }
}

}  // extern "C"

}  // namespace km::nvml
