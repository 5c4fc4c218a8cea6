// Helpers for operations that have no vector form and run for one lane after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simt/codegen/builder.h"

namespace km::simt {

/// The name of the helper for an instruction's form, such as "mbarrier_arrive_shared_b64".
std::string form_name(const ptx::Instruction& instruction);

/// Generates the code for one lane from the lane's elements of the arguments. Returns the lane's
/// result, or null if there is none.
using LaneWork = std::function<llvm::Value*(llvm::IRBuilder<>& builder,
                                            const std::vector<llvm::Value*>& arguments)>;

/// Calls a helper that runs `body` for each active lane, lowest first. `body` generates code only
/// at the first call with this name, so the name must identify its behaviour. Returns the results,
/// with zero in inactive lanes; nothing if `result` is void.
llvm::Value* for_lanes(CodeBuilder& codegen, const std::string& name, llvm::Type* result,
                       const std::vector<llvm::Value*>& arguments, const LaneWork& body);

}  // namespace km::simt
