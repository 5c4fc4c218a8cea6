#include "simt/codegen/code_limit.h"

namespace km::simt {

namespace {

/// The limit for a kernel's LLVM instructions before optimisation. They occupy about half a
/// gigabyte.
constexpr uint64_t kMostInstructions = 4'000'000;

}  // namespace

void CodeLimit::count(const llvm::BasicBlock& block) { instructions_ += block.size(); }

bool CodeLimit::is_ended() {
  if (!status_) return true;
  // This counts each basic block since the last call except the newest, which is still growing.
  // Blocks of steps exist before their code, so the modes count them by count().
  auto block = last_counted_ ? last_counted_->getIterator() : builder_.entry()->begin();
  for (; &*block != &builder_.entry()->back(); ++block) instructions_ += block->size();
  last_counted_ = &builder_.entry()->back();
  status_ = interruption_.check();
  if (status_ && instructions_ > kMostInstructions) {
    status_ = make_error(KM_ERROR_COMPILER,
                         "kernel '%s' has more than %llu LLVM instructions before optimisation: "
                         "divide it into smaller kernels",
                         kernel_.function->name.c_str(),
                         static_cast<unsigned long long>(kMostInstructions));
  }
  return !status_;
}

}  // namespace km::simt
