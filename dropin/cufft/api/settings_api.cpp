// Streams, work areas and properties of plans; the version of the library.
#include "dropin/cufft/plan/plan.h"
#include "dropin/cufft/version/version.h"

using namespace km;
using namespace km::cufft;

namespace {

/// The place of a property, whose value has to be at least `least`.
cufftResult find_property(Plan& plan, cufftProperty property, long long** out) {
  const int most = kVersion >= 12000 ? kProperties : 2;
  if (property < 1 || property > most) {
    return unsupported("%d is no property of plans", static_cast<int>(property));
  }
  *out = &plan.properties[property - 1];
  return CUFFT_SUCCESS;
}

}  // namespace

extern "C" {

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  return call(plan, [&](Plan& own) -> cufftResult {
    own.stream = reinterpret_cast<cu::CUstream>(stream);
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int autoAllocate) {
  return call(plan, [&](Plan& own) -> cufftResult {
    own.allocates = autoAllocate != 0;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftSetWorkArea(cufftHandle plan, void* workArea) {
  return call(plan, [&](Plan& own) -> cufftResult {
    own.work_area = static_cast<char*>(workArea);
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtSetWorkArea(cufftHandle plan, void** workArea) {
  return call(plan, [&](Plan& own) -> cufftResult {
    LIB_REQUIRE(workArea);
    void* first = nullptr;
    if (!library::read_host(workArea, &first)) {
      return invalid("workArea cannot be read at %p", static_cast<void*>(workArea));
    }
    own.work_area = static_cast<char*>(first);
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtSetWorkAreaPolicy(cufftHandle plan, cufftXtWorkAreaPolicy policy,
                                     size_t* workSize) {
  return call(plan, [&](Plan& own) -> cufftResult {
    if (policy < CUFFT_WORKAREA_MINIMAL || policy > CUFFT_WORKAREA_PERFORMANCE) {
      return invalid("policy is %d", static_cast<int>(policy));
    }
    size_t limit = 0;
    if (policy == CUFFT_WORKAREA_USER &&
        (workSize == nullptr || !library::read_host(workSize, &limit))) {
      return invalid("workSize cannot be read at %p", static_cast<void*>(workSize));
    }
    // Work areas are as small as they can be.
    own.work_area_policy = policy;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty property,
                                      const long long int inputValueInt) {
  return call(plan, [&](Plan& own) -> cufftResult {
    long long* place = nullptr;
    LIB_TRY(find_property(own, property, &place));
    if (own.is_made()) return invalid_plan("the plan has been made");
    const bool is_switch = property != NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS;
    if (inputValueInt < 0 || (is_switch && inputValueInt > 1)) {
      return invalid("the value of property %d is %lld", static_cast<int>(property), inputValueInt);
    }
    *place = inputValueInt;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, cufftProperty property,
                                      long long int* returnPtrValue) {
  return call(plan, [&](Plan& own) -> cufftResult {
    LIB_REQUIRE(returnPtrValue);
    long long* place = nullptr;
    LIB_TRY(find_property(own, property, &place));
    return give("returnPtrValue", returnPtrValue, *place);
  });
}

cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty property) {
  return call(plan, [&](Plan& own) -> cufftResult {
    long long* place = nullptr;
    LIB_TRY(find_property(own, property, &place));
    if (own.is_made()) return invalid_plan("the plan has been made");
    *place = 0;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftGetVersion(int* version) {
  return call([&]() -> cufftResult {
    LIB_REQUIRE(version);
    return give("version", version, kVersion);
  });
}

cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  return call([&]() -> cufftResult {
    LIB_REQUIRE(value);
    if (type < MAJOR_VERSION || type > PATCH_LEVEL) {
      return invalid("%d is no property", static_cast<int>(type));
    }
    const int parts[] = {kVersion / 1000, kVersion / 100 % 10, kVersion % 100};
    return give("value", value, parts[type]);
  });
}

}  // extern "C"
