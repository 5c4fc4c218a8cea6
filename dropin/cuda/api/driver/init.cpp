// Initialisation, version, names of errors, and profiler control.
#include <execinfo.h>

#include <cstring>
#include <filesystem>

#include "base/cuda/cuda_results.h"
#include "base/cuda/nvidia_libraries.h"
#include "base/cuda/python_packages.h"
#include "base/process/dylib.h"
#include "dropin/cuda/api/context/context_contents.h"
#include "dropin/cuda/api/driver/library_table.h"
#include "dropin/cuda/context/context.h"
#include "dropin/cuda/frame/error_text.h"
#include "dropin/library/table.h"
#include "km_version.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

constexpr const char* kOwnRuntime =
    "libcudart.so of lib/kernelmill-" KM_VERSION_STRING "/cuda/13 (12 for CUDA 12)";

bool is_program(const std::string& file) {
  std::error_code ignored;
  return file == std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

bool is_of_kernelmill(const CUuuid* id) {
  constexpr size_t kVersionBytes = 2;  // at the end
  const CUuuid& own = library::kLibraryTableId;
  return id != nullptr && std::memcmp(id->bytes, own.bytes, sizeof own - kVersionBytes) == 0;
}

std::string own_file() { return file_of_code(reinterpret_cast<const void*>(&is_program)); }

/// The file whose code called this library. The stack has several frames of this library's own: the
/// exported function, what tells a profiler of the call, and the function itself.
std::string calling_file() {
  void* frames[16];
  const int count = backtrace(frames, static_cast<int>(std::size(frames)));
  const std::string own = own_file();
  for (int i = 0; i < count; ++i) {
    std::string file = file_of_code(frames[i]);
    if (file != own) return file;
  }
  return own;
}

/// How a Python package, which cannot be relinked, can be made to load our library of this name;
/// empty if this installation has none. `kernelmill exec` replaces it unless it was told not to.
std::string replacement_advice(const std::string& name) {
  const std::filesystem::path own = own_file();
  for (const char* const folder : {"", "13", "12"}) {
    const std::filesystem::path path = own.parent_path() / folder / name;
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      return "run the program by `kernelmill exec` without --no-replace, which gives it " +
             path.string();
    }
  }
  return {};
}

/// Advice for one of NVIDIA's libraries in `file`, if a Python package installed it; otherwise
/// empty.
std::string wheel_advice(const std::string& file, const std::string& name) {
  if (advice_for_python_file(file).empty()) return {};
  const std::string ours = replacement_advice(name);
  return ours.empty() ? "use what the package that needs it has for CPUs" : ours;
}

/// A hint for code in `file` that asks for a private table; empty if the code works without it.
std::string hint_for(const std::string& file, const CUuuid* id) {
  if (is_of_kernelmill(id)) {
    return file + " belongs to another Kernelmill than this driver library, " + own_file() +
           ": use both of one installation";
  }
  const std::string name = file.substr(file.rfind('/') + 1);
  // Some versions of NVIDIA's compilers ask the driver if there is one.
  if (name.starts_with("libnvrtc") || name.starts_with("libnvJitLink")) return {};
  if (name.starts_with("libcudart")) {
    const std::string advice = wheel_advice(file, name);
    return "the program loads NVIDIA's CUDA runtime by a path of its own, " + file +
           ", which needs private tables of NVIDIA's driver: " +
           (advice.empty() ? std::string("have it load ") + kOwnRuntime : advice);
  }
  if (const NvidiaLibrary* const known = find_nvidia_library(name)) {
    const std::string advice = wheel_advice(file, name);
    return "the program uses " + name + " (" + known->name +
           "), which runs on NVIDIA's driver only: " +
           (advice.empty() ? known->advice : advice.c_str());
  }
  if (const std::string advice = advice_for_python_file(file); !advice.empty()) {
    return file +
           " holds NVIDIA's own CUDA runtime, which needs private tables of NVIDIA's driver: " +
           advice;
  }
  return (is_program(file) ? "the program" : file) +
         " holds NVIDIA's own CUDA runtime, which needs private tables of NVIDIA's driver: build "
         "it with `nvcc -cudart shared`, or link " +
         kOwnRuntime;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned int flags) {
  return guard_anywhere(__func__, [&]() -> CUresult {
    if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u; it must be 0", flags);
    connect_contexts();
    return Driver::instance().initialize();
  });
}

CUresult cuDriverGetVersion(int* version) {
  return guard_anywhere(__func__, [&]() -> CUresult {
    CU_REQUIRE(version);
    *version = kDriverVersion;
    return CUDA_SUCCESS;
  });
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = cuda_result_name(error);
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = error_text(error);
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  return guard_anywhere(__func__, [&]() -> CUresult {
    CU_REQUIRE(table);
    *table = find_library_table(id);
    if (*table != nullptr) return CUDA_SUCCESS;
    const std::string hint = hint_for(calling_file(), id);
    if (hint.empty()) {
      return fail(CUDA_ERROR_NOT_FOUND,
                  "a compiler asks for a private table, which it can do without");
    }
    frame::show_hint(hint.c_str());
    return fail(CUDA_ERROR_NOT_FOUND, "%s", hint.c_str());
  });
}

CUresult cuProfilerInitialize(const char*, const char*, CUoutput_mode) {
  return guard(__func__, [&]() -> CUresult {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "profiles are configured by KM_TRACE");
  });
}

CUresult cuProfilerStart() {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    CU_CHECK(context->core()->start_profiler());
    return CUDA_SUCCESS;
  });
}

CUresult cuProfilerStop() {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    CU_CHECK(context->core()->stop_profiler());
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
