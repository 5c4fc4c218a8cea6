// Communicators of CPU devices: those of src/comm, whose operations are work of streams.
#include <cstdio>
#include <cstring>

#include "backend/comm_calls.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/device.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/library/library.h"
#include "base/assert.h"
#include "comm/group/post.h"

namespace km::cpu {
namespace {

/// A communicator as the core holds it.
struct Comm {
  std::shared_ptr<comm::Communicator> communicator;
};
Comm* from(kmb_comm* comm) { return reinterpret_cast<Comm*>(comm); }
kmb_comm* give(std::shared_ptr<comm::Communicator> communicator) {
  return reinterpret_cast<kmb_comm*>(std::make_unique<Comm>(std::move(communicator)).release());
}

km_status status_of(comm::FailureKind kind) {
  switch (kind) {
    case comm::FailureKind::kNone:
      return KM_SUCCESS;
    case comm::FailureKind::kMismatch:
    case comm::FailureKind::kTimeout:
    case comm::FailureKind::kLostRank:
    case comm::FailureKind::kAborted:
    case comm::FailureKind::kSystem:
      return KM_ERROR_IO;
    case comm::FailureKind::kArgument:
      return KM_ERROR_INVALID_ARGUMENT;
  }
  return KM_ERROR_INTERNAL;
}

Status result_of(const comm::Failure& failure) {
  if (!failure) return {};
  return Error{status_of(failure.kind), failure.text, 0};
}

static_assert(sizeof(comm::UniqueId) == sizeof(km_comm_id));

comm::Type type_of(km_element_type type) {
  switch (type) {
    case KM_ELEMENT_TYPE_I8:
      return comm::Type::kInt8;
    case KM_ELEMENT_TYPE_U8:
      return comm::Type::kUint8;
    case KM_ELEMENT_TYPE_I32:
      return comm::Type::kInt32;
    case KM_ELEMENT_TYPE_U32:
      return comm::Type::kUint32;
    case KM_ELEMENT_TYPE_I64:
      return comm::Type::kInt64;
    case KM_ELEMENT_TYPE_U64:
      return comm::Type::kUint64;
    case KM_ELEMENT_TYPE_F16:
      return comm::Type::kF16;
    case KM_ELEMENT_TYPE_BF16:
      return comm::Type::kBf16;
    case KM_ELEMENT_TYPE_F32:
      return comm::Type::kF32;
    case KM_ELEMENT_TYPE_F64:
      return comm::Type::kF64;
    case KM_ELEMENT_TYPE_F8_E4M3:
      return comm::Type::kE4m3;
    case KM_ELEMENT_TYPE_F8_E5M2:
      return comm::Type::kE5m2;
    default:
      KM_ASSERT(false, "the core has checked the type");
      return comm::Type::kUint8;
  }
}

/// The numbers of kinds and reductions differ by one: those of the interface begin at 1.
comm::Kind kind_of(kmb_comm_kind kind) {
  static_assert(KMB_COMM_RECEIVE - 1 == static_cast<int>(comm::Kind::kReceive));
  static_assert(KMB_COMM_REDUCE_SCATTER - 1 == static_cast<int>(comm::Kind::kReduceScatter));
  return static_cast<comm::Kind>(kind - 1);
}

/// True if the core, which does not know src/comm, says the same of each kind.
constexpr bool knows_kinds() {
  for (int i = KMB_COMM_ALL_REDUCE; i <= KMB_COMM_RECEIVE; ++i) {
    const auto given = static_cast<kmb_comm_kind>(i);
    const auto kind = static_cast<comm::Kind>(i - 1);
    if (comm_has_reduction(given) != comm::has_reduction(kind) ||
        comm_is_message(given) != comm::is_between_two(kind) ||
        comm_has_root(given) != (comm::has_root(kind) || comm::is_between_two(kind)) ||
        comm_sends_blocks(given) != comm::sends_blocks(kind) ||
        comm_receives_blocks(given) != comm::receives_blocks(kind)) {
      return false;
    }
  }
  return true;
}
static_assert(knows_kinds());
static_assert(kMostCommRanks == comm::kMostRanks);

comm::Reduction reduction_of(km_comm_reduction reduction) {
  static_assert(KM_COMM_REDUCTION_SCALED_SUM - 1 == static_cast<int>(comm::Reduction::kScaledSum));
  if (reduction == KM_COMM_REDUCTION_INVALID) return comm::Reduction::kSum;
  return static_cast<comm::Reduction>(reduction - 1);
}

comm::Operation operation_of(const kmb_comm_operation& given) {
  comm::Operation operation;
  operation.call = {given.count, kind_of(given.kind), type_of(given.type),
                    reduction_of(given.reduction), static_cast<int32_t>(given.root)};
  operation.send = reinterpret_cast<const void*>(given.send);
  operation.receive = reinterpret_cast<void*>(given.receive);
  std::memcpy(operation.scalar, given.scale, sizeof operation.scalar);
  return operation;
}

/// The operations of one call. They begin together and hold no thread of the backend.
class CommTask final : public Task {
 public:
  CommTask(const char* name, std::vector<comm::Part> parts)
      : name_(name), parts_(std::move(parts)) {}
  const char* name() const override { return name_; }
  uint64_t pieces() const override { return 1; }
  float estimated_ns() const override { return static_cast<float>(comm::estimated_ns(parts_)); }
  Status run(uint64_t) const override {
    return make_error(KM_ERROR_INTERNAL, "%s has to be started", name_);
  }
  bool is_asynchronous() const override { return true; }
  bool start(bool may_wait, void (*resume)(void*), void* resume_data) const override {
    const auto poster = may_wait ? comm::Poster::kWaits : comm::Poster::kGoesOn;
    return comm::post(parts_, poster, resume, resume_data);
  }
  bool begins_at_once() const override { return comm::begin_at_once(parts_); }

 private:
  const char* const name_;
  const std::vector<comm::Part> parts_;
};

}  // namespace

Result<std::shared_ptr<const Task>> make_comm_task(const char* name, const kmb_comm_call& call) {
  std::vector<comm::Part> parts;
  for (uint64_t i = 0; i < call.count; ++i) {
    const kmb_comm_operation& each = call.operations[i];
    comm::add_operation(from(each.comm)->communicator, operation_of(each), &parts);
  }
  return std::shared_ptr<const Task>(std::make_shared<CommTask>(name, std::move(parts)));
}

km_status comm_id_create(kmb_device*, km_comm_id* out_id, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    comm::UniqueId id;
    KM_TRY(result_of(comm::make_communicator_id(&id)));
    std::memcpy(out_id, &id, sizeof id);
    return {};
  });
}

km_status comm_create(kmb_context* handle, const km_comm_id* given, uint32_t rank_count,
                      uint32_t rank, kmb_comm** out_comm, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    comm::UniqueId id;
    std::memcpy(&id, given, sizeof id);
    const auto device = static_cast<int32_t>(from(handle)->device()->ordinal());
    std::shared_ptr<comm::Communicator> made;
    KM_TRY(result_of(comm::Communicator::join(id, {rank_count, rank, device}, &made)));
    *out_comm = give(std::move(made));
    return {};
  });
}

km_status comm_split(kmb_comm* comm, int32_t color, int32_t key, kmb_comm** out_comm,
                     kmb_error* error) {
  return guarded(error, [&]() -> Status {
    std::shared_ptr<comm::Communicator> made;
    KM_TRY(result_of(from(comm)->communicator->split(color, key, &made)));
    *out_comm = made == nullptr ? nullptr : give(std::move(made));
    return {};
  });
}

void comm_destroy(kmb_comm* comm) {
  const std::unique_ptr<Comm> last(from(comm));
  comm::Communicator::leave(std::move(last->communicator));
}

void comm_abort(kmb_comm* comm) {
  comm::Communicator& communicator = *from(comm)->communicator;
  communicator.fail(comm::make_failure(
      comm::FailureKind::kAborted, "rank %u has aborted the communicator", communicator.rank()));
}

km_status comm_status(kmb_comm* comm, kmb_error* error) {
  return guarded(error, [&]() -> Status { return result_of(from(comm)->communicator->failure()); });
}

void comm_info(kmb_comm* comm, km_comm_info* out_info) {
  const comm::Communicator& communicator = *from(comm)->communicator;
  out_info->rank = communicator.rank();
  out_info->rank_count = communicator.ranks();
  const auto tell = [&](km_comm_engine engine, const char* reason) {
    out_info->engine = engine;
    std::snprintf(out_info->reason, sizeof out_info->reason, "%s%s", reason,
                  communicator.library().c_str());
  };
  switch (communicator.connection()) {
    case comm::Communicator::Connection::kThreads:
      return tell(KM_COMM_ENGINE_THREADS,
                  "all ranks are in this process: copies between their devices");
    case comm::Communicator::Connection::kSharedMemory:
      return tell(KM_COMM_ENGINE_SHARED_MEMORY,
                  "the ranks are in several processes of this machine: memory that they share");
    case comm::Communicator::Connection::kMpi:
      return tell(KM_COMM_ENGINE_MPI, "the id was made with KM_COMM=mpi: ");
  }
}

}  // namespace km::cpu
