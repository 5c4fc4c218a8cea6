#include "comm/group/communicator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/env.h"
#include "base/hash.h"
#include "base/log.h"
#include "comm/group/local_group.h"
#include "comm/group/shared_engine.h"
#include "comm/mpi/mpi_engine.h"

namespace km::comm {
namespace {

constexpr uint64_t kGrowKey = uint64_t{1} << 63;

Failure read_timeout(uint64_t* out_ns) {
  const Result<uint64_t> seconds = env_comm_timeout_s();
  if (!seconds) return make_failure(FailureKind::kArgument, "%s", seconds.error().message.c_str());
  *out_ns = *seconds * 1'000'000'000U;
  return {};
}

template <class T>
NoticeData notice_of(const T& value) {
  static_assert(sizeof(T) <= kNoticeBytes);
  NoticeData data{};
  std::memcpy(data.data(), &value, sizeof value);
  return data;
}
template <class T>
T read_notice(const NoticeData& data) {
  T value;
  std::memcpy(&value, data.data(), sizeof value);
  return value;
}

struct SplitRequest {
  int32_t color, key;
};

/// The ranks of a color, in the order of keys.
std::vector<uint32_t> ranks_of(const std::vector<NoticeData>& requests, int color) {
  std::vector<std::pair<int32_t, uint32_t>> found;
  for (uint32_t i = 0; i < requests.size(); ++i) {
    const auto request = read_notice<SplitRequest>(requests[i]);
    if (request.color == color) found.emplace_back(request.key, i);
  }
  std::sort(found.begin(), found.end());
  std::vector<uint32_t> ranks;
  for (const auto& [key, rank] : found) ranks.push_back(rank);
  return ranks;
}

/// Makes a failure the communicator's, and tells the user of it.
void fail_all(Ranks& ranks, const Failure& failure) {
  const bool is_first = !ranks.failure();
  ranks.fail(failure);
  if (!is_first || failure.kind == FailureKind::kAborted) return;
  log(LogLevel::kError, "comm", "%s", ranks.failure().text.c_str());
}

uint32_t place_in(const std::vector<uint32_t>& ranks, uint32_t rank) {
  return static_cast<uint32_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

}  // namespace

Failure make_communicator_id(UniqueId* out) {
  const std::string kind = env(EnvVar::KM_COMM).value_or("auto");
  if (kind == "mpi") return MpiRanks::make_mpi_id(out);
  if (kind == "auto" || kind.empty()) return make_unique_id(out);
  return make_failure(FailureKind::kArgument, "KM_COMM is \"%s\"; it can be auto or mpi",
                      kind.c_str());
}

Failure Communicator::join(const UniqueId& id, const Place& place,
                           std::shared_ptr<Communicator>* out) {
  if (place.ranks == 0 || place.ranks > kMostRanks || place.rank >= place.ranks) {
    return make_failure(FailureKind::kArgument, "there is no rank %d of %d ranks",
                        static_cast<int>(place.rank), static_cast<int>(place.ranks));
  }
  uint64_t timeout_ns = 0;
  if (Failure failure = read_timeout(&timeout_ns)) return failure;
  return MpiRanks::is_mpi_id(id) ? join_mpi(id, place, timeout_ns, out)
                                 : join_here(id, place, timeout_ns, out);
}

Failure Communicator::join_mpi(const UniqueId& id, const Place& place, uint64_t timeout_ns,
                               std::shared_ptr<Communicator>* out) {
  std::shared_ptr<MpiRanks> ranks;
  Failure failure = MpiRanks::join(id, {place.ranks, place.rank, place.device}, timeout_ns, &ranks);
  if (failure) return failure;
  std::shared_ptr<Communicator> made(new Communicator(ranks));
  made->connection_ = Connection::kMpi;
  made->library_ = ranks->library().about();
  made->engine_ =
      make_mpi_engine(ranks, [ranks](const Failure& failed) { fail_all(*ranks, failed); });
  if (Failure started = made->require_engine()) return started;
  *out = std::move(made);
  return {};
}

Failure Communicator::join_here(const UniqueId& id, const Place& place, uint64_t timeout_ns,
                                std::shared_ptr<Communicator>* out) {
  std::unique_ptr<Membership> joined;
  Failure failure =
      Membership::join(id, place.ranks, place.rank, place.device, timeout_ns, &joined);
  if (failure) return failure;
  const std::shared_ptr<Membership> membership(std::move(joined));
  std::shared_ptr<Communicator> made(new Communicator(membership));
  if (Failure started = made->start_engine(id, membership)) return started;
  *out = std::move(made);
  return {};
}

Failure Communicator::require_engine() const {
  if (engine_ != nullptr) return {};
  return make_failure(FailureKind::kSystem,
                      "the system has no thread for rank %u: raise the limit "
                      "on processes (ulimit -u)",
                      rank());
}

Failure Communicator::start_engine(const UniqueId& id,
                                   const std::shared_ptr<Membership>& membership) {
  // Failures are told to the membership, since engines outlive their communicators.
  const auto fail = [membership](const Failure& failure) { fail_all(*membership, failure); };
  if (membership->is_in_one_process()) {
    // Every rank looks its group up before the first one can leave.
    auto group = LocalGroup::of(id, ranks(), membership->timeout_ns());
    if (Failure failure = meet("start of the communicator")) return failure;
    engine_ = make_local_engine(group, rank(), [fail, group](const Failure& failure) {
      fail(failure);
      group->stop();
    });
    return {};
  }
  connection_ = Connection::kSharedMemory;
  engine_ = make_shared_engine(membership, fail);
  return require_engine();
}

Communicator::~Communicator() = default;

bool Communicator::post(std::span<const Operation> operations, Poster poster, Resume resume,
                        void* data) {
  const auto batch = std::make_shared<Batch>(operations, resume, data);
  engine_->post(batch, poster);
  return batch->end_posting();
}

void Communicator::leave(std::shared_ptr<Communicator> last) {
  const std::function<void()> wait = last->engine_->departure();
  last.reset();
  wait();
}

void Communicator::fail(const Failure& failure) {
  fail_all(*ranks_, failure);
  if (engine_ != nullptr) engine_->stop();
}

Failure Communicator::meet(const char* call) {
  std::vector<NoticeData> ignored;
  return exchange({}, call, &ignored);
}

Failure Communicator::split(int color, int key, std::shared_ptr<Communicator>* out) {
  out->reset();
  std::vector<NoticeData> requests, ids;
  if (Failure failure = exchange(notice_of(SplitRequest{color, key}), "split", &requests)) {
    return failure;
  }
  const std::vector<uint32_t> members =
      color < 0 ? std::vector<uint32_t>{} : ranks_of(requests, color);
  UniqueId id{};
  if (!members.empty() && members[0] == rank()) {
    if (Failure failure = ranks_->make_id(&id)) return failure;
  }
  if (Failure failure = exchange(notice_of(id), "split", &ids)) return failure;
  if (members.empty()) return {};
  const Place place = {static_cast<uint32_t>(members.size()), place_in(members, rank()), device()};
  return join(read_notice<UniqueId>(ids[members[0]]), place, out);
}

Failure Communicator::shrink(std::span<const uint32_t> excluded,
                             std::shared_ptr<Communicator>* out) {
  std::vector<uint32_t> members;
  for (const uint32_t each : excluded) {
    if (each < ranks()) continue;
    return make_failure(FailureKind::kArgument, "there is no rank %d of %d ranks to exclude",
                        static_cast<int>(each), static_cast<int>(ranks()));
  }
  for (uint32_t i = 0; i < ranks(); ++i) {
    if (std::find(excluded.begin(), excluded.end(), i) == excluded.end()) members.push_back(i);
  }
  if (place_in(members, rank()) == members.size()) {
    return make_failure(FailureKind::kArgument, "rank %u is in its own list of excluded ranks",
                        rank());
  }
  // Ranks may shrink to one set of ranks several times.
  uint64_t key = hash64(members.data(), members.size() * sizeof members[0]) & ~kGrowKey;
  {
    const std::lock_guard lock(count_mutex_);
    auto found = std::find_if(shrinks_.begin(), shrinks_.end(),
                              [&](const auto& each) { return each.first == key; });
    if (found == shrinks_.end()) found = shrinks_.insert(found, {key, 0});
    key = (key + ++found->second) & ~kGrowKey;
  }
  UniqueId id{};
  if (members[0] == rank()) {
    if (Failure failure = ranks_->make_id(&id)) return failure;
    if (Failure failure = ranks_->publish(key, notice_of(id))) return failure;
  } else {
    NoticeData data;
    if (Failure failure = ranks_->find(key, members[0], "shrink", &data)) return failure;
    id = read_notice<UniqueId>(data);
  }
  const Place place = {static_cast<uint32_t>(members.size()), place_in(members, rank()), device()};
  return join(id, place, out);
}

Failure Communicator::grow(uint32_t ranks, const UniqueId* id, std::shared_ptr<Communicator>* out) {
  uint64_t key = 0;
  {
    const std::lock_guard lock(count_mutex_);
    key = kGrowKey | ++grows_;
  }
  UniqueId known{};
  if (id != nullptr) {
    known = *id;
    if (Failure failure = ranks_->publish(key, notice_of(known))) return failure;
  } else {
    NoticeData data;
    if (Failure failure = ranks_->find(key, Ranks::kAnyRank, "grow", &data)) {
      return failure;
    }
    known = read_notice<UniqueId>(data);
  }
  return join(known, {ranks, rank(), device()}, out);
}

}  // namespace km::comm
