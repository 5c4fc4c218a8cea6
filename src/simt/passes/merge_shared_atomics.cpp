#include "simt/passes/merge_shared_atomics.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/SimplifyQuery.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/WithCache.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/assert.h"
#include "simt/arithmetic/loops.h"
#include "simt/arithmetic/reductions.h"
#include "simt/machine/instructions.h"

namespace km::simt {
namespace {

using arithmetic::Op;

constexpr const char* kOperation = "km-reduction";
constexpr const char* kExtent = "km-extent-bytes";
constexpr size_t kMostSteps = 3;    // per offset; more steps would cost more than the merge saves
constexpr size_t kMostMembers = 8;  // limit of calls in a group; each adds an operation per lane

enum Argument : unsigned { kMemory, kOffsets, kContent, kLanes };

uint64_t number_of(const llvm::CallInst& call, const char* attribute) {
  uint64_t number = 0;
  call.getFnAttr(attribute).getValueAsString().getAsInteger(10, number);
  return number;
}

bool is_reduction(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call != nullptr && call->hasFnAttr(kOperation);
}

/// The constant that all lanes have; null if they differ or it is unknown.
const llvm::APInt* number_in(const llvm::Value* value) {
  const llvm::APInt* number = nullptr;
  return llvm::PatternMatch::match(value, llvm::PatternMatch::m_APInt(number)) ? number : nullptr;
}

/// The variable operand of a step with a constant; null if the value is not such a step.
llvm::Value* source_of(llvm::Value* value) {
  auto* step = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (step == nullptr) return nullptr;
  if (number_in(step->getOperand(1)) != nullptr) return step->getOperand(0);
  return number_in(step->getOperand(0)) != nullptr ? step->getOperand(1) : nullptr;
}

/// A call, with the chain of values from which its offsets are computed, beginning with the
/// offsets.
struct Member {
  llvm::CallInst* call = nullptr;
  std::vector<llvm::Value*> chain;

  explicit Member(llvm::CallInst& of) : call(&of) {
    llvm::Value* value = of.getArgOperand(kOffsets);
    while (value != nullptr && chain.size() <= kMostSteps) {
      chain.push_back(value);
      value = source_of(value);
    }
  }

  bool comes_from(llvm::Value* source) const {
    return std::find(chain.begin(), chain.end(), source) != chain.end();
  }

  /// True if the reduction cannot fault, because its offsets are known to be within its memory.
  bool never_faults() const {
    const auto range = llvm::computeConstantRangeIncludingKnownBits(
        chain[0], /*ForSigned=*/false, llvm::SimplifyQuery(call->getModule()->getDataLayout()));
    constexpr uint64_t kWordBytes = sizeof(uint32_t);
    return range.getUnsignedMax().getZExtValue() + kWordBytes <= number_of(*call, kExtent);
  }
};

/// Reductions that can be merged.
class Group {
 public:
  /// Returns false if `member` has another operation or memory.
  bool add(Member member) {
    if (!member.never_faults()) return false;
    const bool is_full = members_.size() == kMostMembers;
    if (!members_.empty() && (is_full || !is_like(*member.call))) return false;
    const auto& chain = member.chain;
    const auto common = std::find_if(chain.begin(), chain.end(), [&](llvm::Value* value) {
      return std::all_of(members_.begin(), members_.end(),
                         [&](const Member& each) { return each.comes_from(value); });
    });
    if (common == chain.end()) return false;
    source_ = *common;
    members_.push_back(std::move(member));
    notes_.append(between_.begin(), between_.end());
    between_.clear();
    return true;
  }

  /// Passes an instruction after the last member. Returns false if no further member can follow it.
  bool pass(llvm::Instruction& other) {
    if (members_.empty()) return true;
    if (!other.mayHaveSideEffects() && !other.mayReadFromMemory()) return true;
    if (other.getMetadata(kLineMetadata) == nullptr) return false;
    between_.push_back(&other);
    return true;
  }

  bool is_worth_joining() const { return members_.size() > 1; }

  void join() {
    KM_ASSERT(members_.size() > 1 && source_ != nullptr, "several reductions become one");
    llvm::CallInst* const last = members_.back().call;
    llvm::IRBuilder<> builder(last);
    builder.CreateCall(function(), {last->getArgOperand(kMemory), source_,
                                    last->getArgOperand(kContent), last->getArgOperand(kLanes)});
    for (const Member& each : members_) each.call->eraseFromParent();
    for (llvm::Instruction* each : notes_) each->eraseFromParent();
  }

 private:
  bool is_like(const llvm::CallInst& call) const {
    const llvm::CallInst& first = *members_[0].call;
    return call.getCalledOperand() == first.getCalledOperand() &&
           number_of(call, kOperation) == number_of(first, kOperation) &&
           call.getArgOperand(kMemory) == first.getArgOperand(kMemory) &&
           call.getArgOperand(kContent) == first.getArgOperand(kContent) &&
           call.getArgOperand(kLanes) == first.getArgOperand(kLanes);
  }

  /// A function that performs all members, for all lanes or in a loop over the active ones.
  llvm::Function* function() const {
    llvm::CallInst& like = *members_[0].call;
    auto* function = llvm::Function::Create(
        like.getFunctionType(), llvm::GlobalValue::InternalLinkage, "km_joined", *like.getModule());
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::NoInline);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(like.getContext(), "start", function));
    llvm::Value *source = function->getArg(kOffsets), *lanes = function->getArg(kLanes);
    auto* type = llvm::cast<llvm::FixedVectorType>(source->getType());
    auto* slots = b.CreateAlloca(type);
    const auto every = static_cast<uint32_t>((uint64_t{1} << type->getNumElements()) - 1);
    auto some = [&] {
      b.CreateStore(source, slots);
      emit_lane_loop(b, lanes, [&](llvm::IRBuilder<>& in, llvm::Value* lane) {
        auto* word = in.getInt32Ty();
        reduce(in, *function, in.CreateLoad(word, in.CreateGEP(word, slots, lane)));
      });
    };
    llvm::Value* are_all = b.CreateICmpEQ(lanes, b.getInt32(every));
    emit_if(b, are_all, [&] { reduce_all(b, *function); }, some);
    b.CreateRetVoid();
    return function;
  }

  /// Extracts two elements of the vector at a time.
  void reduce_all(llvm::IRBuilder<>& b, llvm::Function& in) const {
    llvm::Value* source = in.getArg(kOffsets);
    auto* type = llvm::cast<llvm::FixedVectorType>(source->getType());
    auto* pairs = llvm::FixedVectorType::get(b.getInt64Ty(), type->getNumElements() / 2);
    llvm::Value* two_each = b.CreateBitCast(source, pairs);
    for (unsigned pair = 0; pair < pairs->getNumElements(); ++pair) {
      llvm::Value* two = b.CreateExtractElement(two_each, pair);
      reduce(b, in, b.CreateTrunc(two, b.getInt32Ty()));
      // In a register of its own, whose bytes are addressable, the word is not recomputed at each
      // use by a 64-bit shift.
      llvm::Value* const high = b.CreateTrunc(b.CreateLShr(two, 32), b.getInt32Ty());
      reduce(b, in, instructions::in_own_register(b, high));
    }
  }

  /// Performs the reductions of one lane; `element` is its element of the source.
  void reduce(llvm::IRBuilder<>& b, llvm::Function& in, llvm::Value* element) const {
    const auto operation = static_cast<Op>(number_of(*members_[0].call, kOperation));
    llvm::Value* content = in.getArg(kContent);
    for (const Member& each : members_) {
      // The offsets are known not to be negative.
      llvm::Value* offset = b.CreateZExt(offset_of(b, each, element), b.getInt64Ty());
      llvm::Value* place = b.CreateGEP(b.getInt8Ty(), in.getArg(kMemory), offset);
      llvm::Value* old = b.CreateAlignedLoad(content->getType(), place, llvm::Align(4));
      b.CreateAlignedStore(arithmetic::plain_operation(b, operation, old, content), place,
                           llvm::Align(4));
    }
  }

  /// Computes the offset from the source with scalar steps.
  llvm::Value* offset_of(llvm::IRBuilder<>& b, const Member& member, llvm::Value* element) const {
    const auto& chain = member.chain;
    auto at = std::find(chain.begin(), chain.end(), source_);
    KM_ASSERT(at != chain.end(), "the members' offsets come from one source");
    llvm::Value* result = element;
    while (at != chain.begin()) {
      auto* step = llvm::cast<llvm::BinaryOperator>(*--at);
      const auto side = [&](unsigned i) -> llvm::Value* {
        const llvm::APInt* number = number_in(step->getOperand(i));
        return number != nullptr ? llvm::ConstantInt::get(result->getType(), *number) : result;
      };
      result = b.CreateBinOp(step->getOpcode(), side(0), side(1));
    }
    return result;
  }

  llvm::Value* source_ = nullptr;
  std::vector<Member> members_;
  // The members' notes, and the instructions between them.
  llvm::SmallVector<llvm::Instruction*, kMostMembers> notes_, between_;
};

std::vector<Group> groups_of(llvm::BasicBlock& block) {
  std::vector<Group> groups(1);
  for (llvm::Instruction& each : block) {
    if (is_reduction(each)) {
      Member member(llvm::cast<llvm::CallInst>(each));
      if (groups.back().add(member)) continue;
      groups.emplace_back();
      groups.back().add(std::move(member));
    } else if (!groups.back().pass(each)) {
      groups.emplace_back();
    }
  }
  return groups;
}

}  // namespace

void mark_reduction(llvm::CallInst& call, Op operation, uint64_t extent_bytes) {
  auto& context = call.getContext();
  call.addFnAttr(llvm::Attribute::get(context, kOperation, std::to_string(operation)));
  call.addFnAttr(llvm::Attribute::get(context, kExtent, std::to_string(extent_bytes)));
}

void merge_shared_atomics(llvm::Module& module) {
  std::vector<Group> found;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (Group& group : groups_of(block)) {
        if (group.is_worth_joining()) found.push_back(std::move(group));
      }
    }
  }
  for (Group& group : found) group.join();
}

}  // namespace km::simt
