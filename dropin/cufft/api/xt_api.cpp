// Descriptors of arrays, devices, and callbacks.
#include "dropin/cufft/plan/callbacks.h"
#include "dropin/cufft/plan/execute.h"
#include "dropin/cufft/xt/descriptors.h"
#include "dropin/cufft/xt/jit_callback.h"

using namespace km;
using namespace km::cufft;

namespace {

cufftResult find_data(const char* name, const cudaLibXtDesc* descriptor, void** out) {
  const std::shared_ptr<Descriptor> found = find_descriptor(descriptor);
  if (found == nullptr) return invalid("%s is none that cufftXtMalloc has made", name);
  *out = reinterpret_cast<void*>(found->address);
  return CUFFT_SUCCESS;
}

cufftResult run(cufftHandle handle, const cufftType* type, const char* name, cudaLibXtDesc* input,
                cudaLibXtDesc* output, int direction) {
  return call_made(
      handle,
      [&](const Plan& plan) -> cufftResult {
        ExecuteRequest request;
        request.name = name;
        request.direction = direction;
        LIB_TRY(find_data("input", input, &request.in));
        LIB_TRY(find_data("output", output, &request.out));
        return type != nullptr ? execute_typed(plan, *type, request) : execute(plan, request);
      },
      name);
}
cufftResult run(cufftHandle handle, cufftType type, const char* name, cudaLibXtDesc* input,
                cudaLibXtDesc* output, int direction = -1) {
  return run(handle, &type, name, input, output, direction);
}

/// The most dynamic shared memory of callbacks.
constexpr size_t kMostSharedBytes = 16384;
constexpr size_t kLongestName = 4096, kMostCodeBytes = size_t{64} << 20;

cufftResult check_type(cufftXtCallbackType type) {
  if (type >= CUFFT_CB_LD_COMPLEX && type < CUFFT_CB_UNDEFINED) return CUFFT_SUCCESS;
  return invalid("there are no callbacks of type %d", static_cast<int>(type));
}

/// The first of the pointers, one for each device, that a program gives.
cufftResult read_pointer(const char* name, void** from, uint64_t* out) {
  void* read = nullptr;
  if (!library::read_host(from, &read)) {
    return invalid("%s cannot be read at %p", name, static_cast<void*>(from));
  }
  *out = reinterpret_cast<uint64_t>(read);
  return CUFFT_SUCCESS;
}

cufftResult read_caller_info(void** from, Callback* out) {
  return from == nullptr ? CUFFT_SUCCESS : read_pointer("caller_info", from, &out->caller_info);
}

}  // namespace

extern "C" {

cufftResult cufftXtSetGPUs(cufftHandle handle, int nGPUs, int* whichGPUs) {
  return call(handle, [&](const Plan& plan) -> cufftResult {
    if (plan.is_made()) return invalid_plan("the plan has been made");
    if (nGPUs < 1) return invalid("nGPUs is %d", nGPUs);
    if (nGPUs > 1) return unsupported("a transform runs on one device, not on %d", nGPUs);
    int device = 0, count = 0;
    if (whichGPUs == nullptr || !library::read_host(whichGPUs, &device)) {
      return invalid("whichGPUs cannot be read at %p", static_cast<void*>(whichGPUs));
    }
    LIB_CHECK(plan.driver->cuDeviceGetCount(&count));
    if (device < 0 || device >= count) {
      return frame::fail(CUFFT_INVALID_DEVICE, "there is no device %d", device);
    }
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtMalloc(cufftHandle plan, cudaLibXtDesc** descriptor, cufftXtSubFormat format) {
  return call_made(plan, [&](const Plan& own) -> cufftResult {
    LIB_REQUIRE(descriptor);
    return make_descriptor(own, format, descriptor);
  });
}

cufftResult cufftXtFree(cudaLibXtDesc* descriptor) {
  return call([&] { return free_descriptor(descriptor); });
}

cufftResult cufftXtMemcpy(cufftHandle plan, void* dstPointer, void* srcPointer,
                          cufftXtCopyType type) {
  return call_made(
      plan, [&](const Plan& own) { return copy_descriptor(own, dstPointer, srcPointer, type); });
}

cufftResult cufftXtExecDescriptor(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output,
                                  int direction) {
  return run(plan, nullptr, __func__, input, output, direction);
}

cufftResult cufftXtExecDescriptorC2C(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output,
                                     int direction) {
  return run(plan, CUFFT_C2C, __func__, input, output, direction);
}

cufftResult cufftXtExecDescriptorR2C(cufftHandle plan, cudaLibXtDesc* input,
                                     cudaLibXtDesc* output) {
  return run(plan, CUFFT_R2C, __func__, input, output);
}

cufftResult cufftXtExecDescriptorC2R(cufftHandle plan, cudaLibXtDesc* input,
                                     cudaLibXtDesc* output) {
  return run(plan, CUFFT_C2R, __func__, input, output);
}

cufftResult cufftXtExecDescriptorZ2Z(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output,
                                     int direction) {
  return run(plan, CUFFT_Z2Z, __func__, input, output, direction);
}

cufftResult cufftXtExecDescriptorD2Z(cufftHandle plan, cudaLibXtDesc* input,
                                     cudaLibXtDesc* output) {
  return run(plan, CUFFT_D2Z, __func__, input, output);
}

cufftResult cufftXtExecDescriptorZ2D(cufftHandle plan, cudaLibXtDesc* input,
                                     cudaLibXtDesc* output) {
  return run(plan, CUFFT_Z2D, __func__, input, output);
}

cufftResult cufftXtQueryPlan(cufftHandle plan, void* queryStruct, cufftXtQueryType queryType) {
  return call_made(plan, [&](const Plan&) -> cufftResult {
    LIB_REQUIRE(queryStruct);
    if (queryType != CUFFT_QUERY_1D_FACTORS) {
      return invalid("there are no queries of type %d", static_cast<int>(queryType));
    }
    return unsupported("the numbers of a plan on one device are in their natural order");
  });
}

cufftResult cufftXtSetCallback(cufftHandle plan, void** callback_routine,
                               cufftXtCallbackType cbType, void** caller_info) {
  return call_made(plan, [&](Plan& own) -> cufftResult {
    LIB_REQUIRE(callback_routine);
    LIB_TRY(check_type(cbType));
    LIB_TRY(check_callback_type(own, cbType));
    Callback callback;
    LIB_TRY(read_pointer("callback_routine", callback_routine, &callback.function));
    if (callback.function == 0) return invalid("callback_routine[0] is null");
    LIB_TRY(read_caller_info(caller_info, &callback));
    callback.shared_bytes = own.callbacks[cbType].shared_bytes;
    LIB_TRY(check_callback(own, cbType, callback));
    own.callbacks[cbType] = std::move(callback);
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtClearCallback(cufftHandle plan, cufftXtCallbackType cbType) {
  return call_made(plan, [&](Plan& own) -> cufftResult {
    LIB_TRY(check_type(cbType));
    own.callbacks[cbType] = {};
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtSetCallbackSharedSize(cufftHandle plan, cufftXtCallbackType cbType,
                                         size_t sharedSize) {
  return call_made(plan, [&](Plan& own) -> cufftResult {
    LIB_TRY(check_type(cbType));
    LIB_TRY(check_callback_type(own, cbType));
    if (sharedSize > kMostSharedBytes) {
      return frame::fail(CUFFT_ALLOC_FAILED, "callbacks have at most %zu bytes of shared memory",
                         kMostSharedBytes);
    }
    own.callbacks[cbType].shared_bytes = sharedSize;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtSetJITCallback(cufftHandle plan, const char* lto_callback_symbol_name,
                                  const void* lto_callback_fatbin, size_t lto_callback_fatbin_size,
                                  cufftXtCallbackType type, void** caller_info) {
  return call(plan, [&](Plan& own) -> cufftResult {
    LIB_TRY(check_type(type));
    LIB_REQUIRE(lto_callback_fatbin);
    if (own.is_made()) return invalid_plan("the plan has been made: set its callbacks before");
    std::string name, code;
    if (!library::read_host_text(lto_callback_symbol_name, kLongestName, &name)) {
      return invalid("lto_callback_symbol_name cannot be read at %p",
                     static_cast<const void*>(lto_callback_symbol_name));
    }
    if (lto_callback_fatbin_size == 0 || lto_callback_fatbin_size > kMostCodeBytes) {
      return invalid("lto_callback_fatbin_size is %zu", lto_callback_fatbin_size);
    }
    code.resize(lto_callback_fatbin_size);
    if (!library::read_host(code.data(), lto_callback_fatbin, code.size())) {
      return invalid("lto_callback_fatbin cannot be read at %p", lto_callback_fatbin);
    }
    Callback callback;
    LIB_TRY(read_caller_info(caller_info, &callback));
    LIB_TRY(load_jit_callback(*own.driver, name, code, type, &callback));
    own.callbacks[type] = std::move(callback);
    return CUFFT_SUCCESS;
  });
}

/// The name that the header of CUDA 12 gives cufftXtSetJITCallback.
cufftResult __cufftXtSetJITCallback_12_7(cufftHandle plan, const char* name, const void* fatbin,
                                         size_t size, cufftXtCallbackType type, void** info) {
  return cufftXtSetJITCallback(plan, name, fatbin, size, type, info);
}

}  // extern "C"
