// The names of the classes: km::stream and others, which throw, and km::nothrow::stream and others,
// which return a km::result. It is the last header of kernelmill.hpp.
#ifndef KERNELMILL_CPP_NAMES_HPP
#define KERNELMILL_CPP_NAMES_HPP

#include <kernelmill/cpp/blas.hpp>
#include <kernelmill/cpp/comm.hpp>
#include <kernelmill/cpp/fft.hpp>
#include <kernelmill/cpp/graph.hpp>
#include <kernelmill/cpp/module.hpp>
#include <kernelmill/cpp/pool.hpp>
#include <kernelmill/cpp/profiler.hpp>
#include <kernelmill/cpp/solve.hpp>
#include <kernelmill/cpp/sparse.hpp>
#include <kernelmill/cpp/tuner.hpp>

namespace km {
inline namespace v1 {

#if KM_HAS_EXCEPTIONS
using blas = basic_blas<throwing>;
using capture = basic_capture<throwing>;
using context = basic_context<throwing>;
using device = basic_device<throwing>;
using event = basic_event<throwing>;
using function = basic_function<throwing>;
using graph = basic_graph<throwing>;
using graph_exec = basic_graph_exec<throwing>;
using launch = basic_launch<throwing>;
using module = basic_module<throwing>;
using pool = basic_pool<throwing>;
using profiler = basic_profiler<throwing>;
using program = basic_program<throwing>;
using stream = basic_stream<throwing>;
using tuner = basic_tuner<throwing>;
using comm = basic_comm<throwing>;
template <class In, class Out = In>
using fft = basic_fft<throwing, In, Out>;
template <class T>
using host_memory = basic_host_memory<T, throwing>;
template <class T>
using pitched_slice = basic_pitched_slice<T, throwing>;
template <class T>
using slice = basic_slice<T, throwing>;
template <class T>
using view = basic_view<T, throwing>;

/// Compiles CUDA C++ with one call, for km::module(context, program) or for its ptx().
inline program compile(std::string_view source, std::initializer_list<std::string> options = {},
                       const std::string& name = "kernel.cu") {
  return program::compiled(source, options, name);
}

inline version_number version() { return detail::library<throwing>::version(); }
inline km_build_info build_info() { return detail::library<throwing>::build_info(); }
inline std::vector<km_backend_info> backends() { return detail::library<throwing>::backends(); }
inline std::vector<km_device_attribute_info> device_attributes() {
  return detail::library<throwing>::device_attributes();
}
inline std::vector<km_auto_candidate> auto_candidates() {
  return detail::library<throwing>::auto_candidates();
}
inline km_status last_error() { return detail::library<throwing>::last_error(); }
inline km_status take_last_error() { return detail::library<throwing>::take_last_error(); }
inline km_status status_from_cuda(std::int32_t cuda_result) {
  return detail::library<throwing>::status_from_cuda(cuda_result);
}
inline std::int32_t status_to_cuda(km_status status) {
  return detail::library<throwing>::status_to_cuda(status);
}
inline const char* cuda_result_name(std::int32_t cuda_result) {
  return detail::library<throwing>::cuda_result_name(cuda_result);
}
inline void set_allocator(km_allocate_callback allocate, km_free_callback release,
                          void* user_data = nullptr) {
  detail::library<throwing>::set_allocator(allocate, release, user_data);
}
#endif

/// The classes and functions of km that return a km::result instead of throwing: they have the same
/// names, with static functions instead of constructors that can fail.
namespace nothrow {
using blas = basic_blas<returning>;
using capture = basic_capture<returning>;
using context = basic_context<returning>;
using device = basic_device<returning>;
using event = basic_event<returning>;
using function = basic_function<returning>;
using graph = basic_graph<returning>;
using graph_exec = basic_graph_exec<returning>;
using launch = basic_launch<returning>;
using module = basic_module<returning>;
using pool = basic_pool<returning>;
using profiler = basic_profiler<returning>;
using program = basic_program<returning>;
using stream = basic_stream<returning>;
using tuner = basic_tuner<returning>;
using comm = basic_comm<returning>;
template <class In, class Out = In>
using fft = basic_fft<returning, In, Out>;
template <class T>
using host_memory = basic_host_memory<T, returning>;
template <class T>
using pitched_slice = basic_pitched_slice<T, returning>;
template <class T>
using slice = basic_slice<T, returning>;
template <class T>
using view = basic_view<T, returning>;

inline result<program> compile(std::string_view source,
                               std::initializer_list<std::string> options = {},
                               const std::string& name = "kernel.cu") {
  return program::compiled(source, options, name);
}

inline auto version() { return detail::library<returning>::version(); }
inline auto build_info() { return detail::library<returning>::build_info(); }
inline auto backends() { return detail::library<returning>::backends(); }
inline auto device_attributes() { return detail::library<returning>::device_attributes(); }
inline auto auto_candidates() { return detail::library<returning>::auto_candidates(); }
inline auto last_error() { return detail::library<returning>::last_error(); }
inline auto take_last_error() { return detail::library<returning>::take_last_error(); }
inline auto status_from_cuda(std::int32_t cuda_result) {
  return detail::library<returning>::status_from_cuda(cuda_result);
}
inline auto status_to_cuda(km_status status) {
  return detail::library<returning>::status_to_cuda(status);
}
inline auto cuda_result_name(std::int32_t cuda_result) {
  return detail::library<returning>::cuda_result_name(cuda_result);
}
inline auto set_allocator(km_allocate_callback allocate, km_free_callback release,
                          void* user_data = nullptr) {
  return detail::library<returning>::set_allocator(allocate, release, user_data);
}
}  // namespace nothrow

}  // namespace v1
}  // namespace km

#endif
