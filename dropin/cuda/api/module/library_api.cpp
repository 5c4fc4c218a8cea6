// Libraries and kernels: code that is independent of contexts.
#include "core/object/callback.h"
#include "dropin/cuda/module/module.h"
#include "dropin/toolchain/ptx_edits.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult load(CUlibrary* out, const void* image, size_t size_bytes, const JitLogs& logs) {
  CU_REQUIRE(out);
  std::string ptx;
  CU_TRY(read_image(image, size_bytes, capability_of(*Driver::instance().device(0)), &ptx));
  auto library =
      make_ref<dropin::Library>(toolchain::limit_registers(std::move(ptx), logs.max_registers()));
  // Loads the module now if a context is current, so that invalid code fails in this call and not
  // at its first use.
  if (auto* const context = current_context_or_null(); context && !context->is_destroyed()) {
    Ref<dropin::Module> module;
    CU_TRY(library->module_in(*context, logs, &module));
  }
  *out = publish(std::move(library));
  return CUDA_SUCCESS;
}

/// A kernel's function on a device; in the current context if that is one of the device's.
CUresult function_on(CUkernel handle, CUdevice ordinal, Ref<dropin::Function>* out) {
  CU_DEVICE(device, ordinal);
  CU_GET(Kernel, kernel, handle);
  auto* const context = current_context_or_null();
  if (context != nullptr && !context->is_destroyed() && &context->device() == device) {
    return kernel->function_in(*context, out);
  }
  Ref<dropin::Module> module;
  CU_TRY(kernel->library().any_module(&module));
  return module->function(kernel->name(), out);
}

CUresult any_function(CUkernel handle, Ref<dropin::Function>* out) {
  CU_GET(Kernel, kernel, handle);
  Ref<dropin::Module> module;
  CU_TRY(kernel->library().any_module(&module));
  return module->function(kernel->name(), out);
}

}  // namespace

extern "C" {

CUresult cuLibraryLoadData(CUlibrary* out, const void* image, CUjit_option* options, void** values,
                           unsigned int count, CUlibraryOption*, void**, unsigned int) {
  return guard(__func__, [&] { return load(out, image, 0, JitLogs(count, options, values)); });
}

CUresult cuLibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option* options,
                               void** values, unsigned int count, CUlibraryOption*, void**,
                               unsigned int) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(path);
    std::string content;
    CU_TRY(read_image_file(path, &content));
    return load(out, content.data(), content.size(), JitLogs(count, options, values));
  });
}

CUresult cuLibraryUnload(CUlibrary handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_ASSIGN(const MayBlock may_block, require_may_block());
    CU_GET(Library, library, handle);
    library->unload(may_block);
    if (!retire<dropin::Library>(may_block, handle)) {
      return fail(CUDA_ERROR_INVALID_HANDLE, "the library is not a live handle");
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary handle, const char* name) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_REQUIRE(name);
    CU_GET(Library, library, handle);
    Ref<dropin::Kernel> kernel;
    CU_TRY(library->kernel(name, &kernel));
    *out = handle_of(*kernel);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(count);
    CU_GET(Library, library, handle);
    Ref<dropin::Module> module;
    CU_TRY(library->any_module(&module));
    *count = static_cast<unsigned>(module->function_names().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* out, unsigned int count, CUlibrary handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Library, library, handle);
    Ref<dropin::Module> module;
    CU_TRY(library->any_module(&module));
    const std::vector<std::string> names = module->function_names();
    for (unsigned i = 0; i < count && i < names.size(); ++i) {
      Ref<dropin::Kernel> kernel;
      CU_TRY(library->kernel(names[i], &kernel));
      out[i] = handle_of(*kernel);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetModule(CUmodule* out, CUlibrary handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_CURRENT(context);
    CU_GET(Library, library, handle);
    Ref<dropin::Module> module;
    CU_TRY(library->module_in(*context, JitLogs(0, nullptr, nullptr), &module));
    *out = handle_of(*module);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* out, size_t* out_bytes, CUlibrary handle,
                            const char* name) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(name);
    CU_CURRENT(context);
    CU_GET(Library, library, handle);
    Ref<dropin::Module> module;
    CU_TRY(library->module_in(*context, JitLogs(0, nullptr, nullptr), &module));
    return module->global(name, out, out_bytes);
  });
}

CUresult cuLibraryGetManaged(CUdeviceptr* out, size_t* out_bytes, CUlibrary handle,
                             const char* name) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(name);
    CU_GET(Library, library, handle);
    if (!library->is_managed(name)) {
      return fail(CUDA_ERROR_NOT_FOUND, "there is no managed variable '%.200s'", name);
    }
    Ref<dropin::Module> module;
    auto* const context = current_context_or_null();
    if (context != nullptr && !context->is_destroyed()) {
      CU_TRY(library->module_in(*context, JitLogs(0, nullptr, nullptr), &module));
    } else {
      CU_TRY(library->any_module(&module));
    }
    return module->global(name, out, out_bytes);
  });
}

CUresult cuKernelGetFunction(CUfunction* out, CUkernel handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_CURRENT(context);
    CU_GET(Kernel, kernel, handle);
    Ref<dropin::Function> function;
    CU_TRY(kernel->function_in(*context, &function));
    *out = handle_of(*function);
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetLibrary(CUlibrary* out, CUkernel handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Kernel, kernel, handle);
    *out = handle_of(kernel->library());
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetName(const char** out, CUkernel handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    Ref<dropin::Function> function;
    CU_TRY(any_function(handle, &function));
    *out = function->info().name;
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel handle,
                              CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    Ref<dropin::Function> function;
    CU_TRY(function_on(handle, device, &function));
    return function->attribute(attribute, value);
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                              CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    Ref<dropin::Function> function;
    CU_TRY(function_on(handle, device, &function));
    return function->set_attribute(attribute, value);
  });
}

CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    Ref<dropin::Function> function;
    CU_TRY(function_on(handle, device, &function));
    if (config < 0 || config > CU_FUNC_CACHE_PREFER_EQUAL) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no preference %d of caches", config);
    }
    return CUDA_SUCCESS;  // cache settings are hints without effect here
  });
}

CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t* offset, size_t* size_bytes) {
  return guard(__func__, [&]() -> CUresult {
    Ref<dropin::Function> function;
    CU_TRY(any_function(handle, &function));
    return cuFuncGetParamInfo(handle_of(*function), index, offset, size_bytes);
  });
}

CUresult cuKernelGetParamCount(CUkernel handle, size_t* count) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(count);
    Ref<dropin::Function> function;
    CU_TRY(any_function(handle, &function));
    *count = function->info().param_count;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
