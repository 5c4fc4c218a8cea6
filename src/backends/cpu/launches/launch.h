// The preparation that launches of kernels share with kernels' nodes of graphs.
#pragma once

#include "backend/interface.h"
#include "backends/cpu/command/command.h"
#include "base/result.h"

namespace km::cpu {

class Context;
class Function;

/// Checks sizes and arguments of a launch.
Status check_launch(const Function& function, const kmb_launch& launch);
/// Checks a launch, makes its code and fills in its command, which has no grid yet: a kernel that
/// launches others gets it from DeviceLaunches.
Status prepare_device_launch(Command* command, const Function& function, const kmb_launch& launch,
                             Context* context);

}  // namespace km::cpu
