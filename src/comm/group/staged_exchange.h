// Collective operations by the staging buffers of shared memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/segment/membership.h"

namespace km::comm {

/// One rank's side of collective operations, which all ranks carry out one after the other.
class StagedExchange {
 public:
  explicit StagedExchange(Membership& membership) : membership_(membership) {}
  /// Carries out the operation; waits for the other ranks.
  Failure run(const Operation& operation);

 private:
  /// A piece of each block.
  struct Piece {
    uint64_t first_byte, size_bytes;
  };
  Segment& segment() const { return membership_.segment(); }
  uint32_t rank() const { return membership_.rank(); }
  uint64_t ranks() const { return membership_.ranks(); }
  uint64_t blocks_in() const;
  Failure pass();
  Failure compare() const;
  void stage(const Piece& piece) const;
  Failure unstage(const Piece& piece);
  Failure reduce_all(const Piece& piece);
  void reduce_block(uint64_t block, const Piece& piece, void* to, uint64_t first,
                    uint64_t count) const;
  void give_scalar() const;
  const uint8_t* staged(uint64_t rank, uint64_t block, const Piece& piece) const;
  uint8_t* received(uint64_t block, const Piece& piece) const;

  Membership& membership_;
  const Operation* operation_ = nullptr;
  uint64_t pieces_ = 0;  // of all operations: the parity selects the buffer for inputs
  uint64_t calls_ = 0;
};

}  // namespace km::comm
