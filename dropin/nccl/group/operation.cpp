#include "dropin/nccl/group/operation.h"

#include <cstring>
#include <utility>

namespace km::nccl {
namespace {

constexpr uint64_t kMostCount = uint64_t{1} << 48;

/// Which buffers the rank has to give.
struct Buffers {
  bool sends, receives;
};

Buffers buffers_of(const Arguments& arguments, uint32_t rank) {
  const bool is_root = arguments.root == static_cast<int>(rank);
  switch (arguments.kind) {
    case comm::Kind::kReduce:
    case comm::Kind::kGather:
      return {true, is_root};
    case comm::Kind::kBroadcast:
    case comm::Kind::kScatter:
      return {is_root, true};
    case comm::Kind::kSend:
      return {true, false};
    case comm::Kind::kReceive:
      return {false, true};
    default:
      return {true, true};
  }
}

ncclResult_t read_reduction(const Arguments& arguments, const Handle& handle,
                            comm::Operation* out) {
  constexpr std::pair<ncclRedOp_t, comm::Reduction> kKnown[] = {
      {ncclSum, comm::Reduction::kSum},
      {ncclProd, comm::Reduction::kProduct},
      {ncclMax, comm::Reduction::kMax},
      {ncclMin, comm::Reduction::kMin},
      {ncclAvg, comm::Reduction::kAverage}};
  for (const auto& [op, reduction] : kKnown) {
    if (op != arguments.op) continue;
    out->call.reduction = reduction;
    return ncclSuccess;
  }
  const std::optional<OwnReduction> own = handle.find_reduction(arguments.op);
  if (!own) return invalid("the communicator has no reduction %d", static_cast<int>(arguments.op));
  if (own->type != out->call.type) {
    return invalid("the reduction %d was made for %s, not for %s", static_cast<int>(arguments.op),
                   comm::name_of(own->type), comm::name_of(out->call.type));
  }
  out->call.reduction = comm::Reduction::kScaledSum;
  std::memcpy(out->scalar, own->scalar, sizeof out->scalar);
  out->device_scalar = own->device_scalar;
  return ncclSuccess;
}

ncclResult_t read_operation(const Arguments& arguments, const Handle& handle,
                            const comm::Communicator& communicator, comm::Operation* out) {
  out->call.kind = arguments.kind;
  out->call.count = arguments.count;
  LIB_TRY(read_type(arguments.type, &out->call.type));
  if (comm::has_reduction(arguments.kind)) LIB_TRY(read_reduction(arguments, handle, out));
  const bool has_rank = comm::has_root(arguments.kind) || comm::is_between_two(arguments.kind);
  if (has_rank &&
      (arguments.root < 0 || arguments.root >= static_cast<int>(communicator.ranks()))) {
    return invalid("there is no rank %d among %u", arguments.root, communicator.ranks());
  }
  out->call.root = arguments.root;
  if (arguments.count > kMostCount / communicator.ranks()) {
    return invalid("count is %zu: no memory has as many elements", arguments.count);
  }
  const Buffers buffers = buffers_of(arguments, communicator.rank());
  if (buffers.sends) out->send = arguments.send;
  if (buffers.receives) out->receive = arguments.receive;
  if (arguments.count == 0) return ncclSuccess;
  if (buffers.sends && arguments.send == nullptr) return invalid("sendbuff is null");
  if (buffers.receives && arguments.receive == nullptr) return invalid("recvbuff is null");
  return ncclSuccess;
}

ncclResult_t make_request(const char* function, const Arguments& arguments, ncclComm_t comm,
                          cudaStream_t stream) {
  if (library::is_in_callback()) return misused("host functions may not use a communicator");
  Request made{function, find_handle(comm), nullptr, {}, reinterpret_cast<cu::CUstream>(stream)};
  if (made.handle == nullptr) return ncclInvalidArgument;
  LIB_TRY(made.handle->get(&made.communicator));
  LIB_TRY(read_operation(arguments, *made.handle, *made.communicator, &made.operation));
  return request(std::move(made));
}

ncclResult_t check_config(const ncclCollConfig_t* config) {
  if (config == nullptr) return ncclSuccess;
  struct Begin {
    size_t size;
    unsigned int magic, version;
  } begin;
  if (!library::read_host(&begin, config, sizeof begin)) {
    return invalid("the configuration at %p cannot be read", static_cast<const void*>(config));
  }
  if (begin.magic != NCCL_API_MAGIC || begin.size < sizeof begin) {
    return invalid("the configuration was not initialized by NCCL_COLLCONFIG_INITIALIZER");
  }
  cudaEvent_t event = nullptr;
  constexpr size_t kPlace = offsetof(ncclCollConfig_t, launchCompletionEvent);
  if (begin.size >= kPlace + sizeof event &&
      library::read_host(&config->launchCompletionEvent, &event) && event != nullptr) {
    return misused("launchCompletionEvent is not supported: record an event after the call");
  }
  return ncclSuccess;
}

}  // namespace

ncclResult_t read_type(ncclDataType_t type, comm::Type* out) {
  // The numbers are the same; older names of the first ones are aliases.
  static_assert(static_cast<int>(comm::Type::kE5m2) == ncclFloat8e5m2);
  static_assert(static_cast<int>(comm::Type::kBf16) == ncclBfloat16);
  static_assert(static_cast<int>(comm::Type::kF16) == ncclFloat16);
  if (type < 0 || type >= ncclNumTypes)
    return invalid("there is no type %d", static_cast<int>(type));
  *out = static_cast<comm::Type>(type);
  return ncclSuccess;
}

ncclResult_t collective(const char* function, const Arguments& arguments, ncclComm_t comm,
                        cudaStream_t stream) {
  return call([&] { return note_in_group(make_request(function, arguments, comm, stream)); },
              function);
}

ncclResult_t configured(const char* function, const Arguments& arguments, ncclComm_t comm,
                        cudaStream_t stream, const ncclCollConfig_t* config) {
  return call(
      [&]() -> ncclResult_t {
        LIB_TRY(note_in_group(check_config(config)));
        return note_in_group(make_request(function, arguments, comm, stream));
      },
      function);
}

}  // namespace km::nccl
