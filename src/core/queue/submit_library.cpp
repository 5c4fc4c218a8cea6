#include "core/queue/submit_library.h"

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "core/object/backend_call.h"

namespace km {

Status submit_library(Stream& stream, const LibraryWork& work) {
  if (stream.backend().library_submit == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "%s: device %s has no such library", work.call.name,
                      stream.context().device().info().uri);
  }
  KM_TRY(check_operands(work.arrays()));
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, library_work(work.call, *work.holder, work.arrays()));
  std::array<MemoryUse, kMostOperands> uses;
  for (uint32_t i = 0; i < work.operand_count; ++i) uses[i] = work.operands[i].use();
  return submit(stream, {uses.data(), work.operand_count}, [&](Submission&, uint64_t* ticket) {
    return call_backend(stream.backend().library_submit, stream.native(), &work.call, ticket);
  });
}

}  // namespace km
