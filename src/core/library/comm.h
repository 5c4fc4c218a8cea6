// Communicators, and the operations that calls queue on them.
#pragma once

#include <array>
#include <mutex>
#include <span>
#include <vector>

#include "core/blas/blas.h"
#include "core/object/callback.h"

namespace km {

/// The backend's communicator, which captured operations keep. It does not refer to streams, as
/// BlasEngine does not.
class CommEngine final : public ContextChild {
 public:
  /// Joins as a rank; waits for the others.
  static Result<Ref<CommEngine>> create(Context& context, const km_comm_id& id, uint32_t rank_count,
                                        uint32_t rank, const MayBlock& may_block);
  /// Null for a negative color.
  Result<Ref<CommEngine>> split(int32_t color, int32_t key, const MayBlock& may_block);

  kmb_comm* native() const { return native_; }
  const km_comm_info& info() const { return info_; }
  /// The communicator's failure.
  Status status() const;
  /// Ends the operations of all ranks.
  void cancel() const { backend().comm_abort(native_); }

 private:
  explicit CommEngine(Context& context) : ContextChild(context) {}
  ~CommEngine() override;
  void take(kmb_comm* native);

  kmb_comm* native_ = nullptr;
  km_comm_info info_{};
};

/// Makes the name of a communicator for devices of this backend.
Result<km_comm_id> make_comm_id(Context& context);

/// A communicator as the program holds it.
class Comm final : public ContextChild {
 public:
  explicit Comm(Ref<CommEngine> engine)
      : ContextChild(engine->context()), engine_(std::move(engine)) {}
  CommEngine& engine() const { return *engine_; }

  /// Held while operations are queued, so that they have one order in all streams.
  std::mutex& order_mutex() { return order_mutex_; }
  /// Makes the stream wait for the operations before, which may be in another one.
  Status order_in(Stream& stream);
  /// Notes the latest operation.
  void note(Stream& stream, uint64_t ticket);

 private:
  const Ref<CommEngine> engine_;
  std::mutex order_mutex_;  // guards the members below
  Ref<Stream> last_stream_;
  uint64_t last_ticket_ = 0;
};

/// An operation with its checked arrays, which may wait for the end of a group.
struct CommRequest {
  const char* name = "";  // of the function; static lifetime
  Ref<Comm> comm;
  Ref<Stream> stream;
  kmb_comm_operation operation{};
  std::array<BlasOperand, 2> operands;
  std::array<Ref<Memory>, 2> memories;  // of the operands
  uint32_t operand_count = 0;
};

/// Operations that one call of the backend begins together, and what keeps their communicators.
class CommBatch final : public ContextChild {
 public:
  CommBatch(Context& context, std::span<const CommRequest> requests);
  std::span<const kmb_comm_operation> operations() const { return operations_; }

 private:
  std::vector<kmb_comm_operation> operations_;
  std::vector<Ref<CommEngine>> engines_;
};

}  // namespace km
