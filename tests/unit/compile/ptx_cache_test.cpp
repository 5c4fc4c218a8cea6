#include "compile/ptx_cache.h"

#include <gtest/gtest.h>

namespace km::test {
namespace {

class PtxKey : public testing::Test {
 protected:
  PtxKey() {
    info_.path = "/proc/self/exe";  // any file
    info_.major = 12;
    input_.source = "a";
    input_.name = "b";
  }
  std::optional<std::string> key() const { return ptx_key(input_, options_, info_); }
  /// The key is another one after the change.
  template <class Change>
  void expect_other(Change&& change) {
    const std::optional<std::string> before = key();
    change();
    ASSERT_TRUE(before && key());
    EXPECT_NE(*before, *key());
  }

  CompileInput input_;
  std::vector<std::string> options_{"--gpu-architecture=compute_90"};
  NvrtcInfo info_;
};

TEST_F(PtxKey, HoldsEverythingThatChangesTheResult) {
  EXPECT_EQ(key(), key());
  expect_other([&] { input_.source = "c"; });
  expect_other([&] { input_.name = "d"; });
  expect_other([&] { options_.push_back("-DA=1"); });
  expect_other([&] { input_.headers.push_back({"h", "text"}); });
  expect_other([&] { input_.headers[0].source = "other"; });
  expect_other([&] { input_.name_expressions.push_back("k<int>"); });
  expect_other([&] { info_.minor = 1; });
}

TEST_F(PtxKey, PartsDoNotRunIntoEachOther) {
  input_.headers = {{"h", "ab"}};
  expect_other([&] { input_.headers = {{"ha", "b"}}; });
  options_ = {"-DA", "-DB"};
  expect_other([&] { options_ = {"-DA-DB"}; });
  input_.headers.clear();
  input_.name_expressions = {"x", "y"};
  expect_other([&] { input_.headers = {{"x", "y"}}, input_.name_expressions.clear(); });
}

TEST_F(PtxKey, ThereIsNoneWhereFilesOrTimesCount) {
  for (const char* option : {"--pre-include=x.h", "-include=x.h", "--pch", "--create-pch=x",
                             "--time=file", "--fdevice-time-trace=x", "-DNOW=__TIME__", "@file"}) {
    options_ = {option};
    EXPECT_FALSE(key()) << option;
  }
  for (const char* option : {"--include-path=/x", "-I/x", "-lineinfo"}) {
    options_ = {option};
    EXPECT_TRUE(key()) << option;
  }
  info_.path = "/no/such/library.so";
  EXPECT_FALSE(key());
}

TEST_F(PtxKey, IncludeFoldersStandInOneWordOrInTwo) {
  input_.source = "#include <no_such_file.h>";
  options_ = {"-I", "/one"};
  expect_other([&] { options_ = {"-I", "/two"}; });
}

}  // namespace
}  // namespace km::test
