// Queries of devices and of the system, answered by the driver API.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>

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
      if (!matches(driver, device)) continue;
      *out = handle_of(static_cast<unsigned>(i));
      return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
  };
  return call(find, function);
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
    LIB_REQUIRE(version);
    return status_of(driver.cuDriverGetVersion(version));
  });
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  return call([&](const Driver& driver) -> nvmlReturn_t {
    LIB_REQUIRE(count);
    int found = 0;
    LIB_CHECK(driver.cuDeviceGetCount(&found));
    *count = static_cast<unsigned>(found);
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  return call([&](const Driver& driver) -> nvmlReturn_t {
    LIB_REQUIRE(device);
    cu::CUdevice found = 0;
    LIB_TRY(find_device(driver, handle_of(index), &found));
    *device = handle_of(index);
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  return find_handle(device, [&](const Driver& driver, cu::CUdevice each) {
    char text[48];
    return uuid != nullptr && get_uuid(driver, each, text) == NVML_SUCCESS &&
           std::strcmp(uuid, text) == 0;
  });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* device) {
  return find_handle(device, [&](const Driver& driver, cu::CUdevice each) {
    char text[32];
    if (bus_id == nullptr ||
        driver.cuDeviceGetPCIBusId(text, sizeof text, each) != cu::CUDA_SUCCESS) {
      return false;
    }
    // PCI domains are written with four or eight digits.
    const size_t given = std::strlen(bus_id), known = std::strlen(text);
    return given >= known && strcasecmp(bus_id + (given - known), text) == 0;
  });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* bus_id, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  return call_device(device, [&](const Driver&, cu::CUdevice) -> nvmlReturn_t {
    LIB_REQUIRE(index);
    *index = static_cast<unsigned>(
        (reinterpret_cast<uint64_t>(device) - reinterpret_cast<uint64_t>(handle_of(0))) / 16);
    return NVML_SUCCESS;
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
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    LIB_REQUIRE(info);
    int domain = 0, bus = 0, slot = 0;
    LIB_TRY(attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, &domain));
    LIB_TRY(attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &bus));
    LIB_TRY(attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, &slot));
    *info = {};
    info->domain = static_cast<unsigned>(domain);
    info->bus = static_cast<unsigned>(bus);
    info->device = static_cast<unsigned>(slot);
    std::snprintf(info->busId, sizeof info->busId, "%08X:%02X:%02X.0", info->domain,
                  info->bus & 255, info->device & 255);
    std::snprintf(info->busIdLegacy, sizeof info->busIdLegacy, "%04X:%02X:%02X.0",
                  info->domain & 0xffff, info->bus & 255, info->device & 255);
    return NVML_SUCCESS;
  });
}

/// Older versions know a part of nvmlPciInfo_t: this one all but busId, the first no pciSubSystemId
/// either.
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return call([&](const Driver&) -> nvmlReturn_t {
    LIB_REQUIRE(info);
    nvmlPciInfo_t full;
    LIB_TRY(nvmlDeviceGetPciInfo_v3(device, &full));
    std::memcpy(info, &full, offsetof(nvmlPciInfo_t, busId));
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return call([&](const Driver&) -> nvmlReturn_t {
    LIB_REQUIRE(info);
    nvmlPciInfo_t full;
    LIB_TRY(nvmlDeviceGetPciInfo_v3(device, &full));
    std::memcpy(info, &full, offsetof(nvmlPciInfo_t, pciSubSystemId));
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    LIB_REQUIRE(memory);
    size_t free = 0, total = 0;
    LIB_TRY(get_memory(driver, found, &free, &total));
    *memory = {total, free, total - free};
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    LIB_REQUIRE(memory);
    if (memory->version != (sizeof *memory | 2U << 24)) return NVML_ERROR_INVALID_ARGUMENT;
    size_t free = 0, total = 0;
    LIB_TRY(get_memory(driver, found, &free, &total));
    *memory = {memory->version, total, 0, free, total - free};
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    LIB_REQUIRE(rates);
    size_t free = 0, total = 0;
    LIB_TRY(get_memory(driver, found, &free, &total));
    const size_t used_percent = total == 0 ? 0 : (total - free) * 100 / total;
    *rates = {utilization_percent(), static_cast<unsigned>(used_percent)};
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    LIB_REQUIRE(major);
    LIB_REQUIRE(minor);
    LIB_TRY(attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major));
    return attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, minor);
  });
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned* architecture) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    LIB_REQUIRE(architecture);
    int major = 0, minor = 0;
    LIB_TRY(attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major));
    LIB_TRY(attribute(driver, found, cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor));
    *architecture = architecture_of(major, minor);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t* brand) {
  return call_device(device, [&](const Driver&, cu::CUdevice) -> nvmlReturn_t {
    LIB_REQUIRE(brand);
    *brand = NVML_BRAND_UNKNOWN;
    return NVML_SUCCESS;
  });
}

/// Clocks in MHz.
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* clock) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    LIB_REQUIRE(clock);
    if (type < 0 || type >= NVML_CLOCK_COUNT) return invalid("type is %d", static_cast<int>(type));
    int kilohertz = 0;
    LIB_TRY(attribute(driver, found,
                      type == NVML_CLOCK_MEM ? cu::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE
                                             : cu::CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
                      &kilohertz));
    *clock = static_cast<unsigned>(kilohertz) / 1000;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* clock) {
  return nvmlDeviceGetMaxClockInfo(device, type, clock);
}

}  // extern "C"

}  // namespace km::nvml
