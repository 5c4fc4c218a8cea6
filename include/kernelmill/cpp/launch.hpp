// Launches of kernels, built step by step or in one call.
#ifndef KERNELMILL_CPP_LAUNCH_HPP
#define KERNELMILL_CPP_LAUNCH_HPP

#include <kernelmill/cpp/function.hpp>
#include <kernelmill/cpp/memory.hpp>

#include <array>

namespace km {
inline namespace v1 {

/// A slice or view as an argument that the kernel only reads.
struct read_only_slice {
  km_slice handle;
};

/// Declares that the kernel only reads an argument, so that the launch need not wait for readers on
/// other streams: args(km::read_only(x), y). If the kernel writes it nevertheless, that is a race.
inline read_only_slice read_only(const detail::any_slice& memory) noexcept {
  return {memory.get()};
}

namespace detail {

template <class T>
constexpr bool is_slice = std::is_base_of_v<any_slice, T>;

template <class T>
constexpr bool is_number =
    !is_slice<T> && !std::is_same_v<T, read_only_slice> && !std::is_same_v<T, device_address>;

// The KM_ELEMENT_TYPE_... of an argument: POINTER for memory and addresses, UNKNOWN for structures.
template <class T>
constexpr km_element_type argument_type() noexcept {
  if constexpr (std::is_arithmetic_v<T>) {
    return number_type<T>();
  } else if constexpr (is_number<T>) {
    return KM_ELEMENT_TYPE_UNKNOWN;
  } else {
    return KM_ELEMENT_TYPE_POINTER;
  }
}

// True if an argument is known not to fit its parameter, because one is a floating-point number and
// the other is not.
template <class T>
bool is_other_kind(const km_param_info& parameter) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return parameter.value_type == KM_PARAM_TYPE_INTEGER || parameter.kind == KM_PARAM_KIND_POINTER;
  } else if constexpr (argument_type<T>() != KM_ELEMENT_TYPE_UNKNOWN) {
    return parameter.value_type == KM_PARAM_TYPE_FLOAT;
  } else {
    return false;
  }
}

template <class T>
constexpr void check_number() {
  static_assert(!std::is_pointer_v<T> && !std::is_null_pointer_v<T>,
                "give a km::slice, a km::view or a km::device_address, not a pointer");
  static_assert(std::is_trivially_copyable_v<T>,
                "kernels take bytes, not constructors: give a type that is trivially copyable");
}

}  // namespace detail

/// A launch that is built step by step. Each argument is checked against the kernel's parameter
/// when it is passed. After submit() it may be submitted again, unchanged or with all its arguments
/// passed again from the first. Only one thread at a time may use it. In km::nothrow, submit()
/// returns the first failure of the chain.
template <class P>
class basic_launch : public detail::any_launch, private P::chain {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  using object::object;
  /// Prepares a launch of the kernel in the stream, and keeps both.
  template <class Q = P, detail::if_throwing<Q> = 0>
  basic_launch(const detail::any_stream& stream, const detail::any_function& function)
      : basic_launch(create(stream, function)) {}
  /// Like the constructor, but returns a result.
  static result<basic_launch> create(const detail::any_stream& stream,
                                     const detail::any_function& function) {
    return detail::make<P, basic_launch>(km_launch_create, stream.get(), function.get());
  }

  /// Sets the number of blocks; it is checked by submit().
  basic_launch& grid(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
    return noted(km_launch_set_grid(get(), x, y, z));
  }
  basic_launch& grid(dim3 blocks) { return grid(blocks.x, blocks.y, blocks.z); }
  /// Sets the number of threads of a block; it is checked by submit().
  basic_launch& block(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
    return noted(km_launch_set_block(get(), x, y, z));
  }
  basic_launch& block(dim3 threads) { return block(threads.x, threads.y, threads.z); }
  /// Sets the dynamic shared memory of a block; it is checked by submit().
  basic_launch& shared_bytes(std::uint64_t size_bytes) {
    return noted(km_launch_set_shared_bytes(get(), size_bytes));
  }
  /// Sets the number of blocks of a cluster; 0, 0, 0: the kernel's own cluster size.
  basic_launch& cluster(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
    return noted(km_launch_set_cluster(get(), x, y, z));
  }
  /// Sets whether all blocks of the grid may wait for each other.
  basic_launch& cooperative(bool yes = true) {
    return noted(km_launch_set_cooperative(get(), yes ? 1 : 0));
  }
  /// Passes the next argument: a slice or view, whose memory is kept until the kernel is done and
  /// counts as written unless it is wrapped in km::read_only(); a device address; or a number or
  /// structure of exactly the parameter's size, which is copied.
  template <class T>
  basic_launch& arg(const T& value) {
    if constexpr (detail::is_slice<T>) {
      return noted(km_launch_arg_slice(get(), value.get(), 0));
    } else if constexpr (std::is_same_v<T, read_only_slice>) {
      return noted(km_launch_arg_slice_access(get(), value.handle, 0, 0, KM_ACCESS_READ));
    } else if constexpr (std::is_same_v<T, device_address>) {
      return noted(km_launch_arg_address(get(), value.value));
    } else if constexpr (detail::argument_type<T>() != KM_ELEMENT_TYPE_UNKNOWN) {
      return noted(km_launch_arg_value(get(), &value, detail::argument_type<T>(), 1));
    } else {
      detail::check_number<T>();
      return noted(km_launch_arg_scalar(get(), &value, sizeof value));
    }
  }
  /// Passes a slice of which the kernel uses `size_bytes` from an offset on (0: all that follows);
  /// `access` is a KM_ACCESS_...
  basic_launch& arg(const detail::any_slice& memory, std::uint64_t offset_bytes,
                    std::uint64_t size_bytes, km_access access) {
    return noted(km_launch_arg_slice_access(get(), memory.get(), offset_bytes, size_bytes, access));
  }
  template <class... Arguments>
  basic_launch& args(const Arguments&... arguments) {
    (arg(arguments), ...);
    return *this;
  }
  /// Queues the kernel. Does not wait, but the first launch of a kernel may compile it.
  result<void> submit() {
    const km_status pending = this->pending();
    return this->finish(pending == KM_SUCCESS ? km_launch_submit(get()) : pending);
  }

 private:
  basic_launch& noted(km_status status) {
    this->note(status);
    return *this;
  }
};

namespace detail {

// `Count` arguments laid out as km_function_param says, and the slices among them. No memory is
// allocated unless they have more than 256 bytes.
template <std::size_t Count>
class packed_arguments {
 public:
  template <class... Arguments>
  km_status pack([[maybe_unused]] km_function function, const Arguments&... arguments) {
    static_assert(sizeof...(Arguments) == Count, "one for each");
    km_status status = KM_SUCCESS;
    std::uint32_t index = 0;
    (void)((status == KM_SUCCESS && (status = put(function, index++, arguments)) == KM_SUCCESS) &&
           ...);
    return status;
  }
  // The error for a failed pack(). Out of line, since launches rarely fail.
  [[gnu::cold, gnu::noinline]] error failure(km_status status) const {
    if (status != KM_ERROR_INVALID_LAUNCH) return error(status);
    const std::string text = failure_text(status);  // "km_function_check_argument: ..."
    const std::size_t told = text.find(": ");
    return error(status, "km::launch_kernel" + text.substr(told == std::string::npos ? 0 : told));
  }

  const void* data() const noexcept { return large_.empty() ? small_.data() : large_.data(); }
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  const km_launch_operand* slices() const noexcept { return slices_.data(); }
  std::uint64_t slice_count() const noexcept { return slice_count_; }
  // The slices without their declared accesses.
  std::array<km_launch_slice, Count + 1> plain_slices() const noexcept {
    std::array<km_launch_slice, Count + 1> plain{};
    for (std::size_t i = 0; i < slice_count_; ++i) {
      plain[i] = {slices_[i].parameter, 0, slices_[i].slice, slices_[i].offset_bytes};
    }
    return plain;
  }

 private:
  template <class T>
  km_status put(km_function function, std::uint32_t index, const T& value) {
    km_param_info info{};
    info.struct_size = sizeof info;
    const km_status status = km_function_param(function, index, &info);
    const std::size_t size = is_number<T> ? sizeof value : sizeof(std::uint64_t);
    if (status == KM_ERROR_INVALID_ARGUMENT) info.size_bytes = 0;
    if (status != KM_SUCCESS && status != KM_ERROR_INVALID_ARGUMENT) return status;
    if (info.size_bytes != size || is_other_kind<T>(info)) {
      constexpr km_element_type type = argument_type<T>();
      return km_function_check_argument(function, index, type,
                                        type == KM_ELEMENT_TYPE_UNKNOWN ? 0 : 1, size);
    }
    unsigned char* place = room(static_cast<std::size_t>(info.offset_bytes), size);
    if constexpr (is_slice<T>) {
      slices_[slice_count_++] = {index, KM_ACCESS_UNKNOWN, handle_value(value.get()), 0, 0};
    } else if constexpr (std::is_same_v<T, read_only_slice>) {
      slices_[slice_count_++] = {index, KM_ACCESS_READ, handle_value(value.handle), 0, 0};
    } else if constexpr (std::is_same_v<T, device_address>) {
      std::memcpy(place, &value.value, size);
    } else {
      check_number<T>();
      std::memcpy(place, &value, size);
    }
    return KM_SUCCESS;
  }

  // Makes room for an argument, with zeros in the gap before it; earlier arguments stay.
  unsigned char* room(std::size_t offset_bytes, std::size_t size) {
    const std::size_t used = std::exchange(size_bytes_, offset_bytes + size);
    if (size_bytes_ <= small_.size()) {
      std::memset(small_.data() + used, 0, size_bytes_ - used);
      return small_.data() + offset_bytes;
    }
    if (large_.empty()) large_.assign(small_.data(), small_.data() + used);
    large_.resize(size_bytes_);
    return large_.data() + offset_bytes;
  }

  std::array<unsigned char, 256> small_;
  std::vector<unsigned char> large_;
  std::size_t size_bytes_ = 0;
  std::array<km_launch_operand, Count + 1> slices_{};  // an array has at least one element
  std::size_t slice_count_ = 0;
};

inline km_launch_config config_of(const dim3& grid, const dim3& block,
                                  std::uint64_t shared_bytes) noexcept {
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes};
}

}  // namespace detail

template <class P>
detail::result_of<P, basic_launch<P>> basic_stream<P>::launch(
    const detail::any_function& function) const {
  return basic_launch<P>::create(*this, function);
}

template <class P>
template <class... Arguments>
[[gnu::always_inline]] inline detail::result_of<P, void> basic_stream<P>::launch_kernel(
    const detail::any_function& function, const dim3& grid, const dim3& block,
    std::uint64_t shared_bytes, const Arguments&... arguments) const {
  detail::packed_arguments<sizeof...(Arguments)> packed;
  const km_status status = packed.pack(function.get(), arguments...);
  if (status != KM_SUCCESS) return P::template refuse<void>(packed.failure(status));
  const km_launch_config config = detail::config_of(grid, block, shared_bytes);
  return P::give(km_launch_kernel_operands(get(), function.get(), &config, packed.data(),
                                           packed.size_bytes(), packed.slices(),
                                           packed.slice_count()));
}

}  // namespace v1
}  // namespace km

#endif
