// The functions of NVTX, for programs linked with libnvToolsExt and, through injection, for
// programs that use the header-only version.
#include <cstddef>
#include <cstring>
#include <utility>

#include "dropin/frame/call.h"
#include "dropin/library/host_memory.h"
#include "dropin/nvtx/ranges.h"

namespace {

using namespace km::nvtx;  // NOLINT: its functions are what these call

/// The fields of nvtxEventAttributes_t up to the message.
struct EventAttributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;  // 1: char, 2: wchar_t, 3: registered
  const void* message;
};
static_assert(offsetof(EventAttributes, message) == 40);

constexpr size_t kMostTextBytes = size_t{1} << 20;

/// Texts that cannot be read are empty: NVTX has no statuses.
std::string text_of(const char* text) {
  std::string read;
  return km::library::read_host_text(text, kMostTextBytes, &read) ? read : "";
}

std::string text_of(const wchar_t* text) { return narrow(text, kMostTextBytes); }

std::string text_of(const EventAttributes* event) {
  EventAttributes read{};
  if (!km::library::read_host(&read, event, offsetof(EventAttributes, category)) ||
      read.size < sizeof read || !km::library::read_host(event, &read)) {
    return "";
  }
  switch (read.message_type) {
    case 1:
      return text_of(static_cast<const char*>(read.message));
    case 2:
      return text_of(static_cast<const wchar_t*>(read.message));
    case 3:
      return registered_string(reinterpret_cast<uint64_t>(read.message));
    default:
      return "";
  }
}

uint64_t id_of(const void* domain) { return reinterpret_cast<uint64_t>(domain); }

constexpr uint64_t kDefaultDomain = 0;

/// Runs an exported function's body. If memory runs out, the annotation is dropped and the result
/// is `otherwise`.
template <class Body, class Result = decltype(std::declval<Body>()())>
Result guarded(Body&& body, Result otherwise = {}) {
  return km::frame::run<Result>(body, [&](bool, const char*) { return otherwise; });
}
void guarded_void(auto&& body) {
  km::frame::run<void>(body, [](bool, const char*) {});
}

}  // namespace

extern "C" {

void nvtxInitialize(const void*) {}
void nvtxMarkEx(const EventAttributes* event) {
  guarded_void([&] { mark(kDefaultDomain, text_of(event)); });
}
void nvtxMarkA(const char* text) {
  guarded_void([&] { mark(kDefaultDomain, text_of(text)); });
}
void nvtxMarkW(const wchar_t* text) {
  guarded_void([&] { mark(kDefaultDomain, text_of(text)); });
}
uint64_t nvtxRangeStartEx(const EventAttributes* event) {
  return guarded([&] { return start(kDefaultDomain, text_of(event)); });
}
uint64_t nvtxRangeStartA(const char* text) {
  return guarded([&] { return start(kDefaultDomain, text_of(text)); });
}
uint64_t nvtxRangeStartW(const wchar_t* text) {
  return guarded([&] { return start(kDefaultDomain, text_of(text)); });
}
void nvtxRangeEnd(uint64_t range) {
  guarded_void([&] { end(range); });
}
int nvtxRangePushEx(const EventAttributes* event) {
  return guarded([&] { return push(kDefaultDomain, text_of(event)); }, kNoTracking);
}
int nvtxRangePushA(const char* text) {
  return guarded([&] { return push(kDefaultDomain, text_of(text)); }, kNoTracking);
}
int nvtxRangePushW(const wchar_t* text) {
  return guarded([&] { return push(kDefaultDomain, text_of(text)); }, kNoTracking);
}
int nvtxRangePop() {
  return guarded([&] { return pop(kDefaultDomain); }, kNoTracking);
}

void nvtxDomainMarkEx(void* domain, const EventAttributes* event) {
  guarded_void([&] { mark(id_of(domain), text_of(event)); });
}
uint64_t nvtxDomainRangeStartEx(void* domain, const EventAttributes* event) {
  return guarded([&] { return start(id_of(domain), text_of(event)); });
}
void nvtxDomainRangeEnd(void*, uint64_t range) {
  guarded_void([&] { end(range); });
}
int nvtxDomainRangePushEx(void* domain, const EventAttributes* event) {
  return guarded([&] { return push(id_of(domain), text_of(event)); }, kNoTracking);
}
int nvtxDomainRangePop(void* domain) {
  return guarded([&] { return pop(id_of(domain)); }, kNoTracking);
}
void* nvtxDomainCreateA(const char* name) {
  return guarded([&] { return reinterpret_cast<void*>(create_domain(text_of(name))); });
}
void* nvtxDomainCreateW(const wchar_t* name) {
  return guarded([&] { return reinterpret_cast<void*>(create_domain(text_of(name))); });
}
void nvtxDomainDestroy(void* domain) {
  guarded_void([&] { destroy_domain(id_of(domain)); });
}
void* nvtxDomainRegisterStringA(void*, const char* text) {
  return guarded([&] { return reinterpret_cast<void*>(register_string(text_of(text))); });
}
void* nvtxDomainRegisterStringW(void*, const wchar_t* text) {
  return guarded([&] { return reinterpret_cast<void*>(register_string(text_of(text))); });
}

// Names of categories, threads and resources are ignored, because traces cannot record them.
#define KM_NO_PLACE(symbol) \
  void symbol() {}
KM_NO_PLACE(nvtxNameCategoryA)
KM_NO_PLACE(nvtxNameCategoryW)
KM_NO_PLACE(nvtxNameOsThreadA)
KM_NO_PLACE(nvtxNameOsThreadW)
KM_NO_PLACE(nvtxDomainNameCategoryA)
KM_NO_PLACE(nvtxDomainNameCategoryW)
KM_NO_PLACE(nvtxDomainResourceDestroy)
KM_NO_PLACE(nvtxNameCuDeviceA)
KM_NO_PLACE(nvtxNameCuDeviceW)
KM_NO_PLACE(nvtxNameCuContextA)
KM_NO_PLACE(nvtxNameCuContextW)
KM_NO_PLACE(nvtxNameCuStreamA)
KM_NO_PLACE(nvtxNameCuStreamW)
KM_NO_PLACE(nvtxNameCuEventA)
KM_NO_PLACE(nvtxNameCuEventW)
KM_NO_PLACE(nvtxNameCudaDeviceA)
KM_NO_PLACE(nvtxNameCudaDeviceW)
KM_NO_PLACE(nvtxNameCudaStreamA)
KM_NO_PLACE(nvtxNameCudaStreamW)
KM_NO_PLACE(nvtxNameCudaEventA)
KM_NO_PLACE(nvtxNameCudaEventW)
void* nvtxDomainResourceCreate(void*, const void*) { return nullptr; }

}  // extern "C"

namespace {

using Function = void (*)();
using FunctionTable = Function**;  // addresses of the program's pointers

struct Callbacks {
  size_t struct_size;
  int (*functions_of_module)(int module, FunctionTable* out_table, unsigned* out_size);
};

template <class F>
void put(FunctionTable table, unsigned size, unsigned place, F* function) {
  if (place < size && table[place] != nullptr) *table[place] = reinterpret_cast<Function>(function);
}

void fill_core(FunctionTable table, unsigned size) {
  put(table, size, 1, nvtxMarkEx);
  put(table, size, 2, nvtxMarkA);
  put(table, size, 3, nvtxMarkW);
  put(table, size, 4, nvtxRangeStartEx);
  put(table, size, 5, nvtxRangeStartA);
  put(table, size, 6, nvtxRangeStartW);
  put(table, size, 7, nvtxRangeEnd);
  put(table, size, 8, nvtxRangePushEx);
  put(table, size, 9, nvtxRangePushA);
  put(table, size, 10, nvtxRangePushW);
  put(table, size, 11, nvtxRangePop);
}

void fill_domains(FunctionTable table, unsigned size) {
  put(table, size, 1, nvtxDomainMarkEx);
  put(table, size, 2, nvtxDomainRangeStartEx);
  put(table, size, 3, nvtxDomainRangeEnd);
  put(table, size, 4, nvtxDomainRangePushEx);
  put(table, size, 5, nvtxDomainRangePop);
  put(table, size, 10, nvtxDomainRegisterStringA);
  put(table, size, 11, nvtxDomainRegisterStringW);
  put(table, size, 12, nvtxDomainCreateA);
  put(table, size, 13, nvtxDomainCreateW);
  put(table, size, 14, nvtxDomainDestroy);
  put(table, size, 15, nvtxInitialize);
}

}  // namespace

/// Called by a program's NVTX if NVTX_INJECTION64_PATH names this library. Returns 1 if it will be
/// used.
extern "C" int InitializeInjectionNvtx2(const void* (*get_export_table)(uint32_t)) {
  constexpr uint32_t kCallbacks = 1;
  constexpr int kCore = 1, kDomains = 5;
  if (get_export_table == nullptr) return 0;
  const auto* const callbacks = static_cast<const Callbacks*>(get_export_table(kCallbacks));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(Callbacks)) return 0;
  FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->functions_of_module(kCore, &table, &size) != 0) fill_core(table, size);
  if (callbacks->functions_of_module(kDomains, &table, &size) != 0) fill_domains(table, size);
  return 1;
}
