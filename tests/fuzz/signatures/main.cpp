// Mutated sources through the compiler: each type that is told of a kernel's parameter is compared
// by the compiler itself with that of the source. `km_fuzz_signatures [--count=N] [--seconds=N]
// [--seed=N]`; 77: there is no compiler.
#include <kernelmill/c_api.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "sources.h"

namespace km_fuzz {
namespace {

constexpr int kKernelsPerSource = 12;
constexpr const char* kMark = "KM_WRONG_TYPE";

/// What the compiler checks the types with: parameter N of a function's type, and its parts.
constexpr const char* kChecks = R"cuda(
#undef float
#undef S
namespace km_check {
template <class A, class B> struct same { static const bool value = false; };
template <class A> struct same<A, A> { static const bool value = true; };
template <class T> struct plain { typedef T type; static const bool is_const = false; };
template <class T> struct plain<const T> {
  typedef typename plain<T>::type type;
  static const bool is_const = true;
};
template <class T> struct plain<volatile T> : plain<T> {};
template <class T> struct plain<const volatile T> : plain<const T> {};
template <class T> struct target { static const bool is_pointer = false; typedef void type; };
template <class T> struct target<T*> { static const bool is_pointer = true; typedef T type; };
template <class T> struct target<T&> { static const bool is_pointer = true; typedef T type; };
template <int N, class F> struct param;
template <class R, class A, class... B> struct param<0, R(A, B...)> : plain<A> {};
template <int N, class R, class A, class... B>
struct param<N, R(A, B...)> : param<N - 1, R(B...)> {};
template <class T> struct is_address { static const bool value = target<T>::is_pointer; };
template <> struct is_address<decltype(nullptr)> { static const bool value = true; };
}
)cuda";

struct Counts {
  uint64_t sources = 0, compiled = 0, kernels = 0, known = 0, unknown = 0, checked = 0, wrong = 0;
};

class Fuzzer {
 public:
  explicit Fuzzer(km_context context) : context_(context) {}

  void run(uint32_t seed);
  const Counts& counts() const { return counts_; }

 private:
  /// The text of the last failure, or nothing.
  std::string compile(const std::string& text, km_module* out_module) const;
  std::string checks_of(km_module module, const Source& source);
  std::string check_of(km_function function, const SourceKernel& kernel, uint32_t index);

  km_context context_;
  Counts counts_;
};

std::string Fuzzer::compile(const std::string& text, km_module* out_module) const {
  const km_status status =
      km_module_load_source(context_, text.data(), text.size(), "mutated.cu", out_module);
  if (status == KM_SUCCESS) return {};
  char message[4000] = "";
  km_last_error_message(message, sizeof message, nullptr);
  return message[0] == '\0' ? "?" : message;
}

std::string Fuzzer::check_of(km_function function, const SourceKernel& kernel, uint32_t index) {
  km_param_signature found{};
  found.struct_size = sizeof found;
  char name[2000] = "";
  if (km_function_param_signature(function, index, &found) != KM_SUCCESS) return {};
  km_function_param_type_name(function, index, name, sizeof name, nullptr);
  if (found.kind == KM_SIGNATURE_KIND_UNKNOWN) {
    ++counts_.unknown;
    return {};
  }
  ++counts_.known;
  if (std::strchr(name, '(') != nullptr) return {};  // of an unnamed namespace: not to be written
  const std::string param =
      "km_check::param<" + std::to_string(index) + ", decltype(" + kernel.qualified + ")>::type";
  std::string claim;
  if (found.kind == KM_SIGNATURE_KIND_VALUE) {
    claim = "!km_check::target<" + param + ">::is_pointer";
    if (found.element != KM_ELEMENT_TYPE_UNKNOWN && found.element != KM_ELEMENT_TYPE_POINTER) {
      claim += " && km_check::same<" + param + ", " + name + " >::value";
    }
  } else {
    const std::string target = "km_check::target<" + param + ">::type";
    const std::string plain = "km_check::plain<" + target + ">";
    claim = "km_check::target<" + param + ">::is_pointer";
    if (found.element == KM_ELEMENT_TYPE_POINTER) {
      claim += " && km_check::is_address<" + plain + "::type>::value";
    } else if (found.element != KM_ELEMENT_TYPE_UNKNOWN) {
      claim += " && km_check::same<" + plain + "::type, " + name + " >::value";
    }
    if (found.element != KM_ELEMENT_TYPE_UNKNOWN) {
      claim += " && " + plain + "::is_const == " + (found.is_const != 0 ? "true" : "false");
    }
  }
  return "static_assert(" + claim + ", \"" + kMark + " " + kernel.name + " " +
         std::to_string(index) + " " + (found.is_const != 0 ? "const " : "") + name + "\");\n";
}

std::string Fuzzer::checks_of(km_module module, const Source& source) {
  std::string text;
  for (const SourceKernel& kernel : source.kernels) {
    km_function function{};
    uint32_t count = 0;
    if (km_module_function(module, kernel.name.c_str(), &function) != KM_SUCCESS) continue;
    ++counts_.kernels;
    km_function_param_count(function, &count);
    for (uint32_t i = 0; i < count; ++i) text += check_of(function, kernel, i);
    km_function_destroy(function);
  }
  return text;
}

void Fuzzer::run(uint32_t seed) {
  std::mt19937 random(seed);
  Source source = random_source(random, kKernelsPerSource);
  if (random() % 8 != 0) source.text = mutated(source.text, random);
  ++counts_.sources;
  km_module module{};
  if (!compile(source.text, &module).empty()) return;
  ++counts_.compiled;
  const std::string checks = checks_of(module, source);
  km_module_destroy(module);
  if (checks.empty()) return;
  // A source may end inside a comment, or define a word of the checks: then nothing is compared.
  km_module checked{};
  const std::string text = compile(source.text + "\n" + kChecks + checks, &checked);
  if (text.empty()) {
    ++counts_.checked;
    km_module_destroy(checked);
  } else if (text.find(kMark) != std::string::npos) {
    ++counts_.wrong;
    std::printf("seed %u: %s\n%s\n%s\n", seed, text.c_str(), source.text.c_str(), checks.c_str());
  }
}

uint64_t option(int argc, char** argv, const char* name, uint64_t otherwise) {
  const std::string start = std::string("--") + name + "=";
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], start.c_str(), start.size()) == 0) {
      return std::strtoull(argv[i] + start.size(), nullptr, 10);
    }
  }
  return otherwise;
}

/// False where there is no compiler.
bool has_compiler(km_context context) {
  km_module module{};
  const km_status status =
      km_module_load_source(context, "__global__ void k() {}", 0, "k.cu", &module);
  km_module_destroy(module);
  return status == KM_SUCCESS;
}

int run(int argc, char** argv) {
  const uint64_t count = option(argc, argv, "count", UINT64_MAX);
  const uint64_t seconds = option(argc, argv, "seconds", count == UINT64_MAX ? 10 : UINT64_MAX);
  const auto seed = static_cast<uint32_t>(option(argc, argv, "seed", 1));
  const auto start = std::chrono::steady_clock::now();
  km_device device{};
  km_context context{};
  if (km_device_open("cpu", &device) != KM_SUCCESS) return 1;
  if (km_context_create(device, &context) != KM_SUCCESS) return 1;
  if (!has_compiler(context)) return 77;
  Fuzzer fuzzer(context);
  for (uint64_t i = 0; i < count; ++i) {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
    if (gone.count() >= static_cast<double>(seconds)) break;
    fuzzer.run(seed + static_cast<uint32_t>(i));
  }
  const Counts& found = fuzzer.counts();
  const auto show = [](const char* what, uint64_t number) {
    std::printf("%-22s %llu\n", what, static_cast<unsigned long long>(number));
  };
  show("sources", found.sources);
  show("that compile", found.compiled);
  show("compared", found.checked);
  show("kernels in them", found.kernels);
  show("types told", found.known);
  show("unknown", found.unknown);
  show("sources with a wrong one", found.wrong);
  km_context_destroy(context);
  km_device_destroy(device);
  return found.wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace km_fuzz

int main(int argc, char** argv) { return km_fuzz::run(argc, argv); }
