#include "comm/mpi/mpi_ranks.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "base/thread/clock.h"
#include "comm/segment/bell.h"

namespace km::comm {
namespace {

constexpr uint64_t kMpiMagic = 0x313049504d4d4b4bU;  // "KKMMPI01"

/// The joins of this process by the nonces of ids; null: one that is over.
struct Joins {
  std::mutex mutex;
  std::map<uint64_t, MpiRanks*> of;
};
Joins& joins() {
  static auto* const made = new Joins;
  return *made;
}

std::string describe_start() { return "the start of the communicator"; }

Failure joined_twice() {
  return make_failure(FailureKind::kMismatch,
                      "this process has joined by this id before: a communicator of MPI has one "
                      "rank in each process, and each communicator an id of its own");
}

}  // namespace

bool MpiRanks::is_mpi_id(const UniqueId& id) { return id.magic == kMpiMagic; }

Failure MpiRanks::make_mpi_id(UniqueId* out) {
  uint32_t process = 0;
  if (Failure failure = MpiLibrary::find_world_rank(&process)) return failure;
  UniqueId id{};
  id.magic = kMpiMagic;
  if (getrandom(id.nonce, sizeof id.nonce, 0) != sizeof id.nonce) {
    return make_failure(FailureKind::kSystem, "the system gives no random numbers");
  }
  id.process = process;
  *out = id;
  return {};
}

Failure MpiRanks::join(const UniqueId& id, const Place& place, uint64_t timeout_ns,
                       std::shared_ptr<MpiRanks>* out) {
  const MpiLibrary* library = nullptr;
  if (Failure failure = MpiLibrary::get(&library)) return failure;
  if (place.ranks > library->world_ranks() || id.process >= library->world_ranks()) {
    return make_failure(FailureKind::kArgument,
                        "MPI has started %u processes, too few for %u ranks: a communicator of MPI "
                        "has one rank in each (mpirun -n %u)",
                        library->world_ranks(), place.ranks, place.ranks);
  }
  std::shared_ptr<MpiRanks> made(new MpiRanks(*library, place, timeout_ns));
  if (Failure failure = made->connect(id)) return failure;
  *out = std::move(made);
  return {};
}

/// Another join by the id in this process is an error of both: the first one would wait for a rank
/// that cannot come.
Failure MpiRanks::connect(const UniqueId& id) {
  {
    const std::lock_guard lock(joins().mutex);
    const auto [own, is_first] = joins().of.emplace(id.nonce[0], this);
    if (!is_first) {
      if (own->second != nullptr) own->second->note_failure(joined_twice());
      return joined_twice();
    }
  }
  Failure failure = start(id);
  const std::lock_guard lock(joins().mutex);
  joins().of[id.nonce[0]] = nullptr;
  return failure;
}

Failure MpiRanks::start(const UniqueId& id) {
  has_left_.assign(ranks(), false);
  nonce_ = id.nonce[0];
  MpiAnswer places(ranks());
  const bool is_maker = id.process == library_.world_rank();
  if (Failure failure = is_maker ? gather_places(&places) : tell_place(id, &places)) return failure;
  MpiLibrary::Handle made = 0;
  if (Failure failure =
          create_mpi_comm(library_, places.processes(), places.group_tag(), timeout_ns_, &made)) {
    return failure;
  }
  comm_ = made;
  library_.MPI_Comm_set_errhandler(comm_, library_.constants().errors_return);
  return listen();
}

Failure MpiRanks::gather_report(const MpiReports::Receiving& receiving, MpiReport* out) {
  const auto move = [&](bool*, bool* is_over) -> Failure {
    std::optional<MpiReport> found;
    Failure failure = receiving.look(nonce_, &found);
    *is_over = found.has_value();
    if (found) *out = *found;
    return failure;
  };
  return wait({move, [] { return std::vector<uint32_t>{kAnyRank}; }, describe_start});
}

/// The maker of the id hears where each rank is, and tells all.
Failure MpiRanks::gather_places(MpiAnswer* out) {
  out->process_of(rank()) = static_cast<int>(library_.world_rank());
  out->group_tag() = next_group_tag(library_.world_rank());
  const MpiReports::Receiving receiving(library_);
  std::vector<MpiReport> reports;
  Failure failure;
  while (!failure && reports.size() + 1 < ranks()) {
    MpiReport report{};
    failure = gather_report(receiving, &report);
    if (failure) break;
    reports.push_back(report);
    if (report.ranks != ranks() || report.rank >= ranks() || out->process_of(report.rank) != -1) {
      failure = make_failure(FailureKind::kMismatch,
                             "the process %d joins as rank %u of %u, which does not fit %u ranks",
                             report.process, report.rank, report.ranks, ranks());
    } else {
      out->process_of(report.rank) = report.process;
    }
  }
  out->set_good(!failure);
  for (const MpiReport& each : reports) {
    Failure told = answer(each, *out);
    if (!failure) failure = told;
  }
  return failure;
}

Failure MpiRanks::answer(const MpiReport& report, const MpiAnswer& places) {
  std::vector<int> copy = MpiAnswer(places).numbers();
  Transfer transfer;
  Failure told = begin_send(static_cast<uint32_t>(report.process), MpiTag(report.answer_tag),
                            copy.data(), copy.size() * sizeof(int), &transfer);
  if (!told) told = finish({&transfer, 1}, describe_start);
  if (told) keep_for_ever(std::move(copy));
  return told;
}

Failure MpiRanks::tell_place(const UniqueId& id, MpiAnswer* out) {
  MpiAnswerTag tag;
  if (tag.tag() == 0) {
    return make_failure(FailureKind::kSystem, "too many communicators of this process begin");
  }
  auto report = std::make_unique<MpiReport>(
      MpiReport{nonce_, rank(), ranks(), static_cast<int32_t>(library_.world_rank()), tag.tag()});
  const auto maker = static_cast<uint32_t>(id.process);
  std::vector<int>& numbers = out->numbers();
  Transfer transfers[2];
  Failure failure = begin_receive(maker, MpiTag(tag.tag()), numbers.data(),
                                  numbers.size() * sizeof(int), &transfers[0]);
  if (!failure) {
    failure = begin_send(maker, MpiTag(kReportTag), report.get(), sizeof *report, &transfers[1]);
  }
  if (!failure) failure = finish(transfers, describe_start);
  if (failure) {
    tag.keep();
    keep_for_ever(std::move(report));
    keep_for_ever(std::move(numbers));
    return failure;
  }
  if (out->is_good()) return {};
  return make_failure(FailureKind::kMismatch,
                      "the ranks of the communicator do not fit together: the maker of its id, "
                      "process %u of MPI, says how",
                      maker);
}

MpiRanks::~MpiRanks() {
  leave();
  library_.add_user(-1);
}

void MpiRanks::leave() {
  if (comm_ == library_.constants().comm_world) return;
  tell({nonce_, FailureKind::kNone, rank(), {}});
  const std::lock_guard lock(mutex_);
  const MpiLibrary::Use use(library_);
  if (!use || hearing_.is_over) return;
  library_.MPI_Cancel(&hearing_.request);
  library_.MPI_Wait(&hearing_.request, library_.constants().status_ignore);
  // After a failure messages may be on their way that another communicator must not get.
  if (!has_failed_) library_.MPI_Comm_free(&comm_);
}

Failure MpiRanks::failure() const {
  if (!has_failed_) return {};
  const std::lock_guard lock(mutex_);
  return failure_;
}

/// Makes a failure this rank's, which others do not hear of. False if it has one.
bool MpiRanks::note_failure(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (has_failed_) return false;
  failure_ = failure;
  has_failed_ = true;
  return true;
}

void MpiRanks::fail(const Failure& failure) {
  if (!note_failure(failure)) return;
  News news{nonce_, failure.kind, rank(), {}};
  std::snprintf(news.text, sizeof news.text, "%s", failure.text.c_str());
  tell(news);
}

/// Sends news to all other ranks. Nobody waits for their end.
void MpiRanks::tell(const News& news) {
  auto* const kept = std::make_unique<News>(news).release();  // MPI reads it at some time
  for (uint32_t i = 0; i < ranks(); ++i) {
    Transfer transfer;
    if (i == rank()) continue;
    if (begin_send(i, MpiTag::kNews, kept, sizeof *kept, &transfer)) continue;
    const MpiLibrary::Use use(library_);
    if (use) library_.MPI_Request_free(&transfer.request);
  }
}

Failure MpiRanks::listen() {
  return begin_receive(kAnyRank, MpiTag::kNews, &heard_, sizeof heard_, &hearing_);
}

void MpiRanks::hear_news() {
  const std::lock_guard lock(mutex_);
  while (!hearing_.is_over && !test(&hearing_) && hearing_.is_over) {
    take_news();
    static_cast<void>(listen());
  }
}

/// The caller holds the lock.
void MpiRanks::take_news() {
  if (heard_.nonce != nonce_ || heard_.rank >= ranks()) return;
  if (heard_.kind == FailureKind::kNone) {
    has_left_[heard_.rank] = true;
  } else if (!has_failed_) {
    heard_.text[sizeof heard_.text - 1] = 0;
    failure_ = {heard_.kind, heard_.text};
    has_failed_ = true;
  }
}

Failure MpiRanks::begin_send(uint32_t to, MpiTag tag, const void* data, uint64_t size_bytes,
                             Transfer* out) {
  out->peer = to;
  const MpiLibrary::Use use(library_);
  if (!use) return mpi_is_over();
  const int code =
      library_.MPI_Isend(data, static_cast<int>(size_bytes), library_.constants().byte,
                         static_cast<int>(to), static_cast<int>(tag), comm_, &out->request);
  out->is_over = code != 0;
  return code == 0 ? Failure() : mpi_failure("MPI_Isend", code);
}

Failure MpiRanks::begin_receive(uint32_t from, MpiTag tag, void* data, uint64_t size_bytes,
                                Transfer* out) {
  out->peer = from;
  const MpiLibrary::Use use(library_);
  if (!use) return mpi_is_over();
  const int source = from == kAnyRank ? library_.constants().any_source : static_cast<int>(from);
  const int code = library_.MPI_Irecv(data, static_cast<int>(size_bytes), library_.constants().byte,
                                      source, static_cast<int>(tag), comm_, &out->request);
  out->is_over = code != 0;
  return code == 0 ? Failure() : mpi_failure("MPI_Irecv", code);
}

Failure MpiRanks::test(Transfer* transfer) {
  int is_over = 0;
  const MpiLibrary::Use use(library_);
  if (!use) return mpi_is_over();
  const int code =
      library_.MPI_Test(&transfer->request, &is_over, library_.constants().status_ignore);
  transfer->is_over = is_over != 0 || code != 0;
  return code == 0 ? Failure() : mpi_failure("MPI_Test", code);
}

void MpiRanks::abandon(std::span<Transfer> transfers) {
  const MpiLibrary::Use use(library_);
  if (!use) return;
  for (Transfer& each : transfers) {
    if (each.is_over) continue;
    library_.MPI_Request_free(&each.request);
    each.is_over = true;
  }
}

Failure MpiRanks::wait(const Wait& wait) {
  constexpr uint64_t kYields = 2000, kPauseUs = 50, kNewsEvery = 64;
  uint64_t begin_ns = now_ns(), idle = 0;
  Failure ending;
  for (;;) {
    bool has_moved = false, is_over = false;
    if (Failure failure = wait.move(&has_moved, &is_over)) return failure;
    if (is_over) return {};
    if (has_moved) {
      begin_ns = now_ns();
      idle = 0;
      ending = {};
      continue;
    }
    // Messages that a rank sent before it failed or left have come before the news of that.
    if (ending) return ending;
    if (++idle % kNewsEvery == 0) hear_news();
    ending = this->failure();
    if (ending) continue;
    if (idle % kNewsEvery == 0) {
      if (Failure failure = late(wait, begin_ns)) return failure;
      ending = lost_rank(wait.awaits());
    }
    if (idle < kYields) {
      std::this_thread::yield();
    } else {
      usleep(kPauseUs);
    }
  }
}

Failure MpiRanks::lost_rank(const std::vector<uint32_t>& awaited) const {
  const std::lock_guard lock(mutex_);
  for (const uint32_t each : awaited) {
    if (each >= has_left_.size() || !has_left_[each]) continue;
    return make_failure(FailureKind::kLostRank,
                        "rank %u has left the communicator, and rank %u waits for it", each,
                        rank());
  }
  return {};
}

Failure MpiRanks::late(const Wait& wait, uint64_t begin_ns) const {
  if (now_ns() - begin_ns < timeout_ns_) return {};
  const std::vector<uint32_t> awaited = wait.awaits();
  const bool is_known = !awaited.empty() && awaited[0] < ranks();
  const std::string whom = is_known ? "rank " + std::to_string(awaited[0]) : "another rank";
  return make_failure(FailureKind::kTimeout, "rank %u called %s %g s ago, but %s did not call it",
                      rank(), wait.describe().c_str(), seconds(timeout_ns_), whom.c_str());
}

Failure MpiRanks::finish(std::span<Transfer> transfers,
                         const std::function<std::string()>& describe) {
  const auto move = [&](bool* has_moved, bool* is_over) -> Failure {
    *is_over = true;
    for (Transfer& each : transfers) {
      if (each.is_over) continue;
      if (Failure failure = test(&each)) return failure;
      *has_moved |= each.is_over;
      *is_over &= each.is_over;
    }
    return {};
  };
  const auto awaits = [&] {
    std::vector<uint32_t> found;
    for (const Transfer& each : transfers) {
      if (!each.is_over) found.push_back(each.peer);
    }
    return found;
  };
  Failure failure = wait({move, awaits, describe});
  if (failure) abandon(transfers);
  return failure;
}

Failure MpiRanks::exchange(const NoticeData& own, const char* call, std::vector<NoticeData>* out) {
  const std::lock_guard lock(exchange_mutex_);
  std::vector<NoticeData> data(ranks() + 1);
  data[ranks()] = data[rank()] = own;
  std::vector<Transfer> transfers;
  Failure failure;
  for (uint32_t i = 0; i < ranks() && !failure; ++i) {
    if (i == rank()) continue;
    Transfer in, sent;
    failure = begin_receive(i, MpiTag::kExchange, &data[i], sizeof data[i], &in);
    if (!failure) {
      failure = begin_send(i, MpiTag::kExchange, &data[ranks()], sizeof own, &sent);
    }
    transfers.insert(transfers.end(), {in, sent});
  }
  if (!failure) failure = finish(transfers, [call] { return std::string(call); });
  if (failure) {
    abandon(transfers);
    keep_for_ever(std::move(data));
    fail(failure);
    return failure;
  }
  data.pop_back();
  *out = std::move(data);
  return {};
}

Failure MpiRanks::publish(uint64_t, const NoticeData&) {
  return make_failure(FailureKind::kArgument, "communicators of MPI neither shrink nor grow");
}

Failure MpiRanks::find(uint64_t key, uint32_t, const char*, NoticeData* out) {
  return publish(key, *out);
}

}  // namespace km::comm
