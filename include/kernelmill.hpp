// Kernelmill for C++17 and later: the objects of <kernelmill/c_api.h> as classes that own their
// handles, and failures as exceptions. Header only; link libkernelmill.
//
//   km::context context("auto");
//   km::stream stream(context);
//   km::module module = km::module::load_file(context, "saxpy.cu");
//   km::slice<float> x(context, n), y(context, n);
//   x.upload(stream, host_x);
//   y.upload(stream, host_y);
//   stream.launch(module.function("saxpy")).grid(blocks).block(256).args(a, x, y, n).submit();
//   std::vector<float> result = y.to_vector(stream);
//
// What holds for every class:
//  - It owns one handle, can be moved but not copied, and gives the handle back when it goes. The
//    order in which objects go does not matter: the library keeps what others still need.
//  - A default-constructed or moved-from object is empty: calls on it throw km::error with
//    KM_ERROR_INVALID_HANDLE, and destroying it or assigning to it is fine.
//  - Every function throws km::error when the library says so, and nothing else but
//    std::bad_alloc; what is noexcept does not throw. Which statuses there are, units, and what
//    blocks: see the function of that name in c_api.h.
//  - Any number of threads may call const functions of one object at a time. Moving, assigning and
//    destroying it, and building a launch, are for one thread at a time.
//  - Work on different streams runs side by side, except that each use of a slice waits for the
//    earlier uses on other streams that it conflicts with (docs/guide/ordering.md), unless the
//    context was made with KM_CONTEXT_DEFAULT.
//  - get() gives the handle to C calls, release() gives it away, and the constructor from a handle
//    takes it over.
#ifndef KERNELMILL_HPP
#define KERNELMILL_HPP

#if __cplusplus < 201703L
#error "kernelmill.hpp wants C++17 or later"
#endif

#include <kernelmill/c_api.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace km {
// Programs with parts built against different versions of this header keep them apart.
inline namespace v1 {

/// The name of a status, for example "KM_ERROR_NOT_FOUND"; "unknown status" for no status.
inline const char* status_name(km_status status) noexcept {
  const char* name = "unknown status";
  km_status_name(status, &name);
  return name;
}

namespace detail {

inline const char* description(km_status status) noexcept {
  const char* text = "the library is newer than this program and has a status it does not know";
  km_status_description(status, &text);
  return text;
}

// The text behind a call that copies it out: read(buffer, capacity, &size) -> km_status. Only sizes
// that grow between two calls make it try again.
template <class Read>
km_status read_text(Read read, std::string& out_text) {
  for (;;) {
    std::uint64_t size = 0;
    km_status status = read(nullptr, std::uint64_t{0}, &size);
    if (status != KM_SUCCESS) return status;
    std::string text(static_cast<std::size_t>(size), '\0');
    status = read(text.data(), size, &size);
    if (status == KM_ERROR_BUFFER_TOO_SMALL) continue;
    if (status != KM_SUCCESS) return status;
    text.resize(size == 0 ? 0 : static_cast<std::size_t>(size - 1));
    out_text = std::move(text);
    return KM_SUCCESS;
  }
}

// What the calling thread's last failure says; a status that is no error leaves no text.
inline std::string failure_text(km_status status) {
  std::string text;
  if (status >= KM_ERROR_INTERNAL) read_text(km_last_error_message, text);
  return text.empty() ? std::string(status_name(status)) + ": " + description(status) : text;
}

}  // namespace detail

/// A failed call: what the library knows of it, fetched on the thread that failed.
class error : public std::runtime_error {
 public:
  /// Right after the failing call, on its thread.
  explicit error(km_status status) : error(status, detail::failure_text(status)) {
    if (status >= KM_ERROR_INTERNAL) km_last_error_native_code(&native_code_);
  }
  error(km_status status, const std::string& text) : std::runtime_error(text), status_(status) {
    km_status_category(status, &category_);
    km_status_recovery(status, &suggestion_);
  }

  /// Which failure: a KM_ERROR_..., or KM_NOT_READY.
  km_status status() const noexcept { return status_; }
  /// What kind of failure: a KM_ERROR_CATEGORY_...
  km_error_category category() const noexcept { return category_; }
  /// What to do about it, in one sentence. what() says what was wrong, with which values.
  const char* suggestion() const noexcept { return suggestion_; }
  /// The backend's own code (CUresult, errno ...), or 0.
  std::int64_t native_code() const noexcept { return native_code_; }

 private:
  km_status status_;
  km_error_category category_ = KM_ERROR_CATEGORY_NONE;
  const char* suggestion_ = "";
  std::int64_t native_code_ = 0;
};

/// A compilation that failed, with all that the compiler said.
class compile_error : public error {
 public:
  compile_error(km_status status, std::string log)
      : error(status), log_(std::make_shared<const std::string>(std::move(log))) {}
  const std::string& log() const noexcept { return *log_; }

 private:
  std::shared_ptr<const std::string> log_;  // exceptions are copied without throwing
};

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void fail(km_status status) { throw error(status); }

inline void check(km_status status) {
  if (status != KM_SUCCESS) fail(status);
}

// For calls with one answer beside success that is no failure.
inline bool check_unless(km_status other, km_status status) {
  if (status == other) return false;
  check(status);
  return true;
}

template <class Read>
std::string text_of(Read read) {
  std::string text;
  check(read_text(read, text));
  return text;
}

// Products of sizes; what does not fit is out of every bound, which the library then says.
constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t most = (std::numeric_limits<std::uint64_t>::max)();
  return b != 0 && a > most / b ? most : a * b;
}

inline std::uint64_t limit_ns(std::chrono::nanoseconds limit) noexcept {
  return limit.count() <= 0 ? 0 : static_cast<std::uint64_t>(limit.count());
}

// The owner of one handle.
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

  Handle get() const noexcept { return handle_; }
  Handle release() noexcept { return std::exchange(handle_, Handle{}); }
  void reset() noexcept {
    if (handle_ != Handle{}) Destroy(release());
  }
  void swap(object& other) noexcept { std::swap(handle_, other.handle_); }
  explicit operator bool() const noexcept { return handle_ != Handle{}; }

 private:
  Handle handle_{};
};

// The object that a C call with one out-parameter last makes.
template <class Object, class Call, class... Arguments>
Object make(Call call, Arguments... arguments) {
  decltype(std::declval<Object>().get()) handle{};
  check(call(arguments..., &handle));
  return Object(handle);
}

}  // namespace detail

/// A device, by its URI: "cpu", "cpu:1", "auto" ...
class device : public detail::object<km_device, km_device_destroy> {
 public:
  using object::object;
  explicit device(const std::string& uri)
      : device(detail::make<device>(km_device_open, uri.c_str())) {}

  /// How many devices all usable backends have.
  static std::uint32_t count() {
    std::uint32_t found = 0;
    detail::check(km_device_count(nullptr, &found));
    return found;
  }
  km_device_info info() const {
    km_device_info found{};
    found.struct_size = sizeof found;
    detail::check(km_device_info_get(get(), &found));
    return found;
  }
  /// A KM_DEVICE_ATTRIBUTE_...
  std::int64_t attribute(km_device_attribute attribute) const {
    std::int64_t value = 0;
    detail::check(km_device_attribute_get(get(), attribute, &value));
    return value;
  }
};

/// A device opened for work. Also the home of the sticky error of a kernel that failed.
class context : public detail::object<km_context, km_context_destroy> {
 public:
  using object::object;
  /// KM_CONTEXT_DEFAULT for streams that know nothing of each other, as in C.
  explicit context(const km::device& device, km_context_flags flags = KM_CONTEXT_ORDERED)
      : context(detail::make<context>(km_context_create_with_flags, device.get(), flags)) {}
  explicit context(const std::string& uri, km_context_flags flags = KM_CONTEXT_ORDERED)
      : context(km::device(uri), flags) {}

  /// Whether uses of its slices on different streams are ordered.
  bool is_ordered() const {
    km_context_flags flags = KM_CONTEXT_DEFAULT;
    detail::check(km_context_flags_get(get(), &flags));
    return (flags & KM_CONTEXT_ORDERED) != 0;
  }

  km::device device() const { return detail::make<km::device>(km_context_device, get()); }
  /// Waits for the work of all streams.
  void synchronize() const { detail::check(km_context_synchronize(get())); }
  /// Clears the sticky error. All objects made from the context before are lost.
  void reset_device() const { detail::check(km_context_reset(get())); }
  /// The error that sticks, else the last one, else KM_SUCCESS.
  km_status error() const {
    km_status status = KM_SUCCESS;
    detail::check(km_context_error(get(), &status));
    return status;
  }
  std::string error_message() const {
    return detail::text_of([this](char* buffer, std::uint64_t capacity, std::uint64_t* size) {
      return km_context_error_message(get(), buffer, capacity, size);
    });
  }
  struct memory_state {
    std::uint64_t free_bytes = 0, total_bytes = 0;
  };
  memory_state memory() const {
    memory_state state;
    detail::check(km_context_memory_info(get(), &state.free_bytes, &state.total_bytes));
    return state;
  }
};

class stream;

/// A point in a stream: to wait for, or to take times at.
class event : public detail::object<km_event, km_event_destroy> {
 public:
  using object::object;
  explicit event(const context& context, km_event_flags flags = KM_EVENT_DEFAULT)
      : event(detail::make<event>(km_event_create, context.get(), flags)) {}

  inline void record(const stream& stream) const;
  /// Whether the work that the event marks is done.
  bool query() const { return detail::check_unless(KM_NOT_READY, km_event_query(get())); }
  void synchronize() const { detail::check(km_event_synchronize(get())); }
  /// Waits, but no longer than that; whether the work is done.
  bool synchronize_for(std::chrono::nanoseconds limit) const {
    const km_status status = km_event_synchronize_timeout(get(), detail::limit_ns(limit));
    return detail::check_unless(KM_TIMEOUT, status);
  }
  /// Both events must have been reached; KM_NOT_READY is thrown otherwise.
  std::chrono::nanoseconds elapsed_since(const event& start) const {
    std::int64_t elapsed_ns = 0;
    detail::check(km_event_elapsed_ns(start.get(), get(), &elapsed_ns));
    return std::chrono::nanoseconds(elapsed_ns);
  }
};

/// Page-locked host memory, from and to which copies are asynchronous: it has to outlive them only
/// as far as the program itself reads or writes it.
template <class T>
class host_memory : private detail::object<km_host_memory, km_host_memory_destroy> {
  static_assert(std::is_trivially_copyable_v<T>, "devices know bytes, not constructors");

 public:
  using host_memory::object::get;
  using host_memory::object::operator bool;

  host_memory() noexcept = default;
  host_memory(const context& context, std::uint64_t count)
      : host_memory::object(detail::make<typename host_memory::object>(
            km_host_memory_create, context.get(), detail::product(count, sizeof(T)),
            km_host_memory_flags{KM_HOST_MEMORY_DEFAULT})),
        size_(static_cast<std::size_t>(count)) {
    void* pointer = nullptr;
    detail::check(km_host_memory_pointer(get(), &pointer));
    data_ = static_cast<T*>(pointer);
  }
  host_memory(host_memory&& other) noexcept
      : host_memory::object(std::move(other)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  host_memory& operator=(host_memory&& other) noexcept {
    host_memory moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~host_memory() = default;

  void swap(host_memory& other) noexcept {
    host_memory::object::swap(other);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  void reset() noexcept { *this = host_memory(); }

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
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
class view;

namespace detail {

// What slices and views can do.
template <class T>
class memory : private object<km_slice, km_slice_destroy> {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "devices know bytes, not constructors");
  using base = object<km_slice, km_slice_destroy>;

 public:
  using base::get;
  using base::operator bool;

  memory() noexcept = default;
  memory(memory&& other) noexcept
      : base(std::move(other)),
        size_(std::exchange(other.size_, 0)),
        units_(std::exchange(other.units_, 1)) {}
  memory& operator=(memory&& other) noexcept {
    memory moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~memory() = default;

  void swap(memory& other) noexcept {
    base::swap(other);
    std::swap(size_, other.size_);
    std::swap(units_, other.units_);
  }
  void reset() noexcept { memory().swap(*this); }
  km_slice release() noexcept {
    size_ = 0;
    return base::release();
  }
  /// Gives the memory back no sooner than the work queued in the stream so far is done.
  inline void reset_on(const stream& stream);

  /// Elements; 0 for an empty object.
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t size_bytes() const noexcept { return size_ * sizeof(T); }
  bool empty() const noexcept { return size_ == 0; }
  /// The device address of the first element.
  std::uint64_t address() const {
    std::uint64_t found = 0;
    check(km_slice_address(get(), &found));
    return found;
  }
  /// The memory itself, where device memory is host memory.
  T* host_pointer() const {
    void* found = nullptr;
    check(km_slice_host_pointer(get(), &found));
    return static_cast<T*>(found);
  }
  /// A part that shares the memory and keeps it.
  inline view<T> part(std::uint64_t first, std::uint64_t count) const;

  /// From `count` elements of the host to those from `first` on. km::host_memory must stay
  /// unchanged until the stream got there; any other has been read when the call returns.
  inline void upload(const stream& stream, const T* source, std::uint64_t count,
                     std::uint64_t first = 0) const;
  /// From all of a std::vector, std::array, km::host_memory ... of T.
  template <class Container, class = std::enable_if_t<!std::is_pointer_v<Container>>>
  void upload(const stream& stream, const Container& source, std::uint64_t first = 0) const {
    upload(stream, std::data(source), std::size(source), first);
  }
  /// To `count` elements of the host from those from `first` on. km::host_memory is written when
  /// the stream gets there; any other has been written when the call returns.
  inline void download(const stream& stream, T* destination, std::uint64_t count,
                       std::uint64_t first = 0) const;
  /// Fills all of the container.
  template <class Container, class = std::enable_if_t<!std::is_pointer_v<Container>>>
  void download(const stream& stream, Container& destination, std::uint64_t first = 0) const {
    download(stream, std::data(destination), std::size(destination), first);
  }
  /// All elements, after the work that is queued in the stream.
  std::vector<T> to_vector(const stream& stream) const {
    std::vector<T> elements(static_cast<std::size_t>(size_));
    download(stream, elements);
    return elements;
  }
  /// From `source`, all of it, to the elements from `first` on.
  inline void copy_from(const stream& stream, const memory& source, std::uint64_t first = 0) const;
  /// Every element the same; elements of 1, 2 or 4 bytes.
  inline void fill(const stream& stream, T value) const;
  /// Every byte zero.
  inline void fill_zero(const stream& stream) const;

 protected:
  memory(km_slice handle, std::uint64_t size) noexcept : base(handle), size_(size) {}
  // A handle from elsewhere, perhaps with elements of another size.
  explicit memory(km_slice handle) : base(handle) {
    km_slice_info info{};
    info.struct_size = sizeof info;
    check(km_slice_info_get(handle, &info));
    if (info.size_bytes % sizeof(T) != 0 || sizeof(T) % info.element_size_bytes != 0) {
      throw error(KM_ERROR_INVALID_ARGUMENT,
                  "km::slice: its elements have a size of " +
                      std::to_string(info.element_size_bytes) + " and all together one of " +
                      std::to_string(info.size_bytes) + ", the type given one of " +
                      std::to_string(sizeof(T)) + "; give the type that it holds");
    }
    size_ = info.size_bytes / sizeof(T);
    units_ = sizeof(T) / info.element_size_bytes;
  }
  km_slice part_handle(std::uint64_t first, std::uint64_t count) const {
    km_slice part{};
    check(km_slice_view(get(), product(first, units_), product(count, units_), &part));
    return part;
  }

 private:
  std::uint64_t size_ = 0;
  std::uint64_t units_ = 1;  // elements of the handle that make one T
};

}  // namespace detail

/// A part of a slice, or of another view: memory that it shares and keeps.
template <class T>
class view : public detail::memory<T> {
 public:
  view() noexcept = default;
  explicit view(km_slice handle) : detail::memory<T>(handle) {}
};

/// Device memory for a number of elements.
template <class T>
class slice : public detail::memory<T> {
 public:
  slice() noexcept = default;
  explicit slice(km_slice handle) : detail::memory<T>(handle) {}
  /// Holds anything at first, and can be used on every stream at once.
  slice(const context& context, std::uint64_t count, km_slice_flags flags = KM_SLICE_DEFAULT)
      : detail::memory<T>(create(km_slice_create, context.get(), count, flags), count) {}
  /// Can be used by work that is queued in the stream afterwards.
  inline slice(const stream& stream, std::uint64_t count, km_slice_flags flags = KM_SLICE_DEFAULT);
  static slice zeroed(const context& context, std::uint64_t count) {
    return slice(context, count, KM_SLICE_ZEROED);
  }

  /// The caller's own memory, not copied where the device can reach it; it must stay until the
  /// slice, its views and the work on them are gone.
  static slice from_host(const context& context, T* pointer, std::uint64_t count) {
    return wrap(context, pointer, count, nullptr, nullptr);
  }
  /// The same with a vector, which the slice takes over and deletes after its last use.
  static slice from_host(const context& context, std::vector<T>&& elements) {
    auto owned = std::make_unique<std::vector<T>>(std::move(elements));
    slice made = wrap(context, owned->data(), owned->size(), release_vector, owned.get());
    owned.release();
    return made;
  }

 private:
  slice(km_slice handle, std::uint64_t count) noexcept : detail::memory<T>(handle, count) {}

  template <class Call, class Parent>
  static km_slice create(Call call, Parent parent, std::uint64_t count, km_slice_flags flags) {
    km_slice made{};
    detail::check(call(parent, count, sizeof(T), flags, &made));
    return made;
  }
  static slice wrap(const context& context, T* pointer, std::uint64_t count,
                    km_release_callback release, void* user_data) {
    km_slice made{};
    detail::check(
        km_slice_from_host(context.get(), pointer, count, sizeof(T), release, user_data, &made));
    return slice(made, count);
  }
  static void release_vector(void* elements) { delete static_cast<std::vector<T>*>(elements); }
};

/// A kernel of a module.
class function : public detail::object<km_function, km_function_destroy> {
 public:
  using object::object;

  std::string name() const {
    return detail::text_of([this](char* buffer, std::uint64_t capacity, std::uint64_t* size) {
      return km_function_name(get(), buffer, capacity, size);
    });
  }
  /// A KM_FUNCTION_ATTRIBUTE_...
  std::int64_t attribute(km_function_attribute attribute) const {
    std::int64_t value = 0;
    detail::check(km_function_attribute_get(get(), attribute, &value));
    return value;
  }
  void set_attribute(km_function_attribute attribute, std::int64_t value) const {
    detail::check(km_function_attribute_set(get(), attribute, value));
  }
  std::uint32_t param_count() const {
    std::uint32_t count = 0;
    detail::check(km_function_param_count(get(), &count));
    return count;
  }
  km_param_info param(std::uint32_t index) const {
    km_param_info info{};
    info.struct_size = sizeof info;
    detail::check(km_function_param(get(), index, &info));
    return info;
  }
};

/// A raw device address as an argument of a kernel; the memory behind it is the caller's business.
struct device_address {
  std::uint64_t value;
};

/// A slice or view as an argument that the kernel only reads.
struct read_only_slice {
  km_slice handle;
};

/// Says of an argument that the kernel only reads it, so that the launch need not wait for others
/// that read it on other streams: args(km::read_only(x), y). A kernel that writes it all the same
/// races with them.
template <class T>
read_only_slice read_only(const detail::memory<T>& memory) noexcept {
  return {memory.get()};
}

/// A launch that is put together step by step. Each argument is checked against the kernel's
/// parameter as it is given. After submit() it may be submitted again: as it is, or with all its
/// arguments given anew.
class launch : public detail::object<km_launch, km_launch_destroy> {
 public:
  using object::object;
  inline launch(const stream& stream, const function& function);

  /// Blocks.
  launch& grid(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
    detail::check(km_launch_set_grid(get(), x, y, z));
    return *this;
  }
  /// Threads of a block.
  launch& block(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
    detail::check(km_launch_set_block(get(), x, y, z));
    return *this;
  }
  /// Dynamic shared memory of a block.
  launch& shared_bytes(std::uint64_t size_bytes) {
    detail::check(km_launch_set_shared_bytes(get(), size_bytes));
    return *this;
  }
  /// Blocks of a cluster; 0, 0, 0: as the kernel says.
  launch& cluster(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
    detail::check(km_launch_set_cluster(get(), x, y, z));
    return *this;
  }
  /// Whether all blocks of the grid may wait for each other.
  launch& cooperative(bool yes = true) {
    detail::check(km_launch_set_cooperative(get(), yes ? 1 : 0));
    return *this;
  }
  /// The next argument: a slice or view, whose memory is kept until the kernel is done. It counts
  /// as written, unless it is given by km::read_only().
  template <class T>
  launch& arg(const detail::memory<T>& memory) {
    detail::check(km_launch_arg_slice(get(), memory.get(), 0));
    return *this;
  }
  template <class T>
  launch& arg(const slice<T>& slice) {
    return arg(static_cast<const detail::memory<T>&>(slice));
  }
  template <class T>
  launch& arg(const view<T>& view) {
    return arg(static_cast<const detail::memory<T>&>(view));
  }
  launch& arg(read_only_slice slice) {
    detail::check(km_launch_arg_slice_access(get(), slice.handle, 0, 0, KM_ACCESS_READ));
    return *this;
  }
  launch& arg(device_address address) {
    detail::check(km_launch_arg_address(get(), address.value));
    return *this;
  }
  /// A number or structure, of exactly the parameter's size; it is copied.
  template <class T>
  launch& arg(const T& value) {
    static_assert(!std::is_pointer_v<T> && !std::is_null_pointer_v<T>,
                  "give a km::slice, a km::view or a km::device_address, not a pointer");
    static_assert(std::is_trivially_copyable_v<T>, "kernels take bytes, not constructors");
    detail::check(km_launch_arg_scalar(get(), &value, sizeof value));
    return *this;
  }
  template <class... Arguments>
  launch& args(const Arguments&... arguments) {
    (arg(arguments), ...);
    return *this;
  }
  /// Queues the kernel.
  void submit() const { detail::check(km_launch_submit(get())); }
};

/// An ordered queue of work.
class stream : public detail::object<km_stream, km_stream_destroy> {
 public:
  using object::object;
  explicit stream(const context& context, std::int32_t priority = 0)
      : stream(detail::make<stream>(km_stream_create, context.get(),
                                    km_stream_flags{KM_STREAM_DEFAULT}, priority)) {}
  /// The one that a context has from the start.
  static stream default_of(const context& context) {
    return detail::make<stream>(km_context_default_stream, context.get());
  }

  km::context context() const { return detail::make<km::context>(km_stream_context, get()); }
  std::int32_t priority() const {
    std::int32_t found = 0;
    detail::check(km_stream_priority(get(), &found));
    return found;
  }
  void synchronize() const { detail::check(km_stream_synchronize(get())); }
  /// Waits, but no longer than that; whether the work is done.
  bool synchronize_for(std::chrono::nanoseconds limit) const {
    const km_status status = km_stream_synchronize_timeout(get(), detail::limit_ns(limit));
    return detail::check_unless(KM_TIMEOUT, status);
  }
  /// Whether the work queued so far is done.
  bool query() const { return detail::check_unless(KM_NOT_READY, km_stream_query(get())); }
  /// Work queued from now on waits for what the event marks.
  void wait(const event& event) const { detail::check(km_stream_wait_event(get(), event.get())); }

  km::launch launch(const function& function) const { return km::launch(*this, function); }

  /// Has `callback(status)` called once, when the work queued so far is done, on a thread of the
  /// library; it may not make calls that wait. It must be noexcept: nobody could catch.
  template <class Callback>
  void add_callback(Callback callback) const {
    static_assert(std::is_nothrow_invocable_v<Callback&, km_status>,
                  "wants `[...](km_status) noexcept`");
    auto owned = std::make_unique<Callback>(std::move(callback));
    detail::check(km_stream_add_callback(
        get(),
        [](void* data, km_status status) {
          const std::unique_ptr<Callback> call(static_cast<Callback*>(data));
          (*call)(status);
        },
        owned.get()));
    owned.release();
  }
};

inline launch::launch(const stream& stream, const function& function)
    : launch(detail::make<launch>(km_launch_create, stream.get(), function.get())) {}

inline void event::record(const stream& stream) const {
  detail::check(km_event_record(get(), stream.get()));
}

template <class T>
inline slice<T>::slice(const stream& stream, std::uint64_t count, km_slice_flags flags)
    : detail::memory<T>(create(km_slice_create_on_stream, stream.get(), count, flags), count) {}

namespace detail {

template <class T>
inline void memory<T>::reset_on(const stream& stream) {
  check(km_slice_destroy_on_stream(get(), stream.get()));
  release();
}

template <class T>
inline view<T> memory<T>::part(std::uint64_t first, std::uint64_t count) const {
  return view<T>(part_handle(first, count));
}

template <class T>
inline void memory<T>::upload(const stream& stream, const T* source, std::uint64_t count,
                              std::uint64_t first) const {
  check(km_slice_upload(stream.get(), get(), product(first, sizeof(T)), source,
                        product(count, sizeof(T))));
}

template <class T>
inline void memory<T>::download(const stream& stream, T* destination, std::uint64_t count,
                                std::uint64_t first) const {
  check(km_slice_download(stream.get(), get(), product(first, sizeof(T)), destination,
                          product(count, sizeof(T))));
}

template <class T>
inline void memory<T>::copy_from(const stream& stream, const memory& source,
                                 std::uint64_t first) const {
  check(km_slice_copy(stream.get(), get(), product(first, sizeof(T)), source.get(), 0,
                      source.size_bytes()));
}

template <class T>
inline void memory<T>::fill(const stream& stream, T value) const {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4,
                "devices fill with 1, 2 or 4 bytes");
  if constexpr (sizeof(T) == 1) {
    std::uint8_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    check(km_slice_fill_u8(stream.get(), get(), 0, bits, size_));
  } else if constexpr (sizeof(T) == 2) {
    std::uint16_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    check(km_slice_fill_u16(stream.get(), get(), 0, bits, size_));
  } else {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    check(km_slice_fill_u32(stream.get(), get(), 0, bits, size_));
  }
}

template <class T>
inline void memory<T>::fill_zero(const stream& stream) const {
  check(km_slice_fill_u8(stream.get(), get(), 0, 0, size_bytes()));
}

/// The library reads a text of size 0 up to its closing zero, which an empty view may lack.
inline const char* text_data(std::string_view text) { return text.empty() ? "" : text.data(); }

}  // namespace detail

/// A CUDA C++ source on its way to PTX.
class program : public detail::object<km_program, km_program_destroy> {
 private:
  auto log_reader() const noexcept {
    return [this](char* buffer, std::uint64_t capacity, std::uint64_t* size) {
      return km_program_log(get(), buffer, capacity, size);
    };
  }

 public:
  using object::object;
  /// `name` is for messages.
  explicit program(std::string_view source, const std::string& name = "kernel.cu")
      : program(detail::make<program>(km_program_create, detail::text_data(source),
                                      std::uint64_t{source.size()}, name.c_str())) {}

  /// As NVRTC spells it, for example "--use_fast_math" or "-DN=4".
  void add_option(const std::string& option) const {
    detail::check(km_program_add_option(get(), option.c_str()));
  }
  /// Found by `#include "name"`.
  void add_header(const std::string& name, std::string_view source) const {
    detail::check(
        km_program_add_header(get(), name.c_str(), detail::text_data(source), source.size()));
  }
  /// A C++ name to keep, such as "scale<float>", by which the module then finds the kernel.
  void add_name_expression(const std::string& expression) const {
    detail::check(km_program_add_name_expression(get(), expression.c_str()));
  }
  /// Throws km::compile_error when the source has errors.
  void compile() const {
    const km_status status = km_program_compile(get());
    if (status == KM_SUCCESS) return;
    if (status != KM_ERROR_COMPILATION_FAILED) detail::fail(status);
    std::string said;
    detail::read_text(log_reader(), said);
    throw compile_error(status, std::move(said));
  }
  /// What the compiler said last.
  std::string log() const { return detail::text_of(log_reader()); }
  std::string ptx() const {
    return detail::text_of([this](char* buffer, std::uint64_t capacity, std::uint64_t* size) {
      return km_program_ptx(get(), buffer, capacity, size);
    });
  }
  /// The name in the PTX of a name expression.
  std::string lowered_name(const std::string& expression) const {
    return detail::text_of([&](char* buffer, std::uint64_t capacity, std::uint64_t* size) {
      return km_program_lowered_name(get(), expression.c_str(), buffer, capacity, size);
    });
  }
};

/// Compiles CUDA C++ in one go: for km::module(context, program), or for its ptx().
inline program compile(std::string_view source, std::initializer_list<std::string> options = {},
                       const std::string& name = "kernel.cu") {
  program made(source, name);
  for (const std::string& option : options) made.add_option(option);
  made.compile();
  return made;
}

/// Compiled PTX with its kernels and global variables.
class module : public detail::object<km_module, km_module_destroy> {
 public:
  using object::object;
  module(const context& context,
         const program& program) :module(detail::make<module>(km_module_load_program, context.get(),
                                                              program.get())) {}

  /// A file of PTX or CUDA C++.
  static module load_file(const context& context, const std::string& path) {
    return detail::make<module>(km_module_load_file, context.get(), path.c_str());
  }
  static module load_ptx(const context& context, std::string_view ptx,
                         const std::string& name = "module.ptx") {
    return detail::make<module>(km_module_load_ptx, context.get(), detail::text_data(ptx),
                                std::uint64_t{ptx.size()}, name.c_str());
  }
  /// CUDA C++, compiled for the context's device.
  static module load_source(const context& context, std::string_view source,
                            const std::string& name = "kernel.cu") {
    return detail::make<module>(km_module_load_source, context.get(), detail::text_data(source),
                                std::uint64_t{source.size()}, name.c_str());
  }

  /// A kernel by its name in the PTX, or by a name expression of the program.
  km::function function(const std::string& name) const {
    return detail::make<km::function>(km_module_function, get(), name.c_str());
  }
  /// A global or constant variable.
  template <class T>
  slice<T> global(const std::string& name) const {
    km_slice found{};
    detail::check(km_module_global(get(), name.c_str(), &found));
    return slice<T>(found);
  }
  /// The kernels, in the order of the text.
  std::vector<std::string> function_names() const {
    std::uint32_t count = 0;
    detail::check(km_module_function_count(get(), &count));
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < count; ++i) {
      names.push_back(
          detail::text_of([&](char* buffer, std::uint64_t capacity, std::uint64_t* size) {
            return km_module_function_name(get(), i, buffer, capacity, size);
          }));
    }
    return names;
  }
};

}  // namespace v1
}  // namespace km

#endif
