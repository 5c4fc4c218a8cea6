/* All-reductions of our communicators beside MPI's own, in the same processes and buffers: rounds
 * take turns, and the medians' ratio is printed. Build it by hand, for each MPI:
 *   mpicc -O2 -Iinclude bench/scale/comm_mpi.c -o comm_mpi -L<libkernelmill.so's> -lkernelmill
 *   mpirun -n 4 comm_mpi            our shared memory against MPI
 *   KM_COMM=mpi mpirun -n 4 comm_mpi   our engine over MPI against MPI
 */
#include <kernelmill/c_api.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(call)                                          \
  do {                                                         \
    if ((call) != KM_SUCCESS) {                                \
      char text[512] = "";                                     \
      uint64_t bytes_needed;                                   \
      km_last_error_message(text, sizeof text, &bytes_needed); \
      fprintf(stderr, "%s: %s\n", #call, text);                \
      exit(1);                                                 \
    }                                                          \
  } while (0)

enum { MOST_ROUNDS = 400 };

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* times, int count) {
  qsort(times, (size_t)count, sizeof *times, compare);
  return times[count / 2];
}

static void measure(km_comm comm, km_stream stream, km_context context, uint64_t bytes,
                    int rounds) {
  static double ours[MOST_ROUNDS], theirs[MOST_ROUNDS];
  const uint64_t count = bytes / 4;
  km_slice slices[2];
  km_slice_info info[2] = {{.struct_size = sizeof *info}, {.struct_size = sizeof *info}};
  km_array in, out;
  float *send, *receive;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(km_slice_create(context, count, 4, KM_SLICE_ZEROED, &slices[i]));
    REQUIRE(km_slice_info_get(slices[i], &info[i]));
  }
  send = (float*)info[0].address; /* a CPU device's memory is the host's */
  receive = (float*)info[1].address;
  for (uint64_t i = 0; i < count; ++i) send[i] = (float)(rank + 1);
  memset(&in, 0, sizeof in);
  in.slice = slices[0];
  out = in;
  out.slice = slices[1];
  for (int i = -2; i < rounds; ++i) { /* two rounds to warm up */
    double begin;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    REQUIRE(km_comm_all_reduce(comm, stream, &in, &out, count, KM_ELEMENT_TYPE_F32,
                               KM_COMM_REDUCTION_SUM, NULL));
    REQUIRE(km_stream_synchronize(stream));
    if (i >= 0) ours[i] = MPI_Wtime() - begin;
    if (receive[count - 1] != (float)(ranks * (ranks + 1) / 2)) exit(2);
    receive[count - 1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    MPI_Allreduce(send, receive, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (i >= 0) theirs[i] = MPI_Wtime() - begin;
    if (receive[count - 1] != (float)(ranks * (ranks + 1) / 2)) exit(3);
    receive[count - 1] = 0;
  }
  if (rank == 0) {
    const double a = median(ours, rounds) * 1e6, b = median(theirs, rounds) * 1e6;
    printf("%d ranks, %llu bytes: ours %.1f us, MPI %.1f us: MPI's time is %.2f times ours\n",
           ranks, (unsigned long long)bytes, a, b, b / a);
  }
  for (int i = 0; i < 2; ++i) REQUIRE(km_slice_destroy(slices[i]));
}

int main(int argc, char** argv) {
  int level, rank, ranks;
  km_device device;
  km_context context;
  km_stream stream;
  km_comm_id id;
  km_comm comm;
  km_comm_info info = {.struct_size = sizeof info};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(km_device_open("cpu", &device));
  REQUIRE(km_context_create(device, &context));
  REQUIRE(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
  if (rank == 0) REQUIRE(km_comm_id_create(context, &id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  REQUIRE(km_comm_create(context, &id, (uint32_t)ranks, (uint32_t)rank, &comm));
  REQUIRE(km_comm_info_get(comm, &info));
  if (rank == 0) printf("%s\n", info.reason);
  measure(comm, stream, context, 8, MOST_ROUNDS);
  measure(comm, stream, context, 64 << 20, 7);
  REQUIRE(km_comm_destroy(comm));
  REQUIRE(km_stream_destroy(stream));
  REQUIRE(km_context_destroy(context));
  REQUIRE(km_device_destroy(device));
  MPI_Finalize();
  return 0;
}
