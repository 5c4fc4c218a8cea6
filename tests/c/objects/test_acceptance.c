/* What the source documents promise and no object's own tests show: uses of several objects. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"

static void hold(void* user_data, km_status status) {
  (void)status;
  while (!atomic_load((atomic_int*)user_data)) usleep(100);
}

static km_host_memory pinned(const fixture* f, uint64_t size_bytes, void** out_pointer) {
  km_host_memory memory;
  OK(km_host_memory_create(f->context, size_bytes, 0, &memory));
  OK(km_host_memory_pointer(memory, out_pointer));
  return memory;
}

/* Copies from and to page-locked memory are queued while the stream is held up. */
static void pinned_copies_are_asynchronous(void** state) {
  fixture* f = *state;
  enum { kBytes = 1 << 20 };
  atomic_int go = 0;
  char *from = NULL, *to = NULL;
  km_slice slice, second;
  if (is_fake(f)) skip(); /* it runs callbacks on the waiting thread */
  km_host_memory source = pinned(f, kBytes, (void**)&from);
  km_host_memory destination = pinned(f, kBytes, (void**)&to);
  OK(km_slice_create(f->context, kBytes, 1, KM_SLICE_ZEROED, &slice));
  OK(km_slice_create(f->context, kBytes, 1, KM_SLICE_ZEROED, &second));
  memset(from, 7, kBytes);
  memset(to, 0, kBytes);
  OK(km_stream_add_callback(f->stream, hold, &go));
  OK(km_slice_upload(f->stream, slice, 0, from, kBytes));
  OK(km_slice_copy(f->stream, second, 0, slice, 0, kBytes));
  OK(km_slice_download(f->stream, second, 0, to, kBytes));
  EXPECT(KM_NOT_READY, km_stream_query(f->stream));
  assert_int_equal(to[0], 0); /* all calls are back, and nothing has happened */
  memset(from, 9, kBytes);    /* so what is copied is what is there when the stream gets there */
  OK(km_host_memory_destroy(source)); /* the copy keeps it */
  atomic_store(&go, 1);
  OK(km_stream_synchronize(f->stream));
  for (int i = 0; i < kBytes; ++i) assert_int_equal(to[i], 9);
  OK(km_host_memory_destroy(destination));
  OK(km_slice_destroy(slice));
  OK(km_slice_destroy(second));
}

static void other_memory_has_been_read_when_the_call_returns(void** state) {
  fixture* f = *state;
  atomic_int go = 0;
  char bytes[4096], seen[4096];
  km_slice slice;
  if (is_fake(f)) skip();
  OK(km_slice_create(f->context, sizeof bytes, 1, KM_SLICE_ZEROED, &slice));
  memset(bytes, 5, sizeof bytes);
  OK(km_stream_add_callback(f->stream, hold, &go));
  OK(km_slice_upload(f->stream, slice, 0, bytes, sizeof bytes));
  memset(bytes, 6, sizeof bytes);
  atomic_store(&go, 1);
  OK(km_slice_download(f->stream, slice, 0, seen, sizeof seen));
  for (size_t i = 0; i < sizeof seen; ++i) assert_int_equal(seen[i], 5);
  OK(km_slice_destroy(slice));
}

static void a_context_waits_for_all_its_streams(void** state) {
  fixture* f = *state;
  km_stream streams[4];
  km_slice slices[4];
  for (int i = 0; i < 4; ++i) {
    OK(km_stream_create(f->context, 0, 0, &streams[i]));
    OK(km_slice_create(f->context, 1 << 18, 4, 0, &slices[i]));
    for (uint32_t k = 0; k < 8; ++k) OK(km_slice_fill_u32(streams[i], slices[i], 0, k, 1 << 18));
  }
  OK(km_context_synchronize(f->context));
  for (int i = 0; i < 4; ++i) {
    OK(km_stream_query(streams[i]));
    OK(km_stream_destroy(streams[i]));
    OK(km_slice_destroy(slices[i]));
  }
}

/* Ask for less until it fits, as the document's loop does. */
static void too_much_memory_is_told_apart_and_tried_again(void** state) {
  fixture* f = *state;
  km_slice slice = NULL;
  uint64_t size = (uint64_t)1 << 60;
  km_status status = KM_ERROR_INTERNAL;
  int attempts = 0;
  while (status != KM_SUCCESS) {
    status = km_slice_create(f->context, size, 1, 0, &slice);
    if (status == KM_SUCCESS) break;
    assert_int_equal(status, KM_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_null(slice);
    size >>= 8;
    assert_true(++attempts < 8);
  }
  assert_true(attempts > 0);
  OK(km_slice_destroy(slice));
  OK(km_slice_create(f->context, 64, 1, 0, &slice)); /* and the context is as good as before */
  OK(km_slice_destroy(slice));
}

/* A batch of checks, then one wait: the first failure is kept. */
static void failures_are_looked_for_once_for_many_calls(void** state) {
  fixture* f = *state;
  km_slice slice;
  km_status status = 0;
  OK(km_slice_create(f->context, 16, 1, 0, &slice));
  for (int i = 0; i < 10; ++i) km_slice_fill_u8(f->stream, slice, i == 9 ? 99 : 0, 1, 4);
  OK(km_context_take_error(f->context, &status));
  assert_int_equal(status, KM_ERROR_OUT_OF_BOUNDS);
  OK(km_context_take_error(f->context, &status));
  assert_int_equal(status, KM_SUCCESS);
  OK(km_slice_destroy(slice));
}

/* Eight slices and four numbers, a grid of structures, 256 threads, 48 KiB of shared memory: block
 * s writes out[s * 256 + t] = sum of the seven inputs there, times a, plus b, and the neighbour's
 * by way of shared memory. */
static const char batch_ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".extern .shared .align 4 .b8 tile[];\n"
    ".visible .entry batch(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3,\n"
    "  .param .u64 p4, .param .u64 p5, .param .u64 p6, .param .u64 p7, .param .u32 a,\n"
    "  .param .u32 b, .param .u32 count, .param .u32 last)\n"
    "{\n"
    "  .reg .pred %p<2>;\n"
    "  .reg .b32 %r<32>;\n"
    "  .reg .b64 %rd<24>;\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "  mul.wide.u32 %rd1, %r4, 4;\n"
    "  ld.param.u64 %rd2, [p0];\n  add.s64 %rd2, %rd2, %rd1;\n  ld.global.u32 %r5, [%rd2];\n"
    "  ld.param.u64 %rd3, [p1];\n  add.s64 %rd3, %rd3, %rd1;\n  ld.global.u32 %r6, [%rd3];\n"
    "  ld.param.u64 %rd4, [p2];\n  add.s64 %rd4, %rd4, %rd1;\n  ld.global.u32 %r7, [%rd4];\n"
    "  ld.param.u64 %rd5, [p3];\n  add.s64 %rd5, %rd5, %rd1;\n  ld.global.u32 %r8, [%rd5];\n"
    "  ld.param.u64 %rd6, [p4];\n  add.s64 %rd6, %rd6, %rd1;\n  ld.global.u32 %r9, [%rd6];\n"
    "  ld.param.u64 %rd7, [p5];\n  add.s64 %rd7, %rd7, %rd1;\n  ld.global.u32 %r10, [%rd7];\n"
    "  ld.param.u64 %rd8, [p6];\n  add.s64 %rd8, %rd8, %rd1;\n  ld.global.u32 %r11, [%rd8];\n"
    "  add.u32 %r12, %r5, %r6;\n  add.u32 %r12, %r12, %r7;\n  add.u32 %r12, %r12, %r8;\n"
    "  add.u32 %r12, %r12, %r9;\n  add.u32 %r12, %r12, %r10;\n  add.u32 %r12, %r12, %r11;\n"
    "  ld.param.u32 %r13, [a];\n"
    "  ld.param.u32 %r14, [b];\n"
    "  ld.param.u32 %r15, [last];\n"
    "  mov.u32 %r16, tile;\n"
    "  shl.b32 %r17, %r3, 2;\n"
    "  add.u32 %r18, %r16, %r17;\n"
    "  st.shared.u32 [%r18], %r12;\n"
    "  bar.sync 0;\n"
    "  add.u32 %r19, %r3, 1;\n"
    "  and.b32 %r19, %r19, %r15;\n"
    "  shl.b32 %r20, %r19, 2;\n"
    "  add.u32 %r21, %r16, %r20;\n"
    "  ld.shared.u32 %r22, [%r21];\n"
    "  mad.lo.u32 %r23, %r12, %r13, %r14;\n"
    "  add.u32 %r23, %r23, %r22;\n"
    "  ld.param.u32 %r24, [count];\n"
    "  setp.ge.u32 %p1, %r1, %r24;\n"
    "  @%p1 bra done;\n"
    "  ld.param.u64 %rd9, [p7];\n"
    "  add.s64 %rd9, %rd9, %rd1;\n"
    "  st.global.u32 [%rd9], %r23;\n"
    "done:\n"
    "  ret;\n"
    "}\n";

enum { kStructures = 20, kThreads = 256, kValues = kStructures * kThreads };

static uint32_t sum_at(const uint32_t (*in)[kValues], int at) {
  uint32_t sum = 0;
  for (int i = 0; i < 7; ++i) sum += in[i][at];
  return sum;
}

static void a_packed_batch_of_twelve_arguments(void** state) {
  fixture* f = *state;
  static uint32_t in[7][kValues], out[kValues];
  km_module module;
  km_function function;
  km_slice slices[8];
  km_launch builder;
  const uint32_t numbers[] = {3, 1000, kStructures, kThreads - 1};
  if (is_fake(f)) skip();
  OK(km_module_load_ptx(f->context, batch_ptx, sizeof batch_ptx - 1, "batch.ptx", &module));
  OK(km_module_function(module, "batch", &function));
  OK(km_launch_create(f->stream, function, &builder));
  OK(km_launch_set_grid(builder, kStructures, 1, 1));
  OK(km_launch_set_block(builder, kThreads, 1, 1));
  OK(km_launch_set_shared_bytes(builder, 48 << 10));
  for (int i = 0; i < 8; ++i) {
    OK(km_slice_create(f->context, kValues, 4, KM_SLICE_ZEROED, &slices[i]));
    for (int k = 0; i < 7 && k < kValues; ++k) in[i][k] = (uint32_t)(k * (i + 3) + i);
    if (i < 7) OK(km_slice_upload(f->stream, slices[i], 0, in[i], sizeof in[i]));
    OK(km_launch_arg_slice(builder, slices[i], 0));
  }
  for (int i = 0; i < 4; ++i) OK(km_launch_arg_scalar(builder, &numbers[i], 4));
  OK(km_launch_submit(builder));
  OK(km_slice_download(f->stream, slices[7], 0, out, sizeof out));
  for (int at = 0; at < kValues; ++at) {
    const int next = at / kThreads * kThreads + (at + 1) % kThreads;
    assert_int_equal(out[at], sum_at(in, at) * 3 + 1000 + sum_at(in, next));
  }
  OK(km_launch_destroy(builder));
  for (int i = 0; i < 8; ++i) OK(km_slice_destroy(slices[i]));
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
}

/* Streams that are given back and taken again, as a pool of streams does. */
static void streams_are_used_again(void** state) {
  fixture* f = *state;
  km_stream pool[3];
  km_slice slice;
  uint32_t value = 0;
  OK(km_slice_create(f->context, 1, 4, KM_SLICE_ZEROED, &slice));
  for (int i = 0; i < 3; ++i) OK(km_stream_create(f->context, 0, 0, &pool[i]));
  for (uint32_t i = 0; i < 30; ++i) {
    km_stream stream = pool[i % 3];
    OK(km_slice_fill_u32(stream, slice, 0, i, 1));
    OK(km_stream_synchronize(stream));
  }
  OK(km_slice_download(f->stream, slice, 0, &value, 4));
  assert_int_equal(value, 29);
  for (int i = 0; i < 3; ++i) OK(km_stream_destroy(pool[i]));
  OK(km_slice_destroy(slice));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pinned_copies_are_asynchronous),
      cmocka_unit_test(other_memory_has_been_read_when_the_call_returns),
      cmocka_unit_test(a_context_waits_for_all_its_streams),
      cmocka_unit_test(too_much_memory_is_told_apart_and_tried_again),
      cmocka_unit_test(failures_are_looked_for_once_for_many_calls),
      cmocka_unit_test(a_packed_batch_of_twelve_arguments),
      cmocka_unit_test(streams_are_used_again),
  };
  return RUN_ON_DEVICES("acceptance", tests);
}
