#include "comm/group/staged_exchange.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "comm/operation/reduce.h"

namespace km::comm {
namespace {

constexpr uint64_t kUnit = 64;                  // pieces are multiples of it
constexpr uint64_t kShortBytes = 4096;          // shorter all-reductions are done by each rank
constexpr uint64_t kMostBegunBytes = 16 << 10;  // of inputs of short operations

/// The blocks that a rank gives to others, of which pieces lie in its buffer side by side.
uint64_t blocks_in(const Signature& call, uint64_t rank, uint64_t ranks) {
  switch (call.kind) {
    case Kind::kReduceScatter:
    case Kind::kAllToAll:
      return ranks;
    case Kind::kScatter:
      return rank == static_cast<uint64_t>(call.root) ? ranks : 0;
    case Kind::kBroadcast:
      return rank == static_cast<uint64_t>(call.root) ? 1 : 0;
    default:
      return 1;
  }
}

}  // namespace

uint64_t StagedExchange::blocks_in() const {
  return km::comm::blocks_in(operation_->call, rank(), ranks());
}

bool StagedExchange::is_short(const Signature& call, uint64_t ranks) {
  const uint64_t most = has_reduction(call.kind) ? kShortBytes : kMostBegunBytes;
  return call.block_bytes() <= (sends_blocks(call.kind) ? most / ranks : most);
}

/// The input lies beside the rank's call.
bool StagedExchange::lies_in_call(uint64_t rank) const {
  const Signature& call = operation_->call;
  return call.block_bytes() * km::comm::blocks_in(call, rank, ranks()) <= kCallDataBytes;
}

Failure StagedExchange::pass() {
  return membership_.pass(segment().header().collective, &SharedSlot::collective_steps,
                          name_of(operation_->call.kind));
}

/// Every rank compares all calls, so that all come to the same result.
Failure StagedExchange::compare() const {
  return compare_calls(membership_.ranks(),
                       [&](uint32_t rank) -> const Signature& { return call_of(rank).call; });
}

Failure StagedExchange::wait_for_calls() {
  return membership_.wait_for_step(
      segment().header().collective, calls_, name_of(operation_->call.kind),
      [&](uint32_t rank) -> const std::atomic<uint64_t>& { return call_of(rank).number; });
}

bool StagedExchange::have_all_begun() const {
  for (uint64_t i = 0; i < ranks(); ++i) {
    if (call_of(i).number.load() < calls_) return false;
  }
  return true;
}

/// In each buffer, pieces of blocks lie one after the other.
const uint8_t* StagedExchange::staged(uint64_t rank, uint64_t block, const Piece& piece) const {
  const uint8_t* const buffer = lies_in_call(rank)
                                    ? call_of(rank).data
                                    : segment().staging(static_cast<uint32_t>(rank), pieces_ % 2);
  return buffer + block * piece.size_bytes;
}

uint8_t* StagedExchange::received(uint64_t block, const Piece& piece) const {
  return static_cast<uint8_t*>(operation_->receive) + block * operation_->call.block_bytes() +
         piece.first_byte;
}

void StagedExchange::stage(const Piece& piece) const {
  if (piece.size_bytes == 0) return;  // the arrays may be null
  const auto* const from = static_cast<const uint8_t*>(operation_->send);
  for (uint64_t block = 0; block < blocks_in(); ++block) {
    std::memcpy(const_cast<uint8_t*>(staged(rank(), block, piece)),
                from + block * operation_->call.block_bytes() + piece.first_byte, piece.size_bytes);
  }
}

void StagedExchange::reduce_block(uint64_t block, const Piece& piece, void* to, uint64_t first,
                                  uint64_t count) {
  for (uint32_t i = 0; i < ranks(); ++i) {
    sources_[i] = {staged(i, block, piece), call_of(i).scalar};
  }
  const Destination destination{to};
  reduce(operation_->call.type, operation_->call.reduction, sources_, {&destination, 1}, first,
         count);
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

StagedExchange::Piece StagedExchange::piece_at(uint64_t first_byte) const {
  const Signature& call = operation_->call;
  const uint64_t blocks = sends_blocks(call.kind) ? ranks() : 1;
  const uint64_t room = std::max(kStagingBytes / blocks / kUnit, uint64_t{1}) * kUnit;
  return {first_byte, std::min(room, call.block_bytes() - first_byte)};
}

void StagedExchange::begin(const Operation& operation) {
  operation_ = &operation;
  is_begun_ = true;
  ++calls_;
  ++pieces_;
  SharedCall& own = call_of(rank());
  own.call = operation.call;
  if (operation.call.reduction == Reduction::kScaledSum) {
    std::memcpy(own.scalar, operation.scalar_place(), size_bytes(operation.call.type));
  }
  stage(piece_at(0));
  own.number.store(calls_);
  segment().header().collective.ring();
}

Failure StagedExchange::run(const Operation& operation) {
  if (!is_begun_) begin(operation);
  is_begun_ = false;
  if (Failure failure = wait_for_calls()) return failure;
  if (Failure failure = compare()) return failure;
  Piece piece = piece_at(0);
  if (Failure failure = unstage(piece)) return failure;
  while (piece.first_byte + piece.size_bytes < operation.call.block_bytes()) {
    piece = piece_at(piece.first_byte + piece.size_bytes);
    ++pieces_;
    stage(piece);
    if (Failure failure = pass()) return failure;
    if (Failure failure = unstage(piece)) return failure;
  }
  return {};
}

}  // namespace km::comm
