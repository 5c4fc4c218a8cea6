// Communicators and their operations, by NCCL.
#include "backends/cuda/library/comm.h"

#include <cstdio>
#include <cstring>

#include "backend/comm_calls.h"
#include "backends/cuda/driver/let_go.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/memory/host_allocator.h"

namespace km::cuda {
namespace {

namespace nl = nccl_library;

nl::DataType native_element(km_element_type type) {
  switch (type) {
    case KM_ELEMENT_TYPE_I8:
      return nl::kInt8;
    case KM_ELEMENT_TYPE_U8:
      return nl::kUint8;
    case KM_ELEMENT_TYPE_I32:
      return nl::kInt32;
    case KM_ELEMENT_TYPE_U32:
      return nl::kUint32;
    case KM_ELEMENT_TYPE_I64:
      return nl::kInt64;
    case KM_ELEMENT_TYPE_U64:
      return nl::kUint64;
    case KM_ELEMENT_TYPE_F16:
      return nl::kF16;
    case KM_ELEMENT_TYPE_BF16:
      return nl::kBf16;
    case KM_ELEMENT_TYPE_F32:
      return nl::kF32;
    case KM_ELEMENT_TYPE_F64:
      return nl::kF64;
    case KM_ELEMENT_TYPE_F8_E4M3:
      return nl::kE4m3;
    case KM_ELEMENT_TYPE_F8_E5M2:
      return nl::kE5m2;
    default:
      KM_ASSERT(false, "the core has checked the type");
      return nl::kUint8;
  }
}

nl::Data address_of(uint64_t address) { return reinterpret_cast<nl::Data>(address); }
nl::Stream native(const LibraryTarget& target) {
  return reinterpret_cast<nl::Stream>(target.stream);
}
uint64_t block_bytes(const kmb_comm_operation& operation) {
  return operation.count * comm_element_size(operation.type);
}

}  // namespace

Comm::~Comm() {
  if (handle_ == nullptr || epoch_->has_failed()) return;
  const Current current(*epoch_);
  const nl::Status status = library_.ncclCommDestroy(handle_);
  if (status == nl::kSuccess || status == nl::kInProgress) return;
  log(LogLevel::kWarn, "cuda", "%s",
      nccl_error(library_, "ncclCommDestroy", status, nullptr).message.c_str());
}

Status Comm::check(const char* function, nl::Status status) const {
  if (status == nl::kSuccess || status == nl::kInProgress) [[likely]]
    return {};
  return library_error(*epoch_, nccl_error(library_, function, status, handle_));
}

Status Comm::join(const km_comm_id& id, uint32_t rank_count, uint32_t rank) {
  nl::UniqueId native_id;
  static_assert(sizeof native_id == sizeof id);
  std::memcpy(&native_id, &id, sizeof native_id);
  rank_ = rank;
  rank_count_ = rank_count;
  return check("ncclCommInitRank", library_.ncclCommInitRank(&handle_, static_cast<int>(rank_count),
                                                             native_id, static_cast<int>(rank)));
}

Status Comm::require_whole() const {
  if (!is_aborted_) return {};
  return make_error(KM_ERROR_IO, "rank %u has aborted the communicator", rank_);
}

/// The lock, once no split uses NCCL's object.
Result<std::unique_lock<std::mutex>> Comm::lock_unused() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_splitting_ || is_aborted_; });
  KM_TRY(require_whole());
  return lock;
}

Result<std::shared_ptr<Comm>> Comm::split(int32_t color, int32_t key) {
  constexpr int kNoColor = -1;
  std::shared_ptr<Comm> made = share(std::make_unique<Comm>(epoch_, library_));
  KM_ASSIGN(std::unique_lock lock, lock_unused());
  const nl::Comm whole = handle_;
  is_splitting_ = true;
  lock.unlock();
  const nl::Status status =
      library_.ncclCommSplit(whole, color < 0 ? kNoColor : color, key, &made->handle_, nullptr);
  lock.lock();
  is_splitting_ = false;
  changed_.notify_all();
  if (is_aborted_) made->cancel();
  KM_TRY(require_whole());
  KM_TRY(check("ncclCommSplit", status));
  lock.unlock();
  if (made->handle_ == nullptr) return std::shared_ptr<Comm>();
  int rank = 0, rank_count = 0;
  KM_TRY(made->check("ncclCommUserRank", library_.ncclCommUserRank(made->handle_, &rank)));
  KM_TRY(made->check("ncclCommCount", library_.ncclCommCount(made->handle_, &rank_count)));
  made->rank_ = static_cast<uint32_t>(rank);
  made->rank_count_ = static_cast<uint32_t>(rank_count);
  return made;
}

void Comm::cancel() {
  const std::lock_guard lock(mutex_);
  is_aborted_ = true;
  changed_.notify_all();
  if (handle_ == nullptr) return;
  const nl::Comm gone = std::exchange(handle_, nullptr);
  if (epoch_->has_failed()) return;
  const Current current(*epoch_);
  const nl::Status status = library_.ncclCommAbort(gone);
  if (status == nl::kSuccess || status == nl::kInProgress) return;
  log(LogLevel::kWarn, "cuda", "%s",
      nccl_error(library_, "ncclCommAbort", status, nullptr).message.c_str());
}

Status Comm::status() {
  const std::lock_guard lock(mutex_);
  KM_TRY(require_whole());
  nl::Status state = nl::kSuccess;
  KM_TRY(check("ncclCommGetAsyncError", library_.ncclCommGetAsyncError(handle_, &state)));
  if (state == nl::kSuccess || state == nl::kInProgress) return {};
  Error error = nccl_error(library_, "ncclCommGetAsyncError", state, handle_);
  error.status = KM_ERROR_IO;
  return error;
}

void Comm::describe(km_comm_info* out_info) const {
  out_info->rank = rank_;
  out_info->rank_count = rank_count_;
  out_info->engine = KM_COMM_ENGINE_NCCL;
  std::snprintf(out_info->reason, sizeof out_info->reason,
                "the ranks have devices of the CUDA driver: NCCL %s (%s)",
                library_.version().c_str(), library_.path().c_str());
}

void Comm::spoil_group() {
  // NCCL has no way to drop a group but a call that fails, and looks at arguments only if there is
  // a communicator.
  constexpr auto kNoType = static_cast<nl::DataType>(-1);
  nl::UniqueId none{};
  const std::lock_guard lock(mutex_);
  library_.ncclAllReduce(&none, &none, 1, kNoType, nl::kSum, handle_, nullptr);
}

kmb_use Comm::last_use() {
  const std::lock_guard lock(mutex_);
  return {to(last_stream_.get()), last_ticket_};
}

Status Comm::queue(const LibraryTarget& target, const kmb_comm_operation& operation) {
  KM_ASSIGN(const std::unique_lock lock, lock_unused());
  if (target.queue != nullptr) {
    last_stream_ = target.queue->shared_from_this();
    last_ticket_ = target.queue->last_ticket() + 1;
  }
  const nl::DataType type = native_element(operation.type);
  switch (operation.kind) {
    case KMB_COMM_ALL_REDUCE:
    case KMB_COMM_REDUCE:
    case KMB_COMM_REDUCE_SCATTER:
      return queue_reduction(target, operation);
    case KMB_COMM_BROADCAST:
      return check("ncclBroadcast",
                   library_.ncclBroadcast(address_of(operation.send), address_of(operation.receive),
                                          operation.count, type, static_cast<int>(operation.root),
                                          handle_, native(target)));
    case KMB_COMM_ALL_GATHER:
      return check("ncclAllGather",
                   library_.ncclAllGather(address_of(operation.send), address_of(operation.receive),
                                          operation.count, type, handle_, native(target)));
    case KMB_COMM_ALL_TO_ALL:
    case KMB_COMM_GATHER:
    case KMB_COMM_SCATTER:
      return exchange_blocks(target, operation);
    case KMB_COMM_SEND:
      return send(target, operation, operation.send, operation.root);
    case KMB_COMM_RECEIVE:
      return receive(target, operation, operation.receive, operation.root);
  }
  return make_error(KM_ERROR_INTERNAL, "there is no operation %d", operation.kind);
}

Status Comm::queue_reduction(const LibraryTarget& target, const kmb_comm_operation& operation) {
  if (operation.reduction != KM_COMM_REDUCTION_SCALED_SUM) {
    static_assert(KM_COMM_REDUCTION_AVERAGE - 1 == nl::kAverage);
    return reduce(target, operation, static_cast<nl::Reduction>(operation.reduction - 1));
  }
  nl::Reduction made{};
  KM_TRY(
      check("ncclRedOpCreatePreMulSum",
            library_.ncclRedOpCreatePreMulSum(
                &made, operation.scale, native_element(operation.type), nl::kScalarHost, handle_)));
  // NCCL has copied the reduction when the operation's call returns.
  Status queued = reduce(target, operation, made);
  KM_TRY(check("ncclRedOpDestroy", library_.ncclRedOpDestroy(made, handle_)));
  return queued;
}

Status Comm::reduce(const LibraryTarget& target, const kmb_comm_operation& operation,
                    nl::Reduction reduction) {
  const nl::DataType type = native_element(operation.type);
  const nl::Data in = address_of(operation.send), out = address_of(operation.receive);
  switch (operation.kind) {
    case KMB_COMM_ALL_REDUCE:
      return check("ncclAllReduce", library_.ncclAllReduce(in, out, operation.count, type,
                                                           reduction, handle_, native(target)));
    case KMB_COMM_REDUCE_SCATTER:
      return check("ncclReduceScatter",
                   library_.ncclReduceScatter(in, out, operation.count, type, reduction, handle_,
                                              native(target)));
    default:
      return check("ncclReduce",
                   library_.ncclReduce(in, out, operation.count, type, reduction,
                                       static_cast<int>(operation.root), handle_, native(target)));
  }
}

Status Comm::send(const LibraryTarget& target, const kmb_comm_operation& operation, uint64_t place,
                  uint32_t to) {
  return check("ncclSend",
               library_.ncclSend(address_of(place), operation.count, native_element(operation.type),
                                 static_cast<int>(to), handle_, native(target)));
}

Status Comm::receive(const LibraryTarget& target, const kmb_comm_operation& operation,
                     uint64_t place, uint32_t from) {
  return check("ncclRecv",
               library_.ncclRecv(address_of(place), operation.count, native_element(operation.type),
                                 static_cast<int>(from), handle_, native(target)));
}

/// All-to-all, gather and scatter are messages, since NCCL has them only from 2.28 on. An
/// all-to-all in place would overwrite blocks that are still to be sent.
Status Comm::exchange_blocks(const LibraryTarget& target, const kmb_comm_operation& operation) {
  const uint64_t bytes = block_bytes(operation);
  const bool is_root = operation.root == rank_;
  const bool is_to_all = operation.kind == KMB_COMM_ALL_TO_ALL;
  uint64_t from = operation.send;
  if (is_to_all && from == operation.receive && bytes != 0) {
    KM_ASSIGN(from, target.scratch(bytes * rank_count_));
    KM_TRY(epoch_->check(
        driver().cuMemcpyDtoDAsync_v2(from, operation.send, bytes * rank_count_, target.stream)));
  }
  const bool sends_blocks = is_to_all || (operation.kind == KMB_COMM_SCATTER && is_root);
  const bool receives_blocks = is_to_all || (operation.kind == KMB_COMM_GATHER && is_root);
  if (!sends_blocks && operation.kind == KMB_COMM_GATHER) {
    KM_TRY(send(target, operation, from, operation.root));
  }
  if (!receives_blocks && operation.kind == KMB_COMM_SCATTER) {
    KM_TRY(receive(target, operation, operation.receive, operation.root));
  }
  for (uint32_t i = 0; i < rank_count_; ++i) {
    if (sends_blocks) KM_TRY(send(target, operation, from + i * bytes, i));
    if (receives_blocks) KM_TRY(receive(target, operation, operation.receive + i * bytes, i));
  }
  return {};
}

Status queue_comm(const LibraryTarget& target, const char* name, const kmb_comm_call& call) {
  Comm& first = *from(call.operations[0].comm);
  CommGroup* const group = target.queue != nullptr ? CommGroup::open() : nullptr;
  if (group != nullptr) KM_TRY(group->add(*target.queue, name, first));
  KM_ASSIGN(NcclGroup together, NcclGroup::begin(first));
  for (uint64_t i = 0; i < call.count; ++i) {
    KM_TRY(from(call.operations[i].comm)->queue(target, call.operations[i]));
  }
  Status begun = together.end();
  if (begun) return begun;
  return library_error(target.epoch, std::move(begun.error()));
}

km_status comm_id_create(kmb_device*, km_comm_id* out_id, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const Nccl* const library, Nccl::instance());
    nl::UniqueId id{};
    const nl::Status status = library->ncclGetUniqueId(&id);
    if (status != nl::kSuccess) return nccl_error(*library, "ncclGetUniqueId", status, nullptr);
    std::memcpy(out_id, &id, sizeof id);
    return {};
  });
}

namespace {

kmb_comm* give(const std::shared_ptr<Comm>& comm) {
  comm->self = comm;
  return reinterpret_cast<kmb_comm*>(comm.get());
}

}  // namespace

km_status comm_create(kmb_context* context, const km_comm_id* id, uint32_t rank_count,
                      uint32_t rank, kmb_comm** out_comm, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(std::shared_ptr<Epoch> epoch, live_epoch(context));
    KM_ASSIGN(const Nccl* const library, Nccl::instance());
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    const std::shared_ptr<Comm> made = share(std::make_unique<Comm>(std::move(epoch), *library));
    KM_TRY(made->join(*id, rank_count, rank));
    *out_comm = give(made);
    return {};
  });
}

km_status comm_split(kmb_comm* comm, int32_t color, int32_t key, kmb_comm** out_comm,
                     kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Comm> made, from(comm)->split(color, key));
    *out_comm = made == nullptr ? nullptr : give(made);
    return {};
  });
}

void comm_destroy(kmb_comm* handle) {
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  std::shared_ptr<Comm> comm = std::move(from(handle)->self);
  const kmb_use last = comm->last_use();
  when_over(std::span(&last, last.stream != nullptr ? 1 : 0), [comm]() mutable { comm.reset(); });
}

void comm_abort(kmb_comm* comm) { from(comm)->cancel(); }

km_status comm_status(kmb_comm* comm, kmb_error* error) {
  return guarded(error, [&] { return from(comm)->status(); });
}

void comm_info(kmb_comm* comm, km_comm_info* out_info) { from(comm)->describe(out_info); }

}  // namespace km::cuda
