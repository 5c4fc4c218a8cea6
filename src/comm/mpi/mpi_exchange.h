// Operations among processes of MPI. Elements are reduced rank by rank, as everywhere, so MPI
// carries bytes only; they pass through buffers of our own, which a failure leaves to MPI.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/mpi/mpi_ranks.h"
#include "comm/operation/reduce.h"

namespace km::comm {

/// Precedes the bytes of each message, so that ranks with different calls notice it.
struct MpiHeader {
  Signature call;
  uint64_t size_bytes = 0;
  uint8_t scalar[8] = {};
};

/// One rank's side of collective operations, which all ranks carry out one after the other.
class MpiExchange {
 public:
  explicit MpiExchange(MpiRanks& ranks) : ranks_(ranks), in_(ranks.ranks()) {}
  /// Carries out the operation; waits for the other ranks.
  Failure run(const Operation& operation);

 private:
  using Buffer = std::vector<uint8_t>;
  /// A piece of each block.
  struct Piece {
    uint64_t first_byte, size_bytes;
  };
  uint32_t rank() const { return ranks_.rank(); }
  bool is_root(uint32_t rank) const { return static_cast<int32_t>(rank) == operation_->call.root; }
  Failure send(uint32_t to, const uint8_t* data, uint64_t size_bytes);
  Failure expect(uint32_t from);
  Failure finish();
  Failure compare() const;
  const uint8_t* sent(uint64_t block, uint64_t byte) const;
  uint8_t* received(uint64_t block, uint64_t byte) const;
  const uint8_t* got(uint32_t from) const { return in_[from].data() + sizeof(MpiHeader); }

  bool gives_to(uint32_t to) const;
  bool takes_from(uint32_t from) const;
  Failure move(const Piece& piece);
  void place(uint32_t from, const Piece& piece, const uint8_t* data) const;
  Failure reduce_piece(const Piece& piece);
  Failure reduce_slices(const Piece& piece, uint64_t count);
  void reduce_got(const uint8_t* own, void* to, uint64_t count) const;

  MpiRanks& ranks_;
  const Operation* operation_ = nullptr;
  std::vector<Buffer> in_, out_;
  std::vector<Transfer> transfers_;
  const uint8_t* last_sent_ = nullptr;
  uint64_t last_bytes_ = 0;
  uint64_t out_count_ = 0;
};

/// Carries out the messages of one call, which move on together.
Failure exchange_messages(MpiRanks& ranks, std::span<const Operation> operations);

}  // namespace km::comm
