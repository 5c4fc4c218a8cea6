#include "core/context/context.h"

#include <algorithm>
#include <new>
#include <string>

#include "backend/stream_flags.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/context/call_findings.h"
#include "core/context/leak_report.h"
#include "core/error/status.h"
#include "core/object/backend_call.h"
#include "core/object/callback.h"
#include "core/profiler/trace_at_exit.h"

namespace km {
namespace {

std::atomic<uint64_t> g_context_count{0};

Error no_limits(const kmb_backend& backend) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "backend '%s' has no limits of contexts", backend.name);
}

/// "cpu:0, AMD EPYC": the title of the context's profile.
std::string profile_name(const km_device_info& info) {
  return std::string(info.uri) + ", " + info.name;
}

}  // namespace

Context::Context(Ref<Device> device, km_context_flags flags)
    : device_(std::move(device)),
      flags_(flags),
      number_(++g_context_count),
      profiler_(std::make_shared<Profiler>(profile_name(device_->info()),
                                           ActivityOrigin{number_, device_->info().ordinal})),
      default_capture_slot_(make_ref<CaptureSlot>()) {}

Result<Ref<Context>> Context::create(Ref<Device> device, km_context_flags flags) {
  report_leaks_at_exit();
  Ref<Context> context = Ref<Context>::adopt(new Context(std::move(device), flags));
  if (context->is_ordered() && context->backend().stream_wait_ticket == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "backend '%s' cannot order the uses of memory on different streams; leave "
                      "out KM_CONTEXT_ORDERED",
                      context->backend().name);
  }
  KM_TRY(call_backend(context->backend().context_create, context->device_->native(),
                      &context->native_));
  KM_ASSERT(context->native_ != nullptr, "a backend that succeeds has made a context");
  KM_TRY(context->choose_checking());
  context->learn_checks();
  if (is_tracing() || is_counting()) {
    trace_at_exit(context->profiler_);
    const Status started = context->start_profiler();
    if (!started) log(LogLevel::kWarn, "trace", "%s", started.error().message.c_str());
  }
  if (activity_listener() != nullptr) static_cast<void>(context->follow_activity(true));
  return context;
}

Status Context::choose_checking() {
  uint32_t is_checked = 0;
  if (backend().context_set_checked != nullptr) {
    const uint32_t wanted = (flags_ & KM_CONTEXT_CHECKED) != 0 ? 1 : 0;
    KM_TRY(call_backend(backend().context_set_checked, native_, wanted, &is_checked));
  }
  flags_ &= ~static_cast<km_context_flags>(KM_CONTEXT_CHECKED);
  if (is_checked != 0) flags_ |= KM_CONTEXT_CHECKED;
  return {};
}

/// Notes which tools the checker has in this context.
void Context::learn_checks() {
  if (backend().context_check_flags == nullptr) return;
  check_flags_.store(backend().context_check_flags(native_), std::memory_order_relaxed);
  tracker_.set_for_checker(checks(KM_CHECK_MEMORY | KM_CHECK_LEAK));
  if (checks(KM_CHECK_LEAK)) report_leaked_memory_at_exit(*this);
}

void Context::FindingReceiver::give(void* receiver, const km_finding* finding) {
  const auto* self = static_cast<const FindingReceiver*>(receiver);
  run_callback([&] { self->callback(self->user_data, finding); });
}

Status Context::set_check(km_check_flags flags, uint64_t limit, km_finding_callback callback,
                          void* user_data, const MayBlock&) {
  constexpr km_check_flags kTools = kCheckInCode | KM_CHECK_LEAK;
  const bool is_all = (flags & KM_CHECK_ALL) == KM_CHECK_ALL;  // the backend knows which they are
  const km_check_flags known =
      kTools | KM_CHECK_SAME_VALUE | (is_all ? km_check_flags{KM_CHECK_ALL} : 0);
  if ((flags & ~known) != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "flags are 0x%x, of which 0x%x are unknown", flags,
                      flags & ~known);
  }
  if (backend().context_set_check == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "device %s has no checker; on NVIDIA GPUs compute-sanitizer runs the program",
                      device_->info().uri);
  }
  std::unique_ptr<FindingReceiver> receiver;
  if (callback != nullptr) {
    receiver = std::make_unique<FindingReceiver>(FindingReceiver{callback, user_data});
  }
  const std::lock_guard lock(check_mutex_);
  KM_TRY(call_backend(backend().context_set_check, native_, flags, limit,
                      receiver != nullptr ? &FindingReceiver::give : nullptr,
                      static_cast<void*>(receiver.get())));
  finding_receiver_ = std::move(receiver);
  learn_checks();
  return {};
}

void Context::add_finding(const km_finding& finding) {
  KM_ASSERT(backend().context_add_finding != nullptr, "a context that is checked takes findings");
  backend().context_add_finding(native_, &finding);
}

void Context::handle_gone() {
  const uint64_t handles = handle_count_.fetch_sub(1, std::memory_order_acq_rel);
  KM_ASSERT(handles != 0, "a destroyed handle was counted");
  if (handles == 1) report_leaks(*this);
  unref();
}

Status Context::set_profiling(bool on) {
  const auto release = [](void* user_data) {
    const std::unique_ptr<std::shared_ptr<Profiler>> last(
        static_cast<std::shared_ptr<Profiler>*>(user_data));
  };
  const auto record = [](void* user_data, const kmb_profile_record* one) {
    Profiler::record(static_cast<std::shared_ptr<Profiler>*>(user_data)->get(), one);
  };
  if (profiling_.backend_knows) {
    return call_backend(backend().context_profile, native_, uint32_t{on}, nullptr, nullptr,
                        nullptr);
  }
  if (!on) return {};
  auto kept = std::make_unique<std::shared_ptr<Profiler>>(profiler_);
  KM_TRY(call_backend(backend().context_profile, native_, uint32_t{1}, record,
                      static_cast<void*>(kept.get()), release));
  static_cast<void>(kept.release());  // the backend keeps it until the context ends
  profiling_.backend_knows = true;
  return {};
}

/// The backend reports while a profile is recorded or the activity listener follows. The caller
/// must hold profiling_.mutex.
Status Context::report_operations() {
  if (backend().context_profile == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "device %s does not measure the times of its work",
                      device_->info().uri);
  }
  return set_profiling(profiler_->is_on() || profiling_.is_followed);
}

Status Context::start_profiler() {
  const std::lock_guard lock(profiling_.mutex);
  profiler_->set_on(true);
  Status reports = report_operations();
  if (!reports) profiler_->set_on(false);
  return reports;
}

Status Context::stop_profiler() {
  const std::lock_guard lock(profiling_.mutex);
  profiler_->set_on(false);
  return report_operations();
}

Status Context::set_counters(bool on) {
  if (backend().context_set_counters != nullptr) {
    return call_backend(backend().context_set_counters, native_, uint32_t{on});
  }
  if (!on) return {};
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "device %s has no counters: on NVIDIA GPUs Nsight Compute gives them",
                    device_->info().uri);
}

Status Context::follow_activity(bool on) {
  const std::lock_guard lock(profiling_.mutex);
  profiling_.is_followed = on;
  return report_operations();
}

Context::~Context() {
  KM_ASSERT(captures_.all.empty(), "a capture keeps its context alive, by its graph");
  forget_leak_reports(*this);
  if (native_ == nullptr) return;
  // Output must not reach a callback from here on, because the program may have freed its data.
  if (output_.callback != nullptr) {
    static_cast<void>(call_backend(backend().context_set_output, native_, nullptr, nullptr));
  }
  default_stream_ = nullptr;
  backend().context_destroy(native_);  // the last call that may give findings to the receiver
}

Result<Context::SharedDefaultStream> Context::default_stream() {
  const uint32_t now = epoch();
  {
    const std::lock_guard lock(mutex_);
    if (default_stream_) return default_stream_;
  }
  // No lock is held, because the backend may wait for a callback, which may make calls whose errors
  // take the lock.
  const auto made = std::make_shared<DefaultStream>(backend());
  km_stream_flags flags = KM_STREAM_DEFAULT;
  if (is_ordered()) flags |= KMB_STREAM_ORDERED;
  KM_TRY(call_backend(backend().stream_create, native_, flags, 0, &made->native));
  made->number = new_stream_number();
  KM_ASSERT(made->native != nullptr, "a backend that succeeds has made a stream");
  const std::lock_guard lock(mutex_);
  if (default_stream_) return default_stream_;  // another thread created it meanwhile
  if (now == epoch()) default_stream_ = made;
  return SharedDefaultStream(made);
}

Ref<CaptureSlot> Context::default_capture_slot() {
  const std::lock_guard lock(mutex_);
  return default_capture_slot_;
}

Status Context::synchronize(const MayBlock&) {
  KM_TRY(require_no_capture(captures_, "waiting for"));
  const ProfiledWait wait(*profiler_, "synchronize context");
  return call_backend(backend().context_synchronize, native_);
}

Result<Context::MemoryInfo> Context::memory_info() {
  MemoryInfo info;
  KM_TRY(call_backend(backend().context_memory_info, native_, &info.free_bytes, &info.total_bytes));
  return info;
}

Status Context::reset(const MayBlock&) {
  // The slot is allocated first, so that a failure changes nothing.
  Ref<CaptureSlot> slot = make_ref<CaptureSlot>();
  SharedDefaultStream lost;
  drop_captures(captures_);
  {
    const std::lock_guard lock(mutex_);
    // The epoch rises first, so that calls on other threads stop adding work that the reset drops.
    epoch_.fetch_add(1, std::memory_order_acq_rel);
    device_ranges_.clear();
    host_ranges_.clear();
    std::swap(default_stream_, lost);
    std::swap(default_capture_slot_, slot);
    last_error_ = {KM_SUCCESS, {}, 0};
  }
  // No lock is held, because callbacks of the dropped work may make calls whose errors take the
  // lock.
  return call_backend(backend().context_reset, native_);
}

Status require_peer(const Context& context, const Context& peer) {
  if (&context.backend() == &peer.backend()) return {};
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "devices %s and %s are of different backends and share no memory",
                    context.device().info().uri, peer.device().info().uri);
}

Status Context::set_peer_access(Context& peer, bool enabled) {
  KM_TRY(require_peer(*this, peer));
  if (&peer == this) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "a context is not a peer of itself");
  }
  if (backend().context_set_peer_access == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "backend '%s' has no access between devices",
                      backend().name);
  }
  const std::lock_guard lock(peers_mutex_);
  const auto found = std::find(peers_.begin(), peers_.end(), peer.number_);
  if (enabled == (found != peers_.end())) return {};
  if (enabled) peers_.reserve(peers_.size() + 1);
  KM_TRY(call_backend(backend().context_set_peer_access, native_, peer.native_, uint32_t{enabled}));
  if (enabled) {
    peers_.push_back(peer.number_);
    KM_ASSERT(std::count(peers_.begin(), peers_.end(), peer.number_) == 1, "a peer is listed once");
  } else {
    peers_.erase(found);
  }
  return {};
}

bool Context::may_use(const Context& other) const {
  if (&other == this) return true;
  const std::lock_guard lock(peers_mutex_);
  return std::find(peers_.begin(), peers_.end(), other.number_) != peers_.end();
}

void Context::Output::write(void* output, const char* text, uint64_t size_bytes) {
  auto* self = static_cast<Output*>(output);
  km_output_callback callback;
  void* user_data;
  {
    const std::lock_guard lock(self->mutex);
    callback = self->callback;
    user_data = self->user_data;
  }
  if (callback != nullptr) run_callback([&] { callback(user_data, text, size_bytes); });
}

Status Context::set_output(km_output_callback callback, void* user_data) {
  const bool to_callback = callback != nullptr;
  const auto exchange = [this](km_output_callback& other, void*& other_data) {
    const std::lock_guard lock(output_.mutex);
    std::swap(output_.callback, other);
    std::swap(output_.user_data, other_data);
  };
  exchange(callback, user_data);  // `callback` and `user_data` are the former ones from here on
  Status status =
      call_backend(backend().context_set_output, native_, to_callback ? &Output::write : nullptr,
                   static_cast<void*>(&output_));
  if (!status) exchange(callback, user_data);
  return status;
}

Result<uint64_t> Context::limit(km_context_limit limit) const {
  uint64_t value = 0;
  if (backend().context_limit_get == nullptr) return no_limits(backend());
  KM_TRY(call_backend(backend().context_limit_get, native_, limit, &value));
  return value;
}

Status Context::set_limit(km_context_limit limit, uint64_t value) {
  if (backend().context_limit_set == nullptr) return no_limits(backend());
  return call_backend(backend().context_limit_set, native_, limit, value);
}

Status Context::sticky() { return call_backend(backend().context_status, native_); }

Error Context::sticky_error() {
  Status status = sticky();
  return status ? Error{KM_SUCCESS, {}, 0} : std::move(status.error());
}

Error Context::error() {
  Error sticky = sticky_error();
  if (sticky.status != KM_SUCCESS) return sticky;
  const std::lock_guard lock(mutex_);
  return last_error_;
}

Error Context::take_error() {
  Error sticky = sticky_error();
  if (sticky.status != KM_SUCCESS) return sticky;
  const std::lock_guard lock(mutex_);
  return std::exchange(last_error_, Error{KM_SUCCESS, {}, 0});
}

void Context::record_error(const char* function, km_status status, std::string_view text,
                           int64_t native_code) noexcept {
  if (!is_error(status)) return;
  error_history_.add(function, status, text, native_code);
  // The call used an object of an earlier epoch, so its failure is not an error of the current
  // context.
  if (status == KM_ERROR_CONTEXT_LOST) return;
  const std::lock_guard lock(mutex_);
  last_error_.status = status;
  last_error_.native_code = native_code;
  try {
    last_error_.message.assign(function).append(": ").append(text);
  } catch (const std::bad_alloc&) {
    last_error_.message.clear();
  }
}

}  // namespace km
