#include "backends/cuda/stream/capture.h"

#include <utility>

namespace km::cuda {

Status capture_work(Epoch& epoch, const std::function<Status(cu::CUstream)>& record,
                    cu::CUgraph* out_graph) {
  cu::CUstream stream = nullptr;
  KM_TRY(epoch.check(driver().cuStreamCreateWithPriority(&stream, cu::CU_STREAM_NON_BLOCKING, 0)));
  // The capture mode is relaxed, because libraries may load kernels meanwhile and `record`
  // allocates memory.
  Status done =
      epoch.check(driver().cuStreamBeginCapture_v2(stream, cu::CU_STREAM_CAPTURE_MODE_RELAXED));
  if (done) {
    done = record(stream);
    const Called ended = driver().cuStreamEndCapture(stream, out_graph);
    if (done) done = epoch.check(ended);
    if (!done && ended.ok() && *out_graph != nullptr && !epoch.has_failed()) {
      check_destroyed(driver().cuGraphDestroy(std::exchange(*out_graph, nullptr)));
    }
  }
  if (!epoch.has_failed()) check_destroyed(driver().cuStreamDestroy_v2(stream));
  return done;
}

}  // namespace km::cuda
