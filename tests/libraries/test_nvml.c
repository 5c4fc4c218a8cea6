/* NVML's queries, as nvidia-ml-py and torch make them; KM_CPU_DEVICES=2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

typedef struct nvmlDevice_st* nvmlDevice_t;
struct memory {
  unsigned long long total, free, used;
};
struct memory_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct rates {
  unsigned gpu, memory;
};
struct pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};
struct field {
  unsigned id, scope;
  long long time, latency;
  int type, status;
  unsigned long long value;
};
struct process_v1 {
  unsigned pid;
  unsigned long long used;
};
struct process {
  unsigned pid;
  unsigned long long used;
  unsigned instance, compute_instance;
};
int cuDevicePrimaryCtxRetain(void**, int);
int cuDevicePrimaryCtxRelease_v2(int);
int nvmlInit_v2(void);
int nvmlShutdown(void);
const char* nvmlErrorString(int);
int nvmlSystemGetDriverVersion(char*, unsigned);
int nvmlSystemGetCudaDriverVersion(int*);
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByIndex_v2(unsigned, nvmlDevice_t*);
int nvmlDeviceGetHandleByUUID(const char*, nvmlDevice_t*);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, nvmlDevice_t*);
int nvmlDeviceGetIndex(nvmlDevice_t, unsigned*);
int nvmlDeviceGetName(nvmlDevice_t, char*, unsigned);
int nvmlDeviceGetUUID(nvmlDevice_t, char*, unsigned);
int nvmlDeviceGetPciInfo(nvmlDevice_t, struct pci*);
int nvmlDeviceGetPciInfo_v2(nvmlDevice_t, struct pci*);
int nvmlDeviceGetPciInfo_v3(nvmlDevice_t, struct pci*);
int nvmlDeviceGetMemoryInfo(nvmlDevice_t, struct memory*);
int nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t, struct memory_v2*);
int nvmlDeviceGetUtilizationRates(nvmlDevice_t, struct rates*);
int nvmlDeviceGetCudaComputeCapability(nvmlDevice_t, int*, int*);
int nvmlDeviceGetTemperature(nvmlDevice_t, int, unsigned*);
int nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t, unsigned*);
int nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t, unsigned*);
int nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t, unsigned*);
int nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t, unsigned*);
int nvmlDeviceGetPcieSpeed(nvmlDevice_t, unsigned*);
int nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t, unsigned*);
int nvmlDeviceGetMemoryBusWidth(nvmlDevice_t, unsigned*);
int nvmlDeviceGetPerformanceState(nvmlDevice_t, int*);
int nvmlDeviceGetComputeMode(nvmlDevice_t, int*);
int nvmlDeviceGetPersistenceMode(nvmlDevice_t, int*);
int nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t, unsigned*, struct process_v1*);
int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned*, struct process*);
int nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t, unsigned*, struct process*);
int nvmlDeviceGetFieldValues(nvmlDevice_t, int, struct field*);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t, unsigned, struct pci*);

enum { UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7 };

static void calls_before_the_beginning_are_refused(void** state) {
  (void)state;
  unsigned count = 0;
  assert_int_equal(nvmlDeviceGetCount_v2(&count), UNINITIALIZED);
  assert_int_equal(nvmlShutdown(), UNINITIALIZED);
  assert_int_equal(nvmlInit_v2(), 0);
  assert_int_equal(nvmlInit_v2(), 0);
  assert_int_equal(nvmlShutdown(), 0);
  assert_int_equal(nvmlDeviceGetCount_v2(&count), 0);
  assert_int_equal(nvmlShutdown(), 0);
  assert_int_equal(nvmlDeviceGetCount_v2(&count), UNINITIALIZED);
  assert_string_equal(nvmlErrorString(NOT_SUPPORTED), "Not Supported");
}

static void devices_are_found_by_all_their_names(void** state) {
  (void)state;
  unsigned count = 0, index = 9;
  char uuid[80], small[4];
  nvmlDevice_t device, again;
  struct pci pci;
  assert_int_equal(nvmlInit_v2(), 0);
  assert_int_equal(nvmlDeviceGetCount_v2(&count), 0);
  assert_int_equal(count, 2);
  assert_int_equal(nvmlDeviceGetHandleByIndex_v2(1, &device), 0);
  assert_true((intptr_t)device > 0); /* Python programs keep handles in signed integers */
  assert_int_equal(nvmlDeviceGetIndex(device, &index), 0);
  assert_int_equal(index, 1);
  assert_int_equal(nvmlDeviceGetUUID(device, uuid, sizeof uuid), 0);
  assert_int_equal(strlen(uuid), 40);
  assert_int_equal(nvmlDeviceGetHandleByUUID(uuid, &again), 0);
  assert_ptr_equal(device, again);
  assert_int_equal(nvmlDeviceGetPciInfo_v3(device, &pci), 0);
  assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2(pci.bus_id, &again), 0);
  assert_ptr_equal(device, again);
  assert_int_equal(nvmlDeviceGetHandleByUUID("GPU-none", &again), NOT_FOUND);
  assert_int_equal(nvmlDeviceGetHandleByIndex_v2(2, &again), INVALID);
  assert_int_equal(nvmlDeviceGetUUID(device, small, sizeof small), TOO_SMALL);
  assert_int_equal(nvmlDeviceGetName((nvmlDevice_t)(uintptr_t)5, uuid, sizeof uuid), INVALID);
  assert_int_equal(nvmlShutdown(), 0);
}

/* Older names write less: what stands behind their structures stays as it is. */
static void older_names_write_older_structures(void** state) {
  (void)state;
  nvmlDevice_t device;
  struct pci now, first, second;
  memset(&first, 0x55, sizeof first);
  second = first;
  const struct pci untouched = first;
  assert_int_equal(nvmlDeviceGetPciInfo(NULL, &first), UNINITIALIZED);
  assert_int_equal(nvmlInit_v2(), 0);
  assert_int_equal(nvmlDeviceGetHandleByIndex_v2(1, &device), 0);
  assert_int_equal(nvmlDeviceGetPciInfo_v3(device, &now), 0);
  assert_int_equal(nvmlDeviceGetPciInfo_v2(device, &second), 0);
  assert_int_equal(nvmlDeviceGetPciInfo(device, &first), 0);
  assert_memory_equal(&second, &now, offsetof(struct pci, bus_id));
  assert_memory_equal(second.bus_id, untouched.bus_id, sizeof second.bus_id);
  assert_memory_equal(&first, &now, offsetof(struct pci, subsystem));
  assert_int_equal(first.subsystem, untouched.subsystem);
  assert_int_equal(nvmlDeviceGetPciInfo(device, NULL), INVALID);
  assert_int_equal(nvmlShutdown(), 0);
}

static void properties_are_the_driver_s(void** state) {
  (void)state;
  nvmlDevice_t device;
  struct memory memory;
  struct memory_v2 second = {.version = sizeof second | 2U << 24};
  struct rates rates;
  int major = 0, minor = 0, version = 0;
  unsigned temperature;
  char text[96];
  assert_int_equal(nvmlInit_v2(), 0);
  assert_int_equal(nvmlDeviceGetHandleByIndex_v2(0, &device), 0);
  assert_int_equal(nvmlDeviceGetMemoryInfo(device, &memory), 0);
  assert_true(memory.total > 0 && memory.free <= memory.total);
  assert_true(memory.used == memory.total - memory.free);
  assert_int_equal(nvmlDeviceGetMemoryInfo_v2(device, &second), 0);
  assert_true(second.total == memory.total);
  second.version = 1;
  assert_int_equal(nvmlDeviceGetMemoryInfo_v2(device, &second), INVALID);
  assert_int_equal(nvmlDeviceGetUtilizationRates(device, &rates), 0);
  assert_true(rates.gpu <= 100 && rates.memory <= 100);
  assert_int_equal(nvmlDeviceGetCudaComputeCapability(device, &major, &minor), 0);
  assert_true(major >= 5);
  assert_int_equal(nvmlSystemGetCudaDriverVersion(&version), 0);
  assert_true(version >= 13000);
  assert_int_equal(nvmlSystemGetDriverVersion(text, sizeof text), 0);
  assert_int_equal(nvmlDeviceGetName(device, text, sizeof text), 0);
  assert_true(strlen(text) > 0);
  assert_int_equal(nvmlDeviceGetTemperature(device, 0, &temperature), NOT_SUPPORTED);
  assert_int_equal(nvmlShutdown(), 0);
}

/* PyTorch and XLA ask for these before they use a device. */
static void links_and_state_have_values(void** state) {
  (void)state;
  nvmlDevice_t device;
  unsigned generation = 0, lanes = 0, now = 0, speed = 0, code = 0, width = 0;
  int value = -1;
  struct pci pci;
  assert_int_equal(nvmlInit_v2(), 0);
  assert_int_equal(nvmlDeviceGetHandleByIndex_v2(1, &device), 0);
  assert_int_equal(nvmlDeviceGetMaxPcieLinkGeneration(device, &generation), 0);
  assert_int_equal(nvmlDeviceGetCurrPcieLinkGeneration(device, &now), 0);
  assert_true(generation >= 3 && now == generation);
  assert_int_equal(nvmlDeviceGetMaxPcieLinkWidth(device, &lanes), 0);
  assert_int_equal(nvmlDeviceGetCurrPcieLinkWidth(device, &now), 0);
  assert_true(lanes == 16 && now == lanes);
  assert_int_equal(nvmlDeviceGetPcieSpeed(device, &speed), 0);
  assert_int_equal(nvmlDeviceGetPcieLinkMaxSpeed(device, &code), 0);
  assert_int_equal(code, generation); /* speeds are numbered as generations are */
  assert_int_equal(speed, 1000U << code);
  assert_int_equal(nvmlDeviceGetMemoryBusWidth(device, &width), 0);
  assert_true(width > 0); /* programs divide by it */
  assert_int_equal(nvmlDeviceGetPerformanceState(device, &value), 0);
  assert_int_equal(value, 0);
  assert_int_equal(nvmlDeviceGetComputeMode(device, &value), 0);
  assert_int_equal(value, 0);
  assert_int_equal(nvmlDeviceGetPersistenceMode(device, &value), 0);
  assert_int_equal(value, 1);
  assert_int_equal(nvmlDeviceGetPersistenceMode(device, NULL), INVALID);
  assert_int_equal(nvmlDeviceGetNvLinkRemotePciInfo_v2(device, 0, &pci), NOT_SUPPORTED);
  assert_int_equal(nvmlShutdown(), 0);
}

static void each_field_has_a_status_of_its_own(void** state) {
  (void)state;
  nvmlDevice_t device;
  struct field fields[2] = {{.id = 91, .value = 7}, {.id = 1}};
  assert_int_equal(nvmlInit_v2(), 0);
  assert_int_equal(nvmlDeviceGetHandleByIndex_v2(0, &device), 0);
  assert_int_equal(nvmlDeviceGetFieldValues(device, 2, fields), 0);
  assert_int_equal(fields[0].status, 0); /* how many links of NVLink there are */
  assert_int_equal(fields[0].value, 0);
  assert_int_equal(fields[1].status, NOT_SUPPORTED);
  assert_int_equal(nvmlDeviceGetFieldValues(device, 0, fields), INVALID);
  assert_int_equal(nvmlShutdown(), 0);
}

static void this_process_is_listed_while_it_uses_a_device(void** state) {
  (void)state;
  nvmlDevice_t device;
  struct process_v1 first[2];
  struct process all[2];
  unsigned count = 2;
  void* context = NULL;
  assert_int_equal(nvmlInit_v2(), 0);
  assert_int_equal(nvmlDeviceGetHandleByIndex_v2(1, &device), 0);
  assert_int_equal(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, all), 0);
  assert_int_equal(count, 0);
  assert_int_equal(cuDevicePrimaryCtxRetain(&context, 1), 0);
  assert_int_equal(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL), TOO_SMALL);
  assert_int_equal(count, 1);
  assert_int_equal(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL), INVALID);
  assert_int_equal(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, all), 0);
  assert_int_equal(all[0].pid, getpid());
  assert_int_equal(all[0].instance, UINT32_MAX);
  assert_int_equal(nvmlDeviceGetComputeRunningProcesses(device, &count, first), 0);
  assert_int_equal(first[0].pid, getpid());
  assert_int_equal(nvmlDeviceGetGraphicsRunningProcesses_v3(device, &count, all), 0);
  assert_int_equal(count, 0);
  assert_int_equal(cuDevicePrimaryCtxRelease_v2(1), 0);
  assert_int_equal(nvmlShutdown(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_before_the_beginning_are_refused),
      cmocka_unit_test(devices_are_found_by_all_their_names),
      cmocka_unit_test(older_names_write_older_structures),
      cmocka_unit_test(properties_are_the_driver_s),
      cmocka_unit_test(links_and_state_have_values),
      cmocka_unit_test(each_field_has_a_status_of_its_own),
      cmocka_unit_test(this_process_is_listed_while_it_uses_a_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
