// The choice of "auto", with its reasons: nothing falls back without saying so.
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
  Ref<Device> device;                     // null: none works
};

/// KM_DEVICE, where it names a device: then nothing else is tried. Otherwise the first of CUDA and
/// CPU that works.
AutoChoice choose_device();
/// Opens the choice: the log says what was chosen, an error why nothing was.
Result<Ref<Device>> open_automatically();

}  // namespace km
