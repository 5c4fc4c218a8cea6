// The life of a block, and what instructions read and write.
#include "reference/block.h"

#include "ptx/ptx.h"
#include "reference/values.h"

namespace km::reference {

using ptx::Operand;
using Kind = ptx::Operand::Kind;
using Special = ptx::SpecialRegister;

namespace {

constexpr uint64_t kSharedGranule = 128, kReservedShared = 1024;

}  // namespace

Block::Block(Grid& grid, std::array<uint32_t, 3> index) : grid_(grid), index_(index) {
  const auto& shape = grid.launch.block;
  // A block has whole granules, and what CUDA reserves behind them.
  own_shared_bytes_ = grid.program.shared_bytes() + grid.launch.dynamic_shared_bytes;
  reserved_offset_ = (own_shared_bytes_ + kSharedGranule - 1) / kSharedGranule * kSharedGranule;
  shared_.resize(reserved_offset_ + kReservedShared);
  threads_.resize(uint64_t{shape[0]} * shape[1] * shape[2]);
  live_ = static_cast<uint32_t>(threads_.size());
  for (uint32_t i = 0; i < live_; ++i) {
    Thread& thread = threads_[i];
    thread.number = i;
    thread.index = {i % shape[0], i / shape[0] % shape[1], i / shape[0] / shape[1]};
    enter(thread, grid.code, nullptr);
  }
}

bool Block::advance() {
  bool any = false;
  for (Thread& thread : threads_) {
    if (thread.state == State::ready) any = run_thread(thread) || any;
    if (!fault_.empty()) return true;
  }
  return any || resolve_stragglers();
}

void Block::fail(const Thread& thread, const std::string& what) {
  const Frame& frame = thread.frames.back();
  const Instruction& in = frame.code->function->code[frame.pc];
  fault_ = what + " in '" + ptx::print(grid_.program.module(), *frame.code->function, in) +
           "', line " + std::to_string(in.location.line) + ", thread " +
           std::to_string(thread.number) + " of block " + std::to_string(index_[0]);
}

// ---- Operands.

Bits Block::read(Thread& thread, const Operand& operand, Type type) {
  const unsigned bits = type == Type::none ? 128 : ptx::size_bits(type);
  switch (operand.kind) {
    case Kind::reg: {
      const Bits value = truncate(thread.frame().registers[operand.reg], bits);
      return type == Type::pred && operand.negated ? value ^ 1 : value;
    }
    case Kind::immediate:
      return truncate(operand.bits, bits);
    case Kind::special:
      return truncate(read_special(thread, operand), bits);
    case Kind::symbol:
      return truncate(symbol_address(thread, operand, false), bits);
    default:
      fail(thread, "an operand that the reference does not know");
      return 0;
  }
}

namespace {

uint32_t component(const std::array<uint32_t, 3>& values, unsigned index) {
  return index < 3 ? values[index] : 0;
}

uint32_t lane_mask(Special special, unsigned lane) {
  const uint32_t here = 1u << lane, below = here - 1;
  switch (special) {
    case Special::lanemask_eq:
      return here;
    case Special::lanemask_le:
      return here | below;
    case Special::lanemask_lt:
      return below;
    case Special::lanemask_ge:
      return ~below;
    default:
      return ~(here | below);
  }
}

}  // namespace

Bits Block::read_special(const Thread& thread, const Operand& operand) const {
  const Launch& launch = grid_.launch;
  const unsigned c = operand.component;
  switch (operand.special) {
    case Special::tid:
      return component(thread.index, c);
    case Special::ntid:
      return component(launch.block, c);
    case Special::ctaid:
    case Special::clusterid:
      return component(index_, c);
    case Special::nctaid:
    case Special::nclusterid:
      return component(launch.grid, c);
    case Special::laneid:
      return thread.lane();
    case Special::warpid:
      return thread.number / kWarpLanes;
    case Special::nwarpid:
      return (threads_.size() + kWarpLanes - 1) / kWarpLanes;
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
      return lane_mask(operand.special, thread.lane());
    case Special::dynamic_smem_size:
      return launch.dynamic_shared_bytes;
    case Special::total_smem_size:
    case Special::reserved_smem_offset_begin:
      return reserved_offset_;
    case Special::reserved_smem_offset_0:
      return reserved_offset_ + 64;
    case Special::reserved_smem_offset_1:
      return reserved_offset_ + 512;
    case Special::reserved_smem_offset_end:
    case Special::aggr_smem_size:
      return shared_.size();
    case Special::reserved_smem_offset_cap:
      return kReservedShared;
    case Special::cluster_nctaid:
      return c < 3 ? 1 : 0;
    case Special::cluster_nctarank:
    case Special::nsmid:
      return 1;
    case Special::clock:
    case Special::clock64:
    case Special::globaltimer:
    case Special::globaltimer_lo:
      return grid_.steps;
    default:
      return 0;
  }
}

void Block::write(Thread& thread, const Operand& operand, Type type, Bits value) {
  if (operand.kind == Kind::sink) return;
  if (operand.kind != Kind::reg) return fail(thread, "a destination that is no register");
  const Type declared = thread.frame().code->function->registers[operand.reg].type;
  const Bits filled = fill_register(value, type, ptx::size_bits(declared));
  thread.frame().registers[operand.reg] = filled;
}

/// d|p, or d alone.
void Block::write_pair(Thread& thread, const Operand& operand, Type type, Bits value, bool second) {
  if (operand.kind != Kind::pair) return write(thread, operand, type, value);
  write(thread, element(thread, operand, 0), type, value);
  write(thread, element(thread, operand, 1), Type::pred, second ? 1 : 0);
}

const Operand& Block::element(Thread& thread, const Operand& list, uint32_t index) {
  return thread.frame().code->function->operand_pool[list.first + index];
}

}  // namespace km::reference
