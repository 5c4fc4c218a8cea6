// StreamOrder, the checker of the order between streams: which operations come before which, and
// which of those that have no order access the same memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/cpu/order/access_history.h"
#include "backends/cpu/order/queued_operation.h"

namespace km::cpu {

/// Follows what the host does with streams, as it does it. All threads of the host count as one:
/// what one of them has waited for, all of them know. Thread-safe.
class StreamOrder : private AccessHistory::Judge {
 public:
  using Clock = std::shared_ptr<const StreamClock>;
  using Operation = std::shared_ptr<QueuedOperation>;

  StreamOrder();
  ~StreamOrder() override = default;
  /// The order of the process's streams; null if the checker does not look for it.
  static StreamOrder* active() { return active_; }
  /// Turns it on, before there is any stream.
  static void activate();

  // ---- Streams. They are numbered from 1 on as they are first used.
  uint32_t open();
  /// Queued operations are still followed.
  void close(uint32_t stream);
  /// Notes an operation, which comes after all that its stream and the host know.
  Operation queue(uint32_t stream, uint64_t ticket);
  /// The operations that the stream's next one comes after.
  Clock clock_of(uint32_t stream);
  /// The stream's next operation comes after all of these.
  void wait(uint32_t stream, const StreamClock& clock);
  /// The host knows that all of these are over.
  void wait_on_host(const StreamClock& clock);
  /// wait_on_host() of the active order; nothing if `known` is null.
  static void note_wait(const Clock& known) {
    if (known != nullptr) [[unlikely]]
      active()->wait_on_host(*known);
  }

  // ---- Operations as they run.
  /// A host function ends, which may have waited for anything that the host knows.
  void end_callback(QueuedOperation& operation);
  /// The operation writes a number that streams may wait for.
  void publish(const QueuedOperation& operation, uint64_t address);
  /// The operation has waited for a number at this address.
  void receive(QueuedOperation& operation, uint64_t address);
  /// A host function begins, or a kernel exchanges values with the host: whatever the host does
  /// from now on may follow it.
  void meet_host(const QueuedOperation& operation);
  /// Compares accesses with those of operations that are not ordered with this one.
  std::vector<StreamConflict> access(const std::shared_ptr<const AccessOrigin>& origin,
                                     std::span<PageTouches> pages);
  /// The operation is over.
  void end(const QueuedOperation& operation);

  // ---- Memory. Accesses to other memory are not followed.
  void follow(uint64_t address, uint64_t size_bytes);
  void forget(uint64_t address, uint64_t size_bytes);
  /// Memory that is followed begins a new life.
  void renew(uint64_t address, uint64_t size_bytes);
  /// The pages of a range, as far as memory that is followed lies in it.
  std::vector<PageTouches> pages_of(uint64_t address, uint64_t size_bytes, Touch touch);
  /// Takes accesses to other memory out.
  void keep_followed(std::vector<PageTouches>& pages);

 private:
  struct Stream {
    StreamClock clock;
    uint64_t last = 0;  // ticket of the last operation
    bool is_closed = false;
  };
  /// An order that an operation has learnt while it ran, for those that come after it.
  struct Lesson {
    uint32_t stream;
    uint64_t ticket;
    StreamClock clock;
  };

  bool is_ordered(const AccessOrigin& before, const AccessOrigin& now) override;
  bool is_over(const AccessOrigin& before) override;
  bool is_over(uint32_t stream, uint64_t ticket) const;
  const StreamClock& floor() const;
  void complete(StreamClock& clock) const;
  void learn(QueuedOperation& operation, const StreamClock& clock);
  void tell_host(const StreamClock& clock);
  void retire_streams();
  ByteSet followed_bytes(uint64_t page) const;

  static inline StreamOrder* active_ = nullptr;

  std::mutex mutex_;
  uint32_t last_stream_ = 0;
  uint64_t last_number_ = 0;
  std::unordered_map<uint32_t, Stream> streams_;  // without those that everybody knows to be over
  Clock host_;
  std::map<uint64_t, Clock> pending_;          // what the host knew, by number of the operation
  std::vector<Lesson> lessons_;                // in the order in which they were learnt
  std::map<uint64_t, StreamClock> published_;  // by address
  std::map<uint64_t, std::pair<uint64_t, uint32_t>> followed_;  // end and owners, by begin
  AccessHistory history_;
};

}  // namespace km::cpu
