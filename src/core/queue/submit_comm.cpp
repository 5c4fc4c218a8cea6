#include "core/queue/submit_comm.h"

#include <algorithm>

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "core/object/backend_call.h"

namespace km {
namespace {

/// The locks of several communicators, taken in one order.
class OrderLocks {
 public:
  explicit OrderLocks(std::span<const CommRequest> requests) {
    for (const CommRequest& each : requests) comms_.push_back(each.comm.get());
    std::sort(comms_.begin(), comms_.end());
    comms_.erase(std::unique(comms_.begin(), comms_.end()), comms_.end());
    locks_.reserve(comms_.size());
    for (Comm* const each : comms_) locks_.emplace_back(each->order_mutex());
  }
  std::span<Comm* const> comms() const { return comms_; }

 private:
  std::vector<Comm*> comms_;
  std::vector<std::unique_lock<std::mutex>> locks_;
};

std::vector<BlasOperand> operands_of(std::span<const CommRequest> requests) {
  std::vector<BlasOperand> operands;
  operands.reserve(requests.size() * 2);
  for (const CommRequest& each : requests) {
    operands.insert(operands.end(), each.operands.begin(),
                    each.operands.begin() + each.operand_count);
  }
  return operands;
}

/// Calls are called by their function, or as a group.
const char* name_of(std::span<const CommRequest> requests) {
  return requests.size() == 1 ? requests[0].name : "km_comm_group_end";
}

}  // namespace

Status submit_comm(std::span<const CommRequest> requests) {
  Stream& stream = *requests[0].stream;
  const auto batch = make_ref<CommBatch>(stream.context(), requests);
  kmb_library_call call{};
  call.name = name_of(requests);
  call.kind = KMB_LIBRARY_COMM;
  call.comm = {batch->operations().data(), batch->operations().size()};
  const std::vector<BlasOperand> operands = operands_of(requests);
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, library_work(call, *batch, operands));
  std::vector<MemoryUse> uses;
  uses.reserve(operands.size());
  for (const BlasOperand& each : operands) uses.push_back(each.use());
  const OrderLocks locks(requests);
  for (Comm* const each : locks.comms()) KM_TRY(each->order_in(stream));
  return submit(stream, uses, [&](Submission&, uint64_t* ticket) -> Status {
    KM_TRY(call_backend(stream.backend().library_submit, stream.native(), &call, ticket));
    for (Comm* const each : locks.comms()) each->note(stream, *ticket);
    return {};
  });
}

}  // namespace km
