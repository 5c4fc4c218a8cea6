// Modules and functions.
#include "base/env.h"
#include "core/object/callback.h"
#include "dropin/cuda/module/module.h"
#include "dropin/toolchain/ptx_edits.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult load(CUmodule* out, const void* image, size_t size_bytes, const JitLogs& logs) {
  CU_REQUIRE(out);
  CU_CURRENT(context);
  std::string ptx;
  CU_TRY(read_image(image, size_bytes, capability_of(context->device()), &ptx));
  Ref<dropin::Module> module;
  ptx = toolchain::limit_registers(std::move(ptx), logs.max_registers());
  CU_TRY(dropin::Module::load(*context, ptx, logs, &module));
  *out = handle_of(*module);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  return guard(__func__, [&] { return load(out, image, 0, JitLogs(0, nullptr, nullptr)); });
}

CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned int count,
                            CUjit_option* options, void** values) {
  return guard(__func__, [&] { return load(out, image, 0, JitLogs(count, options, values)); });
}

CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) {
  return guard(__func__, [&] { return load(out, image, 0, JitLogs(0, nullptr, nullptr)); });
}

CUresult cuModuleLoad(CUmodule* out, const char* path) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(path);
    std::string content;
    CU_TRY(read_image_file(path, &content));
    return load(out, content.data(), content.size(), JitLogs(0, nullptr, nullptr));
  });
}

CUresult cuModuleUnload(CUmodule handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_ASSIGN(const MayBlock may_block, require_may_block());
    if (!retire<dropin::Module>(may_block, handle)) {
      return fail(CUDA_ERROR_INVALID_HANDLE, "the module is not a live handle");
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(mode);
    *mode = foreign_env("CUDA_MODULE_LOADING") == "EAGER" ? CU_MODULE_EAGER_LOADING
                                                          : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_REQUIRE(name);
    CU_GET(Module, module, handle);
    Ref<dropin::Function> function;
    CU_TRY(module->function(name, &function));
    *out = handle_of(*function);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(count);
    CU_GET(Module, module, handle);
    *count = static_cast<unsigned>(module->function_names().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* out, unsigned int count, CUmodule handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Module, module, handle);
    const std::vector<std::string> names = module->function_names();
    for (unsigned i = 0; i < count && i < names.size(); ++i) {
      Ref<dropin::Function> function;
      CU_TRY(module->function(names[i], &function));
      out[i] = handle_of(*function);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* out, size_t* out_bytes, CUmodule handle,
                              const char* name) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(name);
    CU_GET(Module, module, handle);
    return module->global(name, out, out_bytes);
  });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    return function->attribute(attribute, value);
  });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return guard(__func__, [&]() -> CUresult {
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    return function->set_attribute(attribute, value);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
  return guard(__func__, [&]() -> CUresult {
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    if (config < 0 || config > CU_FUNC_CACHE_PREFER_EQUAL) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no preference %d of caches", config);
    }
    return CUDA_SUCCESS;  // cache settings are hints without effect here
  });
}

CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
  return guard(__func__, [&]() -> CUresult {
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    if (config < 0 || config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no configuration %d of banks", config);
    }
    return CUDA_SUCCESS;  // cache settings are hints without effect here
  });
}

CUresult cuFuncGetModule(CUmodule* out, CUfunction handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    *out = function->module();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetName(const char** out, CUfunction handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    *out = function->info().name;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* size_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(offset);
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    if (index >= function->info().param_count) {
      return fail(CUDA_ERROR_INVALID_VALUE, "kernel '%s' has no parameter %zu",
                  function->info().name, index);
    }
    const kmb_param& param = function->info().params[index];
    *offset = param.offset_bytes;
    if (size_bytes != nullptr) *size_bytes = param.size_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetParamCount(CUfunction handle, size_t* count) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(count);
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    *count = function->info().param_count;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(state);
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncLoad(CUfunction handle) {
  return guard(__func__, [&]() -> CUresult {
    Ref<dropin::Function> function;
    return find_function(handle, &function);
  });
}

}  // extern "C"

}  // namespace km::cu
