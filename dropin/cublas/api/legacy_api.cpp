// cuBLAS's original interface from 2007: one handle per process, scalars by value, and a stored
// error.
#include <mutex>
#include <tuple>
#include <type_traits>

#include "dropin/cublas/frame/handle.h"
#include "dropin/cublas/version/version.h"

namespace km::cublas {

namespace {

std::mutex process_mutex;  // guards the members below
cublasHandle_t process_handle = nullptr;

std::atomic<cublasStatus_t> last_error{CUBLAS_STATUS_SUCCESS};

cublasStatus_t keep(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) last_error = status;
  return status;
}

cublasHandle_t handle_of_process() {
  if (is_forked()) return nullptr;  // the parent's thread may have held the lock
  const std::lock_guard lock(process_mutex);
  return process_handle;
}

/// Replaces the process's handle if it is `expected`. Returns the handle that the caller has to
/// destroy: `given` if nothing was replaced, else null. The lock covers neither the making nor the
/// destruction of handles, in which callbacks of the program may run.
cublasHandle_t exchange_handle(cublasHandle_t expected, cublasHandle_t given) {
  const std::lock_guard lock(process_mutex);
  if (process_handle != expected) return given;
  process_handle = given;
  return nullptr;
}

/// A parameter that the original interface passes as a letter.
template <class Parameter>
constexpr bool is_letter =
    std::is_same_v<Parameter, cublasOperation_t> || std::is_same_v<Parameter, cublasFillMode_t> ||
    std::is_same_v<Parameter, cublasDiagType_t> || std::is_same_v<Parameter, cublasSideMode_t>;

/// Parses a letter in upper or lower case, as BLAS does. Returns false if the letter is invalid.
bool parse(char letter, cublasOperation_t* out) {
  const char lower = static_cast<char>(letter | 0x20);
  *out = lower == 'n' ? CUBLAS_OP_N : lower == 't' ? CUBLAS_OP_T : CUBLAS_OP_C;
  return lower == 'n' || lower == 't' || lower == 'c';
}
bool parse(char letter, cublasFillMode_t* out) {
  const char lower = static_cast<char>(letter | 0x20);
  *out = lower == 'u' ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  return lower == 'u' || lower == 'l';
}
bool parse(char letter, cublasDiagType_t* out) {
  const char lower = static_cast<char>(letter | 0x20);
  *out = lower == 'u' ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  return lower == 'u' || lower == 'n';
}
bool parse(char letter, cublasSideMode_t* out) {
  const char lower = static_cast<char>(letter | 0x20);
  *out = lower == 'r' ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
  return lower == 'r' || lower == 'l';
}

/// Converts an argument of the original interface: letters to enumerations, scalars to pointers.
template <class Parameter, class Argument>
Parameter converted(Argument& argument, bool* is_valid) {
  if constexpr (is_letter<Parameter>) {
    Parameter value;
    if (!parse(argument, &value)) *is_valid = false;
    return value;
  } else if constexpr (std::is_pointer_v<Parameter> && !std::is_pointer_v<Argument>) {
    return &argument;
  } else {
    return argument;
  }
}

/// Calls a function with handles for the one of 2007 that it has taken over from.
template <class... Parameters>
class Newer {
 public:
  explicit Newer(cublasStatus_t (*function)(cublasHandle_t, Parameters...)) : function_(function) {}

  /// The result is what the function with handles writes through its last parameter.
  template <class Result, class... Arguments>
  Result run(Arguments... arguments) const {
    if constexpr (!std::is_void_v<Result>) {
      Result result{};
      pass(arguments..., &result);
      return result;
    } else if constexpr (sizeof...(Arguments) + 2 == sizeof...(Parameters)) {
      // The original trmm writes its result over B: B and its leading dimension are C's too.
      const std::tuple<Arguments...> given{arguments...};
      pass(arguments..., std::get<sizeof...(Arguments) - 2>(given),
           std::get<sizeof...(Arguments) - 1>(given));
    } else {
      pass(arguments...);
    }
  }

 private:
  template <class... Arguments>
  void pass(Arguments... arguments) const {
    const cublasHandle_t handle = handle_of_process();
    if (handle == nullptr) {
      keep(CUBLAS_STATUS_NOT_INITIALIZED);
      return;
    }
    bool is_valid = true;
    // Braces guarantee that all arguments are converted before the function is called.
    const std::tuple<Parameters...> values{converted<Parameters>(arguments, &is_valid)...};
    if (!is_valid) {
      keep(CUBLAS_STATUS_INVALID_VALUE);
      return;
    }
    keep(std::apply([&](auto... each) { return function_(handle, each...); }, values));
  }

  cublasStatus_t (*function_)(cublasHandle_t, Parameters...);
};

}  // namespace

extern "C" {

cublasStatus_t cublasInit() {
  return keep(call(__func__, [&]() -> cublasStatus_t {
    if (handle_of_process() != nullptr) return CUBLAS_STATUS_SUCCESS;
    cublasHandle_t created = nullptr;
    LIB_TRY(create_handle(&created));
    created = exchange_handle(nullptr, created);
    // Another thread may have been faster; its handle stays.
    return created == nullptr ? CUBLAS_STATUS_SUCCESS : destroy_handle(created);
  }));
}

cublasStatus_t cublasShutdown() {
  return keep(call(__func__, [&]() -> cublasStatus_t {
    const cublasHandle_t handle = handle_of_process();
    if (handle == nullptr || exchange_handle(handle, nullptr) != nullptr) {
      return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    return destroy_handle(handle);
  }));
}

/// Returns the process's last error and clears it.
cublasStatus_t cublasGetError() { return last_error.exchange(CUBLAS_STATUS_SUCCESS); }

cublasStatus_t cublasGetVersion(int* version) {
  return keep(call(__func__, [&] { return write_value("version", version, int{kVersion}); }));
}

cublasStatus_t cublasSetKernelStream(cudaStream_t stream) {
  const cublasHandle_t handle = handle_of_process();
  return keep(handle != nullptr ? cublasSetStream_v2(handle, stream)
                                : CUBLAS_STATUS_NOT_INITIALIZED);
}

cublasStatus_t cublasAlloc(int count, int element_bytes, void** memory) {
  return keep(call(__func__, handle_of_process(), [&](Handle& h) -> cublasStatus_t {
    LIB_TRY(write_value<void*>("devicePtr", memory, nullptr));
    if (count <= 0 || element_bytes <= 0) {
      return invalid("%d elements of %d bytes", count, element_bytes);
    }
    cu::CUdeviceptr address = 0;
    const size_t size_bytes = static_cast<size_t>(count) * static_cast<size_t>(element_bytes);
    if (h.driver->cuMemAlloc_v2(&address, size_bytes) != cu::CUDA_SUCCESS) {
      return CUBLAS_STATUS_ALLOC_FAILED;
    }
    return write_value("devicePtr", memory, reinterpret_cast<void*>(address));
  }));
}

cublasStatus_t cublasFree(void* memory) {
  return keep(call(__func__, handle_of_process(), [&](Handle& h) -> cublasStatus_t {
    if (memory == nullptr) return CUBLAS_STATUS_SUCCESS;
    return status_of(h.driver->cuMemFree_v2(reinterpret_cast<uint64_t>(memory)));
  }));
}

#define KM_CUBLAS_FUNCTION(symbol, result, parameters, arguments)
#define KM_CUBLAS_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_CUBLAS_OLD_FUNCTION(symbol, result, parameters, arguments) \
  result symbol parameters { return Newer(symbol##_v2).run<result> arguments; }
#include "dropin/cublas/generated/functions.def"

}  // extern "C"

}  // namespace km::cublas
