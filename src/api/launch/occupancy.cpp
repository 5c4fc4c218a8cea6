#include "core/launch/occupancy.h"

#include <cinttypes>

#include "api/guard.h"
#include "api/output.h"
#include "base/text.h"
#include "core/object/callback.h"

using namespace km;

namespace {

/// A kernel and the limits of its device.
struct Question {
  MultiprocessorLimits limits;
  KernelNeeds needs;
};

Result<Question> ask(const Function& function) {
  Question question;
  KM_ASSIGN(question.limits, multiprocessor_limits(function.context().device()));
  KM_ASSIGN(question.needs, kernel_needs(function));
  return question;
}

Status require_some(uint32_t count, const char* parameter) {
  if (count != 0) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is 0", parameter);
}

}  // namespace

km_status km_function_occupancy(km_function function, uint32_t block_threads, uint64_t shared_bytes,
                                km_occupancy* out_occupancy) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_REQUIRE(out_occupancy);
    KM_TRY(require_some(block_threads, "block_threads"));
    KM_ASSIGN(const Question question, ask(*target));
    return give_struct(
        compute_occupancy(question.limits, question.needs, block_threads, shared_bytes),
        out_occupancy, "out_occupancy");
  });
}

km_status km_function_best_block(km_function function, uint64_t shared_bytes,
                                 km_shared_bytes_callback shared_of, void* user_data,
                                 uint32_t max_block_threads, uint32_t* out_block_threads,
                                 uint32_t* out_grid_blocks) {
  return then_end_thread(guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_REQUIRE(out_block_threads);
    KM_REQUIRE(out_grid_blocks);
    KM_ASSIGN(const Question question, ask(*target));
    const auto shared = [&](uint32_t threads) -> Result<uint64_t> {
      if (shared_of == nullptr) return shared_bytes;
      uint64_t size_bytes = 0;
      KM_TRY(require_returned(run_callback([&] { size_bytes = shared_of(user_data, threads); })));
      return size_bytes;
    };
    KM_ASSIGN(const BestBlock best,
              find_best_block(question.limits, question.needs, shared, max_block_threads));
    if (best.threads == 0) {
      return make_error(KM_ERROR_INVALID_LAUNCH,
                        "blocks of kernel '%s' fit in no size: they need more shared memory than "
                        "the %" PRIu64
                        " bytes of dynamic ones that it may have; raise "
                        "KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES",
                        source_name(target->info().name).c_str(),
                        question.needs.max_dynamic_shared_bytes);
    }
    *out_block_threads = best.threads;
    *out_grid_blocks = best.grid_blocks;
    return {};
  }));
}

km_status km_function_available_shared_bytes(km_function function, uint32_t block_count,
                                             uint32_t block_threads,
                                             uint64_t* out_shared_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_REQUIRE(out_shared_bytes);
    KM_TRY(require_some(block_count, "block_count"));
    KM_TRY(require_some(block_threads, "block_threads"));
    KM_ASSIGN(const Question question, ask(*target));
    KM_ASSIGN(*out_shared_bytes,
              available_shared_bytes(question.limits, question.needs, block_count, block_threads));
    return {};
  });
}

km_status km_function_max_active_clusters(km_function function, uint32_t block_threads,
                                          uint64_t shared_bytes, uint32_t cluster_blocks,
                                          uint32_t* out_clusters) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_REQUIRE(out_clusters);
    KM_TRY(require_some(block_threads, "block_threads"));
    KM_TRY(require_some(cluster_blocks, "cluster_blocks"));
    KM_ASSIGN(const Question question, ask(*target));
    if (cluster_blocks > 1 && !question.limits.has_clusters) {
      return make_error(KM_ERROR_NOT_SUPPORTED, "device %s has no clusters of more than one block",
                        target->context().device().info().uri);
    }
    KM_ASSIGN(const uint64_t most, max_cluster_blocks(*target));
    if (cluster_blocks > most) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "cluster_blocks is %u; at most %" PRIu64
                        " are possible, or 16 with KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER",
                        cluster_blocks, most);
    }
    const km_occupancy found =
        compute_occupancy(question.limits, question.needs, block_threads, shared_bytes);
    const uint64_t blocks = uint64_t{found.active_blocks} * question.limits.count;
    *out_clusters = static_cast<uint32_t>(blocks / cluster_blocks);
    return {};
  });
}
