#include <cstdio>

#include "api/guard.h"
#include "api/output.h"
#include "km_version.h"

using namespace km;

km_status km_version(uint32_t* out_major, uint32_t* out_minor, uint32_t* out_patch) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_major);
    KM_REQUIRE(out_minor);
    KM_REQUIRE(out_patch);
    *out_major = KM_VERSION_MAJOR;
    *out_minor = KM_VERSION_MINOR;
    *out_patch = KM_VERSION_PATCH;
    return {};
  });
}

km_status km_build_info_get(km_build_info* out_info) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_info);
    km_build_info info{};
    info.version_major = KM_VERSION_MAJOR;
    info.version_minor = KM_VERSION_MINOR;
    info.version_patch = KM_VERSION_PATCH;
    std::snprintf(info.build_id, sizeof info.build_id, "%s", KM_BUILD_ID);
#if defined(__clang__)
    std::snprintf(info.compiler, sizeof info.compiler, "clang %s", __clang_version__);
#else
    std::snprintf(info.compiler, sizeof info.compiler, "gcc %s", __VERSION__);
#endif
    return give_struct(info, out_info, "out_info");
  });
}
