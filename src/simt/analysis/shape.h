// The shape of a value: its variation over the lanes of a packet. A value is
//   uniform   one scalar for all lanes,
//   offset    base + offset[lane] with offsets known at compile time (tid.x and addresses computed
//             from it), held as a scalar base, which is lane 0's value,
//   varying   a vector.
// A uniform value may also be block-uniform, the same for the whole block: barriers split code only
// at block-uniform control flow.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "simt/abi.h"
#include "simt/kernel/kernel.h"
#include "simt/kernel/layout.h"

namespace km::simt {

using Offsets = std::array<int64_t, kWarpLanes>;

struct Shape {
  enum class Kind : uint8_t { unknown, uniform, offset, varying };
  Kind kind = Kind::unknown;
  bool block_uniform = false;  // uniform only
  /// The base form is valid only if a 32-bit expression did not wrap; code checks that at run time.
  /// Its lanes may then be equal if it holds (offsets 0), which does not make the value uniform.
  bool speculative = false;
  bool wraps_below = false;  // speculative: a wrap changes bits below the 32nd, too (shifts)
  uint8_t align = 0;         // known trailing zero bits of the scalar (64: it is zero)
  uint32_t offsets = 0;      // index into Shapes::offsets, 0 = all zero
  /// In each lane the value is congruent (modulo 2^bits) to some integer in [low, high].
  bool bounded = false;
  int64_t low = 0, high = 0;

  bool is_uniform() const { return kind == Kind::uniform; }
  bool is_varying() const { return kind == Kind::varying || kind == Kind::unknown; }
  bool is_offset() const { return kind == Kind::offset; }
  std::optional<int64_t> constant() const {
    if (kind == Kind::uniform && bounded && low == high) return low;
    return std::nullopt;
  }
  friend bool operator==(const Shape&, const Shape&) = default;

  static Shape varying() { return {.kind = Kind::varying}; }
  static Shape uniform(bool block_uniform) {
    return {.kind = Kind::uniform, .block_uniform = block_uniform};
  }
  static Shape bounded_uniform(bool block_uniform, int64_t low, int64_t high) {
    Shape shape = uniform(block_uniform);
    shape.bounded = true;
    shape.low = low;
    shape.high = high;
    return shape;
  }
  static Shape of_constant(int64_t value);
};

/// The assumptions of the analysis.
struct ShapeOptions {
  std::array<uint32_t, 3> block{};  // 0: unknown
  uint32_t lanes = kWarpLanes;      // lanes of a packet: 1, 8, 16 or 32
  bool assume_no_wrap = true;
  /// Mode c: lanes execute the same code at different times, so only values that are the same
  /// whenever they are computed are uniform.
  bool independent_threads = false;
  /// Ignores code that can be reached only by a side that a branch never takes.
  bool decide_branches = false;
  uint64_t local_stride_bytes = 0;       // distance of the local memories of adjacent lanes
  const MemoryLayout* layout = nullptr;  // positions of shared variables; null: unknown
};

class OffsetTable {
 public:
  OffsetTable() { intern({}); }
  uint32_t intern(const Offsets& offsets);
  const Offsets& operator[](uint32_t index) const { return list_[index]; }

 private:
  std::vector<Offsets> list_;
  std::map<Offsets, uint32_t> index_;
};

/// The result of the analysis of one kernel with one set of options.
struct Shapes {
  ShapeOptions options;
  OffsetTable offsets;
  std::vector<Shape> values;  // by ValueId
  LoopForest loops;
  DominatorTree dominators;
  enum class Side : uint8_t { both, first, second };
  /// The side that a block's branch takes for every thread, by block. Shapes in blocks that become
  /// unreachable are unknown, so a kernel with such branches has to be pruned and analysed again.
  std::vector<Side> sides;
  std::vector<uint8_t> divergent_branch;  // lanes may diverge at the block's end
  // Indexed by block: its warps may diverge at its end (not block-uniform).
  std::vector<uint8_t> warp_branch;
  std::vector<uint8_t> divergent_join;  // by block: diverged lanes reconverge here
  std::vector<uint8_t> warp_join;
  std::vector<uint8_t> divergent_loop;  // by loop: lanes leave in different iterations
  std::vector<uint8_t> warp_loop;
  /// Assumptions: 32-bit values whose widening does not wrap, and parameters that are aligned
  /// pointers. Code::assumptions_hold checks them at launch.
  struct Assumption {
    ValueId value = kNone;
    bool is_unsigned = false;  // widened by zero extension: no lane's value may be negative either
    uint8_t align_bits = 0;    // parameters: number of low bits that are zero
    friend auto operator<=>(const Assumption&, const Assumption&) = default;
  };
  std::vector<Assumption> assumptions;
  std::vector<uint8_t> wanted_alignments;  // wanted_alignments() of the kernel
  std::vector<uint8_t> hoistable;          // hoistable_bounds() of the kernel

  /// The value that an operand has in every thread: that of an immediate, or of a register that is
  /// known to be constant.
  std::optional<int64_t> constant(const Inst& inst, const ptx::Operand& operand) const;
  /// The shape of a value as seen by `block`: varying if a divergent loop was left in between.
  Shape at(const Kernel& kernel, ValueId value, BlockId block) const;
  /// The outermost divergent loop that contains the definition but not `block`; UINT32_MAX: none.
  uint32_t loop_left(const Kernel& kernel, ValueId value, BlockId block) const;
};

Shapes analyse_shapes(const Kernel& kernel, const ShapeOptions& options);

// The transfer functions of the analysis (shape_transfer.cpp).
class ShapeTransfer {
 public:
  ShapeTransfer(const Kernel& kernel, Shapes& shapes) : kernel_(kernel), shapes_(shapes) {}
  /// The shape of the value that `inst` writes to `reg`; its operands must have shapes.
  Shape result(const Inst& inst, BlockId block, ptx::RegisterId reg);
  Shape join(const Shape& a, const Shape& b) const;

 private:
  Shape operand(const Inst& inst, BlockId block, const ptx::Operand& operand, ptx::Type type);
  Shape compute(const Inst& inst, BlockId block);
  Shape special(const ptx::Operand& operand);
  Shape shared_address(const ptx::Operand& operand) const;
  Shape local_address(const ptx::Symbol& symbol, int64_t offset);
  Shape thread_index(unsigned dimension);
  Shape lane_offsets(const Offsets& offsets, uint8_t align, int64_t low, int64_t high);
  Shape add(const Shape& a, const Shape& b, ptx::Type type, bool subtract);
  Shape multiply(const Shape& a, const Shape& b, ptx::Type type);
  Shape shift_left(const Shape& a, const Shape& b, ptx::Type type);
  bool is_zero_sign(const Inst& inst, const Shape& shape);
  Shape shift_right(const Inst& inst, const Shape& a, const Shape& b, ptx::Type type);
  Shape shift_apart(const Inst& inst, const Shape& a, int64_t count, ptx::Type type);
  static Shape sign_of(ptx::Type type);
  Shape bitwise(ptx::Opcode opcode, const Shape& a, const Shape& b, ptx::Type type);
  Shape widen(const Shape& a, ptx::Type from, const Inst& inst, const ptx::Operand& source);
  Shape convert(const Inst& inst, const Shape& a);
  Shape compare(const Inst& inst, const Shape& a, const Shape& b);
  static std::optional<bool> decided(const ptx::Instruction& ptx, const Shape& a, const Shape& b);
  Shape multiply_add(const Inst& inst, BlockId block);
  Shape extreme(const Inst& inst, BlockId block, const Shape& a, const Shape& b);
  Shape clamped(const Shape& a, const Shape& bound, ptx::Type type, bool smaller) const;
  Shape logic(const Inst& inst, BlockId block);
  Shape memory(const Inst& inst, BlockId block);
  Shape generic(const Inst& inst, BlockId block, bool keeps_block_uniform);
  Shape normalised(Shape shape, Offsets offsets, ptx::Type type);
  bool no_carry(const Shape& shape) const;

  const Kernel& kernel_;
  Shapes& shapes_;
};

// A step times a factor, modulo 2^64 like addresses.
constexpr int64_t scaled(int64_t step, int64_t factor) {
  return static_cast<int64_t>(static_cast<uint64_t>(step) * static_cast<uint64_t>(factor));
}
constexpr int64_t added(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// A flag for each value whose bounds a launch can evaluate in advance, because it is computed from
/// parameters, constants and indices with add, sub, mul, mad, shl and moves only.
std::vector<uint8_t> hoistable_bounds(const Kernel& kernel);

}  // namespace km::simt
