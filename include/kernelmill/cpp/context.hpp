// Contexts: a device opened for work, its errors, limits, peers, and memory use.
#ifndef KERNELMILL_CPP_CONTEXT_HPP
#define KERNELMILL_CPP_CONTEXT_HPP

#include <kernelmill/cpp/device.hpp>

namespace km {
inline namespace v1 {

template <class P>
class basic_stream;
template <class T, class P>
class basic_slice;

namespace detail {
// The flags follow NDEBUG, so each translation unit gets those of its own build.
static constexpr km_context_flags usual_context_flags = KM_CONTEXT_ORDERED | KM_CONTEXT_BUILD;
}  // namespace detail

/// The memory of a device, in bytes: the amount that can still be allocated, and the total.
struct memory_state {
  std::uint64_t free_bytes = 0, total_bytes = 0;
};

/// The allocation that holds an address, and the offset of the address in it.
template <class Slice>
struct found_slice {
  Slice slice;
  std::uint64_t offset_bytes = 0;
};

/// A device opened for work. It holds the sticky error of a kernel that failed. All functions may
/// be called by any thread; those that wait say so.
template <class P>
class basic_context : public detail::any_context {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  using object::object;
  /// Opens a context on a device. Unless other flags are given, uses of its slices on different
  /// streams are ordered, and debug builds (without NDEBUG) check the accesses of kernels.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_context(const detail::any_device& device,
                         km_context_flags flags = detail::usual_context_flags)
      : basic_context(create(device, flags)) {}
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_context(const std::string& uri,
                         km_context_flags flags = detail::usual_context_flags)
      : basic_context(create(uri, flags)) {}
  /// Like the constructors, but return a result.
  static result<basic_context> create(const detail::any_device& device,
                                      km_context_flags flags = detail::usual_context_flags) {
    return detail::make<P, basic_context>(km_context_create_with_flags, device.get(), flags);
  }
  static result<basic_context> create(const std::string& uri,
                                      km_context_flags flags = detail::usual_context_flags) {
    km_device opened{};
    const km_status status = km_device_open(uri.c_str(), &opened);
    if (status != KM_SUCCESS) return P::give(status, basic_context());
    return create(detail::any_device(opened), flags);
  }

  /// The flags in effect, as km_context_flags_get returns them.
  result<km_context_flags> flags() const {
    return detail::read<P, km_context_flags>(km_context_flags_get, get());
  }
  /// True if conflicting uses of its slices on different streams are ordered.
  result<bool> is_ordered() const {
    km_context_flags flags = KM_CONTEXT_DEFAULT;
    const km_status status = km_context_flags_get(get(), &flags);
    return P::give(status, (flags & KM_CONTEXT_ORDERED) != 0);
  }
  /// True if accesses of its kernels are checked.
  result<bool> is_checked() const {
    km_context_flags flags = KM_CONTEXT_DEFAULT;
    const km_status status = km_context_flags_get(get(), &flags);
    return P::give(status, (flags & KM_CONTEXT_CHECKED) != 0);
  }
  /// The device of the context, as an object of its own.
  result<basic_device<P>> device() const {
    return detail::make<P, basic_device<P>>(km_context_device, get());
  }
  /// The default stream, which every context has. It does not wait for other streams.
  result<basic_stream<P>> default_stream() const {
    return detail::make<P, basic_stream<P>>(km_context_default_stream, get());
  }
  /// Waits for the work of all streams.
  result<void> synchronize() const { return P::give(km_context_synchronize(get())); }
  /// Clears the sticky error. All objects made from the context before are lost. Waits for running
  /// kernels to stop.
  result<void> reset_device() const { return P::give(km_context_reset(get())); }
  /// The free and total memory of the device.
  result<memory_state> memory() const {
    memory_state state;
    const km_status status = km_context_memory_info(get(), &state.free_bytes, &state.total_bytes);
    return P::give(status, std::move(state));
  }
  /// The value of a KM_CONTEXT_LIMIT_..., in bytes.
  result<std::uint64_t> limit(km_context_limit limit) const {
    return detail::read<P, std::uint64_t>(km_context_limit_get, get(), limit);
  }
  /// Sets a limit for work that is queued afterwards. The device may set more than is asked for.
  result<void> set_limit(km_context_limit limit, std::uint64_t value) const {
    return P::give(km_context_limit_set(get(), limit, value));
  }

  /// The sticky error, otherwise that of the last call on the context that failed, otherwise
  /// KM_SUCCESS.
  result<km_status> error() const { return detail::read<P, km_status>(km_context_error, get()); }
  /// The text of error(), which is the same on every thread.
  result<std::string> error_message() const {
    return detail::text<P>(km_context_error_message, get());
  }
  /// The backend's own code of error() (CUresult, errno ...), or 0.
  result<std::int64_t> error_native_code() const {
    return detail::read<P, std::int64_t>(km_context_error_native_code, get());
  }
  /// Like error(), but also clears the error unless it is sticky.
  result<km_status> take_error() const {
    return detail::read<P, km_status>(km_context_take_error, get());
  }
  /// The latest failures of calls on the context and its children, the newest first.
  result<std::vector<km_error_record>> error_history() const {
    return detail::list<P, km_error_record>(km_context_error_history, get());
  }
  /// The number of failures of each status.
  result<std::vector<km_error_count>> error_counts() const {
    return detail::list<P, km_error_count>(km_context_error_counts, get());
  }
  /// Clears the history and the counts. The context's error stays.
  result<void> clear_error_history() const {
    return P::give(km_context_clear_error_history(get()));
  }

  /// Passes the output of kernels (printf, failed assertions) to `sink(std::string_view)`, which
  /// must be noexcept and must not move or be destroyed until another one is set or the context is
  /// gone.
  template <class Sink>
  result<void> set_output(Sink& sink) const {
    static_assert(std::is_nothrow_invocable_v<Sink&, std::string_view>,
                  "give a `[...](std::string_view) noexcept`");
    return P::give(km_context_set_output(
        get(),
        [](void* data, const char* text, std::uint64_t size_bytes) {
          (*static_cast<Sink*>(data))(std::string_view(text, static_cast<std::size_t>(size_bytes)));
        },
        &sink));
  }
  /// Restores the initial destination, the standard output and error.
  result<void> reset_output() const {
    return P::give(km_context_set_output(get(), nullptr, nullptr));
  }

  /// Selects the checker's tools (KM_CHECK_...) for later launches, and passes at most `limit` (0:
  /// all) findings to `sink(const km_finding&)`, on any thread, one at a time. The sink must be
  /// noexcept and must not move or be destroyed until another one is set or the context is gone.
  template <class Sink>
  result<void> set_check(km_check_flags flags, Sink& sink, std::uint64_t limit = 0) const {
    static_assert(std::is_nothrow_invocable_v<Sink&, const km_finding&>,
                  "give a `[...](const km_finding&) noexcept`");
    return P::give(km_context_set_check(
        get(), flags, limit,
        [](void* data, const km_finding* finding) { (*static_cast<Sink*>(data))(*finding); },
        &sink));
  }
  /// Selects the checker's tools, whose findings are printed on standard error.
  result<void> set_check(km_check_flags flags) const {
    return P::give(km_context_set_check(get(), flags, 0, nullptr, nullptr));
  }

  /// Lets kernels of this context use memory of `peer`.
  result<void> enable_peer_access(const detail::any_context& peer) const {
    return P::give(km_context_enable_peer_access(get(), peer.get()));
  }
  /// Ends enable_peer_access() for later launches.
  result<void> disable_peer_access(const detail::any_context& peer) const {
    return P::give(km_context_disable_peer_access(get(), peer.get()));
  }
  /// The allocation of this context that holds a device address. KM_ERROR_NOT_FOUND when none does.
  template <class T>
  result<found_slice<basic_slice<T, P>>> find_slice(device_address address) const;

  /// Tracks later allocations; `flags` is a KM_TRACKING_...
  result<void> set_tracking(km_tracking_flags flags) const {
    return P::give(km_context_set_tracking(get(), flags));
  }
  /// The tracked allocations that are alive, in the order of their creation.
  result<std::vector<km_allocation_info>> allocations() const {
    return detail::list<P, km_allocation_info>(km_context_allocations, get());
  }
  /// The stack that made a tracked allocation, one frame per line; empty without
  /// KM_TRACKING_STACKS.
  result<std::string> allocation_stack(std::uint64_t allocation_id) const {
    return detail::text<P>(km_context_allocation_stack, get(), allocation_id);
  }

  /// Starts sampling the context's memory use on a thread of the library.
  result<void> start_memory_profile(std::chrono::nanoseconds interval) const {
    return P::give(km_context_start_memory_profile(get(), detail::limit_ns(interval)));
  }
  /// Ends the sampling. Its results stay.
  result<void> stop_memory_profile() const {
    return P::give(km_context_stop_memory_profile(get()));
  }
  /// The results so far: peak, minimum, mean.
  result<km_memory_profile> memory_profile() const {
    return detail::read_struct<P, km_memory_profile>(km_context_memory_profile, get());
  }
  /// The samples, in the order of their times.
  result<std::vector<km_memory_sample>> memory_samples() const {
    return detail::list<P, km_memory_sample>(km_context_memory_samples, get());
  }
};

}  // namespace v1
}  // namespace km

#endif
