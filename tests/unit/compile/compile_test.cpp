// Compilations by the NVRTC that scripts/setup.sh installs.
#include "compile/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdlib>
#include <thread>

#include "base/arch/float_control.h"

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kSaxpy = R"(
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
})";

class Compile : public testing::Test {
 protected:
  void SetUp() override {
    const auto info = km::nvrtc_info();
    ASSERT_TRUE(info) << info.error().message;
  }

  km::Status compile(const std::string& source) {
    input_.source = source;
    return km::compile_cuda(input_, output_);
  }
  /// The error of a compilation that must fail.
  km::Error failure(const std::string& source) {
    km::Status status = compile(source);
    EXPECT_FALSE(status);
    EXPECT_THAT(output_.ptx, IsEmpty());
    return status ? km::Error{KM_SUCCESS, "", 0} : status.error();
  }

  km::CompileInput input_;
  km::CompileOutput output_;
};

TEST_F(Compile, KernelToPtx) {
  const auto status = compile(kSaxpy);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_THAT(output_.ptx, HasSubstr(".visible .entry saxpy("));
  EXPECT_THAT(output_.ptx, HasSubstr(".target sm_89"));
  EXPECT_EQ(output_.ptx.find('\0'), std::string::npos);
}

TEST_F(Compile, PtxNamesTheLinesOfTheSource) {
  input_.name = "some/kernel.cu";
  ASSERT_TRUE(compile(kSaxpy));
  EXPECT_THAT(output_.ptx, HasSubstr("\t.loc\t1 4 "));
  EXPECT_THAT(output_.ptx, HasSubstr(".file\t1 \"some/kernel.cu\""));  // not of one machine
  setenv("KM_LINE_INFO", "maybe", 1);
  const auto refused = compile(kSaxpy);
  setenv("KM_LINE_INFO", "0", 1);
  const auto plain = compile(kSaxpy);
  unsetenv("KM_LINE_INFO");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("KM_LINE_INFO is 'maybe'"));
  ASSERT_TRUE(plain);
  EXPECT_THAT(output_.ptx, Not(HasSubstr(".loc")));
}

TEST_F(Compile, ArchitectureOfTheInput) {
  input_.architecture = "compute_80";
  ASSERT_TRUE(compile(kSaxpy));
  EXPECT_THAT(output_.ptx, HasSubstr(".target sm_80"));
}

TEST_F(Compile, ArchitectureFollowsTheCpuDevice) {
  setenv("KM_CPU_CC", "8.6", 1);
  const auto compiled = compile(kSaxpy);
  setenv("KM_CPU_CC", "new", 1);
  const auto refused = compile(kSaxpy);
  unsetenv("KM_CPU_CC");
  EXPECT_TRUE(compiled);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Compile, ErrorsNameFileAndLine) {
  input_.name = "broken.cu";
  const km::Error error = failure("__global__ void k() {\n  undefined_name = 1;\n}");
  EXPECT_EQ(error.status, KM_ERROR_COMPILATION_FAILED);
  EXPECT_THAT(error.message, HasSubstr("broken.cu(2): error: identifier \"undefined_name\""));
  EXPECT_THAT(output_.log, HasSubstr("undefined_name"));
  EXPECT_EQ(error.native_code, 6);
}

TEST_F(Compile, LogAlsoOnSuccess) {
  ASSERT_TRUE(compile("__global__ void k(int* p) { int unused_one; *p = 1; }"));
  EXPECT_THAT(output_.log, HasSubstr("unused_one"));
}

TEST_F(Compile, DefinesAndStandard) {
  input_.options = {"-DN=42", "-std=c++20"};
  ASSERT_TRUE(compile("static_assert(N == 42 && __cplusplus == 202002L);"));
}

TEST_F(Compile, UnknownOptionIsTheCallersMistake) {
  input_.options = {"--no-such-option"};
  const km::Error error = failure(kSaxpy);
  EXPECT_EQ(error.status, KM_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("no-such-option"));
}

TEST_F(Compile, UnknownArchitectureListsThoseThatWork) {
  input_.architecture = "compute_1";
  const km::Error error = failure(kSaxpy);
  EXPECT_EQ(error.status, KM_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr(" compiles for "));
  EXPECT_THAT(error.message, HasSubstr(", 90"));
}

TEST_F(Compile, HeadersInMemory) {
  input_.headers = {{"scale.h", "#define SCALE 3"}};
  ASSERT_TRUE(compile("#include \"scale.h\"\n__global__ void k(int* p) { *p = SCALE; }"));
  EXPECT_THAT(output_.ptx, HasSubstr("3;"));
}

TEST_F(Compile, CudaHeadersAreFound) {
  ASSERT_TRUE(
      compile("#include <cuda_fp16.h>\n"
              "#include <cuda/std/array>\n"
              "#include <cooperative_groups.h>\n"
              "__global__ void k(__half* p) { *p = __half(1.0f); }"))
      << output_.log;
}

TEST_F(Compile, NameExpressions) {
  input_.name_expressions = {"scale<float>", "&scale<double>"};
  ASSERT_TRUE(compile("template <class T> __global__ void scale(T* p) { *p *= T(2); }"));
  ASSERT_EQ(output_.lowered_names.size(), 2u);
  EXPECT_EQ(output_.lowered_names[0].first, "scale<float>");
  for (const auto& [expression, name] : output_.lowered_names) {
    EXPECT_THAT(output_.ptx, HasSubstr(".entry " + name + "(")) << expression;
  }
  EXPECT_NE(output_.lowered_names[0].second, output_.lowered_names[1].second);
}

TEST_F(Compile, NameExpressionOfNothing) {
  input_.name_expressions = {"missing<int>"};
  const km::Error error = failure(kSaxpy);
  EXPECT_THAT(error.message, HasSubstr("missing"));
}

TEST_F(Compile, ZeroBytesAreRefused) {
  EXPECT_EQ(failure(std::string("int a;\0int b;", 13)).status, KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Compile, EmptySource) {
  ASSERT_TRUE(compile(""));
  EXPECT_THAT(output_.ptx, HasSubstr(".version"));
}

TEST_F(Compile, NoPtxIsAnError) {
  input_.options = {"-dlto"};
  EXPECT_EQ(failure(kSaxpy).status, KM_ERROR_INVALID_ARGUMENT);
}

std::string nested(int depth) {
  return "__global__ void k(int* p) { *p = " + std::string(depth, '(') + "1" +
         std::string(depth, ')') + "; }";
}

struct SmallStack {
  km::CompileInput input;
  bool ok = false;
};

void* compile_on_small_stack(void* argument) {
  auto* self = static_cast<SmallStack*>(argument);
  km::CompileOutput output;
  self->ok = static_cast<bool>(km::compile_cuda(self->input, output));
  return nullptr;
}

// On its caller's stack NVRTC overflows 512 KiB by 200 template levels alone.
TEST_F(Compile, DeepSourceOnASmallStack) {
  SmallStack small;
  small.input.source = nested(5000);
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{128} << 10), 0);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &attributes, compile_on_small_stack, &small), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_TRUE(small.ok);
}

TEST_F(Compile, FlushToZeroOfTheHostChangesNothing) {
  const std::string source =
      "__global__ void k(float* p) { const float tiny = 3e-39f; *p = tiny * 0.5f; }";
  ASSERT_TRUE(compile(source));
  const std::string expected = output_.ptx;
  const km::arch::FloatControl before = km::arch::float_control();
  const km::arch::FloatControl flushing = before | km::arch::kFlushSubnormals;
  km::arch::set_float_control(flushing);
  const bool ok = static_cast<bool>(compile(source));
  const km::arch::FloatControl after = km::arch::float_control();
  km::arch::set_float_control(before);
  ASSERT_TRUE(ok);
  EXPECT_EQ(after, flushing);
  EXPECT_EQ(output_.ptx, expected);
}

TEST_F(Compile, ManyThreads) {
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (size_t i = 0; i < good.size(); ++i) {
    threads.emplace_back([i, &good] {
      km::CompileInput input;
      input.options = {"-DN=" + std::to_string(1000 + i)};
      input.source = "__global__ void k(int* p) { *p = N; }";
      km::CompileOutput output;
      good[i] = km::compile_cuda(input, output) &&
                output.ptx.find(std::to_string(1000 + i)) != std::string::npos;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(good, testing::Each(1));
}

TEST(NvrtcInfo, SaysWhichAndWhere) {
  const auto info = km::nvrtc_info();
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_GE(info->major, 11);
  EXPECT_THAT(info->path, HasSubstr("libnvrtc.so"));
  EXPECT_THAT(info->include_dirs, Not(IsEmpty()));
  EXPECT_THAT(info->architectures, testing::Contains(90));
}

}  // namespace
