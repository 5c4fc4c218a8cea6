// The search for NVRTC and its headers, in made-up folders.
#include "compile/find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/arch/constants.h"
#include "base/process/dylib.h"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FindNvrtc : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "km_find_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    unsetenv("KM_CUDA_INCLUDE");
  }
  void TearDown() override {
    unsetenv("KM_CUDA_INCLUDE");
    fs::remove_all(root_);
  }

  std::string file(const std::string& path) {
    const fs::path full = root_ / path;
    fs::create_directories(full.parent_path());
    std::ofstream(full) << "x";
    return full.string();
  }
  std::string at(const std::string& path) const { return (root_ / path).string(); }

  static std::vector<std::string> canonical(const std::vector<std::string>& paths) {
    std::vector<std::string> result;
    for (const std::string& path : paths) result.push_back(fs::canonical(path).string());
    return result;
  }
  static std::vector<std::string> found(km::NvrtcSurroundings surroundings) {
    surroundings.use_loader_path = false;
    return canonical(km::search_nvrtc(surroundings).candidates);
  }

  fs::path root_;
};

TEST_F(FindNvrtc, NothingFoundLeavesOnlyTheLoaderPath) {
  km::NvrtcSurroundings none;
  EXPECT_THAT(found(none), IsEmpty());
  const km::NvrtcSearch search = km::search_nvrtc(none);
  EXPECT_EQ(search.candidates.front(), "libnvrtc.so.13");
  EXPECT_THAT(search.looked_at, HasSubstr("KM_NVRTC (not set)"));
}

TEST_F(FindNvrtc, NamedFileIsTheOnlyCandidate) {
  const std::string library = file("libmine.so");
  km::NvrtcSurroundings surroundings;
  surroundings.km_nvrtc = library;
  surroundings.toolkits = {at("toolkit")};
  file("toolkit/lib64/libnvrtc.so.12");
  EXPECT_THAT(km::search_nvrtc(surroundings).candidates, ElementsAre(library));
}

TEST_F(FindNvrtc, NamedFileThatIsMissingIsSaidAndNothingElseTried) {
  km::NvrtcSurroundings surroundings;
  surroundings.km_nvrtc = at("nowhere/libnvrtc.so");
  surroundings.toolkits = {at("toolkit")};
  file("toolkit/lib64/libnvrtc.so.12");
  const km::NvrtcSearch search = km::search_nvrtc(surroundings);
  EXPECT_THAT(search.candidates, IsEmpty());
  EXPECT_THAT(search.looked_at, HasSubstr("no such file"));
}

TEST_F(FindNvrtc, NamedFolderInEveryLayout) {
  int number = 0;
  for (const char* layout :
       {"libnvrtc.so.13", "lib/libnvrtc.so.12", "lib64/libnvrtc.so.11.2",
        "targets/" KM_TOOLKIT_FOLDER "/lib/libnvrtc.so.13", "nvidia/cu13/lib/libnvrtc.so.13",
        "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
        "lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13"}) {
    const std::string folder = "case_" + std::to_string(number++);
    const std::string library = file(folder + "/" + layout);
    km::NvrtcSurroundings surroundings;
    surroundings.km_nvrtc = at(folder);
    EXPECT_THAT(found(surroundings), ElementsAre(library)) << layout;
  }
}

TEST_F(FindNvrtc, TheEnvironmentThatTheMessageMakesIsFound) {
  const std::string home_before = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "/";
  for (const char* variable : {"HOME", "XDG_DATA_HOME"}) {
    const std::string home = at(variable);
    const std::string data = variable == std::string("HOME") ? home + "/.local/share" : home;
    unsetenv("XDG_DATA_HOME");
    setenv(variable, home.c_str(), 1);
    const km::NvrtcSurroundings surroundings = km::nvrtc_surroundings();
    EXPECT_THAT(surroundings.python_prefixes, testing::Contains(data + "/kernelmill"));
    EXPECT_THAT(surroundings.data_folders, testing::Contains(data + "/kernelmill"));
  }
  unsetenv("XDG_DATA_HOME");
  setenv("HOME", home_before.c_str(), 1);
}

TEST_F(FindNvrtc, TheFolderThatSetupFillsIsFoundBeforeVirtualEnvironments) {
  const std::string brought = file("data/nvrtc/nvidia/cu13/lib/libnvrtc.so.13");
  const std::string other = file("env/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  km::NvrtcSurroundings surroundings;
  surroundings.data_folders = {at("data")};
  surroundings.python_prefixes = {at("env")};
  EXPECT_THAT(found(surroundings), ElementsAre(brought, other));
}

TEST_F(FindNvrtc, TheWheelsBesideOurOwnWheelAreFound) {
  const std::string library =
      file("env/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  km::NvrtcSurroundings surroundings;
  surroundings.code_folders = {at("env/lib/python3.9/site-packages/kernelmill/lib")};
  EXPECT_THAT(found(surroundings), ElementsAre(library));
  surroundings.code_folders = {at("env/lib/python3.9/other/kernelmill/lib")};
  EXPECT_THAT(found(surroundings), IsEmpty());
}

TEST_F(FindNvrtc, TheWheelsBesidePackagesThatAreLoadedAreFound) {
  const std::string library =
      file("env/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  const fs::path extension = root_ / "env/lib/python3.9/site-packages/other.libs/lib/extension.so";
  fs::create_directories(extension.parent_path());
  fs::copy_file(km::Dylib::open("libutil.so.1")->path(), extension);
  EXPECT_THAT(km::nvrtc_surroundings().package_folders, IsEmpty());
  ASSERT_TRUE(km::Dylib::open(extension.string()));
  km::NvrtcSurroundings surroundings;
  surroundings.package_folders = km::nvrtc_surroundings().package_folders;
  EXPECT_THAT(found(surroundings), ElementsAre(library));
}

TEST_F(FindNvrtc, TheVirtualEnvironmentOfAPythonThatIsCalledByItsPathIsFound) {
  file("env/pyvenv.cfg");
  std::string python = file("env/bin/python"), plain = file("other/bin/python");
  char* const name = program_invocation_name;
  program_invocation_name = python.data();
  EXPECT_EQ(km::nvrtc_surroundings().python_prefixes.front(), at("env/"));
  program_invocation_name = plain.data();
  EXPECT_NE(km::nvrtc_surroundings().python_prefixes.front(), at("other/"));
  program_invocation_name = name;
}

TEST_F(FindNvrtc, FolderWithoutNvrtcIsSaid) {
  km::NvrtcSurroundings surroundings;
  surroundings.km_nvrtc = root_.string();
  EXPECT_THAT(km::search_nvrtc(surroundings).looked_at, HasSubstr("without libnvrtc.so"));
}

TEST_F(FindNvrtc, CheckoutAboveTheLibrary) {
  const std::string library = file(".deps/nvidia/cu13/lib/libnvrtc.so.13");
  fs::create_directories(at("build/release/stage/lib"));
  km::NvrtcSurroundings surroundings;
  surroundings.code_folders = {at("build/release/stage/lib")};
  EXPECT_THAT(found(surroundings), ElementsAre(library));
  fs::create_directories(at("a/b/c/d/e"));
  surroundings.code_folders = {at("a/b/c/d/e")};
  EXPECT_THAT(found(surroundings), IsEmpty()) << "too far above";
}

TEST_F(FindNvrtc, NewestFirstAndBuiltinsNever) {
  const std::string old_one = file("toolkit/lib64/libnvrtc.so.11.2");
  const std::string new_one = file("toolkit/lib64/libnvrtc.so.13");
  file("toolkit/lib64/libnvrtc-builtins.so.13.0");
  file("toolkit/lib64/libnvrtc.alt.so.13");
  km::NvrtcSurroundings surroundings;
  surroundings.toolkits = {at("toolkit")};
  EXPECT_THAT(found(surroundings), ElementsAre(new_one, old_one));
}

TEST_F(FindNvrtc, WheelsBeforeToolkits) {
  const std::string wheel =
      file("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  const std::string toolkit = file("toolkit/lib64/libnvrtc.so.12");
  km::NvrtcSurroundings surroundings;
  surroundings.python_prefixes = {at("venv")};
  surroundings.toolkits = {at("toolkit")};
  EXPECT_THAT(found(surroundings), ElementsAre(wheel, toolkit));
}

TEST_F(FindNvrtc, FolderNamesArePlainText) {
  const std::string library = file("odd [name]*/lib/libnvrtc.so.13");
  km::NvrtcSurroundings surroundings;
  surroundings.km_nvrtc = at("odd [name]*");
  EXPECT_THAT(found(surroundings), ElementsAre(library));
}

TEST_F(FindNvrtc, HeadersOfAWheelWithCccl) {
  const std::string library = file("nvidia/cu13/lib/libnvrtc.so.13");
  file("nvidia/cu13/include/cuda_runtime.h");
  file("nvidia/cu13/include/cccl/cuda/std/version");
  EXPECT_THAT(km::cuda_include_dirs(library),
              ElementsAre(at("nvidia/cu13/include"), at("nvidia/cu13/include/cccl")));
}

TEST_F(FindNvrtc, HeadersOfTheSeparateWheels) {
  const std::string library = file("nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  file("nvidia/cuda_runtime/include/cuda_runtime.h");
  EXPECT_THAT(km::cuda_include_dirs(library), ElementsAre(at("nvidia/cuda_runtime/include")));
}

TEST_F(FindNvrtc, HeadersNamedByTheUserComeFirst) {
  const std::string library = file("toolkit/lib64/libnvrtc.so.12");
  file("toolkit/include/cuda_fp16.h");
  setenv("KM_CUDA_INCLUDE", ":/first:/second:", 1);
  EXPECT_THAT(km::cuda_include_dirs(library),
              ElementsAre("/first", "/second", at("toolkit/include")));
}

TEST_F(FindNvrtc, FoldersWithoutCudaHeadersAreNotIncluded) {
  const std::string library = file("toolkit/lib64/libnvrtc.so.12");
  file("toolkit/include/stdio.h");
  EXPECT_THAT(km::cuda_include_dirs(library), IsEmpty());
}

}  // namespace
