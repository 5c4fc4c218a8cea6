#include "backends/cpu/device/device_attributes.h"

#include "backends/cpu/config/config.h"
#include "backends/cpu/config/topology.h"
#include "backends/cpu/device/device.h"
#include "base/process/processors.h"

namespace km::cpu {
namespace {

enum class Attribute : int32_t {
#define KM_DEVICE_ATTRIBUTE_ROW(number, name, unit) name = number,
#define KM_OWN_ATTRIBUTE(name, cuda_name)
#include "backend/device_attributes.def"
#undef KM_OWN_ATTRIBUTE
#undef KM_DEVICE_ATTRIBUTE_ROW
};

}  // namespace

std::optional<int64_t> cuda_attribute(const Device& device, int32_t number) {
  // Without a default label, the compiler reports a missing row.
  switch (static_cast<Attribute>(number)) {
#define KM_CPU_ATTRIBUTE(name, value, note) \
  case Attribute::name:                     \
    return static_cast<int64_t>(value);
#include "backends/cpu/device/device_attributes.def"
#undef KM_CPU_ATTRIBUTE
  }
  return std::nullopt;
}

}  // namespace km::cpu
