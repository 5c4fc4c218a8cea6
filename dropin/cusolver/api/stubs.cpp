// Weak definitions of all functions of NVIDIA's library: those that answer the size of a workspace,
// which are alike, and those that are not implemented.
#include <climits>
#include <string_view>

#include "dropin/cusolver/frame/job.h"
#include "dropin/frame/stub.h"

namespace km::cusolver {

namespace {

/// Finds the arguments of a bufferSize function: sizes, and the places of its answers, which are
/// its last `int*` or all `size_t*`.
struct SizeQuery {
  void add(int value) { check(value, INT_MAX); }
  void add(int64_t value) { check(value, INT64_MAX); }
  void add(long long value) { check(value, INT64_MAX); }
  void add(int* place) { elements = place; }
  void add(size_t* place) { (device_bytes == nullptr ? device_bytes : host_bytes) = place; }
  template <class T>
  void add(T) {}

  void check(int64_t value, int64_t most) {
    if (value < 0 || value > most) wrong = value;
  }
  cusolverStatus_t answer() const {
    if (wrong < 0) return invalid("a size is %lld", static_cast<long long>(wrong));
    if (device_bytes == nullptr) return write_value("lwork", elements, int{kWorkElements});
    LIB_TRY(write_value("the size on the device", device_bytes, size_t{kWorkBytes}));
    if (host_bytes == nullptr) return CUSOLVER_STATUS_SUCCESS;
    return write_value("the size on the host", host_bytes, size_t{0});
  }

  int* elements = nullptr;
  size_t *device_bytes = nullptr, *host_bytes = nullptr;
  int64_t wrong = 0;
};

template <bool kIsSizeFunction>
struct Default : frame::Stub<SolverLibrary> {};

template <>
struct Default<true> {
  const char* function;

  template <class... Arguments>
  cusolverStatus_t operator()(cusolverDnHandle_t handle, Arguments... arguments) const {
    return call(function, handle, [&](DnHandle&) {
      SizeQuery query;
      (query.add(arguments), ...);
      return query.answer();
    });
  }
};

constexpr bool is_size_function(std::string_view name) {
  return name.starts_with("cusolverDn") && name.ends_with("_bufferSize");
}

}  // namespace

#define KM_CUSOLVER_FUNCTION(symbol, result, parameters, arguments) \
  extern "C" [[gnu::weak]] result symbol parameters {               \
    return Default<is_size_function(#symbol)>{#symbol} arguments;   \
  }
#include "dropin/cusolver/generated/functions.def"

}  // namespace km::cusolver
