// Page-locked host memory, and mapped files.
#ifndef KERNELMILL_CPP_HOST_MEMORY_HPP
#define KERNELMILL_CPP_HOST_MEMORY_HPP

#include <kernelmill/cpp/memory.hpp>

namespace km {
inline namespace v1 {

/// Page-locked host memory, from and to which copies are asynchronous; the library keeps the memory
/// until they are done. The memory may also be the caller's own, page-locked, or a mapped file.
template <class T, class P>
class basic_host_memory : public detail::any_host_memory {
  static_assert(std::is_trivially_copyable_v<T>,
                "devices know bytes, not constructors: give a type that is trivially copyable");
  template <class Value>
  using result = detail::result_of<P, Value>;

 public:
  using value_type = T;

  basic_host_memory() noexcept = default;
  /// Allocates memory for `count` elements, at least one.
  template <class Q = P, detail::if_throwing<Q> = 0>
  basic_host_memory(const detail::any_context& context, std::uint64_t count)
      : basic_host_memory(create(context, count)) {}
  /// Like the constructor, but returns a result.
  static result<basic_host_memory> create(const detail::any_context& context, std::uint64_t count) {
    return made(km_host_memory_create, context.get(), detail::product(count, sizeof(T)),
                km_host_memory_flags{KM_HOST_MEMORY_DEFAULT});
  }
  /// Makes the caller's own memory page-locked. It must stay mapped until this object is gone and
  /// work that uses it is done.
  static result<basic_host_memory> lock(const detail::any_context& context, T* pointer,
                                        std::uint64_t count) {
    return made(km_host_memory_register, context.get(), pointer, detail::product(count, sizeof(T)),
                km_host_memory_flags{KM_HOST_MEMORY_DEFAULT});
  }
  /// Maps a part of a file, to its end by default, for the host to read and as a source of copies.
  /// It is not page-locked. `flags` is a KM_MAP_... An incomplete element at the end is left out.
  static result<basic_host_memory> map_file(const detail::any_context& context,
                                            const std::string& path, std::uint64_t offset_bytes = 0,
                                            std::uint64_t size_bytes = UINT64_MAX,
                                            km_map_flags flags = KM_MAP_READ_ONLY) {
    return made(km_host_memory_map_file, context.get(), path.c_str(), offset_bytes, size_bytes,
                flags);
  }

  basic_host_memory(basic_host_memory&& other) noexcept
      : object(std::move(other)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  basic_host_memory& operator=(basic_host_memory&& other) noexcept {
    basic_host_memory moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~basic_host_memory() = default;

  void swap(basic_host_memory& other) noexcept {
    object::swap(other);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  /// Drops the handle; the memory is freed after its last use.
  void reset() noexcept { basic_host_memory().swap(*this); }
  km_host_memory release() noexcept {
    data_ = nullptr;
    size_ = 0;
    return object::release();
  }

  /// The elements, like those of a std::vector.
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t index) noexcept { return data_[index]; }
  const T& operator[](std::size_t index) const noexcept { return data_[index]; }

 private:
  template <class Call, class... Arguments>
  static result<basic_host_memory> made(Call call, Arguments... arguments) {
    km_host_memory handle{};
    km_status status = call(arguments..., &handle);
    basic_host_memory memory;
    memory.object::operator=(object(handle));
    void* pointer = nullptr;
    std::uint64_t size_bytes = 0;
    if (status == KM_SUCCESS) status = km_host_memory_pointer(handle, &pointer);
    if (status == KM_SUCCESS) status = km_host_memory_size_bytes(handle, &size_bytes);
    memory.data_ = static_cast<T*>(pointer);
    memory.size_ = static_cast<std::size_t>(size_bytes / sizeof(T));
    return P::give(status, std::move(memory));
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace v1
}  // namespace km

#endif
