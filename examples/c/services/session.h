/* What the examples of this folder share: a device with a stream and a kernel. */
#ifndef SESSION_H
#define SESSION_H

#include <kernelmill/c_api.h>
#include <stdint.h>

/* Ends the program with the library's text unless the call did what it says. */
void check(km_status status);
/* Ends the program unless what it says holds. */
void require(int holds, const char* what);

typedef struct session {
  km_device device;
  km_context context;
  km_stream stream;
  km_function scale; /* data[i] *= factor for i < n */
} session;

session open_session(void);
void close_session(session* s);

/* The arguments of `scale`, laid out as its parameters are. */
typedef struct scale_arguments {
  uint64_t data;
  float factor;
  uint32_t n;
} scale_arguments;

/* Queues scale over all of a slice of floats. */
void queue_scale(const session* s, km_slice slice, float factor, uint32_t n);

#endif
