#include "simt/transform/regions.h"

#include <algorithm>

#include "simt/transform/live_ranges.h"

namespace km::simt {

namespace {

constexpr uint32_t kMostRegisters = 255;
/// Limits the blocks in the live ranges of all values kept across barriers, about half a second's
/// work.
constexpr uint64_t kMostLiveSteps = 50'000'000;
/// Limits the values kept across barriers, for all regions together.
constexpr uint64_t kMostKept = 1'000'000;

/// Follows control flow from barrier to barrier, up to a total number of instructions.
class RegionFinder {
 public:
  RegionFinder(const Kernel& kernel, bool splits_at_barriers, uint64_t most_instructions)
      : kernel_(kernel),
        splits_at_barriers_(splits_at_barriers),
        left_(most_instructions),
        seen_(kernel.blocks.size(), kNone) {}

  /// The blocks reachable from `entry` without passing a barrier, in ascending order. Returns false
  /// if they have too many instructions.
  bool find(BlockId entry, std::vector<BlockId>& result) {
    std::vector<BlockId> stack{entry};
    seen_[entry] = entry;
    while (!stack.empty()) {
      const BlockId block = stack.back();
      stack.pop_back();
      result.push_back(block);
      const uint64_t size = kernel_.blocks[block].insts.size() + 1;
      if (size > left_) return false;
      left_ -= size;
      if (splits_at_barriers_ && kernel_.blocks[block].terminator == Terminator::barrier) continue;
      for (BlockId succ : kernel_.blocks[block].succs) {
        if (seen_[succ] == entry) continue;
        seen_[succ] = entry;
        stack.push_back(succ);
      }
    }
    std::sort(result.begin(), result.end());
    return true;
  }

 private:
  const Kernel& kernel_;
  const bool splits_at_barriers_;
  uint64_t left_;
  std::vector<BlockId> seen_;  // by block: the last entry from which it was reached
};

}  // namespace

uint32_t max_live_registers(const Kernel& kernel) {
  LiveRanges ranges(kernel);
  std::vector<uint32_t> words(kernel.blocks.size());
  uint32_t most = 0;
  for (ValueId v = 0; v < kernel.values.size() && most < kMostRegisters; ++v) {
    const uint32_t size = (ptx::size_bits(kernel.values[v].type) + 31) / 32;
    ranges.for_each_block(v, [&](BlockId block) {
      words[block] += size;
      most = std::max(most, words[block]);
      return most < kMostRegisters;
    });
  }
  return std::min(most, kMostRegisters);
}

namespace {

/// True for instructions that cost no more than a reload of their result: moves, and computations
/// of an address from an index.
bool is_cheap(const ptx::Instruction& instruction) {
  using ptx::Modifier;
  using ptx::Opcode;
  switch (instruction.opcode) {
    case Opcode::mov:
    case Opcode::cvta:
      return true;
    case Opcode::cvt:
      return is_word_conversion(instruction);
    case Opcode::add:
    case Opcode::and_:
    case Opcode::shl:
    case Opcode::shr: {
      const bool plain = !instruction.has(Modifier::sat) && !instruction.has(Modifier::cc);
      return plain && !ptx::is_float(instruction.type()) &&
             ptx::size_bits(instruction.type()) == 32;
    }
    default:
      return false;
  }
}

}  // namespace

bool is_rematerialised(const Kernel& kernel, ValueId value, unsigned depth) {
  const Value& v = kernel.values[value];
  if (v.block == kNone) return true;
  if (v.instruction == kNone || depth > 3) return false;
  const Inst& inst = kernel.blocks[v.block].insts[v.instruction];
  if (inst.guard != kNone || inst.writes.size() != 1) return false;
  using ptx::Opcode;
  const auto& ptx = *inst.ptx;
  if (ptx.opcode == Opcode::ld) return kernel.loads_parameter(inst);
  if (!is_cheap(ptx) || ptx.operands[1].kind == ptx::Operand::Kind::vector) return false;
  if (ptx.operands[1].kind == ptx::Operand::Kind::special) {
    using Special = ptx::SpecialRegister;
    switch (ptx.operands[1].special) {
      case Special::tid:
      case Special::ntid:
      case Special::ctaid:
      case Special::nctaid:
      case Special::laneid:
        break;
      default:
        return false;
    }
  }
  return std::all_of(inst.reads.begin(), inst.reads.end(), [&](const auto& read) {
    return is_rematerialised(kernel, read.second, depth + 1);
  });
}

namespace {

/// Finds the live-in values of all regions. Returns false if that takes too long.
bool find_live_values(const Kernel& kernel, Regions& regions) {
  std::vector<uint32_t> region_at(kernel.blocks.size(), kNone);
  for (uint32_t r = 1; r < regions.list.size(); ++r) region_at[regions.list[r].entry] = r;
  LiveRanges ranges(kernel);
  uint64_t steps_left = kMostLiveSteps, kept = 0;
  for (ValueId v = 0; v < kernel.values.size(); ++v) {
    if (is_rematerialised(kernel, v)) continue;
    const bool is_done = ranges.for_each_block(v, [&](BlockId block) {
      if (region_at[block] != kNone) {
        regions.live_in[region_at[block]].push_back(v);
        ++kept;
      }
      return --steps_left != 0 && kept <= kMostKept;
    });
    if (!is_done) return false;
  }
  return true;
}

}  // namespace

Regions whole_kernel(const Kernel& kernel) {
  Regions regions;
  regions.after_barrier.assign(kernel.blocks.size(), kNone);
  regions.list.push_back({0, {}});
  RegionFinder(kernel, false, UINT64_MAX).find(0, regions.list[0].blocks);
  regions.live_in.resize(1);
  return regions;
}

std::optional<Regions> find_regions(const Kernel& kernel, uint64_t most_instructions) {
  Regions regions;
  regions.after_barrier.assign(kernel.blocks.size(), kNone);
  RegionFinder finder(kernel, true, most_instructions);
  std::vector<uint32_t> region_of_entry(kernel.blocks.size(), kNone);
  auto add = [&](BlockId entry) {
    regions.list.push_back({entry, {}});
    return finder.find(entry, regions.list.back().blocks);
  };
  if (!add(0)) return std::nullopt;
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    if (kernel.blocks[b].terminator != Terminator::barrier) continue;
    const BlockId entry = kernel.blocks[b].succs[0];
    if (region_of_entry[entry] == kNone) {
      region_of_entry[entry] = static_cast<uint32_t>(regions.list.size());
      if (!add(entry)) return std::nullopt;
    }
    regions.after_barrier[b] = region_of_entry[entry];
  }
  regions.live_in.resize(regions.list.size());
  if (regions.list.size() > 1 && !find_live_values(kernel, regions)) return std::nullopt;
  return regions;
}

}  // namespace km::simt
