#include "dropin/nccl/group/submit.h"

#include <cstdio>
#include <string>

#include "comm/group/post.h"
#include "dropin/library/current_context.h"
#include "dropin/library/work.h"

namespace km::nccl {
namespace {

/// The operations of one call in one stream. They begin together, since each may wait for another.
class CollectiveWork final : public library::Work {
 public:
  CollectiveWork(const char* name, std::vector<comm::Part> parts)
      : name_(name), parts_(std::move(parts)) {}

  const char* name() const noexcept override { return name_; }
  uint64_t estimated_ns() const noexcept override { return comm::estimated_ns(parts_); }
  cu::CUresult run(uint64_t) const override {
    return library::fail_work(cu::CUDA_ERROR_NOT_SUPPORTED, "it has to be started");
  }
  bool is_asynchronous() const noexcept override { return true; }

  bool start(bool may_wait, void (*resume)(void*), void* resume_data) const override {
    const auto poster = may_wait ? comm::Poster::kWaits : comm::Poster::kGoesOn;
    return comm::post(parts_, poster, resume, resume_data);
  }
  bool begins_at_once() const noexcept override { return comm::begin_at_once(parts_); }

 private:
  const char* const name_;
  const std::vector<comm::Part> parts_;
};

/// The operations of one stream of one context.
struct Queue {
  cu::CUcontext context;
  cu::CUstream stream;
  const char* name;
  std::vector<comm::Part> parts;
  std::vector<library::BlasArray> arrays;
  std::vector<SharedHandle> handles;
};

Queue& queue_of(const Request& request, std::vector<Queue>* queues) {
  const cu::CUcontext context = request.handle->device().context;
  // Each context has default streams of its own, whose handles are small numbers.
  constexpr uint64_t kLastDefault = 2;
  const bool is_default = reinterpret_cast<uint64_t>(request.stream) <= kLastDefault;
  for (Queue& each : *queues) {
    if (each.stream == request.stream && (!is_default || each.context == context)) return each;
  }
  return queues->emplace_back(Queue{context, request.stream, request.name, {}, {}, {}});
}

void add_arrays(const Request& request, std::vector<library::BlasArray>* arrays) {
  const comm::Signature& call = request.operation.call;
  const uint64_t block = call.block_bytes(), ranks = request.communicator->ranks();
  if (block == 0) return;
  if (request.operation.send != nullptr) {
    arrays->push_back(library::whole_array("sendbuff", request.operation.send,
                                           comm::sends_blocks(call.kind) ? block * ranks : block,
                                           false));
  }
  if (request.operation.receive != nullptr) {
    arrays->push_back(library::whole_array("recvbuff", request.operation.receive,
                                           comm::receives_blocks(call.kind) ? block * ranks : block,
                                           true));
  }
  if (request.operation.device_scalar != nullptr) {
    arrays->push_back(library::whole_array("scalar", request.operation.device_scalar,
                                           comm::size_bytes(call.type), false));
  }
}

void add(const Request& request, Queue* queue) {
  const size_t parts = queue->parts.size();
  comm::add_operation(request.communicator, request.operation, &queue->parts);
  if (queue->parts.size() != parts) queue->handles.push_back(request.handle);
  add_arrays(request, &queue->arrays);
}

/// The driver knows the buffers of a failed call by their addresses only.
ncclResult_t refused(const Queue& queue, cu::CUresult result) {
  std::string buffers;
  for (const library::BlasArray& each : queue.arrays) {
    char text[96];
    std::snprintf(text, sizeof text, "%s%s at 0x%llx (%llu bytes)", buffers.empty() ? "" : ", ",
                  each.name, static_cast<unsigned long long>(each.address),
                  static_cast<unsigned long long>(each.line_bytes));
    if (buffers.size() < 256) buffers += text;
  }
  frame::explain(
      "CUDA's error %d for %s in the stream %p: each buffer lies whole in one allocation of its "
      "device, and the stream is of the communicator's device (KM_LOG=info,cuda says more)",
      static_cast<int>(result), buffers.empty() ? "no buffer" : buffers.c_str(),
      static_cast<void*>(queue.stream));
  return frame::status_of<NcclLibrary>(result);
}

ncclResult_t submit_queue(const library::Driver& driver, Queue queue) {
  const library::CurrentContext current(driver, queue.context);
  LIB_CHECK(current.result());
  for (const SharedHandle& each : queue.handles) LIB_CHECK(each->order_in(driver, queue.stream));
  const cu::CUresult result = library::submit(
      queue.stream, std::make_shared<CollectiveWork>(queue.name, std::move(queue.parts)),
      queue.arrays);
  return result == cu::CUDA_SUCCESS ? ncclSuccess : refused(queue, result);
}

}  // namespace

ncclResult_t submit(const std::vector<Request>& requests) {
  const library::Driver* const driver = library::driver();
  if (driver == nullptr) return status_of(cu::CUDA_ERROR_NOT_INITIALIZED);
  // A communicator may have failed while its group was open.
  for (const Request& each : requests) LIB_TRY(tell(each.communicator->failure()));
  std::vector<Queue> queues;
  for (const Request& each : requests) add(each, &queue_of(each, &queues));
  for (Queue& each : queues) LIB_TRY(submit_queue(*driver, std::move(each)));
  return ncclSuccess;
}

}  // namespace km::nccl
