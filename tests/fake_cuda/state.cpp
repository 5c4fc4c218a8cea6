#include "fake_cuda/queue.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace km::cu {
namespace {

struct State {
  std::recursive_mutex mutex;
  std::array<Context, kMaxDevices> contexts;
  std::map<uint64_t, Object> objects;
  uint64_t last_handle = 0x1000;
  int64_t calls = 0, until_failure = -1, misuses = 0;
  CUresult failure = CUDA_SUCCESS;
  std::string failed_call, last_misuse, live;
};

State& state() {
  static State& made = *std::make_unique<State>().release();  // threads may outlive main()
  return made;
}

thread_local std::vector<Context*> t_contexts;
thread_local bool t_in_host_function = false;
thread_local const Call* t_call = nullptr;
thread_local int t_inside_libraries = 0;

bool is_one_of(const char* name, std::initializer_list<const char*> names) {
  for (const char* each : names) {
    if (std::strcmp(name, each) == 0) return true;
  }
  return false;
}

// What works in a failed context.
bool works_always(const char* name) {
  return std::strncmp(name, "cuDevice", 8) == 0 || std::strncmp(name, "cuCtxG", 6) == 0 ||
         std::strncmp(name, "cuCtxP", 6) == 0 ||
         is_one_of(name, {"cuInit", "cuDriverGetVersion", "cuGetErrorString"});
}

}  // namespace

bool script_says(const char* word) {
  const char* script = std::getenv("KM_FAKE_CUDA");
  return script != nullptr && std::strcmp(script, word) == 0;
}

std::recursive_mutex& state_mutex() { return state().mutex; }

bool is_fatal(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
      return true;
    default:
      return false;
  }
}

Call::~Call() { t_call = outer_; }

Call::Unlocked::Unlocked() : call_(t_call != nullptr && t_call->lock_ ? t_call : nullptr) {
  if (call_ != nullptr) call_->lock_.unlock();
}

Call::Unlocked::~Unlocked() {
  if (call_ != nullptr) call_->lock_.lock();
}

Call::Call(const char* name, Needs needs)
    : lock_(state().mutex), outer_(std::exchange(t_call, this)) {
  State& s = state();
  if (t_in_host_function) {
    result_ = misuse(CUDA_ERROR_NOT_PERMITTED, name);
    return;
  }
  context_ = current_context();
  if (needs == Needs::context && (context_ == nullptr || !context_->is_active)) {
    result_ = misuse(CUDA_ERROR_INVALID_CONTEXT, name);
    return;
  }
  if (context_ != nullptr && context_->sticky != CUDA_SUCCESS && !works_always(name)) {
    result_ = context_->sticky;
    return;
  }
  if (t_inside_libraries > 0) return;
  // Those fail for contexts that do not exist, and for no other reason.
  if (is_one_of(name, {"cuGetErrorString", "cuCtxPopCurrent_v2", "cuCtxPushCurrent_v2"})) return;
  ++s.calls;
  if (s.until_failure < 0 || s.until_failure-- > 0) return;
  s.failed_call = name;
  result_ = s.failure;
  if (context_ != nullptr && is_fatal(result_)) set_sticky(*context_, result_);
}

int device_count() {
  const char* text = std::getenv("KM_FAKE_CUDA_DEVICES");
  return text != nullptr ? std::atoi(text) : 2;
}

Context& context_of(int device) { return state().contexts[static_cast<size_t>(device)]; }

CUcontext handle_of(Context& context) { return reinterpret_cast<CUcontext>(&context); }

Context* context_from(CUcontext handle) {
  for (Context& context : state().contexts) {
    if (handle_of(context) == handle) return &context;
  }
  return nullptr;
}

Context* current_context() { return t_contexts.empty() ? nullptr : t_contexts.back(); }
void push_context(Context* context) { t_contexts.push_back(context); }
Context* pop_context() {
  Context* top = current_context();
  if (top != nullptr) t_contexts.pop_back();
  return top;
}

void* add_object(const char* kind, int device, std::shared_ptr<void> data) {
  State& s = state();
  s.last_handle += 16;
  add_object_at(s.last_handle, {kind, device, 0, std::move(data)});
  return reinterpret_cast<void*>(s.last_handle);
}

void add_object_at(uint64_t handle, Object object) {
  state().objects.insert_or_assign(handle, std::move(object));
}

Object* find_quietly(const char* kind, uint64_t handle) {
  const auto found = state().objects.find(handle);
  const bool is_that = found != state().objects.end() && !std::strcmp(found->second.kind, kind);
  return is_that ? &found->second : nullptr;
}

Object* find_object(const char* kind, const void* handle) {
  Object* found = find_quietly(kind, reinterpret_cast<uint64_t>(handle));
  if (found == nullptr) misuse(CUDA_ERROR_INVALID_HANDLE, kind);
  return found;
}

bool remove_object(const char* kind, const void* handle) {
  if (find_object(kind, handle) == nullptr) return false;
  state().objects.erase(reinterpret_cast<uint64_t>(handle));
  return true;
}

std::vector<std::shared_ptr<void>> data_of(const char* kind, int device) {
  std::vector<std::shared_ptr<void>> found;
  for (const auto& [handle, object] : state().objects) {
    if (object.device == device && !std::strcmp(object.kind, kind)) found.push_back(object.data);
  }
  return found;
}

void drop_objects_of(int device) {
  for (const auto& queue : data_of("stream", device))
    std::static_pointer_cast<Queue>(queue)->abandon();
  std::erase_if(state().objects,
                [device](const auto& each) { return each.second.device == device; });
}

uint64_t used_bytes(int device) {
  uint64_t sum = 0;
  for (const auto& [handle, object] : state().objects) {
    if (object.device == device && !std::strcmp(object.kind, "memory")) sum += object.size_bytes;
  }
  return sum;
}

Object* find_range(const char* kind, uint64_t address, uint64_t size_bytes) {
  auto& objects = state().objects;
  for (auto next = objects.upper_bound(address); next != objects.begin();) {
    --next;
    Object& object = next->second;
    if (std::strcmp(object.kind, kind) != 0) continue;
    const bool is_inside = address - next->first <= object.size_bytes &&
                           size_bytes <= object.size_bytes - (address - next->first);
    return is_inside ? &object : nullptr;
  }
  return nullptr;
}

CUresult misuse(CUresult result, const char* text) {
  ++state().misuses;
  state().last_misuse = std::string(text) + " (" + std::to_string(result) + ")";
  return result;
}

void set_sticky(Context& context, CUresult result) {
  if (context.sticky == CUDA_SUCCESS) context.sticky = result;
  if (script_says("lost")) context.lost = context.sticky;
}

// A new thread for each call would be as the driver has it, and most of the time of all tests.
void run_host_function(CUhostFn function, void* user_data) {
  t_in_host_function = true;
  function(user_data);
  t_in_host_function = false;
}

}  // namespace km::cu

using km::cu::state;

extern "C" {

void fake_cuda_fail(int64_t index, int32_t result) {
  const std::lock_guard lock(km::cu::state_mutex());
  state().until_failure = index;
  state().failure = result;
  state().failed_call.clear();
}

int64_t fake_cuda_calls() {
  const std::lock_guard lock(km::cu::state_mutex());
  return state().calls;
}

const char* fake_cuda_failed_call() { return state().failed_call.c_str(); }

const char* fake_cuda_live() {
  const std::lock_guard lock(km::cu::state_mutex());
  std::map<std::string, int> counts;
  for (const auto& [handle, object] : state().objects) ++counts[object.kind];
  for (const km::cu::Context& context : state().contexts) {
    if (context.retained != 0) counts["retained context"] += context.retained;
  }
  state().live.clear();
  for (const auto& [kind, count] : counts) {
    state().live += kind + " x " + std::to_string(count) + "; ";
  }
  return state().live.c_str();
}

int64_t fake_cuda_misuses() {
  const std::lock_guard lock(km::cu::state_mutex());
  return state().misuses;
}

const char* fake_cuda_last_misuse() { return state().last_misuse.c_str(); }

void fake_cuda_enter(int by) { km::cu::t_inside_libraries += by; }

uint64_t fake_cuda_add_object(const char* kind) {
  const std::lock_guard lock(km::cu::state_mutex());
  const km::cu::Context* context = km::cu::current_context();
  if (context == nullptr || !context->is_active) {
    km::cu::misuse(km::cu::CUDA_ERROR_INVALID_CONTEXT, kind);
    return 0;
  }
  return reinterpret_cast<uint64_t>(km::cu::add_object(kind, context->device));
}

int fake_cuda_has_object(const char* kind, uint64_t object) {
  const std::lock_guard lock(km::cu::state_mutex());
  return km::cu::find_object(kind, reinterpret_cast<void*>(object)) != nullptr;
}

void fake_cuda_remove_object(const char* kind, uint64_t object) {
  const std::lock_guard lock(km::cu::state_mutex());
  km::cu::remove_object(kind, reinterpret_cast<void*>(object));
}

int64_t fake_cuda_depth() { return static_cast<int64_t>(km::cu::t_contexts.size()); }
}
