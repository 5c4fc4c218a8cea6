// Starts of communicators, which wait for other ranks: at once, at the end of a group, or on a
// thread of their own.
#pragma once

#include <functional>
#include <memory>

#include "dropin/nccl/communicator/handle.h"

namespace km::nccl {

/// A start that has not begun: what makes the communicator, and the handle for it.
struct Start {
  SharedHandle handle;
  std::function<comm::Failure(std::shared_ptr<comm::Communicator>*)> make;
};

/// Runs the starts, each on a thread if there are several, and waits for them.
ncclResult_t run_starts(const std::vector<Start>& starts);
/// Runs the start on a thread; the program polls for its end.
ncclResult_t run_in_background(Start start);

/// The settings of a communicator that mean something here. Null: the default.
ncclResult_t read_config(const ncclConfig_t* config, bool* out_is_blocking);

}  // namespace km::nccl
