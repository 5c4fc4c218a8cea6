#include "backends/cpu/module/module_variables.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "backends/cpu/device/context.h"
#include "backends/cpu/order/stream_order.h"
#include "base/assert.h"
#include "base/cuda/python_packages.h"
#include "base/integers.h"

namespace km::cpu {
namespace {

/// The size that accesses are tested against. It is the variable's, but for XLA, whose kernels read
/// beyond their constants in threads that do not use what they read, as far as a GPU's memory has
/// pages. The search for XLA is made once, because it goes through all loaded libraries.
uint64_t size_in_memory(uint64_t size_bytes) {
  constexpr uint64_t kGranularityBytes = 512;  // of a GPU's allocations
  static const bool is_rounded = xla_is_loaded();
  return round_up(std::max<uint64_t>(size_bytes, 1), is_rounded ? kGranularityBytes : 1);
}

}  // namespace

ModuleVariables::ModuleVariables(Context* context) : context_(*context) { context_.retain(); }

ModuleVariables::~ModuleVariables() {
  for (const auto& [name, placed] : placed_) {
    context_.allocations().remove(placed.info.address, size_in_memory(placed.info.size_bytes));
    if (StreamOrder* const order = StreamOrder::active()) [[unlikely]]
      order->forget(placed.info.address, placed.info.size_bytes);
  }
  for (const Heap::Block& block : blocks_) Heap::instance().free(block);
  context_.release();
}

/// The addresses of the variables with these indices, in one block of memory.
Result<std::vector<uint64_t>> ModuleVariables::allocate(std::span<const simt::Variable> variables,
                                                        const std::vector<uint32_t>& fresh) {
  std::vector<uint64_t> addresses;
  uint64_t size_bytes = 0;
  for (const uint32_t index : fresh) {
    // Variables are aligned like allocations, so that each can become a slice.
    size_bytes =
        round_up(size_bytes, std::max<uint64_t>(variables[index].align_bytes, Heap::kAlignBytes));
    addresses.push_back(size_bytes);
    size_bytes += size_in_memory(variables[index].size_bytes);
    // The gap keeps an access beyond a variable's end from hitting the next one.
    if (context_.is_checked()) size_bytes += Heap::kAlignBytes;
  }
  blocks_.reserve(blocks_.size() + 1);
  KM_ASSIGN(const Heap::Block block, Heap::instance().allocate(size_bytes, true));
  blocks_.push_back(block);
  if (!block.fresh) memset(reinterpret_cast<void*>(block.address), 0, size_bytes);
  for (uint64_t& address : addresses) address += block.address;
  return addresses;
}

Status ModuleVariables::place(const simt::Program& program) {
  const std::span<const simt::Variable> variables = program.variables();
  std::vector<uint32_t> fresh;
  for (uint32_t i = 0; i < variables.size(); ++i) {
    if (!has(variables[i].name)) fresh.push_back(i);
  }
  if (fresh.empty()) return {};
  KM_ASSIGN(const std::vector<uint64_t> addresses, allocate(variables, fresh));
  PlacedByName added;
  for (size_t i = 0; i < fresh.size(); ++i) {
    const simt::Variable& variable = variables[fresh[i]];
    const kmb_global_info info{addresses[i], reinterpret_cast<void*>(addresses[i]),
                               variable.size_bytes, variable.element_size_bytes,
                               variable.is_constant ? 1u : 0u};
    added.emplace(variable.name, Placed{info, variable.is_visible});
  }
  note_allocations(added);
  for (const auto& [name, placed] : added) {
    if (StreamOrder* const order = StreamOrder::active()) [[unlikely]]
      order->follow(placed.info.address, placed.info.size_bytes);
  }
  placed_.merge(added);
  for (const uint32_t index : fresh) initialise(variables, index);
  return {};
}

/// Notes all of them, or none if there is no memory for that.
void ModuleVariables::note_allocations(const PlacedByName& added) const {
  size_t count = 0;
  try {
    for (const auto& [name, placed] : added) {
      context_.allocations().add(placed.info.address, size_in_memory(placed.info.size_bytes));
      ++count;
    }
  } catch (const std::bad_alloc&) {
    for (auto each = added.begin(); count > 0; ++each, --count) {
      const kmb_global_info& info = each->second.info;
      context_.allocations().remove(info.address, size_in_memory(info.size_bytes));
    }
    throw;
  }
}

/// All variables that its initial data may name have addresses.
void ModuleVariables::initialise(std::span<const simt::Variable> variables, uint32_t index) const {
  const simt::Variable& variable = variables[index];
  auto* data = static_cast<uint8_t*>(placed_.find(variable.name)->second.info.host_pointer);
  if (!variable.data.empty()) memcpy(data, variable.data.data(), variable.data.size());
  for (const simt::Variable::Address& address : variable.addresses) {
    const auto target = placed_.find(variables[address.target].name);
    const uint64_t value = address.content(target->second.info.address);
    memcpy(data + address.offset, &value, std::min<size_t>(address.size_bytes, sizeof value));
  }
}

std::vector<uint64_t> ModuleVariables::addresses_of(std::span<const std::string> names) const {
  std::vector<uint64_t> addresses;
  for (const std::string& name : names) {
    const auto found = placed_.find(name);
    KM_ASSERT(found != placed_.end(), "a kernel's variables are placed before it runs");
    addresses.push_back(found->second.info.address);
  }
  return addresses;
}

const kmb_global_info* ModuleVariables::find_visible(std::string_view name) const {
  const auto found = placed_.find(name);
  return found == placed_.end() || !found->second.is_visible ? nullptr : &found->second.info;
}

std::vector<std::string_view> ModuleVariables::visible_names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, placed] : placed_) {
    if (placed.is_visible) names.emplace_back(name);
  }
  return names;
}

}  // namespace km::cpu
