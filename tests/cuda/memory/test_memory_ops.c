/* Streams that write numbers into memory, and wait for them. */
#include "support.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Words that the host and the device see. */
static volatile uint32_t* new_words(void) {
  void* words = NULL;
  OK(cuMemHostAlloc(&words, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  memset(words, 0, 64);
  return words;
}

static CUdeviceptr address_of(volatile void* pointer) {
  CUdeviceptr address = 0;
  OK(cuMemHostGetDevicePointer(&address, (void*)pointer, 0));
  return address;
}

static void devices_say_what_streams_can(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  const CUdevice_attribute attributes[] = {
      CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1,
      CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
      CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR,
      CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES,
  };
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i) {
    int value = 0;
    OK(cuDeviceGetAttribute(&value, attributes[i], f->device));
    assert_int_equal(value, 1);
  }
}

static void streams_write_values(void** state) {
  const fixture* f = *state;
  volatile uint32_t* words = new_words();
  CUdeviceptr address = address_of(words), memory = 0;
  uint64_t wide = 0;
  OK(cuStreamWriteValue32(f->stream, address, 7, CU_STREAM_WRITE_VALUE_DEFAULT));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuStreamWriteValue32(NULL, address + 4, 8, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  OK(cuStreamWriteValue32(NULL, address + 4, 8, 0));
  OK(cuStreamWriteValue64(CU_STREAM_PER_THREAD, address + 8, 0x123456789ABCDEF0, 0));
  OK(cuCtxSynchronize());
  assert_int_equal(words[0], 7);
  assert_int_equal(words[1], 8);
  assert_int_equal(words[2], 0x9ABCDEF0);
  assert_int_equal(words[3], 0x12345678);
  OK(cuMemAlloc(&memory, 64));
  OK(cuStreamWriteValue64(f->stream, memory + 56, UINT64_MAX, 0));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(&wide, memory + 56, sizeof wide));
  assert_true(wide == UINT64_MAX);
  OK(cuMemFree(memory));
}

/* What is there lets a wait go on, or does not. */
typedef struct comparison {
  uint64_t found, value;
  unsigned flags;
  int goes_on_32, goes_on_64;
} comparison;

static void check_comparison(const fixture* f, volatile uint32_t* words, const comparison* c) {
  CUdeviceptr address = address_of(words);
  for (int wide = 0; wide < 2; ++wide) {
    memcpy((void*)words, &c->found, sizeof c->found);
    OK(wide != 0 ? cuStreamWaitValue64(f->stream, address, c->value, c->flags)
                 : cuStreamWaitValue32(f->stream, address, (uint32_t)c->value, c->flags));
    if (wide != 0 ? c->goes_on_64 : c->goes_on_32) {
      OK(cuStreamSynchronize(f->stream));
      continue;
    }
    usleep(2000);
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(f->stream));
    /* What is not all ones lets NOR go on; every other condition, the value itself. */
    const uint64_t satisfying = c->flags == CU_STREAM_WAIT_VALUE_NOR ? 0 : c->value;
    memcpy((void*)words, &satisfying, sizeof satisfying);
    OK(cuStreamSynchronize(f->stream));
  }
}

static void waits_compare(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const comparison all[] = {
      {5, 5, CU_STREAM_WAIT_VALUE_GEQ, 1, 1},
      {6, 5, CU_STREAM_WAIT_VALUE_GEQ | CU_STREAM_WAIT_VALUE_FLUSH, 1, 1},
      {4, 5, CU_STREAM_WAIT_VALUE_GEQ, 0, 0},
      {1, UINT64_MAX, CU_STREAM_WAIT_VALUE_GEQ, 1, 1}, /* it goes round */
      {UINT64_MAX, 1, CU_STREAM_WAIT_VALUE_GEQ, 0, 0},
      {0x80000001, 1, CU_STREAM_WAIT_VALUE_GEQ, 0, 1},
      {5, 5, CU_STREAM_WAIT_VALUE_EQ, 1, 1},
      {6, 5, CU_STREAM_WAIT_VALUE_EQ, 0, 0},
      {0x100000005, 5, CU_STREAM_WAIT_VALUE_EQ, 1, 0},
      {6, 2, CU_STREAM_WAIT_VALUE_AND, 1, 1},
      {5, 2, CU_STREAM_WAIT_VALUE_AND, 0, 0},
      {1, 2, CU_STREAM_WAIT_VALUE_NOR, 1, 1},
      {0xF0F0F0F0F0F0F0F0, 0x0F0F0F0F0F0F0F0F, CU_STREAM_WAIT_VALUE_NOR, 0, 0},
      {0x00000000FFFFFFFF, 0, CU_STREAM_WAIT_VALUE_NOR, 0, 1},
  };
  const fixture* f = *state;
  volatile uint32_t* words = new_words();
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) check_comparison(f, words, &all[i]);
}

/* More waits than there are threads; other streams, copies and kernels go on meanwhile. */
static void waits_hold_nobody_up(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  enum { kStreams = 24 };
  const fixture* f = *state;
  volatile uint32_t* words = new_words();
  CUdeviceptr address = address_of(words), memory = 0;
  CUstream waiting[kStreams], other = NULL;
  uint32_t base = 3, n = 64, read[64];
  OK(cuMemAlloc(&memory, sizeof read));
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  for (int i = 0; i < kStreams; ++i) {
    OK(cuStreamCreate(&waiting[i], CU_STREAM_NON_BLOCKING));
    OK(cuStreamWaitValue32(waiting[i], address, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue32(waiting[i], address + 4, 9, 0));
  }
  void* arguments[] = {&memory, &base, &n};
  OK(cuLaunchKernel(kernel(f, "fill_index"), 1, 1, 1, 64, 1, 1, 0, other, arguments, NULL));
  OK(cuMemcpyDtoHAsync(read, memory, sizeof read, other));
  OK(cuStreamSynchronize(other));
  assert_int_equal(read[63], 66);
  assert_int_equal(words[1], 0);
  for (int i = 0; i < kStreams; ++i) EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(waiting[i]));
  words[0] = 1;
  OK(cuCtxSynchronize());
  assert_int_equal(words[1], 9);
  for (int i = 0; i < kStreams; ++i) OK(cuStreamDestroy(waiting[i]));
  OK(cuStreamDestroy(other));
}

static void kernels_and_streams_write_what_is_waited_for(void** state) {
  const fixture* f = *state;
  volatile uint32_t* words = new_words();
  CUdeviceptr address = address_of(words), flag = address + 16, out = address + 20;
  CUstream other = NULL, third = NULL;
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
  /* The kernel waits for the flag, which a stream writes that waits for the host. */
  void* arguments[] = {&flag, &out};
  OK(cuLaunchKernel(kernel(f, "slow"), 1, 1, 1, 1, 1, 1, 0, f->stream, arguments, NULL));
  OK(cuStreamWaitValue32(third, out, 1, CU_STREAM_WAIT_VALUE_EQ)); /* for the kernel */
  OK(cuStreamWriteValue32(third, address + 24, 5, 0));
  OK(cuStreamWaitValue32(other, address, 1, CU_STREAM_WAIT_VALUE_GEQ));
  OK(cuStreamWriteValue32(other, flag, 1, 0));
  usleep(2000);
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(third));
  words[0] = 1;
  OK(cuStreamSynchronize(third));
  assert_int_equal(words[6], 5);
  OK(cuStreamDestroy(other));
  OK(cuStreamDestroy(third));
}

static CUstreamBatchMemOpParams make_op(CUstreamBatchMemOpType type, CUdeviceptr address,
                                        uint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams op;
  memset(&op, 0, sizeof op);
  op.waitValue.operation = type;
  op.waitValue.address = address;
  op.waitValue.value64 = value;
  op.waitValue.flags = flags;
  return op;
}

static void batches_go_in_order(void** state) {
  const fixture* f = *state;
  volatile uint32_t* words = new_words();
  CUdeviceptr address = address_of(words);
  CUstreamBatchMemOpParams ops[6] = {
      make_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, address, 1, 0),
      make_op(CU_STREAM_MEM_OP_WAIT_VALUE_32, address + 4, 2, CU_STREAM_WAIT_VALUE_EQ),
      make_op(CU_STREAM_MEM_OP_WRITE_VALUE_64, address + 8, 3, 0),
      make_op(CU_STREAM_MEM_OP_WAIT_VALUE_64, address + 16, 4, CU_STREAM_WAIT_VALUE_GEQ),
      make_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, address + 24, 5, 0),
  };
  ops[5].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
  ops[5].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
  OK(cuStreamBatchMemOp(f->stream, 6, ops, 0));
  while (words[0] != 1) usleep(100);
  assert_int_equal(words[2], 0);
  words[1] = 2;
  while (words[2] != 3) usleep(100);
  assert_int_equal(words[6], 0);
  words[4] = 4;
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(words[6], 5);
}

static void wrong_operations_are_refused(void** state) {
  const fixture* f = *state;
  CUdeviceptr address = address_of(new_words()), managed = 0;
  CUstreamBatchMemOpParams op = make_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, address, 1, 0);
  OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(f->stream, address + 2, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue64(f->stream, address + 4, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(f->stream, 0, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(f->stream, managed, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(f->stream, address, 0, 4));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(f->stream, address, 0, 2));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamWriteValue32((CUstream)0x1234, address, 0, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(f->stream, 256, &op, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(f->stream, 1, &op, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(f->stream, 1, NULL, 0));
  op.operation = (CUstreamBatchMemOpType)77;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(f->stream, 1, &op, 0));
  op.operation = CU_STREAM_MEM_OP_ATOMIC_REDUCTION;
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuStreamBatchMemOp(f->stream, 1, &op, 0));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemFree(managed));
}

/* A wait that nobody will ever satisfy ends with its context. */
static void failures_end_waits(void** state) {
  const fixture* f = *state;
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUfunction crash = NULL;
  CUstream waiting = NULL, other = NULL;
  volatile uint32_t* words = new_words();
  OK(cuCtxCreate(&context, NULL, 0, f->device));
  OK(cuModuleLoadData(&module, kernels_ptx));
  OK(cuModuleGetFunction(&crash, module, "crash"));
  OK(cuStreamCreate(&waiting, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuStreamWaitValue32(waiting, address_of(words), 1, CU_STREAM_WAIT_VALUE_EQ));
  OK(cuLaunchKernel(crash, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
  assert_int_not_equal(cuStreamSynchronize(other), CUDA_SUCCESS);
  assert_int_not_equal(cuStreamSynchronize(waiting), CUDA_SUCCESS);
  OK(cuCtxDestroy(context));
}

static void graphs_hold_memory_operations(void** state) {
  const fixture* f = *state;
  volatile uint32_t* words = new_words();
  CUdeviceptr address = address_of(words);
  CUgraph graph = NULL;
  CUgraphNode first = NULL, second = NULL, branch = NULL;
  CUgraphNodeType type;
  CUgraphExec exec = NULL;
  CUDA_BATCH_MEM_OP_NODE_PARAMS read;
  CUstreamBatchMemOpParams wait =
      make_op(CU_STREAM_MEM_OP_WAIT_VALUE_32, address, 1, CU_STREAM_WAIT_VALUE_EQ);
  CUstreamBatchMemOpParams write = make_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, address + 4, 2, 0);
  CUstreamBatchMemOpParams side = make_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, address + 8, 3, 0);
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = {f->context, 1, &wait, 0};
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddBatchMemOpNode(&first, graph, NULL, 0, &params));
  params.paramArray = &side;
  OK(cuGraphAddBatchMemOpNode(&branch, graph, NULL, 0, &params));
  params.paramArray = &write;
  OK(cuGraphAddBatchMemOpNode(&second, graph, &first, 1, &params));
  OK(cuGraphNodeGetType(first, &type));
  assert_int_equal(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  OK(cuGraphBatchMemOpNodeGetParams(first, &read));
  assert_int_equal(read.count, 1);
  assert_int_equal(read.paramArray->waitValue.flags, CU_STREAM_WAIT_VALUE_EQ);
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphLaunch(exec, f->stream));
  while (words[2] != 3) usleep(100); /* a branch of its own */
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(f->stream));
  words[0] = 1;
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(words[1], 2);
  write.writeValue.value = 6;
  OK(cuGraphExecBatchMemOpNodeSetParams(exec, second, &params));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(words[1], 6);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

static void memory_operations_are_captured(void** state) {
  const fixture* f = *state;
  volatile uint32_t* words = new_words();
  CUdeviceptr address = address_of(words);
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuStreamWaitValue32(f->stream, address, 1, CU_STREAM_WAIT_VALUE_EQ));
  OK(cuStreamWriteValue32(f->stream, address + 4, 2, 0));
  OK(cuStreamEndCapture(f->stream, &graph));
  OK(cuGraphInstantiate(&exec, graph, 0));
  assert_int_equal(words[1], 0);
  OK(cuGraphLaunch(exec, f->stream));
  words[0] = 1;
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(words[1], 2);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(devices_say_what_streams_can),
      TEST(streams_write_values),
      TEST(waits_compare),
      TEST(waits_hold_nobody_up),
      TEST(kernels_and_streams_write_what_is_waited_for),
      TEST(batches_go_in_order),
      TEST(wrong_operations_are_refused),
      TEST(failures_end_waits),
      TEST(graphs_hold_memory_operations),
      TEST(memory_operations_are_captured),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
