// What the tests of the PTX front end share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "ptx/ptx.h"

namespace km::ptx::test {

inline const char* const kHeader = ".version 8.3\n.target sm_90a\n.address_size 64\n";

/// A kernel with registers of every kind around `body`, which begins in line kBodyLine.
inline std::string kernel(std::string_view body) {
  return std::string(kHeader) +
         ".visible .global .align 4 .b32 gvar[4];\n"
         ".visible .const .align 4 .f32 cvar;\n"
         ".shared .align 8 .b8 svar[64];\n"
         ".global .texref tvar;\n"
         ".visible .entry k(.param .u64 p0, .param .u32 p1)\n"
         "{\n"
         ".reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<100>; .reg .b64 %rd<20>; "
         ".reg .f32 %f<20>; .reg .f64 %fd<20>; .reg .b128 %rq<10>; .reg .s32 %s<10>; "
         ".reg .u64 %ud<10>; .reg .f16 %h<10>; .reg .b8 %b<4>;\n" +
         std::string(body) + "\n}\n";
}
constexpr int kBodyLine = 11;

inline std::shared_ptr<const Module> parse_good(std::string_view text) {
  auto module = parse(text, "t.ptx");
  EXPECT_TRUE(module) << module.error().message << "\n" << text.substr(0, 4000);
  return module ? *module : nullptr;
}

/// The message of the error that `text` gives; empty when it parses.
inline std::string error_of(std::string_view text) {
  auto module = parse(text, "t.ptx");
  if (module) return "";
  EXPECT_EQ(module.error().status, KM_ERROR_INVALID_PTX);
  return module.error().message;
}

inline std::string body_error(std::string_view body) { return error_of(kernel(body)); }

/// The only kernel's instructions, parsed from `body`.
inline const std::vector<Instruction>& code_of(const Module& module) {
  return module.functions.back().code;
}

inline std::string printed(const Module& module, size_t instruction) {
  const Function& function = module.functions.back();
  return print(module, function, function.code[instruction]);
}

/// Parses one instruction and prints it again.
inline std::string round_trip(std::string_view instruction) {
  auto module = parse_good(kernel(std::string(instruction) + ";"));
  return module ? printed(*module, 0) : "";
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline const char* const kSamples[] = {"call",   "debug",   "lines",  "half",  "inline",
                                       "matrix", "texture", "hopper", "clang", "clang_o0"};

inline std::string sample(std::string_view name) {
  return read_file(std::string(KM_TEST_DATA_DIR) + "/ptx/" + std::string(name) + ".ptx");
}

}  // namespace km::ptx::test
