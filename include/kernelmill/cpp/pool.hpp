// Pools of device memory.
#ifndef KERNELMILL_CPP_POOL_HPP
#define KERNELMILL_CPP_POOL_HPP

#include <kernelmill/cpp/memory.hpp>

namespace km {
inline namespace v1 {

/// A pool of device memory, which keeps freed blocks and reuses them. Any thread may call all
/// functions, and none waits for work.
template <class P>
class basic_pool : public detail::any_pool {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  using object::object;
  /// Creates a pool that takes at most `limit_bytes` from the device; 0: no limit.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_pool(const detail::any_context& context, std::uint64_t limit_bytes = 0)
      : basic_pool(create(context, limit_bytes)) {}
  /// Like the constructor, but returns a result.
  static result<basic_pool> create(const detail::any_context& context,
                                   std::uint64_t limit_bytes = 0) {
    return detail::make<P, basic_pool>(km_pool_create, context.get(), limit_bytes);
  }

  /// Allocates memory for `count` elements, which goes back to the pool when the slice is
  /// destroyed. KM_ERROR_OUT_OF_DEVICE_MEMORY when the limit or the device does not allow it.
  template <class T>
  result<basic_slice<T, P>> allocate(std::uint64_t count,
                                     km_slice_flags flags = KM_SLICE_DEFAULT) const {
    return basic_slice<T, P>::from_pool(*this, count, flags);
  }
  /// Allocates a slice in stream order; basic_slice::reset_on frees it in that order.
  template <class T>
  result<basic_slice<T, P>> allocate_on(const detail::any_stream& stream, std::uint64_t count,
                                        km_slice_flags flags = KM_SLICE_DEFAULT) const {
    return basic_slice<T, P>::from_pool(*this, stream, count, flags);
  }
  /// Sets a size; while the pool has more memory, free blocks go back to the device.
  result<void> set_release_threshold(std::uint64_t threshold_bytes) const {
    return P::give(km_pool_set_release_threshold(get(), threshold_bytes));
  }
  /// Gives free blocks back until the pool has at most `keep_bytes`.
  result<void> trim(std::uint64_t keep_bytes = 0) const {
    return P::give(km_pool_trim(get(), keep_bytes));
  }
  /// The limit, sizes and counts of the pool.
  result<km_pool_info> info() const {
    return detail::read_struct<P, km_pool_info>(km_pool_info_get, get());
  }
  /// Resets the high-water marks to the sizes in use now.
  result<void> reset_high_water() const { return P::give(km_pool_reset_high_water(get())); }
};

}  // namespace v1
}  // namespace km

#endif
