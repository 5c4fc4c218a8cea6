/* Kernelmill: runs CUDA-style kernels (PTX or CUDA C++) on NVIDIA GPUs and on any CPU. This header
 * includes the whole C ABI; each topic has its own header. base.h has the rules for all functions.
 *
 * Example:
 *   km_device device;
 *   km_context context;
 *   km_stream stream;
 *   km_slice x;
 *   KM_CHECK(km_device_open("auto", &device));
 *   KM_CHECK(km_context_create(device, &context));
 *   KM_CHECK(km_context_default_stream(context, &stream));
 *   KM_CHECK(km_slice_create(context, 1000, sizeof(float), KM_SLICE_DEFAULT, &x));
 *   KM_CHECK(km_slice_fill_u8(stream, x, 0, 0, 4000));
 *   KM_CHECK(km_stream_synchronize(stream));
 *
 * The examples of the other headers continue this one: `device`, `context` and `stream` are these,
 * `x` is a slice of 256 floats, `scale_ptx` the PTX of a kernel scale(float* x, float factor), and
 * `scale` its function. KM_CHECK, km_vector and km_matrix come from helpers.h, which is optional.
 */
#ifndef KERNELMILL_C_API_H
#define KERNELMILL_C_API_H

/* The includes are in reading order, so clang-format must not sort them. */
/* clang-format off */
#include "base.h"
#include "error.h"
#include "device.h"
#include "context.h"
#include "stream.h"
#include "event.h"
#include "memory.h"
#include "copy.h"
#include "tracking.h"
#include "check.h"
#include "pool.h"
#include "program.h"
#include "module.h"
#include "function.h"
#include "launch.h"
#include "graph.h"
#include "graph_nodes.h"
#include "profiler.h"
#include "blas.h"
#include "blas_matrix.h"
#include "fft.h"
#include "solve.h"
#include "sparse.h"
#include "comm.h"
#include "tune.h"
/* clang-format on */

#endif
