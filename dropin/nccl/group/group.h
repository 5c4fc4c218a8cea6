// Group calls: what a thread calls between ncclGroupStart and ncclGroupEnd happens at the end.
#pragma once

#include <vector>

#include "dropin/nccl/communicator/start.h"

namespace km::nccl {

/// An operation that was checked.
struct Request {
  const char* name;  // of the exported function
  SharedHandle handle;
  std::shared_ptr<comm::Communicator> communicator;
  comm::Operation operation;
  cu::CUstream stream;
};

bool is_in_group() noexcept;
ncclResult_t begin_group() noexcept;
/// Carries out what was called, if this ends the outermost group.
ncclResult_t end_group();
/// Forgets what was called, and estimates its time.
ncclResult_t simulate_group(float* out_us);
/// A failure of a call in a group is the group's, too.
ncclResult_t note_in_group(ncclResult_t result) noexcept;

/// Carries the operation out, or keeps it for the end of the group.
ncclResult_t request(Request request);
/// Runs the start, or keeps it for the end of the group. The result is ncclInProgress if the
/// program has to poll for the end.
ncclResult_t start(Start start);

}  // namespace km::nccl
