// The headers of C and C++ for device code: when they are given, and advice on whole programs.
#include "compile/device_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(DeviceHeaders, AreGivenForNamesThatNvrtcLacks) {
  EXPECT_TRUE(
      km::lacks_device_header("a.cu(1): catastrophic error: cannot open source file "
                              "\"stdio.h\"\n  #include <stdio.h>"));
  EXPECT_FALSE(km::lacks_device_header("cannot open source file \"mine.h\""));
  EXPECT_FALSE(km::lacks_device_header("cannot open source file \"stdio.h"));
  EXPECT_FALSE(km::lacks_device_header("expected a \";\""));
  EXPECT_FALSE(km::lacks_device_header(""));
}

TEST(DeviceHeaders, AHeaderOfTheProgramComesFirst) {
  km::CompileInput input;
  input.headers.push_back({"stdint.h", "mine"});
  const km::CompileInput with = km::with_device_headers(input, {});
  int count = 0;
  for (const km::CompileHeader& header : with.headers) {
    if (header.name != "stdint.h") continue;
    EXPECT_EQ(header.source, "mine");
    ++count;
  }
  EXPECT_EQ(count, 1);
  EXPECT_GT(with.headers.size(), 25u);
}

TEST(DeviceHeaders, AWholeProgramGetsAdvice) {
  const char* const host_code = "error: host functions are not allowed in JIT mode";
  for (const char* source :
       {"int main() {}", "int\nmain (int argc, char** argv) {}", "void f() { k<<<1, 2>>>(); }"}) {
    EXPECT_THAT(km::whole_program_advice(source, host_code), HasSubstr("whole program")) << source;
  }
  EXPECT_THAT(km::whole_program_advice("k<<<1, 2>>>();", host_code), HasSubstr("<<<>>>"));
  for (const char* source :
       {"", "// int main()\n", "/* k<<<1, 2>>>() */", "const char* s = \"int main(<<<\";",
        "int domain(int);", "print main(", "__device__ int remain(int);", "int mainly();",
        "/* not closed: int main()", "\"not closed: int main()"}) {
    EXPECT_THAT(km::whole_program_advice(source, host_code), IsEmpty()) << source;
  }
}

TEST(DeviceHeaders, LaunchesOfKernelsAreNotBlamedForOtherErrors) {
  const char* const source = "__global__ void k() { child<<<1, 1>>>(); }";
  EXPECT_THAT(km::whole_program_advice(source, "k.cu(1): error: expected a \";\""), IsEmpty());
  EXPECT_THAT(km::whole_program_advice(
                  source,
                  "error: device-side kernel launch could not be processed as the required runtime "
                  "APIs are not declared"),
              HasSubstr("-rdc=true"));
}

}  // namespace
