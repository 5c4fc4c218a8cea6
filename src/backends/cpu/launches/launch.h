// Preparation that launches share with kernel nodes of graphs.
#pragma once

#include "backend/interface.h"
#include "backends/cpu/command/command.h"
#include "base/result.h"

namespace km::cpu {

class Context;
class Function;

/// Checks sizes and arguments of a launch.
Status check_launch(const Function& function, const kmb_launch& launch);
/// Checks a launch, compiles its code and fills in its command without a grid; DeviceLaunches adds
/// one for a kernel that launches others.
Status prepare_device_launch(Command* command, const Function& function, const kmb_launch& launch,
                             Context* context);

}  // namespace km::cpu
