#include "simt/codegen/modes/fibers.h"

namespace km::simt {

void Fibers::run() {
  region_.create_variables();
  frame_.load_block();
  llvm::Value* warp = builder_.entry()->getArg(2);
  frame_.take_scratch_of(warp);
  auto* end = builder_.new_block("end");
  region_.begin_packet(0, warp);
  region_.emit_steps(0, end);
  builder_.ir().SetInsertPoint(end);
  builder_.ir().CreateRetVoid();
}

}  // namespace km::simt
