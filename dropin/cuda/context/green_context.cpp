#include "dropin/cuda/context/green_context.h"

#include <cstring>

#include "base/assert.h"
#include "dropin/cuda/device/device_attributes.h"

namespace km::dropin {
namespace {

/// The driver's private part of a CUdevResource.
struct Padding {
  static constexpr uint64_t kMark = 0x6b6d2d736d2d7365;  // "km-sm-se"
  uint64_t mark;
  SmSet sms;
};
static_assert(sizeof(Padding) <= sizeof(CUdevResource::_internal_padding));

}  // namespace

CUresult SmSet::all_of(DeviceState& device, SmSet* out) {
  int count = 0;
  CU_TRY(device_attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &count));
  *out = {device.ordinal, static_cast<unsigned>(count), 0, 0};
  return CUDA_SUCCESS;
}

CUresult SmSet::read(const CUdevResource& given, SmSet* out) {
  if (given.type != CU_DEV_RESOURCE_TYPE_SM) {
    return fail(CUDA_ERROR_INVALID_RESOURCE_TYPE, "resource type %d: only multiprocessors (%d)",
                given.type, CU_DEV_RESOURCE_TYPE_SM);
  }
  Padding padding;
  std::memcpy(&padding, given._internal_padding, sizeof padding);
  DeviceState* const device =
      padding.mark == Padding::kMark ? Driver::instance().device(padding.sms.device) : nullptr;
  if (device == nullptr || padding.sms.count != given.sm.smCount) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the resource was not filled in by this driver");
  }
  SmSet all;
  CU_TRY(all_of(*device, &all));
  if (padding.sms.count > all.count) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the resource has %u multiprocessors, its device %u",
                padding.sms.count, all.count);
  }
  *out = padding.sms;
  return CUDA_SUCCESS;
}

CUdevResource SmSet::resource() const {
  CUdevResource made = {};
  if (count == 0) return made;  // CU_DEV_RESOURCE_TYPE_INVALID
  Padding padding = {};
  padding.mark = Padding::kMark;
  padding.sms = *this;
  std::memcpy(made._internal_padding, &padding, sizeof padding);
  made.type = CU_DEV_RESOURCE_TYPE_SM;
  made.sm.smCount = count;
  made.sm.minSmPartitionSize = 1;
  made.sm.smCoscheduledAlignment = 1;
  return made;
}

CUresult GreenContext::create(DeviceState& device, const SmSet& sms, Ref<GreenContext>* out) {
  Ref<Context> primary;
  CU_TRY(retain_primary(device, &primary));
  KM_ASSERT(primary->is_primary() && &primary->device() == &device,
            "a green context is a part of the device's primary context");
  *out = Ref<GreenContext>::adopt(new GreenContext(std::move(primary), sms));
  return CUDA_SUCCESS;
}

CUresult GreenContext::release(const MayBlock& may_block) {
  KM_ASSERT(is_destroyed(), "a live green context keeps its primary context active");
  return release_primary(may_block, primary_->device());
}

}  // namespace km::dropin
