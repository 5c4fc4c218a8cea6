#include "hostile.h"

/// NVTX's attributes of an event.
struct nvtxEventAttributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  const void* message;
};
static_assert(offsetof(nvtxEventAttributes, message) == 40);

extern "C" {
void nvtxInitialize(const void*);
void nvtxMarkEx(const nvtxEventAttributes*);
void nvtxMarkA(const char*);
void nvtxMarkW(const wchar_t*);
uint64_t nvtxRangeStartEx(const nvtxEventAttributes*);
uint64_t nvtxRangeStartA(const char*);
uint64_t nvtxRangeStartW(const wchar_t*);
void nvtxRangeEnd(uint64_t);
int nvtxRangePushEx(const nvtxEventAttributes*);
int nvtxRangePushA(const char*);
int nvtxRangePushW(const wchar_t*);
int nvtxRangePop();
void nvtxDomainMarkEx(void*, const nvtxEventAttributes*);
uint64_t nvtxDomainRangeStartEx(void*, const nvtxEventAttributes*);
void nvtxDomainRangeEnd(void*, uint64_t);
int nvtxDomainRangePushEx(void*, const nvtxEventAttributes*);
int nvtxDomainRangePop(void*);
void* nvtxDomainCreateA(const char*);
void* nvtxDomainCreateW(const wchar_t*);
void nvtxDomainDestroy(void*);
void* nvtxDomainRegisterStringA(void*, const char*);
void* nvtxDomainRegisterStringW(void*, const wchar_t*);
}

namespace km::hostile {
namespace {

void refill() {}

TEST(Hostile, Nvtx) {
  Caller caller(refill);
#define KM_CALL(name) caller.call_all(#name, name)
  KM_CALL(nvtxInitialize);
  KM_CALL(nvtxMarkEx);
  KM_CALL(nvtxMarkA);
  KM_CALL(nvtxMarkW);
  KM_CALL(nvtxRangeStartEx);
  KM_CALL(nvtxRangeStartA);
  KM_CALL(nvtxRangeStartW);
  KM_CALL(nvtxRangeEnd);
  KM_CALL(nvtxRangePushEx);
  KM_CALL(nvtxRangePushA);
  KM_CALL(nvtxRangePushW);
  KM_CALL(nvtxRangePop);
  KM_CALL(nvtxDomainMarkEx);
  KM_CALL(nvtxDomainRangeStartEx);
  KM_CALL(nvtxDomainRangeEnd);
  KM_CALL(nvtxDomainRangePushEx);
  KM_CALL(nvtxDomainRangePop);
  KM_CALL(nvtxDomainCreateA);
  KM_CALL(nvtxDomainCreateW);
  KM_CALL(nvtxDomainDestroy);
  KM_CALL(nvtxDomainRegisterStringA);
  KM_CALL(nvtxDomainRegisterStringW);
#undef KM_CALL
  EXPECT_GT(caller.calls(), 1000u);
}

/// A message in memory that is not there is an empty one.
TEST(Hostile, NvtxMessages) {
  for (const uint64_t each : wild_pointers().all()) {
    for (const int32_t type : {0, 1, 2, 3, 4}) {
      nvtxEventAttributes event{3, 48, 0, 0, 0, 0, 0, 0, type, reinterpret_cast<const void*>(each)};
      nvtxMarkEx(&event);
      const int level = nvtxRangePushEx(&event);
      EXPECT_GE(level, 0);
      EXPECT_EQ(nvtxRangePop(), level);
    }
  }
}

}  // namespace
}  // namespace km::hostile
