// Attributes of functions, and the code of their variants.
#include <algorithm>
#include <cinttypes>

#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/device.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/module/compile_interruption.h"
#include "backends/cpu/module/module.h"
#include "backends/cpu/module/perf_dump.h"
#include "backends/cpu/stream/profile.h"
#include "backends/cpu/threads/futex.h"
#include "base/cuda/parameter_names.h"
#include "base/text.h"
#include "base/thread/cancellation.h"
#include "ptx/inlined_calls.h"
#include "ptx/place.h"

namespace km::cpu {
namespace {

uint64_t default_dynamic_bytes(const simt::KernelInfo& kernel) {
  constexpr uint64_t kMost = kSharedBytesWithoutOptIn;
  return kMost - std::min(kernel.shared_static_bytes, kMost);
}

/// Generalises the variant to blocks of any size.
simt::Variant for_any_block(simt::Variant variant) {
  const bool one_row = variant.block[1] == 1 && variant.block[2] == 1;
  variant.block = one_row ? std::array<uint32_t, 3>{0, 1, 1} : std::array<uint32_t, 3>{};
  return variant;
}

km_execution_mode mode_of(simt::Mode mode) { return static_cast<km_execution_mode>(mode); }

}  // namespace

KernelCode::KernelCode(const Function* function, const simt::Variant& variant,
                       std::unique_ptr<simt::Code> code)
    : function_(function), variant_(variant), code_(std::move(code)) {
  name = function->name().c_str();
  grid_entry = code_->grid_entry();
  fiber_entry = code_->fiber_entry();
  independent_entry = code_->independent_entry();
  waits = code_->info().waits;
  nontemporal_stores = code_->info().nontemporal_stores;
  reads_block = code_->info().reads_block;
  begin = code_->begin();
  end = code_->end();
  scratch_bytes = code_->info().scratch_bytes;
  has_large_stacks = variant_.thread_stack_bytes > simt::kThreadStackBytes;
  stack_bytes = code_->info().stack_bytes;
  tools = variant_.tools;
}

std::string KernelCode::kernel_name() const { return source_name(function_->name()); }

std::string KernelCode::position_of(uint64_t pc, uint32_t helper_line) const {
  simt::Code::Position position = code_->position_of(pc);
  if (position.line == 0) position.line = helper_line;
  if (position.line == 0) return {};
  return ptx::place_of_line(function_->module().name(), position.line,
                            function_->source_position(position.line));
}

std::vector<std::string> KernelCode::callers_of(uint32_t line) const {
  return function_->source_callers(line);
}

std::string KernelCode::parameters_in(const uint8_t* params, uint64_t begin, uint64_t bytes) const {
  std::vector<std::string> found;
  const std::vector<simt::Param>& all = function_->kernel().params;
  const ParameterNames names = read_parameter_names(function_->module().ptx());
  const auto own = names.find(function_->name());
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind != KM_PARAM_KIND_POINTER) continue;
    uint64_t address = 0;
    memcpy(&address, params + all[i].offset_bytes, sizeof address);
    if (address - begin < bytes) {
      found.push_back(
          parameter_text(own == names.end() ? std::vector<std::string>() : own->second, i));
    }
  }
  if (found.empty()) return {};
  std::string text = found[0];
  for (size_t i = 1; i < found.size(); ++i) {
    text += (i + 1 == found.size() ? " and " : ", ") + found[i];
  }
  return text;
}

Function::Function(Module* module, std::string name)
    : module_(module),
      name_(std::move(name)),
      block_shared_bytes_(config().limits.block_shared_bytes) {}

Status Function::learn() {
  const NoCancellation postponed;
  const std::lock_guard lock(learn_mutex_);
  if (is_known_) return {};
  KM_ASSIGN(facts_, module_->learn(name_));
  variable_addresses_ = module_->addresses_of(facts_.variables);
  max_dynamic_shared_bytes_ = default_dynamic_bytes(kernel());
  params_.clear();  // an earlier call may have run out of memory
  for (const simt::Param& param : kernel().params) {
    params_.push_back(
        {param.kind, param.align_bytes, param.size_bytes, param.offset_bytes, param.type, 0});
  }
  info_.name = name_.c_str();
  info_.param_count = static_cast<uint32_t>(params_.size());
  info_.params = params_.data();
  info_.param_bytes = kernel().param_bytes;
  if (!kernel().refusal.empty()) info_.refusal = kernel().refusal.c_str();
  is_known_ = true;
  return {};
}

Result<simt::Object> Function::object(const simt::Variant& variant) const {
  return find_or_make_object(
      kernel(), variant, facts_.text_hash, module_->own_objects(), [&]() -> Result<simt::Object> {
        const CompileInterruption interruption(module_->context(), "kernel '" + name_ + "'");
        KM_ASSIGN(const KernelProgram own, module_->program_of(name_));
        return simt::compile(*own.program, own.kernel, variant, &interruption);
      });
}

std::string Function::object_key(const simt::Variant& variant) const {
  return cpu::object_key(kernel(), variant, facts_.text_hash);
}

bool Function::has_own_object(const simt::Variant& variant) const {
  return module_->own_objects().contains(object_key(variant));
}

std::string Function::source_position(uint32_t ptx_line) const {
  const Result<KernelProgram> own = module_->program_of(name_);
  if (!own) return {};
  return ptx::source_place_of_line(own->program->module(), ptx_line);
}

std::vector<std::string> Function::source_callers(uint32_t ptx_line) const {
  const Result<KernelProgram> own = module_->program_of(name_);
  if (!own) return {};
  return ptx::callers_of_line(own->program->module(), module_->ptx(), ptx_line);
}

/// Allocates registers like a GPU's compiler, so that the kernel's largest block fits on a
/// multiprocessor; further values are spilled.
int64_t Function::registers() const {
  constexpr uint32_t kMost = 255, kUnit = 8, kThreadUnit = 128;
  const uint32_t threads = std::min(kernel().max_threads, kMaxThreadsPerBlock);
  const uint32_t rounded = static_cast<uint32_t>(round_up(threads, kThreadUnit));
  const uint32_t share = config().limits.block_registers / rounded / kUnit * kUnit;
  return std::min({kernel().registers, share, kMost});
}

std::atomic<int32_t>* Function::hint(km_function_attribute attribute) {
  switch (attribute) {
    case KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT:
      return &carveout_percent_;
    case KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER:
      return &non_portable_cluster_;
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY:
      return &cluster_policy_;
    default:
      return nullptr;
  }
}

Result<int64_t> Function::attribute(km_function_attribute attribute) {
  const simt::KernelInfo& info = kernel();
  if (const std::atomic<int32_t>* kept = hint(attribute)) return int64_t{kept->load()};
  switch (attribute) {
    case KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return static_cast<int64_t>(std::min(info.max_threads, kMaxThreadsPerBlock));
    case KM_FUNCTION_ATTRIBUTE_SHARED_BYTES:
      return static_cast<int64_t>(info.shared_static_bytes);
    case KM_FUNCTION_ATTRIBUTE_CONSTANT_BYTES:
      return static_cast<int64_t>(info.constant_bytes);
    case KM_FUNCTION_ATTRIBUTE_LOCAL_BYTES:
      return static_cast<int64_t>(info.local_bytes);
    case KM_FUNCTION_ATTRIBUTE_REGISTERS:
      return registers();
    case KM_FUNCTION_ATTRIBUTE_PTX_VERSION:
      return static_cast<int64_t>(info.ptx_version);
    case KM_FUNCTION_ATTRIBUTE_TARGET:
      return static_cast<int64_t>(info.target);
    case KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES:
      return static_cast<int64_t>(max_dynamic_shared_bytes());
    case KM_FUNCTION_ATTRIBUTE_EXECUTION_MODE:
      return static_cast<int64_t>(mode_of(info.mode));
    case KM_FUNCTION_ATTRIBUTE_BINARY_VERSION:
      return int64_t{config().capability_major} * 10 + config().capability_minor;
    case KM_FUNCTION_ATTRIBUTE_CACHE_GLOBALS:
      return 1;
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_REQUIRED:
      return facts_.has_explicit_cluster ? 1 : 0;
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_X:
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_Y:
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_Z:
      return int64_t{info.cluster[attribute - KM_FUNCTION_ATTRIBUTE_CLUSTER_X]};
    default:
      return make_error(KM_ERROR_INVALID_ARGUMENT, "there is no function attribute %d", attribute);
  }
}

Status Function::set_hint(std::atomic<int32_t>* kept, km_function_attribute attribute,
                          int64_t value) {
  int64_t least = 0, most = 1;
  if (attribute == KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT) least = -1, most = 100;
  if (attribute == KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY) most = 2;
  if (value < least || value > most) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "function attribute %d cannot be %" PRId64 ": give %" PRId64 " to %" PRId64,
                      attribute, value, least, most);
  }
  kept->store(static_cast<int32_t>(value));
  return {};
}

Status Function::set_attribute(km_function_attribute attribute, int64_t value) {
  if (std::atomic<int32_t>* kept = hint(attribute)) return set_hint(kept, attribute, value);
  if (attribute != KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "function attribute %d cannot be set", attribute);
  }
  uint64_t fixed = kernel().shared_static_bytes;
  const uint64_t most = block_shared_bytes_ - std::min(fixed, block_shared_bytes_);
  if (value < 0 || static_cast<uint64_t>(value) > most) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "kernel '%s' cannot have %" PRId64
                      " bytes of dynamic shared memory: at most %" PRIu64 " (%" PRIu64
                      " less its static ones, %" PRIu64 "; KM_CPU_SHARED_KIB)",
                      source_name(kernel().name).c_str(), value, most, block_shared_bytes_, fixed);
  }
  max_dynamic_shared_bytes_.store(static_cast<uint64_t>(value), std::memory_order_relaxed);
  return {};
}

uint16_t Function::tools() const {
  const Context& context = module_->context();
  const uint16_t counters = context.counts_warps() ? simt::check_tool::kCounters : 0;
  return context.checks().code_tools() | counters;
}

simt::Variant Function::variant_for(const uint32_t block[3], bool assume_no_wrap,
                                    bool suspends) const {
  simt::Variant variant;
  variant.block = {block[0], block[1], block[2]};
  variant.assume_no_wrap = assume_no_wrap;
  variant.checked = module_->context().is_checked();
  variant.tools = tools();
  variant.least_mode = config().least_mode;
  if (suspends) variant.least_mode = std::max(variant.least_mode, simt::Mode::fibers);
  variant.machine = module_->machine();
  variant.thread_stack_bytes = thread_stack_bytes();
  return variant;
}

uint64_t Function::thread_stack_bytes() const {
  return kernel().has_stack ? module_->context().thread_stack_bytes().load()
                            : simt::kThreadStackBytes;
}

bool KernelCode::suspends() const { return variant_.least_mode != config().least_mode; }

uint32_t Function::max_cluster_blocks() const {
  constexpr uint32_t kPortable = 8, kMost = 16;
  const uint32_t most = non_portable_cluster_.load() != 0 ? kMost : kPortable;
  const uint32_t own = facts_.max_cluster_blocks;
  return own == 0 ? most : std::min(own, most);
}

Result<const KernelCode*> Function::code_for(const simt::LaunchRecord& record,
                                             bool suspends) const {
  suspends = suspends && config().least_mode == simt::Mode::run_to_completion;
  const KernelCode* latest = latest_.load(std::memory_order_acquire);
  const uint16_t wanted_tools = tools();
  const bool is_checked = module_->context().is_checked();
  auto fits = [&](const KernelCode& code) {
    const std::array<uint32_t, 3>& block = code.variant().block;
    if (code.variant().thread_stack_bytes != thread_stack_bytes()) return false;
    if (code.variant().tools != wanted_tools || code.variant().checked != is_checked) return false;
    return code.suspends() == suspends && (block[0] == record.block[0] || block[0] == 0) &&
           (block[1] == record.block[1] || block[1] == 0) &&
           (block[2] == record.block[2] || block[2] == 0);
  };
  if (latest == nullptr || !fits(*latest) || !latest->variant().assume_no_wrap) {
    KM_ASSIGN(latest, find_or_compile(variant_for(record.block, true, suspends)));
    latest_.store(latest, std::memory_order_release);
  }
  if (latest->code().assumptions_hold(record)) return latest;
  return find_or_compile(variant_for(record.block, false, suspends));
}

Status Function::prepare(const uint32_t block[3]) const {
  KM_ASSIGN(const KernelCode* code, find_or_compile(variant_for(block, true)));
  static_cast<void>(code);
  return {};
}

/// Prefers code for any block size if there are many variants already, or if the object file has no
/// other.
simt::Variant Function::variant_to_make(const simt::Variant& wanted) const {
  if (has_own_object(wanted)) return wanted;
  const simt::Variant any = for_any_block(wanted);
  if (has_own_object(any)) return any;
  const auto alike = std::count_if(codes_.begin(), codes_.end(), [&](const auto& code) {
    return code->variant().assume_no_wrap == wanted.assume_no_wrap;
  });
  return static_cast<size_t>(alike) < config().shapes ? wanted : any;
}

Result<const KernelCode*> Function::find_or_compile(const simt::Variant& wanted) const {
  const NoCancellation postponed;
  std::lock_guard lock(mutex_);
  auto find = [this](const simt::Variant& variant) -> const KernelCode* {
    for (const auto& code : codes_) {
      if (code->variant() == variant) return code.get();
    }
    return nullptr;
  };
  if (const KernelCode* code = find(wanted)) return code;
  const simt::Variant variant = variant_to_make(wanted);
  if (const KernelCode* code = find(variant)) return code;
  const uint64_t begin_ns = now_ns();
  KM_ASSIGN(const simt::Object made, object(variant));
  KM_ASSIGN(std::unique_ptr<simt::Code> code, simt::Code::load(made));
  module_->forget_program();
  record_compilation(module_->context(), kernel().name, begin_ns);
  tell_perf(*code, kernel().name, variant);
  codes_.push_back(std::make_unique<KernelCode>(this, variant, std::move(code)));
  return codes_.back().get();
}

km_status function_info(kmb_function* function, kmb_function_info* out_info, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_TRY(from(function)->learn());
    *out_info = from(function)->info();
    return {};
  });
}

const char* function_deferred_name(kmb_function* function) {
  return from(function)->is_known() ? nullptr : from(function)->name().c_str();
}

km_status function_attribute_get(kmb_function* function, km_function_attribute attribute,
                                 int64_t* out_value, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(*out_value, from(function)->attribute(attribute));
    return {};
  });
}

km_status function_attribute_set(kmb_function* function, km_function_attribute attribute,
                                 int64_t value, kmb_error* error) {
  return guarded(error,
                 [&]() -> Status { return from(function)->set_attribute(attribute, value); });
}

}  // namespace km::cpu
