#include "simt/transform/regions.h"

#include <algorithm>

namespace km::simt {

namespace {

std::vector<BlockId> reachable_without_barrier(const Kernel& kernel, BlockId entry, bool split) {
  std::vector<uint8_t> seen(kernel.blocks.size());
  std::vector<BlockId> stack{entry}, result;
  seen[entry] = 1;
  while (!stack.empty()) {
    BlockId block = stack.back();
    stack.pop_back();
    result.push_back(block);
    if (split && kernel.blocks[block].end == End::barrier) continue;
    for (BlockId succ : kernel.blocks[block].succs) {
      if (seen[succ]) continue;
      seen[succ] = 1;
      stack.push_back(succ);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Live-in values of every block, as bit sets.
std::vector<std::vector<uint64_t>> live_values(const Kernel& kernel) {
  const size_t words = (kernel.values.size() + 63) / 64;
  std::vector<std::vector<uint64_t>> live(kernel.blocks.size(), std::vector<uint64_t>(words));
  auto add = [](std::vector<uint64_t>& bits, ValueId v) {
    if (v != kNone) bits[v / 64] |= uint64_t{1} << (v % 64);
  };
  auto remove = [](std::vector<uint64_t>& bits, ValueId v) {
    bits[v / 64] &= ~(uint64_t{1} << (v % 64));
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (BlockId b = static_cast<BlockId>(kernel.blocks.size()); b-- > 0;) {
      const Block& block = kernel.blocks[b];
      std::vector<uint64_t> bits(words);
      for (BlockId succ : block.succs) {
        for (size_t w = 0; w < words; ++w) bits[w] |= live[succ][w];
        const Block& next = kernel.blocks[succ];
        for (size_t slot = 0; slot < next.preds.size(); ++slot) {
          if (next.preds[slot] != b) continue;
          for (const Phi& phi : next.phis) add(bits, phi.inputs[slot]);
        }
      }
      add(bits, block.condition);
      for (auto inst = block.insts.rbegin(); inst != block.insts.rend(); ++inst) {
        for (const auto& write : inst->writes) remove(bits, write.second);
        for (const auto& read : inst->reads) add(bits, read.second);
        for (ValueId old : inst->old_values) add(bits, old);
        add(bits, inst->guard);
      }
      for (const Phi& phi : block.phis) remove(bits, phi.result);
      if (bits != live[b]) {
        live[b] = std::move(bits);
        changed = true;
      }
    }
  }
  return live;
}

}  // namespace

uint32_t max_live_registers(const Kernel& kernel) {
  uint64_t most = 0;
  for (const auto& bits : live_values(kernel)) {
    uint64_t words = 0;
    for (ValueId v = 0; v < kernel.values.size(); ++v) {
      if ((bits[v / 64] >> (v % 64)) & 1)
        words += (ptx::size_bits(kernel.values[v].type) + 31) / 32;
    }
    most = std::max(most, words);
  }
  return static_cast<uint32_t>(std::min<uint64_t>(most, 255));
}

namespace {

/// As cheap as keeping the result: moves, and what makes an address of an index.
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

Regions find_regions(const Kernel& kernel, bool split) {
  Regions regions;
  regions.after_barrier.assign(kernel.blocks.size(), kNone);
  regions.list.push_back({0, reachable_without_barrier(kernel, 0, split)});
  if (!split) {
    regions.live_in.resize(1);
    return regions;
  }
  std::vector<uint32_t> region_of_entry(kernel.blocks.size(), kNone);
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    if (kernel.blocks[b].end != End::barrier) continue;
    BlockId entry = kernel.blocks[b].succs[0];
    if (region_of_entry[entry] == kNone) {
      region_of_entry[entry] = static_cast<uint32_t>(regions.list.size());
      regions.list.push_back({entry, reachable_without_barrier(kernel, entry, true)});
    }
    regions.after_barrier[b] = region_of_entry[entry];
  }
  regions.live_in.resize(regions.list.size());
  if (regions.list.size() == 1) return regions;
  auto live = live_values(kernel);
  for (size_t r = 1; r < regions.list.size(); ++r) {
    const BlockId entry = regions.list[r].entry;
    for (ValueId v = 0; v < kernel.values.size(); ++v) {
      bool is_live = (live[entry][v / 64] >> (v % 64)) & 1;
      if (is_live && !is_rematerialised(kernel, v)) regions.live_in[r].push_back(v);
    }
  }
  return regions;
}

uint64_t emitted_instructions(const Kernel& kernel, const Regions& regions) {
  uint64_t count = 0;
  for (const Region& region : regions.list) {
    for (BlockId b : region.blocks) count += kernel.blocks[b].insts.size() + 1;
  }
  return count;
}

}  // namespace km::simt
