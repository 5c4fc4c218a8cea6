/* The tests of the CUDA libraries share this. Include it first; it brings CMocka. Operands lie in
 * managed memory, so that tests read and write them like their own. */
#ifndef KM_TESTS_CUBLAS_SUPPORT_H
#define KM_TESTS_CUBLAS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <complex.h>

#include "cublas.h"

#define EXPECT(expected, call) expect_status((expected), (call), #call, __FILE__, __LINE__)
#define OK(call) EXPECT(0, call)
void expect_status(int expected, int given, const char* call, const char* file, int line);

/* The handle of the test that runs: made before it, destroyed after it. */
extern cublasHandle_t handle;
int set_up(void** state);
int tear_down(void** state);
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* Managed memory, freed after the test. */
void* managed(size_t size_bytes);
void wait_for_device(void);

/* Numbers of each type as complex ones: 'S', 'D', 'C' or 'Z'. */
typedef double complex number;
size_t size_of(char type);
number get(char type, const void* data, long index);
void put(char type, void* data, long index, number value);
/* `count` numbers between -1 and 1, the same ones in each run; of real types without an imaginary
 * part. */
void* fill(char type, long count);
/* op(A)(row, column) of a matrix by columns; op: OP_N, OP_T, OP_C. */
number element(char type, const void* a, long leading, int op, long row, long column);
/* Fails unless both are the same but for a few roundings of the type. */
#define NEAR(type, expected, given) expect_near((type), (expected), (given), __FILE__, __LINE__)
void expect_near(char type, number expected, number given, const char* file, int line);

/* f16 and bf16 as bits. */
uint16_t half_of(float value);
float half_to_float(uint16_t bits);
uint16_t bfloat_of(float value);
float bfloat_to_float(uint16_t bits);

#define FOR_TYPES(X) X(S, float) X(D, double) X(C, c32) X(Z, c64)

#endif
