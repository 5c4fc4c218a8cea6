// The handles and flags of the layer below the Runtime, under the names that programs use.
#ifndef INFINICORE_INFINIRT_HPP
#define INFINICORE_INFINIRT_HPP

#include <kernelmill/c_api.h>

/// An ordered queue of work: a km_stream. Null in a call means the Runtime's own stream.
using infinirtStream_t = km_stream;
/// A point in a stream: a km_event.
using infinirtEvent_t = km_event;
/// A Runtime's library of operators: a km_blas of its stream, with matrices stored by rows.
using infiniopHandle_t = km_blas;

/// Flags of Runtime::createEventWithFlags.
enum infinirtEventFlags_t : unsigned {
  INFINIRT_EVENT_DEFAULT = 0,
  INFINIRT_EVENT_DISABLE_TIMING = 1,
  INFINIRT_EVENT_BLOCKING_SYNC = 2  // no effect: all waits sleep
};

#endif
