/* Communicators: what they refuse, how they fail, and that their operations are work of streams
 * like any other. Their results are compared in test_comm_values.c. */
#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm_ranks.h"

static void refuse(km_status expected, km_status given, const char* text) {
  EXPECT(expected, given);
  expect_message(text);
}
#define INVALID(call, text) refuse(KM_ERROR_INVALID_ARGUMENT, (call), (text))

static void creation_is_checked(void** state) {
  const fixture* f = *state;
  km_comm_id id;
  const km_comm_id wrong = {{1, 2, 3}};
  km_comm comm = NULL;
  km_context contexts[2] = {f->context, NULL};
  require_comms(f);
  INVALID(km_comm_id_create(f->context, NULL), "out_id is null");
  OK(km_comm_id_create(f->context, &id));
  INVALID(km_comm_create(f->context, NULL, 1, 0, &comm), "id is null");
  INVALID(km_comm_create(f->context, &id, 1, 0, NULL), "out_comm is null");
  INVALID(km_comm_create(f->context, &id, 0, 0, &comm), "rank_count is 0; it can be 1 to 4096");
  INVALID(km_comm_create(f->context, &id, 4097, 0, &comm), "rank_count is 4097");
  INVALID(km_comm_create(f->context, &id, 2, 2, &comm), "rank is 2; 2 ranks are 0 to 1");
  INVALID(km_comm_create(f->context, &wrong, 1, 0, &comm), "no unique id");
  INVALID(km_comm_create_all(NULL, 1, &comm), "contexts is null");
  INVALID(km_comm_create_all(contexts, 0, &comm), "count is 0");
  EXPECT(KM_ERROR_INVALID_HANDLE, km_comm_create_all(contexts, 2, &comm));
  assert_null(comm);
  OK(km_comm_create(f->context, &id, 1, 0, &comm));
  OK(km_comm_destroy(comm));
  OK(km_comm_destroy(NULL));
}

static void arguments_are_checked(void** state) {
  const fixture* f = *state;
  ranks all = begin_ranks(f, 2);
  const km_comm comm = all.of[0].comm;
  const km_stream stream = all.of[0].stream;
  km_array in = km_place(all.of[0].buffers[0], 0), out = km_place(all.of[0].buffers[1], 0);
  const km_element_type f32 = KM_ELEMENT_TYPE_F32;
  const km_comm_reduction sum = KM_COMM_REDUCTION_SUM;
  const float two = 2;
  INVALID(km_comm_all_reduce(comm, stream, &in, &out, 1, KM_ELEMENT_TYPE_I16, sum, NULL),
          "type is 8, which communicators do not have");
  INVALID(km_comm_all_reduce(comm, stream, &in, &out, 1, f32, 7, NULL),
          "reduction is 7; it can be 1 to 6");
  INVALID(km_comm_all_reduce(comm, stream, &in, &out, 1, f32, sum, &two), "scale is given");
  INVALID(km_comm_all_reduce(comm, stream, &in, &out, 1, f32, KM_COMM_REDUCTION_SCALED_SUM, NULL),
          "scale is null");
  INVALID(km_comm_all_reduce(comm, stream, NULL, &out, 1, f32, sum, NULL), "send is null");
  INVALID(km_comm_all_reduce(comm, stream, &in, NULL, 1, f32, sum, NULL), "receive is null");
  INVALID(km_comm_broadcast(comm, stream, &in, &out, 1, f32, 2),
          "root is 2; the communicator has ranks 0 to 1");
  INVALID(km_comm_send(comm, stream, &in, 1, f32, 3), "peer is 3");
  refuse(KM_ERROR_OUT_OF_BOUNDS, km_comm_all_gather(comm, stream, &in, &out, ROOM_BYTES / 4, f32),
         "receive");
  refuse(KM_ERROR_OUT_OF_BOUNDS, km_comm_send(comm, stream, &in, UINT64_MAX, f32, 1), "2^64");
  EXPECT(KM_ERROR_CONTEXT_MISMATCH, km_comm_send(comm, all.of[1].stream, &in, 1, f32, 1));
  out = km_place(all.of[0].buffers[0], 1);
  INVALID(km_comm_all_reduce(comm, stream, &in, &out, 4, f32, sum, NULL), "overlap; in place");
  in.address = 1;
  in.slice = 0;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS, km_comm_send(comm, stream, &in, 1, f32, 1));
  OK(km_comm_status(comm)); /* wrong calls do not count */
  end_ranks(&all);
}

static void information_says_why(void** state) {
  ranks all = begin_ranks(*state, 2);
  km_comm_info info = {.struct_size = sizeof info};
  OK(km_comm_info_get(all.of[1].comm, &info));
  assert_int_equal(info.rank, 1);
  assert_int_equal(info.rank_count, 2);
  assert_int_equal(info.engine, is_cuda(*state) ? KM_COMM_ENGINE_NCCL : KM_COMM_ENGINE_THREADS);
  assert_non_null(
      strstr(info.reason, is_cuda(*state) ? "NCCL 2." : "all ranks are in this process"));
  end_ranks(&all);
}

/* Ranks 0 and 2 and ranks 1 and 3, each pair in the order of its keys; rank 3 joins none later. */
static void communicators_are_split(void** state) {
  const fixture* f = *state;
  km_comm_info info = {.struct_size = sizeof info};
  km_comm comm = NULL, part = NULL, none = (km_comm)1;
  km_comm_id id;
  require_comms(f);
  OK(km_comm_id_create(f->context, &id));
  OK(km_comm_create(f->context, &id, 1, 0, &comm));
  OK(km_comm_split(comm, 5, 1, &part));
  OK(km_comm_info_get(part, &info));
  assert_int_equal(info.rank_count, 1);
  OK(km_comm_split(comm, -1, 0, &none));
  assert_null(none);
  OK(km_comm_destroy(part));
  OK(km_comm_destroy(comm));
}

static void groups_are_checked(void** state) {
  ranks all = begin_ranks(*state, 1);
  km_stream other;
  km_array in = km_place(all.of[0].buffers[0], 0), out = km_place(all.of[0].buffers[1], 0);
  refuse(KM_ERROR_NOT_PERMITTED, km_comm_group_end(), "there is no group on this thread");
  OK(km_comm_group_begin());
  OK(km_comm_group_begin());
  EXPECT(KM_ERROR_INVALID_ARGUMENT, km_comm_send(all.of[0].comm, all.of[0].stream, &in, 1, 0, 0));
  OK(km_comm_group_end());
  INVALID(km_comm_group_end(), "a call of the group has failed: type is 0");
  OK(km_stream_create(all.of[0].context, KM_STREAM_DEFAULT, 0, &other));
  OK(km_comm_group_begin());
  OK(km_comm_send(all.of[0].comm, all.of[0].stream, &in, 1, KM_ELEMENT_TYPE_F32, 0));
  OK(km_comm_receive(all.of[0].comm, other, &out, 1, KM_ELEMENT_TYPE_F32, 0));
  INVALID(km_comm_group_end(), "operations in two streams of one group");
  OK(km_stream_destroy(other));
  OK(km_comm_group_begin());
  OK(km_comm_group_end()); /* of nothing */
  end_ranks(&all);
}

/* An operation waits for the work before it in its stream, and what comes after waits for it: also
 * where the communicator's operations are in two streams. */
static void operations_keep_their_order(void** state) {
  enum { ROUNDS = 20 };
  ranks all = begin_ranks(*state, 2);
  km_stream streams[2][2];
  for (int i = 0; i < 2; ++i) {
    streams[i][0] = all.of[i].stream;
    OK(km_stream_create(all.of[i].context, KM_STREAM_DEFAULT, 0, &streams[i][1]));
  }
  set_numbers(&all); /* 1 and 2; each round adds both, in place */
  synchronize(&all);
  for (int round = 0; round < ROUNDS; ++round) {
    OK(km_comm_group_begin());
    for (int i = 0; i < 2; ++i) {
      const km_array x = km_place(all.of[i].buffers[0], 0);
      OK(km_comm_all_reduce(all.of[i].comm, streams[i][round % 2], &x, &x, 1, KM_ELEMENT_TYPE_F32,
                            KM_COMM_REDUCTION_SUM, NULL));
    }
    OK(km_comm_group_end());
  }
  for (int i = 0; i < 2; ++i) {
    OK(km_stream_synchronize(streams[i][1]));
    assert_true(number_of(&all.of[i], 0) == 3.0F * (1 << (ROUNDS - 1)));
    OK(km_stream_destroy(streams[i][1]));
  }
  end_ranks(&all);
}

static km_graph_exec capture(const rank* each) {
  km_graph graph;
  km_graph_exec exec;
  uint64_t nodes[2], count;
  km_graph_node_info info = {.struct_size = sizeof info};
  OK(km_stream_begin_capture(each->stream));
  OK(all_reduce(each, 1));
  OK(km_slice_copy(each->stream, each->buffers[0], 0, each->buffers[1], 0, 4));
  OK(km_stream_end_capture(each->stream, &graph));
  OK(km_graph_nodes(graph, nodes, 2, &count));
  assert_int_equal(count, 2);
  OK(km_graph_node_info_get(graph, nodes[0], &info));
  assert_int_equal(info.kind, KM_GRAPH_NODE_LIBRARY);
  OK(km_graph_exec_create(graph, &exec));
  OK(km_graph_destroy(graph));
  return exec;
}

static void operations_are_captured(void** state) {
  enum { LAUNCHES = 5 };
  ranks all = begin_ranks(*state, 2);
  km_graph_exec execs[2];
  set_numbers(&all);
  for (int i = 0; i < 2; ++i) execs[i] = capture(&all.of[i]);
  for (int launch = 0; launch < LAUNCHES; ++launch) {
    for (int i = 0; i < 2; ++i) OK(km_graph_exec_launch(execs[i], all.of[i].stream));
  }
  for (int i = 0; i < 2; ++i) {
    assert_true(number_of(&all.of[i], 0) == 3.0F * (1 << (LAUNCHES - 1)));
    OK(km_graph_exec_destroy(execs[i]));
  }
  end_ranks(&all);
}

static void profiles_name_the_call(void** state) {
  ranks all = begin_ranks(*state, 1);
  km_profile_row row = {.struct_size = sizeof row};
  OK(km_profiler_start(all.of[0].context));
  OK(all_reduce(&all.of[0], 8));
  OK(km_stream_synchronize(all.of[0].stream));
  OK(km_profiler_stop(all.of[0].context));
  OK(km_profiler_row_get(all.of[0].context, 0, &row));
  assert_string_equal(row.name, "km_comm_all_reduce");
  end_ranks(&all);
}

/* Results may be used after the handles of all that they need were destroyed. */
static void queued_operations_keep_what_they_use(void** state) {
  ranks all = begin_ranks(*state, 2);
  set_numbers(&all);
  OK(km_comm_group_begin());
  for (int i = 0; i < 2; ++i) {
    OK(all_reduce(&all.of[i], 1));
    OK(km_slice_destroy(all.of[i].buffers[0]));
  }
  OK(km_comm_destroy(all.of[0].comm));
  all.of[0].comm = NULL;
  OK(km_comm_group_end());
  for (int i = 0; i < 2; ++i) {
    assert_true(number_of(&all.of[i], 1) == 3.0F);
    all.of[i].buffers[0] = NULL;
  }
  end_ranks(&all);
}

static void different_calls_are_named(void** state) {
  require_named_failures(*state);
  ranks all = begin_ranks(*state, 2);
  OK(all_reduce(&all.of[0], 7));
  OK(all_reduce(&all.of[1], 8));
  synchronize(&all);
  expect_failure(&all, "rank 0 called all-reduce of 7 f32, sum, but rank 1 all-reduce of 8 f32");
  refuse(KM_ERROR_IO, all_reduce(&all.of[0], 7), "rank 0 called");
  end_ranks(&all);
}

static void late_ranks_are_named(void** state) {
  require_named_failures(*state);
  ranks all = begin_ranks(*state, 2);
  OK(all_reduce(&all.of[0], 1));
  OK(km_stream_synchronize(all.of[0].stream));
  expect_failure(&all, "but rank 1 did not call anything");
  end_ranks(&all);
}

static void ranks_that_leave_are_named(void** state) {
  require_named_failures(*state);
  ranks all = begin_ranks(*state, 2);
  OK(km_comm_destroy(all.of[1].comm));
  all.of[1].comm = NULL;
  OK(all_reduce(&all.of[0], 1));
  OK(km_stream_synchronize(all.of[0].stream));
  EXPECT(KM_ERROR_IO, km_comm_status(all.of[0].comm));
  expect_message("rank 1 has left the communicator");
  end_ranks(&all);
}

static void aborting_ends_what_waits(void** state) {
  require_named_failures(*state);
  ranks all = begin_ranks(*state, 2);
  OK(all_reduce(&all.of[0], 1));
  OK(km_comm_abort(all.of[1].comm));
  OK(km_stream_synchronize(all.of[0].stream));
  expect_failure(&all, "rank 1 has aborted the communicator");
  end_ranks(&all);
}

/* The bytes that malloc has given out. */
static size_t held_bytes(void) {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/* The growth by many operations of all ranks of this process, once a tenth of them is over. */
static long long growth_by_operations(ranks* all) {
  const char* const given = getenv("KM_TEST_COMM_OPERATIONS");
  const long count = given != NULL ? strtol(given, NULL, 10) : 10000, together = 20;
  size_t before = 0;
  for (long i = 0; i < count; ++i) {
    OK(km_comm_group_begin());
    for (int k = 0; k < all->count; ++k) OK(all_reduce(&all->of[k], 7));
    OK(km_comm_group_end());
    if (i % together != 0 && i != count - 1) continue; /* what is queued takes memory */
    for (int k = 0; k < all->count; ++k) OK(km_stream_synchronize(all->of[k].stream));
    if (i <= count / 10) before = held_bytes();
  }
  for (int k = 0; k < all->count; ++k) OK(km_comm_status(all->of[k].comm));
  return (long long)held_bytes() - (long long)before;
}

enum { MOST_GROWTH = 128 << 10 };

static void many_operations_keep_nothing(void** state) {
  ranks all = begin_ranks(*state, 4);
  assert_true(growth_by_operations(&all) < MOST_GROWTH);
  end_ranks(&all);
}

/* One rank of two processes: the child begins with a new program, as any user's rank does. */
static int run_process(const char* id_text, const char* role) {
  fixture f = {.uri = "cpu:0"};
  rank self;
  km_comm_id id;
  km_comm_info info = {.struct_size = sizeof info};
  for (size_t i = 0; i < sizeof id.bytes; ++i) {
    const char digits[3] = {id_text[2 * i], id_text[2 * i + 1], 0};
    id.bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
  }
  open_rank(&f, 0, &self);
  OK(km_comm_create(self.context, &id, 2, 1, &self.comm));
  OK(km_comm_info_get(self.comm, &info));
  if (info.engine != KM_COMM_ENGINE_SHARED_MEMORY) return 2;
  ranks all = {1, 1, 2, {self}};
  set_numbers(&all);
  OK(all_reduce(&self, 1));
  if (number_of(&self, 1) != 2.0F) return 3; /* 1 of each rank */
  if (strcmp(role, "goes on") == 0 && growth_by_operations(&all) >= MOST_GROWTH) return 4;
  if (strcmp(role, "dies") == 0) raise(SIGKILL);
  return 0;
}

static pid_t start_process(const km_comm_id* id, const char* role) {
  char text[2 * sizeof id->bytes + 1];
  for (size_t i = 0; i < sizeof id->bytes; ++i) snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) run_again(text, role);
  return child;
}

static void ranks_of_two_processes(const fixture* f, const char* role) {
  km_comm_id id;
  rank self;
  int status = 0;
  require_named_failures(f);
  require_comms(f);
  OK(km_comm_id_create(f->context, &id));
  const pid_t child = start_process(&id, role);
  open_rank(f, 0, &self);
  OK(km_comm_create(self.context, &id, 2, 0, &self.comm));
  ranks all = {1, 0, 2, {self}};
  set_numbers(&all);
  OK(all_reduce(&self, 1));
  assert_true(number_of(&self, 1) == 2.0F);
  if (strcmp(role, "goes on") == 0) assert_true(growth_by_operations(&all) < MOST_GROWTH);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (strcmp(role, "dies") == 0) {
    assert_true(WIFSIGNALED(status));
    OK(all_reduce(&self, 1));
    OK(km_stream_synchronize(self.stream));
    EXPECT(KM_ERROR_IO, km_comm_status(self.comm));
    expect_message("rank 1 is gone: its process");
  } else {
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
  end_ranks(&all);
}

static void processes_share_memory(void** state) { ranks_of_two_processes(*state, "ends"); }
static void many_operations_of_processes_keep_nothing(void** state) {
  ranks_of_two_processes(*state, "goes on");
}
static void killed_processes_are_named(void** state) { ranks_of_two_processes(*state, "dies"); }

int main(int argc, char** argv) {
  setenv("KM_COMM_TIMEOUT_S", "5", 0); /* before the first call */
  if (argc == 3) return run_process(argv[1], argv[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(creation_is_checked),
      cmocka_unit_test(arguments_are_checked),
      cmocka_unit_test(information_says_why),
      cmocka_unit_test(communicators_are_split),
      cmocka_unit_test(groups_are_checked),
      cmocka_unit_test(operations_keep_their_order),
      cmocka_unit_test(operations_are_captured),
      cmocka_unit_test(profiles_name_the_call),
      cmocka_unit_test(queued_operations_keep_what_they_use),
      cmocka_unit_test(many_operations_keep_nothing),
      cmocka_unit_test(many_operations_of_processes_keep_nothing),
      cmocka_unit_test(different_calls_are_named),
      cmocka_unit_test(late_ranks_are_named),
      cmocka_unit_test(ranks_that_leave_are_named),
      cmocka_unit_test(aborting_ends_what_waits),
      cmocka_unit_test(processes_share_memory),
      cmocka_unit_test(killed_processes_are_named),
  };
  const char* const given = getenv("KM_TEST_COMM_ROUNDS");
  const long rounds = given != NULL ? strtol(given, NULL, 10) : 1;
  int failures = 0;
  for (long i = 0; i < rounds && failures == 0; ++i) failures = RUN_ON_DEVICES("comm", tests);
  return failures;
}
