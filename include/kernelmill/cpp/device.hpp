// Devices, backends and the library itself: km::device and free functions.
#ifndef KERNELMILL_CPP_DEVICE_HPP
#define KERNELMILL_CPP_DEVICE_HPP

#include <kernelmill/cpp/handle.hpp>

namespace km {
inline namespace v1 {

/// A version of the library.
struct version_number {
  std::uint32_t major = 0, minor = 0, patch = 0;
};

namespace detail {

// Reads a whole list by a pair of calls, count(&n) and get(i, &info).
template <class P, class T, class Count, class Get>
result_of<P, std::vector<T>> each(Count count, Get get) {
  std::vector<T> all;
  std::uint32_t found = 0;
  km_status status = count(&found);
  for (std::uint32_t i = 0; i < found && status == KM_SUCCESS; ++i) {
    T info{};
    info.struct_size = sizeof info;
    status = get(i, &info);
    all.push_back(info);
  }
  return P::give(status, std::move(all));
}

// Information about the library and the backends, devices and errors that it knows.
template <class P>
struct library {
  /// The version of the library in use, which may be newer than this header.
  static result_of<P, version_number> version() {
    version_number number;
    const km_status status = km_version(&number.major, &number.minor, &number.patch);
    return P::give(status, std::move(number));
  }
  /// Version, build id and compiler of the library in use.
  static result_of<P, km_build_info> build_info() {
    return read_struct<P, km_build_info>(km_build_info_get);
  }
  /// All backends of this build; those that are not usable here have the reason. Loads them, which
  /// takes milliseconds.
  static result_of<P, std::vector<km_backend_info>> backends() {
    return each<P, km_backend_info>(km_backend_count, km_backend_info_get);
  }
  /// Name, unit and CUDA's number of all device attributes.
  static result_of<P, std::vector<km_device_attribute_info>> device_attributes() {
    return each<P, km_device_attribute_info>(km_device_attribute_count,
                                             km_device_attribute_info_get);
  }
  /// The present choice of "auto" about each backend and its reason, in the order of trying.
  static result_of<P, std::vector<km_auto_candidate>> auto_candidates() {
    return each<P, km_auto_candidate>(km_auto_candidate_count, km_auto_candidate_get);
  }
  /// The status of the calling thread's last call that failed; KM_SUCCESS if there is none.
  static result_of<P, km_status> last_error() { return read<P, km_status>(km_last_error_status); }
  /// Like last_error(), but also clears it.
  static result_of<P, km_status> take_last_error() {
    return read<P, km_status>(km_last_error_take);
  }
  /// The status for a CUresult. KM_ERROR_INVALID_ARGUMENT when CUDA has no such result.
  static result_of<P, km_status> status_from_cuda(std::int32_t cuda_result) {
    return read<P, km_status>(km_status_from_cuda, cuda_result);
  }
  /// The CUresult that corresponds to `status`.
  static result_of<P, std::int32_t> status_to_cuda(km_status status) {
    return read<P, std::int32_t>(km_status_to_cuda, status);
  }
  /// The name of a CUresult, for example "CUDA_ERROR_INVALID_VALUE".
  static result_of<P, const char*> cuda_result_name(std::int32_t cuda_result) {
    return read<P, const char*>(km_cuda_result_name, cuda_result);
  }
  /// Makes the library allocate its own host memory with these functions from now on; null for both
  /// selects malloc. They have to work until the process ends and may not call the library.
  static result_of<P, void> set_allocator(km_allocate_callback allocate, km_free_callback release,
                                          void* user_data = nullptr) {
    return P::give(km_set_allocator(allocate, release, user_data));
  }
};

}  // namespace detail

/// A device, opened by its URI: "cpu", "cpu:1", "auto" ... All functions may be called by any
/// thread, and none waits for work.
template <class P>
class basic_device : public detail::any_device {
 public:
  using object::object;
  /// Opens a device. KM_ERROR_INVALID_ARGUMENT when `uri` is not a URI of this form,
  /// KM_ERROR_NO_DEVICE when the backend has no such device, KM_ERROR_BACKEND_UNAVAILABLE with the
  /// reason.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_device(const std::string& uri) : basic_device(open(uri)) {}
  /// Like the constructor, but returns a result.
  static detail::result_of<P, basic_device> open(const std::string& uri) {
    return detail::make<P, basic_device>(km_device_open, uri.c_str());
  }

  /// The number of devices of all usable backends; the overload counts those of one backend.
  static detail::result_of<P, std::uint32_t> count() {
    return detail::read<P, std::uint32_t>(km_device_count, nullptr);
  }
  static detail::result_of<P, std::uint32_t> count(const std::string& backend) {
    return detail::read<P, std::uint32_t>(km_device_count, backend.c_str());
  }
  /// Name, limits and sizes of the device.
  detail::result_of<P, km_device_info> info() const {
    return detail::read_struct<P, km_device_info>(km_device_info_get, get());
  }
  /// One property: a KM_DEVICE_ATTRIBUTE_..., or KM_DEVICE_ATTRIBUTE_CUDA plus CUDA's number.
  detail::result_of<P, std::int64_t> attribute(km_device_attribute attribute) const {
    return detail::read<P, std::int64_t>(km_device_attribute_get, get(), attribute);
  }
  /// True if kernels of this device can use memory of `peer`.
  detail::result_of<P, bool> can_access_peer(const detail::any_device& peer) const {
    std::uint32_t can_access = 0;
    const km_status status = km_device_can_access_peer(get(), peer.get(), &can_access);
    return P::give(status, can_access != 0);
  }
};

}  // namespace v1
}  // namespace km

#endif
