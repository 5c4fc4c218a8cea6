// Communicators of NCCL, and groups of calls for several streams.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "backends/cuda/context/profile.h"
#include "backends/cuda/driver/nccl.h"
#include "backends/cuda/library/library.h"
#include "backends/cuda/stream/stream.h"

namespace km::cuda {

/// A rank's communicator. Graphs share it.
class Comm : public std::enable_shared_from_this<Comm> {
 public:
  Comm(std::shared_ptr<Epoch> epoch, const Nccl& library)
      : epoch_(std::move(epoch)), library_(library) {}
  /// Nothing may use the communicator any more.
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  /// Joins as a rank; waits for the others. The context must be current.
  Status join(const km_comm_id& id, uint32_t rank_count, uint32_t rank);
  /// Null for a negative color.
  Result<std::shared_ptr<Comm>> split(int32_t color, int32_t key);
  /// Makes the open group of NCCL one that its end drops, with all operations that it has.
  void spoil_group();
  /// Queues one operation, in an open group of NCCL. The context must be current.
  Status queue(const LibraryTarget& target, const kmb_comm_operation& operation);
  /// Ends this rank's operations, and a split that another thread waits in.
  void cancel();
  Status status();
  void describe(km_comm_info* out_info) const;
  /// The last queued operation, captured ones aside; without a stream before the first one.
  kmb_use last_use();
  const Nccl& library() const { return library_; }

  /// The reference that keeps the object alive until the backend destroys it.
  std::shared_ptr<Comm> self;

 private:
  Status check(const char* function, nccl_library::Status status) const;
  Status require_whole() const;
  Result<std::unique_lock<std::mutex>> lock_unused();
  Status queue_reduction(const LibraryTarget& target, const kmb_comm_operation& operation);
  Status reduce(const LibraryTarget& target, const kmb_comm_operation& operation,
                nccl_library::Reduction reduction);
  Status send(const LibraryTarget& target, const kmb_comm_operation& operation, uint64_t place,
              uint32_t to);
  Status receive(const LibraryTarget& target, const kmb_comm_operation& operation, uint64_t place,
                 uint32_t from);
  Status exchange_blocks(const LibraryTarget& target, const kmb_comm_operation& operation);

  const std::shared_ptr<Epoch> epoch_;
  const Nccl& library_;
  uint32_t rank_ = 0, rank_count_ = 0;
  std::mutex mutex_;  // guards the members below, and NCCL's object
  nccl_library::Comm handle_ = nullptr;
  bool is_aborted_ = false;
  // NCCL's object has one user at a time, but abort has to reach it while a split waits for ranks.
  bool is_splitting_ = false;
  std::condition_variable changed_;
  std::shared_ptr<Stream> last_stream_;
  uint64_t last_ticket_ = 0;
};
inline Comm* from(kmb_comm* comm) { return reinterpret_cast<Comm*>(comm); }

/// A group of NCCL on this thread: its operations begin together, or none does.
class NcclGroup {
 public:
  /// `comm` is one of those that the group uses.
  static Result<NcclGroup> begin(Comm& comm);
  NcclGroup(NcclGroup&& other) noexcept : comm_(std::move(other.comm_)) {}
  NcclGroup& operator=(NcclGroup&&) = delete;
  /// Drops the operations if end() was not called.
  ~NcclGroup() { drop(); }

  /// Begins the operations, unless a group around this one does it.
  Status end();
  void drop();

 private:
  explicit NcclGroup(std::shared_ptr<Comm> comm) : comm_(std::move(comm)) {}
  std::shared_ptr<Comm> comm_;  // null: ended
};

/// The calls of one thread for several streams, whose work NCCL queues at the end.
class CommGroup {
 public:
  /// The calling thread's open group, or null.
  static CommGroup* open();
  static void begin();
  /// Ends the thread's group.
  static Status end(bool is_cancelled);

  /// Begins the group of NCCL, if this is the first call, and keeps the stream's tickets. `call` is
  /// the call's name, of static lifetime.
  Status add(Stream& stream, const char* call, Comm& comm);
  /// Keeps memory and the profile's record of a call of the stream to the end.
  void keep(Stream& stream, std::vector<std::unique_ptr<Memory>> scratch,
            std::unique_ptr<ProfiledOperation> operation);

 private:
  struct Call {
    std::shared_ptr<Stream> stream;
    std::vector<std::unique_ptr<Memory>> scratch;
    std::unique_ptr<ProfiledOperation> operation;
  };
  Status finish(bool is_cancelled);

  std::optional<NcclGroup> group_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::vector<Call> calls_;
};

Status queue_comm(const LibraryTarget& target, const char* name, const kmb_comm_call& call);

}  // namespace km::cuda
