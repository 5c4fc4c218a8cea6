// Host functions that streams call, queued or captured.
#pragma once

#include "core/stream/stream.h"

namespace km {

/// Queues the function after all work that is in the stream now.
Status add_callback(Stream& stream, km_host_callback callback, void* user_data);

}  // namespace km
