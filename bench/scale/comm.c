/* All-reductions of our communicators, and MPI's own in the same processes and buffers, whose
 * rounds take turns; without MPI, plain copies of the long ones' inputs to their outputs. Then the
 * start of communicators. Each line of the output is the median of one size or step.
 * bench/driver/comm.py runs it:
 *   comm threads 4               ranks of one process
 *   comm process 4 0 FILE        rank 0 of 4 processes, which pass their id by the file
 *   mpirun -n 4 comm_mpi         built by mpicc with -DKM_BENCH_MPI: our shared memory, and MPI
 *   KM_COMM=mpi mpirun -n 4 comm_mpi     our engine over MPI, and MPI
 */
#include <kernelmill/c_api.h>
#include <kernelmill/helpers.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef KM_BENCH_MPI
#include <mpi.h>
#endif

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

enum { MOST_RANKS = 16, MOST_ROUNDS = 50, WARM_UP = 2, STARTS = 15, MOST_COPIERS = 64 };

typedef struct rank {
  km_device device;
  km_context context;
  km_stream stream;
  km_comm comm;
  km_slice slices[2];
  km_array in, out;
  float *send, *receive; /* a CPU device's memory is the host's */
} rank;

/* The ranks of this process. */
static rank own[MOST_RANKS];
static int count, first, total;

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}
static double median(double* times, int rounds) {
  qsort(times, (size_t)rounds, sizeof *times, compare);
  return times[rounds / 2];
}
static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void open_rank(rank* each, int number) {
  char uri[16];
  snprintf(uri, sizeof uri, "cpu:%d", number);
  REQUIRE(km_device_open(uri, &each->device));
  REQUIRE(km_context_create(each->device, &each->context));
  REQUIRE(km_stream_create(each->context, KM_STREAM_DEFAULT, 0, &each->stream));
}
static void close_rank(rank* each) {
  REQUIRE(km_comm_destroy(each->comm));
  REQUIRE(km_stream_destroy(each->stream));
  REQUIRE(km_context_destroy(each->context));
  REQUIRE(km_device_destroy(each->device));
}

static float* place(rank* each, int number, km_array* array, uint64_t elements) {
  km_slice_info info = {.struct_size = sizeof info};
  km_slice* const slice = &each->slices[number];
  REQUIRE(km_slice_create(each->context, elements, 4, KM_SLICE_ZEROED, slice));
  REQUIRE(km_slice_info_get(*slice, &info));
  *array = km_place(*slice, 0);
  return (float*)info.address;
}

static void all_reduce(uint64_t elements) {
  if (count > 1) REQUIRE(km_comm_group_begin());
  for (int i = 0; i < count; ++i) {
    REQUIRE(km_comm_all_reduce(own[i].comm, own[i].stream, &own[i].in, &own[i].out, elements,
                               KM_ELEMENT_TYPE_F32, KM_COMM_REDUCTION_SUM, NULL));
  }
  if (count > 1) REQUIRE(km_comm_group_end());
  for (int i = 0; i < count; ++i) REQUIRE(km_stream_synchronize(own[i].stream));
}

static void check(uint64_t elements) {
  for (int i = 0; i < count; ++i) {
    if (own[i].receive[elements - 1] != (float)(total * (total + 1) / 2)) exit(2);
    own[i].receive[elements - 1] = 0;
  }
}

static void report(const char* contestant, uint64_t bytes, double us) {
  if (first != 0) return;
  printf("{\"contestant\": \"%s\", \"ranks\": %d, \"bytes\": %llu, \"us\": %.2f}\n", contestant,
         total, (unsigned long long)bytes, us);
  fflush(stdout);
}

static void report_step(const char* contestant, const char* step, double us) {
  if (first != 0) return;
  printf("{\"contestant\": \"%s\", \"ranks\": %d, \"step\": \"%s\", \"us\": %.2f}\n", contestant,
         total, step, us);
  fflush(stdout);
}

#ifndef KM_BENCH_MPI
static const uint64_t LEAST_COPIED_BYTES = 16 << 20; /* shorter ones stay in caches */

/* One of the threads that copy the inputs of this process's ranks to their outputs. */
typedef struct copier {
  uint64_t first_byte, bytes;
  pthread_t thread;
} copier;

static void* copy_part(void* argument) {
  const copier* const own_part = argument;
  for (int i = 0; i < count; ++i) {
    memcpy((char*)own[i].receive + own_part->first_byte,
           (const char*)own[i].send + own_part->first_byte, own_part->bytes);
  }
  return NULL;
}

/* The least that an all-reduction does to memory: it reads each input, and writes each output. A
 * process copies for its rank, a process with all ranks by a thread for each processor. */
static void copy_all(uint64_t bytes) {
  static copier copiers[MOST_COPIERS];
  const long processors = count == 1 ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
  const int threads = processors < MOST_COPIERS ? (int)processors : MOST_COPIERS;
  for (int i = 0; i < threads; ++i) {
    const uint64_t begin = bytes * (uint64_t)i / (uint64_t)threads;
    copiers[i].first_byte = begin;
    copiers[i].bytes = bytes * (uint64_t)(i + 1) / (uint64_t)threads - begin;
    if (i != 0 && pthread_create(&copiers[i].thread, NULL, copy_part, &copiers[i]) != 0) exit(4);
  }
  copy_part(&copiers[0]);
  for (int i = 1; i < threads; ++i) pthread_join(copiers[i].thread, NULL);
  if (count == 1) all_reduce(2); /* until all ranks are there */
}

/* Ranks that cannot reach each other's memory have each byte go into memory that they share, and
 * out of it. */
static void copy_in_and_out(uint64_t bytes) {
  static char shared[512 << 10];
  for (uint64_t done = 0; done < bytes; done += sizeof shared) {
    const uint64_t left = bytes - done, size = left < sizeof shared ? left : sizeof shared;
    memcpy(shared, (const char*)own->send + done, size);
    memcpy((char*)own->receive + done, shared, size);
  }
  all_reduce(2);
}

static double staged[MOST_ROUNDS];
/* Other processes may copy before this one goes on from where all have met. */
static double time_copies(uint64_t bytes, void (*copy)(uint64_t bytes)) {
  const double begin = now_us();
  all_reduce(2);
  copy(bytes);
  return now_us() - begin;
}
#endif

static void measure(const char* contestant, uint64_t bytes) {
  static double ours[MOST_ROUNDS], theirs[MOST_ROUNDS];
  const uint64_t elements = bytes / 4;
  const int rounds = bytes < 1 << 20 ? MOST_ROUNDS : bytes < 16 << 20 ? 15 : 5;
  for (int i = 0; i < count; ++i) {
    own[i].send = place(&own[i], 0, &own[i].in, elements);
    own[i].receive = place(&own[i], 1, &own[i].out, elements);
    for (uint64_t k = 0; k < elements; ++k) own[i].send[k] = (float)(first + i + 1);
  }
  for (int i = -WARM_UP; i < rounds; ++i) {
    double begin = now_us();
#ifdef KM_BENCH_MPI
    MPI_Barrier(MPI_COMM_WORLD);
    begin = now_us();
    MPI_Allreduce(own->send, own->receive, (int)elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (i >= 0) theirs[i] = now_us() - begin;
    check(elements);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = now_us();
#endif
    all_reduce(elements);
    if (i >= 0) ours[i] = now_us() - begin;
    check(elements);
#ifndef KM_BENCH_MPI
    if (bytes < LEAST_COPIED_BYTES) continue;
    theirs[i < 0 ? 0 : i] = time_copies(bytes, copy_all);
    if (count == 1) staged[i < 0 ? 0 : i] = time_copies(bytes, copy_in_and_out);
#endif
  }
  report(contestant, bytes, median(ours, rounds));
#ifdef KM_BENCH_MPI
  report("mpi", bytes, median(theirs, rounds));
#else
  if (bytes >= LEAST_COPIED_BYTES) {
    report(count == 1 ? "copies by processes" : "copies by threads", bytes, median(theirs, rounds));
    if (count == 1) report("copies in and out", bytes, median(staged, rounds));
  }
#endif
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 2; ++k) REQUIRE(km_slice_destroy(own[i].slices[k]));
  }
}

/* The rank that makes the id writes it to a file, where the others wait for it. */
static void pass_id(km_comm_id* id, const char* path) {
  char fresh[4096];
  FILE* file;
  snprintf(fresh, sizeof fresh, "%s.new", path);
  if (first != 0) {
    while ((file = fopen(path, "rb")) == NULL) usleep(1000);
    if (fread(id, sizeof *id, 1, file) != 1) exit(3);
    fclose(file);
    return;
  }
  REQUIRE(km_comm_id_create(own->context, id));
  file = fopen(fresh, "wb");
  if (file == NULL || fwrite(id, sizeof *id, 1, file) != 1 || fclose(file) != 0 ||
      rename(fresh, path) != 0) {
    exit(3);
  }
}

static void join_threads(void) {
  km_context contexts[MOST_RANKS];
  km_comm comms[MOST_RANKS];
  for (int i = 0; i < count; ++i) {
    open_rank(&own[i], i);
    contexts[i] = own[i].context;
  }
  REQUIRE(km_comm_create_all(contexts, (uint64_t)count, comms));
  for (int i = 0; i < count; ++i) own[i].comm = comms[i];
}

static void join_process(const char* path) {
  km_comm_id id;
  open_rank(own, 0);
#ifdef KM_BENCH_MPI
  (void)pass_id;
  (void)path;
  if (first == 0) REQUIRE(km_comm_id_create(own->context, &id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
#else
  pass_id(&id, path);
#endif
  REQUIRE(km_comm_create(own->context, &id, (uint32_t)total, (uint32_t)first, &own->comm));
}

/* A communicator takes the place of the one before it, by which processes hear of its id. */
static void join_anew(void) {
  km_context contexts[MOST_RANKS];
  km_comm comms[MOST_RANKS];
  km_comm_id id;
  if (count == 1) {
    REQUIRE(km_comm_broadcast(own->comm, own->stream, &own->in, &own->out, sizeof id / 4,
                              KM_ELEMENT_TYPE_F32, 0));
    REQUIRE(km_stream_synchronize(own->stream));
    memcpy(&id, own->receive, sizeof id);
    REQUIRE(km_comm_create(own->context, &id, (uint32_t)total, (uint32_t)first, comms));
  } else {
    for (int i = 0; i < count; ++i) contexts[i] = own[i].context;
    REQUIRE(km_comm_create_all(contexts, (uint64_t)count, comms));
  }
  for (int i = 0; i < count; ++i) {
    REQUIRE(km_comm_destroy(own[i].comm));
    own[i].comm = comms[i];
  }
}

/* From ranks that are there to a communicator of them, and its first operation. */
static void measure_starts(const char* contestant) {
  static double joins[STARTS], operations[STARTS];
  for (int i = 0; i < count; ++i) {
    own[i].send = place(&own[i], 0, &own[i].in, sizeof(km_comm_id) / 4);
    own[i].receive = place(&own[i], 1, &own[i].out, sizeof(km_comm_id) / 4);
  }
  for (int i = 0; i < STARTS; ++i) {
    km_comm_id id;
    double begin;
    all_reduce(2);
    begin = now_us();
    if (first == 0 && count == 1) {
      REQUIRE(km_comm_id_create(own->context, &id));
      memcpy(own->send, &id, sizeof id);
    }
    join_anew();
    joins[i] = now_us() - begin;
    begin = now_us();
    all_reduce(2);
    operations[i] = now_us() - begin;
  }
  report_step(contestant, "join", median(joins, STARTS));
  report_step(contestant, "first operation", median(operations, STARTS));
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 2; ++k) REQUIRE(km_slice_destroy(own[i].slices[k]));
  }
}

int main(int argc, char** argv) {
  static const uint64_t sizes[] = {8, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};
  static const char* const names[] = {"", "threads", "shared_memory", "nccl", "over_mpi"};
  km_comm_info info = {.struct_size = sizeof info};
  double begin;
#ifdef KM_BENCH_MPI
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &first);
  MPI_Comm_size(MPI_COMM_WORLD, &total);
  count = 1;
  begin = now_us();
  join_process(NULL);
#else
  if (argc != 3 && argc != 5) return 64;
  total = atoi(argv[2]);
  if (total < 2 || total > MOST_RANKS) return 64;
  count = argc == 3 ? total : 1;
  first = argc == 3 ? 0 : atoi(argv[3]);
  begin = now_us();
  if (argc == 3) join_threads();
  if (argc == 5) join_process(argv[4]);
#endif
  begin = now_us() - begin;
  REQUIRE(km_comm_info_get(own->comm, &info));
  report_step(names[info.engine], "first join", begin);
  fprintf(stderr, "rank %d of %d: %s\n", first, total, info.reason);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) measure(names[info.engine], sizes[i]);
  measure_starts(names[info.engine]);
  for (int i = 0; i < count; ++i) close_rank(&own[i]);
#ifdef KM_BENCH_MPI
  MPI_Finalize();
#endif
  return 0;
}
