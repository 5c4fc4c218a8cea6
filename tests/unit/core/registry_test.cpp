#include "backend/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backend/loader.h"
#include "backends/null/null.h"
#include "core/error/status.h"
#include "core/error/thread_error.h"
#include "core/module/source_file.h"
#include "unit/core/fake_device.h"

namespace km::test {
namespace {

using ::testing::HasSubstr;

TEST(Loader, MissingPluginsAreNamedWithTheirPath) {
  setenv("KM_PLUGIN_DIR", "/nowhere", 1);
  const Result<const kmb_backend*> table = load_plugin("cpu");
  unsetenv("KM_PLUGIN_DIR");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().status, KM_ERROR_BACKEND_UNAVAILABLE);
  EXPECT_THAT(table.error().message, HasSubstr("there is no /nowhere/libkernelmill-cpu.so"));
}

TEST(Loader, WhatIsNoPluginIsRefused) {
  const std::string folder = ::testing::TempDir() + "km_plugin_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/libkernelmill-cpu.so") << "no library";
  setenv("KM_PLUGIN_DIR", folder.c_str(), 1);
  const Result<const kmb_backend*> table = load_plugin("cpu");
  unsetenv("KM_PLUGIN_DIR");
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().status, KM_ERROR_BACKEND_UNAVAILABLE);
  EXPECT_THAT(table.error().message, HasSubstr("backend 'cpu' cannot be loaded"));
}

TEST(Loader, TablesOfOtherBuildsAreRefused) {
  kmb_backend out;
  kmb_backend table = fake_backend();
  EXPECT_TRUE(check_table(table, &out));
  table.build_id = "another";
  EXPECT_EQ(check_table(table, &out).error().status, KM_ERROR_BUILD_MISMATCH);
  table = fake_backend();
  table.abi_major = 2;
  EXPECT_EQ(check_table(table, &out).error().status, KM_ERROR_BUILD_MISMATCH);
  table = fake_backend();
  table.launch = nullptr;
  EXPECT_THAT(check_table(table, &out).error().message, HasSubstr("lacks entries"));
  table = fake_backend();
  table.size = KMB_REQUIRED_SIZE;  // an older plugin without the optional entries
  EXPECT_TRUE(check_table(table, &out));
  EXPECT_EQ(out.stream_ticket, nullptr);
  table.size = KMB_REQUIRED_SIZE - 8;
  EXPECT_FALSE(check_table(table, &out));
}

TEST(Registry, FailuresAreRemembered) {
  static int tries = 0;
  static kmb_backend broken = fake_backend();
  broken.name = "broken";
  broken.initialize = [](const kmb_host*, kmb_error* error) -> km_status {
    ++tries;
    std::snprintf(error->message, sizeof error->message, "no such hardware");
    return KM_ERROR_BACKEND_UNAVAILABLE;
  };
  Registry registry;
  registry.add_builtin(broken);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(registry.get("broken").error().message, "no such hardware");
  }
  EXPECT_EQ(tries, 1);
  EXPECT_THAT(registry.get("cuda").error().message,
              HasSubstr("there is no backend 'cuda'; this build has: broken"));
}

TEST(Registry, SomeBackendsAreForThoseWhoNameThem) {
  Registry registry;
  registry.add_plugin("one");
  registry.add_plugin("other", true);
  EXPECT_FALSE(registry.is_by_name_only(0));
  EXPECT_TRUE(registry.is_by_name_only(1));
  EXPECT_THAT(registry.get("third").error().message, HasSubstr("this build has: one, other"));
}

TEST(Registry, NullBackendOpensAndSaysWhatItIs) {
  Registry registry;
  registry.add_builtin(null_backend());
  const Result<const kmb_backend*> table = registry.get("null");
  ASSERT_TRUE(table) << table.error().message;
  kmb_device* device = nullptr;
  kmb_error error{};
  EXPECT_EQ((*table)->device_open(0, &device, &error), KM_SUCCESS);
  kmb_context* context = nullptr;
  EXPECT_EQ((*table)->context_create(device, &context, &error), KM_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(error.message, HasSubstr("runs nothing"));
  (*table)->device_close(device);
}

class DeviceTest : public FakeDeviceTest {};

TEST_F(DeviceTest, Uris) {
  EXPECT_STREQ((*Device::open("fake"))->info().uri, "fake:0");
  EXPECT_STREQ((*Device::open("fake:1"))->info().uri, "fake:1");
  EXPECT_EQ(Device::open("fake:2").error().status, KM_ERROR_NO_DEVICE);
  EXPECT_THAT(Device::open("fake:2").error().message, HasSubstr("backend 'fake' has 2"));
  for (const char* bad :
       {"", ":", ":0", "fake:", "fake:x", "fake:-1", "fake:1x", "fake:99999999999", "fake:0:0"}) {
    EXPECT_EQ(Device::open(bad).error().status, KM_ERROR_INVALID_ARGUMENT) << bad;
  }
  EXPECT_EQ(Device::open("metal").error().status, KM_ERROR_UNSUPPORTED_BACKEND);
  EXPECT_EQ(Device::open("steel").error().status, KM_ERROR_BACKEND_UNAVAILABLE);
  EXPECT_EQ(*device_count("fake"), 2u);
  EXPECT_GE(*device_count(""), 2u);
}

TEST_F(DeviceTest, AutoTakesWhatTheEnvironmentNames) {
  setenv("KM_DEVICE", "fake:1", 1);
  EXPECT_STREQ((*Device::open("auto"))->info().uri, "fake:1");
  setenv("KM_DEVICE", "nonsense", 1);
  EXPECT_FALSE(Device::open("auto"));
  unsetenv("KM_DEVICE");
}

TEST(StatusText, EveryStatusHasItsWords) {
  for (const km_status status : {KM_SUCCESS, KM_TIMEOUT, KM_ERROR_INTERNAL, KM_ERROR_FORKED,
                                 KM_ERROR_BUILD_MISMATCH, KM_ERROR_LAUNCH_FAILED}) {
    const StatusText* text = status_text(status);
    ASSERT_NE(text, nullptr);
    EXPECT_EQ(std::string(text->name).substr(0, 3), "KM_");
    EXPECT_EQ(std::string(text->description).back(), '.');
    EXPECT_EQ(std::string(text->recovery).back(), '.');
  }
  EXPECT_EQ(status_text(99), nullptr);
}

TEST(ThreadError, LongTextsAreCutBetweenCharacters) {
  std::string text(4000, 'a');
  for (int i = 0; i < 1000; ++i) text += "\xC3\xA4";
  set_thread_error("km_call", KM_ERROR_IO, text, 3);
  const std::string_view kept = thread_error_message();
  EXPECT_EQ(kept.substr(0, 9), "km_call: ");
  EXPECT_LT(kept.size(), text.size());
  EXPECT_EQ(kept.substr(kept.size() - 2), "\xC3\xA4");
  EXPECT_EQ(thread_error_native_code(), 3);
}

TEST(SourceFile, ContentDecidesWhereTheNameDoesNot) {
  EXPECT_TRUE(looks_like_ptx(".version 8.0\n"));
  EXPECT_TRUE(looks_like_ptx("// .cu\n/* * / */ \n\t.version 8.0"));
  for (const char* other : {"", "  ", "// .version", "/* .version", "int main() { .version }"}) {
    EXPECT_FALSE(looks_like_ptx(other)) << other;
  }
}

TEST(SourceFile, FailuresAreTold) {
  EXPECT_EQ(read_source_file("/nowhere/a.ptx").error().status, KM_ERROR_NOT_FOUND);
  EXPECT_EQ(read_source_file("/").error().status, KM_ERROR_IO);
  const std::string path = ::testing::TempDir() + "km_image_" + std::to_string(getpid());
  std::ofstream(path) << "\x7F"
                         "ELF...";
  const Result<SourceFile> image = read_source_file(path);
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->is_image && image->is_object && !image->is_ptx);
  std::ofstream(path) << ".version 8.0";
  const Result<SourceFile> file = read_source_file(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->is_ptx);
  EXPECT_EQ(file->name, std::filesystem::path(path).filename());
}

}  // namespace
}  // namespace km::test
