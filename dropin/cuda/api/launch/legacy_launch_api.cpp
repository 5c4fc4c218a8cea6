// Launches in the style of CUDA 1 to 3: separate calls set a function's block shape, shared memory
// and arguments, which persist. Other launches neither read nor change these settings.
#include <cstring>

#include "dropin/cuda/launch/launch.h"
#include "dropin/cuda/texture/texture_reference.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

constexpr int kDefaultTextureUnit = -1;  // CU_PARAM_TR_DEFAULT

/// Calls change(state, function) with the function's settings locked.
template <class Change>
CUresult with_legacy_launch(CUfunction handle, Change&& change) {
  FunctionUse function;
  CU_TRY(function.get(handle));
  LegacyLaunch& state = function->legacy_launch();
  const std::lock_guard lock(state.mutex);
  return change(state, *function);
}

CUresult set_block_shape(CUfunction handle, int x, int y, int z) {
  return with_legacy_launch(
      handle, [&](LegacyLaunch& state, dropin::Function& function) -> CUresult {
        if (x <= 0 || y <= 0 || z <= 0) {
          return fail(CUDA_ERROR_INVALID_VALUE, "a block of %d x %d x %d threads", x, y, z);
        }
        const LaunchShape shape{
            {1, 1, 1},
            {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)},
            0,
            {},
            false};
        CU_CHECK(check_shape(*function.context().device().device, shape));
        state.block = shape.block;
        return CUDA_SUCCESS;
      });
}

CUresult check_parameter_range(uint64_t begin, uint64_t size_bytes) {
  if (begin <= kMaxParameterBytes && size_bytes <= kMaxParameterBytes - begin) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE,
              "%llu bytes of arguments at offset %llu; there is room for %llu",
              static_cast<unsigned long long>(size_bytes), static_cast<unsigned long long>(begin),
              static_cast<unsigned long long>(kMaxParameterBytes));
}

CUresult set_argument(CUfunction handle, int offset, const void* from, size_t size_bytes) {
  return with_legacy_launch(handle, [&](LegacyLaunch& state, dropin::Function&) -> CUresult {
    if (offset < 0) return fail(CUDA_ERROR_INVALID_VALUE, "offset is %d", offset);
    if (size_bytes != 0) CU_REQUIRE(from);
    const auto begin = static_cast<size_t>(offset);
    CU_TRY(check_parameter_range(begin, size_bytes));
    if (state.arguments.size() < begin + size_bytes) state.arguments.resize(begin + size_bytes);
    if (size_bytes != 0) std::memcpy(state.arguments.data() + begin, from, size_bytes);
    return CUDA_SUCCESS;
  });
}

/// Copies the settings: a launch may block, and must not hold the lock while it does.
CUresult read_legacy_launch(CUfunction handle, LaunchShape* shape,
                            std::vector<std::byte>* arguments) {
  return with_legacy_launch(handle, [&](LegacyLaunch& state, dropin::Function& function) {
    if (state.block[0] == 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "kernel '%s': cuFuncSetBlockShape was never called",
                  function.info().name);
    }
    if (state.size_bytes < function.info().param_bytes) {
      return fail(CUDA_ERROR_INVALID_VALUE,
                  "kernel '%s' takes %llu bytes of arguments; cuParamSetSize said %llu",
                  function.info().name,
                  static_cast<unsigned long long>(function.info().param_bytes),
                  static_cast<unsigned long long>(state.size_bytes));
    }
    shape->block = state.block;
    shape->shared_bytes = state.shared_bytes;
    *arguments = state.arguments;
    arguments->resize(state.size_bytes);
    return CUresult{CUDA_SUCCESS};
  });
}

CUresult launch_grid(CUfunction function, int width, int height, CUstream stream) {
  if (width <= 0 || height <= 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a grid of %d x %d blocks", width, height);
  }
  LaunchShape shape{
      {static_cast<unsigned>(width), static_cast<unsigned>(height), 1}, {}, 0, {}, false};
  std::vector<std::byte> arguments;
  CU_TRY(read_legacy_launch(function, &shape, &arguments));
  size_t size_bytes = arguments.size();
  void* extra[] = {reinterpret_cast<void*>(CU_LAUNCH_PARAM_BUFFER_POINTER), arguments.data(),
                   reinterpret_cast<void*>(CU_LAUNCH_PARAM_BUFFER_SIZE), &size_bytes,
                   reinterpret_cast<void*>(CU_LAUNCH_PARAM_END)};
  return launch({function, shape, stream, nullptr, extra});
}

}  // namespace

extern "C" {

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return guard(__func__, [&] { return set_block_shape(function, x, y, z); });
}

CUresult cuFuncSetSharedSize(CUfunction handle, unsigned int size_bytes) {
  return guard(__func__, [&] {
    return with_legacy_launch(handle, [&](LegacyLaunch& state, dropin::Function&) -> CUresult {
      state.shared_bytes = size_bytes;
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuParamSetSize(CUfunction handle, unsigned int size_bytes) {
  return guard(__func__, [&] {
    return with_legacy_launch(handle, [&](LegacyLaunch& state, dropin::Function&) -> CUresult {
      CU_TRY(check_parameter_range(0, size_bytes));
      state.size_bytes = size_bytes;
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned int value) {
  return guard(__func__, [&] { return set_argument(function, offset, &value, sizeof value); });
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return guard(__func__, [&] { return set_argument(function, offset, &value, sizeof value); });
}

CUresult cuParamSetv(CUfunction function, int offset, void* from, unsigned int size_bytes) {
  return guard(__func__, [&] { return set_argument(function, offset, from, size_bytes); });
}

CUresult cuParamSetTexRef(CUfunction handle, int unit, CUtexref reference) {
  return guard(__func__, [&] {
    return with_legacy_launch(handle, [&](LegacyLaunch&, dropin::Function&) -> CUresult {
      if (unit != kDefaultTextureUnit) {
        return fail(CUDA_ERROR_INVALID_VALUE, "texunit is %d; it must be CU_PARAM_TR_DEFAULT",
                    unit);
      }
      // the kernel's code refers to it directly
      if (Pin<TextureReference>(reference)) return CUDA_SUCCESS;
      return fail(CUDA_ERROR_INVALID_HANDLE, "the texture reference is not a live handle");
    });
  });
}

CUresult cuLaunch(CUfunction function) {
  return guard(__func__, [&] { return launch_grid(function, 1, 1, nullptr); });
}

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return guard(__func__, [&] { return launch_grid(function, width, height, nullptr); });
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return guard(__func__, [&] { return launch_grid(function, width, height, stream); });
}

}  // extern "C"

}  // namespace km::cu
