// Starts and ends of communicators.
#include <cstring>
#include <utility>

#include "dropin/nccl/group/group.h"

using namespace km;
using namespace km::nccl;

namespace {

comm::UniqueId read_id(const ncclUniqueId& id) {
  static_assert(sizeof(comm::UniqueId) == sizeof(ncclUniqueId));
  comm::UniqueId read;
  std::memcpy(&read, &id, sizeof read);
  return read;
}

ncclResult_t give_id(const comm::UniqueId& id, ncclUniqueId* out) {
  ncclUniqueId made;
  std::memcpy(&made, &id, sizeof made);
  return give("uniqueId", out, made);
}

/// Makes the handle of a start, and begins it.
template <class Make>
ncclResult_t start_with_handle(ncclComm_t* out, const RankDevice& device, bool is_blocking,
                               Make make) {
  const auto handle = std::make_shared<Handle>(device, is_blocking);
  const ncclComm_t id = add_handle(handle);
  if (const ncclResult_t given = give("comm", out, id); given != ncclSuccess) {
    remove_handle(id);
    return given;
  }
  const ncclResult_t result = start(Start{handle, std::move(make)});
  if (result == ncclSuccess || result == ncclInProgress) return result;
  remove_handle(id);
  give("comm", out, ncclComm_t{});
  return result;
}

ncclResult_t join(ncclComm_t* out, int ranks, const comm::UniqueId& id, int rank,
                  const RankDevice& device, const ncclConfig_t* config) {
  bool is_blocking = true;
  LIB_TRY(read_config(config, &is_blocking));
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    return invalid("there is no rank %d of %d ranks", rank, ranks);
  }
  const comm::Communicator::Place place = {static_cast<uint32_t>(ranks),
                                           static_cast<uint32_t>(rank), device.ordinal};
  return start_with_handle(out, device, is_blocking, [id, place](auto* made) {
    return comm::Communicator::join(id, place, made);
  });
}

ncclResult_t join_here(ncclComm_t* out, int ranks, const ncclUniqueId& id, int rank,
                       const ncclConfig_t* config) {
  RankDevice device;
  LIB_TRY(current_device(&device));
  return join(out, ranks, read_id(id), rank, device, config);
}

/// Starts a communicator from another one, whose device it has.
template <class Make>
ncclResult_t derive(ncclComm_t comm, ncclComm_t* out, const ncclConfig_t* config,
                    bool may_have_failed, Make make) {
  const SharedHandle parent = find_handle(comm);
  if (parent == nullptr) return ncclInvalidArgument;
  bool is_blocking = parent->is_blocking();
  if (config != nullptr) LIB_TRY(read_config(config, &is_blocking));
  std::shared_ptr<comm::Communicator> from = parent->peek();
  if (!may_have_failed || from == nullptr) LIB_TRY(parent->get(&from));
  return start_with_handle(out, parent->device(), is_blocking,
                           [from, make](auto* made) { return make(*from, made); });
}

/// Retains the primary contexts of devices, one for each rank; those of the process stay.
ncclResult_t find_devices(int count, const int* list, std::vector<RankDevice>* out) {
  const library::Driver* const driver = library::driver();
  if (driver == nullptr) return status_of(cu::CUDA_ERROR_NOT_INITIALIZED);
  int there = 0;
  LIB_CHECK(driver->cuDeviceGetCount(&there));
  for (int i = 0; i < count; ++i) {
    RankDevice& each = out->emplace_back();
    each.ordinal = i;
    if (list != nullptr && !library::read_host(list + i, &each.ordinal)) {
      return invalid("devlist cannot be read at %p", static_cast<const void*>(list + i));
    }
    if (each.ordinal < 0 || each.ordinal >= there) {
      return invalid("there is no device %d: the process has %d", each.ordinal, there);
    }
    cu::CUdevice device = 0;
    LIB_CHECK(driver->cuDeviceGet(&device, each.ordinal));
    LIB_CHECK(driver->cuDevicePrimaryCtxRetain(&each.context, device));
  }
  return ncclSuccess;
}

ncclResult_t init_all(ncclComm_t* out, int count, const int* list) {
  if (count < 1) return invalid("ndev is %d: it is at least 1", count);
  std::vector<RankDevice> devices;
  LIB_TRY(find_devices(count, list, &devices));
  comm::UniqueId id;  // of threads: with MPI each process has one rank
  LIB_TRY(tell(comm::make_unique_id(&id)));
  LIB_TRY(begin_group());
  for (int i = 0; i < count; ++i) {
    note_in_group(join(out + i, count, id, i, devices[static_cast<size_t>(i)], nullptr));
  }
  return end_group();
}

ncclResult_t read_ranks(const int* list, int count, std::vector<uint32_t>* out) {
  if (count < 0) return invalid("excludeRanksCount is %d", count);
  for (int i = 0; i < count; ++i) {
    int rank = 0;
    if (list == nullptr || !library::read_host(list + i, &rank)) {
      return invalid("excludeRanksList cannot be read at %p", static_cast<const void*>(list + i));
    }
    out->push_back(static_cast<uint32_t>(rank));
  }
  return ncclSuccess;
}

/// Ends a communicator for this rank. `what`, unless it is null, says by what the rank ends it for
/// all.
ncclResult_t end(ncclComm_t comm, const char* what) {
  SharedHandle handle = remove_handle(comm);
  if (handle == nullptr) return ncclInvalidArgument;
  std::shared_ptr<comm::Communicator> communicator = handle->peek();
  if (communicator == nullptr) return ncclSuccess;
  if (what != nullptr) {
    communicator->fail(comm::make_failure(comm::FailureKind::kAborted,
                                          "rank %u has %s the communicator", communicator->rank(),
                                          what));
  }
  handle.reset();
  comm::Communicator::leave(std::move(communicator));
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(uniqueId);
    comm::UniqueId id;
    LIB_TRY(tell(comm::make_communicator_id(&id)));
    return give_id(id, uniqueId);
  });
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  return call([&] { return note_in_group(join_here(comm, nranks, commId, rank, nullptr)); });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank,
                                    ncclConfig_t* config) {
  return call([&] { return note_in_group(join_here(comm, nranks, commId, rank, config)); });
}

ncclResult_t ncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int nId,
                                      ncclUniqueId* commIds, ncclConfig_t* config) {
  return call([&]() -> ncclResult_t {
    // One id is enough on one machine.
    ncclUniqueId first;
    if (nId < 1 || commIds == nullptr || !library::read_host(commIds, &first)) {
      return invalid("no unique id can be read at %p", static_cast<void*>(commIds));
    }
    return note_in_group(join_here(newcomm, nranks, first, myrank, config));
  });
}

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(comm);
    return init_all(comm, ndev, devlist);
  });
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
                           ncclConfig_t* config) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(newcomm);
    constexpr int kNoColor = -1;
    if (color < kNoColor)
      return invalid("color is %d: it is at least 0, or NCCL_SPLIT_NOCOLOR", color);
    const auto split = [color, key](comm::Communicator& from, auto* made) {
      return from.split(color, key, made);
    };
    if (color != kNoColor) {
      return note_in_group(derive(comm, newcomm, config, false, split));
    }
    // The rank takes part, and gets no communicator.
    ncclComm_t none = nullptr;
    LIB_TRY(note_in_group(derive(comm, &none, nullptr, false, split)));
    remove_handle(none);
    return give("newcomm", newcomm, ncclComm_t{});
  });
}

ncclResult_t ncclCommShrink(ncclComm_t comm, int* excludeRanksList, int excludeRanksCount,
                            ncclComm_t* newcomm, ncclConfig_t* config, int shrinkFlags) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(newcomm);
    std::vector<uint32_t> excluded;
    LIB_TRY(read_ranks(excludeRanksList, excludeRanksCount, &excluded));
    const bool aborts = (static_cast<unsigned>(shrinkFlags) & NCCL_SHRINK_ABORT) != 0;
    return note_in_group(derive(
        comm, newcomm, config, aborts, [excluded, aborts](comm::Communicator& from, auto* made) {
          if (aborts) {
            from.fail(comm::make_failure(comm::FailureKind::kAborted,
                                         "rank %u shrinks the communicator", from.rank()));
          }
          return from.shrink(excluded, made);
        }));
  });
}

ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* uniqueId) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(uniqueId);
    const SharedHandle handle = find_handle(comm);
    if (handle == nullptr) return ncclInvalidArgument;
    const std::lock_guard lock(handle->grow_mutex);
    if (handle->grow_id) return misused("the communicator has an id that was not used");
    comm::UniqueId id;
    LIB_TRY(tell(comm::make_communicator_id(&id)));
    LIB_TRY(give_id(id, uniqueId));
    handle->grow_id = id;
    return ncclSuccess;
  });
}

ncclResult_t ncclCommGrow(ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId, int rank,
                          ncclComm_t* newcomm, ncclConfig_t* config) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(newcomm);
    ncclUniqueId id{};
    if (uniqueId != nullptr && !library::read_host(uniqueId, &id)) {
      return invalid("uniqueId cannot be read at %p", static_cast<const void*>(uniqueId));
    }
    if (comm == nullptr) {
      if (uniqueId == nullptr) return invalid("a new rank needs the unique id");
      return note_in_group(join_here(newcomm, nRanks, id, rank, config));
    }
    if (rank != -1) return invalid("rank is %d: ranks of the communicator keep theirs (-1)", rank);
    const SharedHandle handle = find_handle(comm);
    if (handle == nullptr) return ncclInvalidArgument;
    if (uniqueId != nullptr) {
      const std::lock_guard lock(handle->grow_mutex);
      handle->grow_id.reset();
    }
    const std::optional<comm::UniqueId> known =
        uniqueId == nullptr ? std::nullopt : std::optional(read_id(id));
    return note_in_group(
        derive(comm, newcomm, config, false, [known, nRanks](comm::Communicator& from, auto* made) {
          return from.grow(static_cast<uint32_t>(nRanks), known ? &*known : nullptr, made);
        }));
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return call([&]() -> ncclResult_t {
    if (comm == nullptr) return ncclSuccess;
    const SharedHandle handle = find_handle(comm);
    if (handle == nullptr) return ncclInvalidArgument;
    std::shared_ptr<comm::Communicator> communicator;
    LIB_TRY(handle->get(&communicator));
    handle->finalize();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return call([&] { return comm == nullptr ? ncclSuccess : end(comm, nullptr); });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return call([&] { return comm == nullptr ? ncclSuccess : end(comm, "aborted"); });
}

ncclResult_t ncclCommRevoke(ncclComm_t comm, int revokeFlags) {
  return call([&]() -> ncclResult_t {
    if (revokeFlags != 0) return invalid("revokeFlags is %d: it is 0", revokeFlags);
    const SharedHandle handle = find_handle(comm);
    if (handle == nullptr) return ncclInvalidArgument;
    std::shared_ptr<comm::Communicator> communicator;
    LIB_TRY(handle->get(&communicator));
    communicator->fail(comm::make_failure(
        comm::FailureKind::kAborted, "rank %u has revoked the communicator", communicator->rank()));
    return ncclSuccess;
  });
}

}  // extern "C"
