#include "comm/mpi/mpi_exchange.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace km::comm {
namespace {

constexpr uint64_t kSliceBytes = 256 << 10;  // of a message
constexpr uint64_t kShortBytes = 4096;       // shorter reductions are done by each rank
constexpr uint64_t kUnitBytes = 64;          // slices are multiples of it

}  // namespace

const uint8_t* MpiExchange::sent(uint64_t block, uint64_t byte) const {
  return static_cast<const uint8_t*>(operation_->send) + block * operation_->call.block_bytes() +
         byte;
}
uint8_t* MpiExchange::received(uint64_t block, uint64_t byte) const {
  return static_cast<uint8_t*>(operation_->receive) + block * operation_->call.block_bytes() + byte;
}

/// Bytes that go to several ranks are copied once.
Failure MpiExchange::send(uint32_t to, const uint8_t* data, uint64_t size_bytes) {
  if (data == nullptr || data != last_sent_ || size_bytes != last_bytes_) {
    if (out_.size() == out_count_) out_.emplace_back();
    MpiHeader header{operation_->call, size_bytes, {}};
    std::memcpy(header.scalar, operation_->scalar_place(), comm::size_bytes(operation_->call.type));
    Buffer& buffer = out_[out_count_++];
    buffer.resize(std::max<uint64_t>(buffer.size(), sizeof header + size_bytes));
    std::memcpy(buffer.data(), &header, sizeof header);
    if (size_bytes != 0) std::memcpy(buffer.data() + sizeof header, data, size_bytes);
    last_sent_ = data;
    last_bytes_ = size_bytes;
  }
  return ranks_.begin_send(to, MpiTag::kCollective, out_[out_count_ - 1].data(),
                           sizeof(MpiHeader) + size_bytes, &transfers_.emplace_back());
}

Failure MpiExchange::expect(uint32_t from) {
  in_[from].resize(sizeof(MpiHeader) + kSliceBytes);
  return ranks_.begin_receive(from, MpiTag::kCollective, in_[from].data(), in_[from].size(),
                              &transfers_.emplace_back());
}

/// Waits for the messages of a round.
Failure MpiExchange::finish() {
  Failure failure = ranks_.finish(transfers_, [this] { return comm::describe(operation_->call); });
  transfers_.clear();
  last_sent_ = nullptr;
  out_count_ = 0;
  return failure;
}

/// Compares the calls of the ranks that have sent something.
Failure MpiExchange::compare() const {
  for (uint32_t i = 0; i < ranks_.ranks(); ++i) {
    if (i == rank() || !takes_from(i)) continue;
    MpiHeader header;
    std::memcpy(&header, in_[i].data(), sizeof header);
    if (is_same_call(header.call, operation_->call)) continue;
    const bool is_first = i < rank();
    return is_first ? mismatch(i, header.call, rank(), operation_->call)
                    : mismatch(rank(), operation_->call, i, header.call);
  }
  return {};
}

bool MpiExchange::gives_to(uint32_t to) const {
  switch (operation_->call.kind) {
    case Kind::kBroadcast:
    case Kind::kScatter:
      return is_root(rank());
    case Kind::kReduce:
    case Kind::kGather:
      return is_root(to);
    default:
      return true;
  }
}

bool MpiExchange::takes_from(uint32_t from) const {
  switch (operation_->call.kind) {
    case Kind::kBroadcast:
    case Kind::kScatter:
      return is_root(from);
    case Kind::kReduce:
    case Kind::kGather:
      return is_root(rank());
    default:
      return true;
  }
}

void MpiExchange::place(uint32_t from, const Piece& piece, const uint8_t* data) const {
  uint8_t* const to = received(receives_blocks(operation_->call.kind) ? from : 0, piece.first_byte);
  if (piece.size_bytes != 0 && to != data) std::memcpy(to, data, piece.size_bytes);
}

/// Reduces what the other ranks have sent, and the rank's own elements.
void MpiExchange::reduce_got(const uint8_t* own, void* to, uint64_t count) const {
  const Destination destination{to};
  std::vector<Source> sources;
  sources.reserve(ranks_.ranks());
  for (uint32_t i = 0; i < ranks_.ranks(); ++i) {
    if (i == rank()) {
      sources.push_back({own, operation_->scalar_place()});
    } else {
      sources.push_back({got(i), in_[i].data() + offsetof(MpiHeader, scalar)});
    }
  }
  reduce(operation_->call.type, operation_->call.reduction, sources, {&destination, 1}, 0, count);
}

/// One piece of every block goes from each rank to those that want it.
Failure MpiExchange::move(const Piece& piece) {
  const Kind kind = operation_->call.kind;
  for (uint32_t i = 0; i < ranks_.ranks(); ++i) {
    if (i == rank()) continue;
    if (takes_from(i)) {
      if (Failure failure = expect(i)) return failure;
    }
    if (!gives_to(i)) continue;
    const uint8_t* const data = sent(sends_blocks(kind) ? i : 0, piece.first_byte);
    if (Failure failure = send(i, data, piece.size_bytes)) return failure;
  }
  if (Failure failure = finish()) return failure;
  if (Failure failure = compare()) return failure;
  if (!takes_from(rank()) && !gives_to(rank())) {
    for (uint32_t i = 0; i < ranks_.ranks(); ++i) {
      if (i != rank() && takes_from(i)) place(i, piece, got(i));
    }
    return {};
  }
  const uint8_t* const own = sent(sends_blocks(kind) ? rank() : 0, piece.first_byte);
  if (has_reduction(kind)) {
    const bool wants = kind != Kind::kReduce || is_root(rank());
    if (wants) {
      reduce_got(own, received(0, piece.first_byte),
                 piece.size_bytes / size_bytes(operation_->call.type));
    }
    return {};
  }
  for (uint32_t i = 0; i < ranks_.ranks(); ++i) {
    if (takes_from(i)) place(i, piece, i == rank() ? own : got(i));
  }
  return {};
}

/// Each rank reduces a slice, and gives the result to those that want it.
Failure MpiExchange::reduce_slices(const Piece& piece, uint64_t count) {
  const uint64_t size = size_bytes(operation_->call.type), ranks = ranks_.ranks();
  const uint64_t unit = kUnitBytes / size, units = (count + unit - 1) / unit;
  const auto begin = [&](uint64_t i) { return std::min(units * i / ranks * unit, count); };
  const auto bytes = [&](uint64_t i) { return (begin(i + 1) - begin(i)) * size; };
  const auto place_of = [&](uint64_t i) { return piece.first_byte + begin(i) * size; };
  for (uint32_t i = 0; i < ranks; ++i) {
    if (i == rank()) continue;
    if (Failure failure = expect(i)) return failure;
    if (Failure failure = send(i, sent(0, place_of(i)), bytes(i))) return failure;
  }
  if (Failure failure = finish()) return failure;
  for (uint32_t i = 0; i < ranks; ++i) {
    MpiHeader header;
    std::memcpy(&header, in_[i].data(), i == rank() ? 0 : sizeof header);
    if (i != rank() && !is_same_call(header.call, operation_->call)) {
      return mismatch(rank(), operation_->call, i, header.call);
    }
  }
  const bool is_for_all = operation_->call.kind == Kind::kAllReduce;
  const bool is_result = is_for_all || is_root(rank());
  Buffer kept(is_result ? 0 : bytes(rank()));
  uint8_t* const result = is_result ? received(0, place_of(rank())) : kept.data();
  reduce_got(sent(0, place_of(rank())), result, begin(rank() + 1) - begin(rank()));
  for (uint32_t i = 0; i < ranks; ++i) {
    if (i == rank()) continue;
    if (is_result) {
      if (Failure failure = expect(i)) return failure;
    }
    if (!is_for_all && !is_root(i)) continue;
    if (Failure failure = send(i, result, bytes(rank()))) return failure;
  }
  if (Failure failure = finish()) return failure;
  for (uint32_t i = 0; is_result && i < ranks; ++i) {
    if (i != rank()) std::memcpy(received(0, place_of(i)), got(i), bytes(i));
  }
  return {};
}

Failure MpiExchange::reduce_piece(const Piece& piece) {
  if (piece.size_bytes <= kShortBytes || ranks_.ranks() == 1) return move(piece);
  return reduce_slices(piece, piece.size_bytes / size_bytes(operation_->call.type));
}

Failure MpiExchange::run(const Operation& operation) {
  operation_ = &operation;
  const Kind kind = operation.call.kind;
  const bool is_sliced = kind == Kind::kAllReduce || kind == Kind::kReduce;
  // The slices of a long piece differ by a unit.
  const uint64_t room = is_sliced ? (kSliceBytes - kUnitBytes) * ranks_.ranks() : kSliceBytes;
  const uint64_t block = operation.call.block_bytes();
  uint64_t done = 0;
  Failure failure;
  do {
    const Piece piece = {done, std::min(room, block - done)};
    failure = is_sliced ? reduce_piece(piece) : move(piece);
    done += piece.size_bytes;
  } while (!failure && done < block);
  if (!failure) return {};
  // Messages that are on their way still use the buffers.
  ranks_.abandon(transfers_);
  transfers_.clear();
  keep_for_ever(std::exchange(in_, std::vector<Buffer>(ranks_.ranks())));
  keep_for_ever(std::exchange(out_, {}));
  return failure;
}

}  // namespace km::comm
