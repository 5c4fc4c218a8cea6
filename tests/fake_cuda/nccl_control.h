/* How a test speaks to the fake NCCL: symbols of its own, found by dlsym. */
#ifndef KM_TESTS_FAKE_CUDA_NCCL_CONTROL_H
#define KM_TESTS_FAKE_CUDA_NCCL_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Operations that the ends of groups have launched. */
int64_t fake_nccl_launched(void);
/* Open groups of the calling thread. */
int64_t fake_nccl_depth(void);
/* Communicators that were made and neither destroyed nor aborted. */
int64_t fake_nccl_live(void);
/* The next `threads` calls of ncclBroadcast wait for each other. */
void fake_nccl_meet(int threads);
/* Splits wait until their communicator is aborted (1), or do not wait (0). */
void fake_nccl_hold_splits(int are_held);
/* Splits that wait. */
int64_t fake_nccl_held_splits(void);

#ifdef __cplusplus
}
#endif

#endif
