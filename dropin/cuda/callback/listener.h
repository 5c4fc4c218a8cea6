// Who hears of the calls of the driver API, and of the runtime's.
#pragma once

#include "dropin/frame/api_listener.h"

namespace km::dropin {

inline frame::ApiListenerPlace api_listener{nullptr};

}  // namespace km::dropin
