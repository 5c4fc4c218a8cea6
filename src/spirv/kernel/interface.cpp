#include "spirv/kernel/interface.h"

#include <algorithm>
#include <cstddef>

#include "simt/kernel/shared_memory.h"
#include "simt/transform/inline/dynamic_stack.h"

namespace km::spirv {

using spv::Op;

namespace {

constexpr uint32_t kStateWords = 128;
/// Whole warps, so that every lane of a warp has a word.
constexpr uint32_t kMoreThreads = 64;

}  // namespace

ShaderInterface::ShaderInterface(const ShaderInput& from)
    : input(from),
      kernel(from.kernel),
      facts(from.facts),
      context(from.facts),
      main(context.writer.new_function(context.writer.void_type(), {})),
      b(context, main),
      arithmetic(b, simt::Machine()) {
  declare_execution_modes();
  declare_interface();
  declare_memory();
}

void ShaderInterface::declare_execution_modes() {
  auto& writer = context.writer;
  writer.add_capability(spv::Capability::Shader);
  if (facts.has_arena) {
    writer.use_logical_addresses();
  } else {
    writer.add_capability(spv::Capability::PhysicalStorageBufferAddresses);
  }
  // The mode with constants comes first; the decoration of WorkgroupSize overrides it.
  const std::array<uint32_t, 4> shape = input.options.shape;
  writer.add_execution_mode(
      spv::ExecutionMode::LocalSize,
      {std::max(shape[0], 1u), std::max(shape[1], 1u), std::max(shape[2], 1u)});
  const auto add = [&](bool has, spv::Capability capability, spv::ExecutionMode mode,
                       uint32_t bits) {
    if (!has) return;
    writer.add_capability(capability);
    writer.add_extension("SPV_KHR_float_controls");
    writer.add_execution_mode(mode, {bits});
  };
  add(facts.can_preserve_nan_32, spv::Capability::SignedZeroInfNanPreserve,
      spv::ExecutionMode::SignedZeroInfNanPreserve, 32);
  add(facts.can_preserve_denorms_32, spv::Capability::DenormPreserve,
      spv::ExecutionMode::DenormPreserve, 32);
  add(facts.can_round_to_nearest_32, spv::Capability::RoundingModeRTE,
      spv::ExecutionMode::RoundingModeRTE, 32);
  if (!facts.has_float64) return;
  add(facts.can_preserve_nan_64, spv::Capability::SignedZeroInfNanPreserve,
      spv::ExecutionMode::SignedZeroInfNanPreserve, 64);
  add(facts.can_preserve_denorms_64, spv::Capability::DenormPreserve,
      spv::ExecutionMode::DenormPreserve, 64);
  add(facts.can_round_to_nearest_64, spv::Capability::RoundingModeRTE,
      spv::ExecutionMode::RoundingModeRTE, 64);
}

void ShaderInterface::declare_block_size() {
  auto& writer = context.writer;
  auto* word_type = b.getInt32Ty();
  const std::array<uint32_t, 4> shape = input.options.shape;
  if (shape[0] != 0) {
    for (const uint32_t number : {kBlockX, kBlockY, kBlockZ}) {
      block_size_.push_back(u32(shape[number]));
    }
    block_threads_ = u32(shape[kBlockX] * shape[kBlockY] * shape[kBlockZ]);
    return;
  }
  std::vector<Id> sizes;
  for (const uint32_t number : {kBlockX, kBlockY, kBlockZ}) {
    V size = context.new_value();
    size->type = word_type;
    size->id = writer.spec_constant(number, 1);
    context.note_known(size->id);
    block_size_.push_back(size);
    sizes.push_back(size->id);
  }
  const Id size =
      writer.declare(Op::OpSpecConstantComposite, writer.vector_type(word_type->id(), 3), sizes);
  writer.decorate(size, spv::Decoration::BuiltIn, {word(spv::BuiltIn::WorkgroupSize)});
  const auto product = [&](Id a, Id c) {
    const uint32_t operands[] = {word(Op::OpIMul), a, c};
    return writer.declare(Op::OpSpecConstantOp, word_type->id(), operands);
  };
  block_threads_ = context.new_value();
  block_threads_->type = word_type;
  block_threads_->id = product(product(sizes[0], sizes[1]), sizes[2]);
  context.note_known(block_threads_->id);
}

void ShaderInterface::declare_push_constants() {
  auto& writer = context.writer;
  auto* word_type = b.getInt32Ty();
  const Id word_id = word_type->id();
  // Six words: the address is two of them, which all languages have.
  static_assert(sizeof(PushConstants) == 6 * sizeof(uint32_t));
  const std::vector<Id> members(6, word_id);
  const uint32_t offsets[] = {0, 4, 8, 12, 16, 20};
  const Id block = writer.struct_type(members, offsets);
  writer.decorate(block, spv::Decoration::Block);
  const auto storage =
      facts.has_arena ? spv::StorageClass::Uniform : spv::StorageClass::PushConstant;
  push_constants_ = writer.global_variable(storage, block);
  if (facts.has_arena) {
    writer.decorate(push_constants_, spv::Decoration::DescriptorSet, {0});
    writer.decorate(push_constants_, spv::Decoration::Binding, {kUniformBinding});
  }
  const auto pushed = [&](uint32_t offset_bytes) {
    const Id pointer = writer.pointer_type(storage, word_id);
    const Id place = writer.new_id();
    append(b.code().body, Op::OpAccessChain,
           {pointer, place, push_constants_, writer.u32(offset_bytes / 4)});
    return b.make(Op::OpLoad, word_type, {place});
  };
  V low = b.CreateZExt(pushed(offsetof(PushConstants, record)), b.getInt64Ty());
  V high = b.CreateZExt(pushed(offsetof(PushConstants, record) + 4), b.getInt64Ty());
  record_ = b.CreateOr(low, b.CreateShl(high, u64(32)));
  for (uint32_t axis = 0; axis < 3; ++axis) {
    base_block_.push_back(pushed(offsetof(PushConstants, base_block) + 4 * axis));
  }
  unknown_zero_ = pushed(offsetof(PushConstants, reserved));
  context.unknown_zero = unknown_zero_;
  context.unknown_zero_in = &b.code();
}

/// The arena is coherent: threads of a block exchange data by it, too.
void ShaderInterface::declare_arena() {
  if (!facts.has_arena) return;
  auto& writer = context.writer;
  const Id members[] = {writer.runtime_array_type(b.getInt32Ty()->id(), sizeof(uint32_t))};
  const uint32_t offsets[] = {0};
  const Id block = writer.struct_type(members, offsets);
  writer.decorate(block, spv::Decoration::Block);
  writer.decorate_member(block, 0, spv::Decoration::Coherent);
  arena_ = writer.global_variable(spv::StorageClass::StorageBuffer, block);
  writer.decorate(arena_, spv::Decoration::DescriptorSet, {0});
  writer.decorate(arena_, spv::Decoration::Binding, {kArenaBinding});
}

void ShaderInterface::declare_interface() {
  auto* word_type = b.getInt32Ty();
  declare_block_size();
  declare_arena();
  declare_push_constants();
  for (const uint32_t offset :
       {offsetof(LaunchRecord, params), offsetof(LaunchRecord, variables),
        offsetof(LaunchRecord, fault), offsetof(LaunchRecord, print),
        offsetof(LaunchRecord, allocations), offsetof(LaunchRecord, grid_id)}) {
    record_words_[offset] =
        load_global(b.CreateAdd(record_, u64(offset)), b.getInt64Ty(), sizeof(uint64_t));
  }
  for (const uint32_t offset :
       {offsetof(LaunchRecord, allocation_count), offsetof(LaunchRecord, grid),
        offsetof(LaunchRecord, grid) + 4, offsetof(LaunchRecord, grid) + 8,
        offsetof(LaunchRecord, shared_dynamic_bytes), offsetof(LaunchRecord, print_bytes)}) {
    record_words_[offset] =
        load_global(b.CreateAdd(record_, u64(offset)), word_type, sizeof(uint32_t));
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    builtin(spv::BuiltIn::LocalInvocationId, axis);
    builtin(spv::BuiltIn::WorkgroupId, axis);
  }
  builtin(spv::BuiltIn::LocalInvocationIndex, 0);
}

bool ShaderInterface::has_wide_shared_atomics() const {
  for (const simt::BasicBlock& block : kernel.blocks) {
    for (const simt::Inst& inst : block.insts) {
      const bool is_atomic =
          inst.ptx->opcode == ptx::Opcode::atom || inst.ptx->opcode == ptx::Opcode::red;
      if (is_atomic && ptx::size_bits(inst.ptx->type()) == 64 &&
          !inst.ptx->has(ptx::Modifier::global))
        return true;
    }
  }
  return false;
}

void ShaderInterface::declare_memory() {
  auto& writer = context.writer;
  const Id word_type = b.getInt32Ty()->id();
  const auto& layout = input.analysed.layout;
  // Shared memory: the variables, rounded up to 16 bytes, and the dynamic part.
  const uint32_t own_words = static_cast<uint32_t>((own_shared_bytes() + 15) / 16 * 4);
  const std::array<uint32_t, 4> shape = input.options.shape;
  Id length = writer.u32(std::max(own_words, 1u) + shape[kSharedWords]);
  if (shape[kBlockX] == 0) {
    const uint32_t sum[] = {word(Op::OpIAdd), length, writer.spec_constant(kSharedWords, 0)};
    length = writer.declare(Op::OpSpecConstantOp, word_type, sum);
  }
  shared_words_ = context.new_value();
  shared_words_->type = b.getInt32Ty();
  shared_words_->id = length;
  context.note_known(length);
  shared_ =
      writer.global_variable(spv::StorageClass::Workgroup, writer.array_type(word_type, length, 0));
  const uint64_t local_words = (layout.local_bytes + 3) / 4;
  if (local_words == 0) return;
  const Id array = writer.array_type(word_type, writer.u32(static_cast<uint32_t>(local_words)), 0);
  local_ = writer.new_id();
  append(main.variables, Op::OpVariable,
         {writer.pointer_type(spv::StorageClass::Function, array), local_,
          word(spv::StorageClass::Function)});
}

V ShaderInterface::shared_bytes() {
  V dynamic = record_u32(offsetof(LaunchRecord, shared_dynamic_bytes));
  V all = b.CreateShl(b.CreateZExt(shared_words_, b.getInt64Ty()), u64(2));
  return b.CreateSelect(b.CreateICmpEQ(dynamic, u32(0)), u64(own_shared_bytes()), all);
}

uint64_t ShaderInterface::own_shared_bytes() const {
  return input.analysed.layout.dynamic_offset() +
         (input.info.reserves_shared ? simt::kReservedSharedBytes : 0);
}

uint64_t ShaderInterface::shared_extra_bytes() const {
  const uint64_t state = state_ == 0 ? 0 : kStateWords * sizeof(uint32_t);
  const uint64_t scratch =
      scratch_ == 0 ? 0 : (input.info.max_threads + kMoreThreads) * sizeof(uint32_t);
  return state + scratch;
}

// ---- Words of the launch.

V ShaderInterface::builtin(spv::BuiltIn kind, unsigned component) {
  V& known = builtins_[{word(kind), component}];
  if (known != nullptr) return known;
  auto& writer = context.writer;
  auto* word_type = b.getInt32Ty();
  const bool is_vector =
      kind != spv::BuiltIn::LocalInvocationIndex && kind != spv::BuiltIn::SubgroupLocalInvocationId;
  auto* type = is_vector ? llvm::FixedVectorType::get(word_type, 3) : word_type;
  const Id variable = writer.global_variable(spv::StorageClass::Input, type->id());
  writer.decorate(variable, spv::Decoration::BuiltIn, {word(kind)});
  V whole = b.make(Op::OpLoad, type, {variable});
  // Drivers know the places of threads in blocks of one thread.
  if (kind == spv::BuiltIn::LocalInvocationId || kind == spv::BuiltIn::LocalInvocationIndex) {
    context.note_known(whole->id);
  }
  for (unsigned i = 0; is_vector && i < 3; ++i) {
    builtins_[{word(kind), i}] = b.CreateExtractElement(whole, i);
  }
  if (!is_vector) known = whole;
  return builtins_[{word(kind), component}];
}

V ShaderInterface::has_thread() {
  if (facts.has_arena) return b.CreateICmpULT(thread_index(), block_threads());
  context.writer.add_capability(spv::Capability::GroupNonUniform);
  V lane = builtin(spv::BuiltIn::SubgroupLocalInvocationId, 0);
  V nothing = b.CreateZExt(b.CreateAnd(lane, unknown_zero_), b.getInt64Ty());
  V place = b.CreateAdd(record_, u64(offsetof(LaunchRecord, grid)));
  V blocks = load_global(b.CreateAdd(place, nothing), b.getInt32Ty(), sizeof(uint32_t));
  return b.CreateICmpNE(blocks, u32(0));
}

V ShaderInterface::thread_index() { return builtin(spv::BuiltIn::LocalInvocationIndex, 0); }
V ShaderInterface::thread_index(unsigned axis) {
  return builtin(spv::BuiltIn::LocalInvocationId, axis);
}
V ShaderInterface::block_index(unsigned axis) {
  return b.CreateAdd(builtin(spv::BuiltIn::WorkgroupId, axis), base_block_[axis]);
}
V ShaderInterface::block_size(unsigned axis) { return block_size_[axis]; }
V ShaderInterface::block_threads() { return block_threads_; }
V ShaderInterface::lane() { return b.CreateAnd(thread_index(), u32(31)); }
V ShaderInterface::first_of_warp() { return b.CreateAnd(thread_index(), u32(~31u)); }
V ShaderInterface::record_u64(uint32_t offset_bytes) { return record_words_.at(offset_bytes); }
V ShaderInterface::record_u32(uint32_t offset_bytes) { return record_words_.at(offset_bytes); }

V ShaderInterface::special_register(const ptx::Operand& operand) {
  using Special = ptx::SpecialRegister;
  const unsigned axis = operand.component;
  if (axis >= 3) return u32(0);
  V bit = b.CreateShl(u32(1), lane());
  V above = b.CreateShl(b.CreateNeg(bit), u32(1));
  switch (operand.special) {
    case Special::tid:
      return thread_index(axis);
    case Special::ntid:
      return block_size(axis);
    case Special::ctaid:
      return block_index(axis);
    case Special::nctaid:
      return record_u32(offsetof(LaunchRecord, grid) + 4 * axis);
    case Special::laneid:
      return lane();
    case Special::warpid:
      return b.CreateLShr(thread_index(), u32(5));
    case Special::nwarpid:
      return b.CreateLShr(b.CreateAdd(block_threads(), u32(31)), u32(5));
    case Special::lanemask_eq:
      return bit;
    case Special::lanemask_lt:
      return b.CreateSub(bit, u32(1));
    case Special::lanemask_le:
      return b.CreateNot(above);
    case Special::lanemask_ge:
      return b.CreateNeg(bit);
    case Special::lanemask_gt:
      return above;
    case Special::dynamic_smem_size:
      return record_u32(offsetof(LaunchRecord, shared_dynamic_bytes));
    case Special::gridid:
      return record_u64(offsetof(LaunchRecord, grid_id));
    case Special::nsmid:
      return u32(1);
    case Special::smid:
    case Special::current_graph_exec:
    case Special::is_explicit_cluster:
      return u32(0);
    default:
      context.refuse("reads a special register that a shader lacks");
      return u32(0);
  }
}

V ShaderInterface::parameter_address(const ptx::Operand& operand) {
  const auto& list = kernel.function->params;
  const auto found = std::find(list.begin(), list.end(), operand.symbol);
  if (found == list.end() || !operand.local_symbol) {
    context.refuse("names a parameter of another function");
    return u64(0);
  }
  const uint64_t offset = input.info.params[found - list.begin()].offset_bytes + operand.offset;
  return b.CreateAdd(record_u64(offsetof(LaunchRecord, params)), u64(offset));
}

/// The address in the symbol's own space.
V ShaderInterface::symbol_address(const ptx::Operand& operand) {
  const ptx::Symbol& symbol = kernel.symbol_of(operand);
  const auto key = std::make_pair(operand.local_symbol, operand.symbol);
  const auto offset = static_cast<uint64_t>(operand.offset);
  if (symbol.is_function || ptx::kind_of(symbol.type) == ptx::TypeKind::opaque) {
    context.refuse("names a function, a texture or a surface");
    return u64(0);
  }
  const auto place = [&](const auto& places) {
    const auto found = places.find(key);
    if (found == places.end()) context.refuse("names a variable that has no place in memory");
    return u64((found == places.end() ? 0 : found->second) + offset);
  };
  switch (symbol.space) {
    case ptx::Space::shared:
      return place(input.analysed.layout.shared);
    case ptx::Space::local: {
      V address = place(input.analysed.layout.local);
      if (!simt::is_stack(symbol)) return address;
      return b.CreateOr(address, u64(uint64_t{kLocalTag} << 32));
    }
    case ptx::Space::param:
      return parameter_address(operand);
    default:
      break;
  }
  const uint32_t variable =
      operand.local_symbol ? simt::kNone : input.program.variable_of_symbol()[operand.symbol];
  if (variable == simt::kNone) {
    context.refuse("names a variable that has no place in memory");
    return u64(0);
  }
  const uint64_t begin = input.variable_offsets[variable] + offset;
  return b.CreateAdd(record_u64(offsetof(LaunchRecord, variables)), u64(begin));
}

// ---- Words of the memories.

Id ShaderInterface::word_in(Id array, spv::StorageClass storage, V index) {
  const Id pointer = context.writer.pointer_type(storage, b.getInt32Ty()->id());
  const Id place = context.writer.new_id();
  append(b.code().body, Op::OpAccessChain, {pointer, place, array, index->id});
  return place;
}

Id ShaderInterface::shared_word(V index) {
  return word_in(shared_, spv::StorageClass::Workgroup, index);
}
Id ShaderInterface::local_word(V index) {
  return word_in(local_, spv::StorageClass::Function, index);
}

Id ShaderInterface::scratch_word(V index) {
  if (scratch_ == 0) {
    auto& writer = context.writer;
    const Id word_type = b.getInt32Ty()->id();
    const uint32_t more[] = {word(Op::OpIAdd), block_threads_->id, writer.u32(kMoreThreads)};
    const Id length =
        block_threads_->is_constant
            ? writer.u32(static_cast<uint32_t>(block_threads_->content) + kMoreThreads)
            : writer.declare(Op::OpSpecConstantOp, word_type, more);
    scratch_ = writer.global_variable(spv::StorageClass::Workgroup,
                                      writer.array_type(word_type, length, 0));
  }
  return word_in(scratch_, spv::StorageClass::Workgroup, index);
}

Id ShaderInterface::state_word(V index) {
  if (state_ == 0) {
    auto& writer = context.writer;
    state_ =
        writer.global_variable(spv::StorageClass::Workgroup,
                               writer.array_type(b.getInt32Ty()->id(), writer.u32(kStateWords), 0));
  }
  return word_in(state_, spv::StorageClass::Workgroup, index);
}

V ShaderInterface::load_word(Id pointer) { return b.make(Op::OpLoad, b.getInt32Ty(), {pointer}); }

void ShaderInterface::store_word(Id pointer, V value) {
  append(b.code().body, Op::OpStore, {pointer, value->id});
}

V ShaderInterface::low_word(V wide) { return b.CreateTrunc(wide, b.getInt32Ty()); }

Id ShaderInterface::arena_word(V index) {
  const Id pointer =
      context.writer.pointer_type(spv::StorageClass::StorageBuffer, b.getInt32Ty()->id());
  const Id place = context.writer.new_id();
  append(b.code().body, Op::OpAccessChain,
         {pointer, place, arena_, context.writer.u32(0), index->id});
  return place;
}

V ShaderInterface::is_in_arena(V address) {
  V words = b.make(Op::OpArrayLength, b.getInt32Ty(), {arena_, 0});
  V upper = low_word(b.CreateLShr(address, u64(32)));
  V is_arena = b.CreateICmpEQ(upper, u32(static_cast<uint32_t>(kArenaBegin >> 32)));
  return b.CreateAnd(is_arena, b.CreateICmpULT(b.CreateLShr(low_word(address), u32(2)), words));
}

Id ShaderInterface::global_pointer(V address, llvm::Type* type) {
  if (facts.has_arena) return arena_word(b.CreateLShr(low_word(address), u32(2)));
  auto& writer = context.writer;
  const Id pointer = writer.pointer_type(spv::StorageClass::PhysicalStorageBuffer, type->id());
  const Id place = writer.new_id();
  append(b.code().body, Op::OpConvertUToPtr, {pointer, place, address->id});
  return place;
}

Id ShaderInterface::atomic_pointer(V address, llvm::Type* type) {
  if (facts.lacks_pointer_atomics && !facts.has_arena) {
    context.refuse("its translator has no atomic operations on pointers; they need an arena");
  }
  return global_pointer(address, type);
}

namespace {

uint32_t access_mask(bool is_volatile) {
  return word(spv::MemoryAccessMask::Aligned) |
         (is_volatile ? word(spv::MemoryAccessMask::Volatile) : 0);
}

void add_storage_capability(ModuleWriter& writer, unsigned bits) {
  if (bits == 8) {
    writer.add_capability(spv::Capability::StorageBuffer8BitAccess);
    writer.add_extension("SPV_KHR_8bit_storage");
  }
  if (bits == 16) writer.add_capability(spv::Capability::StorageBuffer16BitAccess);
}

}  // namespace

V ShaderInterface::load_global(V address, llvm::Type* type, uint32_t align_bytes,
                               bool is_volatile) {
  if (facts.has_arena) {  // words, or two of them
    V index = b.CreateLShr(low_word(address), u32(2));
    V low = load_word(arena_word(index));
    if (type->bits() == 32) return low;
    V high = b.CreateZExt(load_word(arena_word(b.CreateAdd(index, u32(1)))), type);
    return b.CreateOr(b.CreateZExt(low, type), b.CreateShl(high, u64(32)));
  }
  add_storage_capability(context.writer, type->bits());
  return b.make(Op::OpLoad, type,
                {global_pointer(address, type), access_mask(is_volatile), align_bytes});
}

void ShaderInterface::store_global(V address, V value, uint32_t align_bytes, bool is_volatile) {
  if (facts.has_arena) {
    V index = b.CreateLShr(low_word(address), u32(2));
    store_word(arena_word(index), low_word(value));
    if (value->type->bits() == 32) return;
    V high = low_word(b.CreateLShr(value, u64(32)));
    return store_word(arena_word(b.CreateAdd(index, u32(1))), high);
  }
  add_storage_capability(context.writer, value->type->bits());
  append(b.code().body, Op::OpStore,
         {global_pointer(address, value->type), value->id, access_mask(is_volatile), align_bytes});
}

}  // namespace km::spirv
