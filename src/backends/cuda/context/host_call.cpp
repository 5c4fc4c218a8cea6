#include "backends/cuda/context/host_call.h"

#include "base/callback/contained_call.h"

namespace km::cuda {

void HostCall::entry(void* data) {
  const HostFunctionScope scope;  // ends after the objects that go here
  const std::shared_ptr<Epoch> epoch = static_cast<HostCall*>(data)->epoch_.lock();
  if (!epoch) return;
  const std::shared_ptr<HostCall> call = epoch->claim(static_cast<HostCall*>(data));
  if (call) call->run(KM_SUCCESS);  // else made already, because the context failed
  // The thread is the driver's, which does not end because a callback has chosen so.
  static_cast<void>(take_thread_end());
}

Status HostCall::queue(const std::shared_ptr<Epoch>& epoch, cu::CUstream stream,
                       const std::shared_ptr<HostCall>& call) {
  KM_TRY(epoch->expect(call));
  const Called called = driver().cuLaunchHostFunc(stream, &HostCall::entry, call.get());
  if (called.ok()) return {};
  if (!epoch->claim(call.get())) return {};  // it has the failure already
  return epoch->check(called);
}

}  // namespace km::cuda
