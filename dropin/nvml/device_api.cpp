// Queries of devices and of the system, answered by the driver API.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "dropin/nvml/nvml.h"

namespace km::nvml {

namespace {

nvmlReturn_t attribute(const Driver& driver, cu::CUdevice device, cu::CUdevice_attribute which,
                       int* out) {
  return status_of(driver.cuDeviceGetAttribute(out, which, device));
}

nvmlReturn_t get_uuid(const Driver& driver, cu::CUdevice device, char (&out)[48]) {
  cu::CUuuid id{};
  LIB_CHECK(driver.cuDeviceGetUuid_v2(&id, device));
  char* to = out + std::snprintf(out, sizeof out, "GPU-");
  for (int i = 0; i < 16; ++i) {
    const bool begins_part = i == 4 || i == 6 || i == 8 || i == 10;
    to += std::snprintf(to, 4, "%s%02x", begins_part ? "-" : "",
                        static_cast<unsigned char>(id.bytes[i]));
  }
  return NVML_SUCCESS;
}

/// The share of processor time that this process used since the last call, in per cent.
unsigned utilization_percent() {
  using Clock = std::chrono::steady_clock;
  static std::mutex mutex;
  static const Clock::time_point start = Clock::now();
  static Clock::time_point last_time = start - std::chrono::seconds(1);
  static double last_used = 0;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  const double used = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  const std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - last_time).count();
  const auto processors = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const double part = elapsed > 0 ? (used - last_used) / (elapsed * processors) : 0;
  last_time = now;
  last_used = used;
  return static_cast<unsigned>(std::clamp(part * 100, 0.0, 100.0));
}

unsigned architecture_of(int major, int minor) {
  switch (major) {
    case 5:
      return NVML_DEVICE_ARCH_MAXWELL;
    case 6:
      return NVML_DEVICE_ARCH_PASCAL;
    case 7:
      return minor >= 5 ? NVML_DEVICE_ARCH_TURING : NVML_DEVICE_ARCH_VOLTA;
    case 8:
      return minor == 9 ? NVML_DEVICE_ARCH_ADA : NVML_DEVICE_ARCH_AMPERE;
    case 9:
      return NVML_DEVICE_ARCH_HOPPER;
    case 10:
    case 12:
      return NVML_DEVICE_ARCH_BLACKWELL;
    default:
      return NVML_DEVICE_ARCH_UNKNOWN;
  }
}

/// Finds the first device for which `matches` returns true.
template <class Matches>
nvmlReturn_t find_handle(nvmlDevice_t* out, Matches&& matches,
                         const char* function = __builtin_FUNCTION()) {
  const auto find = [&](const Driver& driver) -> nvmlReturn_t {
    LIB_REQUIRE(out);
    int count = 0;
    LIB_CHECK(driver.cuDeviceGetCount(&count));
    for (int i = 0; i < count; ++i) {
      cu::CUdevice device = 0;
      LIB_CHECK(driver.cuDeviceGet(&device, i));
      if (matches(driver, device)) return store(out, handle_of(static_cast<unsigned>(i)));
    }
    return NVML_ERROR_NOT_FOUND;
  };
  return call(find, function);
}

nvmlReturn_t find_pci_info(const Driver& driver, cu::CUdevice device, nvmlPciInfo_t* out) {
  int domain = 0, bus = 0, slot = 0;
  LIB_TRY(attribute(driver, device, cu::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, &domain));
  LIB_TRY(attribute(driver, device, cu::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &bus));
  LIB_TRY(attribute(driver, device, cu::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, &slot));
  *out = {};
  out->domain = static_cast<unsigned>(domain);
  out->bus = static_cast<unsigned>(bus);
  out->device = static_cast<unsigned>(slot);
  std::snprintf(out->busId, sizeof out->busId, "%08X:%02X:%02X.0", out->domain, out->bus & 255,
                out->device & 255);
  std::snprintf(out->busIdLegacy, sizeof out->busIdLegacy, "%04X:%02X:%02X.0", out->domain & 0xffff,
                out->bus & 255, out->device & 255);
  return NVML_SUCCESS;
}

/// Gives the first `size_bytes` of the structure, of which older versions know a part.
nvmlReturn_t give_pci_info(nvmlDevice_t device, nvmlPciInfo_t* info, size_t size_bytes,
                           const char* function = __builtin_FUNCTION()) {
  const auto give = [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    nvmlPciInfo_t full;
    LIB_TRY(find_pci_info(driver, found, &full));
    return store_bytes(info, &full, size_bytes);
  };
  return call_device(device, give, function);
}

}  // namespace

nvmlReturn_t get_memory(const Driver& driver, cu::CUdevice device, size_t* free, size_t* total) {
  cu::CUcontext before = nullptr, primary = nullptr;
  LIB_CHECK(driver.cuCtxGetCurrent(&before));
  LIB_CHECK(driver.cuDevicePrimaryCtxRetain(&primary, device));
  cu::CUresult got = driver.cuCtxSetCurrent(primary);
  if (got == cu::CUDA_SUCCESS) got = driver.cuMemGetInfo_v2(free, total);
  driver.cuCtxSetCurrent(before);
  driver.cuDevicePrimaryCtxRelease_v2(device);
  return status_of(got);
}

extern "C" {

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned size_bytes) {
  // The first NVIDIA driver branch that supports CUDA 13.
  return call([&](const Driver&) { return give_text("580.00", version, size_bytes); });
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned size_bytes) {
  return call([&](const Driver&) { return give_text("13.580.00", version, size_bytes); });
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  return call([&](const Driver& driver) -> nvmlReturn_t {
    int found = 0;
    LIB_CHECK(driver.cuDriverGetVersion(&found));
    return store(version, found);
  });
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  return call([&](const Driver& driver) -> nvmlReturn_t {
    int found = 0;
    LIB_CHECK(driver.cuDeviceGetCount(&found));
    return store(count, static_cast<unsigned>(found));
  });
}
nvmlReturn_t nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  return call([&](const Driver& driver) -> nvmlReturn_t {
    cu::CUdevice found = 0;
    LIB_TRY(find_device(driver, handle_of(index), &found));
    return store(device, handle_of(index));
  });
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  return find_handle(device, [&](const Driver& driver, cu::CUdevice each) {
    char text[48];
    std::string given;
    return library::read_host_text(uuid, sizeof text, &given) &&
           get_uuid(driver, each, text) == NVML_SUCCESS && given == text;
  });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* device) {
  return find_handle(device, [&](const Driver& driver, cu::CUdevice each) {
    char text[32];
    std::string given;
    if (!library::read_host_text(bus_id, sizeof text, &given) ||
        driver.cuDeviceGetPCIBusId(text, sizeof text, each) != cu::CUDA_SUCCESS) {
      return false;
    }
    // PCI domains are written with four or eight digits.
    const size_t known = std::strlen(text);
    return given.size() >= known && strcasecmp(given.c_str() + (given.size() - known), text) == 0;
  });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* bus_id, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  return call_device(device, [&](const Driver&, cu::CUdevice) -> nvmlReturn_t {
    const auto found = static_cast<unsigned>(
        (reinterpret_cast<uint64_t>(device) - reinterpret_cast<uint64_t>(handle_of(0))) / 16);
    return store(index, found);
  });
}
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned* minor) {
  return nvmlDeviceGetIndex(device, minor);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned size_bytes) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    char text[256];
    LIB_CHECK(driver.cuDeviceGetName(text, sizeof text, found));
    return give_text(text, name, size_bytes);
  });
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned size_bytes) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    char text[48];
    LIB_TRY(get_uuid(driver, found, text));
    return give_text(text, uuid, size_bytes);
  });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return give_pci_info(device, info, sizeof *info);
}

/// Older versions know a part of nvmlPciInfo_t: this one all but busId, the first no pciSubSystemId
/// either.
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return give_pci_info(device, info, offsetof(nvmlPciInfo_t, busId));
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return give_pci_info(device, info, offsetof(nvmlPciInfo_t, pciSubSystemId));
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    size_t free = 0, total = 0;
    LIB_TRY(get_memory(driver, found, &free, &total));
    return store(memory, {total, free, total - free});
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    unsigned version = 0;
    if (!library::read_host(&version, memory, sizeof version)) {
      return invalid("memory cannot be read at %p", static_cast<void*>(memory));
    }
    if (version != (sizeof *memory | 2U << 24)) return invalid("the version is %#x", version);
    size_t free = 0, total = 0;
    LIB_TRY(get_memory(driver, found, &free, &total));
    return store(memory, {version, total, 0, free, total - free});
  });
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    size_t free = 0, total = 0;
    LIB_TRY(get_memory(driver, found, &free, &total));
    const size_t used_percent = total == 0 ? 0 : (total - free) * 100 / total;
    return store(rates, {utilization_percent(), static_cast<unsigned>(used_percent)});
  });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    int first = 0, second = 0;
    LIB_TRY(attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &first));
    LIB_TRY(attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &second));
    LIB_TRY(store(major, first));
    return store(minor, second);
  });
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned* architecture) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    int major = 0, minor = 0;
    LIB_TRY(attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major));
    LIB_TRY(attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor));
    return store(architecture, architecture_of(major, minor));
  });
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t* brand) {
  return call_device(device,
                     [&](const Driver&, cu::CUdevice) { return store(brand, NVML_BRAND_UNKNOWN); });
}

/// Clocks in MHz.
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* clock) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    if (type < 0 || type >= NVML_CLOCK_COUNT) return invalid("type is %d", static_cast<int>(type));
    int kilohertz = 0;
    LIB_TRY(attribute(driver, found,
                      type == NVML_CLOCK_MEM ? cu::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE
                                             : cu::CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
                      &kilohertz));
    return store(clock, static_cast<unsigned>(kilohertz) / 1000);
  });
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* clock) {
  return nvmlDeviceGetMaxClockInfo(device, type, clock);
}

}  // extern "C"

}  // namespace km::nvml
