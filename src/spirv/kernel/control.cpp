// Control flow in SPIR-V's structured form: each construct has one entry and one exit.
#include <algorithm>

#include "spirv/kernel/shader.h"

namespace km::spirv {

using spv::Op;

void Shader::branch(Id to) { append(b.code().body, Op::OpBranch, {to}); }
void Shader::label(Id id) { append(b.code().body, Op::OpLabel, {id}); }

void Shader::nested(uint32_t levels, const Body& body) {
  nesting_ += levels;
  deepest_ = std::max(deepest_, nesting_);
  body();
  nesting_ -= levels;
}

void Shader::if_then(V condition, const Body& then) { if_else(condition, then, nullptr); }

void Shader::if_else(V condition, const Body& then, const Body& otherwise) {
  if (condition->is_constant) {
    if (condition->content != 0) return then();
    if (otherwise) otherwise();
    return;
  }
  auto& writer = context.writer;
  const Id yes = writer.new_id(), end = writer.new_id();
  const Id no = otherwise ? writer.new_id() : end;
  append(b.code().body, Op::OpSelectionMerge, {end, word(spv::SelectionControlMask::MaskNone)});
  append(b.code().body, Op::OpBranchConditional, {condition->id, yes, no});
  label(yes);
  nested(1, then);
  branch(end);
  if (otherwise) {
    label(no);
    nested(1, otherwise);
    branch(end);
  }
  label(end);
}

void Shader::in_threads(const Body& body) {
  if (!facts.idle_lanes_loop) return body();
  if_then(has_thread(), body);
}

/// Emits a loop. The result is true for threads whose loop the driver has ended early
/// (`most_loop_iterations`), which would have gone on.
V Shader::loop(const std::function<V()>& body) {
  auto& writer = context.writer;
  const Id header = writer.new_id(), inside = writer.new_id(), next = writer.new_id(),
           end = writer.new_id();
  // In another function the compiler would know that no thread goes on after the loop.
  const bool is_limited = facts.most_loop_iterations != 0 && &b.code() == &main;
  Variable more;
  if (is_limited) more = new_variable(b.getInt1Ty());
  branch(header);
  label(header);
  append(b.code().body, Op::OpLoopMerge, {end, next, word(spv::LoopControlMask::DontUnroll)});
  branch(inside);
  label(inside);
  V again = nullptr;
  nested(1, [&] { again = body(); });
  if (is_limited) store(more, again);
  branch(next);
  label(next);
  append(b.code().body, Op::OpBranchConditional, {again->id, header, end});
  label(end);
  if (!is_limited) return b.getFalse();
  V early = load(more);
  if_then(early, [&] { keep_ended_loop(); });
  return early;
}

namespace {

/// The driver counts the rounds of all loops of a thread: these are not worth one for each number.
constexpr uint32_t kBodiesOfARound = 8;

}  // namespace

void Shader::repeat(uint32_t count, const std::function<void(V)>& body) {
  const uint32_t bodies =
      facts.most_loop_iterations != 0 && count % kBodiesOfARound == 0 ? kBodiesOfARound : 1;
  const Variable index = new_variable(b.getInt32Ty());
  store(index, u32(0));
  loop([&] {
    for (uint32_t i = 0; i < bodies; ++i) body(b.CreateAdd(load(index), u32(i)));
    V after = b.CreateAdd(load(index), u32(bodies));
    store(index, after);
    return b.CreateICmpULT(after, u32(count));
  });
}

void Shader::choose(V selector, const std::vector<std::pair<uint32_t, Body>>& cases) {
  auto& writer = context.writer;
  const Id end = writer.new_id();
  Words operands{selector->id, end};
  std::vector<Id> labels;
  for (const auto& one : cases) {
    labels.push_back(writer.new_id());
    operands.insert(operands.end(), {one.first, labels.back()});
  }
  append(b.code().body, Op::OpSelectionMerge, {end, word(spv::SelectionControlMask::MaskNone)});
  append(b.code().body, Op::OpSwitch, operands);
  const auto levels = static_cast<uint32_t>(facts.switches_nest ? cases.size() : 1);
  for (size_t i = 0; i < cases.size(); ++i) {
    label(labels[i]);
    nested(levels, cases[i].second);
    branch(end);
  }
  label(end);
}

namespace {

constexpr uint32_t kAllMemory = word(spv::MemorySemanticsMask::AcquireRelease) |
                                word(spv::MemorySemanticsMask::UniformMemory) |
                                word(spv::MemorySemanticsMask::WorkgroupMemory);

}  // namespace

void Shader::barrier() {
  const Id scope = context.writer.u32(word(spv::Scope::Workgroup));
  append(b.code().body, Op::OpControlBarrier, {scope, scope, context.writer.u32(kAllMemory)});
}

void Shader::memory_barrier(spv::Scope scope) {
  if (facts.memory_barriers_wait) {
    b.make(Op::OpAtomicOr, b.getInt32Ty(),
           {state_word(u32(kFenceWord)), context.writer.u32(word(spv::Scope::Workgroup)),
            context.writer.u32(0), u32(0)->id});
    return;
  }
  append(b.code().body, Op::OpMemoryBarrier,
         {context.writer.u32(word(scope)), context.writer.u32(kAllMemory)});
}

namespace {

constexpr uint32_t kCount = 3;  // the word of the block's state that counts threads

}  // namespace

V Shader::count_in_block(V truth) {
  store_word(state_word(u32(kCount)), u32(0));
  barrier();
  if_then(truth, [&] {
    b.make(Op::OpAtomicIAdd, b.getInt32Ty(),
           {state_word(u32(kCount)), context.writer.u32(word(spv::Scope::Workgroup)),
            context.writer.u32(0), u32(1)->id});
  });
  barrier();
  V count = load_word(state_word(u32(kCount)));
  barrier();
  return count;
}

Shader::Variable Shader::new_short_variable(llvm::Type* type) {
  Variable made{type, {}, 0};
  const unsigned count = type->is_wide() ? type->bits() / 64 : 1;
  const Id of = type->is_wide() ? b.getInt64Ty()->id() : type->id();
  const Id pointer = context.writer.pointer_type(spv::StorageClass::Function, of);
  for (unsigned i = 0; i < count; ++i) {
    made.ids.push_back(context.writer.new_id());
    append(b.code().variables, Op::OpVariable,
           {pointer, made.ids.back(), word(spv::StorageClass::Function)});
  }
  return made;
}

/// Variables of other functions than the kernel's stay short: those are inlined where they are
/// called, and all threads that enter their loops leave them together.
Shader::Variable Shader::new_variable(llvm::Type* type) {
  const bool in_kernel = &b.code() == &main;
  if (!facts.loses_loop_values || !in_kernel || unknown_zero_ == nullptr) {
    return new_short_variable(type);
  }
  Variable made{type, {}, kept_words_};
  kept_words_ += type->bits() > 32 ? type->bits() / 32 : 1;
  return made;
}

Id Shader::kept_word(uint32_t slot) {
  if (kept_ == 0) kept_ = context.writer.new_id();
  const Id pointer = context.writer.pointer_type(spv::StorageClass::Function, b.getInt32Ty()->id());
  const Id place = context.writer.new_id();
  V index = b.CreateAdd(u32(slot), unknown_zero_);
  append(b.code().body, Op::OpAccessChain, {pointer, place, kept_, index->id});
  return place;
}

void Shader::declare_kept_words() {
  if (kept_ == 0) return;
  auto& writer = context.writer;
  const Id array = writer.array_type(b.getInt32Ty()->id(), writer.u32(kept_words_), 0);
  append(main.variables, Op::OpVariable,
         {writer.pointer_type(spv::StorageClass::Function, array), kept_,
          word(spv::StorageClass::Function)});
}

V Shader::load(const Variable& variable) {
  llvm::Type* type = variable.type;
  if (type->is_wide()) {
    V made = context.new_value();
    made->type = type;
    for (unsigned i = 0; i < type->bits() / 64; ++i) {
      const bool is_kept = variable.ids.empty();
      made->limbs.push_back(
          load({b.getInt64Ty(), is_kept ? std::vector<Id>{} : std::vector<Id>{variable.ids[i]},
                variable.slot + 2 * i}));
    }
    return made;
  }
  if (!variable.ids.empty()) return b.make(Op::OpLoad, type, {variable.ids[0]});
  V low = load_word(kept_word(variable.slot));
  if (type->bits() <= 32) return b.CreateZExtOrTrunc(low, type);
  V high = load_word(kept_word(variable.slot + 1));
  return b.CreateOr(b.CreateZExt(low, type), b.CreateShl(b.CreateZExt(high, type), u64(32)));
}

void Shader::store(const Variable& variable, V value) {
  if (variable.type->is_wide()) {
    for (unsigned i = 0; i < value->limbs.size(); ++i) {
      const bool is_kept = variable.ids.empty();
      store({b.getInt64Ty(), is_kept ? std::vector<Id>{} : std::vector<Id>{variable.ids[i]},
             variable.slot + 2 * i},
            value->limbs[i]);
    }
    return;
  }
  if (!variable.ids.empty()) {
    append(b.code().body, Op::OpStore, {variable.ids[0], value->id});
    return;
  }
  store_word(kept_word(variable.slot), b.CreateZExtOrTrunc(value, b.getInt32Ty()));
  if (variable.type->bits() <= 32) return;
  V high = b.CreateTrunc(b.CreateLShr(value, u64(32)), b.getInt32Ty());
  store_word(kept_word(variable.slot + 1), high);
}

}  // namespace km::spirv
