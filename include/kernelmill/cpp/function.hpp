// Kernels of a module: attributes, parameters, occupancy.
#ifndef KERNELMILL_CPP_FUNCTION_HPP
#define KERNELMILL_CPP_FUNCTION_HPP

#include <kernelmill/cpp/handle.hpp>

namespace km {
inline namespace v1 {

/// A block size, and the smallest grid that fills the device with such blocks.
struct best_block {
  std::uint32_t block_threads = 0, grid_blocks = 0;
};

/// A kernel of a module, which it keeps alive. Any thread may call all functions.
template <class P>
class basic_function : public detail::any_function {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  using object::object;

  /// The kernel's name in the PTX.
  result<std::string> name() const { return detail::text<P>(km_function_name, get()); }
  /// The value of a KM_FUNCTION_ATTRIBUTE_...
  result<std::int64_t> attribute(km_function_attribute attribute) const {
    return detail::read<P, std::int64_t>(km_function_attribute_get, get(), attribute);
  }
  result<void> set_attribute(km_function_attribute attribute, std::int64_t value) const {
    return P::give(km_function_attribute_set(get(), attribute, value));
  }
  /// The number of the kernel's parameters.
  result<std::uint32_t> param_count() const {
    return detail::read<P, std::uint32_t>(km_function_param_count, get());
  }
  /// Size, place and kind of a parameter, from 0.
  result<km_param_info> param(std::uint32_t index) const {
    return detail::read_struct<P, km_param_info>(km_function_param, get(), index);
  }
  /// The type of a parameter, from 0, as CUDA C++ declares it; KM_SIGNATURE_KIND_UNKNOWN if it is
  /// unknown.
  result<km_param_signature> param_signature(std::uint32_t index) const {
    return detail::read_struct<P, km_param_signature>(km_function_param_signature, get(), index);
  }
  /// The name of a parameter's element type in CUDA C++; empty if it is unknown.
  result<std::string> param_type_name(std::uint32_t index) const {
    std::string name;
    const km_status status = detail::read_text(
        [&](char* buffer, std::uint64_t capacity, std::uint64_t* size) {
          return km_function_param_type_name(get(), index, buffer, capacity, size);
        },
        name);
    return P::give(status, std::move(name));
  }
  /// Makes machine code for blocks of this size now, so that the first launch need not wait for it.
  result<void> prepare(dim3 block) const {
    return P::give(km_function_prepare(get(), block.x, block.y, block.z));
  }

  /// The number of blocks that a multiprocessor holds at a time, and the resource that limits it.
  result<km_occupancy> occupancy(std::uint32_t block_threads,
                                 std::uint64_t shared_bytes = 0) const {
    return detail::read_struct<P, km_occupancy>(km_function_occupancy, get(), block_threads,
                                                shared_bytes);
  }
  /// The block size that keeps the most threads busy, at most `max_block_threads`; 0: any.
  result<km::best_block> best_block(std::uint64_t shared_bytes = 0,
                                    std::uint32_t max_block_threads = 0) const {
    return find_best_block(shared_bytes, nullptr, nullptr, max_block_threads);
  }
  /// The block size if blocks of a size need `shared_of(threads)` bytes of dynamic shared memory;
  /// `shared_of` must be noexcept.
  template <class SharedOf>
  result<km::best_block> best_block_with(SharedOf&& shared_of,
                                         std::uint32_t max_block_threads = 0) const {
    using function = std::remove_reference_t<SharedOf>;
    static_assert(std::is_nothrow_invocable_r_v<std::uint64_t, function&, std::uint32_t>,
                  "give a `[...](std::uint32_t threads) noexcept` that returns bytes");
    return find_best_block(
        0,
        [](void* data, std::uint32_t block_threads) -> std::uint64_t {
          return (*static_cast<function*>(data))(block_threads);
        },
        const_cast<void*>(static_cast<const void*>(std::addressof(shared_of))), max_block_threads);
  }
  /// The largest dynamic shared memory per block with which `block_count` blocks fit on a
  /// multiprocessor.
  result<std::uint64_t> available_shared_bytes(std::uint32_t block_count,
                                               std::uint32_t block_threads) const {
    return detail::read<P, std::uint64_t>(km_function_available_shared_bytes, get(), block_count,
                                          block_threads);
  }
  /// The number of clusters of `cluster_blocks` blocks that the device holds at a time.
  result<std::uint32_t> max_active_clusters(std::uint32_t block_threads, std::uint64_t shared_bytes,
                                            std::uint32_t cluster_blocks) const {
    return detail::read<P, std::uint32_t>(km_function_max_active_clusters, get(), block_threads,
                                          shared_bytes, cluster_blocks);
  }
  /// Sets the operations and bytes of memory traffic that the profiler counts for each launch.
  result<void> set_work(std::uint64_t operations, std::uint64_t size_bytes) const {
    return P::give(km_profiler_set_work(get(), operations, size_bytes));
  }

 private:
  result<km::best_block> find_best_block(std::uint64_t shared_bytes,
                                         km_shared_bytes_callback shared_of, void* data,
                                         std::uint32_t max_block_threads) const {
    km::best_block found;
    const km_status status =
        km_function_best_block(get(), shared_bytes, shared_of, data, max_block_threads,
                               &found.block_threads, &found.grid_blocks);
    return P::give(status, std::move(found));
  }
};

}  // namespace v1
}  // namespace km

#endif
