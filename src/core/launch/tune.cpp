#include "core/launch/tune.h"

#include <cinttypes>
#include <cstring>

#include "base/file/disk_cache.h"
#include "base/log.h"
#include "base/text.h"
#include "core/module/program.h"
#include "core/module/source_file.h"
#include "core/object/callback.h"

namespace km {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end != 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Prefixes each part of a key with its length, so that different parts never make one key.
void add_to_key(std::string* key, std::string_view part) {
  *key += std::to_string(part.size()) + ":";
  *key += part;
}

std::string shape_text(const LaunchShape& shape) {
  std::string text;
  for (const uint32_t size : shape.grid) text += std::to_string(size) + " ";
  for (const uint32_t size : shape.block) text += std::to_string(size) + " ";
  return text + std::to_string(shape.shared_bytes);
}

}  // namespace

Status Tune::require_idle() {
  if (!is_running_) return {};
  return make_error(KM_ERROR_NOT_PERMITTED,
                    "the tuning of kernel '%s' is running; call when km_tune_run has ended",
                    source_name(kernel_).c_str());
}

Status Tune::require_candidate(uint32_t candidate) const {
  if (candidate < candidates_.size()) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "candidate is %u, beyond the end of %s", candidate,
                    counted(candidates_.size(), "candidate").c_str());
}

Result<uint32_t> Tune::add_candidate(const LaunchShape& shape, std::string_view options) {
  const std::lock_guard lock(mutex_);
  KM_TRY(require_idle());
  Candidate candidate;
  candidate.shape = shape;
  candidate.options = lines_of(options);
  candidate.result.status = KM_NOT_READY;
  candidates_.push_back(std::move(candidate));
  return static_cast<uint32_t>(candidates_.size() - 1);
}

Status Tune::add_buffer(const void* data, uint64_t size_bytes, bool is_output) {
  const std::lock_guard lock(mutex_);
  KM_TRY(require_idle());
  Argument argument;
  argument.is_buffer = true;
  argument.is_output = is_output;
  argument.bytes.resize(size_bytes);
  if (data != nullptr && size_bytes != 0) std::memcpy(argument.bytes.data(), data, size_bytes);
  arguments_.push_back(std::move(argument));
  return {};
}

Status Tune::add_scalar(const void* value, uint64_t size_bytes) {
  if (size_bytes > kMaxParamBytes) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "size_bytes is %" PRIu64 "; the arguments of a kernel have %" PRIu64
                      " bytes at most",
                      size_bytes, kMaxParamBytes);
  }
  const std::lock_guard lock(mutex_);
  KM_TRY(require_idle());
  Argument argument;
  const auto* bytes = static_cast<const std::byte*>(value);
  argument.bytes.assign(bytes, bytes + size_bytes);
  arguments_.push_back(std::move(argument));
  return {};
}

Status Tune::set_check(km_tune_check check, double tolerance) {
  const std::lock_guard lock(mutex_);
  KM_TRY(require_idle());
  check_ = check;
  tolerance_ = tolerance;
  return {};
}

Status Tune::set_budget(uint64_t budget_ns, uint32_t warmup_count) {
  const std::lock_guard lock(mutex_);
  KM_TRY(require_idle());
  budget_ns_ = budget_ns;
  warmup_count_ = warmup_count;
  return {};
}

Status Tune::set_progress(km_tune_callback callback, void* user_data) {
  const std::lock_guard lock(mutex_);
  KM_TRY(require_idle());
  progress_ = callback;
  progress_data_ = user_data;
  return {};
}

/// The key has everything known here that the choice depends on.
std::string Tune::key_of(std::string_view problem) const {
  const km_device_info& info = device_->info();
  std::string key = "tune 1 ";
  for (const char* part : {static_cast<const char*>(device_->backend().build_id), info.backend,
                           info.name, info.isa, kernel_.c_str()}) {
    add_to_key(&key, part);
  }
  key += std::to_string(info.threads) + " " + std::to_string(info.multiprocessor_count) + " ";
  add_to_key(&key, problem);
  add_to_key(&key, source_);
  for (const Candidate& candidate : candidates_) {
    add_to_key(&key, shape_text(candidate.shape));
    for (const std::string& option : candidate.options) add_to_key(&key, option);
  }
  for (const Argument& argument : arguments_) {
    key += (argument.is_buffer ? "b" : "s") + std::to_string(argument.bytes.size());
  }
  return key;
}

std::optional<uint32_t> Tune::remembered(const std::string& key) const {
  const DiskCache* const cache = DiskCache::instance();
  if (cache == nullptr) return std::nullopt;
  const std::optional<std::vector<uint8_t>> kept = cache->find(key);
  uint32_t candidate = 0;
  if (!kept || kept->size() != sizeof candidate) return std::nullopt;
  std::memcpy(&candidate, kept->data(), sizeof candidate);
  if (candidate >= candidates_.size()) return std::nullopt;
  return candidate;
}

void Tune::remember(const std::string& key, uint32_t candidate) const {
  DiskCache* const cache = DiskCache::instance();
  if (cache == nullptr) return;
  uint8_t bytes[sizeof candidate];
  std::memcpy(bytes, &candidate, sizeof candidate);
  cache->keep(key, bytes);
}

Result<uint32_t> Tune::run(std::string_view problem, bool again) {
  {
    const std::lock_guard lock(mutex_);
    KM_TRY(require_idle());
    if (candidates_.empty()) {
      return make_error(
          KM_ERROR_INVALID_ARGUMENT,
          "kernel '%s' has no candidates to choose from; km_tune_add_candidate adds one",
          source_name(kernel_).c_str());
    }
    is_running_ = true;
  }
  struct Idle {
    Tune& tune;
    ~Idle() {
      const std::lock_guard lock(tune.mutex_);
      tune.is_running_ = false;
    }
  } const idle{*this};
  const std::string key = problem.empty() ? std::string() : key_of(problem);
  if (!problem.empty() && !again) {
    if (const std::optional<uint32_t> known = remembered(key)) {
      log(LogLevel::kInfo, "tune", "kernel '%s': candidate %u is remembered", kernel_.c_str(),
          *known);
      return *known;
    }
  }
  KM_ASSIGN(const uint32_t best, measure_all());
  if (!problem.empty()) remember(key, best);
  return best;
}

Result<km_tune_result> Tune::result(uint32_t candidate) {
  const std::lock_guard lock(mutex_);
  KM_TRY(require_idle());
  KM_TRY(require_candidate(candidate));
  return candidates_[candidate].result;
}

Result<std::string> Tune::message(uint32_t candidate) {
  const std::lock_guard lock(mutex_);
  KM_TRY(require_idle());
  KM_TRY(require_candidate(candidate));
  return candidates_[candidate].message;
}

Result<Ref<Function>> Tune::function(uint32_t candidate, Context& context) {
  Candidate copy;
  {
    const std::lock_guard lock(mutex_);
    KM_TRY(require_idle());
    KM_TRY(require_candidate(candidate));
    copy = candidates_[candidate];
  }
  return load(context, copy);
}

Result<Ref<Function>> Tune::load(Context& context, const Candidate& candidate) const {
  Ref<Module> module;
  if (looks_like_ptx(source_)) {
    if (!candidate.options.empty()) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "the source is PTX, which no option ('%s') changes",
                        candidate.options.front().c_str());
    }
    KM_ASSIGN(module, Module::load_ptx(context, source_, kernel_));
  } else {
    const Ref<Program> program = make_ref<Program>(source_, kernel_ + ".cu");
    for (const std::string& option : candidate.options) program->add_option(option);
    program->add_name_expression(kernel_);
    KM_TRY(program->compile());
    KM_ASSIGN(module, program->load(context));
  }
  KM_ASSIGN(const Kernel* const kernel, module->kernel(kernel_));
  auto function = make_ref<Function>(std::move(module), *kernel);
  const uint64_t shared_bytes = candidate.shape.shared_bytes;
  KM_ASSIGN(const int64_t allowed,
            function->attribute(KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES));
  if (shared_bytes > static_cast<uint64_t>(allowed)) {
    KM_TRY(function->set_attribute(KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES,
                                   static_cast<int64_t>(shared_bytes)));
  }
  return function;
}

}  // namespace km
