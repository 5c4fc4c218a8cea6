#include "core/queue/submit_comm.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "core/object/backend_call.h"

namespace km {
namespace {

/// Room for the lists of a call, which is on the stack unless it has many operations.
class Room {
 public:
  std::pmr::memory_resource* get() { return &memory_; }

 private:
  std::array<std::byte, 2048> bytes_;
  std::pmr::monotonic_buffer_resource memory_{bytes_.data(), bytes_.size()};
};

/// The locks of several communicators, taken in one order.
class OrderLocks {
 public:
  OrderLocks(std::span<const CommRequest> requests, Room& room)
      : comms_(room.get()), locks_(room.get()) {
    comms_.reserve(requests.size());
    for (const CommRequest& each : requests) comms_.push_back(each.comm.get());
    std::sort(comms_.begin(), comms_.end());
    comms_.erase(std::unique(comms_.begin(), comms_.end()), comms_.end());
    locks_.reserve(comms_.size());
    for (Comm* const each : comms_) locks_.emplace_back(each->order_mutex());
  }
  std::span<Comm* const> comms() const { return comms_; }

 private:
  std::pmr::vector<Comm*> comms_;
  std::pmr::vector<std::unique_lock<std::mutex>> locks_;
};

/// Captures the operations, whose communicators the graph keeps.
Status capture(Stream& stream, kmb_library_call call, std::span<const CommRequest> requests) {
  const auto batch = make_ref<CommBatch>(stream.context(), requests);
  call.comm = {batch->operations().data(), batch->operations().size()};
  std::vector<BlasOperand> operands;
  operands.reserve(requests.size() * 2);
  for (const CommRequest& each : requests) {
    operands.insert(operands.end(), each.operands.begin(),
                    each.operands.begin() + each.operand_count);
  }
  return capture_result(stream, library_work(call, *batch, operands));
}

/// Calls are called by their function, or as a group.
const char* name_of(std::span<const CommRequest> requests) {
  return requests.size() == 1 ? requests[0].name : "km_comm_group_end";
}

}  // namespace

Status submit_comm(std::span<const CommRequest> requests) {
  Stream& stream = *requests[0].stream;
  kmb_library_call call{};
  call.name = name_of(requests);
  call.kind = KMB_LIBRARY_COMM;
  if (stream.is_capturing()) [[unlikely]]
    return capture(stream, call, requests);
  Room room;
  std::pmr::vector<kmb_comm_operation> operations(room.get());
  std::pmr::vector<MemoryUse> uses(room.get());
  operations.reserve(requests.size());
  uses.reserve(requests.size() * 2);
  for (const CommRequest& each : requests) {
    operations.push_back(each.operation);
    for (uint32_t i = 0; i < each.operand_count; ++i) uses.push_back(each.operands[i].use());
  }
  call.comm = {operations.data(), operations.size()};
  const OrderLocks locks(requests, room);
  for (Comm* const each : locks.comms()) KM_TRY(each->order_in(stream));
  return submit(stream, uses, [&](Submission&, uint64_t* ticket) -> Status {
    KM_TRY(call_backend(stream.backend().library_submit, stream.native(), &call, ticket));
    for (Comm* const each : locks.comms()) each->note(stream, *ticket);
    return {};
  });
}

}  // namespace km
