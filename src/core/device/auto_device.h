// Chooses the device for "auto" and records the reasons, so that no fallback is silent.
#pragma once

#include <string>
#include <vector>

#include "core/device/device.h"

namespace km {

struct AutoCandidate {
  std::string uri;
  km_auto_outcome outcome = KM_AUTO_NOT_TRIED;
  km_status status = KM_SUCCESS;
  std::string reason;
};

struct AutoChoice {
  std::vector<AutoCandidate> candidates;  // in the order in which they are tried
  Ref<Device> device;                     // null: no candidate works
};

/// If KM_DEVICE names a device, that one only; otherwise the first of CUDA and CPU that works.
AutoChoice choose_device();
/// Opens the chosen device and logs the choice; if none works, the error has all reasons.
Result<Ref<Device>> open_automatically();

}  // namespace km
