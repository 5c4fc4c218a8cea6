#include "core/device/device.h"

#include <cstdio>

#include "api/guard.h"
#include "api/output.h"
#include "base/text.h"
#include "core/device/auto_device.h"
#include "core/device/device_attributes.h"

using namespace km;

namespace {

km_backend_info describe_backend(uint32_t index) {
  km_backend_info info{};
  std::snprintf(info.name, sizeof info.name, "%s", backends().name(index).c_str());
  const Result<uint32_t> count = device_count(backends().name(index));
  if (count) {
    info.device_count = *count;
  } else {
    info.status = count.error().status;
    std::snprintf(info.reason, sizeof info.reason, "%s", count.error().message.c_str());
  }
  return info;
}

km_auto_candidate info_of(const AutoCandidate& candidate) {
  km_auto_candidate info{};
  info.outcome = candidate.outcome;
  info.status = candidate.status;
  std::snprintf(info.uri, sizeof info.uri, "%s", candidate.uri.c_str());
  std::snprintf(info.reason, sizeof info.reason, "%s", candidate.reason.c_str());
  return info;
}

}  // namespace

km_status km_backend_count(uint32_t* out_count) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_count);
    *out_count = backends().count();
    return {};
  });
}

km_status km_backend_info_get(uint32_t index, km_backend_info* out_info) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_info);
    const uint32_t count = backends().count();
    if (index >= count) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "index is %u, beyond the end of %s", index,
                        counted(count, "backend").c_str());
    }
    return give_struct(describe_backend(index), out_info, "out_info");
  });
}

km_status km_device_count(const char* backend, uint32_t* out_count) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_count);
    KM_ASSIGN(*out_count, device_count(backend != nullptr ? backend : ""));
    return {};
  });
}

km_status km_device_open(const char* uri, km_device* out_device) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(uri);
    KM_REQUIRE(out_device);
    KM_ASSIGN(Ref<Device> device, Device::open(uri));
    return give_handle(std::move(device), out_device);
  });
}

km_status km_device_destroy(km_device device) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(device, "device"); });
}

km_status km_device_info_get(km_device device, km_device_info* out_info) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, device);
    KM_REQUIRE(out_info);
    return give_struct(target->info(), out_info, "out_info");
  });
}

km_status km_device_attribute_get(km_device device, km_device_attribute attribute,
                                  int64_t* out_value) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, device);
    KM_REQUIRE(out_value);
    if (!is_device_attribute(attribute)) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "%d is not a device attribute", attribute);
    }
    KM_ASSIGN(*out_value, target->attribute(attribute));
    return {};
  });
}

km_status km_device_attribute_count(uint32_t* out_count) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_count);
    *out_count = device_attribute_count();
    return {};
  });
}

km_status km_device_attribute_info_get(uint32_t index,
                                       km_device_attribute_info* out_info) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_info);
    if (index >= device_attribute_count()) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "index is %u, beyond the end of %s", index,
                        counted(device_attribute_count(), "device attribute").c_str());
    }
    return give_struct(device_attribute_info(index), out_info, "out_info");
  });
}

km_status km_auto_candidate_count(uint32_t* out_count) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_count);
    *out_count = static_cast<uint32_t>(choose_device().candidates.size());
    return {};
  });
}

km_status km_auto_candidate_get(uint32_t index, km_auto_candidate* out_candidate) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_candidate);
    const AutoChoice choice = choose_device();
    if (index >= choice.candidates.size()) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "index is %u, beyond the end of %s", index,
                        counted(choice.candidates.size(), "candidate").c_str());
    }
    return give_struct(info_of(choice.candidates[index]), out_candidate, "out_candidate");
  });
}

km_status km_device_can_access_peer(km_device device, km_device peer,
                                    uint32_t* out_can_access) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, device);
    KM_GET(other, call, peer);
    KM_REQUIRE(out_can_access);
    KM_ASSIGN(const bool can_access, target->can_access(*other));
    *out_can_access = can_access ? 1 : 0;
    return {};
  });
}
