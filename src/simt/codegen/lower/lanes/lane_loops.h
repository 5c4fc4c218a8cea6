// Functions of the module that do for each lane in turn what a body does for one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simt/codegen/room.h"

namespace km::simt {

/// "mbarrier_arrive_shared_b64": names the helper of a form.
std::string form_name(const ptx::Instruction& instruction);

/// Makes the code of one lane from the lane's elements of the arguments; gives its result or null.
using LaneWork = std::function<llvm::Value*(llvm::IRBuilder<>& builder,
                                            const std::vector<llvm::Value*>& arguments)>;

/// Makes and calls such functions.
class LaneLoops : public Room {
 public:
  LaneLoops(CodeBuilder& builder, const CodePlan& plan) : Room(builder, plan) {}

  /// Calls a function of the module that runs `body` for the active lanes, lowest first, with each
  /// lane's elements of `arguments`. Gives the results, zero in other lanes; `result` void: none.
  Value* for_lanes(const std::string& name, llvm::Type* result,
                   const std::vector<Value*>& arguments, const LaneWork& body);
};

}  // namespace km::simt
