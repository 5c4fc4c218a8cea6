/* Ranges of NVTX, whose names the trace of the process (KM_TRACE) holds when it has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int nvtxRangePushA(const char*);
int nvtxRangePushW(const wchar_t*);
int nvtxRangePop(void);
uint64_t nvtxRangeStartA(const char*);
void nvtxRangeEnd(uint64_t);
void nvtxMarkA(const char*);
void* nvtxDomainCreateA(const char*);
void nvtxDomainDestroy(void*);
void* nvtxDomainRegisterStringA(void*, const char*);
int nvtxDomainRangePop(void*);
typedef struct {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  const void* message;
} event;
int nvtxDomainRangePushEx(void*, const event*);
int InitializeInjectionNvtx2(const void* (*)(uint32_t));

static void ranges_have_levels(void** state) {
  (void)state;
  assert_int_equal(nvtxRangePop(), -2);
  assert_int_equal(nvtxRangePushA("one"), 0);
  assert_int_equal(nvtxRangePushA("two"), 1);
  assert_int_equal(nvtxRangePop(), 1);
  assert_int_equal(nvtxRangePop(), 0);
  assert_int_equal(nvtxRangePop(), -2);
  nvtxRangeEnd(0x1234); /* none */
}

/* In a process of its own, whose trace is written when it ends. */
static void annotate(void) {
  void* memory = NULL;
  if (cudaMalloc(&memory, 16) != cudaSuccess) _exit(3);
  nvtxRangePushA("a pushed range");
  nvtxRangePushW(L"w\u00e4ide");
  nvtxRangePop();
  nvtxRangePop();
  nvtxRangeEnd(nvtxRangeStartA("a started range"));
  nvtxMarkA("a mark");
  void* const domain = nvtxDomainCreateA("home");
  const event registered = {.version = 3,
                            .size = sizeof registered,
                            .message_type = 3,
                            .message = nvtxDomainRegisterStringA(domain, "registered")};
  nvtxDomainRangePushEx(domain, &registered);
  nvtxDomainRangePop(domain);
  nvtxDomainDestroy(domain);
  cudaFree(memory);
  exit(0);
}

static void ranges_appear_in_the_trace(void** state) {
  (void)state;
  const char* const path = getenv("KM_TRACE");
  assert_non_null(path);
  remove(path);
  const pid_t child = fork();
  if (child == 0) annotate();
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  FILE* const file = fopen(path, "r");
  assert_non_null(file);
  static char text[1 << 20];
  const size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  const char* const names[] = {"a pushed range", "w\xc3\xa4ide", "a started range", "a mark",
                               "home: registered"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strstr(text, names[i]) == NULL) print_error("no '%s' in the trace\n", names[i]);
    assert_non_null(strstr(text, names[i]));
  }
}

static int (*push_slot)(const char*);
static int (*pop_slot)(void);
static int functions_of_module(int module, void*** table, unsigned* size) {
  static void* slots[16];
  memset(slots, 0, sizeof slots);
  if (module != 1) return 0;
  slots[9] = &push_slot;
  slots[11] = &pop_slot;
  *table = slots;
  *size = 12;
  return 1;
}
static const void* export_table(uint32_t id) {
  static const struct {
    size_t size;
    int (*functions)(int, void***, unsigned*);
  } callbacks = {sizeof callbacks, functions_of_module};
  return id == 1 ? &callbacks : NULL;
}

static void injection_fills_the_program_s_functions(void** state) {
  (void)state;
  assert_int_equal(InitializeInjectionNvtx2(export_table), 1);
  assert_non_null(push_slot);
  assert_int_equal(push_slot("injected"), 0);
  assert_int_equal(pop_slot(), 0);
  assert_int_equal(InitializeInjectionNvtx2(NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      /* First: the child process needs a driver that no other process has initialised. */
      cmocka_unit_test(ranges_appear_in_the_trace),
      cmocka_unit_test(ranges_have_levels),
      cmocka_unit_test(injection_fills_the_program_s_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
