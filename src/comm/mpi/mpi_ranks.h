// Ranks that are processes of MPI, one in each, and messages among them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "comm/mpi/library.h"
#include "comm/mpi/mpi_start.h"
#include "comm/segment/ranks.h"

namespace km::comm {

/// A message on its way, whose bytes stay in place until it is over.
struct Transfer {
  uint32_t peer = 0;
  MpiLibrary::Handle request = 0;
  bool is_over = true;
};

/// Tags of messages; those of one tag and pair arrive in order.
enum class MpiTag : int { kCollective = 1, kMessage = 2, kExchange = 3, kNews = 4 };

/// Keeps bytes that MPI may still read or write.
template <class T>
void keep_for_ever(T&& bytes) {
  static_cast<void>(std::make_unique<std::decay_t<T>>(std::forward<T>(bytes)).release());
}

class MpiRanks final : public Ranks {
 public:
  /// Makes an id, whose process is one of the communicator's.
  static Failure make_mpi_id(UniqueId* out);
  static bool is_mpi_id(const UniqueId& id);
  struct Place {
    uint32_t ranks, rank;
    int32_t device;
  };
  static Failure join(const UniqueId& id, const Place& place, uint64_t timeout_ns,
                      std::shared_ptr<MpiRanks>* out);
  ~MpiRanks() override;

  uint32_t rank() const override { return place_.rank; }
  uint32_t ranks() const override { return place_.ranks; }
  int32_t device() const override { return place_.device; }
  uint64_t timeout_ns() const { return timeout_ns_; }
  const MpiLibrary& library() const { return library_; }
  Failure make_id(UniqueId* out) const override { return make_mpi_id(out); }

  Failure failure() const override;
  void fail(const Failure& failure) override;
  Failure exchange(const NoticeData& own, const char* call, std::vector<NoticeData>* out) override;
  Failure publish(uint64_t key, const NoticeData& data) override;
  Failure find(uint64_t key, uint32_t rank, const char* call, NoticeData* out) override;

  Failure begin_send(uint32_t to, MpiTag tag, const void* data, uint64_t size_bytes, Transfer* out);
  Failure begin_receive(uint32_t from, MpiTag tag, void* data, uint64_t size_bytes, Transfer* out);
  /// Sees if the message is over.
  Failure test(Transfer* transfer);
  /// Gives messages up, after a failure. Their bytes have to stay in place for ever.
  void abandon(std::span<Transfer> transfers);
  /// Calls `move`, which tests what it waits for and says if anything has changed, until it sets
  /// `is_over`. Ends with a failure of the communicator, if ranks that `awaits()` lists have left,
  /// or after the time limit. `describe()` is the call in messages.
  struct Wait {
    std::function<Failure(bool* has_moved, bool* is_over)> move;
    std::function<std::vector<uint32_t>()> awaits;
    std::function<std::string()> describe;
  };
  Failure wait(const Wait& wait);
  /// Waits for all messages of a call.
  Failure finish(std::span<Transfer> transfers, const std::function<std::string()>& describe);
  /// Hears failures and departures of other ranks.
  void hear_news();

 private:
  struct News {
    uint64_t nonce;
    FailureKind kind;  // kNone: the rank has left
    uint32_t rank;
    char text[500];
  };
  MpiRanks(const MpiLibrary& library, const Place& place, uint64_t timeout_ns)
      : library_(library),
        place_(place),
        timeout_ns_(timeout_ns),
        comm_(library.constants().comm_world) {
    library_.add_user(1);
  }
  Failure connect(const UniqueId& id);
  Failure start(const UniqueId& id);
  Failure gather_places(MpiAnswer* out);
  Failure gather_report(const MpiReports::Receiving& receiving, MpiReport* out);
  Failure answer(const MpiReport& report, const MpiAnswer& places);
  Failure tell_place(const UniqueId& id, MpiAnswer* out);
  bool note_failure(const Failure& failure);
  Failure listen();
  void tell(const News& news);
  void take_news();
  void leave();
  Failure lost_rank(const std::vector<uint32_t>& awaited) const;
  Failure late(const Wait& wait, uint64_t begin_ns) const;

  const MpiLibrary& library_;
  const Place place_;
  const uint64_t timeout_ns_;
  uint64_t nonce_ = 0;
  MpiLibrary::Handle comm_ = 0;  // at first the world's
  std::mutex exchange_mutex_;
  mutable std::mutex mutex_;  // guards the members below
  Failure failure_;
  std::atomic<bool> has_failed_{false};
  std::vector<bool> has_left_;
  News heard_{};
  Transfer hearing_;
};

}  // namespace km::comm
