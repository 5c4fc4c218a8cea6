/* Random work on random streams of contexts with KM_CONTEXT_ORDERED, queued by one thread: all
 * memory holds what it would hold with one stream. The expected content is kept on the host.
 *
 * KM_TEST_ORDER_STEPS: how much work, 20000 if not set. */
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

enum { SLICES = 4, WORDS = 6000, STREAMS = 5, CONTEXTS = 2, PINNED = 2 };

typedef struct part {
  uint32_t slice, first, count;
} part;

typedef struct world {
  km_context contexts[CONTEXTS];
  km_stream streams[STREAMS]; /* of contexts in turn */
  km_slice slices[SLICES];    /* likewise */
  uint32_t expected[SLICES][WORDS];
  km_host_memory memories[PINNED];
  uint32_t* pinned[PINNED]; /* of WORDS */
  uint32_t expected_pinned[PINNED][WORDS];
  km_function fill_index;
  uint64_t state;
} world;

static uint32_t pick(world* w, uint32_t below) {
  w->state = w->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(w->state >> 33) % below;
}

static part pick_part(world* w, uint32_t slice) {
  part p;
  p.slice = slice;
  p.first = pick(w, 4) == 0 ? 0 : pick(w, WORDS);
  p.count = pick(w, 4) == 0 ? WORDS - p.first : 1 + pick(w, WORDS - p.first);
  return p;
}

/* The streams and slices of context 0, or now and then those of the other. */
static km_stream pick_stream(world* w, uint32_t context) {
  uint32_t stream;
  do stream = pick(w, STREAMS);
  while (stream % CONTEXTS != context);
  return w->streams[stream];
}
static uint32_t pick_slice(world* w, uint32_t context) {
  uint32_t slice;
  do slice = pick(w, SLICES);
  while (slice % CONTEXTS != context);
  return slice;
}

static void do_fill(world* w, uint32_t context) {
  const part p = pick_part(w, pick_slice(w, context));
  const uint32_t value = pick(w, UINT32_MAX);
  OK(km_slice_fill_u32(pick_stream(w, context), w->slices[p.slice], p.first * 4, value, p.count));
  for (uint32_t i = 0; i < p.count; ++i) w->expected[p.slice][p.first + i] = value;
}

static void do_copy(world* w, uint32_t context) {
  const part to = pick_part(w, pick(w, SLICES));
  uint32_t from_slice;
  do from_slice = pick(w, SLICES);
  while (from_slice == to.slice);
  const uint32_t from = pick(w, WORDS - to.count + 1);
  OK(km_slice_copy_peer(pick_stream(w, context), w->slices[to.slice], to.first * 4,
                        w->slices[from_slice], from * 4, to.count * 4));
  memcpy(w->expected[to.slice] + to.first, w->expected[from_slice] + from, to.count * 4);
}

/* By a view, with an offset, or with the part declared. */
static void do_launch(world* w) {
  const part p = pick_part(w, pick_slice(w, 0));
  const km_launch_config config = {{(p.count + 255) / 256, 1, 1}, {256, 1, 1}, 0};
  const fill_index_arguments arguments = {0, pick(w, 1000000), p.count};
  const km_stream stream = pick_stream(w, 0);
  const uint32_t form = pick(w, 3);
  if (form == 0) {
    km_launch_operand operand = {0, KM_ACCESS_READ_WRITE, 0, p.first * 4, p.count * 4};
    memcpy(&operand.slice, &w->slices[p.slice], sizeof operand.slice);
    OK(km_launch_kernel_operands(stream, w->fill_index, &config, &arguments, sizeof arguments,
                                 &operand, 1));
  } else {
    km_slice view = w->slices[p.slice];
    km_launch_slice slice = {0, 0, 0, form == 1 ? p.first * 4 : 0};
    if (form == 2) OK(km_slice_view(w->slices[p.slice], p.first, p.count, &view));
    memcpy(&slice.slice, &view, sizeof slice.slice);
    OK(km_launch_kernel(stream, w->fill_index, &config, &arguments, sizeof arguments, &slice, 1));
    if (form == 2) OK(km_slice_destroy(view));
  }
  for (uint32_t i = 0; i < p.count; ++i) {
    w->expected[p.slice][p.first + i] = arguments.base + i;
  }
}

static void do_upload(world* w, uint32_t context) {
  const part p = pick_part(w, pick_slice(w, context));
  uint32_t words[WORDS];
  const uint32_t value = pick(w, UINT32_MAX);
  for (uint32_t i = 0; i < p.count; ++i) words[i] = value ^ (i * 2654435761u);
  OK(km_slice_upload(pick_stream(w, context), w->slices[p.slice], p.first * 4, words, p.count * 4));
  memcpy(w->expected[p.slice] + p.first, words, p.count * 4);
  memset(words, 0, sizeof words);
}

/* The host looks at nothing before the end: only streams use the page-locked memory. */
static void do_pinned(world* w) {
  const part p = pick_part(w, pick_slice(w, 0));
  const uint32_t memory = pick(w, PINNED), first = pick(w, WORDS - p.count + 1);
  uint32_t* const words = w->pinned[memory] + first;
  uint32_t* const expected = w->expected_pinned[memory] + first;
  if (pick(w, 2) == 0) {
    OK(km_slice_upload(pick_stream(w, 0), w->slices[p.slice], p.first * 4, words, p.count * 4));
    memcpy(w->expected[p.slice] + p.first, expected, p.count * 4);
  } else {
    OK(km_slice_download(pick_stream(w, 0), w->slices[p.slice], p.first * 4, words, p.count * 4));
    memcpy(expected, w->expected[p.slice] + p.first, p.count * 4);
  }
}

static void do_rows(world* w, uint32_t context) {
  const uint32_t slice = pick_slice(w, context), first = pick(w, 64), value = pick(w, 1000);
  const uint32_t width = 1 + pick(w, 16), height = 1 + pick(w, (WORDS - 64 - 16) / 32);
  OK(km_slice_fill_2d(pick_stream(w, context), w->slices[slice], first * 4, 128, value, 4, width,
                      height));
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) w->expected[slice][first + y * 32 + x] = value;
  }
}

static void expect_words(const uint32_t* seen, const uint32_t* expected, uint32_t count,
                         uint32_t step) {
  for (uint32_t i = 0; i < count; ++i) {
    if (seen[i] == expected[i]) continue;
    fail_msg("step %u: word %u of %u is %u, expected %u", step, i, count, seen[i], expected[i]);
  }
}

static void do_download(world* w, uint32_t context, uint32_t step) {
  const part p = pick_part(w, pick_slice(w, context));
  uint32_t words[WORDS];
  OK(km_slice_download(pick_stream(w, context), w->slices[p.slice], p.first * 4, words,
                       p.count * 4));
  expect_words(words, w->expected[p.slice] + p.first, p.count, step);
}

/* A graph that fills one part and copies it elsewhere, on a stream of context 0. */
static void do_graph(world* w) {
  const part p = pick_part(w, 0);
  const uint32_t value = pick(w, UINT32_MAX), to = pick(w, WORDS - p.count + 1);
  km_graph graph;
  km_graph_exec exec;
  uint64_t node;
  OK(km_graph_create(w->contexts[0], &graph));
  OK(km_graph_add_fill(graph, NULL, 0, w->slices[0], p.first * 4, value, 4, p.count, &node));
  OK(km_graph_add_copy(graph, &node, 1, w->slices[CONTEXTS], to * 4, w->slices[0], p.first * 4,
                       p.count * 4, &node));
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_exec_launch(exec, pick_stream(w, 0)));
  for (uint32_t i = 0; i < p.count; ++i) {
    w->expected[0][p.first + i] = w->expected[CONTEXTS][to + i] = value;
  }
  OK(km_graph_exec_destroy(exec));
  OK(km_graph_destroy(graph));
}

static void do_stream(world* w) {
  const uint32_t stream = pick(w, STREAMS);
  OK(km_stream_destroy(w->streams[stream]));
  OK(km_stream_create(w->contexts[stream % CONTEXTS], 0, 0, &w->streams[stream]));
}

static world* open_world(const fixture* f) {
  world* w = calloc(1, sizeof *w);
  km_module module;
  assert_non_null(w);
  w->state = 20;
  for (int i = 0; i < CONTEXTS; ++i) {
    OK(km_context_create_with_flags(f->device, KM_CONTEXT_ORDERED, &w->contexts[i]));
  }
  for (int i = 0; i < STREAMS; ++i) {
    OK(km_stream_create(w->contexts[i % CONTEXTS], 0, 0, &w->streams[i]));
  }
  for (int i = 0; i < SLICES; ++i) {
    OK(km_slice_create(w->contexts[i % CONTEXTS], WORDS, 4, KM_SLICE_ZEROED, &w->slices[i]));
  }
  for (int i = 0; i < PINNED; ++i) {
    OK(km_host_memory_create(w->contexts[0], WORDS * 4, 0, &w->memories[i]));
    OK(km_host_memory_pointer(w->memories[i], (void**)&w->pinned[i]));
    memset(w->pinned[i], 0, WORDS * 4);
  }
  OK(km_module_load_ptx(w->contexts[0], test_ptx, strlen(test_ptx), "test.ptx", &module));
  OK(km_module_function(module, "fill_index", &w->fill_index));
  OK(km_module_destroy(module));
  return w;
}

static void close_world(world* w) {
  for (int i = 0; i < PINNED; ++i) OK(km_host_memory_destroy(w->memories[i]));
  for (int i = 0; i < SLICES; ++i) OK(km_slice_destroy(w->slices[i]));
  for (int i = 0; i < STREAMS; ++i) OK(km_stream_destroy(w->streams[i]));
  for (int i = 0; i < CONTEXTS; ++i) OK(km_context_destroy(w->contexts[i]));
  OK(km_function_destroy(w->fill_index));
  free(w);
}

static void do_step(world* w, uint32_t step) {
  const uint32_t context = pick(w, 4) == 0, kind = pick(w, 12);
  if (kind < 2) do_fill(w, context);
  if (kind == 2 || kind == 3) do_copy(w, context);
  if (kind == 4 || kind == 5) do_launch(w);
  if (kind == 6) do_upload(w, context);
  if (kind == 7 || kind == 8) do_pinned(w);
  if (kind == 9) do_rows(w, context);
  if (kind == 10) do_graph(w);
  if (kind == 11 && pick(w, 4) == 0) do_download(w, context, step);
  if (kind == 11 && pick(w, 50) == 0) do_stream(w);
}

static void random_work_on_random_streams_is_as_on_one(void** state) {
  const char* given = getenv("KM_TEST_ORDER_STEPS");
  const uint32_t steps = given != NULL ? (uint32_t)atoi(given) : 20000;
  world* w = open_world(*state);
  for (uint32_t step = 0; step < steps; ++step) do_step(w, step);
  for (uint32_t i = 0; i < SLICES; ++i) {
    uint32_t words[WORDS];
    OK(km_slice_download(pick_stream(w, i % CONTEXTS), w->slices[i], 0, words, sizeof words));
    expect_words(words, w->expected[i], WORDS, steps);
  }
  for (int i = 0; i < CONTEXTS; ++i) OK(km_context_synchronize(w->contexts[i]));
  for (int i = 0; i < PINNED; ++i) {
    expect_words(w->pinned[i], w->expected_pinned[i], WORDS, steps);
  }
  close_world(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_work_on_random_streams_is_as_on_one),
  };
  return RUN_ON_DEVICES("order_random", tests);
}
