// Linking of several inputs into one image, a cubin that holds PTX.
#include <chrono>

#include "base/cuda/compute_capability.h"
#include "dropin/cuda/module/module.h"
#include "dropin/toolchain/container.h"
#include "dropin/toolchain/linker.h"

namespace km::dropin {

class LinkState final : public Handled {
 public:
  LinkState(const JitLogs& given_logs, toolchain::AssemblerOptions options)
      : logs(given_logs), linker(std::move(options)) {}

  /// Copies what the linker has said into the program's buffers.
  void write_logs() const { logs.write(linker.infos(), linker.errors()); }

  const JitLogs logs;
  std::mutex mutex;  // guards the members below
  toolchain::Linker linker;
  std::string image;
  std::chrono::steady_clock::duration time{};
};

}  // namespace km::dropin

namespace km::cu {

using namespace km::dropin;  // NOLINT
using toolchain::InputKind;
using toolchain::InputStatus;

namespace {

/// Counts the time of a call for CU_JIT_WALL_TIME.
class Stopwatch {
 public:
  explicit Stopwatch(dropin::LinkState& state) : state_(state) {}
  ~Stopwatch() {
    state_.time += std::chrono::steady_clock::now() - begin_;
    state_.logs.write_wall_time(std::chrono::duration<float, std::milli>(state_.time).count());
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  dropin::LinkState& state_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

CUresult create(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  CU_REQUIRE(out);
  const JitLogs logs(count, options, values);
  toolchain::AssemblerOptions assembler;
  const auto own = static_cast<uint32_t>(capability_of(*Driver::instance().device(0)));
  // Inputs may be as new as modules that load.
  assembler.gpu_name = "sm_" + std::to_string(std::max(newest_target(own), logs.target()));
  assembler.max_registers = logs.max_registers();
  assembler.is_verbose = logs.is_verbose();
  *out = publish(make_ref<dropin::LinkState>(logs, std::move(assembler)));
  return CUDA_SUCCESS;
}

/// Finds the kind of an input. False: there is no such type.
bool find_kind(CUjitInputType type, InputKind* kind) {
  switch (type) {
    case CU_JIT_INPUT_CUBIN:
      *kind = InputKind::kCubin;
      return true;
    case CU_JIT_INPUT_PTX:
      *kind = InputKind::kPtx;
      return true;
    case CU_JIT_INPUT_FATBINARY:
      *kind = InputKind::kFatbin;
      return true;
    case CU_JIT_INPUT_OBJECT:
      *kind = InputKind::kObject;
      return true;
    case CU_JIT_INPUT_LIBRARY:
      *kind = InputKind::kLibrary;
      return true;
    case CU_JIT_INPUT_NVVM:
      *kind = InputKind::kLinkTimeCode;
      return true;
    default:
      return false;
  }
}

CUresult result_of_input(InputStatus status, InputKind kind) {
  switch (status) {
    case InputStatus::kAdded:
      return CUDA_SUCCESS;
    case InputStatus::kAssemblyFailed:
      return CUDA_ERROR_INVALID_PTX;
    case InputStatus::kUnsupportedVersion:
      return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case InputStatus::kLinkTimeCode:
    case InputStatus::kMachineCode:
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    default:
      if (kind == InputKind::kPtx) return CUDA_ERROR_INVALID_PTX;
      return kind == InputKind::kFatbin ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
}

CUresult add(dropin::LinkState& state, CUjitInputType type, const void* data, size_t size_bytes,
             const char* name) {
  CU_REQUIRE(data);
  if (size_bytes == 0) return fail(CUDA_ERROR_INVALID_IMAGE, "an input of 0 bytes");
  InputKind kind{};
  if (!find_kind(type, &kind)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no type of input %d", type);
  }
  const std::lock_guard lock(state.mutex);
  const Stopwatch stopwatch(state);
  const std::string_view bytes(static_cast<const char*>(data), size_bytes);
  const std::string own_name = name != nullptr ? name : "input";
  const size_t known = state.linker.errors().size();
  const InputStatus status = state.linker.add(kind, bytes, own_name);
  state.write_logs();
  if (status == InputStatus::kAdded) return CUDA_SUCCESS;
  std::string why = state.linker.errors().substr(known);
  if (why.empty()) why = "its bytes are not of type " + std::to_string(type);
  return fail(result_of_input(status, kind), "input '%s': %s", own_name.c_str(), why.c_str());
}

/// Compiles the result if a context is current, so that invalid code fails here and not when the
/// image is loaded.
CUresult check(const dropin::LinkState& state) {
  auto* const context = current_context_or_null();
  if (context == nullptr || context->is_destroyed()) return CUDA_SUCCESS;
  const auto container = toolchain::read_container(state.image.data(), state.image.size());
  if (!container) return result_of(container.error());
  const auto loaded = km::Module::load_ptx(*context->core(), std::string(container->ptx), "linked");
  if (!loaded) state.logs.write(state.linker.infos(), loaded.error().message);
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
    if (state->linker.is_empty()) return fail(CUDA_ERROR_INVALID_VALUE, "there is nothing to link");
    const Stopwatch stopwatch(*state);
    const size_t known = state->linker.errors().size();
    state->image = state->linker.link();
    state->write_logs();
    if (state->image.empty()) {
      return fail(CUDA_ERROR_INVALID_PTX, "%s", state->linker.errors().substr(known).c_str());
    }
    CU_TRY(check(*state));
    *image = state->image.data();
    if (size_bytes != nullptr) *size_bytes = state->image.size();
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
