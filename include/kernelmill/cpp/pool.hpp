// Pools of device memory.
#ifndef KERNELMILL_CPP_POOL_HPP
#define KERNELMILL_CPP_POOL_HPP

#include <kernelmill/cpp/memory.hpp>

namespace km {
inline namespace v1 {

/// A pool of device memory: blocks that are freed are kept and given out again. Any thread may call
/// all functions, and none waits for work.
template <class P>
class basic_pool : public detail::any_pool {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  using object::object;
  /// A pool that takes at most `limit_bytes` from the device; 0: as much as there is.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_pool(const detail::any_context& context, std::uint64_t limit_bytes = 0)
      : basic_pool(create(context, limit_bytes)) {}
  /// The constructor as a function.
  static result<basic_pool> create(const detail::any_context& context,
                                   std::uint64_t limit_bytes = 0) {
    return detail::make<P, basic_pool>(km_pool_create, context.get(), limit_bytes);
  }

  /// Memory for `count` elements, which goes back to the pool when it is dropped.
  /// KM_ERROR_OUT_OF_DEVICE_MEMORY when the limit or the device does not allow it.
  template <class T>
  result<basic_slice<T, P>> allocate(std::uint64_t count,
                                     km_slice_flags flags = KM_SLICE_DEFAULT) const {
    return basic_slice<T, P>::from_pool(*this, count, flags);
  }
  /// A slice in the order of a stream; basic_slice::reset_on gives it back in that order.
  template <class T>
  result<basic_slice<T, P>> allocate_on(const detail::any_stream& stream, std::uint64_t count,
                                        km_slice_flags flags = KM_SLICE_DEFAULT) const {
    return basic_slice<T, P>::from_pool(*this, stream, count, flags);
  }
  /// While the pool has more memory than that, free blocks go back to the device.
  result<void> set_release_threshold(std::uint64_t threshold_bytes) const {
    return P::give(km_pool_set_release_threshold(get(), threshold_bytes));
  }
  /// Gives free blocks back until the pool has at most `keep_bytes`.
  result<void> trim(std::uint64_t keep_bytes = 0) const {
    return P::give(km_pool_trim(get(), keep_bytes));
  }
  /// The figures of the pool.
  result<km_pool_info> info() const {
    return detail::read_struct<P, km_pool_info>(km_pool_info_get, get());
  }
  /// Has the high-water marks start from what is used now.
  result<void> reset_high_water() const { return P::give(km_pool_reset_high_water(get())); }
};

}  // namespace v1
}  // namespace km

#endif
