#include "dropin/cupti/callback/listener.h"

#include <cstring>
#include <string_view>

#include "base/process/dylib.h"
#include "dropin/cupti/activity/activity.h"
#include "dropin/cupti/activity/operations.h"
#include "dropin/cupti/callback/resources.h"
#include "dropin/cupti/callback/subscriber.h"
#include "dropin/cupti/correlation/calls.h"
#include "dropin/cupti/correlation/clock.h"
#include "dropin/cupti/correlation/numbers.h"
#include "dropin/frame/api_listener.h"

namespace km::cupti {
namespace {

// The words of a call's memo.
enum Memo : uint32_t { kBeginNs, kCorrelation, kProgramsWord, kIsHeard };

/// CUpti_CallbackData.
struct CallbackData {
  int32_t site;
  const char* function;
  const void* parameters;
  const void* result;
  const char* symbol;
  cu::CUcontext context;
  uint32_t context_number;
  uint64_t* programs_word;
  uint32_t correlation;
};
static_assert(sizeof(CallbackData) == 72);

/// CUpti_SynchronizeData.
struct SynchronizeData {
  cu::CUcontext context;
  cu::CUstream stream;
};

/// The number of calls on this thread that have begun and not ended.
int& open_calls() {
  thread_local int count = 0;
  return count;
}

/// The correlation id of the outermost open call of this thread.
uint32_t& open_correlation() {
  thread_local uint32_t id = 0;
  return id;
}

using NameOf = cu::CUresult (*)(const char**, void*);
NameOf find_name_of(const char* function) {
  const Result<Dylib> library = Dylib::open("libcuda.so.1");
  return library ? library->function<NameOf>(function) : nullptr;
}

/// The kernel of a launch of the driver, a CUfunction or a CUkernel; null for other calls.
void* launched_kernel(const frame::ApiCall& call) {
  const std::string_view name = call.name;
  if (call.domain != frame::ApiDomain::kDriver) return nullptr;
  if (!name.starts_with("cuLaunchKernel") && name != "cuLaunchCooperativeKernel" &&
      name != "cuLaunchCooperativeKernel_ptsz" && name != "cuLaunch") {
    return nullptr;
  }
  const bool has_config = name.starts_with("cuLaunchKernelEx");
  return parameter<void*>(call, has_config ? sizeof(void*) : 0);
}

/// The driver's functions that tell what a kernel needs.
struct NeedFunctions {
  decltype(&cu::cuFuncGetAttribute) attribute = nullptr;
  decltype(&cu::cuKernelGetFunction) function = nullptr;
};
const NeedFunctions& need_functions() {
  static const NeedFunctions found = [] {
    NeedFunctions functions;
    const Result<Dylib> library = Dylib::open("libcuda.so.1");
    if (!library) return functions;
    functions.attribute = library->function<decltype(functions.attribute)>("cuFuncGetAttribute");
    functions.function = library->function<decltype(functions.function)>("cuKernelGetFunction");
    return functions;
  }();
  return found;
}

Launched needs_of(void* kernel) {
  Launched needs;
  const NeedFunctions& ask = need_functions();
  if (ask.attribute == nullptr || ask.function == nullptr) return needs;
  const OwnCalls own;
  auto* function = static_cast<cu::CUfunction>(kernel);
  cu::CUfunction of_kernel = nullptr;
  if (ask.function(&of_kernel, static_cast<cu::CUkernel>(kernel)) == cu::CUDA_SUCCESS) {
    function = of_kernel;
  }
  const auto get = [&](cu::CUfunction_attribute which) {
    int value = 0;
    return ask.attribute(&value, which, function) == cu::CUDA_SUCCESS && value > 0
               ? static_cast<uint32_t>(value)
               : 0;
  };
  needs.registers = get(cu::CU_FUNC_ATTRIBUTE_NUM_REGS);
  needs.static_shared_bytes = get(cu::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  needs.local_bytes = get(cu::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  return needs;
}

/// Notes what a call launches, for the records of its operations.
void note_launched(const frame::ApiCall& call) {
  const std::string_view name = call.name;
  if (call.domain != frame::ApiDomain::kDriver || !Activity::instance().follows_operations())
    return;
  Launched launched;
  if (name == "cuGraphLaunch" || name == "cuGraphLaunch_ptsz") {
    const auto exec = reinterpret_cast<uint64_t>(parameter<cu::CUgraphExec>(call));
    launched.graph = numbers_of<cu::CUgraphExec>().of(exec);
  } else if (void* const kernel = launched_kernel(call)) {
    launched = needs_of(kernel);
  } else {
    return;
  }
  AllCalls::instance().here().note(launched);
}

/// The kernel's name for launches of the driver, otherwise null.
const char* symbol_of(const frame::ApiCall& call) {
  void* const function = launched_kernel(call);
  if (function == nullptr) return nullptr;
  static const NameOf of_function = find_name_of("cuFuncGetName");
  static const NameOf of_kernel = find_name_of("cuKernelGetName");
  const OwnCalls own;
  for (const NameOf each : {of_function, of_kernel}) {
    const char* symbol = nullptr;
    if (each != nullptr && each(&symbol, function) == cu::CUDA_SUCCESS) return symbol;
  }
  return nullptr;
}

CUpti_CallbackDomain domain_of(const frame::ApiCall& call) {
  return static_cast<CUpti_CallbackDomain>(call.domain);
}

/// Calls the program's function at one side of a call.
void tell_call(frame::ApiCall& call, int32_t site) {
  const std::shared_ptr<Subscriber> heard = subscriber();
  if (heard == nullptr || !heard->wants(domain_of(call), call.number)) return;
  const cu::CUcontext context = current_context();
  const CallbackData data = {site,
                             call.name,
                             call.parameters,
                             call.result,
                             symbol_of(call),
                             context,
                             number_of(context),
                             &call.memo[kProgramsWord],
                             static_cast<uint32_t>(call.memo[kCorrelation])};
  heard->call(domain_of(call), call.number, &data);
}

bool has_succeeded(const frame::ApiCall& call) {
  return call.result != nullptr && *static_cast<const cu::CUresult*>(call.result) == 0;
}

void tell_wait(const frame::ApiCall& call, uint64_t begin_ns, uint64_t end_ns) {
  const std::string_view name = call.name;
  const auto correlation = static_cast<uint32_t>(call.memo[kCorrelation]);
  const bool is_stream = name.starts_with("cuStreamSynchronize");
  const bool is_event = name == "cuEventSynchronize";
  if (!is_stream && !is_event && !name.starts_with("cuCtxSynchronize")) return;
  const cu::CUcontext context = current_context();
  HostWait wait{CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, number_of(context)};
  if (is_stream) {
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    const OwnCalls own;
    const library::LibraryTable* const table = library::table_if_loaded();
    const uint64_t key = table != nullptr ? table->stream_key(parameter<cu::CUstream>(call)) : 0;
    if (key != 0) wait.stream = stream_number(key);
  } else if (is_event) {
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
    const auto event = reinterpret_cast<uint64_t>(parameter<cu::CUevent>(call));
    wait.event = numbers_of<cu::CUevent>().of(event);
  }
  record_wait(wait, begin_ns, end_ns, correlation);
  const std::shared_ptr<Subscriber> heard = subscriber();
  const uint32_t number = is_stream ? CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED
                                    : CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED;
  if (is_event || heard == nullptr || !heard->wants(CUPTI_CB_DOMAIN_SYNCHRONIZE, number)) return;
  const SynchronizeData data = {context, is_stream ? parameter<cu::CUstream>(call) : nullptr};
  heard->call(CUPTI_CB_DOMAIN_SYNCHRONIZE, number, &data);
}

void begins(frame::ApiCall& call) {
  if (OwnCalls::is_here()) return;
  const uint64_t now = engine_now_ns();
  call.memo[kIsHeard] = 1;
  call.memo[kBeginNs] = now;
  if (open_calls()++ == 0) {
    open_correlation() = AllCalls::instance().here().begin(now);
    record_external_ids(open_correlation());
  }
  call.memo[kCorrelation] = open_correlation();
  note_launched(call);
  tell_call(call, CUPTI_API_ENTER);
  if (call.domain == frame::ApiDomain::kDriver) tell_destruction(call);
}

void ends(frame::ApiCall& call) {
  if (call.memo[kIsHeard] == 0) return;
  const uint64_t now = engine_now_ns();
  if (call.domain == frame::ApiDomain::kDriver && has_succeeded(call)) {
    tell_creation(call);
    tell_wait(call, call.memo[kBeginNs], now);
  }
  tell_call(call, CUPTI_API_EXIT);
  record_call(call, call.memo[kBeginNs], now, static_cast<uint32_t>(call.memo[kCorrelation]));
  if (--open_calls() == 0) AllCalls::instance().here().end(now);
}

constexpr frame::ApiListener kListener = {begins, ends};

}  // namespace

cu::CUresult listen_to_calls(const library::Driver& driver, bool on) {
  const void* place = nullptr;
  const cu::CUresult found = driver.cuGetExportTable(&place, &frame::kApiListenerId);
  if (found != cu::CUDA_SUCCESS) return found;
  auto* const listener = static_cast<frame::ApiListenerPlace*>(const_cast<void*>(place));
  listener->store(on ? &kListener : nullptr, std::memory_order_release);
  return cu::CUDA_SUCCESS;
}

}  // namespace km::cupti
