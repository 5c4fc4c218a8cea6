#include "dropin/cufft/xt/descriptors.h"

#include <algorithm>
#include <unordered_map>

namespace km::cufft {
namespace {

/// The live arrays by the address that programs have.
class DescriptorTable {
 public:
  void add(std::shared_ptr<Descriptor> descriptor) {
    const std::lock_guard lock(mutex_);
    const void* const address = &descriptor->described;
    live_.emplace(address, std::move(descriptor));
  }
  std::shared_ptr<Descriptor> find(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(address);
    return found == live_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Descriptor> remove(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(address);
    if (found == live_.end()) return nullptr;
    std::shared_ptr<Descriptor> descriptor = std::move(found->second);
    live_.erase(found);
    return descriptor;
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::unordered_map<const void*, std::shared_ptr<Descriptor>> live_;
};

/// The table is never destroyed, because other threads may make calls during exit.
DescriptorTable& descriptors() {
  union Forever {
    DescriptorTable table;
    Forever() : table() {}
    ~Forever() {}
  };
  static Forever forever;
  return forever.table;
}

cufftResult bytes_for(const Plan& plan, cufftXtSubFormat format, size_t* out) {
  const fft::Transform& in_place = plan.in_place != nullptr ? *plan.in_place : *plan.transform;
  fft::Extent from, to, own_from, own_to;
  fft::find_extents(plan.transform->shape(), &from, &to);
  fft::find_extents(in_place.shape(), &own_from, &own_to);
  switch (format) {
    case CUFFT_XT_FORMAT_INPUT:
    case CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED:
      *out = from.above;
      return CUFFT_SUCCESS;
    case CUFFT_XT_FORMAT_OUTPUT:
      *out = to.above;
      return CUFFT_SUCCESS;
    case CUFFT_XT_FORMAT_INPLACE:
    case CUFFT_XT_FORMAT_INPLACE_SHUFFLED:
      *out = std::max(own_from.above, own_to.above);
      return CUFFT_SUCCESS;
    default:
      return unsupported("arrays of format %d are for several devices", static_cast<int>(format));
  }
}

}  // namespace

cufftResult make_descriptor(const Plan& plan, cufftXtSubFormat format, cudaLibXtDesc** out) {
  auto made = std::make_shared<Descriptor>();
  LIB_TRY(bytes_for(plan, format, &made->size_bytes));
  LIB_CHECK(library::enter_context(*plan.driver));
  cu::CUdevice device = 0;
  LIB_CHECK(plan.driver->cuCtxGetDevice(&device));
  LIB_CHECK(plan.driver->cuMemAlloc_v2(&made->address, made->size_bytes));
  made->driver = plan.driver;
  made->memory.nGPUs = 1;
  made->memory.GPUs[0] = device;
  made->memory.data[0] = reinterpret_cast<void*>(made->address);
  made->memory.size[0] = made->size_bytes;
  made->described = {0, &made->memory, LIB_FORMAT_CUFFT, format, nullptr};
  const cufftResult given = give("descriptor", out, &made->described);
  if (given != CUFFT_SUCCESS) {
    plan.driver->cuMemFree_v2(made->address);
    return given;
  }
  descriptors().add(std::move(made));
  return CUFFT_SUCCESS;
}

cufftResult free_descriptor(cudaLibXtDesc* descriptor) {
  const std::shared_ptr<Descriptor> removed = descriptors().remove(descriptor);
  if (removed == nullptr) return invalid("descriptor is none that cufftXtMalloc has made");
  return status_of(removed->driver->cuMemFree_v2(removed->address));
}

std::shared_ptr<Descriptor> find_descriptor(const void* pointer) {
  return descriptors().find(pointer);
}

cufftResult copy_descriptor(const Plan& plan, void* to, void* from, cufftXtCopyType type) {
  if (type < CUFFT_COPY_HOST_TO_DEVICE || type > CUFFT_COPY_DEVICE_TO_DEVICE) {
    return invalid("there are no copies of type %d", static_cast<int>(type));
  }
  const bool is_to_device = type != CUFFT_COPY_DEVICE_TO_HOST;
  const bool is_from_device = type != CUFFT_COPY_HOST_TO_DEVICE;
  const std::shared_ptr<Descriptor> target = is_to_device ? find_descriptor(to) : nullptr;
  const std::shared_ptr<Descriptor> source = is_from_device ? find_descriptor(from) : nullptr;
  if (is_to_device && target == nullptr) return invalid("dstPointer is no descriptor");
  if (is_from_device && source == nullptr) return invalid("srcPointer is no descriptor");
  if (!is_to_device) LIB_REQUIRE(to);
  if (!is_from_device) LIB_REQUIRE(from);
  size_t size = is_to_device ? target->size_bytes : source->size_bytes;
  if (target != nullptr && source != nullptr) size = std::min(size, source->size_bytes);
  LIB_CHECK(library::enter_context(*plan.driver));
  const auto to_address =
      is_to_device ? target->address : static_cast<cu::CUdeviceptr>(reinterpret_cast<uint64_t>(to));
  const auto from_address = is_from_device
                                ? source->address
                                : static_cast<cu::CUdeviceptr>(reinterpret_cast<uint64_t>(from));
  LIB_CHECK(plan.driver->cuMemcpyAsync(to_address, from_address, size, plan.stream));
  return status_of(plan.driver->cuStreamSynchronize(plan.stream));
}

}  // namespace km::cufft
