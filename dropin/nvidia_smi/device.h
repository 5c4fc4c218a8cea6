// A device as NVML describes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dropin/nvml/structures.h"

namespace km::smi {

/// The handle of a device; each question has no answer if NVML has none.
class Device {
 public:
  explicit Device(nvmlDevice_t handle) : handle_(handle) {}

  using Text = std::optional<std::string>;
  using Number = std::optional<unsigned>;

  Text name() const { return text(nvmlDeviceGetName); }
  Text uuid() const { return text(nvmlDeviceGetUUID); }
  Text serial() const { return text(nvmlDeviceGetSerial); }
  Text vbios() const { return text(nvmlDeviceGetVbiosVersion); }
  Text compute_capability() const;
  Text bus_id() const;
  Text performance_state() const;
  Text compute_mode() const;
  Text persistence_mode() const { return enabled(nvmlDeviceGetPersistenceMode); }
  Text display_mode() const { return enabled(nvmlDeviceGetDisplayMode); }
  Text display_active() const { return enabled(nvmlDeviceGetDisplayActive); }

  /// Asks one of the functions that give a number.
  Number number(nvmlReturn_t (*ask)(nvmlDevice_t, unsigned*)) const;
  Number index() const { return number(nvmlDeviceGetIndex); }
  Number clock_mhz(nvmlClockType_t type) const;
  Number max_clock_mhz(nvmlClockType_t type) const;
  std::optional<nvmlMemory_t> memory() const;
  std::optional<nvmlUtilization_t> utilization() const;
  std::optional<nvmlPciInfo_t> pci() const;

 private:
  Text text(nvmlReturn_t (*ask)(nvmlDevice_t, char*, unsigned)) const;
  Text enabled(nvmlReturn_t (*ask)(nvmlDevice_t, nvmlEnableState_t*)) const;

  nvmlDevice_t handle_;
};

/// The version of the driver, and of CUDA ("13.0").
std::string driver_version();
std::string cuda_version();

std::vector<Device> all_devices();

}  // namespace km::smi
