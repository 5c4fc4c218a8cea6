#include "api/library/comm_request.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <new>
#include <utility>

#include "backend/comm_calls.h"
#include "base/assert.h"
#include "base/thread/thread_object.h"
#include "core/object/backend_call.h"
#include "core/queue/submit_comm.h"

namespace km {
namespace {

/// The calls of a thread that wait for the end of its group.
struct CommGroup {
  uint32_t depth = 0;
  std::vector<CommRequest> requests;
  Error first_failure{KM_SUCCESS, {}, 0};
};

Status check_type(km_element_type type) {
  if (comm_element_size(type) != 0) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "type is %d, which communicators do not have: they have integers of 8, 32 and "
                    "64 bits, f16, bf16, f32, f64, e4m3 and e5m2",
                    type);
}

Status check_reduction(const CommArguments& arguments) {
  if (!comm_has_reduction(arguments.kind)) return {};
  KM_TRY(check_choice(
      "reduction", arguments.reduction,
      {KM_COMM_REDUCTION_SUM, KM_COMM_REDUCTION_PRODUCT, KM_COMM_REDUCTION_MAX,
       KM_COMM_REDUCTION_MIN, KM_COMM_REDUCTION_AVERAGE, KM_COMM_REDUCTION_SCALED_SUM}));
  const bool is_scaled = arguments.reduction == KM_COMM_REDUCTION_SCALED_SUM;
  if (is_scaled == (arguments.scale != nullptr)) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s",
                    is_scaled ? "scale is null; a scaled sum needs the rank's factor"
                              : "scale is given, but the reduction is not "
                                "KM_COMM_REDUCTION_SCALED_SUM");
}

Status check_root(const CommArguments& arguments, uint32_t rank_count) {
  if (!comm_has_root(arguments.kind) || arguments.root < rank_count) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is %u; the communicator has ranks 0 to %u",
                    comm_is_message(arguments.kind) ? "peer" : "root", arguments.root,
                    rank_count - 1);
}

/// Checks and places the arrays of one request.
class CommArrays {
 public:
  CommArrays(Call& call, const CommArguments& arguments, CommRequest* request)
      : places_(call), arguments_(arguments), request_(*request) {}

  Status place() {
    const km_comm_info& info = request_.comm->engine().info();
    const bool is_root = arguments_.root == info.rank;
    if (__builtin_mul_overflow(arguments_.count, uint64_t{comm_element_size(arguments_.type)},
                               &block_bytes_)) {
      return too_long("count");
    }
    if (comm_sends(arguments_.kind, is_root)) {
      KM_TRY(add("send", arguments_.send, comm_sends_blocks(arguments_.kind), false,
                 &request_.operation.send));
    }
    if (comm_receives(arguments_.kind, is_root)) {
      KM_TRY(add("receive", arguments_.receive, comm_receives_blocks(arguments_.kind), true,
                 &request_.operation.receive));
    }
    return check_overlap(info.rank);
  }

 private:
  static Error too_long(const char* name) {
    return make_error(KM_ERROR_OUT_OF_BOUNDS, "%s would have more than 2^64 bytes", name);
  }

  Status add(const char* name, const km_array* given, bool has_blocks, bool is_written,
             uint64_t* out_address) {
    if (arguments_.count == 0) return {};
    if (given == nullptr) return operand_is_null(name);
    BlasRegion region;
    region.lines = 1;
    const uint64_t blocks = has_blocks ? request_.comm->engine().info().rank_count : 1;
    if (__builtin_mul_overflow(block_bytes_, blocks, &region.line_bytes)) return too_long(name);
    const uint32_t size = comm_element_size(arguments_.type);
    KM_ASSIGN(const BlasOperand found,
              places_.find(request_.stream->context(), name, place_of(*given), region, size, size,
                           is_written));
    KM_ASSERT(found.memory != nullptr, "an array with elements lies in memory");
    if (is_written) KM_TRY(found.memory->require_writable(name));
    // Memory that is found by an address may be on its way out.
    if (!found.memory->try_ref()) {
      return make_error(KM_ERROR_OUT_OF_BOUNDS, "%s lies in memory that was just destroyed", name);
    }
    request_.memories[request_.operand_count] = Ref<Memory>::adopt(found.memory);
    request_.operands[request_.operand_count++] = found;
    *out_address = found.region.address;
    return {};
  }

  /// The distance from `send` to `receive` of an operation in place.
  int64_t in_place_distance(uint32_t rank) const {
    const auto own_block = static_cast<int64_t>(rank * block_bytes_);
    const bool sends = comm_sends_blocks(arguments_.kind);
    const bool receives = comm_receives_blocks(arguments_.kind);
    if (sends == receives) return 0;
    return sends ? own_block : -own_block;
  }

  Status check_overlap(uint32_t rank) const {
    if (request_.operand_count != 2) return {};
    const BlasRegion &send = request_.operands[0].region, &receive = request_.operands[1].region;
    if (!regions_overlap(send, receive)) return {};
    if (send.address + static_cast<uint64_t>(in_place_distance(rank)) == receive.address) return {};
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "send (at 0x%" PRIx64 ") and receive (at 0x%" PRIx64
                      ") overlap; in place, receive is at 0x%" PRIx64,
                      send.address, receive.address,
                      send.address + static_cast<uint64_t>(in_place_distance(rank)));
  }

  OperandPlaces places_;
  const CommArguments& arguments_;
  CommRequest& request_;
  uint64_t block_bytes_ = 0;
};

Result<CommRequest> make_request(Call& call, const char* name, const CommArguments& arguments) {
  Comm* const comm = call.get(arguments.comm, "comm");
  if (comm == nullptr) return call.take_error();
  Stream* const stream = call.get(arguments.stream, "stream");
  if (stream == nullptr) return call.take_error();
  KM_TRY(require_same_context(comm->context(), stream->context(), "stream"));
  KM_TRY(check_type(arguments.type));
  KM_TRY(check_reduction(arguments));
  KM_TRY(check_root(arguments, comm->engine().info().rank_count));
  KM_TRY(comm->engine().status());
  CommRequest request;
  request.name = name;
  request.comm = Ref<Comm>::share(*comm);
  request.stream = Ref<Stream>::share(*stream);
  kmb_comm_operation& operation = request.operation;
  operation.comm = comm->engine().native();
  operation.kind = arguments.kind;
  operation.type = arguments.type;
  operation.reduction = arguments.reduction;
  operation.root = arguments.root;
  operation.count = arguments.count;
  if (arguments.scale != nullptr) {
    std::memcpy(operation.scale, arguments.scale, comm_element_size(arguments.type));
  }
  KM_TRY(CommArrays(call, arguments, &request).place());
  return request;
}

/// The requests of one stream, in the order of their calls.
using StreamRequests = std::vector<CommRequest>;

Status add_to_stream(CommRequest request, std::vector<StreamRequests>* streams) {
  StreamRequests* own = nullptr;
  for (StreamRequests& each : *streams) {
    if (each[0].stream->number() == request.stream->number()) own = &each;
    const bool has_comm = std::any_of(each.begin(), each.end(), [&](const CommRequest& other) {
      return other.comm.get() == request.comm.get();
    });
    if (!has_comm || own == &each) continue;
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "rank %u of a communicator has operations in two streams of one group (%s, "
                      "%s); they have to be in one",
                      request.comm->engine().info().rank, each[0].name, request.name);
  }
  if (own == nullptr) own = &streams->emplace_back();
  own->push_back(std::move(request));
  return {};
}

/// Ends the communicators of a group of which a part cannot be queued: the ranks of the rest would
/// wait for that part.
void cancel_group(const std::vector<StreamRequests>& streams) {
  for (const StreamRequests& stream : streams) {
    for (const CommRequest& each : stream) each.comm->engine().cancel();
  }
}

/// The group of a backend that has groups, around the calls for its streams.
class BackendGroup {
 public:
  static Result<BackendGroup> begin(const kmb_backend& backend) {
    if (backend.comm_group_begin == nullptr) return BackendGroup(nullptr);
    KM_TRY(call_backend(backend.comm_group_begin));
    return BackendGroup(&backend);
  }
  BackendGroup(BackendGroup&& other) noexcept : backend_(std::exchange(other.backend_, nullptr)) {}
  BackendGroup& operator=(BackendGroup&&) = delete;
  /// Drops the calls if end() was not called.
  ~BackendGroup() { static_cast<void>(end(true)); }

  Status end(bool is_cancelled) {
    const kmb_backend* const ended = std::exchange(backend_, nullptr);
    return ended == nullptr ? Status() : call_backend(ended->comm_group_end, is_cancelled ? 1 : 0);
  }

 private:
  explicit BackendGroup(const kmb_backend* backend) : backend_(backend) {}
  const kmb_backend* backend_;
};

/// Begins the groups of all backends of the streams.
Status begin_groups(const std::vector<StreamRequests>& streams, std::vector<BackendGroup>* groups) {
  std::vector<const kmb_backend*> begun;
  for (const StreamRequests& each : streams) {
    const kmb_backend* const backend = &each[0].stream->backend();
    if (std::find(begun.begin(), begun.end(), backend) != begun.end()) continue;
    begun.push_back(backend);
    KM_ASSIGN(BackendGroup group, BackendGroup::begin(*backend));
    groups->push_back(std::move(group));
  }
  return {};
}

Status submit_in_groups(const std::vector<StreamRequests>& streams, bool* is_begun) {
  std::vector<BackendGroup> groups;
  if (streams.size() > 1) KM_TRY(begin_groups(streams, &groups));
  for (const StreamRequests& each : streams) {
    KM_TRY(submit_comm(each));
    *is_begun = true;
  }
  for (BackendGroup& each : groups) KM_TRY(each.end(false));
  return {};
}

Status submit_streams(const std::vector<StreamRequests>& streams) {
  bool is_begun = false;
  try {
    Status queued = submit_in_groups(streams, &is_begun);
    if (!queued && is_begun) cancel_group(streams);
    return queued;
  } catch (const std::bad_alloc&) {
    if (is_begun) cancel_group(streams);
    throw;
  }
}

Status submit_group(CommGroup ended) {
  if (ended.first_failure.status != KM_SUCCESS) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "a call of the group has failed: %s",
                      ended.first_failure.message.c_str());
  }
  std::vector<StreamRequests> streams;
  for (CommRequest& each : ended.requests) {
    if (each.stream->is_lost()) {
      return make_error(KM_ERROR_CONTEXT_LOST, "the context of %s was reset before the group's end",
                        each.name);
    }
    KM_TRY(each.comm->engine().status());
    KM_TRY(add_to_stream(std::move(each), &streams));
  }
  return submit_streams(streams);
}

/// Adds a call to the thread's group.
Status request_in_group(CommGroup* group, Call& call, const char* name,
                        const CommArguments& arguments) {
  Error& failure = group->first_failure;
  try {
    Result<CommRequest> made = make_request(call, name, arguments);
    if (made) {
      group->requests.push_back(std::move(*made));
      return {};
    }
    if (failure.status == KM_SUCCESS) failure = made.error();
    return made.error();
  } catch (const std::bad_alloc&) {
    if (failure.status == KM_SUCCESS) failure.status = KM_ERROR_OUT_OF_HOST_MEMORY;
    throw;
  }
}

}  // namespace

Status request_comm(Call& call, const char* name, const CommArguments& arguments) {
  CommGroup* const group = ThreadObject<CommGroup>::find();
  if (group != nullptr && group->depth != 0) {
    return request_in_group(group, call, name, arguments);
  }
  KM_ASSIGN(const CommRequest made, make_request(call, name, arguments));
  return submit_comm({&made, 1});
}

Status begin_comm_group() {
  // The thread of callbacks is the library's: a group that stayed open would be all callbacks'.
  KM_ASSIGN([[maybe_unused]] const MayBlock may_block, require_may_block());
  ++ThreadObject<CommGroup>::get().depth;
  return {};
}

Status end_comm_group() {
  CommGroup* const group = ThreadObject<CommGroup>::find();
  if (group == nullptr || group->depth == 0) {
    return make_error(KM_ERROR_NOT_PERMITTED,
                      "there is no group on this thread: km_comm_group_begin begins one");
  }
  if (--group->depth != 0) return {};
  return submit_group(std::exchange(*group, CommGroup()));
}

}  // namespace km
