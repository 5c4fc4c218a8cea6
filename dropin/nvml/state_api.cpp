// State and links of devices: values that programs ask for before they use a device, or show. Those
// of a CPU have no bus of their own; a link of PCI Express 4.0 with 16 lanes carries as much as a
// memory channel. What cannot be known, such as temperatures, stays "not supported", as it is on
// many GPUs.
#include <unistd.h>

#include "dropin/nvml/nvml.h"

namespace km::nvml {
namespace {

constexpr unsigned kLinkGeneration = 4, kLinkLanes = 16;
constexpr unsigned kLaneMegatransfers = 16000;  // a second
constexpr unsigned kMaxSpeed16000 = 4;          // NVML_PCIE_LINK_MAX_SPEED_16000MBPS
constexpr unsigned kBusPciExpress = 2;          // NVML_BUS_TYPE_PCIE
constexpr unsigned kNoInstance = 0xffffffff;    // of a device that is not divided

constexpr unsigned kFieldNvlinkSpeed = 90, kFieldNvlinkCount = 91;  // NVML_FI_DEV_NVLINK_*
constexpr int kTypeUnsigned = 1;                                    // NVML_VALUE_TYPE_UNSIGNED_INT

/// Gives the same value for each device.
template <class T>
nvmlReturn_t give(nvmlDevice_t device, T* out, T value,
                  const char* function = __builtin_FUNCTION()) {
  return call_device(
      device, [&](const Driver&, cu::CUdevice) { return store(out, value); }, function);
}

nvmlReturn_t store_process(nvmlProcessInfo_v1_t* out, unsigned process, size_t used_bytes) {
  return store(out, {process, used_bytes});
}
nvmlReturn_t store_process(nvmlProcessInfo_v2_t* out, unsigned process, size_t used_bytes) {
  return store(out, {process, used_bytes, kNoInstance, kNoInstance});
}

/// Lists this process if its primary context of the device is active: others are not known.
template <class Info>
nvmlReturn_t list_processes(nvmlDevice_t device, unsigned* count, Info* out,
                            const char* function = __builtin_FUNCTION()) {
  const auto list = [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    unsigned flags = 0, room = 0;
    int is_active = 0;
    LIB_CHECK(driver.cuDevicePrimaryCtxGetState(found, &flags, &is_active));
    if (!library::read_host(count, &room)) {
      return invalid("count cannot be read at %p", static_cast<void*>(count));
    }
    const unsigned known = is_active != 0 ? 1 : 0;
    LIB_TRY(store(count, known));
    if (known > room) return NVML_ERROR_INSUFFICIENT_SIZE;
    if (known == 0) return NVML_SUCCESS;
    size_t free = 0, total = 0;
    LIB_TRY(get_memory(driver, found, &free, &total));
    return store_process(out, static_cast<unsigned>(getpid()), total - free);
  };
  return call_device(device, list, function);
}

/// Lists no process: none draws on a device or shares it by MPS.
nvmlReturn_t list_none(nvmlDevice_t device, unsigned* count,
                       const char* function = __builtin_FUNCTION()) {
  return give(device, count, 0U, function);
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned* width) {
  return call_device(device, [&](const Driver& driver, cu::CUdevice found) -> nvmlReturn_t {
    int bits = 0;
    LIB_CHECK(
        driver.cuDeviceGetAttribute(&bits, cu::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, found));
    return store(width, static_cast<unsigned>(bits));
  });
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned* generation) {
  return give(device, generation, kLinkGeneration);
}
nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned* generation) {
  return give(device, generation, kLinkGeneration);
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned* generation) {
  return give(device, generation, kLinkGeneration);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned* lanes) {
  return give(device, lanes, kLinkLanes);
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned* lanes) {
  return give(device, lanes, kLinkLanes);
}
nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t device, unsigned* speed) {
  return give(device, speed, kLaneMegatransfers);
}
nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned* speed) {
  return give(device, speed, kMaxSpeed16000);
}
nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t* type) {
  return give(device, type, nvmlBusType_t{kBusPciExpress});
}

/// Each field has a status of its own; there are no links of NVLink.
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  return call_device(device, [&](const Driver&, cu::CUdevice) -> nvmlReturn_t {
    if (count < 1) return invalid("valuesCount is %d", count);
    for (int i = 0; i < count; ++i) {
      nvmlFieldValue_t each{};
      if (!library::read_host(values + i, &each)) return invalid("values[%d] cannot be read", i);
      const bool is_known = each.fieldId == kFieldNvlinkSpeed || each.fieldId == kFieldNvlinkCount;
      const nvmlReturn_t status = is_known ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
      LIB_TRY(store(values + i, {each.fieldId, each.scopeId, 0, 0, kTypeUnsigned, status, 0}));
    }
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t* state) {
  return give(device, state, NVML_PSTATE_0);
}
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t* mode) {
  return give(device, mode, NVML_COMPUTEMODE_DEFAULT);
}
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return give(device, mode, NVML_FEATURE_ENABLED);
}
nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return give(device, mode, NVML_FEATURE_DISABLED);
}
nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t* active) {
  return give(device, active, NVML_FEATURE_DISABLED);
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t,
                                unsigned* clock) {
  return nvmlDeviceGetMaxClockInfo(device, type, clock);
}
nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t type,
                                            unsigned* clock) {
  return nvmlDeviceGetMaxClockInfo(device, type, clock);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned* count,
                                                  nvmlProcessInfo_v1_t* infos) {
  return list_processes(device, count, infos);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_v2_t* infos) {
  return list_processes(device, count, infos);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_t* infos) {
  return list_processes(device, count, infos);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned* count,
                                                   nvmlProcessInfo_v1_t*) {
  return list_none(device, count);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned* count,
                                                      nvmlProcessInfo_v2_t*) {
  return list_none(device, count);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                      nvmlProcessInfo_t*) {
  return list_none(device, count);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_v1_t*) {
  return list_none(device, count);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned* count,
                                                        nvmlProcessInfo_v2_t*) {
  return list_none(device, count);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                        nvmlProcessInfo_t*) {
  return list_none(device, count);
}

}  // extern "C"

}  // namespace km::nvml
