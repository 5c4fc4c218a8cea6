/* The scripted MPI, as tests know it. */
#ifndef KM_TESTS_SUPPORT_MPI_LIBRARY_H
#define KM_TESTS_SUPPORT_MPI_LIBRARY_H

enum {
  FAKE_MPI_BYTES = 32 << 20, /* the memory of all processes, mostly never touched */
  FAKE_MPI_ERROR = 17        /* what a call gives that is made to fail */
};

#endif
