// A rank's handle of a communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "comm/group/engine.h"
#include "comm/segment/membership.h"

namespace km::comm {

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

  uint32_t rank() const { return membership_->rank(); }
  uint32_t ranks() const { return membership_->ranks(); }
  int32_t device() const { return membership_->device_of(rank()); }
  bool is_in_one_process() const { return membership_->is_in_one_process(); }

  /// Begins operations. Returns true if they are over; otherwise resume(data) is called once when
  /// they are. After a failure of the communicator all operations are over at once.
  bool post(std::span<const Operation> operations, Resume resume, void* data);

  /// The communicator's failure, which all ranks share.
  Failure failure() const { return membership_->failure(); }
  /// Ends all operations of all ranks by this failure.
  void fail(const Failure& failure);

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
    return membership_->exchange(own, call, out);
  }

 private:
  explicit Communicator(std::shared_ptr<Membership> membership)
      : membership_(std::move(membership)) {}
  Failure start_engine(const UniqueId& id);

  const std::shared_ptr<Membership> membership_;
  std::unique_ptr<Engine> engine_;
  std::mutex count_mutex_;
  std::vector<std::pair<uint64_t, uint64_t>> shrinks_;  // lists of excluded ranks, and their counts
  uint64_t grows_ = 0;
};

}  // namespace km::comm
