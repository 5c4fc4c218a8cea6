#include "dropin/nvidia_smi/device.h"

namespace km::smi {

Device::Text Device::text(nvmlReturn_t (*ask)(nvmlDevice_t, char*, unsigned)) const {
  char value[256];
  return ask(handle_, value, sizeof value) == NVML_SUCCESS ? Text(value) : std::nullopt;
}

Device::Text Device::enabled(nvmlReturn_t (*ask)(nvmlDevice_t, nvmlEnableState_t*)) const {
  nvmlEnableState_t state{};
  if (ask(handle_, &state) != NVML_SUCCESS) return std::nullopt;
  return state == NVML_FEATURE_ENABLED ? "Enabled" : "Disabled";
}

Device::Number Device::number(nvmlReturn_t (*ask)(nvmlDevice_t, unsigned*)) const {
  unsigned value = 0;
  return ask(handle_, &value) == NVML_SUCCESS ? Number(value) : std::nullopt;
}

Device::Number Device::clock_mhz(nvmlClockType_t type) const {
  unsigned value = 0;
  return nvmlDeviceGetClockInfo(handle_, type, &value) == NVML_SUCCESS ? Number(value)
                                                                       : std::nullopt;
}

Device::Number Device::max_clock_mhz(nvmlClockType_t type) const {
  unsigned value = 0;
  return nvmlDeviceGetMaxClockInfo(handle_, type, &value) == NVML_SUCCESS ? Number(value)
                                                                          : std::nullopt;
}

Device::Text Device::compute_capability() const {
  int major = 0, minor = 0;
  if (nvmlDeviceGetCudaComputeCapability(handle_, &major, &minor) != NVML_SUCCESS) return {};
  return std::to_string(major) + "." + std::to_string(minor);
}

std::optional<nvmlPciInfo_t> Device::pci() const {
  nvmlPciInfo_t info{};
  if (nvmlDeviceGetPciInfo_v3(handle_, &info) != NVML_SUCCESS) return std::nullopt;
  return info;
}

Device::Text Device::bus_id() const {
  const std::optional<nvmlPciInfo_t> info = pci();
  return info ? Text(info->busId) : std::nullopt;
}

Device::Text Device::performance_state() const {
  nvmlPstates_t state{};
  if (nvmlDeviceGetPerformanceState(handle_, &state) != NVML_SUCCESS) return std::nullopt;
  return "P" + std::to_string(static_cast<int>(state));
}

Device::Text Device::compute_mode() const {
  nvmlComputeMode_t mode{};
  if (nvmlDeviceGetComputeMode(handle_, &mode) != NVML_SUCCESS) return std::nullopt;
  return mode == NVML_COMPUTEMODE_DEFAULT ? "Default" : "Exclusive_Process";
}

std::optional<nvmlMemory_t> Device::memory() const {
  nvmlMemory_t memory{};
  if (nvmlDeviceGetMemoryInfo(handle_, &memory) != NVML_SUCCESS) return std::nullopt;
  return memory;
}

std::optional<nvmlUtilization_t> Device::utilization() const {
  nvmlUtilization_t rates{};
  if (nvmlDeviceGetUtilizationRates(handle_, &rates) != NVML_SUCCESS) return std::nullopt;
  return rates;
}

std::string driver_version() {
  char text[96] = "";
  return nvmlSystemGetDriverVersion(text, sizeof text) == NVML_SUCCESS ? text : "N/A";
}

std::string cuda_version() {
  int version = 0;
  if (nvmlSystemGetCudaDriverVersion_v2(&version) != NVML_SUCCESS) return "N/A";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::vector<Device> all_devices() {
  unsigned count = 0;
  std::vector<Device> devices;
  if (nvmlDeviceGetCount_v2(&count) != NVML_SUCCESS) return devices;
  for (unsigned i = 0; i < count; ++i) {
    nvmlDevice_t device = nullptr;
    if (nvmlDeviceGetHandleByIndex_v2(i, &device) == NVML_SUCCESS) devices.emplace_back(device);
  }
  return devices;
}

}  // namespace km::smi
