#include "core/queue/callback.h"

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"

namespace km {

Status add_callback(Stream& stream, km_host_callback callback, void* user_data) {
  if (stream.is_capturing()) [[unlikely]]
    return capture_work(stream, host_work(callback, user_data));
  return stream.queue_callback(callback, user_data);
}

}  // namespace km
