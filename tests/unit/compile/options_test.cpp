#include "compile/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::ElementsAre;

TEST(ChooseArchitecture, NearestFromBelow) {
  EXPECT_EQ(km::choose_architecture(90, {75, 80, 90, 100}), 90);
  EXPECT_EQ(km::choose_architecture(90, {52, 60, 86}), 86);
  EXPECT_EQ(km::choose_architecture(90, {100, 86, 52}), 86);
}

TEST(ChooseArchitecture, OldestWhereAllAreAbove) {
  EXPECT_EQ(km::choose_architecture(53, {75, 80, 90}), 75);
}

TEST(ChooseArchitecture, WhatIsWantedWhereNvrtcCannotSay) {
  EXPECT_EQ(km::choose_architecture(90, {}), 90);
}

TEST(ParseComputeCapability, BothSpellings) {
  EXPECT_EQ(*km::parse_compute_capability("9.0"), 90);
  EXPECT_EQ(*km::parse_compute_capability("86"), 86);
  EXPECT_EQ(*km::parse_compute_capability("12.1"), 121);
}

TEST(ParseComputeCapability, AnythingElseIsAnError) {
  for (const char* text : {"", "9", "9.", ".9", "9.00", "nine", "9.0x", "-9.0", "99999"}) {
    const auto result = km::parse_compute_capability(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().status, KM_ERROR_INVALID_ARGUMENT);
  }
}

km::NvrtcInfo nvrtc_of(int major, std::vector<std::string> include_dirs) {
  km::NvrtcInfo info;
  info.major = major;
  info.include_dirs = std::move(include_dirs);
  return info;
}

TEST(NvrtcOptions, UsersOptionsAndFoldersComeFirst) {
  km::CompileInput input;
  input.options = {"-Ilocal", "-DN=4"};
  EXPECT_THAT(km::nvrtc_options(input, "compute_90", nvrtc_of(13, {"/cuda/include"})),
              ElementsAre("-Ilocal", "-DN=4", "--gpu-architecture=compute_90",
                          "--include-path=/cuda/include"));
}

TEST(NvrtcOptions, LinesAreAskedForOnce) {
  for (const char* option : {"-lineinfo", "--generate-line-info", "-G", "--device-debug"}) {
    std::vector<std::string> options = {option};
    km::add_line_info(&options);
    EXPECT_THAT(options, ElementsAre(option));
  }
  std::vector<std::string> options = {"-DN=4"};
  km::add_line_info(&options);
  EXPECT_THAT(options, ElementsAre("-DN=4", "--generate-line-info"));
}

TEST(NvrtcOptions, UsersArchitectureHolds) {
  for (const char* option : {"-arch=sm_80", "--gpu-architecture=compute_80"}) {
    km::CompileInput input;
    input.options = {option};
    EXPECT_THAT(km::nvrtc_options(input, "compute_90", nvrtc_of(12, {})), ElementsAre(option));
  }
}

TEST(NvrtcOptions, OldNvrtcCompilesTheSameLanguage) {
  km::CompileInput input;
  EXPECT_THAT(km::nvrtc_options(input, "compute_90", nvrtc_of(11, {})),
              ElementsAre("--gpu-architecture=compute_90", "--std=c++17"));
  for (const char* option : {"-std=c++14", "--std=c++14"}) {
    input.options = {option};
    EXPECT_THAT(km::nvrtc_options(input, "compute_90", nvrtc_of(11, {})),
                ElementsAre(option, "--gpu-architecture=compute_90"));
  }
}

}  // namespace
