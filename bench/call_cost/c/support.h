/* The contestants in C share these. PROGRAM, defined before, is their name in messages. */
#ifndef KM_BENCH_CALL_COST_SUPPORT_H
#define KM_BENCH_CALL_COST_SUPPORT_H

#include <kernelmill/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kBatches = 200, kLaunches = 2560, kLaunchesPerWait = 256 };

static void give_up(void) {
  char message[4096] = "unknown error";
  km_last_error_message(message, sizeof message, NULL);
  fprintf(stderr, PROGRAM ": %s\n", message);
  exit(1);
}

static void check(km_status status) {
  if (status != KM_SUCCESS) give_up();
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#endif
