#include "base/log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/log_settings.h"

namespace km {
namespace {

// Settings are read once per process, so each case runs in a child of its own.
std::string lines_with(const char* setting) {
  const std::string path = ::testing::TempDir() + "km_log_" + std::to_string(getpid());
  const pid_t child = fork();
  if (child == 0) {
    setenv("KM_LOG", setting, 1);
    setenv("KM_LOG_FILE", path.c_str(), 1);
    log(LogLevel::kError, "cpu", "%d", 1);
    log(LogLevel::kWarn, "cpu", "two");
    log(LogLevel::kInfo, "cpu", "three");
    log(LogLevel::kDebug, "cuda", "four");
    log(LogLevel::kWarn, "cuda", "a\x1b[31m");
    if (const std::string line = unknown_log_words(); !line.empty()) {
      log(LogLevel::kWarn, "env", "%s", line.c_str());
    }
    log(LogLevel::kWarn, "cpu", "%s", std::string(5000, 'x').c_str());
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path.c_str());
  return text.str();
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(Log, LevelsAndAreas) {
  const std::string usual = lines_with("");
  EXPECT_TRUE(has(usual, "kernelmill: error: cpu: 1\nkernelmill: warning: cpu: two\n"));
  EXPECT_FALSE(has(usual, "three"));
  EXPECT_EQ(lines_with("off"), "");
  EXPECT_TRUE(has(lines_with("debug"), "kernelmill: debug: cuda: four\n"));
  const std::string narrowed = lines_with("debug,cuda");
  EXPECT_TRUE(has(narrowed, "four"));
  EXPECT_TRUE(has(narrowed, "error: cpu: 1"));  // errors are shown in any case
  EXPECT_FALSE(has(narrowed, "two"));
}

TEST(Log, WordsThatMeanNothingAreNamedAndHideNothing) {
  const std::string text = lines_with("rubbish,debug,\x1b[0m");
  EXPECT_TRUE(has(text, "warning: env: KM_LOG has 'rubbish', '\\x1b[0m', which means nothing"));
  EXPECT_TRUE(has(text, "off, error, warn, info, debug"));
  EXPECT_TRUE(has(text, "blas, cache, "));
  EXPECT_TRUE(has(text, "debug: cuda: four"));
  EXPECT_FALSE(has(lines_with("debug,cpu"), "means nothing"));
}

TEST(Log, ControlCharactersAreEscapes) {
  EXPECT_TRUE(has(lines_with("warn"), "warning: cuda: a\\x1b[31m\n"));
}

/// Standard error of a child that logs to `file`.
std::string complaint_about(const std::string& file) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    setenv("KM_LOG", "warn", 1);
    setenv("KM_LOG_FILE", file.c_str(), 1);
    log(LogLevel::kWarn, "cpu", "two");
    _exit(0);
  }
  close(ends[1]);
  std::string text(4096, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = read(ends[0], text.data() + size, text.size() - size);
    if (count <= 0) break;
    size += static_cast<size_t>(count);
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  text.resize(size);
  return text;
}

TEST(Log, AFileThatCannotBeWrittenIsSaidAndNotWaitedFor) {
  const std::string pipe = ::testing::TempDir() + "km_log_pipe_" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& file : {pipe, std::string("/nowhere/at/all")}) {
    const std::string text = complaint_about(file);
    EXPECT_TRUE(has(text, ("KM_LOG_FILE: cannot write '" + file + "'").c_str())) << text;
    EXPECT_TRUE(has(text, "warning: cpu: two")) << text;
  }
  unlink(pipe.c_str());
}

TEST(Log, LongLinesAreCutAtALineEnd) {
  const std::string text = lines_with("warn");
  EXPECT_EQ(text.back(), '\n');
  EXPECT_LT(text.size(), 2200u);
}

int g_sunk_level = 0;
std::string g_sunk_text;

TEST(Log, SinkReplacesTheFile) {
  set_log_sink([](int32_t level, const char* area, const char* text) {
    g_sunk_level = level;
    g_sunk_text = std::string(area) + "/" + text;
  });
  log_text(1, "area", "text");
  set_log_sink(nullptr);
  EXPECT_EQ(g_sunk_level, 1);
  EXPECT_EQ(g_sunk_text, "area/text");
}

}  // namespace
}  // namespace km
