// Backends by name and devices by URI.
#pragma once

#include <string>

#include "backend/registry.h"
#include "core/object/object.h"

namespace km {

/// The backends of this process: plugins and, where KM_ENABLE_NULL says so, the null backend.
Registry& backends();

/// Devices of one backend, or with an empty name those of all backends that work here.
Result<uint32_t> device_count(const std::string& backend);

class Device final : public Object {
 public:
  /// Opens "cpu", "cpu:1" or "auto".
  static Result<Ref<Device>> open(const std::string& uri);

  const kmb_backend& backend() const { return backend_; }
  kmb_device* native() const { return native_; }
  /// The device's properties when it was opened.
  const km_device_info& info() const { return info_; }
  /// True if kernels of this device can be given memory of `peer`.
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
