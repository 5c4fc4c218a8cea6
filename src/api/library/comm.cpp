// Communicators.
#include "core/library/comm.h"

#include <atomic>
#include <new>
#include <system_error>
#include <thread>

#include "api/guard.h"
#include "api/library/comm_request.h"
#include "api/output.h"
#include "backend/comm_calls.h"

using namespace km;

namespace {

// Each rank maps 128 KiB for each pair of ranks: of more in one process the addresses run out.
constexpr uint64_t kMostOwnRanks = 512;

Status check_place(uint32_t rank_count, uint32_t rank) {
  if (rank_count == 0 || rank_count > kMostCommRanks) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "rank_count is %u; it can be 1 to %u", rank_count,
                      kMostCommRanks);
  }
  if (rank < rank_count) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "rank is %u; %u ranks are 0 to %u", rank, rank_count,
                    rank_count - 1);
}

Status take_contexts(Call& call, const km_context* contexts, uint64_t count,
                     std::vector<Context*>* out) {
  for (uint64_t i = 0; i < count; ++i) {
    Context* const found = call.get(contexts[i], "contexts");
    if (found == nullptr) return call.take_error();
    if (!out->empty() && &found->backend() != &(*out)[0]->backend()) {
      return make_error(KM_ERROR_CONTEXT_MISMATCH, "rank 0 has device %s, rank %u has %s",
                        (*out)[0]->device().info().uri, static_cast<unsigned>(i),
                        found->device().info().uri);
    }
    KM_TRY(found->sticky());  // else the other ranks would wait for this one
    out->push_back(found);
  }
  return {};
}

/// Joins all ranks, each on a thread of its own, since each waits for the others.
Result<std::vector<Ref<CommEngine>>> join_all(const std::vector<Context*>& contexts,
                                              const km_comm_id& id, const MayBlock& may_block) {
  const auto count = static_cast<uint32_t>(contexts.size());
  std::vector<Ref<CommEngine>> engines(count);
  std::vector<Status> results(count);
  const auto join = [&](uint32_t rank) {
    try {
      Result<Ref<CommEngine>> made =
          CommEngine::create(*contexts[rank], id, count, rank, may_block);
      if (made) engines[rank] = std::move(*made);
      if (!made) results[rank] = made.error();
    } catch (const std::bad_alloc&) {
      results[rank] = Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0};
    }
  };
  // No rank joins before all have threads: it would wait for those that have none.
  std::atomic<int> gate = 0;  // 1: all join, 2: none does
  const auto body = [&](uint32_t rank) {
    gate.wait(0);
    if (gate.load() == 1) join(rank);
  };
  std::vector<std::thread> threads;
  threads.reserve(count);
  Status started;
  for (uint32_t i = 1; i < count && started; ++i) {
    try {
      threads.emplace_back(body, i);
    } catch (const std::system_error&) {
      started = make_error(KM_ERROR_IO,
                           "the system has no thread for rank %u: raise the limit on processes "
                           "(ulimit -u)",
                           i);
    }
  }
  gate = started ? 1 : 2;
  gate.notify_all();
  if (started) join(0);
  for (std::thread& each : threads) each.join();
  KM_TRY(std::move(started));
  for (Status& each : results) KM_TRY(std::move(each));
  return engines;
}

}  // namespace

km_status km_comm_id_create(km_context context, km_comm_id* out_id) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_id);
    KM_ASSIGN(*out_id, make_comm_id(*target));
    return {};
  });
}

km_status km_comm_create(km_context context, const km_comm_id* id, uint32_t rank_count,
                         uint32_t rank, km_comm* out_comm) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(id);
    KM_REQUIRE(out_comm);
    KM_TRY(check_place(rank_count, rank));
    KM_ASSIGN(const MayBlock may_block, require_may_block());
    KM_ASSIGN(Ref<CommEngine> engine,
              CommEngine::create(*target, *id, rank_count, rank, may_block));
    return give_handle(make_ref<Comm>(std::move(engine)), out_comm);
  });
}

km_status km_comm_create_all(const km_context* contexts, uint64_t count,
                             km_comm* out_comms) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_REQUIRE(contexts);
    KM_REQUIRE(out_comms);
    if (count == 0 || count > kMostOwnRanks) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "count is %llu; it can be 1 to %u",
                        static_cast<unsigned long long>(count),
                        static_cast<uint32_t>(kMostOwnRanks));
    }
    std::vector<Context*> targets;
    KM_TRY(take_contexts(call, contexts, count, &targets));
    KM_ASSIGN(const MayBlock may_block, require_may_block());
    KM_ASSIGN(const km_comm_id id, make_comm_id(*targets[0]));
    KM_ASSIGN(std::vector<Ref<CommEngine>> engines, join_all(targets, id, may_block));
    std::vector<km_comm> made(count);
    for (uint64_t i = 0; i < count; ++i) {
      Status given = give_handle(make_ref<Comm>(std::move(engines[i])), &made[i]);
      if (given) continue;
      while (i-- > 0) static_cast<void>(destroy_handle(made[i], "out_comms"));
      return given;
    }
    std::copy(made.begin(), made.end(), out_comms);
    return {};
  });
}

km_status km_comm_split(km_comm comm, int32_t color, int32_t key, km_comm* out_comm) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, comm);
    KM_REQUIRE(out_comm);
    KM_ASSIGN(const MayBlock may_block, require_may_block());
    KM_TRY(target->context().sticky());
    KM_ASSIGN(Ref<CommEngine> engine, target->engine().split(color, key, may_block));
    if (engine) return give_handle(make_ref<Comm>(std::move(engine)), out_comm);
    *out_comm = nullptr;
    return {};
  });
}

km_status km_comm_destroy(km_comm comm) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(comm, "comm"); });
}

km_status km_comm_abort(km_comm comm) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, comm);
    target->engine().cancel();
    return {};
  });
}

km_status km_comm_status(km_comm comm) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, comm);
    return target->engine().status();
  });
}

km_status km_comm_info_get(km_comm comm, km_comm_info* out_info) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, comm);
    KM_REQUIRE(out_info);
    return give_struct(target->engine().info(), out_info, "out_info");
  });
}

km_status km_comm_group_begin() noexcept {
  return guard(__func__, [&](Call&) { return begin_comm_group(); });
}

km_status km_comm_group_end() noexcept {
  return guard(__func__, [&](Call&) { return end_comm_group(); });
}
