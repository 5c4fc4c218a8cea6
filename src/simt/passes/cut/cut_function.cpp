#include "simt/passes/cut/cut_function.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <string>

#include "base/assert.h"
#include "base/integers.h"
#include "simt/passes/cut/partition.h"

namespace km::simt {
namespace {

constexpr const char* kPartAttribute = "km-part";
constexpr uint32_t kReturn = 0;  // result of a part when the function returns
constexpr uint32_t kNoPart = UINT32_MAX;
constexpr uint64_t kClearedBytes = 64;  // bytes cleared at once

/// True if every use is a load or store of the whole variable.
bool is_plain_variable(const llvm::AllocaInst& variable) {
  const llvm::Type* const type = variable.getAllocatedType();
  return std::all_of(variable.user_begin(), variable.user_end(), [&](const llvm::User* user) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      return load->isSimple() && load->getType() == type;
    }
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    return store != nullptr && store->isSimple() && store->getPointerOperand() == &variable &&
           store->getValueOperand()->getType() == type;
  });
}

struct Variable {
  llvm::AllocaInst* alloca = nullptr;
  bool is_plain = false;
  bool is_kept = false;  // kept in the frame, for other parts or the next execution
  uint64_t offset = 0;
};

struct Part {
  BlockList blocks;
  llvm::Function* function = nullptr;
  llvm::BasicBlock *prologue = nullptr, *leave = nullptr;
  llvm::PHINode* next = nullptr;                         // in `leave`: the number of the next block
  llvm::MapVector<llvm::BasicBlock*, uint32_t> entries;  // entry blocks, with their numbers
  llvm::MapVector<uint32_t, llvm::BasicBlock*> exits;    // by number: exit to that block
  std::vector<uint32_t> variables;                       // variables used in this part
  llvm::BitVector stored;                                // by index in `variables`
};

class Cutter {
 public:
  Cutter(llvm::Function& function, std::vector<BlockList> parts)
      : function_(function),
        module_(*function.getParent()),
        context_(function.getContext()),
        layout_(module_.getDataLayout()),
        word_(llvm::Type::getInt32Ty(context_)),
        pointer_(llvm::PointerType::getUnqual(context_)),
        parts_(parts.size()) {
    for (uint32_t p = 0; p < parts.size(); ++p) {
      parts_[p].blocks = std::move(parts[p]);
      for (llvm::BasicBlock* block : parts_[p].blocks) part_of_[block] = p;
    }
  }

  void run() {
    drop_unreached();
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::IRBuilder<> b(&entry, entry.begin());
    frame_ = b.CreateAlloca(b.getInt8Ty(), nullptr, "frame");
    make_functions();
    number_entries();
    lower_phis();
    keep_values();
    find_variables();
    for (uint32_t p = 0; p < parts_.size(); ++p) find_exposed(p);
    place_variables();
    for (Part& part : parts_) cut_exits(part);
    for (Part& part : parts_) move_variables(part);
    for (Part& part : parts_) enter(part);
    drive();
    for (Part& part : parts_) move_blocks(part);
  }

 private:
  uint32_t part_of(const llvm::BasicBlock* block) const {
    const auto found = part_of_.find(block);
    return found == part_of_.end() ? kNoPart : found->second;
  }

  void drop_unreached() {
    llvm::SmallVector<llvm::BasicBlock*> unreached;
    const llvm::BasicBlock* const first = &function_.getEntryBlock();
    for (llvm::BasicBlock& block : function_) {
      const bool stays = &block == first || &block == first->getSingleSuccessor();
      if (!stays && part_of(&block) == kNoPart) unreached.push_back(&block);
    }
    llvm::DeleteDeadBlocks(unreached);
  }

  // ---- Functions.

  void make_functions() {
    llvm::SmallVector<llvm::Type*> types{pointer_, word_};
    for (const llvm::Argument& argument : function_.args()) types.push_back(argument.getType());
    auto* type = llvm::FunctionType::get(word_, types, false);
    for (uint32_t p = 0; p < parts_.size(); ++p) {
      Part& part = parts_[p];
      part.function =
          llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                 function_.getName() + ".part" + std::to_string(p), module_);
      part.function->setDoesNotThrow();
      part.function->addFnAttr(llvm::Attribute::NoInline);
      part.function->addFnAttr(kPartAttribute);
      part.prologue = llvm::BasicBlock::Create(context_, "prologue", part.function);
      part.leave = llvm::BasicBlock::Create(context_, "leave", part.function);
      part.next = llvm::PHINode::Create(word_, 0, "next", part.leave);
    }
  }

  uint64_t add_field(llvm::Type* type) {
    const uint64_t align = layout_.getPrefTypeAlign(type).value();
    const uint64_t offset = round_up(frame_bytes_, align);
    frame_bytes_ = offset + layout_.getTypeAllocSize(type).getFixedValue();
    frame_align_ = std::max(frame_align_, align);
    return offset;
  }

  /// A pointer to a field of the frame, computed at the builder's position in the part.
  llvm::Value* field(llvm::IRBuilder<>& b, uint32_t p, uint64_t offset) {
    KM_ASSERT(offset < frame_bytes_, "a field lies in the frame");
    llvm::Value* frame =
        p == kNoPart ? static_cast<llvm::Value*>(frame_) : parts_[p].function->getArg(0);
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offset);
  }

  // ---- Control between parts.

  void number_entries() {
    for (llvm::BasicBlock& block : function_) {
      const uint32_t p = part_of(&block);
      for (llvm::BasicBlock* succ : llvm::successors(&block)) {
        if (part_of(succ) == p || part_of(succ) == kNoPart) continue;
        parts_[part_of(succ)].entries.insert({succ, 0});
      }
    }
    for (Part& part : parts_) {
      for (auto& entry : part.entries) entry.second = ++numbers_;
    }
  }

  uint32_t number_of(llvm::BasicBlock* entry) const {
    KM_ASSERT(part_of(entry) != kNoPart && parts_[part_of(entry)].entries.count(entry) != 0,
              "a block that other parts branch to has a number");
    return parts_[part_of(entry)].entries.find(entry)->second;
  }

  /// The block by which a part leaves for the block with this number.
  llvm::BasicBlock* exit_to(Part& part, uint32_t number) {
    llvm::BasicBlock*& exit = part.exits[number];
    if (exit == nullptr) {
      exit = llvm::BasicBlock::Create(context_, "exit", part.function);
      llvm::BranchInst::Create(part.leave, exit);
      part.next->addIncoming(llvm::ConstantInt::get(word_, number), exit);
    }
    return exit;
  }

  void cut_exits(Part& part) {
    const uint32_t own = static_cast<uint32_t>(&part - parts_.data());
    for (llvm::BasicBlock* block : part.blocks) {
      llvm::Instruction* end = block->getTerminator();
      if (llvm::isa<llvm::ReturnInst>(end)) {
        cut_return(part, llvm::cast<llvm::ReturnInst>(*end));
        continue;
      }
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        llvm::BasicBlock* succ = end->getSuccessor(i);
        if (part_of(succ) == own) continue;
        end->setSuccessor(i, exit_to(part, number_of(succ)));
      }
    }
  }

  void cut_return(Part& part, llvm::ReturnInst& end) {
    llvm::IRBuilder<> b(&end);
    if (llvm::Value* result = end.getReturnValue()) {
      if (result_offset_ == kNoOffset) result_offset_ = add_field(result->getType());
      b.CreateStore(result, field(b, index_of(part), result_offset_));
    }
    b.CreateBr(exit_to(part, kReturn));
    end.eraseFromParent();
  }

  uint32_t index_of(const Part& part) const { return static_cast<uint32_t>(&part - parts_.data()); }

  // ---- Values that several parts use.

  /// Inputs of a phi from another part pass through the frame.
  void lower_phis() {
    for (Part& part : parts_) {
      llvm::SmallVector<llvm::BasicBlock*> entries;
      for (const auto& entry : part.entries) entries.push_back(entry.first);
      for (llvm::BasicBlock* entry : entries) {
        llvm::SmallVector<llvm::PHINode*> phis;
        for (llvm::PHINode& phi : entry->phis()) phis.push_back(&phi);
        if (!phis.empty()) lower_phis(part, *entry, phis);
      }
    }
  }

  void lower_phis(Part& part, llvm::BasicBlock& block, llvm::ArrayRef<llvm::PHINode*> phis) {
    auto* arrival = llvm::BasicBlock::Create(context_, "arrival", &function_, &block);
    part_of_[arrival] = index_of(part);
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::IRBuilder<> b(arrival), variables(&entry, entry.getFirstInsertionPt());
    for (llvm::PHINode* phi : phis) {
      auto* kept = variables.CreateAlloca(phi->getType(), nullptr, "phi");
      for (unsigned i = phi->getNumIncomingValues(); i-- > 0;) {
        llvm::BasicBlock* from = phi->getIncomingBlock(i);
        if (part_of(from) == index_of(part) && from != arrival) continue;
        llvm::IRBuilder<>(from->getTerminator()).CreateStore(phi->getIncomingValue(i), kept);
        phi->removeIncomingValue(i, false);
      }
      phi->addIncoming(b.CreateLoad(phi->getType(), kept), arrival);
    }
    b.CreateBr(&block);
    const uint32_t number = number_of(&block);
    part.entries.erase(&block);
    part.entries.insert({arrival, number});
    for (llvm::BasicBlock* from :
         llvm::SmallVector<llvm::BasicBlock*>(llvm::predecessors(&block))) {
      if (part_of(from) != index_of(part))
        from->getTerminator()->replaceSuccessorWith(&block, arrival);
    }
    part.blocks.push_back(arrival);
  }

  /// Values used in another part than that of their definition pass through a variable.
  void keep_values() {
    llvm::SmallVector<llvm::Instruction*> crossing;
    for (llvm::BasicBlock& block : function_) {
      for (llvm::Instruction& each : block) {
        if (!llvm::isa<llvm::AllocaInst>(each) && is_used_elsewhere(each))
          crossing.push_back(&each);
      }
    }
    for (llvm::Instruction* each : crossing) keep_value(*each);
  }

  uint32_t part_of_use(const llvm::Use& use) const {
    const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(user)) {
      return part_of(phi->getIncomingBlock(use));
    }
    return part_of(user->getParent());
  }

  bool is_used_elsewhere(const llvm::Instruction& value) const {
    const uint32_t own = part_of(value.getParent());
    return std::any_of(value.use_begin(), value.use_end(),
                       [&](const llvm::Use& use) { return part_of_use(use) != own; });
  }

  void keep_value(llvm::Instruction& value) {
    const uint64_t offset = add_field(value.getType());
    const uint32_t own = part_of(value.getParent());
    llvm::IRBuilder<> b(context_);
    const auto after = llvm::isa<llvm::PHINode>(value) ? value.getParent()->getFirstInsertionPt()
                                                       : std::next(value.getIterator());
    b.SetInsertPoint(value.getParent(), after);
    b.CreateStore(&value, field(b, own, offset));
    llvm::DenseMap<uint32_t, llvm::Value*> loaded;  // by part
    for (llvm::Use& use : llvm::make_early_inc_range(value.uses())) {
      const uint32_t p = part_of_use(use);
      if (p == own) continue;
      llvm::Value*& here = loaded[p];
      if (here == nullptr) {
        llvm::IRBuilder<> prologue(parts_[p].prologue);
        here = prologue.CreateLoad(value.getType(), field(prologue, p, offset));
      }
      use.set(here);
    }
  }

  // ---- Variables.

  void find_variables() {
    for (llvm::Instruction& each : function_.getEntryBlock()) {
      auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&each);
      if (variable == nullptr || variable == frame_ || variable->use_empty()) continue;
      const auto index = static_cast<uint32_t>(variables_.size());
      variables_.push_back({variable, is_plain_variable(*variable), false, 0});
      llvm::SmallVector<uint32_t, 4> users;
      for (const llvm::Use& use : variable->uses()) users.push_back(part_of_use(use));
      std::sort(users.begin(), users.end());
      users.erase(std::unique(users.begin(), users.end()), users.end());
      for (uint32_t p : users) {
        if (p != kNoPart) parts_[p].variables.push_back(index);
      }
      // The function's own blocks need no copies; a variable that only they use stays as it is.
      is_used_by_core_.push_back(users.back() == kNoPart && is_read_by_core(*variable));
    }
  }

  /// True if the instruction stores the zero that the frame contains initially.
  bool is_first_value(const llvm::Instruction& user) const {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user);
    const auto* value = store ? llvm::dyn_cast<llvm::Constant>(store->getValueOperand()) : nullptr;
    return value != nullptr && value->isNullValue() &&
           store->getParent() == &function_.getEntryBlock();
  }

  bool is_read_by_core(const llvm::AllocaInst& variable) const {
    return std::any_of(variable.user_begin(), variable.user_end(), [&](const llvm::User* user) {
      const auto* each = llvm::cast<llvm::Instruction>(user);
      return part_of(each->getParent()) == kNoPart && !is_first_value(*each);
    });
  }

  /// Finds the variables that a part may read before it writes them; they must be kept in the
  /// frame.
  void find_exposed(uint32_t p) {
    Part& part = parts_[p];
    const auto count = static_cast<unsigned>(part.variables.size());
    part.stored.resize(count);
    llvm::DenseMap<const llvm::Value*, unsigned> place;
    for (unsigned i = 0; i < count; ++i) place[variables_[part.variables[i]].alloca] = i;
    llvm::DenseMap<llvm::BasicBlock*, llvm::BitVector> read, written;
    for (llvm::BasicBlock* block : part.blocks) {
      llvm::BitVector &reads = read[block], &writes = written[block];
      reads.resize(count);
      writes.resize(count);
      for (llvm::Instruction& each : *block) {
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&each)) {
          const auto at = place.find(load->getPointerOperand());
          if (at != place.end() && !writes.test(at->second)) reads.set(at->second);
        } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&each)) {
          const auto at = place.find(store->getPointerOperand());
          if (at != place.end()) writes.set(at->second);
        }
      }
      part.stored |= writes;
    }
    spread_reads(part, read, written);
    for (const auto& entry : part.entries) {
      for (unsigned i : read[entry.first].set_bits()) {
        variables_[part.variables[i]].is_kept = true;
      }
    }
  }

  /// A backward data-flow analysis through the part; `read` gets the variables that are read from
  /// each block on.
  void spread_reads(const Part& part, llvm::DenseMap<llvm::BasicBlock*, llvm::BitVector>& read,
                    llvm::DenseMap<llvm::BasicBlock*, llvm::BitVector>& written) const {
    std::vector<llvm::BasicBlock*> open(part.blocks.begin(), part.blocks.end());
    while (!open.empty()) {
      llvm::BasicBlock* const block = open.back();
      open.pop_back();
      for (llvm::BasicBlock* pred : llvm::predecessors(block)) {
        const auto at = read.find(pred);
        if (at == read.end()) continue;
        llvm::BitVector more = read.find(block)->second;
        more.reset(written.find(pred)->second);
        if (!more.test(at->second)) continue;  // nothing new for that block
        at->second |= more;
        open.push_back(pred);
      }
    }
  }

  void place_variables() {
    for (size_t i = 0; i < variables_.size(); ++i) {
      Variable& variable = variables_[i];
      if (!variable.is_plain || is_used_by_core_[i]) variable.is_kept = true;
      if (!variable.is_kept) continue;
      auto* type = variable.alloca->getAllocatedType();
      frame_bytes_ = llvm::alignTo(frame_bytes_, variable.alloca->getAlign());
      frame_align_ = std::max(frame_align_, variable.alloca->getAlign().value());
      variable.offset = add_field(type);
    }
  }

  /// A part works on local copies, which become SSA values; kept variables are loaded at entry and
  /// stored at exits.
  void move_variables(Part& part) {
    llvm::IRBuilder<> b(part.prologue);
    llvm::IRBuilder<> leave(part.leave);
    for (unsigned i = 0; i < part.variables.size(); ++i) {
      const Variable& variable = variables_[part.variables[i]];
      KM_ASSERT(variable.is_plain || variable.is_kept,
                "memory whose address is used has one place");
      llvm::Value* own = nullptr;
      if (!variable.is_plain) {
        own = field(b, index_of(part), variable.offset);
      } else {
        own = copy_of(part, variable, part.stored.test(i), b, leave);
      }
      variable.alloca->replaceUsesWithIf(
          own, [&](const llvm::Use& use) { return part_of_use(use) == index_of(part); });
    }
  }

  llvm::Value* copy_of(Part& part, const Variable& variable, bool is_stored, llvm::IRBuilder<>& b,
                       llvm::IRBuilder<>& leave) {
    llvm::Type* type = variable.alloca->getAllocatedType();
    const llvm::Align align = variable.alloca->getAlign();
    KM_ASSERT(!variable.is_kept || variable.offset % align.value() == 0,
              "a variable is aligned in the frame as it was");
    auto* own = llvm::IRBuilder<>(part.prologue, part.prologue->begin()).CreateAlloca(type);
    own->setAlignment(align);
    if (!variable.is_kept) {
      b.CreateStore(llvm::Constant::getNullValue(type), own);
      return own;
    }
    llvm::Value* at = field(b, index_of(part), variable.offset);
    b.CreateStore(b.CreateAlignedLoad(type, at, align), own);
    if (is_stored) {
      llvm::Value* back = field(leave, index_of(part), variable.offset);
      leave.CreateAlignedStore(leave.CreateLoad(type, own), back, align);
    }
    return own;
  }

  // ---- The whole.

  void enter(Part& part) {
    KM_ASSERT(!part.entries.empty(), "a part is entered somewhere");
    llvm::IRBuilder<> b(part.prologue);
    auto* stray = llvm::BasicBlock::Create(context_, "stray", part.function);
    llvm::IRBuilder<>(stray).CreateUnreachable();
    auto* table = b.CreateSwitch(part.function->getArg(1), stray, part.entries.size());
    for (const auto& entry : part.entries) table->addCase(b.getInt32(entry.second), entry.first);
    llvm::IRBuilder<>(part.leave).CreateRet(part.next);
    for (unsigned i = 0; i < function_.arg_size(); ++i) {
      function_.getArg(i)->replaceUsesWithIf(part.function->getArg(i + 2), [&](llvm::Use& use) {
        return part_of_use(use) == index_of(part);
      });
    }
  }

  /// Reduces the function to its first blocks and a loop that calls parts.
  void drive() {
    llvm::IRBuilder<> b(context_);
    frame_bytes_ = (frame_bytes_ + kClearedBytes - 1) / kClearedBytes * kClearedBytes;
    frame_->setAllocatedType(llvm::ArrayType::get(b.getInt8Ty(), frame_bytes_));
    frame_->setAlignment(llvm::Align(std::max(frame_align_, kClearedBytes)));
    drop_variables();
    clear_frame();
    auto* driver = llvm::BasicBlock::Create(context_, "driver", &function_);
    b.SetInsertPoint(driver);
    auto* next = b.CreatePHI(b.getInt32Ty(), 2);
    auto* stray = llvm::BasicBlock::Create(context_, "stray", &function_);
    auto* done = llvm::BasicBlock::Create(context_, "done", &function_);
    auto* table = b.CreateSwitch(next, stray, numbers_ + 1);
    table->addCase(b.getInt32(kReturn), done);
    llvm::IRBuilder<>(stray).CreateUnreachable();
    for (Part& part : parts_) call(part, *driver, *next, *table);
    start(*driver, *next);
    b.SetInsertPoint(done);
    if (function_.getReturnType()->isVoidTy()) {
      b.CreateRetVoid();
    } else {
      b.CreateRet(b.CreateLoad(function_.getReturnType(), field(b, kNoPart, result_offset_)));
    }
  }

  /// Clears the frame between the first two blocks, since variables are zero before they are
  /// written.
  void clear_frame() {
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::BasicBlock* const start = entry.getSingleSuccessor();
    auto* loop = llvm::BasicBlock::Create(context_, "clear", &function_, start);
    entry.getTerminator()->replaceSuccessorWith(start, loop);
    llvm::IRBuilder<> b(loop);
    auto* at = b.CreatePHI(b.getInt64Ty(), 2);
    auto* zeros = llvm::FixedVectorType::get(b.getInt64Ty(), kClearedBytes / sizeof(uint64_t));
    b.CreateAlignedStore(llvm::Constant::getNullValue(zeros),
                         b.CreateInBoundsGEP(b.getInt8Ty(), frame_, at),
                         llvm::Align(kClearedBytes));
    llvm::Value* next = b.CreateAdd(at, b.getInt64(kClearedBytes));
    b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(frame_bytes_)), loop, start);
    at->addIncoming(b.getInt64(0), &entry);
    at->addIncoming(next, loop);
  }

  void call(Part& part, llvm::BasicBlock& driver, llvm::PHINode& next, llvm::SwitchInst& table) {
    auto* block = llvm::BasicBlock::Create(context_, "call", &function_);
    llvm::IRBuilder<> b(block);
    if (auto* program = function_.getSubprogram()) {
      b.SetCurrentDebugLocation(llvm::DILocation::get(context_, 0, 0, program));
    }
    llvm::SmallVector<llvm::Value*> arguments{frame_, &next};
    for (llvm::Argument& argument : function_.args()) arguments.push_back(&argument);
    next.addIncoming(b.CreateCall(part.function, arguments), block);
    b.CreateBr(&driver);
    for (const auto& entry : part.entries) table.addCase(b.getInt32(entry.second), block);
  }

  /// Enters the driver loop from the first blocks.
  void start(llvm::BasicBlock& driver, llvm::PHINode& next) {
    for (llvm::BasicBlock& block : function_) {
      if (part_of(&block) != kNoPart || block.getTerminator() == nullptr) continue;
      llvm::Instruction* end = block.getTerminator();
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        llvm::BasicBlock* succ = end->getSuccessor(i);
        if (part_of(succ) == kNoPart) continue;
        auto* way = llvm::BasicBlock::Create(context_, "first", &function_);
        llvm::BranchInst::Create(&driver, way);
        next.addIncoming(llvm::ConstantInt::get(word_, number_of(succ)), way);
        end->setSuccessor(i, way);
      }
    }
  }

  /// Variables that the function itself still uses are moved to the frame, which has their initial
  /// values.
  void drop_variables() {
    for (const Variable& variable : variables_) {
      for (llvm::User* user : llvm::make_early_inc_range(variable.alloca->users())) {
        auto* each = llvm::cast<llvm::Instruction>(user);
        if (is_first_value(*each)) each->eraseFromParent();
      }
      if (!variable.alloca->use_empty()) {
        llvm::IRBuilder<> b(variable.alloca);
        variable.alloca->replaceAllUsesWith(field(b, kNoPart, variable.offset));
      }
      variable.alloca->eraseFromParent();
    }
  }

  void move_blocks(Part& part) {
    auto* program = function_.getSubprogram();
    llvm::DISubprogram* own = nullptr;
    if (program != nullptr) {
      own = llvm::DISubprogram::getDistinct(
          context_, program->getScope(), part.function->getName(), "", program->getFile(),
          program->getLine(), program->getType(), program->getScopeLine(), nullptr, 0, 0,
          program->getFlags(), program->getSPFlags(), program->getUnit());
      part.function->setSubprogram(own);
    }
    for (llvm::BasicBlock* block : part.blocks) {
      block->removeFromParent();
      block->insertInto(part.function, part.leave);
      for (llvm::Instruction& each : *block) {
        const llvm::DebugLoc& at = each.getDebugLoc();
        if (at && own != nullptr) {
          each.setDebugLoc(llvm::DILocation::get(context_, at.getLine(), at.getCol(), own));
        }
      }
    }
  }

  static constexpr uint64_t kNoOffset = UINT64_MAX;

  llvm::Function& function_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const llvm::DataLayout& layout_;
  llvm::Type *const word_, *const pointer_;
  std::vector<Part> parts_;
  // Blocks without an entry belong to the function itself.
  llvm::DenseMap<const llvm::BasicBlock*, uint32_t> part_of_;
  std::vector<Variable> variables_;
  std::vector<uint8_t> is_used_by_core_;
  llvm::AllocaInst* frame_ = nullptr;
  uint64_t frame_bytes_ = 0, frame_align_ = 1;
  uint64_t result_offset_ = kNoOffset;
  uint32_t numbers_ = kReturn;
};

}  // namespace

uint32_t cut_function(llvm::Function& function, const CutLimits& limits) {
  const uint64_t instructions = function.getInstructionCount(), blocks = function.size();
  const bool is_large = blocks > limits.most_blocks || instructions > limits.most_instructions ||
                        (blocks > limits.many_blocks && instructions > limits.many_instructions);
  if (!is_large || function.getEntryBlock().getSingleSuccessor() == nullptr) return 0;
  split_long_blocks(function, limits.part_instructions / 2);
  std::vector<BlockList> parts = partition(function, limits.part_instructions);
  const auto count = static_cast<uint32_t>(parts.size());
  Cutter(function, std::move(parts)).run();
  return count;
}

bool is_part(const llvm::Function& function) { return function.hasFnAttribute(kPartAttribute); }

}  // namespace km::simt
