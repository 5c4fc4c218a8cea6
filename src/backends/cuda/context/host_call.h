// Calls of host functions in stream order: each is made once, after errors too.
#pragma once

#include <memory>
#include <utility>

#include "backend/interface.h"
#include "backends/cuda/context/epoch.h"
#include "base/callback/host_function.h"

namespace km::cuda {

class HostCall {
 public:
  HostCall(const std::shared_ptr<Epoch>& epoch, km_host_callback callback, void* user_data,
           km_release_callback release)
      : epoch_(epoch), callback_(callback), user_data_(user_data), release_(release) {}
  ~HostCall() { let_data_go(); }
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

  /// Queues one call in a stream. An error means that the call was not made and will not be.
  static Status queue(const std::shared_ptr<Epoch>& epoch, cu::CUstream stream,
                      const std::shared_ptr<HostCall>& call);
  /// The function that the driver calls; `call` is the HostCall.
  static void entry(void* call);

  void run(km_status status) const { callback_(user_data_, status); }
  void let_data_go() {
    if (const km_release_callback release = std::exchange(release_, nullptr)) release(user_data_);
  }
  /// The caller keeps the user data, so `release` is not called.
  void give_up() { release_ = nullptr; }

 private:
  const std::weak_ptr<Epoch> epoch_;
  const km_host_callback callback_;
  void* const user_data_;
  km_release_callback release_;
};

}  // namespace km::cuda
