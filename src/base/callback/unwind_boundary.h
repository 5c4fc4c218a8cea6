/* A boundary that stops the unwinding of a thread that ends. It is written in C because
 * <pthread.h> declares the necessary functions for C only. */
#ifndef KM_BASE_UNWIND_BOUNDARY_H
#define KM_BASE_UNWIND_BOUNDARY_H

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The buffer of one boundary, in the caller's frame. */
typedef __pthread_unwind_buf_t km_unwind_boundary;

/* Calls function(argument). Returns 0 if the function did not return but began to end its thread
 * (pthread_exit or a cancellation); the unwinding stopped here and the thread continues. */
int km_call_with_boundary(void (*function)(void*), void* argument, km_unwind_boundary* boundary);
/* Unregisters the boundary after an exception has passed it. */
void km_drop_boundary(km_unwind_boundary* boundary);
/* Ends the thread on which km_call_with_boundary() returned 0, with the thread result that it
 * had chosen. */
void km_resume_thread_end(void) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
