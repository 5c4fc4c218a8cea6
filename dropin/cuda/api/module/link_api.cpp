// Linking of several inputs into one image, which is PTX text.
#include "dropin/cuda/module/device_runtime.h"
#include "dropin/cuda/module/module.h"
#include "dropin/cuda/module/ptx_link.h"

namespace km::dropin {

class LinkState final : public Handled {
 public:
  LinkState(unsigned count, CUjit_option* options, void** values) : logs(count, options, values) {}

  const JitLogs logs;
  std::mutex mutex;  // guards the members below
  std::vector<PtxInput> inputs;
  std::string image;
};

}  // namespace km::dropin

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult create(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  CU_REQUIRE(out);
  *out = publish(make_ref<dropin::LinkState>(count, options, values));
  return CUDA_SUCCESS;
}

/// Recognises the device runtime in a fat binary, which has PTX for the newest GPUs only and is
/// therefore replaced.
bool holds_device_runtime(CUjitInputType type, const void* data, size_t size_bytes) {
  constexpr int kNewest = 999;
  if (type == CU_JIT_INPUT_LIBRARY) {
    return is_device_runtime({static_cast<const char*>(data), size_bytes});
  }
  std::string text;
  return type == CU_JIT_INPUT_FATBINARY &&
         read_image(data, size_bytes, kNewest, &text) == CUDA_SUCCESS &&
         is_device_runtime_text(text);
}

CUresult add(dropin::LinkState& state, CUjitInputType type, const void* data, size_t size_bytes,
             const char* name) {
  CU_REQUIRE(data);
  if (size_bytes == 0) return fail(CUDA_ERROR_INVALID_IMAGE, "an input of 0 bytes");
  if (holds_device_runtime(type, data, size_bytes)) {
    const std::lock_guard lock(state.mutex);
    state.inputs.push_back({"the device runtime", std::string(device_runtime_ptx())});
    return CUDA_SUCCESS;
  }
  if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
    constexpr const char* kWhy = "only PTX can be linked: there is no machine code of GPUs here";
    state.logs.write("", kWhy);
    return fail(type < 0 || type >= CU_JIT_NUM_INPUT_TYPES ? CUDA_ERROR_INVALID_VALUE
                                                           : CUDA_ERROR_NO_BINARY_FOR_GPU,
                "input of type %d: %s", type, kWhy);
  }
  PtxInput input{name != nullptr ? name : "input", ""};
  CU_TRY(read_image(data, size_bytes, capability_of(*Driver::instance().device(0)), &input.text));
  const std::lock_guard lock(state.mutex);
  state.inputs.push_back(std::move(input));
  return CUDA_SUCCESS;
}

/// Compiles the result if a context is current, so that invalid code fails here and not when the
/// image is loaded.
CUresult check(const dropin::LinkState& state) {
  auto* const context = current_context_or_null();
  if (context == nullptr || context->is_destroyed()) return CUDA_SUCCESS;
  const auto loaded = km::Module::load_ptx(*context->core(), state.image, "linked");
  state.logs.write("", loaded ? "" : loaded.error().message);
  return loaded ? CUDA_SUCCESS : result_of(loaded.error());
}

}  // namespace

extern "C" {

CUresult cuLinkCreate_v2(unsigned int count, CUjit_option* options, void** values,
                         CUlinkState* out) {
  return guard(__func__, [&] { return create(count, options, values, out); });
}

CUresult cuLinkCreate(unsigned int count, CUjit_option* options, void** values, CUlinkState* out) {
  return guard(__func__, [&] { return create(count, options, values, out); });
}

CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void* data, size_t size_bytes,
                          const char* name, unsigned int, CUjit_option*, void**) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(LinkState, state, handle);
    return add(*state, type, data, size_bytes, name);
  });
}

CUresult cuLinkAddData(CUlinkState handle, CUjitInputType type, void* data, size_t size_bytes,
                       const char* name, unsigned int count, CUjit_option* options, void** values) {
  return cuLinkAddData_v2(handle, type, data, size_bytes, name, count, options, values);
}

CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char* path, unsigned int,
                          CUjit_option*, void**) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(path);
    CU_GET(LinkState, state, handle);
    std::string content;
    CU_TRY(read_image_file(path, &content));
    return add(*state, type, content.data(), content.size(), path);
  });
}

CUresult cuLinkAddFile(CUlinkState handle, CUjitInputType type, const char* path,
                       unsigned int count, CUjit_option* options, void** values) {
  return cuLinkAddFile_v2(handle, type, path, count, options, values);
}

CUresult cuLinkComplete(CUlinkState handle, void** image, size_t* size_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(image);
    CU_GET(LinkState, state, handle);
    const std::lock_guard lock(state->mutex);
    if (state->inputs.empty()) return fail(CUDA_ERROR_INVALID_VALUE, "there is nothing to link");
    auto linked = link_ptx(state->inputs);
    if (!linked) {
      state->logs.write("", linked.error().message);
      return result_of(linked.error());
    }
    state->image = limit_registers(*linked, state->logs.max_registers());
    CU_TRY(check(*state));
    *image = state->image.data();
    // including the terminating zero
    if (size_bytes != nullptr) *size_bytes = state->image.size() + 1;
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkDestroy(CUlinkState handle) {
  return guard(__func__, [&]() -> CUresult {
    if (!retire<dropin::LinkState>(handle)) {
      return fail(CUDA_ERROR_INVALID_HANDLE, "the link state is not a live handle");
    }
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
