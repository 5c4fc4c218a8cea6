#include "base/process/processors.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace km::test {
namespace {

namespace fs = std::filesystem;

/// A tree like /sys/fs/cgroup in a temporary folder.
class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/km-cgroup-XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    root_ = pattern;
    files_.root = root_ + "/sys";
    files_.self = root_ + "/self";
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text << "\n";
  }
  std::string root_;
  CgroupFiles files_;
};

TEST_F(CgroupTest, VersionTwoTakesTheTightestGroup) {
  write("/self", "0::/a/b");
  write("/sys/a/b/cpu.max", "max 100000");
  write("/sys/a/cpu.max", "250000 100000");
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit(files_), 2.5);
  write("/sys/a/b/memory.max", "1000000");
  write("/sys/a/b/memory.current", "400000");
  write("/sys/a/b/memory.stat", "anon 1\ninactive_file 100000");
  write("/sys/a/memory.max", "max");
  write("/sys/a/memory.current", "5");
  EXPECT_EQ(cgroup_memory(files_).limit_bytes, 1000000u);
  EXPECT_EQ(cgroup_memory(files_).free_bytes, 700000u);
  // A group around it that has less left, with a limit that is larger.
  write("/sys/a/memory.max", "2000000");
  write("/sys/a/memory.current", "1900000");
  EXPECT_EQ(cgroup_memory(files_).limit_bytes, 1000000u);
  EXPECT_EQ(cgroup_memory(files_).free_bytes, 100000u);
}

TEST_F(CgroupTest, VersionOne) {
  write("/self", "5:memory:/m\n4:cpu,cpuacct:/c");
  write("/sys/cpu,cpuacct/c/cpu.cfs_quota_us", "150000");
  write("/sys/cpu,cpuacct/c/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit(files_), 1.5);
  write("/sys/memory/m/memory.limit_in_bytes", "9223372036854771712");
  write("/sys/memory/m/memory.usage_in_bytes", "5000");
  EXPECT_EQ(cgroup_memory(files_).limit_bytes, UINT64_MAX);
  EXPECT_EQ(cgroup_memory(files_).free_bytes, UINT64_MAX);
  write("/sys/memory/m/memory.limit_in_bytes", "8000");
  EXPECT_EQ(cgroup_memory(files_).limit_bytes, 8000u);
  EXPECT_EQ(cgroup_memory(files_).free_bytes, 3000u);
}

TEST_F(CgroupTest, NothingThereMeansNoLimit) {
  EXPECT_EQ(cgroup_cpu_limit(files_), 0);
  write("/self", "0::/gone\nnonsense\n::");
  EXPECT_EQ(cgroup_cpu_limit(files_), 0);
  EXPECT_EQ(cgroup_memory(files_).limit_bytes, UINT64_MAX);
}

TEST_F(CgroupTest, AffinityIsRespected) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  int first = allowed_cpus().front();
  CPU_SET(static_cast<size_t>(first), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(allowed_cpus(), std::vector<int>{first});
  EXPECT_EQ(usable_processors(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST_F(CgroupTest, ALimitOfTimeCountsAsProcessors) {
  const auto allowed = static_cast<uint32_t>(allowed_cpus().size());
  EXPECT_EQ(usable_processors(files_), allowed);
  write("/self", "0::/a");
  write("/sys/a/cpu.max", "100000 100000");
  EXPECT_EQ(usable_processors(files_), 1u);
  write("/sys/a/cpu.max", "1000 100000");
  EXPECT_EQ(usable_processors(files_), 1u);
  write("/sys/a/cpu.max", "150000 100000");
  EXPECT_EQ(usable_processors(files_), std::min(allowed, 2u));
}

}  // namespace
}  // namespace km::test
