#include "dropin/cufft/fftw/plan.h"

#include <cmath>
#include <mutex>
#include <unordered_map>

#include "base/log.h"
#include "dropin/frame/call.h"
#include "dropin/library/work.h"

namespace km::cufftw {
namespace {

/// A plan and its arrays.
struct Plan {
  std::shared_ptr<const fft::Transform> transform;
  int sign = -1;
  void *in = nullptr, *out = nullptr;
};

/// The live plans by their handle, which is no address that programs could follow.
class PlanTable {
 public:
  void* add(std::shared_ptr<const Plan> plan) {
    const std::lock_guard lock(mutex_);
    last_ += kStep;
    plans_.emplace(last_, std::move(plan));
    return reinterpret_cast<void*>(last_);
  }
  std::shared_ptr<const Plan> find(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(reinterpret_cast<uint64_t>(handle));
    return found == plans_.end() ? nullptr : found->second;
  }
  void remove(const void* handle) {
    const std::lock_guard lock(mutex_);
    plans_.erase(reinterpret_cast<uint64_t>(handle));
  }

 private:
  static constexpr uint64_t kStep = 16;
  std::mutex mutex_;  // guards the members below
  std::unordered_map<uint64_t, std::shared_ptr<const Plan>> plans_;
  uint64_t last_ = uint64_t{1} << 62;
};

/// The table is never destroyed, because other threads may make calls during exit.
PlanTable& plans() {
  union Forever {
    PlanTable table;
    Forever() : table() {}
    ~Forever() {}
  };
  static Forever forever;
  return forever.table;
}

bool add_axes(const std::vector<Dimension>& from, std::vector<fft::Axis>* to) {
  for (const Dimension& each : from) {
    if (each.n <= 0) {
      frame::explain("a dimension has the length %lld", static_cast<long long>(each.n));
      return false;
    }
    to->push_back({static_cast<uint64_t>(each.n), each.in, each.out});
  }
  return true;
}

bool shape_of(const PlanRequest& request, fft::TransformShape* shape) {
  shape->kind = request.kind;
  shape->is_double = request.is_double;
  shape->in_storage = shape->out_storage =
      request.is_double ? fft::Storage::kDouble : fft::Storage::kFloat;
  fft::Extent in, out;
  if (!add_axes(request.dimensions, &shape->axes) || !add_axes(request.batch, &shape->batch)) {
    return false;
  }
  if (shape->axes.empty() ||
      shape->axes.size() + shape->batch.size() > static_cast<size_t>(fft::kMostOuter)) {
    frame::explain("%zu dimensions cannot be transformed", shape->axes.size());
    return false;
  }
  if (fft::find_extents(*shape, &in, &out)) return true;
  frame::explain("the arrays are larger than any memory");
  return false;
}

/// One stage as work of the device's threads.
std::shared_ptr<const library::Work> work_of(std::shared_ptr<const fft::Execution> execution,
                                             int stage) {
  return library::make_work("fftw_execute", execution->pieces(stage),
                            execution->estimated_ns(stage), [execution, stage](uint64_t piece) {
                              execution->run(stage, piece);
                              return cu::CUDA_SUCCESS;
                            });
}

/// Runs all stages on the device's threads. False if there is no device.
bool run_on_device(const std::shared_ptr<const fft::Execution>& execution) {
  const library::Driver* const driver = library::driver();
  if (driver == nullptr || driver->table == nullptr || library::is_in_callback() ||
      library::enter_context(*driver) != cu::CUDA_SUCCESS) {
    return false;
  }
  cu::CUstream stream = nullptr;
  if (driver->cuStreamCreate(&stream, cu::CU_STREAM_NON_BLOCKING) != cu::CUDA_SUCCESS) return false;
  bool is_queued = true;
  for (int stage = 0; stage < execution->stages() && is_queued; ++stage) {
    is_queued = library::submit(stream, work_of(execution, stage), {}) == cu::CUDA_SUCCESS;
  }
  const bool is_done = driver->cuStreamSynchronize(stream) == cu::CUDA_SUCCESS;
  driver->cuStreamDestroy_v2(stream);
  return is_queued && is_done;
}

/// True if the transform is worth the other threads.
bool is_long(const fft::Execution& execution) {
  constexpr uint64_t kLeastNs = 100'000;
  uint64_t total = 0;
  for (int stage = 0; stage < execution.stages(); ++stage) total += execution.estimated_ns(stage);
  return total >= kLeastNs;
}

double size_of(const fft::TransformShape& shape) {
  double size = 1;
  for (const fft::Axis& axis : shape.axes) size *= static_cast<double>(axis.n);
  return size;
}

}  // namespace

void* make_plan(const char* function, const PlanRequest& request) {
  return frame::run<void*>(
      [&]() -> void* {
        frame::current_function() = function;
        fft::TransformShape shape;
        if (request.sign != -1 && request.sign != 1) {
          frame::explain("the sign is %d", request.sign);
          return nullptr;
        }
        if (!shape_of(request, &shape)) return nullptr;
        auto plan = std::make_shared<Plan>();
        plan->transform = fft::make_transform(shape, library::worker_threads());
        plan->sign = request.sign;
        plan->in = request.in;
        plan->out = request.out;
        return plans().add(std::move(plan));
      },
      [](bool, const char* text) -> void* {
        frame::explain("%s", text);
        return nullptr;
      });
}

void destroy_plan(void* plan) { plans().remove(plan); }

void execute(const char* function, const void* handle, void* in, void* out) {
  frame::run<bool>(
      [&] {
        frame::current_function() = function;
        const std::shared_ptr<const Plan> plan = plans().find(handle);
        if (plan == nullptr) {
          frame::explain("the plan %p is not live", handle);
          return false;
        }
        fft::Binding binding;
        binding.in = static_cast<char*>(in != nullptr ? in : plan->in);
        binding.out = static_cast<char*>(out != nullptr ? out : plan->out);
        binding.is_inverse = plan->sign == 1;
        if (binding.in == nullptr || binding.out == nullptr) {
          frame::explain("an array is null");
          return false;
        }
        const std::shared_ptr<const fft::Execution> execution = plan->transform->bind(binding);
        if (!is_long(*execution) || !run_on_device(execution)) fft::run_here(*execution);
        return true;
      },
      [](bool, const char* text) {
        frame::explain("%s", text);
        return false;
      });
}

double operations_of(const void* handle) {
  const std::shared_ptr<const Plan> plan = plans().find(handle);
  if (plan == nullptr) return 0;
  double batch = 1;
  for (const fft::Axis& axis : plan->transform->shape().batch) {
    batch *= static_cast<double>(axis.n);
  }
  const double size = size_of(plan->transform->shape());
  return 5 * size * std::log2(size) * batch;
}

void print_plan(const void* handle) {
  const std::shared_ptr<const Plan> plan = plans().find(handle);
  if (plan == nullptr) return;
  const fft::TransformShape& shape = plan->transform->shape();
  log(LogLevel::kInfo, "cuda", "a plan of %zu dimensions, %.0f numbers", shape.axes.size(),
      size_of(shape));
}

}  // namespace km::cufftw
