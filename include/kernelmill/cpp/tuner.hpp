// Tuning: measures which of several ways to launch a kernel is the fastest.
#ifndef KERNELMILL_CPP_TUNER_HPP
#define KERNELMILL_CPP_TUNER_HPP

#include <kernelmill/cpp/device.hpp>
#include <kernelmill/cpp/function.hpp>

#include <initializer_list>

namespace km {
inline namespace v1 {

/// The result of a candidate and, if it was left out, the reason.
struct tune_result {
  km_status status = KM_NOT_READY;  // not measured
  std::chrono::nanoseconds median{0}, min{0};
  std::uint32_t sample_count = 0;
  std::string message;
};

/// A tuning of one kernel on a device: candidates, arguments, and a run that measures. Only one
/// thread at a time may use it.
template <class P>
class basic_tuner : public detail::any_tune {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  using object::object;
  /// Creates a tuning of `kernel`, a name or name expression, in a source of CUDA C++ or PTX.
  template <class Q = P, detail::if_throwing<Q> = 0>
  basic_tuner(const detail::any_device& device, std::string_view source, const std::string& kernel)
      : basic_tuner(create(device, source, kernel)) {}
  /// Like the constructor, but returns a result.
  static result<basic_tuner> create(const detail::any_device& device, std::string_view source,
                                    const std::string& kernel) {
    return detail::make<P, basic_tuner>(km_tune_create, device.get(), detail::text_data(source),
                                        std::uint64_t{source.size()}, kernel.c_str());
  }

  /// Adds a way to launch the kernel, with compiler options; returns its number.
  result<std::uint32_t> add_candidate(dim3 grid, dim3 block, std::uint64_t shared_bytes = 0,
                                      std::initializer_list<std::string> options = {}) const {
    const km_launch_config config = {
        {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes};
    std::string lines;
    for (const std::string& option : options) {
      if (option.find('\n') != std::string::npos) {
        return P::template refuse<std::uint32_t>(
            error(KM_ERROR_INVALID_ARGUMENT, "km::tuner::add_candidate: the option '" + option +
                                                 "' has a line break; give one option each"));
      }
      lines += option + "\n";
    }
    std::uint32_t made = 0;
    const km_status status =
        km_tune_add_candidate(get(), &config, lines.empty() ? nullptr : lines.c_str(), &made);
    return P::give(status, std::move(made));
  }
  /// Adds the kernel's next argument: device memory that holds these elements when a candidate
  /// starts. KM_TUNE_BUFFER_OUTPUT: the check compares the memory.
  template <class T>
  result<void> add_buffer(const std::vector<T>& data,
                          km_tune_buffer_flags flags = KM_TUNE_BUFFER_DEFAULT) const {
    return P::give(
        km_tune_add_buffer(get(), data.data(), detail::product(data.size(), sizeof(T)), flags));
  }
  /// Adds the kernel's next argument: device memory that holds zeros when a candidate starts.
  result<void> add_zeros(std::uint64_t size_bytes,
                         km_tune_buffer_flags flags = KM_TUNE_BUFFER_DEFAULT) const {
    return P::give(km_tune_add_buffer(get(), nullptr, size_bytes, flags));
  }
  /// Adds the kernel's next argument, by value.
  template <class T>
  result<void> add_scalar(const T& value) const {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                  "kernels take bytes; memory is given by add_buffer");
    return P::give(km_tune_add_scalar(get(), &value, sizeof value));
  }
  /// Compares outputs with those of the first candidate; `check` is a KM_TUNE_CHECK_...
  result<void> set_check(km_tune_check check, double tolerance = 0) const {
    return P::give(km_tune_set_check(get(), check, tolerance));
  }
  /// Limits the time for measuring all candidates; compilation does not count.
  result<void> set_budget(std::chrono::nanoseconds budget, std::uint32_t warmup_count = 1) const {
    return P::give(km_tune_set_budget(get(), detail::limit_ns(budget), warmup_count));
  }
  /// Measures, and returns the number of the fastest candidate. With a `problem`, the choice is
  /// stored on disk and read from there the next time, unless KM_TUNE_RUN_AGAIN is set.
  result<std::uint32_t> run(const std::string& problem = {},
                            km_tune_run_flags flags = KM_TUNE_RUN_DEFAULT) const {
    return detail::read<P, std::uint32_t>(km_tune_run, get(),
                                          problem.empty() ? nullptr : problem.c_str(), flags);
  }
  /// Like run(), but calls `progress(done, count)`, which must be noexcept, after each candidate's
  /// first launch.
  template <class Progress>
  result<std::uint32_t> run_with(Progress&& progress, const std::string& problem = {},
                                 km_tune_run_flags flags = KM_TUNE_RUN_DEFAULT) const {
    using callback = std::remove_reference_t<Progress>;
    static_assert(std::is_nothrow_invocable_v<callback&, std::uint32_t, std::uint32_t>,
                  "give a `[...](std::uint32_t done, std::uint32_t count) noexcept`");
    km_status status = km_tune_set_progress(
        get(),
        [](void* data, std::uint32_t done, std::uint32_t count) {
          (*static_cast<callback*>(data))(done, count);
        },
        const_cast<void*>(static_cast<const void*>(std::addressof(progress))));
    if (status != KM_SUCCESS) return P::give(status, std::uint32_t{0});
    const reset_progress reset{get()};
    return run(problem, flags);
  }
  /// The result of a candidate's last measurement.
  result<tune_result> result_of(std::uint32_t candidate) const {
    km_tune_result found{};
    found.struct_size = sizeof found;
    tune_result made;
    km_status status = km_tune_result_get(get(), candidate, &found);
    if (status == KM_SUCCESS) {
      status = detail::read_text(
          [&](char* buffer, std::uint64_t capacity, std::uint64_t* size) {
            return km_tune_result_message(get(), candidate, buffer, capacity, size);
          },
          made.message);
    }
    made.status = found.status;
    made.median = std::chrono::nanoseconds(found.median_ns);
    made.min = std::chrono::nanoseconds(found.min_ns);
    made.sample_count = found.sample_count;
    return P::give(status, std::move(made));
  }
  /// The kernel compiled with a candidate's options, in a context of the caller's.
  result<basic_function<P>> function(std::uint32_t candidate,
                                     const detail::any_context& context) const {
    return detail::make<P, basic_function<P>>(km_tune_function, get(), candidate, context.get());
  }

 private:
  struct reset_progress {
    km_tune tune;
    ~reset_progress() { km_tune_set_progress(tune, nullptr, nullptr); }
  };
};

}  // namespace v1
}  // namespace km

#endif
