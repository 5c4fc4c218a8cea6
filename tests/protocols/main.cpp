// Random protocols of flags, locks, tickets and queues between lanes, warps, blocks and streams:
//   km_protocols [--count=N] [--minutes=N] [--seed=N] [--first=N] [--print]
//     [--strong]
// Each ends on threads that run independently; one that does not end here within a minute, or
// gives wrong results, is printed and ends the run with 1. --print shows their texts. --strong
// leaves out those that have races by the memory model. Exits with 77 where the machine lacks what
// KM_CPU_ISA asks for.
#include <kernelmill/c_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "protocol.h"

namespace km::protocols {
namespace {

constexpr uint64_t kLimitNs = 60'000'000'000;

struct Options {
  uint64_t count = 200, minutes = 0, seed = 1, first = 0;
  bool print = false, strong = false;
};

[[noreturn]] void fail(const char* what) {
  char text[4096];
  uint64_t size = 0;
  km_last_error_message(text, sizeof text, &size);
  std::printf("%s: %s\n", what, text);
  std::fflush(stdout);
  std::_Exit(1);
}

void check(km_status status, const char* what) {
  if (status != KM_SUCCESS) fail(what);
}

class Runner {
 public:
  Runner() {
    const km_status opened = km_device_open("cpu", &device_);
    if (opened == KM_ERROR_NOT_SUPPORTED) std::exit(77);
    check(opened, "km_device_open");
    check(km_context_create(device_, &context_), "km_context_create");
    for (km_stream& stream : streams_) {
      check(km_stream_create(context_, 0, 0, &stream), "km_stream_create");
    }
  }

  /// Empty: it ended and gave what it has to.
  std::string run(const Protocol& protocol) {
    km_module module = nullptr;
    if (km_module_load_ptx(context_, protocol.ptx.c_str(), protocol.ptx.size(), "protocol.ptx",
                           &module) != KM_SUCCESS) {
      return last_message("not loaded");
    }
    km_slice memory = nullptr;
    check(km_slice_create(context_, protocol.words, 4, KM_SLICE_ZEROED, &memory), "memory");
    for (unsigned k = 0; k < protocol.kernels; ++k) launch(protocol, module, k, memory);
    std::string wrong;
    for (unsigned k = 0; k < protocol.kernels && wrong.empty(); ++k) {
      if (km_stream_synchronize_timeout(streams_[k], kLimitNs) != KM_SUCCESS) {
        wrong = last_message("not ended") + contents(protocol, memory);
      }
    }
    if (wrong.empty()) wrong = compare(protocol, memory);
    if (wrong.empty()) {
      km_slice_destroy(memory);
      km_module_destroy(module);
    }
    return wrong;
  }

 private:
  static std::string last_message(const char* what) {
    char text[2048];
    uint64_t size = 0;
    km_last_error_message(text, sizeof text, &size);
    return std::string(what) + ": " + text;
  }

  /// What the kernel has stored so far, for whoever looks for the reason.
  static std::string contents(const Protocol& protocol, km_slice memory) {
    void* pointer = nullptr;
    if (km_slice_host_pointer(memory, &pointer) != KM_SUCCESS) return "";
    std::string text = "\nwords that are not 0:";
    for (uint64_t i = 0; i < protocol.words; ++i) {
      const uint32_t word = static_cast<const volatile uint32_t*>(pointer)[i];
      if (word != 0) text += " " + std::to_string(4 * i) + ":" + std::to_string(word);
    }
    return text;
  }

  void launch(const Protocol& protocol, km_module module, unsigned kernel, km_slice memory) {
    km_function function = nullptr;
    const std::string name = "k" + std::to_string(kernel);
    check(km_module_function(module, name.c_str(), &function), "km_module_function");
    km_launch launch = nullptr;
    check(km_launch_create(streams_[kernel], function, &launch), "km_launch_create");
    check(km_launch_set_grid(launch, protocol.blocks, 1, 1), "km_launch_set_grid");
    check(km_launch_set_block(launch, protocol.threads, 1, 1), "km_launch_set_block");
    check(km_launch_arg_slice(launch, memory, 0), "km_launch_arg_slice");
    check(km_launch_submit(launch), "km_launch_submit");
    km_launch_destroy(launch);
    km_function_destroy(function);
  }

  std::string compare(const Protocol& protocol, km_slice memory) {
    std::vector<uint32_t> words(protocol.words);
    check(km_slice_download(streams_[0], memory, 0, words.data(), 4 * words.size()), "download");
    for (size_t i = 0; i < words.size(); ++i) {
      if (protocol.expected[i] == kAny || protocol.expected[i] == words[i]) continue;
      return "word " + std::to_string(i) + " is " + std::to_string(words[i]) + ", not " +
             std::to_string(protocol.expected[i]);
    }
    return "";
  }

  km_device device_ = nullptr;
  km_context context_ = nullptr;
  km_stream streams_[2] = {};
};

bool read_number(const char* argument, const char* name, uint64_t& value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  value = std::strtoull(argument + length, nullptr, 0);
  return true;
}

bool read_options(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const char* const argument = arguments[i];
    if (std::strcmp(argument, "--print") == 0) {
      options.print = true;
    } else if (std::strcmp(argument, "--strong") == 0) {
      options.strong = true;
    } else if (!read_number(argument, "--count=", options.count) &&
               !read_number(argument, "--minutes=", options.minutes) &&
               !read_number(argument, "--seed=", options.seed) &&
               !read_number(argument, "--first=", options.first)) {
      std::fprintf(stderr, "unknown argument %s\n", argument);
      return false;
    }
  }
  return true;
}

int run(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::minutes(options.minutes);
  Runner runner;
  uint64_t done = 0;
  for (uint64_t i = options.first;; ++i) {
    if (options.minutes != 0 ? Clock::now() >= end : done == options.count) break;
    const Protocol protocol = make_protocol((options.seed << 32) + i);
    if (options.strong && protocol.is_weak()) continue;
    ++done;
    if (options.print) std::printf("%s\n", protocol.ptx.c_str());
    const std::string wrong = runner.run(protocol);
    if (wrong.empty()) continue;
    std::printf("%s\nprotocol %llu of seed %llu, %u blocks of %u threads, %u kernels: %s\n",
                protocol.ptx.c_str(), static_cast<unsigned long long>(i),
                static_cast<unsigned long long>(options.seed), protocol.blocks, protocol.threads,
                protocol.kernels, wrong.c_str());
    std::fflush(stdout);
    std::_Exit(1);  // threads of the library may wait for ever
  }
  std::printf("%llu protocols ended as they have to\n", static_cast<unsigned long long>(done));
  return 0;
}

}  // namespace
}  // namespace km::protocols

int main(int count, char** arguments) {
  km::protocols::Options options;
  if (!km::protocols::read_options(count, arguments, options)) return 2;
  return km::protocols::run(options);
}
