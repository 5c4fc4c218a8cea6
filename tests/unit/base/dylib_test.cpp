#include "base/process/dylib.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace km {
namespace {

pid_t parent_of_ours() { return 4711; }

std::vector<ImportOverride> overrides() {
  return {{"no_such_function", nullptr},
          {"getppid", reinterpret_cast<const void*>(&parent_of_ours)}};
}

pid_t parent_seen_by(const Dylib& library) {
  return library.function<pid_t (*)()>("parent_when_loaded")();
}

// The sanitizers refuse what puts the overrides first.
#ifndef KM_TEST_SANITIZED
TEST(Dylib, ConstructorsCallWhatOverridesTheirImports) {
  const Result<Dylib> library = Dylib::open_overriding(KM_TEST_LOADED_LIBRARY, overrides());
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(parent_seen_by(*library), 4711);
  EXPECT_EQ(library->path(), KM_TEST_LOADED_LIBRARY);
  // It is the library that everybody gets under its path.
  const Result<Dylib> again = Dylib::open(KM_TEST_LOADED_LIBRARY);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(parent_seen_by(*again), 4711);
}

TEST(Dylib, ALibraryThatIsThereKeepsItsImports) {
  const Result<Dylib> library = Dylib::open(KM_TEST_LOADED_LIBRARY_TOO);
  ASSERT_TRUE(library) << library.error().message;
  const Result<Dylib> again = Dylib::open_overriding(KM_TEST_LOADED_LIBRARY_TOO, overrides());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(parent_seen_by(*again), getppid());
}

#endif

TEST(Dylib, OverridesOfNoLibraryAreAnError) {
  const Result<Dylib> missing = Dylib::open_overriding("/no/such/library.so", overrides());
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/no/such/library.so"), std::string::npos);
  EXPECT_FALSE(Dylib::open_overriding("/", overrides()));
  EXPECT_FALSE(Dylib::open_overriding("/$LIB/library.so", overrides()));
}

TEST(Dylib, FindsSymbolsAndSaysWhatIsMissing) {
  const Result<Dylib> library = Dylib::open("libc.so.6");
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->symbol("no_such_symbol"), nullptr);
  EXPECT_EQ(library->function<int (*)(int)>("abs")(-3), 3);
  EXPECT_NE(library->path().find("libc.so.6"), std::string::npos);
  const Result<Dylib> missing = Dylib::open("/nowhere/libnothing.so");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("libnothing.so"), std::string::npos);
}

TEST(Dylib, FolderOfCode) {
  const std::string own = folder_of_code(reinterpret_cast<const void*>(&parent_of_ours));
  EXPECT_EQ(own.front(), '/');
  EXPECT_EQ(folder_of_code(nullptr), "");
}

}  // namespace
}  // namespace km
