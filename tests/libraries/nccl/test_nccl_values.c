/* Every collective operation of libnccl with each type, reduction and form, among 2 to 8 ranks that
 * are threads or processes, against a plain reference. */
#include "nccl_ranks.h"

enum {
  ALL_REDUCE,
  REDUCE,
  BROADCAST,
  ALL_GATHER,
  REDUCE_SCATTER,
  ALL_TO_ALL,
  GATHER,
  SCATTER,
  KINDS
};

/* A call, and where its results lie. */
typedef struct {
  int kind, type, op, root, in_place, scaled;
  size_t count;
} call;

static int is_reduction(int kind) {
  return kind == ALL_REDUCE || kind == REDUCE || kind == REDUCE_SCATTER;
}

static size_t sent(const call* c, int ranks) {
  return c->kind == REDUCE_SCATTER || c->kind == ALL_TO_ALL || c->kind == SCATTER
             ? c->count * (size_t)ranks
             : c->count;
}
static size_t received(const call* c, int ranks) {
  return c->kind == ALL_GATHER || c->kind == ALL_TO_ALL || c->kind == GATHER
             ? c->count * (size_t)ranks
             : c->count;
}

static int run(const call* c, const void* in, void* out, int op, rank* self) {
  switch (c->kind) {
    case ALL_REDUCE:
      return ncclAllReduce(in, out, c->count, c->type, op, self->comm, self->stream);
    case REDUCE:
      return ncclReduce(in, out, c->count, c->type, op, c->root, self->comm, self->stream);
    case BROADCAST:
      return c->in_place
                 ? ncclBcast(out, c->count, c->type, c->root, self->comm, self->stream)
                 : ncclBroadcast(in, out, c->count, c->type, c->root, self->comm, self->stream);
    case ALL_GATHER:
      return ncclAllGather(in, out, c->count, c->type, self->comm, self->stream);
    case REDUCE_SCATTER:
      return ncclReduceScatter(in, out, c->count, c->type, op, self->comm, self->stream);
    case ALL_TO_ALL:
      return ncclAlltoAll(in, out, c->count, c->type, self->comm, self->stream);
    case GATHER:
      return ncclGather(in, out, c->count, c->type, c->root, self->comm, self->stream);
    default:
      return ncclScatter(in, out, c->count, c->type, c->root, self->comm, self->stream);
  }
}

/* The element that a rank has to get at a place. */
static double wanted(const call* c, const rank* self, size_t i) {
  const size_t block = c->count == 0 ? 0 : i / c->count, inside = c->count == 0 ? 0 : i % c->count;
  const size_t own = (size_t)self->number * c->count;
  switch (c->kind) {
    case ALL_REDUCE:
    case REDUCE:
      return expected_number(self->count, i, c->op, c->type, c->scaled);
    case REDUCE_SCATTER:
      return expected_number(self->count, own + i, c->op, c->type, c->scaled);
    case BROADCAST:
      return element(c->root, i, c->op);
    case ALL_GATHER:
    case GATHER:
      return element((int)block, inside, c->op);
    case ALL_TO_ALL:
      return element((int)block, own + inside, c->op);
    default:
      return element(c->root, own + i, c->op);
  }
}

/* Gives the place of the input of a call in place within its output, or of the output within the
 * input. */
static void place(const call* c, const rank* self, char* buffer, char** in, char** out) {
  const size_t own = (size_t)self->number * c->count * (size_t)type_bytes[c->type];
  *in = *out = buffer;
  if (c->kind == ALL_GATHER || c->kind == GATHER) *in = buffer + own;
  if (c->kind == REDUCE_SCATTER || c->kind == SCATTER) *out = buffer + own;
}

static void check_call(rank* self, const call* c, char* first, char* second) {
  char *in = first, *out = second;
  if (c->in_place) place(c, self, first, &in, &out);
  const size_t inputs = sent(c, self->count), outputs = received(c, self->count);
  if (!c->in_place) memset(second, 0x55, outputs * (size_t)type_bytes[c->type]);
  for (size_t i = 0; i < inputs; ++i) {
    put_number(in, i, c->type, element(self->number, i, c->op));
  }
  int op = c->op;
  char scalar[8];
  if (c->scaled) {
    put_number(scalar, 0, c->type, 2);
    CHECK(ncclRedOpCreatePreMulSum(&op, scalar, c->type, 1, self->comm) == 0);
  }
  CHECK(run(c, in, out, op, self) == 0);
  if (c->scaled) CHECK(ncclRedOpDestroy(op, self->comm) == 0);
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  int state = -1;
  CHECK(ncclCommGetAsyncError(self->comm, &state) == 0);
  CHECK(state == 0);
  const int gets = (c->kind != REDUCE && c->kind != GATHER) || c->root == self->number;
  for (size_t i = 0; gets && i < outputs; ++i) {
    const double got = get_number(out, i, c->type), want = wanted(c, self, i);
    if (got == want) continue;
    fprintf(stderr,
            "kind %d type %d op %d root %d in place %d scaled %d count %zu: [%zu] %g for %g\n",
            c->kind, c->type, c->op, c->root, c->in_place, c->scaled, c->count, i, got, want);
    CHECK(got == want);
  }
}

/* All calls of one size. */
static void check_size(rank* self, size_t count, char* first, char* second) {
  for (int kind = 0; kind < KINDS; ++kind) {
    for (int type = 0; type < TYPES; ++type) {
      const int ops = is_reduction(kind) ? OPS + 1 : 1;
      for (int op = 0; op < ops; ++op) {
        for (int in_place = 0; in_place < 2; ++in_place) {
          const call c = {.kind = kind,
                          .type = type,
                          .op = op == OPS ? SUM : op,
                          .root = (type + op) % self->count,
                          .in_place = in_place,
                          .scaled = op == OPS,
                          .count = count};
          check_call(self, &c, first, second);
        }
      }
    }
  }
}

static char* buffer(rank* self, size_t size) {
  void* made = NULL;
  CHECK(cudaMallocAsync(&made, size, self->stream) == 0);
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  return made;
}

static void check_sizes(rank* self) {
  static const size_t kSizes[] = {0, 1, 61, 3001};
  char* const first = buffer(self, 8 * 3001 * MOST_RANKS);
  char* const second = buffer(self, 8 * 3001 * MOST_RANKS);
  for (size_t i = 0; i < sizeof kSizes / sizeof kSizes[0]; ++i) {
    check_size(self, kSizes[i], first, second);
  }
  CHECK(cudaFreeAsync(first, self->stream) == 0);
  CHECK(cudaFreeAsync(second, self->stream) == 0);
}

/* Sizes beyond the pieces that engines work in, one type of each. */
static void check_large(rank* self) {
  const size_t most = (size_t)(self->count == 2 ? 64 : 8) << 20;
  char* const first = buffer(self, most);
  char* const second = buffer(self, most);
  for (int kind = 0; kind < KINDS; ++kind) {
    const int type = kind % 2 == 0 ? F32 : BF16;
    const int is_wide = kind != ALL_REDUCE && kind != REDUCE && kind != BROADCAST;
    const size_t bytes = kind == ALL_REDUCE ? most : most / 8;
    const call c = {
        .kind = kind,
        .type = type,
        .op = kind == REDUCE ? MAX : SUM,
        .root = self->count - 1,
        .in_place = kind % 3 == 0,
        .count = bytes / (size_t)type_bytes[type] / (size_t)(is_wide ? self->count : 1) - 3};
    check_call(self, &c, first, second);
  }
  CHECK(cudaFreeAsync(first, self->stream) == 0);
  CHECK(cudaFreeAsync(second, self->stream) == 0);
}

/* Sums of f32 have the bits that adding rank by rank gives. */
static void check_order(rank* self) {
  enum { COUNT = 40000 };
  float* const data = (float*)(void*)buffer(self, COUNT * sizeof(float));
  for (int i = 0; i < COUNT; ++i) data[i] = sinf((float)(i + 1) * (float)(self->number + 1)) * 1e3F;
  CHECK(ncclAllReduce(data, data, COUNT, F32, SUM, self->comm, self->stream) == 0);
  CHECK(cudaStreamSynchronize(self->stream) == 0);
  for (int i = 0; i < COUNT; ++i) {
    float sum = 0;
    for (int r = 0; r < self->count; ++r) {
      const float value = sinf((float)(i + 1) * (float)(r + 1)) * 1e3F;
      sum = r == 0 ? value : sum + value;
    }
    CHECK(memcmp(&sum, &data[i], sizeof sum) == 0);
  }
  CHECK(cudaFreeAsync(data, self->stream) == 0);
}

/* Messages in a ring, to oneself, and several to one rank, of sizes beyond a slot. */
static void check_messages(rank* self) {
  enum { COUNT = 300000 };
  const int next = (self->number + 1) % self->count;
  const int last = (self->number + self->count - 1) % self->count;
  int32_t* const out = (int32_t*)(void*)buffer(self, COUNT * 4);
  int32_t* const in = (int32_t*)(void*)buffer(self, COUNT * 4);
  int32_t* const more = (int32_t*)(void*)buffer(self, 400);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < COUNT; ++i) out[i] = self->number * 1000003 + i + round;
    memset(in, 0, COUNT * 4);
    CHECK(ncclGroupStart() == 0);
    CHECK(ncclSend(out, COUNT, INT32, next, self->comm, self->stream) == 0);
    CHECK(ncclRecv(in, COUNT, INT32, last, self->comm, self->stream) == 0);
    CHECK(ncclSend(out, 100, INT32, self->number, self->comm, self->stream) == 0);
    CHECK(ncclRecv(more, 100, INT32, self->number, self->comm, self->stream) == 0);
    CHECK(ncclSend(out, 0, INT32, next, self->comm, self->stream) == 0);
    CHECK(ncclRecv(in, 0, INT32, last, self->comm, self->stream) == 0);
    CHECK(ncclGroupEnd() == 0);
    CHECK(cudaStreamSynchronize(self->stream) == 0);
    for (int i = 0; i < COUNT; ++i) CHECK(in[i] == last * 1000003 + i + round);
    for (int i = 0; i < 100; ++i) CHECK(more[i] == out[i]);
  }
  CHECK(cudaFreeAsync(out, self->stream) == 0);
  CHECK(cudaFreeAsync(in, self->stream) == 0);
  CHECK(cudaFreeAsync(more, self->stream) == 0);
}

static void whole(rank* self) {
  check_sizes(self);
  check_order(self);
  check_messages(self);
  check_large(self);
}

static void test_threads(void** state) {
  (void)state;
  for (int count = 1; count <= MOST_RANKS; count *= 2) run_threads(count, whole);
  run_threads(3, whole);
}

static void test_processes(void** state) {
  (void)state;
  for (int count = 2; count <= MOST_RANKS; count *= 2) run_processes("whole", count, -1);
}

int main(int argc, char** argv) {
  if (argc > 4 && strcmp(argv[1], "--rank") == 0) {
    rank self = rank_of_process(argv, whole);
    run_thread(&self);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_processes),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
