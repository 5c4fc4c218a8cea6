#include "core/device/device.h"

#include <charconv>
#include <cstdio>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "base/env.h"
#include "base/log.h"
#include "base/log_settings.h"
#include "base/process/fork.h"
#include "base/text.h"
#include "core/device/auto_device.h"
#include "core/device/device_attributes.h"
#include "core/object/backend_call.h"

namespace km {
namespace {

struct DeviceUri {
  std::string backend;
  uint32_t ordinal = 0;
};

Result<DeviceUri> parse_uri(const std::string& uri) {
  DeviceUri parsed;
  const size_t colon = uri.find(':');
  parsed.backend = uri.substr(0, colon);
  if (colon == std::string::npos && !uri.empty()) return parsed;
  const char* first = uri.data() + std::min(uri.size(), colon + 1);
  const char* last = uri.data() + uri.size();
  const auto [stop, code] = std::from_chars(first, last, parsed.ordinal);
  if (parsed.backend.empty() || code != std::errc() || stop != last) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "'%.64s' names no device; expected \"auto\", \"cpu\" or \"cpu:1\"",
                      uri.c_str());
  }
  return parsed;
}

Result<uint32_t> count_of(const kmb_backend& backend) {
  uint32_t count = 0;
  KM_TRY(call_backend(backend.device_count, &count));
  return count;
}

}  // namespace

Registry& backends() {
  // The registry is leaked on purpose, because backends live as long as the process.
  static Registry& registry = [&]() -> Registry& {
    watch_for_fork();
    for (const std::string& line : unknown_env_names()) {
      log(LogLevel::kWarn, "env", "%s", line.c_str());
    }
    if (const std::string line = unknown_log_words(); !line.empty()) {
      log(LogLevel::kWarn, "env", "%s", line.c_str());
    }
    auto created = std::make_unique<Registry>();
    register_backends(*created);
    return *created.release();
  }();
  return registry;
}

Result<uint32_t> device_count(const std::string& backend) {
  if (!backend.empty()) {
    KM_ASSIGN(const kmb_backend* found, backends().get(backend));
    return count_of(*found);
  }
  uint32_t total = 0;
  for (uint32_t index = 0; index < backends().count(); ++index) {
    if (backends().is_by_name_only(index)) continue;
    const Result<const kmb_backend*> found = backends().get(index);
    if (!found) continue;
    const Result<uint32_t> count = count_of(**found);
    if (count) total += *count;
  }
  return total;
}

Result<Ref<Device>> Device::open(const std::string& uri) {
  if (uri == "auto") return open_automatically();
  KM_ASSIGN(const DeviceUri parsed, parse_uri(uri));
  KM_ASSIGN(const kmb_backend* backend, backends().get(parsed.backend));
  return open_ordinal(*backend, parsed.ordinal);
}

Result<Ref<Device>> Device::open_ordinal(const kmb_backend& backend, uint32_t ordinal) {
  KM_ASSIGN(const uint32_t count, count_of(backend));
  if (ordinal >= count) {
    return make_error(KM_ERROR_NO_DEVICE, "there is no device '%s:%u'; backend '%s' has %u",
                      backend.name, ordinal, backend.name, count);
  }
  Ref<Device> device = Ref<Device>::adopt(new Device(backend));
  KM_TRY(call_backend(backend.device_open, ordinal, &device->native_));
  KM_ASSERT(device->native_ != nullptr, "a backend that succeeds has opened a device");
  KM_TRY(device->read_info(ordinal));
  return device;
}

Status Device::read_info(uint32_t ordinal) {
  info_.struct_size = sizeof info_;
  KM_TRY(call_backend(backend_.device_info, native_, &info_));
  info_.struct_size = sizeof info_;
  info_.ordinal = ordinal;
  std::snprintf(info_.backend, sizeof info_.backend, "%s", backend_.name);
  std::snprintf(info_.uri, sizeof info_.uri, "%.16s:%u", backend_.name, ordinal);
  return {};
}

Device::~Device() {
  if (native_ != nullptr) backend_.device_close(native_);
}

Result<bool> Device::can_access(const Device& peer) const {
  if (&backend_ != &peer.backend_ || backend_.device_can_access_peer == nullptr) return false;
  uint32_t can_access = 0;
  KM_TRY(call_backend(backend_.device_can_access_peer, native_, peer.native_, &can_access));
  return can_access != 0;
}

Result<int64_t> Device::attribute(km_device_attribute attribute) const {
  int64_t value = 0;
  KM_TRY(call_backend(backend_.device_attribute, native_, backend_attribute(attribute), &value));
  return value;
}

}  // namespace km
