// Addresses, loads and stores.
#include <cstring>

#include "reference/block.h"
#include "reference/values.h"

namespace km::reference {

using ptx::Operand;
using ptx::Space;
using Kind = ptx::Operand::Kind;

namespace {

uint64_t window_of(Space space) {
  if (space == Space::shared) return kSharedBase;
  return space == Space::local ? kLocalBase : 0;
}

bool in_window(uint64_t address, uint64_t base) { return address - base < kWindowBytes; }

/// Whether [offset, offset + size) lies in `bytes`.
uint8_t* within(std::vector<uint8_t>& bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return nullptr;
  return bytes.data() + offset;
}

}  // namespace

/// As the instructions of its space want it, or generic. Those of parameters are generic always.
uint64_t Block::symbol_address(Thread& thread, const Operand& operand, bool generic) {
  const Frame& frame = thread.frame();
  const Place place = grid_.program.place(*frame.code, operand);
  switch (place.space) {
    case Space::shared:
      return place.address + (generic ? kSharedBase : 0);
    case Space::local:
      return frame.base + place.address + (generic ? kLocalBase : 0);
    case Space::param:
      return place.address >= kParamBase ? place.address : kLocalBase + frame.base + place.address;
    default:
      return place.address;
  }
}

/// The generic address that an operand in brackets means.
uint64_t Block::address_of(Thread& thread, Space space, const Operand& operand) {
  if (operand.symbol != ptx::kNone) return symbol_address(thread, operand, true);
  uint64_t address = static_cast<uint64_t>(operand.offset);
  if (operand.reg != ptx::kNone) {
    address += static_cast<uint64_t>(thread.frame().registers[operand.reg]);
  }
  const uint64_t window = window_of(space);
  return window ? window + static_cast<uint32_t>(address) : address;
}

uint8_t* Block::find(Thread& thread, uint64_t address, uint64_t size_bytes, uint64_t align_bytes) {
  if (address % align_bytes != 0) {
    fail(thread, "a misaligned address");
    return nullptr;
  }
  uint8_t* found = nullptr;
  if (in_window(address, kSharedBase)) {
    const uint64_t offset = address - kSharedBase;
    const bool is_kept = offset + size_bytes <= own_shared_bytes_ || offset >= reserved_offset_;
    if (is_kept) found = within(shared_, offset, size_bytes);
  } else if (in_window(address, kLocalBase)) {
    found = within(thread.local, address - kLocalBase, size_bytes);
  } else if (in_window(address, kParamBase)) {
    found = within(grid_.params, address - kParamBase, size_bytes);
  } else {
    found = grid_.program.find(address, size_bytes);
  }
  if (found == nullptr) fail(thread, kIllegalAddress);
  return found;
}

void Block::load(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  const Type type = in.type(in.type_count - 1u);
  const Operand& to = in.operands[0];
  const uint32_t count = to.kind == Kind::vector ? to.count : 1;
  const uint64_t size = ptx::size_bytes(type);
  const uint64_t address = address_of(thread, ptx::space_of(in), in.operands[1]);
  const uint8_t* bytes = find(thread, address, count * size, count * size);
  for (uint32_t i = 0; bytes != nullptr && i < count; ++i) {
    Bits value = 0;
    std::memcpy(&value, bytes + i * size, size);
    write(thread, to.kind == Kind::vector ? element(thread, to, i) : to, type, value);
  }
}

void Block::store(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  const Type type = in.type(in.type_count - 1u);
  const Operand& from = in.operands[1];
  const uint32_t count = from.kind == Kind::vector ? from.count : 1;
  const uint64_t size = ptx::size_bytes(type);
  const uint64_t address = address_of(thread, ptx::space_of(in), in.operands[0]);
  uint8_t* bytes = find(thread, address, count * size, count * size);
  for (uint32_t i = 0; bytes != nullptr && i < count; ++i) {
    const Bits value =
        read(thread, from.kind == Kind::vector ? element(thread, from, i) : from, type);
    std::memcpy(bytes + i * size, &value, size);
  }
}

void Block::convert_address(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  const Operand& from = in.operands[1];
  const uint64_t window = window_of(ptx::space_of(in));
  uint64_t address = 0;
  if (from.kind == Kind::symbol) {
    address = symbol_address(thread, from, true);
  } else {
    address = static_cast<uint64_t>(read(thread, from, step.types[1]));
    address = in.has(Modifier::to) ? address - window : address + window;
  }
  write(thread, in.operands[0], step.types[0], address);
}

void Block::test_space(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  const auto address = static_cast<uint64_t>(read(thread, in.operands[1], step.types[1]));
  bool inside = false;
  switch (ptx::space_of(in)) {
    case Space::shared:
      inside = in_window(address, kSharedBase);
      break;
    case Space::local:
      inside = in_window(address, kLocalBase);
      break;
    case Space::param:
      inside = in_window(address, kParamBase);
      break;
    default:
      inside = address >= kGlobalBase && address < kSharedBase && in.has(Modifier::global);
      break;
  }
  write(thread, in.operands[0], Type::pred, inside ? 1 : 0);
}

/// cp.async, done at once: waiting for it is nothing.
void Block::copy_async(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  for (Modifier waits : {Modifier::commit_group, Modifier::wait_group, Modifier::wait_all}) {
    if (in.has(waits) && !in.has(Modifier::bulk)) return;
  }
  if (in.has(Modifier::bulk) || in.has(Modifier::mbarrier)) {
    return fail(thread, "an instruction that the reference does not know");
  }
  const uint64_t size = in.operands[2].bits;
  uint64_t valid = size;
  const bool has_third = in.operand_count > (in.has(Modifier::L2_cache_hint) ? 4 : 3);
  if (has_third) {
    const auto third = static_cast<uint64_t>(read(thread, in.operands[3], step.types[3]));
    valid = step.types[3] == Type::pred ? (third ? 0 : size) : third;
  }
  const uint64_t to = address_of(thread, Space::shared, in.operands[0]);
  const uint64_t from = address_of(thread, Space::global, in.operands[1]);
  uint8_t* target = find(thread, to, size, size);
  if (target == nullptr) return;
  std::memset(target, 0, size);
  if (valid == 0) return;
  const uint8_t* source = find(thread, from, valid, size);
  if (source != nullptr) std::memcpy(target, source, valid);
}

}  // namespace km::reference
