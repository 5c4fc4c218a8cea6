#include "core/queue/submit_blas.h"

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "core/object/backend_call.h"

namespace km {
Status submit_blas(Blas& blas, const BlasWork& work) {
  KM_TRY(check_operands({work.operands.data(), work.operand_count}));
  Stream& stream = blas.stream();
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, blas_work(blas.engine(), work));
  std::array<MemoryUse, kOperands> uses;
  for (uint32_t i = 0; i < work.operand_count; ++i) uses[i] = work.operands[i].use();
  return submit(stream, {uses.data(), work.operand_count}, [&](Submission&, uint64_t* ticket) {
    return call_backend(stream.backend().blas_submit, blas.engine().native(), stream.native(),
                        &work.call, ticket);
  });
}

}  // namespace km
