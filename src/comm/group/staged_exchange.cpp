#include "comm/group/staged_exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "comm/operation/reduce.h"

namespace km::comm {
namespace {

constexpr uint64_t kScalarBytes = 64;  // the scalar of a reduction precedes the inputs
constexpr uint64_t kRoomBytes = kStagingBytes - kScalarBytes;
constexpr uint64_t kUnit = 64;          // pieces are multiples of it
constexpr uint64_t kShortBytes = 4096;  // shorter all-reductions are done by each rank

}  // namespace

/// The blocks that a rank gives to others, of which pieces lie in its buffer side by side.
uint64_t StagedExchange::blocks_in() const {
  const Signature& call = operation_->call;
  switch (call.kind) {
    case Kind::kReduceScatter:
    case Kind::kAllToAll:
      return ranks();
    case Kind::kScatter:
      return rank() == static_cast<uint32_t>(call.root) ? ranks() : 0;
    case Kind::kBroadcast:
      return rank() == static_cast<uint32_t>(call.root) ? 1 : 0;
    default:
      return 1;
  }
}

Failure StagedExchange::pass() {
  return membership_.pass(segment().header().collective, &SharedSlot::collective_steps,
                          name_of(operation_->call.kind));
}

/// Every rank compares all calls, so that all come to the same result.
Failure StagedExchange::compare() const {
  return compare_calls(membership_.ranks(), [&](uint32_t rank) -> const Signature& {
    return segment().slot(rank).calls[calls_ % 2];
  });
}

/// In each buffer, pieces of blocks lie one after the other.
const uint8_t* StagedExchange::staged(uint64_t rank, uint64_t block, const Piece& piece) const {
  return segment().staging(static_cast<uint32_t>(rank), pieces_ % 2) + kScalarBytes +
         block * piece.size_bytes;
}

uint8_t* StagedExchange::received(uint64_t block, const Piece& piece) const {
  return static_cast<uint8_t*>(operation_->receive) + block * operation_->call.block_bytes() +
         piece.first_byte;
}

void StagedExchange::give_scalar() const {
  if (operation_->call.reduction != Reduction::kScaledSum) return;
  std::memcpy(segment().staging(rank(), pieces_ % 2), operation_->scalar_place(),
              size_bytes(operation_->call.type));
}

void StagedExchange::stage(const Piece& piece) const {
  give_scalar();
  if (piece.size_bytes == 0) return;  // the arrays may be null
  const auto* const from = static_cast<const uint8_t*>(operation_->send);
  for (uint64_t block = 0; block < blocks_in(); ++block) {
    std::memcpy(const_cast<uint8_t*>(staged(rank(), block, piece)),
                from + block * operation_->call.block_bytes() + piece.first_byte, piece.size_bytes);
  }
}

void StagedExchange::reduce_block(uint64_t block, const Piece& piece, void* to, uint64_t first,
                                  uint64_t count) const {
  std::vector<Source> sources;
  sources.reserve(ranks());
  for (uint32_t i = 0; i < ranks(); ++i) {
    sources.push_back({staged(i, block, piece), segment().staging(i, pieces_ % 2)});
  }
  reduce(operation_->call.type, operation_->call.reduction, sources, {&to, 1}, first, count);
}

/// Each rank reduces a part for all, unless the piece is short.
Failure StagedExchange::reduce_all(const Piece& piece) {
  const uint64_t size = size_bytes(operation_->call.type), count = piece.size_bytes / size;
  const bool is_result = operation_->call.kind == Kind::kAllReduce ||
                         rank() == static_cast<uint32_t>(operation_->call.root);
  if (piece.size_bytes <= kShortBytes) {
    if (is_result) reduce_block(0, piece, received(0, piece), 0, count);
    return {};
  }
  const uint64_t unit = kUnit / size, units = (count + unit - 1) / unit;
  const auto begin = [&](uint64_t i) { return std::min(units * i / ranks() * unit, count); };
  const uint64_t first = begin(rank()), last = begin(rank() + 1);
  reduce_block(0, piece, segment().staging(rank(), 2), first, last - first);
  if (Failure failure = pass()) return failure;
  if (!is_result) return {};
  for (uint32_t i = 0; i < ranks(); ++i) {
    std::memcpy(received(0, piece) + begin(i) * size, segment().staging(i, 2) + begin(i) * size,
                (begin(i + 1) - begin(i)) * size);
  }
  return {};
}

Failure StagedExchange::unstage(const Piece& piece) {
  const Signature& call = operation_->call;
  const auto root = static_cast<uint32_t>(call.root);
  const auto take = [&](uint64_t to, uint64_t from, uint64_t block) {
    if (piece.size_bytes == 0) return;  // the array may be null
    std::memcpy(received(to, piece), staged(from, block, piece), piece.size_bytes);
  };
  switch (call.kind) {
    case Kind::kAllReduce:
    case Kind::kReduce:
      return reduce_all(piece);
    case Kind::kReduceScatter:
      reduce_block(rank(), piece, received(0, piece), 0, piece.size_bytes / size_bytes(call.type));
      return {};
    case Kind::kBroadcast:
      take(0, root, 0);
      return {};
    case Kind::kScatter:
      take(0, root, rank());
      return {};
    case Kind::kGather:
      if (rank() != root) return {};
      [[fallthrough]];
    case Kind::kAllGather:
      for (uint64_t i = 0; i < ranks(); ++i) take(i, i, 0);
      return {};
    case Kind::kAllToAll:
      for (uint64_t i = 0; i < ranks(); ++i) take(i, i, rank());
      return {};
    case Kind::kSend:
    case Kind::kReceive:
      break;
  }
  KM_ASSERT(false, "a message is no collective operation");
  return {};
}

Failure StagedExchange::run(const Operation& operation) {
  operation_ = &operation;
  ++calls_;
  segment().slot(rank()).calls[calls_ % 2] = operation.call;
  const uint64_t block = operation.call.block_bytes();
  const uint64_t room =
      std::max(kRoomBytes / (sends_blocks(operation.call.kind) ? ranks() : 1) / kUnit,
               uint64_t{1}) *
      kUnit;
  bool is_compared = false;
  uint64_t done = 0;
  do {
    ++pieces_;
    const Piece piece = {done, std::min(room, block - done)};
    stage(piece);
    if (Failure failure = pass()) return failure;
    if (!std::exchange(is_compared, true)) {
      if (Failure failure = compare()) return failure;
    }
    if (Failure failure = unstage(piece)) return failure;
    done += piece.size_bytes;
  } while (done < block);
  return {};
}

}  // namespace km::comm
