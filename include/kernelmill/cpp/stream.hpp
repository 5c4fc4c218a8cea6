// Streams and events: ordered queues of work, and points in them.
#ifndef KERNELMILL_CPP_STREAM_HPP
#define KERNELMILL_CPP_STREAM_HPP

#include <kernelmill/cpp/context.hpp>

namespace km {
inline namespace v1 {

template <class P>
class basic_launch;
template <class P>
class basic_graph;
template <class P>
class basic_capture;

/// A point in a stream, for waits and time measurements. An event that was never recorded counts as
/// reached.
template <class P>
class basic_event : public detail::any_event {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  using object::object;
  /// Creates an event; with KM_EVENT_DISABLE_TIMING it records no times.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_event(const detail::any_context& context, km_event_flags flags = KM_EVENT_DEFAULT)
      : basic_event(create(context, flags)) {}
  /// Like the constructor, but returns a result.
  static result<basic_event> create(const detail::any_context& context,
                                    km_event_flags flags = KM_EVENT_DEFAULT) {
    return detail::make<P, basic_event>(km_event_create, context.get(), flags);
  }

  /// The context of this object, as a new object.
  result<basic_context<P>> context() const {
    return detail::make<P, basic_context<P>>(km_event_context, get());
  }
  /// Marks the end of the work queued in the stream so far.
  result<void> record(const detail::any_stream& stream) const {
    return P::give(km_event_record(get(), stream.get()));
  }
  /// True when the work that the event marks is done. Does not wait.
  result<bool> query() const { return P::unless(KM_NOT_READY, km_event_query(get())); }
  /// Waits until the work that the event marks is done.
  result<void> synchronize() const { return P::give(km_event_synchronize(get())); }
  /// Waits at most `limit`; returns whether the work is done.
  result<bool> synchronize_for(std::chrono::nanoseconds limit) const {
    const km_status status = km_event_synchronize_timeout(get(), detail::limit_ns(limit));
    return P::unless(KM_TIMEOUT, status);
  }
  /// The time from another event to this one. Both must have been reached: KM_NOT_READY is a
  /// failure.
  result<std::chrono::nanoseconds> elapsed_since(const detail::any_event& start) const {
    std::int64_t elapsed_ns = 0;
    const km_status status = km_event_elapsed_ns(start.get(), get(), &elapsed_ns);
    return P::give(status, std::chrono::nanoseconds(elapsed_ns));
  }
};

/// An ordered queue of work. Only synchronize() and synchronize_for() wait; any thread may call all
/// functions.
template <class P>
class basic_stream : public detail::any_stream {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  using object::object;
  /// Creates a stream. Lower numbers of `priority` go first; 0 is always valid, the device's
  /// attributes have the range.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_stream(const detail::any_context& context, std::int32_t priority = 0)
      : basic_stream(create(context, priority)) {}
  /// Like the constructor, but returns a result.
  static result<basic_stream> create(const detail::any_context& context,
                                     std::int32_t priority = 0) {
    return detail::make<P, basic_stream>(km_stream_create, context.get(),
                                         km_stream_flags{KM_STREAM_DEFAULT}, priority);
  }
  /// The default stream of a context.
  static result<basic_stream> default_of(const detail::any_context& context) {
    return detail::make<P, basic_stream>(km_context_default_stream, context.get());
  }

  /// The context of this object, as a new object.
  result<basic_context<P>> context() const {
    return detail::make<P, basic_context<P>>(km_stream_context, get());
  }
  /// The priority that the stream was created with.
  result<std::int32_t> priority() const {
    return detail::read<P, std::int32_t>(km_stream_priority, get());
  }
  /// Waits until the work queued so far is done, and writes the output of kernels.
  result<void> synchronize() const { return P::give(km_stream_synchronize(get())); }
  /// Waits at most `limit`; returns whether the work is done.
  result<bool> synchronize_for(std::chrono::nanoseconds limit) const {
    const km_status status = km_stream_synchronize_timeout(get(), detail::limit_ns(limit));
    return P::unless(KM_TIMEOUT, status);
  }
  /// True if the work queued so far is done. Does not wait.
  result<bool> query() const { return P::unless(KM_NOT_READY, km_stream_query(get())); }
  /// Makes later work wait for the work that the event marks.
  result<void> wait(const detail::any_event& event) const {
    return P::give(km_stream_wait_event(get(), event.get()));
  }
  /// A new event that marks the end of the work queued so far.
  result<basic_event<P>> record_event(km_event_flags flags = KM_EVENT_DEFAULT) const {
    km_context owner{};
    km_status status = km_stream_context(get(), &owner);
    const detail::any_context context(owner);
    km_event made{};
    if (status == KM_SUCCESS) status = km_event_create(context.get(), flags, &made);
    basic_event<P> event(made);
    if (status == KM_SUCCESS) status = km_event_record(made, get());
    return P::give(status, std::move(event));
  }
  /// Writes a number of 4 or 8 bytes to memory once the work queued before is done.
  template <class Number>
  result<void> write_value(const detail::any_slice& memory, std::uint64_t offset_bytes,
                           Number value) const {
    return P::give(km_stream_write_value(get(), memory.get(), offset_bytes, bits_of(value),
                                         std::uint32_t{sizeof value}));
  }
  /// Makes later work wait until a number in memory meets a KM_WAIT_CONDITION_...
  template <class Number>
  result<void> wait_value(const detail::any_slice& memory, std::uint64_t offset_bytes,
                          km_wait_condition condition, Number value) const {
    return P::give(km_stream_wait_value(get(), memory.get(), offset_bytes, condition,
                                        bits_of(value), std::uint32_t{sizeof value}));
  }

  /// Begins a launch: stream.launch(kernel).grid(..).block(..).args(..).submit().
  result<basic_launch<P>> launch(const detail::any_function& function) const;
  /// Launches a kernel with one call that has all its arguments. It looks up each parameter, so a
  /// basic_launch that is kept and submitted again costs less.
  template <class... Arguments>
  result<void> launch_kernel(const detail::any_function& function, const dim3& grid,
                             const dim3& block, std::uint64_t shared_bytes,
                             const Arguments&... arguments) const;

  /// Calls `callback(status)` once, when the work queued so far is done, on a thread of the
  /// library; it may not make calls that wait. It must be noexcept, since nothing could catch its
  /// exceptions. KM_ERROR_CAPTURE_UNSUPPORTED while the stream is captured: see basic_capture.
  template <class Callback>
  result<void> add_callback(Callback callback) const;

  /// Begins to capture the stream: until end_capture(), work queued in it becomes nodes of a graph
  /// and does not run. Host memory that captured work uses has to stay valid as long as the graph.
  result<void> begin_capture() const { return P::give(km_stream_begin_capture(get())); }
  /// Ends the capture and returns the graph.
  result<basic_graph<P>> end_capture() const;
  /// The state of a capture of the stream, a KM_CAPTURE_STATUS_...
  result<km_capture_status> capture_status() const {
    return detail::read<P, km_capture_status>(km_stream_capture_status, get());
  }
  /// Begins a capture that ends when the object is destroyed, and that owns host functions.
  result<basic_capture<P>> capture() const;

 private:
  template <class Number>
  static std::uint64_t bits_of(Number value) noexcept {
    static_assert(std::is_integral_v<Number> && (sizeof(Number) == 4 || sizeof(Number) == 8),
                  "streams write and wait for integers of 4 or 8 bytes");
    return static_cast<std::make_unsigned_t<Number>>(value);
  }
};

namespace detail {

// True if a stream is being captured.
inline bool is_captured(km_stream stream) noexcept {
  km_capture_status found = KM_CAPTURE_STATUS_NONE;
  return km_stream_capture_status(stream, &found) == KM_SUCCESS && found != KM_CAPTURE_STATUS_NONE;
}

// Runs a callback that the library calls once, and deletes it.
template <class Callback>
void run_once(void* data, km_status status) {
  const std::unique_ptr<Callback> call(static_cast<Callback*>(data));
  (*call)(status);
}

// Runs a callback that another object owns.
template <class Callback>
void run_again(void* data, km_status status) {
  (*static_cast<Callback*>(data))(status);
}

template <class Callback>
constexpr void check_callback() {
  static_assert(std::is_nothrow_invocable_v<Callback&, km_status>,
                "give a `[...](km_status) noexcept`");
}

}  // namespace detail

template <class P>
template <class Callback>
detail::result_of<P, void> basic_stream<P>::add_callback(Callback callback) const {
  detail::check_callback<Callback>();
  if (detail::is_captured(get())) {
    return P::template refuse<void>(error(
        KM_ERROR_CAPTURE_UNSUPPORTED,
        "km::stream::add_callback: the stream is being captured, where a function is called each "
        "time that the graph runs; give it to km::capture::add_callback"));
  }
  auto owned = std::make_unique<Callback>(std::move(callback));
  const km_status status = km_stream_add_callback(get(), detail::run_once<Callback>, owned.get());
  if (status == KM_SUCCESS) owned.release();
  return P::give(status);
}

}  // namespace v1
}  // namespace km

#endif
