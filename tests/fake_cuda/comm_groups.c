/* Communicators on the cuda backend where something fails or waits in the middle of a group, by the
 * scripted driver and the scripted NCCL. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_cuda/control.h"
#include "fake_cuda/nccl_control.h"
#include "support/testing.h"

#include <kernelmill/helpers.h>

enum { LIMIT_S = 60 }; /* nothing here waits for it */

static struct {
  void (*make_fail)(int64_t index, int32_t result);
  const char* (*failed_call)(void);
  int64_t (*calls)(void);
  int64_t (*launched)(void), (*depth)(void), (*live)(void), (*held_splits)(void);
  void (*meet)(int threads), (*hold_splits)(int are_held);
} fake;

static void find(const char* variable, const char* name, void* out) {
  void* const library = dlopen(getenv(variable), RTLD_NOW | RTLD_LOCAL);
  void* const found = library != NULL ? dlsym(library, name) : NULL;
  if (found == NULL) abort();
  memcpy(out, &found, sizeof found);
}

/* A communicator of its own, with a stream. */
typedef struct lane {
  km_stream stream;
  km_comm comm;
} lane;

static lane open_lane(km_context context, uint32_t ranks) {
  lane made;
  km_comm_id id;
  OK(km_comm_id_create(context, &id));
  OK(km_comm_create(context, &id, ranks, 0, &made.comm));
  OK(km_stream_create(context, KM_STREAM_DEFAULT, 0, &made.stream));
  return made;
}
static void close_lane(const lane* each) {
  OK(km_comm_destroy(each->comm));
  OK(km_stream_synchronize(each->stream));
  OK(km_stream_destroy(each->stream));
}

static km_status all_reduce(const lane* each, km_slice memory) {
  const km_array place = km_place(memory, 0);
  return km_comm_all_reduce(each->comm, each->stream, &place, &place, 4, KM_ELEMENT_TYPE_F32,
                            KM_COMM_REDUCTION_SUM, NULL);
}
static km_status broadcast(const lane* each, km_slice memory) {
  const km_array place = km_place(memory, 0);
  return km_comm_broadcast(each->comm, each->stream, &place, &place, 4, KM_ELEMENT_TYPE_F32, 0);
}
/* In place, which takes a copy by the driver. */
static km_status all_to_all(const lane* each, km_slice memory) {
  const km_array place = km_place(memory, 0);
  return km_comm_all_to_all(each->comm, each->stream, &place, &place, 4, KM_ELEMENT_TYPE_F32);
}

/* One thread's group of three streams. All wait in the second one's broadcast, so that each then
 * holds its first stream, and needs the memory of the other one's first stream for its third. */
typedef struct crossing {
  lane lanes[3];
  km_slice first, second, third;
  km_status result;
  char message[512];
} crossing;

static void* run_crossing(void* given) {
  crossing* const self = given;
  km_status calls[3];
  if (km_comm_group_begin() != KM_SUCCESS) return NULL;
  calls[0] = all_reduce(&self->lanes[0], self->first);
  calls[1] = broadcast(&self->lanes[1], self->second);
  calls[2] = all_reduce(&self->lanes[2], self->third);
  self->result = km_comm_group_end();
  km_last_error_message(self->message, sizeof self->message, NULL);
  for (int i = 0; i < 3; ++i) {
    if (calls[i] != KM_SUCCESS) self->result = calls[i];
  }
  return NULL;
}

static void groups_that_would_wait_for_each_other_fail_at_once(void** state) {
  const fixture* f = *state;
  crossing sides[2];
  km_context ordered;
  km_slice shared[2], own[2];
  pthread_t threads[2];
  time_t begin;
  int failures = 0;
  memset(sides, 0, sizeof sides);
  OK(km_context_create_with_flags(f->device, KM_CONTEXT_ORDERED, &ordered));
  for (int i = 0; i < 2; ++i) {
    OK(km_slice_create(ordered, 64, 1, KM_SLICE_ZEROED, &shared[i]));
    OK(km_slice_create(ordered, 64, 1, KM_SLICE_ZEROED, &own[i]));
    for (int k = 0; k < 3; ++k) sides[i].lanes[k] = open_lane(ordered, 1);
  }
  for (int i = 0; i < 2; ++i) {
    sides[i].first = shared[i];
    sides[i].second = own[i];
    sides[i].third = shared[1 - i];
  }
  fake.meet(2);
  begin = time(NULL);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, run_crossing, &sides[i]), 0);
  }
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_true(time(NULL) - begin < LIMIT_S / 2);
  for (int i = 0; i < 2; ++i) {
    if (sides[i].result == KM_SUCCESS) continue;
    ++failures;
    assert_int_equal(sides[i].result, KM_ERROR_IO);
    assert_non_null(strstr(sides[i].message, "km_comm_broadcast in a group of thread "));
    assert_non_null(strstr(sides[i].message, " and km_comm_"));
    assert_non_null(strstr(sides[i].message, " would wait for each other"));
  }
  assert_int_equal(failures, 1); /* the other one goes on once the first has failed */
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 3; ++k) close_lane(&sides[i].lanes[k]);
    OK(km_slice_destroy(shared[i]));
    OK(km_slice_destroy(own[i]));
  }
  OK(km_context_destroy(ordered));
}

/* Each call of the driver in a group fails in turn. What the group had begun is dropped, its
 * communicators say so, and the next ones work. */
static void failures_within_a_group_drop_it(void** state, int stream_count) {
  const fixture* f = *state;
  enum { OUT_OF_MEMORY = 2 };
  int failures = 0;
  for (int64_t index = 0;; ++index) {
    lane lanes[2] = {open_lane(f->context, 2), open_lane(f->context, 2)};
    const lane second = {stream_count == 1 ? lanes[0].stream : lanes[1].stream, lanes[1].comm};
    const int64_t launched = fake.launched();
    km_slice memories[2];
    km_status ended;
    for (int i = 0; i < 2; ++i) {
      OK(km_slice_create(f->context, 64, 1, KM_SLICE_ZEROED, &memories[i]));
    }
    OK(km_comm_group_begin());
    OK(all_reduce(&lanes[0], memories[0]));
    OK(all_to_all(&second, memories[1]));
    fake.make_fail(index, OUT_OF_MEMORY);
    ended = km_comm_group_end();
    const int has_failed = fake.failed_call()[0] != 0;
    fake.make_fail(-1, 0);
    assert_int_equal(fake.depth(), 0);
    if (ended != KM_SUCCESS) {
      ++failures;
      assert_int_equal(fake.launched(), launched);
      if (stream_count != 1) {
        EXPECT(KM_ERROR_IO, km_comm_status(lanes[0].comm));
        expect_message("has aborted the communicator");
      }
    } else {
      OK(km_comm_status(lanes[0].comm));
      assert_true(fake.launched() > launched);
    }
    for (int i = 0; i < 2; ++i) {
      close_lane(&lanes[i]);
      OK(km_slice_destroy(memories[i]));
    }
    if (!has_failed) break;
  }
  assert_true(failures > 1); /* the scratch memory, and the copy into it */
}
static void failures_in_one_stream_drop_the_group(void** state) {
  failures_within_a_group_drop_it(state, 1);
}
static void failures_in_one_of_two_streams_drop_the_group(void** state) {
  failures_within_a_group_drop_it(state, 2);
}

static void* split(void* given) {
  const lane* const self = given;
  km_comm part = NULL;
  static km_status result;
  result = km_comm_split(self->comm, 1, 0, &part);
  if (result == KM_SUCCESS) km_comm_destroy(part);
  return &result;
}

static void a_split_that_waits_can_be_aborted(void** state) {
  lane one = open_lane(((const fixture*)*state)->context, 2);
  pthread_t thread;
  void* result = NULL;
  const time_t begin = time(NULL);
  fake.hold_splits(1);
  assert_int_equal(pthread_create(&thread, NULL, split, &one), 0);
  while (fake.held_splits() == 0) usleep(1000);
  OK(km_comm_status(one.comm));
  OK(km_comm_abort(one.comm));
  assert_int_equal(pthread_join(thread, &result), 0);
  fake.hold_splits(0);
  assert_true(time(NULL) - begin < 10);
  assert_int_equal(*(km_status*)result, KM_ERROR_IO);
  EXPECT(KM_ERROR_IO, km_comm_status(one.comm));
  expect_message("rank 0 has aborted the communicator");
  close_lane(&one);
  assert_int_equal(fake.live(), 0);
}

int main(void) {
  char limit[16];
  snprintf(limit, sizeof limit, "%d", LIMIT_S);
  setenv("KM_COMM_TIMEOUT_S", limit, 1); /* before the first call */
  find("KM_CUDA_DRIVER", "fake_cuda_fail", &fake.make_fail);
  find("KM_CUDA_DRIVER", "fake_cuda_failed_call", &fake.failed_call);
  find("KM_CUDA_DRIVER", "fake_cuda_calls", &fake.calls);
  find("KM_NCCL", "fake_nccl_launched", &fake.launched);
  find("KM_NCCL", "fake_nccl_depth", &fake.depth);
  find("KM_NCCL", "fake_nccl_live", &fake.live);
  find("KM_NCCL", "fake_nccl_meet", &fake.meet);
  find("KM_NCCL", "fake_nccl_hold_splits", &fake.hold_splits);
  find("KM_NCCL", "fake_nccl_held_splits", &fake.held_splits);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_that_would_wait_for_each_other_fail_at_once),
      cmocka_unit_test(failures_in_one_stream_drop_the_group),
      cmocka_unit_test(failures_in_one_of_two_streams_drop_the_group),
      cmocka_unit_test(a_split_that_waits_can_be_aborted),
  };
  return RUN_ON_DEVICES("groups of communicators", tests);
}
