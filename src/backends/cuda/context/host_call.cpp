#include "backends/cuda/context/host_call.h"

#include "base/callback/contained_call.h"

namespace km::cuda {

void HostCall::entry(void* data) {
  const HostFunctionScope scope;  // destroyed after the objects below, whose destructors run in it
  const std::shared_ptr<Epoch> epoch = static_cast<HostCall*>(data)->epoch_.lock();
  if (!epoch) return;
  epoch->make_call(static_cast<HostCall*>(data));
  // The driver owns this thread, so a callback must not end it.
  static_cast<void>(take_thread_end());
}

Status HostCall::queue(const std::shared_ptr<Epoch>& epoch, cu::CUstream stream,
                       const std::shared_ptr<HostCall>& call) {
  KM_TRY(epoch->expect(call));
  const Called called = driver().cuLaunchHostFunc(stream, &HostCall::entry, call.get());
  if (called.ok()) return {};
  if (!epoch->claim(call.get())) return {};  // the call was made already, with the failure
  return epoch->check(called);
}

}  // namespace km::cuda
