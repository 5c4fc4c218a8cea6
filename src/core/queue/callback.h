// Functions of the host that streams call, queued or captured.
#pragma once

#include "core/stream/stream.h"

namespace km {

/// Has the function called when what the stream holds is done.
Status add_callback(Stream& stream, km_host_callback callback, void* user_data);

}  // namespace km
