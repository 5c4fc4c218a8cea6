#include "dropin/cufft/plan/callbacks.h"

#include <limits>

namespace km::cufft {
namespace {

constexpr unsigned kBlock = 128;

/// The callback type of numbers: of loads; that of stores is kStores later.
constexpr int kStores = CUFFT_CB_ST_COMPLEX - CUFFT_CB_LD_COMPLEX;
int load_type(bool is_real, bool is_double) {
  if (is_real) return is_double ? CUFFT_CB_LD_REAL_DOUBLE : CUFFT_CB_LD_REAL;
  return is_double ? CUFFT_CB_LD_COMPLEX_DOUBLE : CUFFT_CB_LD_COMPLEX;
}

/// The axes of one array, the batch first.
library::CallbackArguments axes_of(const fft::TransformShape& shape, bool is_input) {
  library::CallbackArguments made{};
  std::fill(std::begin(made.lengths), std::end(made.lengths), 1);
  made.count = 1;
  int axis = 0;
  const auto add = [&](const fft::Axis& from, uint64_t length) {
    made.lengths[axis] = length;
    made.steps[axis++] = static_cast<uint64_t>(is_input ? from.in : from.out);
    made.count *= length;
  };
  const bool is_halved = shape.kind != fft::TransformKind::kComplex &&
                         (is_input ? !shape.is_real_in() : !shape.is_real_out());
  for (const fft::Axis& each : shape.batch) add(each, each.n);
  for (const fft::Axis& each : shape.axes) {
    const bool is_last = &each == &shape.axes.back();
    add(each, is_halved && is_last ? each.n / 2 + 1 : each.n);
  }
  return made;
}

cufftResult find_kernel(const Plan& plan, int type, const Callback& callback, cu::CUfunction* out) {
  *out = callback.kernel;
  if (callback.kernel != nullptr) return CUFFT_SUCCESS;
  const library::LibraryTable* const table = plan.driver->table;
  if (table == nullptr) return unsupported("callbacks want Kernelmill's driver");
  return status_of(table->callback_kernel(plan.stream, callback.function, type, out));
}

}  // namespace

CallbackPair callbacks_of(const Plan& plan, const fft::TransformShape& shape) {
  CallbackPair pair;
  if (shape.in_storage != fft::Storage::kFloat && shape.in_storage != fft::Storage::kDouble) {
    return pair;
  }
  pair.load_type = load_type(shape.is_real_in(), shape.is_double);
  pair.store_type = kStores + load_type(shape.is_real_out(), shape.is_double);
  pair.load = plan.callbacks[pair.load_type];
  pair.store = plan.callbacks[pair.store_type];
  return pair;
}

cufftResult check_callback_type(const Plan& plan, cufftXtCallbackType type) {
  const fft::TransformShape& shape = plan.transform->shape();
  if (shape.in_storage != fft::Storage::kFloat && shape.in_storage != fft::Storage::kDouble) {
    return unsupported("transforms of f16 and bf16 have no callbacks");
  }
  const CallbackPair own = callbacks_of(plan, shape);
  if (type == own.load_type || type == own.store_type) return CUFFT_SUCCESS;
  return frame::fail(CUFFT_INVALID_TYPE,
                     "the callback type is %d, and the plan's transforms load by type %d and "
                     "store by type %d",
                     static_cast<int>(type), own.load_type, own.store_type);
}

cufftResult check_callback(const Plan& plan, int type, const Callback& callback) {
  cu::CUfunction kernel = nullptr;
  LIB_CHECK(library::enter_context(*plan.driver));
  return find_kernel(plan, type, callback, &kernel);
}

cufftResult check_callbacks(const Plan& plan) {
  for (int type = 0; type < kCallbackTypes; ++type) {
    if (plan.callbacks[type].function == 0) continue;
    LIB_TRY(check_callback_type(plan, static_cast<cufftXtCallbackType>(type)));
  }
  return CUFFT_SUCCESS;
}

cufftResult CallbackRun::load(fft::Binding* binding) {
  fft::Extent in, out;
  fft::find_extents(shape_, &in, &out);
  if (callbacks_.load.function != 0) {
    LIB_CHECK(loaded_.allocate(in.above));
    LIB_TRY(run(callbacks_.load_type, callbacks_.load, reinterpret_cast<uint64_t>(binding->in),
                loaded_.address(), true));
    binding->in = reinterpret_cast<char*>(loaded_.address());
  }
  if (callbacks_.store.function != 0) {
    LIB_CHECK(stored_.allocate(out.above));
    result_ = reinterpret_cast<uint64_t>(binding->out);
    binding->out = reinterpret_cast<char*>(stored_.address());
  }
  return CUFFT_SUCCESS;
}

cufftResult CallbackRun::store() {
  if (callbacks_.store.function == 0) return CUFFT_SUCCESS;
  return run(callbacks_.store_type, callbacks_.store, result_, stored_.address(), false);
}

cufftResult CallbackRun::run(int type, const Callback& callback, uint64_t array, uint64_t numbers,
                             bool is_input) {
  library::CallbackArguments arguments = axes_of(shape_, is_input);
  arguments.function = callback.function;
  arguments.array = array;
  arguments.caller_info = callback.caller_info;
  arguments.numbers = numbers;
  const uint64_t blocks = (arguments.count + kBlock - 1) / kBlock;
  if (blocks > std::numeric_limits<int32_t>::max()) {
    return invalid_size("a transform with callbacks has %llu numbers",
                        static_cast<unsigned long long>(arguments.count));
  }
  cu::CUfunction kernel = nullptr;
  LIB_TRY(find_kernel(plan_, type, callback, &kernel));
  void* parameters[] = {&arguments};
  return status_of(plan_.driver->cuLaunchKernel(kernel, static_cast<unsigned>(blocks), 1, 1, kBlock,
                                                1, 1, static_cast<unsigned>(callback.shared_bytes),
                                                plan_.stream, parameters, nullptr));
}

}  // namespace km::cufft
