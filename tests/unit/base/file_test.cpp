// The reader and the writer of files: on regular files, links, pipes, devices, and where there is
// no room.
#include "base/file/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "base/file/file_writer.h"

namespace km {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/km_file_XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::string get(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }
  mode_t mode(const std::string& name) const {
    struct stat about{};
    return lstat(path(name).c_str(), &about) == 0 ? about.st_mode : 0;
  }
  /// A device node of our own: tests leave those of the machine alone. False without the right.
  bool make_device(const std::string& name, unsigned minor) const {
    return mknod(path(name).c_str(), S_IFCHR | 0666, makedev(1, minor)) == 0;
  }

  std::string folder_;
};

using Reader = FileTest;
using Writer = FileTest;

void expect_refused(const Status& status, const std::string& reason) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().status, KM_ERROR_IO);
  EXPECT_NE(status.error().message.find(reason), std::string::npos) << status.error().message;
}

template <class T>
void expect_refused(const Result<T>& result, const std::string& reason) {
  ASSERT_FALSE(result);
  expect_refused(Status(result.error()), reason);
}

TEST_F(Reader, ReadsToTheEnd) {
  const std::string text(300000, 'x');
  put("a", text);
  EXPECT_EQ(*read_file(path("a")), text);
  put("empty", "");
  EXPECT_EQ(*read_file(path("empty")), "");
  // Files of /proc have size 0 and content.
  EXPECT_NE(read_file("/proc/self/status")->find("Name:"), std::string::npos);
}

TEST_F(Reader, NamesWhatIsNotThere) {
  const Result<std::string> none = read_file(path("none"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().status, KM_ERROR_NOT_FOUND);
  EXPECT_EQ(none.error().native_code, ENOENT);
}

TEST_F(Reader, RefusesPipesFoldersAndDevicesAtOnce) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  ASSERT_EQ(symlink("pipe", path("link").c_str()), 0);
  expect_refused(read_file(path("pipe")), "it is a pipe");
  expect_refused(read_file(path("link")), "it is a pipe");
  expect_refused(read_file(folder_), "it is a folder");
  expect_refused(read_file("/dev/zero"), "it is a device");
  expect_refused(open_file(path("pipe")), "it is a pipe");
  const File folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY));
  expect_refused(open_file_in(folder.get(), "pipe"), "it is a pipe");
}

TEST_F(Reader, HasALimit) {
  put("a", "12345678");
  EXPECT_EQ(*read_file(path("a"), 8), "12345678");
  expect_refused(read_file(path("a"), 7), "more than the 7 bytes");
  // A file that says it is empty is stopped at the limit too.
  expect_refused(read_file("/proc/self/status", 16), "more than the 16 bytes");
  ASSERT_EQ(truncate(path("a").c_str(), off_t{1} << 40), 0);
  expect_refused(read_file(path("a")), "more than the 256 MiB");
}

TEST_F(Reader, EntriesOfAFolderAreNoLinks) {
  put("a", "text");
  ASSERT_EQ(symlink("a", path("link").c_str()), 0);
  const File folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY));
  EXPECT_TRUE(open_file_in(folder.get(), "a"));
  EXPECT_FALSE(open_file_in(folder.get(), "link"));
}

TEST_F(Writer, ReplacesAFileOnlyWhenTheNewOneIsWhole) {
  put("a", "old");
  Result<FileWriter> writer = FileWriter::open(path("a"));
  ASSERT_TRUE(writer);
  writer->write(std::string(200000, 'n'));
  EXPECT_EQ(get("a"), "old");
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(get("a"), std::string(200000, 'n'));
  EXPECT_EQ(names(), std::set<std::string>{"a"});
}

TEST_F(Writer, LeavesNothingWithoutCommit) {
  put("a", "old");
  {
    Result<FileWriter> writer = FileWriter::open(path("a"));
    ASSERT_TRUE(writer);
    writer->write(std::string(200000, 'n'));
    Result<FileWriter> other = FileWriter::open(path("b"));
    ASSERT_TRUE(other);
    EXPECT_EQ(names().size(), 3u);
  }
  EXPECT_EQ(get("a"), "old");
  EXPECT_EQ(names(), std::set<std::string>{"a"});
}

TEST_F(Writer, PrintsTextOfAnyLength) {
  Result<FileWriter> writer = FileWriter::open(path("a"));
  ASSERT_TRUE(writer);
  const std::string longer(5000, 'y');
  writer->print("%d %s\n", 7, longer.c_str());
  writer->write("end");
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(get("a"), "7 " + longer + "\nend");
}

TEST_F(Writer, KeepsTheModeOfTheOldFile) {
  for (const mode_t wanted : {0600, 0640, 0666, 0755}) {
    put("a", "old");
    ASSERT_EQ(chmod(path("a").c_str(), wanted), 0);
    ASSERT_TRUE(write_file(path("a"), "new"));
    EXPECT_EQ(mode("a"), S_IFREG | wanted);
    EXPECT_EQ(get("a"), "new");
  }
  const mode_t before = umask(027);
  ASSERT_TRUE(write_file(path("b"), "new"));
  umask(before);
  EXPECT_EQ(mode("b"), S_IFREG | mode_t{0640});
}

TEST_F(Writer, KeepsTheOwnerOfTheOldFile) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  put("a", "old");
  ASSERT_EQ(chown(path("a").c_str(), 1234, 1235), 0);
  ASSERT_TRUE(write_file(path("a"), "new"));
  struct stat about{};
  ASSERT_EQ(stat(path("a").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 1234u);
  EXPECT_EQ(about.st_gid, 1235u);
}

TEST_F(Writer, WritesWhatALinkNames) {
  ASSERT_EQ(mkdir(path("sub").c_str(), 0700), 0);
  put("sub/target", "old");
  ASSERT_EQ(symlink("sub/target", path("link").c_str()), 0);
  ASSERT_EQ(symlink("link", path("second").c_str()), 0);
  ASSERT_TRUE(write_file(path("second"), "new"));
  EXPECT_EQ(get("sub/target"), "new");
  EXPECT_TRUE(S_ISLNK(mode("link")) && S_ISLNK(mode("second")));
  EXPECT_TRUE(S_ISREG(mode("sub/target")));
}

TEST_F(Writer, MakesTheTargetOfADanglingLink) {
  ASSERT_EQ(symlink("target", path("link").c_str()), 0);
  ASSERT_TRUE(write_file(path("link"), "new"));
  EXPECT_TRUE(S_ISLNK(mode("link")));
  EXPECT_EQ(get("target"), "new");
  ASSERT_EQ(symlink((folder_ + "/absolute").c_str(), path("link2").c_str()), 0);
  ASSERT_TRUE(write_file(path("link2"), "new"));
  EXPECT_EQ(get("absolute"), "new");
}

TEST_F(Writer, RefusesLinksWithoutEndAndFolders) {
  ASSERT_EQ(symlink("b", path("a").c_str()), 0);
  ASSERT_EQ(symlink("a", path("b").c_str()), 0);
  EXPECT_FALSE(write_file(path("a"), "new"));
  expect_refused(write_file(folder_, "new"), "it is a folder");
  EXPECT_FALSE(write_file(path("none/a"), "new"));
  EXPECT_FALSE(write_file(path("none/"), "new"));
  EXPECT_FALSE(write_file("", "new"));
  EXPECT_EQ(names(), (std::set<std::string>{"a", "b"}));
}

TEST_F(Writer, PipesStayPipes) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  expect_refused(write_file(path("pipe"), "new"), "nobody reads");
  EXPECT_TRUE(S_ISFIFO(mode("pipe")));
  // More than the pipe holds at once.
  const std::string content(1 << 20, 'p');
  const File reader(open(path("pipe").c_str(), O_RDWR));  // which sees no end of the pipe
  std::thread writing([&] { EXPECT_TRUE(write_file(path("pipe"), content)); });
  std::string got(content.size(), '\0');
  EXPECT_TRUE(reader.read_all(got.data(), got.size()));
  writing.join();
  EXPECT_EQ(got, content);
  EXPECT_TRUE(S_ISFIFO(mode("pipe")));
}

TEST_F(Writer, DevicesStayDevices) {
  if (!make_device("null", 3) || !make_device("full", 7)) GTEST_SKIP() << "no right to make nodes";
  if (!File(open(path("null").c_str(), O_WRONLY))) GTEST_SKIP() << "nodes do not work here";
  EXPECT_TRUE(write_file(path("null"), "new"));
  EXPECT_TRUE(S_ISCHR(mode("null")));
  const Status full = write_file(path("full"), "new");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().native_code, ENOSPC);
  EXPECT_TRUE(S_ISCHR(mode("full")));
}

TEST_F(Writer, FilesWithoutANameAreWrittenThrough) {
  Result<File> memory = create_memory_file("test");
  ASSERT_TRUE(memory && memory->write_all("a longer text", 13));
  ASSERT_TRUE(write_file("/proc/self/fd/" + std::to_string(memory->get()), "new"));
  EXPECT_EQ(lseek(memory->get(), 0, SEEK_END), 3);
}

TEST_F(Writer, OpenFilesStayTheSame) {
  put("a", "old");
  const File open_already(open(path("a").c_str(), O_RDWR));
  struct stat before{}, after{};
  ASSERT_EQ(stat(path("a").c_str(), &before), 0);
  ASSERT_EQ(symlink(("/proc/self/fd/" + std::to_string(open_already.get())).c_str(),
                    path("stdout").c_str()),
            0);
  for (const std::string& name :
       {path("stdout"), "/dev/fd/" + std::to_string(open_already.get())}) {
    ASSERT_TRUE(write_file(name, "new"));
    ASSERT_EQ(stat(path("a").c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino);
    EXPECT_EQ(get("a"), "new");
  }
}

/// Lowers the limit on the size of files while it lives.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit low{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
  }
  ~SizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(Writer, ASizeLimitIsAnError) {
  put("a", "old");
  const SizeLimit limit(100000);  // SIGXFSZ would end this process
  const Status status = write_file(path("a"), std::string(1 << 20, 'n'));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().native_code, EFBIG);
  EXPECT_EQ(get("a"), "old");
  EXPECT_EQ(names(), std::set<std::string>{"a"});
  Result<File> memory = create_memory_file("test");
  ASSERT_TRUE(memory);
  EXPECT_FALSE(resize_file(memory->get(), 1 << 20));
  EXPECT_EQ(errno, EFBIG);
}

TEST_F(Writer, APipeWithoutReadersIsAnErrorAndNoSignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const File to(ends[1]);
  close(ends[0]);
  EXPECT_FALSE(to.write_all("x", 1));
  EXPECT_EQ(errno, EPIPE);
}

TEST_F(Writer, SignalsThatWaitedBeforeStay) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const File to(ends[1]);
  close(ends[0]);
  sigset_t signals, before, waiting;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  pthread_kill(pthread_self(), SIGPIPE);
  EXPECT_FALSE(to.write_all("x", 1));
  sigpending(&waiting);
  EXPECT_EQ(sigismember(&waiting, SIGPIPE), 1);
  const timespec now{};
  EXPECT_EQ(sigtimedwait(&signals, nullptr, &now), SIGPIPE);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(Writer, WhatAppearsMeanwhileIsNotReplaced) {
  Result<FileWriter> writer = FileWriter::open(path("a"));
  ASSERT_TRUE(writer);
  ASSERT_EQ(mkfifo(path("a").c_str(), 0600), 0);
  expect_refused(writer->commit(), "become a pipe");
  EXPECT_TRUE(S_ISFIFO(mode("a")));
}

TEST_F(Writer, TemporaryFilesCannotBeForeseen) {
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    Result<FileWriter> writer = FileWriter::open(path("a"));
    ASSERT_TRUE(writer);
    const std::set<std::string> now = names();
    ASSERT_EQ(now.size(), 1u);
    EXPECT_EQ(now.begin()->find(kTemporaryPrefix), 0u);
    EXPECT_EQ(now.begin()->size(), kTemporaryPrefix.size() + 32);
    EXPECT_TRUE(seen.insert(*now.begin()).second);
  }
}

TEST_F(Writer, ChecksWithoutAnEffect) {
  put("a", "old");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(check_writable(path("a")));
  EXPECT_TRUE(check_writable(path("new")));
  EXPECT_TRUE(check_writable(path("pipe")));
  expect_refused(check_writable(folder_), "it is a folder");
  expect_refused(check_writable(path("none/a")), "in '" + path("none") + "'");
  EXPECT_EQ(get("a"), "old");
  EXPECT_EQ(names(), (std::set<std::string>{"a", "pipe"}));
}

TEST_F(Writer, RespectsFilesThatMayNotBeWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write all files";
  put("a", "old");
  ASSERT_EQ(chmod(path("a").c_str(), 0400), 0);
  EXPECT_FALSE(write_file(path("a"), "new"));
  ASSERT_EQ(chmod(folder_.c_str(), 0500), 0);
  expect_refused(write_file(path("b"), "new"), "no new file can be made in '" + folder_ + "'");
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  EXPECT_EQ(get("a"), "old");
}

TEST_F(Writer, NewFilesForOthersReplaceOnlyOwnFiles) {
  put("dump", "old");
  const Result<File> file = create_file(path("dump"));
  ASSERT_TRUE(file && file->write_all("new", 3));
  EXPECT_EQ(get("dump"), "new");
  put("target", "old");
  ASSERT_EQ(symlink("target", path("link").c_str()), 0);
  expect_refused(create_file(path("link")), "symbolic link");
  EXPECT_EQ(get("target"), "old");
}

TEST_F(Writer, LinesGoToTheEndOfALog) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(open_to_append(path("pipe")));
  for (const char* line : {"one\n", "two\n"}) {
    const Result<File> log = open_to_append(path("log"));
    ASSERT_TRUE(log && log->write_all(line, 4));
  }
  EXPECT_EQ(get("log"), "one\ntwo\n");
  EXPECT_EQ(mode("log"), S_IFREG | mode_t{0600});
}

}  // namespace
}  // namespace km
