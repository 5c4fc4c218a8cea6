// Device memory: slices and views, typed by their elements.
#ifndef KERNELMILL_CPP_MEMORY_HPP
#define KERNELMILL_CPP_MEMORY_HPP

#include <kernelmill/cpp/stream.hpp>

#include <cstddef>
#include <cstring>
#include <iterator>
#if defined(__cpp_lib_span)
#include <span>
#endif

namespace km {
inline namespace v1 {

template <class T, class P>
class basic_view;

/// The element type in CUDA C++ for T, which launches check for slices of T. Programs may
/// specialise it for structures: { type, lanes, name } as for km_slice_set_element_type. With
/// KM_ELEMENT_TYPE_UNKNOWN such slices fit every parameter.
template <class T, class = void>
struct device_type {
  static constexpr km_element_type type = KM_ELEMENT_TYPE_UNKNOWN;
  static constexpr std::uint32_t lanes = 0;
  static constexpr const char* name = nullptr;
};

namespace detail {

template <km_element_type Type>
struct scalar_type {
  static constexpr km_element_type type = Type;
  static constexpr std::uint32_t lanes = 1;
  static constexpr const char* name = nullptr;
};
// The signed integer type of a size; integers that differ only in sign fit each other.
template <class T>
constexpr km_element_type number_type() noexcept {
  if (std::is_same_v<T, bool>) return KM_ELEMENT_TYPE_BOOL;
  if (std::is_floating_point_v<T>) {
    return sizeof(T) == 4   ? KM_ELEMENT_TYPE_F32
           : sizeof(T) == 8 ? KM_ELEMENT_TYPE_F64
                            : KM_ELEMENT_TYPE_UNKNOWN;
  }
  return sizeof(T) == 1   ? KM_ELEMENT_TYPE_I8
         : sizeof(T) == 2 ? KM_ELEMENT_TYPE_I16
         : sizeof(T) == 4 ? KM_ELEMENT_TYPE_I32
         : sizeof(T) == 8 ? KM_ELEMENT_TYPE_I64
                          : KM_ELEMENT_TYPE_UNKNOWN;
}
// Makes launches check the element type of a new slice, if it is known.
template <class T>
void set_device_type(km_slice slice) noexcept {
  using found = device_type<T>;
  if constexpr (found::type != KM_ELEMENT_TYPE_UNKNOWN) {
    (void)km_slice_set_element_type(slice, found::type, found::lanes, found::name);
  }
}

}  // namespace detail

template <class T>
struct device_type<T, std::enable_if_t<std::is_arithmetic_v<T> &&
                                       detail::number_type<T>() != KM_ELEMENT_TYPE_UNKNOWN>>
    : detail::scalar_type<detail::number_type<T>()> {};
template <>
struct device_type<std::byte> : detail::scalar_type<KM_ELEMENT_TYPE_U8> {};

namespace detail {

// The bits of a value of 1, 2 or 4 bytes, as fills take it.
template <class T>
std::uint32_t fill_bits(const T& value) noexcept {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4,
                "devices fill with elements of 1, 2 or 4 bytes: upload those of other sizes");
  if constexpr (sizeof(T) == 4) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  } else if constexpr (sizeof(T) == 2) {
    std::uint16_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  } else {
    std::uint8_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
}

template <class T>
km_status fill(km_stream stream, km_slice slice, std::uint64_t offset_bytes, const T& value,
               std::uint64_t count) noexcept {
  const std::uint32_t bits = fill_bits(value);
  if constexpr (sizeof(T) == 4) {
    return km_slice_fill_u32(stream, slice, offset_bytes, bits, count);
  } else if constexpr (sizeof(T) == 2) {
    return km_slice_fill_u16(stream, slice, offset_bytes, static_cast<std::uint16_t>(bits), count);
  } else {
    return km_slice_fill_u8(stream, slice, offset_bytes, static_cast<std::uint8_t>(bits), count);
  }
}

/// The elements of a slice or view: a handle and a count. Kernels, copies and BLAS take this type,
/// so that objects of km and km::nothrow can be mixed.
template <class T>
class elements : public any_slice {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "devices know bytes, not constructors: give a type that is trivially copyable");

 public:
  using value_type = T;

  elements() noexcept = default;
  elements(elements&& other) noexcept
      : any_slice(std::move(other)),
        size_(std::exchange(other.size_, 0)),
        units_(std::exchange(other.units_, 1)) {}
  elements& operator=(elements&& other) noexcept {
    elements moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~elements() = default;

  void swap(elements& other) noexcept {
    any_slice::swap(other);
    std::swap(size_, other.size_);
    std::swap(units_, other.units_);
  }
  /// Drops the handle; the memory is freed after its last use.
  void reset() noexcept { elements().swap(*this); }
  /// Transfers the handle to the caller; the object is empty then.
  km_slice release() noexcept {
    size_ = 0;
    return any_slice::release();
  }
  /// The number of elements; 0 for an empty object.
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t size_bytes() const noexcept { return size_ * sizeof(T); }
  bool empty() const noexcept { return size_ == 0; }

 protected:
  elements(km_slice handle, std::uint64_t size) noexcept : any_slice(handle), size_(size) {}
  // The number of the handle's elements per T.
  std::uint64_t units() const noexcept { return units_; }
  // Takes over a handle from elsewhere, whose elements may have another size; sets `out_wrong` if T
  // does not fit.
  km_status adopt(km_slice handle, std::optional<error>& out_wrong) {
    elements taken(handle, 0);
    km_slice_info info{};
    info.struct_size = sizeof info;
    const km_status status = km_slice_info_get(handle, &info);
    if (status == KM_ERROR_INVALID_HANDLE) taken.release();  // destroying it would change the text
    if (status != KM_SUCCESS) return status;
    if (info.size_bytes % sizeof(T) != 0 || sizeof(T) % info.element_size_bytes != 0) {
      out_wrong.emplace(KM_ERROR_INVALID_ARGUMENT,
                        "km::slice: its elements have a size of " +
                            std::to_string(info.element_size_bytes) + " and all together one of " +
                            std::to_string(info.size_bytes) + ", the type given one of " +
                            std::to_string(sizeof(T)) + "; give the type that it holds");
      return KM_ERROR_INVALID_ARGUMENT;
    }
    taken.size_ = info.size_bytes / sizeof(T);
    taken.units_ = sizeof(T) / info.element_size_bytes;
    swap(taken);
    return KM_SUCCESS;
  }

 private:
  std::uint64_t size_ = 0;
  std::uint64_t units_ = 1;
};

}  // namespace detail

/// The size of a copy of rows: elements of a row, rows of a layer, layers.
struct extent {
  std::uint64_t width = 0, height = 1, depth = 1;
};

/// The layout of one side of a copy of rows: the first element, and the distances of rows and
/// layers; 0: without a gap.
struct row_layout {
  std::uint64_t offset = 0;  // elements
  std::uint64_t pitch_bytes = 0;
  std::uint64_t layer_rows = 0;
};

namespace detail {

template <class T>
km_copy_3d copy_of_rows(const extent& size, const row_layout& to, const row_layout& from) noexcept {
  km_copy_3d copy{};
  copy.width_bytes = product(size.width, sizeof(T));
  copy.height = size.height;
  copy.depth = size.depth;
  copy.destination_offset_bytes = product(to.offset, sizeof(T));
  copy.destination_pitch_bytes = to.pitch_bytes;
  copy.destination_layer_rows = to.layer_rows;
  copy.source_offset_bytes = product(from.offset, sizeof(T));
  copy.source_pitch_bytes = from.pitch_bytes;
  copy.source_layer_rows = from.layer_rows;
  return copy;
}

/// The calls of slices and views. All functions may be called by any thread; copies from and to
/// host memory that is not page-locked wait until it has been read or written.
template <class T, class P>
class memory : public elements<T> {
  template <class Value>
  using result = result_of<P, Value>;

 public:
  using elements<T>::elements;
  using elements<T>::get;
  using elements<T>::size;
  using elements<T>::size_bytes;

  /// Drops the handle; the memory is freed only after the work queued in the stream so far.
  result<void> reset_on(const any_stream& stream) {
    const km_status status = km_slice_destroy_on_stream(get(), stream.get());
    if (status == KM_SUCCESS) this->release();
    return P::give(status);
  }
  /// Address and sizes.
  result<km_slice_info> info() const {
    return read_struct<P, km_slice_info>(km_slice_info_get, get());
  }
  /// The device address of the first element.
  result<std::uint64_t> address() const { return read<P, std::uint64_t>(km_slice_address, get()); }
  /// The host's pointer to the memory, if device memory is host memory.
  result<T*> host_pointer() const {
    void* found = nullptr;
    const km_status status = km_slice_host_pointer(get(), &found);
    return P::give(status, static_cast<T*>(found));
  }
#if defined(__cpp_lib_span)
  /// Like host_pointer(), with the size.
  result<std::span<T>> host_span() const {
    void* found = nullptr;
    const km_status status = km_slice_host_pointer(get(), &found);
    return P::give(status, std::span<T>(static_cast<T*>(found), static_cast<std::size_t>(size())));
  }
#endif
  /// Names the allocation, for listings. KM_ERROR_NOT_FOUND when it is not tracked.
  result<void> set_tag(const std::string& tag) const {
    return P::give(km_slice_set_tag(get(), tag.c_str()));
  }
  /// Declares the CUDA C++ type of the elements if it is not km::device_type<T>, like
  /// km_slice_set_element_type. KM_ELEMENT_TYPE_UNKNOWN with 0 lanes ends the check.
  result<void> set_element_type(km_element_type type, std::uint32_t lanes = 1,
                                const char* name = nullptr) const {
    return P::give(km_slice_set_element_type(get(), type, lanes, name));
  }
  /// A view of a part, which shares the memory and keeps it.
  result<basic_view<T, P>> part(std::uint64_t first, std::uint64_t count) const {
    km_slice made{};
    const std::uint64_t units = this->units();
    const km_status status =
        km_slice_view(get(), product(first, units), product(count, units), &made);
    return give_part(status, made);
  }

  /// Copies `count` elements of the host to the elements from `first` on. km::host_memory must stay
  /// unchanged until the copy is done; any other memory has been read when the call returns.
  result<void> upload(const any_stream& stream, const T* source, std::uint64_t count,
                      std::uint64_t first = 0) const {
    return P::give(km_slice_upload(stream.get(), get(), product(first, sizeof(T)), source,
                                   product(count, sizeof(T))));
  }
  /// Copies all of a std::vector, std::array, std::span, km::host_memory ... of T.
  template <class Container, class = std::enable_if_t<!std::is_pointer_v<Container>>>
  result<void> upload(const any_stream& stream, const Container& source,
                      std::uint64_t first = 0) const {
    return upload(stream, std::data(source), std::size(source), first);
  }
  /// Copies `count` elements from `first` on to the host. km::host_memory is written when the
  /// stream reaches the copy; any other memory has been written when the call returns.
  result<void> download(const any_stream& stream, T* destination, std::uint64_t count,
                        std::uint64_t first = 0) const {
    return P::give(km_slice_download(stream.get(), get(), product(first, sizeof(T)), destination,
                                     product(count, sizeof(T))));
  }
  /// Copies as many elements as the container or span has.
  template <class Container,
            class = std::enable_if_t<!std::is_pointer_v<std::remove_reference_t<Container>>>>
  result<void> download(const any_stream& stream, Container&& destination,
                        std::uint64_t first = 0) const {
    return download(stream, std::data(destination), std::size(destination), first);
  }
  /// All elements, after the work that is queued in the stream. Waits for the stream.
  result<std::vector<T>> to_vector(const any_stream& stream) const {
    std::vector<T> copied(static_cast<std::size_t>(size()));
    const km_status status = km_slice_download(stream.get(), get(), 0, copied.data(), size_bytes());
    return P::give(status, std::move(copied));
  }
  /// Copies all of `source` to the elements from `first` on.
  result<void> copy_from(const any_stream& stream, const elements<T>& source,
                         std::uint64_t first = 0) const {
    return P::give(km_slice_copy(stream.get(), get(), product(first, sizeof(T)), source.get(), 0,
                                 source.size_bytes()));
  }
  /// A copy from another context or device of the same backend.
  result<void> copy_from_peer(const any_stream& stream, const elements<T>& source,
                              std::uint64_t first = 0) const {
    return P::give(km_slice_copy_peer(stream.get(), get(), product(first, sizeof(T)), source.get(),
                                      0, source.size_bytes()));
  }
  /// Sets every element, of 1, 2 or 4 bytes, to a value.
  result<void> fill(const any_stream& stream, const T& value) const {
    return P::give(detail::fill(stream.get(), get(), 0, value, size()));
  }
  /// Sets every byte to zero.
  result<void> fill_zero(const any_stream& stream) const {
    return P::give(km_slice_fill_u8(stream.get(), get(), 0, 0, size_bytes()));
  }

  /// Copies rows from the host. Otherwise like upload().
  result<void> upload_rows(const any_stream& stream, const T* source, const extent& rows,
                           const row_layout& here = {}, const row_layout& there = {}) const {
    const km_copy_3d copy = copy_of_rows<T>(rows, here, there);
    return P::give(km_slice_upload_3d(stream.get(), get(), source, &copy));
  }
  /// Copies rows to the host. Otherwise like download().
  result<void> download_rows(const any_stream& stream, T* destination, const extent& rows,
                             const row_layout& here = {}, const row_layout& there = {}) const {
    const km_copy_3d copy = copy_of_rows<T>(rows, there, here);
    return P::give(km_slice_download_3d(stream.get(), get(), destination, &copy));
  }
  /// Copies rows from a slice of the same context, or within one.
  result<void> copy_rows_from(const any_stream& stream, const elements<T>& source,
                              const extent& rows, const row_layout& here = {},
                              const row_layout& there = {}) const {
    const km_copy_3d copy = copy_of_rows<T>(rows, here, there);
    return P::give(km_slice_copy_3d(stream.get(), get(), source.get(), &copy));
  }
  /// Sets every element of `rows.height` rows to a value.
  result<void> fill_rows(const any_stream& stream, const T& value, const extent& rows,
                         const row_layout& here = {}) const {
    return P::give(km_slice_fill_2d(stream.get(), get(), product(here.offset, sizeof(T)),
                                    here.pitch_bytes, fill_bits(value), sizeof(T), rows.width,
                                    product(rows.height, rows.depth)));
  }

 protected:
  // Makes an object for a handle from elsewhere.
  template <class Object>
  static result<Object> adopted(km_status status, km_slice handle) {
    Object made;
    std::optional<error> wrong;
    if (status == KM_SUCCESS) status = made.adopt(handle, wrong);
    if (status == KM_SUCCESS) set_device_type<T>(made.get());
    if (wrong) return P::template refuse<Object>(std::move(*wrong));
    return P::give(status, std::move(made));
  }

 private:
  static result<basic_view<T, P>> give_part(km_status status, km_slice handle) {
    return adopted<basic_view<T, P>>(status, handle);
  }
};

}  // namespace detail

/// A part of a slice or of another view; it shares the memory and keeps it.
template <class T, class P>
class basic_view : public detail::memory<T, P> {
  friend class detail::memory<T, P>;

 public:
  basic_view() noexcept = default;
  /// Takes over a handle of the C ABI.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_view(km_slice handle) : basic_view(adopt_handle(handle)) {}
  /// Like the constructor, but returns a result. KM_ERROR_INVALID_ARGUMENT when T does not fit its
  /// elements.
  static detail::result_of<P, basic_view> adopt_handle(km_slice handle) {
    return basic_view::template adopted<basic_view>(KM_SUCCESS, handle);
  }
};

/// Device memory for a number of elements; move-only.
template <class T, class P>
class basic_slice : public detail::memory<T, P> {
  friend class detail::memory<T, P>;
  template <class Value>
  using result = detail::result_of<P, Value>;

 public:
  basic_slice() noexcept = default;
  /// Takes over a handle of the C ABI.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_slice(km_slice handle) : basic_slice(adopt_handle(handle)) {}
  /// Allocates memory with undefined contents, usable at once on every stream.
  template <class Q = P, detail::if_throwing<Q> = 0>
  basic_slice(const detail::any_context& context, std::uint64_t count,
              km_slice_flags flags = KM_SLICE_DEFAULT)
      : basic_slice(create(context, count, flags)) {}
  /// Allocates in stream order: usable by work that is queued in the stream afterwards.
  template <class Q = P, detail::if_throwing<Q> = 0>
  basic_slice(const detail::any_stream& stream, std::uint64_t count,
              km_slice_flags flags = KM_SLICE_DEFAULT)
      : basic_slice(create(stream, count, flags)) {}

  /// Like the constructors, but return a result.
  static result<basic_slice> adopt_handle(km_slice handle) {
    return basic_slice::template adopted<basic_slice>(KM_SUCCESS, handle);
  }
  static result<basic_slice> create(const detail::any_context& context, std::uint64_t count,
                                    km_slice_flags flags = KM_SLICE_DEFAULT) {
    return made(count, km_slice_create, context.get(), count, sizeof(T), flags);
  }
  static result<basic_slice> create(const detail::any_stream& stream, std::uint64_t count,
                                    km_slice_flags flags = KM_SLICE_DEFAULT) {
    return made(count, km_slice_create_on_stream, stream.get(), count, sizeof(T), flags);
  }
  /// Allocates memory filled with zeros.
  static result<basic_slice> zeroed(const detail::any_context& context, std::uint64_t count) {
    return create(context, count, KM_SLICE_ZEROED);
  }
  /// Allocates memory whose address is a multiple of `alignment_bytes`, a power of two.
  static result<basic_slice> aligned(const detail::any_context& context, std::uint64_t count,
                                     std::uint64_t alignment_bytes,
                                     km_slice_flags flags = KM_SLICE_DEFAULT) {
    return made(count, km_slice_create_aligned, context.get(), count, sizeof(T), alignment_bytes,
                flags);
  }
  /// Allocates from a pool; the overload with a stream in stream order.
  static result<basic_slice> from_pool(const detail::any_pool& pool, std::uint64_t count,
                                       km_slice_flags flags = KM_SLICE_DEFAULT) {
    return made(count, km_pool_allocate, pool.get(), count, sizeof(T), flags);
  }
  static result<basic_slice> from_pool(const detail::any_pool& pool,
                                       const detail::any_stream& stream, std::uint64_t count,
                                       km_slice_flags flags = KM_SLICE_DEFAULT) {
    return made(count, km_pool_allocate_on_stream, pool.get(), stream.get(), count, sizeof(T),
                flags);
  }
  /// Allocates memory and copies a std::vector, std::span ... into it.
  template <class Container>
  static result<basic_slice> copy_of(const detail::any_stream& stream, const Container& source) {
    km_slice handle{};
    const std::uint64_t count = std::size(source);
    km_status status =
        km_slice_create_on_stream(stream.get(), count, sizeof(T), KM_SLICE_DEFAULT, &handle);
    basic_slice made = typed(status, handle, count);
    const T* data = std::data(source);
    if (status == KM_SUCCESS) {
      status = km_slice_upload(stream.get(), handle, 0, data, made.size_bytes());
    }
    return P::give(status, std::move(made));
  }
  /// Maps a part of a file, whose pages are read when they are used: `count` elements from
  /// `offset_bytes` on, by default all. `flags` is a KM_MAP_...
  static result<basic_slice> map_file(const detail::any_context& context, const std::string& path,
                                      std::uint64_t offset_bytes = 0,
                                      std::uint64_t count = UINT64_MAX,
                                      km_map_flags flags = KM_MAP_READ_ONLY) {
    km_slice handle{};
    const km_status status = km_slice_map_file(context.get(), path.c_str(), offset_bytes, count,
                                               sizeof(T), flags, &handle);
    return basic_slice::template adopted<basic_slice>(status, handle);
  }
  /// A variable of a module.
  static result<basic_slice> global(const detail::any_module& module, const std::string& name) {
    km_slice handle{};
    const km_status status = km_module_global(module.get(), name.c_str(), &handle);
    return basic_slice::template adopted<basic_slice>(status, handle);
  }

  /// Uses the caller's own memory without a copy, if the device can access it; the memory must stay
  /// valid until the slice, its views and the work on them are gone.
  static result<basic_slice> from_host(const detail::any_context& context, T* pointer,
                                       std::uint64_t count) {
    return made(count, km_slice_from_host, context.get(), pointer, count, sizeof(T), nullptr,
                nullptr);
  }
  /// Uses the memory of a vector, which the slice takes over and deletes after its last use.
  static result<basic_slice> from_host(const detail::any_context& context,
                                       std::vector<T>&& elements) {
    auto owned = std::make_unique<std::vector<T>>(std::move(elements));
    km_slice handle{};
    const km_status status = km_slice_from_host(context.get(), owned->data(), owned->size(),
                                                sizeof(T), release_vector, owned.get(), &handle);
    basic_slice made = typed(status, handle, owned->size());
    if (status == KM_SUCCESS) owned.release();
    return P::give(status, std::move(made));
  }

 private:
  basic_slice(km_slice handle, std::uint64_t count) noexcept
      : detail::memory<T, P>(handle, count) {}

  static basic_slice typed(km_status status, km_slice handle, std::uint64_t count) noexcept {
    if (status == KM_SUCCESS) detail::set_device_type<T>(handle);
    return basic_slice(handle, count);
  }
  template <class Call, class... Arguments>
  static result<basic_slice> made(std::uint64_t count, Call call, Arguments... arguments) {
    km_slice handle{};
    const km_status status = call(arguments..., &handle);
    return P::give(status, typed(status, handle, count));
  }
  static void release_vector(void* elements) { delete static_cast<std::vector<T>*>(elements); }
};

/// Rows that begin at multiples of 256 bytes: a picture, or a matrix.
template <class T, class P>
class basic_pitched_slice {
  template <class Value>
  using result = detail::result_of<P, Value>;

 public:
  basic_pitched_slice() noexcept = default;
  /// Allocates memory for `height` rows of `width` elements.
  template <class Q = P, detail::if_throwing<Q> = 0>
  basic_pitched_slice(const detail::any_context& context, std::uint64_t width, std::uint64_t height,
                      km_slice_flags flags = KM_SLICE_DEFAULT)
      : basic_pitched_slice(create(context, width, height, flags)) {}
  /// Like the constructor, but returns a result.
  static result<basic_pitched_slice> create(const detail::any_context& context, std::uint64_t width,
                                            std::uint64_t height,
                                            km_slice_flags flags = KM_SLICE_DEFAULT) {
    basic_pitched_slice made;
    km_slice handle{};
    const km_status status =
        km_slice_create_pitched(context.get(), detail::product(width, sizeof(T)), height, flags,
                                &handle, &made.pitch_bytes_);
    if (status == KM_SUCCESS) detail::set_device_type<T>(handle);
    made.bytes_ = detail::any_slice(handle);
    made.width_ = width;
    made.height_ = height;
    return P::give(status, std::move(made));
  }

  /// The number of elements of a row, the number of rows, and the distance of rows in bytes.
  std::uint64_t width() const noexcept { return width_; }
  std::uint64_t height() const noexcept { return height_; }
  std::uint64_t pitch_bytes() const noexcept { return pitch_bytes_; }
  /// The memory, as an argument of kernels.
  const detail::any_slice& memory() const noexcept { return bytes_; }
  km_slice get() const noexcept { return bytes_.get(); }

  /// Copies all rows from the host, where they begin `host_pitch_bytes` apart; 0: without a gap.
  result<void> upload(const detail::any_stream& stream, const T* source,
                      std::uint64_t host_pitch_bytes = 0) const {
    const km_copy_3d copy = rows(pitch_bytes_, host_pitch_bytes);
    return P::give(km_slice_upload_3d(stream.get(), get(), source, &copy));
  }
  /// Copies all rows to the host.
  result<void> download(const detail::any_stream& stream, T* destination,
                        std::uint64_t host_pitch_bytes = 0) const {
    const km_copy_3d copy = rows(host_pitch_bytes, pitch_bytes_);
    return P::give(km_slice_download_3d(stream.get(), get(), destination, &copy));
  }
  /// Sets every element to a value.
  result<void> fill(const detail::any_stream& stream, const T& value) const {
    return P::give(km_slice_fill_2d(stream.get(), get(), 0, pitch_bytes_, detail::fill_bits(value),
                                    sizeof(T), width_, height_));
  }

 private:
  km_copy_3d rows(std::uint64_t to_pitch_bytes, std::uint64_t from_pitch_bytes) const noexcept {
    return detail::copy_of_rows<T>({width_, height_, 1}, {0, to_pitch_bytes, 0},
                                   {0, from_pitch_bytes, 0});
  }

  detail::any_slice bytes_;
  std::uint64_t width_ = 0, height_ = 0, pitch_bytes_ = 0;
};

template <class P>
template <class T>
detail::result_of<P, found_slice<basic_slice<T, P>>> basic_context<P>::find_slice(
    device_address address) const {
  using found = found_slice<basic_slice<T, P>>;
  km_slice handle{};
  std::uint64_t offset_bytes = 0;
  const km_status status = km_context_find_slice(get(), address.value, &handle, &offset_bytes);
  if (status != KM_SUCCESS) return P::give(status, found{});
  if constexpr (P::throws) {
    return found{basic_slice<T, P>::adopt_handle(handle), offset_bytes};
  } else {
    auto slice = basic_slice<T, P>::adopt_handle(handle);
    if (!slice) return slice.error();
    return found{std::move(*slice), offset_bytes};
  }
}

}  // namespace v1
}  // namespace km

#endif
