#include "core/queue/submit_blas.h"

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "core/object/backend_call.h"

namespace km {
namespace {

Status check_overlaps(const BlasWork& work) {
  for (uint32_t i = 0; i < work.operand_count; ++i) {
    const BlasOperand& written = work.operands[i];
    if (!written.is_written) continue;
    if (overlaps_itself(written.region)) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "the matrices of %s overlap each other: its stride is %llu bytes",
                        written.name, static_cast<unsigned long long>(written.region.stride_bytes));
    }
    for (uint32_t k = 0; k < work.operand_count; ++k) {
      const BlasOperand& other = work.operands[k];
      if (k == i || other.is_scalar || !regions_overlap(written.region, other.region)) continue;
      return make_error(KM_ERROR_INVALID_ARGUMENT, "%s, which is written, overlaps %s",
                        written.name, other.name);
    }
  }
  return {};
}

}  // namespace

Status submit_blas(Blas& blas, const BlasWork& work) {
  for (uint32_t i = 0; i < work.operand_count; ++i) {
    const BlasOperand& operand = work.operands[i];
    if (operand.is_written && operand.memory != nullptr) {
      KM_TRY(operand.memory->require_writable(operand.name));
    }
  }
  KM_TRY(check_overlaps(work));
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
