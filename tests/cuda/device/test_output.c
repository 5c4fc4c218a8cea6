/* What kernels print: printf on standard output, failed assertions on standard error, a line each.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* check(n): prints its number in the block and asserts that it is below n. */
static const char ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,"
    " .param .b64 s);\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
    ".global .align 1 .b8 message[6] = {105, 32, 60, 32, 110, 0};\n"            /* i < n */
    ".global .align 1 .b8 file[9] = {99, 104, 101, 99, 107, 46, 99, 117, 0};\n" /* check.cu */
    ".global .align 1 .b8 function[16] = {118, 111, 105, 100, 32, 99, 104, 101, 99, 107, 40, 105,"
    " 110, 116, 41, 0};\n"                                 /* void check(int) */
    ".global .align 1 .b8 format[4] = {37, 117, 10, 0};\n" /* %u\n */
    ".visible .entry check(.param .u32 n) {\n"
    "  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<6>; .local .align 8 .b8 value[8];\n"
    "  ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
    "  st.local.u32 [value], %r2; mov.u64 %d1, value; cvta.local.u64 %d1, %d1;\n"
    "  mov.u64 %d2, format; cvta.global.u64 %d2, %d2;\n"
    "  { .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %d2;\n"
    "    st.param.b64 [v], %d1; call.uni (r), vprintf, (f, v); }\n"
    "  setp.lt.u32 %p, %r2, %r1; @%p bra good;\n"
    "  mov.u64 %d3, message; cvta.global.u64 %d3, %d3; mov.u64 %d4, file;\n"
    "  cvta.global.u64 %d4, %d4; mov.u64 %d5, function; cvta.global.u64 %d5, %d5;\n"
    "  { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 w; .param .b64 s;\n"
    "    st.param.b64 [m], %d3; st.param.b64 [f], %d4; st.param.b32 [l], 12;\n"
    "    st.param.b64 [w], %d5; st.param.b64 [s], 1; call.uni __assertfail, (m, f, l, w, s); }\n"
    "good: ret;\n}\n";

/* Lets a descriptor end in a file, and gives what came in between. */
typedef struct capture {
  int descriptor, before;
  FILE* file;
} capture;

static capture begin_capture(int descriptor) {
  capture made = {descriptor, dup(descriptor), tmpfile()};
  assert_true(made.before >= 0);
  assert_non_null(made.file);
  fflush(NULL);
  assert_true(dup2(fileno(made.file), descriptor) >= 0);
  return made;
}

static void end_capture(capture* c, char* text, size_t room) {
  fflush(NULL);
  dup2(c->before, c->descriptor);
  close(c->before);
  rewind(c->file);
  text[fread(text, 1, room - 1, c->file)] = '\0';
  fclose(c->file);
}

static CUresult run(unsigned blocks, unsigned threads, unsigned n, char* out, char* err,
                    size_t room) {
  CUmodule module = NULL;
  CUfunction function = NULL;
  void* params[] = {&n};
  OK(cuModuleLoadData(&module, ptx));
  OK(cuModuleGetFunction(&function, module, "check"));
  capture output = begin_capture(STDOUT_FILENO), error = begin_capture(STDERR_FILENO);
  const CUresult queued =
      cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
  const CUresult done = cuCtxSynchronize();
  end_capture(&error, err, room);
  end_capture(&output, out, room);
  OK(queued);
  return done;
}

static unsigned count(const char* text, const char* what) {
  unsigned found = 0;
  for (const char* at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) ++found;
  return found;
}

static void printed_text_goes_to_standard_output(void** state) {
  static char out[4096], err[4096];
  (void)state;
  OK(run(1, 4, 4, out, err, sizeof out));
  assert_string_equal(out, "0\n1\n2\n3\n");
  assert_string_equal(err, "");
}

static void each_failed_thread_has_its_line_on_standard_error(void** state) {
  static char out[65536], err[65536];
  char line[128];
  (void)state;
  EXPECT(CUDA_ERROR_ASSERT, run(2, 70, 62, out, err, sizeof out));
  assert_int_equal(count(err, "\n"), 16);
  for (unsigned block = 0; block < 2; ++block) {
    for (unsigned thread = 62; thread < 70; ++thread) {
      snprintf(line, sizeof line,
               "check.cu:12: void check(int): block: [%u,0,0], thread: [%u,0,0] Assertion `i < n` "
               "failed.\n",
               block, thread);
      assert_int_equal(count(err, line), 1);
    }
  }
  assert_int_equal(count(out, "\n"), 140); /* what was printed before is there */
  EXPECT(CUDA_ERROR_ASSERT, cuCtxSynchronize());
  EXPECT(CUDA_ERROR_ASSERT, cuMemAlloc(&(CUdeviceptr){0}, 16));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(printed_text_goes_to_standard_output),
      TEST(each_failed_thread_has_its_line_on_standard_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
