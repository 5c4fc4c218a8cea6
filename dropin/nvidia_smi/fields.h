// The fields of `nvidia-smi --query-gpu`.
#pragma once

#include <string_view>

#include "dropin/nvidia_smi/device.h"

namespace km::smi {

struct Field {
  const char* name;
  const char* other_name;  // null if it has one name
  const char* unit;        // "" if it has none
  Device::Text (*value)(const Device& device);
};

/// The field of this name; null if there is none.
const Field* find_field(std::string_view name);

/// The time, as nvidia-smi writes it in its fields.
std::string timestamp();

}  // namespace km::smi
