/* Every operation of communicators with each type, reduction and form, against a plain reference,
 * among ranks of one process. */
#include <unistd.h>

#include "comm_ranks.h"

enum {
  ALL_REDUCE,
  REDUCE,
  REDUCE_SCATTER,
  BROADCAST,
  ALL_GATHER,
  ALL_TO_ALL,
  GATHER,
  SCATTER,
  SHIFT, /* each rank sends to the next one */
  KINDS
};

typedef struct call {
  int kind, type, op, root, in_place, scaled, ranks;
  uint64_t count;
} call;

static const km_element_type element_types[TYPES] = {
    KM_ELEMENT_TYPE_I8,  KM_ELEMENT_TYPE_U8,   KM_ELEMENT_TYPE_I32,     KM_ELEMENT_TYPE_U32,
    KM_ELEMENT_TYPE_I64, KM_ELEMENT_TYPE_U64,  KM_ELEMENT_TYPE_F16,     KM_ELEMENT_TYPE_F32,
    KM_ELEMENT_TYPE_F64, KM_ELEMENT_TYPE_BF16, KM_ELEMENT_TYPE_F8_E4M3, KM_ELEMENT_TYPE_F8_E5M2};
static const km_comm_reduction reductions[OPS] = {KM_COMM_REDUCTION_SUM, KM_COMM_REDUCTION_PRODUCT,
                                                  KM_COMM_REDUCTION_MAX, KM_COMM_REDUCTION_MIN,
                                                  KM_COMM_REDUCTION_AVERAGE};

static int is_reduction(int kind) { return kind <= REDUCE_SCATTER; }

static uint64_t sent(const call* c) {
  const int has_blocks = c->kind == REDUCE_SCATTER || c->kind == ALL_TO_ALL || c->kind == SCATTER;
  return has_blocks ? c->count * (uint64_t)c->ranks : c->count;
}
static uint64_t received(const call* c) {
  const int has_blocks = c->kind == ALL_GATHER || c->kind == ALL_TO_ALL || c->kind == GATHER;
  return has_blocks ? c->count * (uint64_t)c->ranks : c->count;
}

/* The places of a rank's arrays; those in place lie in the first buffer. */
static void places(const call* c, const rank* each, int number, km_array* in, km_array* out) {
  const uint64_t own = (uint64_t)number * c->count;
  *in = km_place(each->buffers[0], 0);
  *out = km_place(each->buffers[c->in_place ? 0 : 1], 0);
  if (!c->in_place) return;
  if (c->kind == ALL_GATHER || c->kind == GATHER) in->offset = own;
  if (c->kind == REDUCE_SCATTER || c->kind == SCATTER) out->offset = own;
}

static km_status shift(const call* c, const rank* each, int number, const km_array* in,
                       const km_array* out) {
  const km_element_type type = element_types[c->type];
  const uint32_t to = (uint32_t)((number + 1) % c->ranks);
  const uint32_t from = (uint32_t)((number + c->ranks - 1) % c->ranks);
  KM_RETURN_IF_FAILED(km_comm_send(each->comm, each->stream, in, c->count, type, to));
  return km_comm_receive(each->comm, each->stream, out, c->count, type, from);
}

static km_status run(const call* c, const rank* each, int number) {
  const km_element_type type = element_types[c->type];
  const km_comm_reduction op = c->scaled ? KM_COMM_REDUCTION_SCALED_SUM : reductions[c->op];
  const uint32_t root = (uint32_t)c->root;
  const km_comm comm = each->comm;
  const km_stream stream = each->stream;
  char two[8];
  const void* const scale = c->scaled ? two : NULL;
  km_array in, out;
  places(c, each, number, &in, &out);
  put_number(two, 0, c->type, 2);
  switch (c->kind) {
    case ALL_REDUCE:
      return km_comm_all_reduce(comm, stream, &in, &out, c->count, type, op, scale);
    case REDUCE:
      return km_comm_reduce(comm, stream, &in, &out, c->count, type, op, scale, root);
    case REDUCE_SCATTER:
      return km_comm_reduce_scatter(comm, stream, &in, &out, c->count, type, op, scale);
    case BROADCAST:
      return km_comm_broadcast(comm, stream, &in, &out, c->count, type, root);
    case ALL_GATHER:
      return km_comm_all_gather(comm, stream, &in, &out, c->count, type);
    case ALL_TO_ALL:
      return km_comm_all_to_all(comm, stream, &in, &out, c->count, type);
    case GATHER:
      return km_comm_gather(comm, stream, &in, &out, c->count, type, root);
    case SCATTER:
      return km_comm_scatter(comm, stream, &in, &out, c->count, type, root);
    default:
      return shift(c, each, number, &in, &out);
  }
}

/* The element that a rank has to get at a place. */
static double wanted(const call* c, int number, uint64_t i) {
  const uint64_t block = i / c->count, inside = i % c->count, own = (uint64_t)number * c->count;
  switch (c->kind) {
    case ALL_REDUCE:
    case REDUCE:
      return expected_number(c->ranks, i, c->op, c->type, c->scaled);
    case REDUCE_SCATTER:
      return expected_number(c->ranks, own + i, c->op, c->type, c->scaled);
    case BROADCAST:
      return element(c->root, i, c->op);
    case ALL_GATHER:
    case GATHER:
      return element((int)block, inside, c->op);
    case ALL_TO_ALL:
      return element((int)block, own + inside, c->op);
    case SCATTER:
      return element(c->root, own + i, c->op);
    default:
      return element((number + c->ranks - 1) % c->ranks, i, c->op);
  }
}

static void fill(const call* c, const rank* each, int number) {
  char numbers[ROOM_BYTES];
  const uint64_t bytes = (uint64_t)type_bytes[c->type];
  km_array in, out;
  places(c, each, number, &in, &out);
  for (uint64_t i = 0; i < sent(c); ++i) {
    put_number(numbers, i, c->type, element(number, i, c->op));
  }
  if (!c->in_place) OK(km_slice_fill_u8(each->stream, each->buffers[1], 0, 0x55, ROOM_BYTES));
  OK(km_slice_upload(each->stream, each->buffers[0], in.offset * bytes, numbers, sent(c) * bytes));
}

static void compare(const call* c, const rank* each, int number) {
  char numbers[ROOM_BYTES];
  const uint64_t bytes = (uint64_t)type_bytes[c->type];
  km_array in, out;
  places(c, each, number, &in, &out);
  OK(km_slice_download(each->stream, each->buffers[c->in_place ? 0 : 1], out.offset * bytes,
                       numbers, received(c) * bytes));
  if ((c->kind == REDUCE || c->kind == GATHER) && c->root != number) return;
  for (uint64_t i = 0; i < received(c); ++i) {
    const double got = get_number(numbers, i, c->type), want = wanted(c, number, i);
    if (got == want) continue;
    print_error("rank %d of %d: kind %d type %d op %d root %d in place %d scaled %d: [%d] %g, %g\n",
                number, c->ranks, c->kind, c->type, c->op, c->root, c->in_place, c->scaled, (int)i,
                got, want);
    fail();
  }
}

static void check_call(const ranks* all, const call* c) {
  for (int i = 0; i < all->count; ++i) fill(c, &all->of[i], all->first + i);
  OK(km_comm_group_begin());
  for (int i = 0; i < all->count; ++i) OK(run(c, &all->of[i], all->first + i));
  OK(km_comm_group_end());
  for (int i = 0; i < all->count; ++i) compare(c, &all->of[i], all->first + i);
}

static void check_kind(const ranks* all, int kind, int type) {
  const int ops = is_reduction(kind) ? OPS + 1 : 1;
  for (int op = 0; op < ops; ++op) {
    for (int in_place = 0; in_place < 2; ++in_place) {
      const call c = {.kind = kind,
                      .type = type,
                      .op = op == OPS ? SUM : op,
                      .root = (type + op) % all->total,
                      .in_place = in_place && kind != SHIFT,
                      .scaled = op == OPS,
                      .ranks = all->total,
                      .count = in_place ? MOST_COUNT : 7};
      check_call(all, &c);
    }
  }
}

static void check_all(ranks all) {
  for (int kind = 0; kind < KINDS; ++kind) {
    for (int type = 0; type < TYPES; ++type) check_kind(&all, kind, type);
  }
  for (int i = 0; i < all.count; ++i) OK(km_comm_status(all.of[i].comm));
  end_ranks(&all);
}

static void check_ranks(const fixture* f, int count) { check_all(begin_ranks(f, count)); }

static void one_rank(void** state) { check_ranks(*state, 1); }
static void two_ranks(void** state) { check_ranks(*state, 2); }
static void four_ranks(void** state) { check_ranks(*state, 4); }

/* One rank of those that a launcher has started: `mpirun -n 4 km_c_comm_values FILE`, with
 * KM_COMM=mpi for MPI. All pass the id by the file. */
static int run_process(const char* path) {
  const fixture f = {.uri = "cpu:0"};
  const int is_open_mpi = getenv("OMPI_COMM_WORLD_SIZE") != NULL;
  const char* const number = getenv(is_open_mpi ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK");
  const char* const count = getenv(is_open_mpi ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE");
  ranks all = {.count = 1};
  km_comm_id id;
  km_comm_info info = {.struct_size = sizeof info};
  FILE* file;
  assert_non_null(number);
  all.first = (int)strtol(number, NULL, 10);
  all.total = (int)strtol(count, NULL, 10);
  open_rank(&f, 0, &all.of[0]);
  if (all.first == 0) {
    char fresh[4096];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    OK(km_comm_id_create(all.of[0].context, &id));
    assert_non_null(file = fopen(fresh, "wb"));
    assert_int_equal(fwrite(&id, sizeof id, 1, file), 1);
    fclose(file);
    assert_int_equal(rename(fresh, path), 0);
  } else {
    while ((file = fopen(path, "rb")) == NULL) usleep(10000);
    assert_int_equal(fread(&id, sizeof id, 1, file), 1);
    fclose(file);
  }
  OK(km_comm_create(all.of[0].context, &id, (uint32_t)all.total, (uint32_t)all.first,
                    &all.of[0].comm));
  OK(km_comm_info_get(all.of[0].comm, &info));
  print_message("rank %d of %d: %s\n", all.first, all.total, info.reason);
  check_all(all);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 2) return run_process(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_rank),
      cmocka_unit_test(two_ranks),
      cmocka_unit_test(four_ranks),
  };
  return RUN_ON_DEVICES("comm_values", tests);
}
