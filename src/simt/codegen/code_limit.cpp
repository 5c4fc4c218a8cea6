#include "simt/codegen/code_limit.h"

namespace km::simt {

namespace {

/// Instructions of LLVM that a kernel may become, unoptimised: half a gigabyte of them.
constexpr uint64_t kMostInstructions = 4'000'000;

}  // namespace

void CodeLimit::count(const llvm::BasicBlock& block) { instructions_ += block.size(); }

bool CodeLimit::is_ended() {
  if (!status_) return true;
  // Blocks after those of steps, which region_.count() counts.
  auto block = last_counted_ ? last_counted_->getIterator() : builder_.entry()->begin();
  for (; &*block != &builder_.entry()->back(); ++block) instructions_ += block->size();
  last_counted_ = &builder_.entry()->back();
  status_ = interruption_.check();
  if (status_ && instructions_ > kMostInstructions) {
    status_ = make_error(KM_ERROR_COMPILER,
                         "kernel '%s' would have more than %llu instructions of the code "
                         "generator: make it smaller",
                         kernel_.function->name.c_str(),
                         static_cast<unsigned long long>(kMostInstructions));
  }
  return !status_;
}

}  // namespace km::simt
