#include "base/file/disk_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "base/hash.h"

namespace km {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest() {
    std::string name = (fs::temp_directory_path() / "km_cache_XXXXXX").string();
    root_ = mkdtemp(name.data());
    folder_ = (root_ / "made" / "here").string();
  }
  ~DiskCacheTest() override { fs::remove_all(root_); }

  std::unique_ptr<DiskCache> open(uint64_t limit_bytes = 1 << 20) {
    auto cache = DiskCache::open(folder_, limit_bytes);
    if (cache) return std::unique_ptr<DiskCache>(*cache);
    ADD_FAILURE() << cache.error().message;
    return nullptr;
  }
  fs::path path_of(const std::string& key) const { return fs::path(folder_) / hash128(key).text(); }
  size_t file_count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path root_;
  std::string folder_;
};

TEST_F(DiskCacheTest, KeepsWhatItIsGiven) {
  const auto cache = open();
  EXPECT_EQ(cache->find("key"), std::nullopt);
  cache->keep("key", Bytes{1, 2, 3});
  cache->keep("empty", Bytes{});
  EXPECT_EQ(cache->find("key"), (Bytes{1, 2, 3}));
  EXPECT_EQ(cache->find("empty"), Bytes{});
  cache->keep("key", Bytes{4});
  EXPECT_EQ(cache->find("key"), Bytes{4});
  EXPECT_EQ(open()->find("key"), Bytes{4});  // another process would see the same
  struct stat about{};
  ASSERT_EQ(stat(folder_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0700u);
}

TEST_F(DiskCacheTest, IgnoresWhatIsDamaged) {
  const auto cache = open();
  cache->keep("key", Bytes(1000, 7));
  const auto size = static_cast<int64_t>(fs::file_size(path_of("key")));
  for (int64_t at = 0; at < size; at += 13) {
    std::fstream file(path_of("key"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char old = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(old ^ 1));
    file.flush();
    EXPECT_EQ(cache->find("key"), std::nullopt) << "bit flipped at " << at;
    file.seekp(at);
    file.put(old);
  }
  EXPECT_EQ(cache->find("key"), Bytes(1000, 7));
  for (const int64_t shorter : {size - 1, size / 2, int64_t{10}, int64_t{0}}) {
    fs::resize_file(path_of("key"), static_cast<uintmax_t>(shorter));
    EXPECT_EQ(cache->find("key"), std::nullopt) << "cut off at " << shorter;
  }
  cache->keep("key", Bytes{5});
  EXPECT_EQ(cache->find("key"), Bytes{5});
}

TEST_F(DiskCacheTest, IgnoresWhatOthersCouldHaveWritten) {
  const auto cache = open();
  cache->keep("key", Bytes{1});
  ASSERT_EQ(chmod(path_of("key").c_str(), 0666), 0);
  EXPECT_EQ(cache->find("key"), std::nullopt);
  ASSERT_EQ(chmod(path_of("key").c_str(), 0600), 0);
  EXPECT_EQ(cache->find("key"), Bytes{1});
  fs::rename(path_of("key"), root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", path_of("key"));
  EXPECT_EQ(cache->find("key"), std::nullopt);
}

TEST_F(DiskCacheTest, RefusesAFolderOthersCanWriteTo) {
  open();
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  const auto cache = DiskCache::open(folder_, 1 << 20);
  ASSERT_FALSE(cache);
  EXPECT_NE(cache.error().message.find(folder_), std::string::npos);
  EXPECT_FALSE(DiskCache::open("relative", 1 << 20));
  EXPECT_FALSE(DiskCache::open("/proc/none", 1 << 20));
}

TEST_F(DiskCacheTest, DropsTheOldestAndNothingOfOthers) {
  const auto cache = open(100'000);
  fs::create_directories(folder_);
  std::ofstream(fs::path(folder_) / "notes.txt") << std::string(500'000, 'x');
  for (int i = 0; i < 40; ++i) {
    const std::string key = std::to_string(i);
    cache->keep(key, Bytes(10'000, 1));
    timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};  // used long ago, one after the other
    utimensat(AT_FDCWD, path_of(key).c_str(), times, 0);
  }
  uint64_t total = 0;
  for (const auto& each : fs::directory_iterator(folder_)) {
    if (each.path().filename() != "notes.txt") total += each.file_size();
  }
  EXPECT_LE(total, 125'000u);  // looked at whenever an eighth has come
  EXPECT_EQ(cache->find("0"), std::nullopt);
  EXPECT_EQ(cache->find("39"), Bytes(10'000, 1));
  EXPECT_TRUE(fs::exists(fs::path(folder_) / "notes.txt"));
}

TEST_F(DiskCacheTest, SharedByThreadsAndProcesses) {
  const auto content = [](int key) { return Bytes(20'000, static_cast<uint8_t>(key)); };
  const auto work = [&](DiskCache& cache) {
    bool right = true;
    for (int round = 0; round < 200; ++round) {
      const int key = round % 7;
      const auto found = cache.find(std::to_string(key));
      right = right && (!found || *found == content(key));
      cache.keep(std::to_string(key), content(key));
    }
    return right;
  };
  const auto cache = open();
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(work(*open()) ? 0 : 1);
    children.push_back(child);
  }
  std::thread other([&] { EXPECT_TRUE(work(*cache)); });
  EXPECT_TRUE(work(*cache));
  other.join();
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

/// A process killed while it writes leaves nothing that counts.
TEST_F(DiskCacheTest, SurvivesKilledWriters) {
  open();
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      const auto cache = open();
      for (int i = 0;; ++i) cache->keep(std::to_string(i % 5), Bytes(100'000, 9));
    }
    usleep(3000 + round * 500);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (int i = 0; i < 5; ++i) {
      const auto found = open()->find(std::to_string(i));
      EXPECT_TRUE(!found || *found == Bytes(100'000, 9));
    }
  }
}

}  // namespace
}  // namespace km
