#include "core/launch/launch.h"

#include <cinttypes>
#include <cstring>

#include "base/assert.h"
#include "base/text.h"
#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "core/launch/occupancy.h"
#include "core/object/backend_call.h"

namespace km {

Status check_cooperative(const Function& function, const LaunchShape& shape) {
  KM_ASSIGN(const auto limits, multiprocessor_limits(function.context().device()));
  KM_ASSIGN(const auto needs, kernel_needs(function));
  // The backend refuses launches with more shared memory than any launch may have; its message says
  // how to get more.
  if (!may_have_shared(limits.block_shared_bytes, needs, shape.shared_bytes)) return {};
  const uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2];
  const km_occupancy found = compute_occupancy(limits, needs, threads, shape.shared_bytes);
  const uint64_t most = uint64_t{found.active_blocks} * limits.count;
  const uint64_t asked = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  if (asked <= most) return {};
  return make_error(KM_ERROR_INVALID_LAUNCH,
                    "a cooperative launch of %" PRIu64
                    " blocks of kernel '%s'; device %s holds "
                    "%" PRIu64 " of them at once",
                    asked, source_name(function.info().name).c_str(),
                    function.context().device().info().uri, most);
}

Status check_slice_argument(const Context& context, const Function& function,
                            const SliceArgument& argument) {
  const kmb_function_info& info = function.info();
  const uint32_t index = argument.parameter;
  KM_TRY(function.types().check_value(index, GivenValue::address()));
  if (!context.may_use(argument.slice->context())) {
    return make_error(KM_ERROR_CONTEXT_MISMATCH,
                      "the slice for parameter %u of kernel '%s' belongs to another context (of "
                      "device %s) than the rest of the call (of device %s)",
                      index, source_name(info.name).c_str(),
                      argument.slice->context().device().info().uri, context.device().info().uri);
  }
  if (argument.is_inside()) {
    if (argument.slice->element_tag() == 0) return {};
    return function.types().check(index, argument.slice->element_type());
  }
  if (argument.size_bytes == 0) {
    return make_error(KM_ERROR_OUT_OF_BOUNDS,
                      "offset %" PRIu64
                      " for parameter %u of kernel '%s' is beyond the slice of %s",
                      argument.offset_bytes, index, source_name(info.name).c_str(),
                      counted(argument.slice->size_bytes(), "byte").c_str());
  }
  return make_error(KM_ERROR_OUT_OF_BOUNDS,
                    "%" PRIu64 " bytes at offset %" PRIu64
                    " for parameter %u of kernel '%s' reach beyond the slice of %" PRIu64 " bytes",
                    argument.size_bytes, argument.offset_bytes, index,
                    source_name(info.name).c_str(), argument.slice->size_bytes());
}

namespace {

Status capture_launch(Stream& stream, const KernelLaunch& launch) {
  KM_ASSIGN(const SharedWork work, kernel_work(launch));
  return capture_work(stream, work);
}

/// Queues a launch, and calls `note_uses(ticket)` to record the ordered uses. Its callers are
/// functions of their own, so that their single result needs no move.
template <class Note>
[[gnu::always_inline]] inline Status queue(Stream& stream, const KernelLaunch& launch,
                                           const AccessList* variables, Note&& note_uses) {
  const kmb_launch native =
      native_launch(launch.shape, launch.arguments, launch.arguments_size_bytes);
  uint64_t ticket = 0;
  Status status = call_backend(stream.backend().launch, stream.native(), launch.function.native(),
                               &native, &ticket);
  if (status) [[likely]] {
    note_uses(ticket);
    launch.function.module().note_launch(stream, ticket, variables);
    for (Memory* memory : launch.memories) {
      if (memory != nullptr) memory->record_use(stream, ticket);
    }
  }
  return status;
}

Status queue_unordered(Stream& stream, const KernelLaunch& launch) {
  return queue(stream, launch, nullptr, [](uint64_t) {});
}

/// take() must have locked `uses`.
[[gnu::noinline]] Status queue_repeated(Stream& stream, const KernelLaunch& launch,
                                        RepeatedUses& uses) {
  return queue(stream, launch, nullptr, [&](uint64_t ticket) { uses.end(ticket); });
}

/// `submission` must have begun.
[[gnu::noinline]] Status queue_submission(Stream& stream, const KernelLaunch& launch,
                                          Submission& submission) {
  return queue(stream, launch, submission.variables(),
               [&](uint64_t ticket) { submission.end(ticket); });
}

[[gnu::noinline]] Status submit_ordered(Stream& stream, const KernelLaunch& launch,
                                        AccessList* variables) {
  if (variables == nullptr) [[likely]] {
    RepeatedUses uses(launch.uses);
    if (uses.take(stream.number())) [[likely]]
      return queue_repeated(stream, launch, uses);
  }
  Submission submission(stream, launch.uses, variables);
  KM_TRY(submission.begin());
  return queue_submission(stream, launch, submission);
}

}  // namespace

Status submit_launch(Stream& stream, const KernelLaunch& launch, AccessList* variables) {
  if (stream.is_capturing()) [[unlikely]]
    return capture_launch(stream, launch);
  if (launch.uses.empty() && variables == nullptr) return queue_unordered(stream, launch);
  return submit_ordered(stream, launch, variables);
}

Launch::Launch(Stream& stream, Function& function)
    : ContextChild(PartOf{stream}),
      stream_(Ref<Stream>::share(stream)),
      function_(Ref<Function>::share(function)),
      arguments_(function.info().param_bytes),
      memories_(function.info().param_count),
      used_(function.info().param_count),
      uses_(function.info().param_count) {}

Result<Ref<Launch>> Launch::create(Stream& stream, Function& function) {
  KM_TRY(require_same_context(stream.context(), function.context(), "function"));
  return Ref<Launch>::adopt(new Launch(stream, function));
}

void Launch::set_grid(std::array<uint32_t, 3> grid) {
  const std::lock_guard lock(mutex_);
  shape_.grid = grid;
}

void Launch::set_block(std::array<uint32_t, 3> block) {
  const std::lock_guard lock(mutex_);
  shape_.block = block;
}

void Launch::set_cluster(std::array<uint32_t, 3> cluster) {
  const std::lock_guard lock(mutex_);
  shape_.cluster = cluster;
}

void Launch::set_cooperative(bool is_cooperative) {
  const std::lock_guard lock(mutex_);
  shape_.is_cooperative = is_cooperative;
}

void Launch::set_shared_bytes(uint64_t shared_bytes) {
  const std::lock_guard lock(mutex_);
  shape_.shared_bytes = shared_bytes;
}

Result<const kmb_param*> Launch::next_param() {
  const kmb_function_info& info = function_->info();
  if (given_ < info.param_count) return &info.params[given_];
  return make_error(KM_ERROR_INVALID_LAUNCH, "kernel '%s' has %s; this would be argument %u",
                    source_name(info.name).c_str(), counted(info.param_count, "parameter").c_str(),
                    info.param_count + 1);
}

void Launch::store(const kmb_param& param, const void* value, Ref<Memory> memory,
                   const MemoryUse& use) {
  KM_ASSERT(given_ < memories_.size(), "next_param() has seen a parameter for the argument");
  KM_ASSERT(param.offset_bytes + param.size_bytes <= arguments_.size(),
            "a module's parameters lie in its kernel's arguments");
  std::memcpy(arguments_.data() + param.offset_bytes, value, param.size_bytes);
  memories_[given_] = std::move(memory);
  uses_[given_] = use;
  ++given_;
}

Status Launch::add_slice(SliceArgument argument) {
  const std::lock_guard lock(mutex_);
  KM_ASSIGN(const kmb_param* param, next_param());
  argument.parameter = given_;
  KM_TRY(check_slice_argument(context(), *function_, argument));
  const uint64_t address = argument.address();
  Memory& memory = argument.slice->memory();
  store(*param, &address, Ref<Memory>::share(memory),
        memory.accesses() != nullptr ? argument.use() : MemoryUse());
  return {};
}

Status Launch::add_address(uint64_t address) { return add_value(&address, GivenValue::address()); }

Status Launch::add_value(const void* value, const GivenValue& given) {
  const std::lock_guard lock(mutex_);
  KM_ASSIGN(const kmb_param* param, next_param());
  KM_TRY(function_->types().check_value(given_, given));
  store(*param, value, nullptr, {});
  return {};
}

Status Launch::check_complete() const {
  const kmb_function_info& info = function_->info();
  if (given_ == info.param_count || (given_ == 0 && was_submitted_)) return {};
  return make_error(KM_ERROR_INVALID_LAUNCH, "kernel '%s' has %s; %s %s given: %s; %s",
                    source_name(info.name).c_str(), counted(info.param_count, "parameter").c_str(),
                    counted(given_, "argument").c_str(), given_ == 1 ? "was" : "were",
                    function_->types().describe(given_).c_str(),
                    function_->types().advice(given_).c_str());
}

Status Launch::submit() {
  const std::lock_guard lock(mutex_);
  KM_TRY(check_complete());
  KM_TRY(check_shape(context().device(), shape_));
  if (shape_.is_cooperative) KM_TRY(check_cooperative(*function_, shape_));
  KM_ASSERT(used_.size() == memories_.size() && uses_.size() == memories_.size(),
            "each parameter has its memory and its use");
  bool is_ordered = false;
  for (size_t i = 0; i < memories_.size(); ++i) {
    const bool is_use = uses_[i].accesses != nullptr;
    is_ordered = is_ordered || is_use;
    used_[i] = is_use ? nullptr : memories_[i].get();
  }
  KM_TRY(submit_launch(*stream_, {*function_, shape_, arguments_.data(), arguments_.size(), used_,
                                  is_ordered ? std::span(uses_) : std::span<MemoryUse>()}));
  given_ = 0;
  was_submitted_ = true;
  return {};
}

}  // namespace km
