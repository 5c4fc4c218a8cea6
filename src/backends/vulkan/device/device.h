// An open device of the library: a physical device and what was found out about it.
#pragma once

#include "backends/vulkan/driver/adapter.h"

namespace km::vulkan {

class Device {
 public:
  explicit Device(const Adapter& adapter) : adapter_(adapter) {}
  const Adapter& adapter() const { return adapter_; }

 private:
  const Adapter& adapter_;
};

}  // namespace km::vulkan
