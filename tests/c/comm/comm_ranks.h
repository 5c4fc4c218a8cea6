/* Ranks of one process, all driven by the test's thread: their operations are work of streams. */
#ifndef KM_TESTS_COMM_RANKS_H
#define KM_TESTS_COMM_RANKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

#include <kernelmill/helpers.h>
#include "support/comm_numbers.h"

enum { MOST_RANKS = 4, MOST_COUNT = 61, ROOM_BYTES = MOST_RANKS * MOST_COUNT * 8 };

typedef struct rank {
  km_device device;
  km_context context;
  km_stream stream;
  km_comm comm;
  km_slice buffers[2];
} rank;

typedef struct ranks {
  int count;
  int first, total; /* the ranks of this process are some of all */
  rank of[MOST_RANKS];
} ranks;

static inline void open_rank(const fixture* f, int number, rank* out) {
  /* With two devices, ranks alternate between them. */
  const char* const uri = number % 2 != 0 && has_device(other_uri(f)) ? other_uri(f) : f->uri;
  memset(out, 0, sizeof *out);
  OK(km_device_open(uri, &out->device));
  OK(km_context_create(out->device, &out->context));
  OK(km_stream_create(out->context, KM_STREAM_DEFAULT, 0, &out->stream));
  for (int i = 0; i < 2; ++i) {
    OK(km_slice_create(out->context, ROOM_BYTES, 1, KM_SLICE_ZEROED, &out->buffers[i]));
  }
}

/* Skips the test where communicators compute nothing: on fakes, and on a driver that is one. */
static inline void require_comms(const fixture* f) {
  if (is_fake(f) || (is_cuda(f) && getenv("KM_NCCL") == NULL)) skip();
}

/* NVIDIA's NCCL: the cuda device has no driver of ours below it. */
static inline int is_nvidia(const fixture* f) {
  return is_cuda(f) && getenv("KM_CUDA_DRIVER") == NULL;
}

/* Skips the test where ranks that fail are not named: NVIDIA's NCCL would wait for ever. */
static inline void require_named_failures(const fixture* f) {
  if (is_nvidia(f)) skip();
}

static inline ranks begin_ranks(const fixture* f, int count) {
  ranks all = {.count = count, .total = count};
  km_context contexts[MOST_RANKS];
  km_comm comms[MOST_RANKS];
  require_comms(f);
  /* NVIDIA's NCCL takes one rank for each device. */
  if (is_nvidia(f) && count > (has_device(other_uri(f)) ? 2 : 1)) skip();
  for (int i = 0; i < count; ++i) {
    open_rank(f, i, &all.of[i]);
    contexts[i] = all.of[i].context;
  }
  OK(km_comm_create_all(contexts, (uint64_t)count, comms));
  for (int i = 0; i < count; ++i) all.of[i].comm = comms[i];
  return all;
}

static inline void end_ranks(ranks* all) {
  for (int i = 0; i < all->count; ++i) {
    rank* const each = &all->of[i];
    OK(km_stream_synchronize(each->stream));
    OK(km_comm_destroy(each->comm));
    for (int k = 0; k < 2; ++k) OK(km_slice_destroy(each->buffers[k]));
    OK(km_stream_destroy(each->stream));
    OK(km_context_destroy(each->context));
    OK(km_device_destroy(each->device));
  }
}

static inline void synchronize(const ranks* all) {
  for (int i = 0; i < all->count; ++i) OK(km_stream_synchronize(all->of[i].stream));
}

/* The communicator's failure, as each rank sees it, has this text. */
static inline void expect_failure(const ranks* all, const char* text) {
  for (int i = 0; i < all->count; ++i) {
    EXPECT(KM_ERROR_IO, km_comm_status(all->of[i].comm));
    expect_message(text);
  }
}

/* One f32 in each rank's first buffer. */
static inline void set_numbers(const ranks* all) {
  for (int i = 0; i < all->count; ++i) {
    const float number = (float)(i + 1);
    OK(km_slice_upload(all->of[i].stream, all->of[i].buffers[0], 0, &number, sizeof number));
  }
}
static inline float number_of(const rank* each, int buffer) {
  float number = 0;
  OK(km_slice_download(each->stream, each->buffers[buffer], 0, &number, sizeof number));
  return number;
}

static inline km_status all_reduce(const rank* each, uint64_t count) {
  const km_array send = km_place(each->buffers[0], 0), receive = km_place(each->buffers[1], 0);
  return km_comm_all_reduce(each->comm, each->stream, &send, &receive, count, KM_ELEMENT_TYPE_F32,
                            KM_COMM_REDUCTION_SUM, NULL);
}

#endif
