// Operations of communicators: what one rank asks for.
#pragma once

#include <cstdint>
#include <string>

namespace km::comm {

/// The types of elements, numbered as NCCL's.
enum class Type : uint8_t {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kE4m3,
  kE5m2
};
constexpr uint32_t kTypeCount = 12;
uint64_t size_bytes(Type type) noexcept;
const char* name_of(Type type) noexcept;

/// kScaledSum multiplies each rank's elements by that rank's scalar before they are added.
enum class Reduction : uint8_t { kSum, kProduct, kMax, kMin, kAverage, kScaledSum };
const char* name_of(Reduction reduction) noexcept;

enum class Kind : uint8_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kSend,
  kReceive
};
const char* name_of(Kind kind) noexcept;

/// True for operations between two ranks; all ranks take part in the others.
constexpr bool is_between_two(Kind kind) { return kind == Kind::kSend || kind == Kind::kReceive; }
constexpr bool has_reduction(Kind kind) {
  return kind == Kind::kAllReduce || kind == Kind::kReduce || kind == Kind::kReduceScatter;
}
constexpr bool has_root(Kind kind) {
  return kind == Kind::kReduce || kind == Kind::kBroadcast || kind == Kind::kGather ||
         kind == Kind::kScatter;
}

/// True if a rank's input has a block for each rank.
constexpr bool sends_blocks(Kind kind) {
  return kind == Kind::kReduceScatter || kind == Kind::kAllToAll || kind == Kind::kScatter;
}
/// True if a rank's output has a block of each rank.
constexpr bool receives_blocks(Kind kind) {
  return kind == Kind::kAllGather || kind == Kind::kAllToAll || kind == Kind::kGather;
}

/// The part of an operation that ranks compare. It lies in memory that processes share.
struct Signature {
  uint64_t count = 0;  // elements of a block: of the whole, or of one rank's part
  Kind kind = Kind::kAllReduce;
  Type type = Type::kInt8;
  Reduction reduction = Reduction::kSum;
  int32_t root = 0;  // the root, or the other rank of an operation between two

  uint64_t block_bytes() const { return count * size_bytes(type); }
};

/// True if the two ranks of a collective operation called the same one.
bool is_same_call(const Signature& a, const Signature& b) noexcept;

/// For messages: "all-reduce of 8 f32, sum".
std::string describe(const Signature& call);

/// An operation with the rank's buffers.
struct Operation {
  Signature call;
  const void* send = nullptr;
  void* receive = nullptr;
  /// The scalar of kScaledSum, of the operation's type: a copy, unless `device_scalar` is where it
  /// is read when the operation runs.
  alignas(8) uint8_t scalar[8] = {};
  const void* device_scalar = nullptr;

  const void* scalar_place() const { return device_scalar != nullptr ? device_scalar : scalar; }
};

}  // namespace km::comm
