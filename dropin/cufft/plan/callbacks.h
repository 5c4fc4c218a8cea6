// Callbacks: functions of the program through which a transform loads its input or stores its
// result. Kernels of the driver call them, before and after a transform in memory of the stream.
#pragma once

#include "dropin/cufft/plan/plan.h"
#include "dropin/library/callback_arguments.h"
#include "dropin/library/kernels.h"

namespace km::cufft {

/// The callbacks of one transform.
struct CallbackPair {
  int load_type = 0, store_type = 0;  // cufftXtCallbackType
  Callback load, store;
  bool are_set() const { return load.function != 0 || store.function != 0; }
};

/// The plan's callbacks for the numbers of a transform.
CallbackPair callbacks_of(const Plan& plan, const fft::TransformShape& shape);

/// Fails unless the plan's transforms load or store numbers of the type.
cufftResult check_callback_type(const Plan& plan, cufftXtCallbackType type);

/// Fails unless the driver knows the callback's function.
cufftResult check_callback(const Plan& plan, int type, const Callback& callback);

/// Fails with CUFFT_INVALID_TYPE if a callback that was set does not suit the plan.
cufftResult check_callbacks(const Plan& plan);

/// One transform with callbacks. Its memory lasts until it ends.
class CallbackRun {
 public:
  CallbackRun(const Plan& plan, const fft::TransformShape& shape, const CallbackPair& callbacks)
      : plan_(plan),
        shape_(shape),
        callbacks_(callbacks),
        loaded_(*plan.driver, plan.stream),
        stored_(*plan.driver, plan.stream) {}

  /// Queues the loads, and replaces arrays of the transform by memory of its own.
  cufftResult load(fft::Binding* binding);
  /// Queues the stores, after the transform.
  cufftResult store();

 private:
  cufftResult run(int type, const Callback& callback, uint64_t array, uint64_t numbers,
                  bool is_input);

  const Plan& plan_;
  const fft::TransformShape& shape_;
  const CallbackPair callbacks_;
  library::StreamMemory loaded_, stored_;
  uint64_t result_ = 0;  // the array that the program has named
};

}  // namespace km::cufft
