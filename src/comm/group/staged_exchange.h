// Collective operations by the staging buffers of shared memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/operation/reduce.h"
#include "comm/segment/membership.h"

namespace km::comm {

/// One rank's side of collective operations, which all ranks carry out one after the other.
class StagedExchange {
 public:
  explicit StagedExchange(Membership& membership)
      : membership_(membership), sources_(membership.ranks()) {}
  /// Tells the other ranks of the operation, and gives them the first piece of the input.
  void begin(const Operation& operation);
  /// True if all ranks have begun the operation.
  bool have_all_begun() const;
  /// Carries out the operation, which may have begun; waits for the other ranks.
  Failure run(const Operation& operation);
  /// True if an operation of this size has one piece, and is over once all ranks have begun it.
  static bool is_short(const Signature& call, uint64_t ranks);

 private:
  /// A piece of each block.
  struct Piece {
    uint64_t number;  // among all operations: its parity selects the buffers
    uint64_t first_byte, size_bytes;
  };
  Piece piece_at(uint64_t first_byte) const;
  Segment& segment() const { return membership_.segment(); }
  uint32_t rank() const { return membership_.rank(); }
  uint64_t ranks() const { return membership_.ranks(); }
  uint64_t blocks_in() const;
  SharedCall& call_of(uint64_t rank) const {
    return segment().slot(static_cast<uint32_t>(rank)).calls[calls_ % 2];
  }
  bool lies_in_call(uint64_t rank) const;
  Failure pass();
  Failure wait_for_calls();
  Failure compare() const;
  void stage(const Piece& piece) const;
  void unstage(const Piece& piece);
  void put(void* to, const void* from, uint64_t size_bytes) const;
  void reduce_block(uint64_t block, const Piece& piece, void* to);
  bool is_sliced() const;
  bool has_result() const;
  uint64_t slice_begin(uint64_t of_rank, const Piece& piece) const;
  uint8_t* result_of(uint64_t rank, const Piece& piece) const;
  void reduce_slice(const Piece& piece);
  void take_slices(const Piece& piece) const;
  Failure run_sliced();
  const uint8_t* staged(uint64_t rank, uint64_t block, const Piece& piece) const;
  uint8_t* received(uint64_t block, const Piece& piece) const;

  Membership& membership_;
  std::vector<Source> sources_;
  const Operation* operation_ = nullptr;
  uint64_t pieces_ = 0;  // of all operations
  uint64_t calls_ = 0;
  bool is_begun_ = false;
  bool bypasses_caches_ = false;  // of the operation
};

}  // namespace km::comm
