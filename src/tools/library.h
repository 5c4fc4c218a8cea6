// Wrappers for the library's C calls: owned handles, and failures with their texts.
#pragma once

#include <string>

#include "base/result.h"
#include "kernelmill/c_api.h"

namespace km::tools {

/// The failure of a call, with the library's text.
Status check(km_status status);

/// A handle that is destroyed with its scope.
template <class Handle, km_status (*Destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  ~Owned() { Destroy(handle_); }
  Owned(Owned&& other) noexcept : handle_(other.handle_) { other.handle_ = {}; }
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  Handle get() const { return handle_; }
  /// The address for out-parameters; the handle must still be null.
  Handle* out() { return &handle_; }

 private:
  Handle handle_ = {};
};

using Device = Owned<km_device, km_device_destroy>;
using Context = Owned<km_context, km_context_destroy>;
using Stream = Owned<km_stream, km_stream_destroy>;
using Event = Owned<km_event, km_event_destroy>;
using Slice = Owned<km_slice, km_slice_destroy>;
using Program = Owned<km_program, km_program_destroy>;
using Module = Owned<km_module, km_module_destroy>;
using Function = Owned<km_function, km_function_destroy>;
using Tune = Owned<km_tune, km_tune_destroy>;
using Launch = Owned<km_launch, km_launch_destroy>;

/// The text of a call `call(buffer, capacity, &size)`; empty if it fails.
template <class Call>
std::string copy_text(Call call) {
  uint64_t size = 0;
  if (call(nullptr, 0, &size) != KM_SUCCESS || size <= 1) return {};
  std::string text(size, '\0');
  if (call(text.data(), size, &size) != KM_SUCCESS) return {};
  text.resize(size - 1);
  return text;
}

/// The name in the PTX of a module's kernel.
std::string function_name(km_module module, uint32_t index);

Result<km_device_info> device_info(km_device device);

/// "1.0.0".
std::string version_text();

}  // namespace km::tools
