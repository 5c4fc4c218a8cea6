// Devices: a GPU and its primary context.
#pragma once

#include "backends/cuda/context/primary_context.h"

namespace km::cuda {

class Device {
 public:
  explicit Device(PrimaryContext& primary) : primary_(primary) {}
  PrimaryContext& primary() const { return primary_; }

 private:
  PrimaryContext& primary_;
};

}  // namespace km::cuda
