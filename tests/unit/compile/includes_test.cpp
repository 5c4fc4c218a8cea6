#include "compile/includes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace km::test {
namespace {

using ::testing::HasSubstr;

std::optional<std::string> describe(const std::string& source,
                                    const std::vector<std::string>& folders = {}) {
  CompileInput input;
  input.source = source;
  input.name = "/nowhere/kernel.cu";
  return describe_includes(input, folders);
}

TEST(Includes, NothingIncludedIsAnEmptyText) {
  EXPECT_EQ(describe("__global__ void k() {}"), "");
  EXPECT_EQ(describe("#define A 1\n#if A\n#endif\n#pragma once\n#\n"), "");
}

TEST(Includes, AllPlacesWhereAFileMayLieAreNamed) {
  const std::optional<std::string> found = describe("  # include <a/b.h>\n", {"/x", "/y"});
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, "/x/a/b.h none\n/y/a/b.h none\n");
  EXPECT_EQ(describe("#include \"a.h\"", {"/x"}), "/nowhere/a.h none\n./a.h none\n/x/a.h none\n");
}

TEST(Includes, DirectivesBehindCommentsAndQuestionsCount) {
  EXPECT_EQ(describe("/* a */ #include <b.h>", {"/x"}), "/x/b.h none\n");
  EXPECT_EQ(describe("/* a\n b */ #include <b.h>", {"/x"}), "/x/b.h none\n");
  EXPECT_EQ(describe("#if __has_include(<b.h>)\n#endif", {"/x"}), "/x/b.h none\n");
  EXPECT_EQ(describe("#ifdef __has_include\n#endif", {"/x"}), "");
}

TEST(Includes, WhatCannotBeToldIsNothing) {
  for (const char* source :
       {"#include NAME", "#include_next <a.h>", "#import <a.h>", "#embed \"a\"", "#inc\\\nlude <a>",
        "#i\\\nnclude <a>", "#\\\ninclude <a>", "#/**/include <a>", "#include /**/ <a>",
        "/* */ # /* */ include <a>", "#include", "#if __has_include(NAME)",
        "#if __has_include_next(<a>)", "%:include <a>", "\?\?=include <a>",
        "const char* t = __DATE__;", "__TIME__", "__TIMESTAMP__"}) {
    EXPECT_FALSE(describe(source)) << source;
  }
}

TEST(Includes, HeadersThatAreGivenAreReadToo) {
  CompileInput input;
  input.source = "#include <given.h>";
  input.headers.push_back({"given.h", "#include <inner.h>"});
  const std::optional<std::string> found = describe_includes(input, {"/x"});
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, HasSubstr("/x/inner.h none\n"));
}

TEST(Includes, FilesAreFollowed) {
  const std::string here = KM_TEST_DATA_DIR;
  const std::optional<std::string> found = describe("#include \"" + here + "/ptx\"\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, here + "/ptx none\n");  // a folder
}

}  // namespace
}  // namespace km::test
