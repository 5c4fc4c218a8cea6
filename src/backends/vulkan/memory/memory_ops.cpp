// Operations of streams on single numbers in memory.
#include <cinttypes>
#include <cstring>

#include "backend/memory_op.h"
#include "backends/vulkan/memory/memory_ops.h"

namespace km::vulkan {
namespace {

Error no_memory(const kmb_memory_op& op) {
  return make_error(KM_ERROR_ILLEGAL_ADDRESS,
                    "an operation of a stream on the number at %#" PRIx64
                    " is outside of all memory",
                    op.address);
}

Result<Step> write_step(Stream& stream, const kmb_memory_op& op) {
  KM_ASSIGN(const std::shared_ptr<Buffer> staging,
            stream.workspace().staging->take(sizeof op.value));
  std::memcpy(staging->mapped(), &op.value, sizeof op.value);
  Step step;
  step.record = [op, staging, epoch = &stream.epoch()](Commands& commands) -> Status {
    const auto to = epoch->device_memory().find(op.address, op.value_size_bytes);
    if (!to) return no_memory(op);
    commands.copy(*to, staging->place(), op.value_size_bytes);
    return {};
  };
  return step;
}

uint64_t read_number(const kmb_memory_op& op, const void* mapped) {
  return op.value_size_bytes == 4
             ? __atomic_load_n(static_cast<const uint32_t*>(mapped), __ATOMIC_ACQUIRE)
             : __atomic_load_n(static_cast<const uint64_t*>(mapped), __ATOMIC_ACQUIRE);
}

/// The host reads the number, so only devices with the host's memory have such waits.
Result<Step> wait_step(Stream& stream, const kmb_memory_op& op) {
  if (!stream.epoch().adapter().shares_host_memory()) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "streams of %s cannot wait for a number in memory: the host does not reach "
                      "the memory; wait for an event",
                      device_uri(stream.epoch().adapter()).c_str());
  }
  Step step;
  step.follows_all = true;
  step.polls = true;
  step.may_start = [op, epoch = &stream.epoch()] {
    const auto found = epoch->device_memory().find(op.address, op.value_size_bytes);
    return !found || is_over(op, read_number(op, found->mapped));  // core keeps the memory
  };
  return step;
}

}  // namespace

Result<std::vector<Step>> memory_op_steps(Stream& stream, std::span<const kmb_memory_op> ops) {
  std::vector<Step> steps;
  for (const kmb_memory_op& op : ops) {
    KM_ASSIGN(Step step,
              op.kind == KMB_MEMORY_WRITE ? write_step(stream, op) : wait_step(stream, op));
    steps.push_back(std::move(step));
  }
  if (steps.empty()) steps.emplace_back();
  return steps;
}

km_status stream_memory_ops(kmb_stream* stream, const kmb_memory_op* ops, uint64_t count,
                            uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error,
                 [&](Stream& target) { return memory_op_steps(target, {ops, count}); });
}

}  // namespace km::vulkan
