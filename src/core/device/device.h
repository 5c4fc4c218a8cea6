// Looks up backends by name and devices by URI.
#pragma once

#include <string>

#include "backend/registry.h"
#include "core/object/object.h"

namespace km {

/// The backends of this process: plugins, and the null backend if KM_ENABLE_NULL enables it.
Registry& backends();

/// The number of devices of one backend, or, for an empty name, of all backends that work on this
/// machine.
Result<uint32_t> device_count(const std::string& backend);

class Device final : public Object {
 public:
  /// Opens a device by its URI: "cpu", "cpu:1" or "auto".
  static Result<Ref<Device>> open(const std::string& uri);

  const kmb_backend& backend() const { return backend_; }
  kmb_device* native() const { return native_; }
  /// The properties that the device had when it was opened.
  const km_device_info& info() const { return info_; }
  /// True if kernels on this device can use memory of `peer`.
  Result<bool> can_access(const Device& peer) const;
  Result<int64_t> attribute(km_device_attribute attribute) const;

 private:
  explicit Device(const kmb_backend& backend) : backend_(backend) {}
  ~Device() override;
  static Result<Ref<Device>> open_ordinal(const kmb_backend& backend, uint32_t ordinal);
  Status read_info(uint32_t ordinal);

  const kmb_backend& backend_;
  kmb_device* native_ = nullptr;
  km_device_info info_{};
};

}  // namespace km
