#include "comm/mpi/mpi_start.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <utility>

#include "base/thread/clock.h"
#include "base/thread/start_thread.h"
#include "comm/engine/workers.h"
#include "comm/segment/bell.h"

namespace km::comm {

MpiReports& MpiReports::instance() {
  static auto* const made = new MpiReports;  // threads may use it until the process ends
  return *made;
}

void MpiReports::begin() {
  const std::lock_guard lock(mutex_);
  ++users_;
}

/// MPI may write to memory of this process until its end, but another library's receive in the
/// world's communicator must not miss what it waits for.
void MpiReports::end(const MpiLibrary& library) {
  const std::lock_guard lock(mutex_);
  if (--users_ != 0 || !is_receiving_) return;
  const MpiLibrary::Use use(library);
  if (!use) return;
  library.MPI_Cancel(&request_);
  library.MPI_Wait(&request_, library.constants().status_ignore);
  is_receiving_ = false;
  if (next_.nonce != 0) reports_.emplace(next_.nonce, next_);
}

/// Takes in what has come. The caller holds the lock.
Failure MpiReports::receive(const MpiLibrary& library) {
  const MpiLibrary::Use use(library);
  if (!use) return mpi_is_over();
  const MpiLibrary::Constants& constants = library.constants();
  for (;;) {
    if (!is_receiving_) {
      next_ = {};
      const int code =
          library.MPI_Irecv(&next_, static_cast<int>(sizeof next_), constants.byte,
                            constants.any_source, kReportTag, constants.comm_world, &request_);
      if (code != 0) return mpi_failure("MPI_Irecv", code);
      is_receiving_ = true;
    }
    int is_over = 0;
    const int code = library.MPI_Test(&request_, &is_over, constants.status_ignore);
    if (code != 0) return mpi_failure("MPI_Test", code);
    if (is_over == 0) return {};
    is_receiving_ = false;
    reports_.emplace(next_.nonce, next_);
  }
}

Failure MpiReports::look(const MpiLibrary& library, uint64_t nonce, std::optional<MpiReport>* out) {
  const std::lock_guard lock(mutex_);
  if (Failure failure = receive(library)) return failure;
  const auto found = reports_.find(nonce);
  if (found == reports_.end()) return {};
  *out = found->second;
  reports_.erase(found);
  return {};
}

namespace {

struct AnswerTags {
  std::mutex mutex;
  std::set<int> taken;
};
AnswerTags& answer_tags() {
  static auto* const made = new AnswerTags;
  return *made;
}

}  // namespace

MpiAnswerTag::MpiAnswerTag() {
  AnswerTags& tags = answer_tags();
  const std::lock_guard lock(tags.mutex);
  for (int i = kFirstAnswerTag; i < kFirstAnswerTag + kAnswerTags && tag_ == 0; ++i) {
    if (tags.taken.insert(i).second) tag_ = i;
  }
}

MpiAnswerTag::~MpiAnswerTag() {
  if (is_kept_ || tag_ == 0) return;
  const std::lock_guard lock(answer_tags().mutex);
  answer_tags().taken.erase(tag_);
}

int next_group_tag(uint32_t process) {
  constexpr uint32_t kOfProcess = 64;  // starts of one process that may go on at once
  static std::atomic<uint32_t> count{0};
  const uint32_t number = process * kOfProcess + count.fetch_add(1) % kOfProcess;
  return kFirstGroupTag + static_cast<int>(number % kGroupTags);
}

namespace {

/// A call of MPI_Comm_create_group on a thread of its own, which may be there for ever.
struct Creation {
  const MpiLibrary& library;
  const std::vector<int> processes;
  const int tag;
  std::mutex mutex{};
  std::condition_variable changed{};
  bool is_over = false;  // with the members below guarded by the lock
  Failure failure{};
  MpiLibrary::Handle made = 0;

  Failure create(MpiLibrary::Handle* out) const {
    const MpiLibrary::Handle world = library.constants().comm_world;
    MpiLibrary::Handle group = 0, members = 0;
    if (const int code = library.MPI_Comm_group(world, &group)) {
      return mpi_failure("MPI_Comm_group", code);
    }
    int code = library.MPI_Group_incl(group, static_cast<int>(processes.size()), processes.data(),
                                      &members);
    if (code != 0) return mpi_failure("MPI_Group_incl", code);
    code = library.MPI_Comm_create_group(world, members, tag, out);
    if (code != 0) return mpi_failure("MPI_Comm_create_group", code);
    library.MPI_Group_free(&members);
    library.MPI_Group_free(&group);
    return {};
  }
  void run() {
    MpiLibrary::Handle handle = 0;
    Failure result = create(&handle);
    const std::lock_guard lock(mutex);
    failure = std::move(result);
    made = handle;
    is_over = true;
    library.add_endless_call(-1);
    changed.notify_all();
  }
};

}  // namespace

Failure create_mpi_comm(const MpiLibrary& library, const std::vector<int>& processes, int tag,
                        uint64_t timeout_ns, MpiLibrary::Handle* out) {
  auto creation = std::make_shared<Creation>(library, processes, tag);
  library.add_endless_call(1);
  if (!start_thread("km-comm-start", kThreadStackBytes, -1, [creation] { creation->run(); })) {
    library.add_endless_call(-1);
    return make_failure(FailureKind::kSystem,
                        "the system has no thread for the start of a communicator: raise the limit "
                        "on processes (ulimit -u)");
  }
  std::unique_lock lock(creation->mutex);
  const bool is_over = creation->changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                                                  [&] { return creation->is_over; });
  if (!is_over) {
    return make_failure(FailureKind::kTimeout,
                        "the start of the communicator has waited %g s in MPI_Comm_create_group "
                        "for another rank",
                        seconds(timeout_ns));
  }
  *out = creation->made;
  return creation->failure;
}

}  // namespace km::comm
