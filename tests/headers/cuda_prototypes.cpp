// Compiles when our prototypes of NVRTC agree with NVIDIA's own header: a toolkit's, or that of the
// wheels. An enum counts as int, a program as an opaque pointer.
#include <nvrtc.h>

#include <type_traits>

#include "compile/nvrtc.h"

namespace {

template <class T>
struct Plain {
  using type = T;
};
template <class T>
  requires std::is_enum_v<T>
struct Plain<T> {
  static_assert(sizeof(T) == sizeof(int));
  using type = int;
};
template <>
struct Plain<nvrtcProgram> {
  using type = void*;
};
template <class T>
struct Plain<T*> {
  using type = typename Plain<T>::type*;
};
template <class Result, class... Parameters>
struct Plain<Result(Parameters...)> {
  using type = typename Plain<Result>::type(typename Plain<Parameters>::type...);
};

#define X(required, result, name, parameters) \
  static_assert(std::is_same_v<Plain<decltype(::name)>::type, result parameters>, #name);
#include "compile/nvrtc_symbols.inc"
#undef X

static_assert(km::kNvrtcSuccess == int{NVRTC_SUCCESS});
static_assert(km::kNvrtcOutOfMemory == int{NVRTC_ERROR_OUT_OF_MEMORY});
static_assert(km::kNvrtcInvalidOption == int{NVRTC_ERROR_INVALID_OPTION});
static_assert(km::kNvrtcCompilation == int{NVRTC_ERROR_COMPILATION});
static_assert(km::kNvrtcBuiltinOperationFailure == int{NVRTC_ERROR_BUILTIN_OPERATION_FAILURE});
static_assert(km::kNvrtcNameExpressionNotValid == int{NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID});

}  // namespace
