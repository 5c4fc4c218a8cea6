// Launches by the host.
#pragma once

#include "backend/interface.h"
#include "backends/cpu/command/command.h"
#include "base/result.h"

namespace km::cpu {

class Context;
class Function;

/// Checks a launch, compiles its code and fills in its command, with a grid if the kernel launches
/// others.
Status prepare_launch(Command* command, const Function& function, const kmb_launch& launch,
                      Context* context);

}  // namespace km::cpu
