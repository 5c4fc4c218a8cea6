#include "tools/kernels/session.h"

#include <cinttypes>
#include <cstdio>

#include "base/text.h"
#include "base/thread/clock.h"
#include "tools/error.h"
#include "tools/files.h"
#include "tools/kernels/signature.h"
#include "tools/terminal/progress.h"

namespace km::tools {
namespace {

struct Objects {
  Device device;
  Context context;
  Stream stream;
  Event start;
  Event end;
  km_device_info info{};
};

Result<Objects> open_device(const std::string& uri) {
  Objects objects;
  KM_TRY(check(km_device_open(uri.c_str(), objects.device.out())));
  KM_ASSIGN(objects.info, device_info(objects.device.get()));
  KM_TRY(check(km_context_create(objects.device.get(), objects.context.out())));
  km_context context = objects.context.get();
  KM_TRY(check(km_stream_create(context, KM_STREAM_DEFAULT, 0, objects.stream.out())));
  KM_TRY(check(km_event_create(context, KM_EVENT_DEFAULT, objects.start.out())));
  KM_TRY(check(km_event_create(context, KM_EVENT_DEFAULT, objects.end.out())));
  return objects;
}

Status with_spec(Status status, size_t index, const Argument& argument) {
  if (status) return status;
  return about_argument(index, argument, status.error());
}

Result<std::vector<Slice>> allocate(km_context context, const std::vector<Argument>& arguments) {
  std::vector<Slice> slices(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Array& array = arguments[i].array;
    if (!arguments[i].is_buffer) continue;
    const km_status status =
        km_slice_create(context, array.element_count(), element_size(array.type), KM_SLICE_DEFAULT,
                        slices[i].out());
    KM_TRY(with_spec(check(status), i, arguments[i]));
  }
  return slices;
}

Status upload(km_stream stream, const std::vector<Argument>& arguments,
              const std::vector<Slice>& slices) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<std::byte>& bytes = arguments[i].array.bytes;
    if (!arguments[i].is_buffer) continue;
    KM_TRY(check(km_slice_upload(stream, slices[i].get(), 0, bytes.data(), bytes.size())));
  }
  return {};
}

Result<Launch> build_launch(const Objects& objects, const Kernel& kernel, const SessionInput& input,
                            const std::vector<Slice>& slices) {
  Launch launch;
  KM_TRY(check(km_launch_create(objects.stream.get(), kernel.function.get(), launch.out())));
  const auto& [grid_x, grid_y, grid_z] = input.grid;
  const auto& [block_x, block_y, block_z] = input.block;
  KM_TRY(check(km_launch_set_grid(launch.get(), grid_x, grid_y, grid_z)));
  KM_TRY(check(km_launch_set_block(launch.get(), block_x, block_y, block_z)));
  int64_t allowed = 0;
  KM_TRY(check(km_function_attribute_get(
      kernel.function.get(), KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES, &allowed)));
  if (input.shared_bytes > static_cast<uint64_t>(allowed)) {
    KM_TRY(check(km_function_attribute_set(kernel.function.get(),
                                           KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES,
                                           static_cast<int64_t>(input.shared_bytes))));
  }
  KM_TRY(check(km_launch_set_shared_bytes(launch.get(), input.shared_bytes)));
  for (size_t i = 0; i < slices.size(); ++i) {
    const Argument& argument = input.arguments[i];
    const km_status status =
        argument.is_buffer
            ? km_launch_arg_slice(launch.get(), slices[i].get(), 0)
            : km_launch_arg_scalar(launch.get(), argument.scalar.data(), argument.scalar.size());
    KM_TRY(with_spec(check(status), i, argument));
  }
  return launch;
}

/// Launches once on fresh data; returns the device time in ms.
Result<double> launch_once(const Objects& objects, const SessionInput& input, const Launch& launch,
                           const std::vector<Slice>& slices) {
  km_stream stream = objects.stream.get();
  KM_TRY(upload(stream, input.arguments, slices));
  KM_TRY(check(km_event_record(objects.start.get(), stream)));
  KM_TRY(check(km_launch_submit(launch.get())));
  KM_TRY(check(km_event_record(objects.end.get(), stream)));
  KM_TRY(check(km_stream_synchronize(stream)));
  int64_t elapsed_ns = 0;
  KM_TRY(check(km_event_elapsed_ns(objects.start.get(), objects.end.get(), &elapsed_ns)));
  return static_cast<double>(elapsed_ns) / 1e6;
}

/// The times of all launches. The progress line is erased before outputs are printed.
Result<std::vector<double>> launch_all(const Objects& objects, const Kernel& kernel,
                                       const SessionInput& input, const Launch& launch,
                                       const std::vector<Slice>& slices) {
  Progress progress("running " + source_name(kernel.name));
  std::vector<double> times_ms;
  const uint64_t begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  const auto spent_ns = [&] { return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns; };
  for (uint32_t i = 0; i < input.repeat || spent_ns() < input.least_cpu_ns; ++i) {
    if (input.repeat > 1) progress.set(i, input.repeat);
    KM_ASSIGN(const double elapsed_ms, launch_once(objects, input, launch, slices));
    times_ms.push_back(elapsed_ms);
  }
  return times_ms;
}

/// Prints the first numbers of an array, and on standard error the number of the others.
Status print_array(size_t index, const Argument& argument) {
  KM_TRY(write_output("-", array_text(argument.array, kMaxPrinted)));
  const uint64_t count = argument.array.element_count();
  if (count <= kMaxPrinted) return {};
  const std::string shape = argument.spec.substr(argument.spec.find(':') + 1);
  note("argument %zu, '%s': the first %" PRIu64 " numbers are printed, the other %" PRIu64
       " left out; out:FILE.npy:%s writes all of them, out:-:%s prints them",
       index, argument.spec.c_str(), kMaxPrinted, count - kMaxPrinted, shape.c_str(),
       shape.c_str());
  return {};
}

Status write_outputs(km_stream stream, SessionInput& input, const std::vector<Slice>& slices) {
  for (size_t i = 0; i < input.arguments.size(); ++i) {
    Argument& argument = input.arguments[i];
    if (argument.output.empty()) continue;
    std::vector<std::byte>& bytes = argument.array.bytes;
    KM_TRY(check(km_slice_download(stream, slices[i].get(), 0, bytes.data(), bytes.size())));
    KM_TRY(check(km_stream_synchronize(stream)));
    if (argument.output == "-" && !input.prints) continue;
    KM_TRY(argument.is_shortened ? print_array(i, argument)
                                 : write_array(argument.output, argument.array));
  }
  return {};
}

}  // namespace

Result<SessionTimes> run_session(SessionInput& input) {
  KM_ASSIGN(const Objects objects, open_device(input.device));
  SessionTimes times;
  times.device =
      std::string(objects.info.uri) + ", " + objects.info.name + " (" + objects.info.isa + ")";
  KM_ASSIGN(const Kernel kernel,
            load_kernel(objects.context.get(), input.source, input.options, input.kernel));
  times.kernel = kernel.name;
  times.compile_ms = kernel.compile_ms;
  times.load_ms = kernel.load_ms;
  KM_TRY(check_arguments(kernel.function.get(), source_name(kernel.name), input.arguments));
  KM_ASSIGN(const std::vector<Slice> slices, allocate(objects.context.get(), input.arguments));
  KM_ASSIGN(const Launch launch, build_launch(objects, kernel, input, slices));
  KM_ASSIGN(times.kernel_ms, launch_all(objects, kernel, input, launch, slices));
  KM_TRY(write_outputs(objects.stream.get(), input, slices));
  return times;
}

}  // namespace km::tools
