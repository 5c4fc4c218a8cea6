#include "comm/group/staged_exchange.h"

#include <algorithm>
#include <cstring>

#include "base/arch/processor.h"
#include "base/assert.h"
#include "base/memory/nontemporal_copy.h"
#include "comm/operation/exchange.h"

namespace km::comm {
namespace {

constexpr uint64_t kUnit = 64;  // pieces are multiples of it
// The blocks of all ranks together, which each rank reads before a thread would wake up.
constexpr uint64_t kMostShortBytes = 256 << 10;
static_assert(kMostShortBytes <= kStagingBytes);

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
  return call.block_bytes() <= kMostShortBytes / ranks;
}

bool StagedExchange::is_sliced() const {
  const Signature& call = operation_->call;
  const bool has_one_result = call.kind == Kind::kAllReduce || call.kind == Kind::kReduce;
  return has_one_result && !is_short(call, ranks());
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
  const uint8_t* const buffer =
      lies_in_call(rank) ? call_of(rank).data
                         : segment().staging(static_cast<uint32_t>(rank), piece.number % 2);
  return buffer + block * piece.size_bytes;
}

uint8_t* StagedExchange::received(uint64_t block, const Piece& piece) const {
  return static_cast<uint8_t*>(operation_->receive) + block * operation_->call.block_bytes() +
         piece.first_byte;
}

void StagedExchange::stage(const Piece& piece) const {
  if (piece.size_bytes == 0) return;  // the arrays may be null
  const auto* const from = static_cast<const uint8_t*>(operation_->send) + piece.first_byte;
  const auto copy = [&](uint64_t block, uint64_t first, uint64_t last) {
    std::memcpy(const_cast<uint8_t*>(staged(rank(), block, piece)) + first,
                from + block * operation_->call.block_bytes() + first, last - first);
  };
  if (is_sliced()) {  // nobody else needs this rank's slice
    copy(0, 0, slice_begin(rank(), piece));
    copy(0, slice_begin(rank() + 1, piece), piece.size_bytes);
    return;
  }
  for (uint64_t block = 0; block < blocks_in(); ++block) copy(block, 0, piece.size_bytes);
}

/// Copies to the output.
void StagedExchange::put(void* to, const void* from, uint64_t size_bytes) const {
  if (!bypasses_caches_) {
    std::memcpy(to, from, size_bytes);
    return;
  }
  copy_nontemporal(to, from, size_bytes);
  arch::store_fence();
}

void StagedExchange::reduce_block(uint64_t block, const Piece& piece, void* to) {
  for (uint32_t i = 0; i < ranks(); ++i) {
    sources_[i] = {staged(i, block, piece), call_of(i).scalar};
  }
  const Destination destination{to, bypasses_caches_};
  reduce(operation_->call.type, operation_->call.reduction, sources_, {&destination, 1}, 0,
         piece.size_bytes / size_bytes(operation_->call.type));
}

/// The bytes of the piece before the slice of a rank.
uint64_t StagedExchange::slice_begin(uint64_t of_rank, const Piece& piece) const {
  const uint64_t units = (piece.size_bytes + kUnit - 1) / kUnit;
  return std::min(units * of_rank / ranks() * kUnit, piece.size_bytes);
}

bool StagedExchange::has_result() const {
  return operation_->call.kind != Kind::kReduce ||
         rank() == static_cast<uint64_t>(operation_->call.root);
}

uint8_t* StagedExchange::result_of(uint64_t rank, const Piece& piece) const {
  return segment().staging(static_cast<uint32_t>(rank), 2 + piece.number % 2);
}

void StagedExchange::reduce_slice(const Piece& piece) {
  const Signature& call = operation_->call;
  const uint64_t size = size_bytes(call.type), begin = slice_begin(rank(), piece);
  for (uint32_t i = 0; i < ranks(); ++i) {
    sources_[i] = {staged(i, 0, piece), call_of(i).scalar};
  }
  sources_[rank()].data = static_cast<const uint8_t*>(operation_->send) + piece.first_byte;
  const Destination destinations[] = {{result_of(rank(), piece)},
                                      {received(0, piece), bypasses_caches_}};
  const std::span<const Destination> all(destinations);
  const auto of_reduce = has_result() ? all.last(1) : all.first(1);
  const auto used = call.kind == Kind::kReduce ? of_reduce : all;
  reduce(call.type, call.reduction, sources_, used, begin / size,
         (slice_begin(rank() + 1, piece) - begin) / size);
}

void StagedExchange::take_slices(const Piece& piece) const {
  if (!has_result()) return;
  for (uint32_t i = 0; i < ranks(); ++i) {
    if (i == rank()) continue;
    const uint64_t begin = slice_begin(i, piece);
    put(received(0, piece) + begin, result_of(i, piece) + begin, slice_begin(i + 1, piece) - begin);
  }
}

/// Each rank reduces a slice of each piece for all. While the others reduce theirs, it gives them
/// its next piece, so that the ranks meet once for each.
Failure StagedExchange::run_sliced() {
  Piece piece = piece_at(0);
  reduce_slice(piece);
  for (;;) {
    const uint64_t end = piece.first_byte + piece.size_bytes;
    const bool is_last = end == operation_->call.block_bytes();
    if (!is_last) ++pieces_;
    const Piece next = piece_at(is_last ? piece.first_byte : end);
    if (!is_last) stage(next);
    if (Failure failure = pass()) return failure;
    take_slices(piece);
    if (is_last) return {};
    reduce_slice(next);
    piece = next;
  }
}

void StagedExchange::unstage(const Piece& piece) {
  const Signature& call = operation_->call;
  const auto root = static_cast<uint32_t>(call.root);
  const auto take = [&](uint64_t to, uint64_t from, uint64_t block) {
    if (piece.size_bytes == 0) return;  // the array may be null
    put(received(to, piece), staged(from, block, piece), piece.size_bytes);
  };
  switch (call.kind) {
    case Kind::kAllReduce:
    case Kind::kReduce:
      if (has_result()) reduce_block(0, piece, received(0, piece));
      return;
    case Kind::kReduceScatter:
      return reduce_block(rank(), piece, received(0, piece));
    case Kind::kBroadcast:
      return take(0, root, 0);
    case Kind::kScatter:
      return take(0, root, rank());
    case Kind::kGather:
      if (rank() != root) return;
      [[fallthrough]];
    case Kind::kAllGather:
      for (uint64_t i = 0; i < ranks(); ++i) take(i, i, 0);
      return;
    case Kind::kAllToAll:
      for (uint64_t i = 0; i < ranks(); ++i) take(i, i, rank());
      return;
    case Kind::kSend:
    case Kind::kReceive:
      break;
  }
  KM_ASSERT(false, "a message is no collective operation");
}

StagedExchange::Piece StagedExchange::piece_at(uint64_t first_byte) const {
  const Signature& call = operation_->call;
  const uint64_t blocks = sends_blocks(call.kind) ? ranks() : 1;
  const uint64_t room = std::max(kStagingBytes / blocks / kUnit, uint64_t{1}) * kUnit;
  return {pieces_, first_byte, std::min(room, call.block_bytes() - first_byte)};
}

void StagedExchange::begin(const Operation& operation) {
  operation_ = &operation;
  is_begun_ = true;
  ++calls_;
  ++pieces_;
  bypasses_caches_ = bypasses_caches(operation.call, ranks());
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
  if (is_sliced()) return run_sliced();
  Piece piece = piece_at(0);
  unstage(piece);
  while (piece.first_byte + piece.size_bytes < operation.call.block_bytes()) {
    ++pieces_;
    piece = piece_at(piece.first_byte + piece.size_bytes);
    stage(piece);
    if (Failure failure = pass()) return failure;
    unstage(piece);
  }
  return {};
}

}  // namespace km::comm
