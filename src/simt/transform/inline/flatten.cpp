#include "simt/transform/inline/flatten.h"

#include "simt/transform/carry.h"
#include "simt/transform/inline/dynamic_stack.h"
#include "simt/transform/inline/inline_calls.h"
#include "simt/transform/inline/multicast_accesses.h"
#include "simt/transform/inline/param_promotion.h"

namespace km::simt {

Result<std::unique_ptr<ptx::Function>> flatten(const InliningCosts& costs, uint32_t kernel,
                                               uint64_t stack_bytes) {
  KM_ASSIGN(ptx::Function flat, inline_calls(costs, kernel));
  resolve_multicast(flat);
  promote_params(flat);
  make_carry_explicit(flat);
  make_stack_explicit(flat, stack_bytes);
  return std::make_unique<ptx::Function>(std::move(flat));
}

}  // namespace km::simt
