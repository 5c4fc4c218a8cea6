/* Several devices: copies between them, kernels on another's memory, shares of the machine. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

typedef struct peers {
  const fixture* f;
  km_device device;
  km_context context;
  km_stream stream;
} peers;

static peers open_peer(const fixture* f) {
  peers p = {f, NULL, NULL, NULL};
  if (!has_device(other_uri(f))) skip();
  OK(km_device_open(other_uri(f), &p.device));
  OK(km_context_create(p.device, &p.context));
  OK(km_stream_create(p.context, 0, 0, &p.stream));
  return p;
}

static void close_peer(peers* p) {
  OK(km_stream_destroy(p->stream));
  OK(km_context_destroy(p->context));
  OK(km_device_destroy(p->device));
}

static km_slice new_slice(km_context context, uint64_t size_bytes) {
  km_slice slice;
  OK(km_slice_create(context, size_bytes, 1, KM_SLICE_ZEROED, &slice));
  return slice;
}

static void devices_are_counted_and_know_each_other(void** state) {
  fixture* f = *state;
  peers p = open_peer(f);
  uint32_t count = 0, can = 77;
  OK(km_device_count(f->info.backend, &count));
  assert_int_equal(count, 2);
  OK(km_device_can_access_peer(f->device, p.device, &can));
  assert_int_equal(can, 1);
  OK(km_device_can_access_peer(p.device, p.device, &can));
  assert_int_equal(can, 0);
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_device_can_access_peer(f->device, p.device, NULL));
  close_peer(&p);
}

static void copies_between_devices(void** state) {
  fixture* f = *state;
  enum { kBytes = 3 << 20 };
  peers p = open_peer(f);
  km_slice here = new_slice(f->context, kBytes), there = new_slice(p.context, kBytes);
  unsigned char* bytes = malloc(kBytes);
  unsigned char* seen = calloc(kBytes, 1);
  uint64_t here_address, there_address;
  assert_non_null(bytes);
  assert_non_null(seen);
  for (int i = 0; i < kBytes; ++i) bytes[i] = (unsigned char)(i * 13 + (i >> 9));
  OK(km_slice_address(here, &here_address));
  OK(km_slice_address(there, &there_address));
  OK(km_slice_upload(f->stream, here, 0, bytes, kBytes));
  OK(km_slice_copy_peer(f->stream, there, 0, here, 0, kBytes));
  OK(km_stream_synchronize(f->stream));
  OK(km_slice_download(p.stream, there, 0, seen, kBytes));
  assert_memory_equal(seen, bytes, kBytes);
  OK(km_memory_copy_peer(p.stream, f->context, here_address + 100, p.context, there_address, 50));
  OK(km_stream_synchronize(p.stream));
  OK(km_slice_download(f->stream, here, 100, seen, 50));
  assert_memory_equal(seen, bytes, 50);
  /* One context is allowed, too, and either device's stream. */
  OK(km_slice_copy_peer(p.stream, here, 0, here, 1000, 1000));
  OK(km_slice_copy_peer(f->stream, here, 0, here, 1000, 1000));
  OK(km_stream_synchronize(p.stream));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_copy_peer(f->stream, there, 1, here, 0, kBytes));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_slice_copy_peer(f->stream, there, 0, here, 1, kBytes));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_slice_copy_peer(p.stream, here, 0, here, 10, 11));
  EXPECT(KM_ERROR_OUT_OF_BOUNDS,
         km_memory_copy_peer(p.stream, p.context, here_address, p.context, there_address, 1));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, km_slice_copy(f->stream, there, 0, here, 0, 1));
  OK(km_slice_destroy(here));
  OK(km_slice_destroy(there));
  free(bytes);
  free(seen);
  close_peer(&p);
}

static km_status fill_there(const fixture* f, km_function function, km_slice slice) {
  const fill_index_arguments arguments = {0, 5, 16};
  const km_launch_config config = {{1, 1, 1}, {16, 1, 1}, 0};
  const km_launch_slice slices[] = {{0, 0, (uint64_t)(uintptr_t)slice, 0}};
  return km_launch_kernel(f->stream, function, &config, &arguments, sizeof arguments, slices, 1);
}

static void kernels_use_a_peers_memory_when_they_may(void** state) {
  fixture* f = *state;
  peers p = open_peer(f);
  km_function function = load_kernel(f, "fill_index");
  km_slice there = new_slice(p.context, 64);
  uint32_t seen[16];
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, fill_there(f, function, there));
  OK(km_context_enable_peer_access(f->context, p.context));
  OK(km_context_enable_peer_access(f->context, p.context));
  OK(fill_there(f, function, there));
  OK(km_slice_destroy(there)); /* kept until the kernel is done */
  OK(km_stream_synchronize(f->stream));
  there = new_slice(p.context, 64);
  OK(fill_there(f, function, there));
  OK(km_stream_synchronize(f->stream));
  OK(km_slice_download(p.stream, there, 0, seen, sizeof seen));
  for (uint32_t i = 0; i < 16; ++i) assert_int_equal(seen[i], 5 + i);
  OK(km_context_disable_peer_access(f->context, p.context));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, fill_there(f, function, there));
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_context_enable_peer_access(f->context, f->context));
  OK(km_slice_destroy(there));
  OK(km_function_destroy(function));
  close_peer(&p);
}

static void wait_in_callback(void* go, km_status status) {
  (void)status;
  while (!atomic_load((atomic_int*)go)) usleep(100);
}

static void events_order_devices(void** state) {
  fixture* f = *state;
  peers p = open_peer(f);
  km_slice here = new_slice(f->context, 64), there = new_slice(p.context, 64);
  km_event event;
  atomic_int go = is_fake(f);
  unsigned char byte = 0;
  OK(km_event_create(f->context, 0, &event));
  OK(km_stream_add_callback(f->stream, wait_in_callback, &go));
  OK(km_slice_fill_u8(f->stream, here, 0, 42, 64));
  OK(km_event_record(event, f->stream));
  OK(km_stream_wait_event(p.stream, event));
  OK(km_slice_copy_peer(p.stream, there, 0, here, 0, 64));
  if (!is_fake(f)) EXPECT(KM_NOT_READY, km_stream_query(p.stream));
  atomic_store(&go, 1);
  OK(km_slice_download(p.stream, there, 63, &byte, 1));
  assert_int_equal(byte, 42);
  OK(km_event_destroy(event));
  OK(km_slice_destroy(here));
  OK(km_slice_destroy(there));
  close_peer(&p);
}

/* Checked contexts test accesses when kernels run. */
static void access_lasts_for_what_was_queued(void** state) {
  fixture f = **(fixture**)state;
  peers p = open_peer(&f);
  km_slice there = new_slice(p.context, 64);
  atomic_int go = is_fake(&f);
  uint32_t seen[16];
  if (is_fake(&f)) skip();
  OK(km_context_create_with_flags(f.device, KM_CONTEXT_CHECKED, &f.context));
  OK(km_stream_create(f.context, KM_STREAM_DEFAULT, 0, &f.stream));
  km_function function = load_kernel(&f, "fill_index");
  OK(km_context_enable_peer_access(f.context, p.context));
  OK(km_stream_add_callback(f.stream, wait_in_callback, &go));
  OK(fill_there(&f, function, there));
  OK(km_context_disable_peer_access(f.context, p.context));
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, fill_there(&f, function, there));
  OK(km_context_enable_peer_access(f.context, p.context));
  atomic_store(&go, 1);
  OK(km_stream_synchronize(f.stream));
  OK(fill_there(&f, function, there)); /* the end before it came is not an end after it */
  OK(km_stream_synchronize(f.stream));
  OK(km_slice_download(p.stream, there, 0, seen, sizeof seen));
  for (uint32_t i = 0; i < 16; ++i) assert_int_equal(seen[i], 5 + i);
  OK(km_function_destroy(function));
  OK(km_slice_destroy(there));
  OK(km_stream_destroy(f.stream));
  OK(km_context_destroy(f.context));
  close_peer(&p);
}

/* With nothing of the first. */
static void the_second_device_works_by_itself(void** state) {
  fixture other = **(fixture**)state;
  peers p = open_peer(&other);
  km_slice slice = new_slice(p.context, 64);
  uint32_t seen[16];
  other.context = p.context;
  other.stream = p.stream;
  km_function function = load_kernel(&other, "fill_index");
  OK(fill_there(&other, function, slice));
  OK(km_slice_download(p.stream, slice, 0, seen, sizeof seen));
  for (uint32_t i = 0; i < 16; ++i) assert_int_equal(seen[i], 5 + i);
  OK(km_function_destroy(function));
  OK(km_slice_destroy(slice));
  close_peer(&p);
}

/* Says that it is there, and waits until the other one is. */
static const char meet_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry meet(.param .u64 mine, .param .u64 theirs)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r;\n"
    "  .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [mine];\n"
    "  ld.param.u64 %rd2, [theirs];\n"
    "  st.volatile.global.u32 [%rd1], 1;\n"
    "again:\n"
    "  ld.volatile.global.u32 %r, [%rd2];\n"
    "  setp.eq.u32 %p, %r, 0;\n"
    "  @%p bra again;\n"
    "  ret;\n"
    "}\n";

static km_function load_meet(km_context context) {
  km_module module;
  km_function function;
  OK(km_module_load_ptx(context, meet_ptx, sizeof meet_ptx - 1, "meet.ptx", &module));
  OK(km_module_function(module, "meet", &function));
  OK(km_module_destroy(module));
  return function;
}

/* Neither kernel ends before the other has begun, and nobody but the devices' own threads runs
 * them: the limit is only there so that the test ends where they do not work at the same time. */
static void both_devices_work_at_the_same_time(void** state) {
  fixture* f = *state;
  peers p = open_peer(f);
  if (is_fake(f)) skip();
  km_slice here = new_slice(f->context, 64), there = new_slice(p.context, 64);
  km_function ours = load_meet(f->context), theirs = load_meet(p.context);
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  uint64_t addresses[2], turned[2];
  km_status first = KM_NOT_READY, second = KM_NOT_READY;
  OK(km_context_enable_peer_access(f->context, p.context));
  OK(km_context_enable_peer_access(p.context, f->context));
  OK(km_slice_address(here, &addresses[0]));
  OK(km_slice_address(there, &addresses[1]));
  turned[0] = addresses[1];
  turned[1] = addresses[0];
  OK(km_launch_kernel(f->stream, ours, &config, addresses, sizeof addresses, NULL, 0));
  OK(km_launch_kernel(p.stream, theirs, &config, turned, sizeof turned, NULL, 0));
  for (int i = 0; i < 60000 && (first != KM_SUCCESS || second != KM_SUCCESS); ++i) {
    usleep(1000);
    first = km_stream_query(f->stream);
    second = km_stream_query(p.stream);
  }
  assert_int_equal(first, KM_SUCCESS);
  assert_int_equal(second, KM_SUCCESS);
  OK(km_function_destroy(ours));
  OK(km_function_destroy(theirs));
  OK(km_slice_destroy(here));
  OK(km_slice_destroy(there));
  close_peer(&p);
}

static void cores_are_shared_out(void** state) {
  fixture* f = *state;
  peers p = open_peer(f);
  km_device_info other = {.struct_size = sizeof other};
  int64_t multiprocessors = 0;
  if (is_fake(f) || strcmp(f->info.backend, "cpu") != 0) skip();
  OK(km_device_info_get(p.device, &other));
  /* KM_CPU_THREADS is 3 here. */
  assert_int_equal(f->info.threads, 2);
  assert_int_equal(other.threads, 1);
  OK(km_device_attribute_get(p.device, KM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &multiprocessors));
  assert_int_equal(multiprocessors, 1);
  assert_int_equal(f->info.multiprocessor_count, 2);
  close_peer(&p);
}

static void memory_figures_are_shared_out(void** state) {
  fixture* f = *state;
  peers p = open_peer(f);
  km_device_info info = f->info;
  uint64_t free_before, total, other_free, other_total;
  km_slice slice = NULL, too_much = NULL;
  if (is_fake(f)) skip(); /* 4 GiB each */
  OK(km_context_memory_info(f->context, &free_before, &total));
  OK(km_context_memory_info(p.context, &other_free, &other_total));
  assert_int_equal(total, other_total);
  assert_int_equal(total, info.total_memory_bytes);
  assert_true(total <= (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2);
  assert_true(free_before <= total && other_free <= total);
  slice = new_slice(f->context, 64 << 20);
  EXPECT(KM_ERROR_OUT_OF_DEVICE_MEMORY,
         km_slice_create(f->context, total - (32 << 20), 1, 0, &too_much));
  expect_message("asked for");
  assert_null(too_much);
  OK(km_slice_destroy(slice));
  close_peer(&p);
}

static void the_order_of_destruction_does_not_matter(void** state) {
  fixture* f = *state;
  for (int round = 0; round < 20; ++round) {
    peers p = open_peer(f);
    km_slice here = new_slice(f->context, 1 << 16), there = new_slice(p.context, 1 << 16);
    OK(km_context_enable_peer_access(f->context, p.context));
    OK(km_context_enable_peer_access(p.context, f->context));
    OK(km_slice_copy_peer(f->stream, there, 0, here, 0, 1 << 16));
    OK(km_slice_copy_peer(p.stream, here, 0, there, 0, 1 << 16));
    if (round % 2 == 0) OK(km_context_reset(p.context));
    close_peer(&p);
    OK(km_slice_destroy(there));
    OK(km_slice_destroy(here));
  }
  OK(km_stream_synchronize(f->stream));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_are_counted_and_know_each_other),
      cmocka_unit_test(copies_between_devices),
      cmocka_unit_test(kernels_use_a_peers_memory_when_they_may),
      cmocka_unit_test(events_order_devices),
      cmocka_unit_test(access_lasts_for_what_was_queued),
      cmocka_unit_test(the_second_device_works_by_itself),
      cmocka_unit_test(both_devices_work_at_the_same_time),
      cmocka_unit_test(cores_are_shared_out),
      cmocka_unit_test(memory_figures_are_shared_out),
      cmocka_unit_test(the_order_of_destruction_does_not_matter),
  };
  setenv("KM_CPU_DEVICES", "2", 1); /* before the library reads it */
  setenv("KM_CPU_THREADS", "3", 1);
  return RUN_ON_DEVICES("peer", tests);
}
