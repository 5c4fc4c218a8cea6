// Attributes and launches of functions.
#include "backends/cuda/module/launch.h"

#include <algorithm>
#include <cinttypes>
#include <optional>

#include "backends/cuda/module/module.h"
#include "base/text.h"

namespace km::cuda {
namespace {

std::optional<cu::CUfunction_attribute> native(km_function_attribute attribute) {
  switch (attribute) {
    case KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return cu::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    case KM_FUNCTION_ATTRIBUTE_SHARED_BYTES:
      return cu::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
    case KM_FUNCTION_ATTRIBUTE_CONSTANT_BYTES:
      return cu::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES;
    case KM_FUNCTION_ATTRIBUTE_LOCAL_BYTES:
      return cu::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
    case KM_FUNCTION_ATTRIBUTE_REGISTERS:
      return cu::CU_FUNC_ATTRIBUTE_NUM_REGS;
    case KM_FUNCTION_ATTRIBUTE_PTX_VERSION:
      return cu::CU_FUNC_ATTRIBUTE_PTX_VERSION;
    case KM_FUNCTION_ATTRIBUTE_TARGET:
      return cu::CU_FUNC_ATTRIBUTE_BINARY_VERSION;
    case KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES:
      return cu::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    case KM_FUNCTION_ATTRIBUTE_BINARY_VERSION:
      return cu::CU_FUNC_ATTRIBUTE_BINARY_VERSION;
    case KM_FUNCTION_ATTRIBUTE_CACHE_GLOBALS:
      return cu::CU_FUNC_ATTRIBUTE_CACHE_MODE_CA;
    case KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT:
      return cu::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_REQUIRED:
      return cu::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET;
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_X:
      return cu::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_Y:
      return cu::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT;
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_Z:
      return cu::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH;
    case KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER:
      return cu::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY:
      return cu::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
    default:
      return std::nullopt;
  }
}

bool can_be_set(km_function_attribute attribute) {
  return attribute == KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES ||
         attribute == KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT ||
         attribute == KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER ||
         attribute == KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY;
}

/// Explains a refused launch whose dimensions are within the device's limits but exceed the
/// kernel's.
Error explain_launch(Epoch& epoch, const Function& function, const kmb_launch& launch,
                     Called called) {
  Status checked = epoch.check(called);
  Error error = std::move(checked.error());
  if (called.result != cu::CUDA_ERROR_INVALID_VALUE &&
      called.result != cu::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES &&
      called.result != cu::CUDA_ERROR_INVALID_CLUSTER_SIZE) {
    return error;
  }
  Error told = make_error(
      KM_ERROR_INVALID_LAUNCH,
      "kernel '%s' cannot run with blocks of %u x %u x %u threads and %" PRIu64
      " bytes of dynamic shared memory: it has too many registers or shared bytes for that, or "
      "KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES is too small (%s)",
      source_name(function.info().name).c_str(), launch.block[0], launch.block[1], launch.block[2],
      launch.shared_bytes, error.message.c_str());
  told.native_code = error.native_code;
  return told;
}

float part_of_device(Epoch& epoch, const kmb_launch& launch) {
  const Result<int> processors =
      epoch.gpu().attribute(cu::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  if (!processors || *processors == 0) return 0;
  const float blocks = static_cast<float>(launch.grid[0]) * static_cast<float>(launch.grid[1]) *
                       static_cast<float>(launch.grid[2]);
  return std::min(1.0F, blocks / static_cast<float>(*processors));
}

Called launch_extended(Stream& stream, const Function& function, const kmb_launch& launch,
                       LaunchBuffer& buffer) {
  LaunchAttributes attributes(launch);
  const cu::CUlaunchConfig config{launch.grid[0],
                                  launch.grid[1],
                                  launch.grid[2],
                                  launch.block[0],
                                  launch.block[1],
                                  launch.block[2],
                                  static_cast<unsigned>(launch.shared_bytes),
                                  stream.handle(),
                                  attributes.data(),
                                  attributes.count()};
  return driver().cuLaunchKernelEx(&config, function.handle(), nullptr, buffer.extra());
}

Called launch_now(Stream& stream, const Function& function, const kmb_launch& launch) {
  LaunchBuffer buffer(launch.arguments, launch.arguments_size_bytes);
  if (!is_plain(launch)) return launch_extended(stream, function, launch, buffer);
  return driver().cuLaunchKernel(function.handle(), launch.grid[0], launch.grid[1], launch.grid[2],
                                 launch.block[0], launch.block[1], launch.block[2],
                                 static_cast<unsigned>(launch.shared_bytes), stream.handle(),
                                 nullptr, buffer.extra());
}

Called launch_profiled(Stream& stream, const Function& function, const kmb_launch& launch) {
  ProfiledOperation operation(stream.profile(), stream.epoch(), stream.handle(),
                              KM_PROFILE_KIND_KERNEL, to(&stream), 0, function.info().name,
                              part_of_device(*stream.epoch(), launch));
  operation.set_launch(launch);
  return launch_now(stream, function, launch);
}

}  // namespace

km_status function_info(kmb_function* function, kmb_function_info* out_info, kmb_error*) {
  *out_info = from(function)->info();
  return KM_SUCCESS;
}

km_status function_attribute_get(kmb_function* handle, km_function_attribute attribute,
                                 int64_t* out_value, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const Function& function = *from(handle);
    if (attribute == KM_FUNCTION_ATTRIBUTE_EXECUTION_MODE) {
      return make_error(KM_ERROR_NOT_SUPPORTED, "GPUs have no execution modes");
    }
    const std::optional<cu::CUfunction_attribute> theirs = native(attribute);
    if (!theirs) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "there is no function attribute %d", attribute);
    }
    const Current current(function.epoch());
    KM_TRY(require_current(function.epoch(), current));
    int value = 0;
    KM_TRY(function.epoch().check(driver().cuFuncGetAttribute(&value, *theirs, function.handle())));
    *out_value = value;
    return {};
  });
}

km_status function_attribute_set(kmb_function* handle, km_function_attribute attribute,
                                 int64_t value, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const Function& function = *from(handle);
    if (!can_be_set(attribute)) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "function attribute %d cannot be set",
                        attribute);
    }
    const bool is_size = attribute == KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES;
    if (value < (is_size ? 0 : INT32_MIN) || value > INT32_MAX) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "function attribute %d of kernel '%s' cannot be %" PRId64, attribute,
                        source_name(function.info().name).c_str(), value);
    }
    const Current current(function.epoch());
    KM_TRY(require_current(function.epoch(), current));
    return function.epoch().check(driver().cuFuncSetAttribute(function.handle(), *native(attribute),
                                                              static_cast<int>(value)));
  });
}

km_status launch(kmb_stream* handle, kmb_function* function, const kmb_launch* launch,
                 uint64_t* out_ticket, kmb_error* error) {
  Stream& stream = *from(handle);
  Epoch& epoch = *stream.epoch();
  if (!epoch.has_failed()) [[likely]] {
    const bool asks = stream.asks_for_current();
    const Current current(epoch, asks);
    if (current.ok()) [[likely]] {
      if (asks) stream.note_pushed(current.is_pushed());
      const Called called = stream.profile().is_on()
                                ? launch_profiled(stream, *from(function), *launch)
                                : launch_now(stream, *from(function), *launch);
      if (called.ok()) [[likely]] {
        *out_ticket = stream.next_ticket();
        return KM_SUCCESS;
      }
      return guarded(error, [&]() -> Status {
        return explain_launch(epoch, *from(function), *launch, called);
      });
    }
    return guarded(error, [&] { return require_current(epoch, current); });
  }
  return guarded(error, [&]() -> Status { return epoch.failure(); });
}

}  // namespace km::cuda
