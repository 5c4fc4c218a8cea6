// A rank's handle of a communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "comm/engine/engine.h"
#include "comm/segment/membership.h"

namespace km::comm {

/// Makes an id for a communicator of what KM_COMM asks for.
Failure make_communicator_id(UniqueId* out);

class Communicator {
 public:
  struct Place {
    uint32_t ranks, rank;
    int32_t device;
  };
  /// Joins, and waits for the other ranks. KM_COMM_TIMEOUT_S limits that wait and later ones.
  static Failure join(const UniqueId& id, const Place& place, std::shared_ptr<Communicator>* out);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  uint32_t rank() const { return ranks_->rank(); }
  uint32_t ranks() const { return ranks_->ranks(); }
  int32_t device() const { return ranks_->device(); }
  /// The way in which the ranks are connected.
  enum class Connection { kThreads, kSharedMemory, kMpi };
  Connection connection() const { return connection_; }
  /// The library that connects them, for messages; empty if none does.
  const std::string& library() const { return library_; }

  /// True if post() of the operations takes a moment.
  bool begins_at_once(std::span<const Operation> operations) const {
    return engine_->begins_at_once(operations);
  }
  /// Begins operations, which stay where they are until they are over. Returns true if they are
  /// over; otherwise resume(data) is called once when they are. After a failure of the communicator
  /// all operations are over at once.
  bool post(std::span<const Operation> operations, Poster poster, Resume resume, void* data);

  /// The communicator's failure, which all ranks share.
  Failure failure() const { return ranks_->failure(); }
  /// Ends all operations of all ranks by this failure.
  void fail(const Failure& failure);

  /// Gives up a reference. Queued operations keep theirs; if MPI connects the ranks, they have up
  /// to two seconds to end, since the program may end MPI after that.
  static void leave(std::shared_ptr<Communicator> last);

  /// Joins the communicator of the ranks with the same color, in the order of their keys; null for
  /// a negative color. All ranks call it.
  Failure split(int color, int key, std::shared_ptr<Communicator>* out);
  /// Joins the communicator of all ranks but those in the list, which do not call it.
  Failure shrink(std::span<const uint32_t> excluded, std::shared_ptr<Communicator>* out);
  /// Joins a larger communicator, in which this one's ranks are the first. One rank gives the id;
  /// new ranks join by it.
  Failure grow(uint32_t ranks, const UniqueId* id, std::shared_ptr<Communicator>* out);
  /// Waits for all ranks.
  Failure meet(const char* call);
  /// Gives each rank the data of all.
  Failure exchange(const NoticeData& own, const char* call, std::vector<NoticeData>* out) {
    return ranks_->exchange(own, call, out);
  }

 private:
  explicit Communicator(std::shared_ptr<Ranks> ranks) : ranks_(std::move(ranks)) {}
  static Failure join_mpi(const UniqueId& id, const Place& place, uint64_t timeout_ns,
                          std::shared_ptr<Communicator>* out);
  static Failure join_here(const UniqueId& id, const Place& place, uint64_t timeout_ns,
                           std::shared_ptr<Communicator>* out);
  Failure start_engine(const UniqueId& id, const std::shared_ptr<Membership>& membership);
  Failure require_engine() const;

  const std::shared_ptr<Ranks> ranks_;
  Connection connection_ = Connection::kThreads;
  std::string library_;
  std::unique_ptr<Engine> engine_;
  std::mutex count_mutex_;
  std::vector<std::pair<uint64_t, uint64_t>> shrinks_;  // lists of excluded ranks, and their counts
  uint64_t grows_ = 0;
};

}  // namespace km::comm
