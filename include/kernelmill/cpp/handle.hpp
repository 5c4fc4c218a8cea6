// The owner of a handle, the base of all classes, and helpers to create objects.
#ifndef KERNELMILL_CPP_HANDLE_HPP
#define KERNELMILL_CPP_HANDLE_HPP

#include <kernelmill/cpp/error.hpp>

#include <chrono>
#include <limits>
#include <string_view>

namespace km {
inline namespace v1 {
namespace detail {

// The product of two sizes, UINT64_MAX on overflow, which the library then refuses as out of
// bounds.
constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t most = (std::numeric_limits<std::uint64_t>::max)();
  return b != 0 && a > most / b ? most : a * b;
}

inline std::uint64_t limit_ns(std::chrono::nanoseconds limit) noexcept {
  return limit.count() <= 0 ? 0 : static_cast<std::uint64_t>(limit.count());
}

// The data of a view, "" for an empty one: the library reads a text of size 0 up to its closing
// zero, which an empty view may lack.
inline const char* text_data(std::string_view text) noexcept {
  return text.empty() ? "" : text.data();
}

// The value of a handle as a number, for structures that hold handles as numbers.
template <class Handle>
std::uint64_t handle_value(Handle handle) noexcept {
  if constexpr (std::is_pointer_v<Handle>) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
  } else {
    return handle;
  }
}

// Owns one handle and destroys it; move-only.
template <class Handle, km_status (*Destroy)(Handle) noexcept>
class object {
 public:
  object() noexcept = default;
  explicit object(Handle handle) noexcept : handle_(handle) {}
  object(object&& other) noexcept : handle_(other.release()) {}
  object& operator=(object&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = other.release();
    }
    return *this;
  }
  object(const object&) = delete;
  object& operator=(const object&) = delete;
  ~object() { reset(); }

  /// The handle, for C calls.
  Handle get() const noexcept { return handle_; }
  /// Transfers the handle to the caller; the object is empty then.
  Handle release() noexcept { return std::exchange(handle_, Handle{}); }
  /// Destroys the handle; the object is empty then. (To stop work and clear errors, call
  /// basic_context::reset_device().)
  void reset() noexcept {
    if (handle_ != Handle{}) Destroy(release());
  }
  void swap(object& other) noexcept { std::swap(handle_, other.handle_); }
  /// True if the object has a handle.
  explicit operator bool() const noexcept { return handle_ != Handle{}; }

 private:
  Handle handle_{};
};

// Parameters have these base types, so that objects of km and of km::nothrow can be mixed.
using any_device = object<km_device, km_device_destroy>;
using any_context = object<km_context, km_context_destroy>;
using any_stream = object<km_stream, km_stream_destroy>;
using any_event = object<km_event, km_event_destroy>;
using any_host_memory = object<km_host_memory, km_host_memory_destroy>;
using any_slice = object<km_slice, km_slice_destroy>;
using any_module = object<km_module, km_module_destroy>;
using any_function = object<km_function, km_function_destroy>;
using any_launch = object<km_launch, km_launch_destroy>;
using any_program = object<km_program, km_program_destroy>;
using any_pool = object<km_pool, km_pool_destroy>;
using any_graph = object<km_graph, km_graph_destroy>;
using any_graph_exec = object<km_graph_exec, km_graph_exec_destroy>;
using any_blas = object<km_blas, km_blas_destroy>;
using any_fft = object<km_fft, km_fft_destroy>;
using any_comm = object<km_comm, km_comm_destroy>;
using any_tune = object<km_tune, km_tune_destroy>;

// Makes the object whose handle a C call returns by its last parameter.
template <class P, class Object, class Call, class... Arguments>
result_of<P, Object> make(Call call, Arguments... arguments) {
  decltype(std::declval<Object>().get()) handle{};
  const km_status status = call(arguments..., &handle);
  return P::give(status, Object(handle));
}

// Constructors that can fail are for the classes that throw.
template <class P>
using if_throwing = std::enable_if_t<P::throws, int>;

}  // namespace detail

/// Three numbers along x, y and z: blocks of a grid, threads of a block.
struct dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  constexpr dim3(std::uint32_t along_x = 1, std::uint32_t along_y = 1,
                 std::uint32_t along_z = 1) noexcept
      : x(along_x), y(along_y), z(along_z) {}
};

/// A raw device address. The caller has to keep the memory behind it alive.
struct device_address {
  std::uint64_t value;
};

/// The parameter P of all classes of km::nothrow.
using returning = detail::returning;
#if KM_HAS_EXCEPTIONS
/// The parameter P of all classes that throw.
using throwing = detail::throwing;
#endif

}  // namespace v1
}  // namespace km

#endif
