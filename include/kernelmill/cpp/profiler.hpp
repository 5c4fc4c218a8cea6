// Profiles: the start and duration of each operation.
#ifndef KERNELMILL_CPP_PROFILER_HPP
#define KERNELMILL_CPP_PROFILER_HPP

#include <kernelmill/cpp/context.hpp>

namespace km {
inline namespace v1 {

/// A range of the host that any thread may end.
struct profile_range {
  std::uint64_t id = 0;
};

/// Records what a context does: kernels, copies, fills and callbacks with their times, the host's
/// ranges and waits. It refers to the context, which has to outlive it. Any thread may call all
/// functions.
template <class P>
class basic_profiler {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  /// The profiler of a context. Nothing is recorded before start().
  explicit basic_profiler(const detail::any_context& context) noexcept : context_(context.get()) {}

  /// Starts recording. Starting twice is fine.
  result<void> start() const { return P::give(km_profiler_start(context_)); }
  /// Stops recording. The records stay.
  result<void> stop() const { return P::give(km_profiler_stop(context_)); }
  /// Discards the records.
  result<void> clear() const { return P::give(km_profiler_clear(context_)); }
  /// Sets whether the warps of kernels are counted from the next launch on. KM_ERROR_NOT_SUPPORTED
  /// when the device counts nothing.
  result<void> set_counters(bool enabled) const {
    return P::give(km_profiler_set_counters(context_, enabled ? 1 : 0));
  }
  /// Begins a range of the calling thread; ranges nest. profile_scope covers a block of code.
  result<void> push(const std::string& name) const {
    return P::give(km_profiler_range_push(context_, name.c_str()));
  }
  /// Ends the calling thread's innermost open range. KM_ERROR_NOT_FOUND when there is none.
  result<void> pop() const { return P::give(km_profiler_range_pop(context_)); }
  /// Begins a range that any thread may end.
  result<profile_range> start_range(const std::string& name) const {
    profile_range made;
    const km_status status = km_profiler_range_start(context_, name.c_str(), &made.id);
    return P::give(status, std::move(made));
  }
  result<void> end_range(profile_range range) const {
    return P::give(km_profiler_range_end(context_, range.id));
  }
  /// All work by kind and name: of the device by decreasing total time, then of the host.
  /// Synchronise first to have all.
  result<std::vector<km_profile_row>> rows() const {
    std::vector<km_profile_row> all;
    std::uint32_t count = 0;
    km_status status = km_profiler_row_count(context_, &count);
    for (std::uint32_t i = 0; i < count && status == KM_SUCCESS; ++i) {
      km_profile_row row{};
      row.struct_size = sizeof row;
      status = km_profiler_row_get(context_, i, &row);
      all.push_back(row);
    }
    return P::give(status, std::move(all));
  }
  /// The counters of a row of rows(), by its index: the totals of the kernel, one for each kind
  /// that occurs, then those of the lines of its source. Empty if its warps were not counted
  /// (set_counters).
  result<std::vector<km_profile_counter>> counters(std::uint32_t row) const {
    std::vector<km_profile_counter> all;
    std::uint32_t count = 0;
    km_status status = km_profiler_counter_count(context_, row, &count);
    for (std::uint32_t i = 0; i < count && status == KM_SUCCESS; ++i) {
      km_profile_counter counter{};
      counter.struct_size = sizeof counter;
      status = km_profiler_counter_get(context_, row, i, &counter);
      all.push_back(counter);
    }
    return P::give(status, std::move(all));
  }
  /// The rows as a text table.
  result<std::string> summary() const { return detail::text<P>(km_profiler_summary, context_); }
  /// Writes a trace in Chrome's format, or a report when the name ends with .html.
  result<void> write(const std::string& path) const {
    return P::give(km_profiler_write(context_, path.c_str()));
  }

 private:
  km_context context_;
};

/// A range of the calling thread that lasts as long as this object.
class profile_scope {
 public:
  /// Begins the range. If the context is gone, the object does nothing.
  profile_scope(const detail::any_context& context, const std::string& name) noexcept
      : context_(context.get()),
        is_open_(km_profiler_range_push(context_, name.c_str()) == KM_SUCCESS) {}
  profile_scope(const profile_scope&) = delete;
  profile_scope& operator=(const profile_scope&) = delete;
  ~profile_scope() {
    if (is_open_) km_profiler_range_pop(context_);
  }

 private:
  km_context context_;
  bool is_open_;
};

}  // namespace v1
}  // namespace km

#endif
