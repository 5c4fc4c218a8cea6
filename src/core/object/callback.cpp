#include "core/object/callback.h"

#include <memory>

namespace km {
namespace {

thread_local bool t_in_callback = false;

}  // namespace

bool in_callback() { return t_in_callback; }

Result<MayBlock> require_may_block() {
  if (!t_in_callback) return MayBlock();
  return make_error(KM_ERROR_NOT_PERMITTED,
                    "this call may wait, which a callback must not do; signal another thread "
                    "instead");
}

CallbackScope::CallbackScope() : before_(t_in_callback) { t_in_callback = true; }
CallbackScope::~CallbackScope() { t_in_callback = before_; }

Status require_returned(CallEnd end) {
  if (end == CallEnd::returned) return {};
  return make_error(KM_ERROR_NOT_PERMITTED, "a callback %s instead of returning",
                    end == CallEnd::threw ? "threw an exception" : "ended its thread");
}

void HostCallbackBox::run_and_delete(void* box, km_status status) {
  const std::unique_ptr<HostCallbackBox> own(static_cast<HostCallbackBox*>(box));
  run_callback([&] { own->callback(own->user_data, status); });
}

void ReleaseCallbackBox::run_and_delete(void* box) {
  const std::unique_ptr<ReleaseCallbackBox> own(static_cast<ReleaseCallbackBox*>(box));
  if (own->callback != nullptr) run_callback([&] { own->callback(own->user_data); });
}

}  // namespace km
