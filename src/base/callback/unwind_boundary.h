/* The place that holds up the unwinding of a thread that ends. In C, because <pthread.h> shows what
 * it needs to C only. */
#ifndef KM_BASE_UNWIND_BOUNDARY_H
#define KM_BASE_UNWIND_BOUNDARY_H

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lives in the caller's frame. */
typedef __pthread_unwind_buf_t km_unwind_boundary;

/* Calls function(argument). 0: it did not return but has begun to end its thread (pthread_exit, or
 * a cancellation), whose unwinding stopped here; the thread goes on all the same. */
int km_call_with_boundary(void (*function)(void*), void* argument, km_unwind_boundary* boundary);
/* Takes the boundary out after an exception has passed it. */
void km_drop_boundary(km_unwind_boundary* boundary);
/* Ends the thread that km_call_with_boundary() gave 0 on, with the result that it had chosen. */
void km_resume_thread_end(void) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
