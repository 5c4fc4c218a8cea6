/* Flags of stream_create() beyond the public km_stream_flags. */
#ifndef KERNELMILL_BACKEND_STREAM_FLAGS_H
#define KERNELMILL_BACKEND_STREAM_FLAGS_H

/* The context has KM_CONTEXT_ORDERED: core makes work wait for conflicting uses of its memory, and
 * leaves waits out that it knows to be over. A checker of the order has nothing to find. */
#define KMB_STREAM_ORDERED (1u << 31)

#endif
