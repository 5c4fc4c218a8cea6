// The types of kernels' parameters, from names and from sources.
#include "compile/signature/signature.h"

#include <gtest/gtest.h>

#include <random>

#include "base/cuda/parameter_names.h"
#include "compile/signature/kernel_names.h"
#include "compile/signature/type_request.h"

namespace km {
namespace {

/// "const float*, int", or what went wrong.
std::string text_of(const std::optional<Signature>& signature) {
  if (!signature) return "nothing";
  std::string text;
  for (const ParamType& type : *signature) text += (text.empty() ? "" : ", ") + type.text();
  return text;
}

TEST(SignatureOfName, ScalarsHaveTheirTypes) {
  EXPECT_EQ(text_of(signature_of_name("_Z1kbcahstijlmxyfd")),
            "bool, char, signed char, unsigned char, short, unsigned short, int, unsigned int, "
            "long, unsigned long, long long, unsigned long long, float, double");
  EXPECT_EQ(text_of(signature_of_name("_Z1kv")), "");
}

TEST(SignatureOfName, PointersAndReferencesSayWhatTheyPointTo) {
  EXPECT_EQ(text_of(signature_of_name("_Z5saxpyifPKfPf")), "int, float, const float*, float*");
  EXPECT_EQ(text_of(signature_of_name("_Z1kPvPKvRKdPVi")),
            "void*, const void*, const double*, int*");
  EXPECT_EQ(text_of(signature_of_name("_Z1kPPfPFviEPA4_f")), "void**, unknown*, unknown*");
}

TEST(SignatureOfName, VectorsAndHalvesAreElements) {
  const std::optional<Signature> found =
      signature_of_name("_Z1kP6float4PK5uint3P6__halfP7__half2P13__nv_bfloat16P4dim3");
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0].element, (ElementType{KM_ELEMENT_TYPE_F32, 4, "float4"}));
  EXPECT_EQ((*found)[1].element, (ElementType{KM_ELEMENT_TYPE_U32, 3, "uint3"}));
  EXPECT_EQ((*found)[1].element.size_bytes(), 12);
  EXPECT_EQ((*found)[2].element, (ElementType{KM_ELEMENT_TYPE_F16, 1, "__half"}));
  EXPECT_EQ((*found)[3].element, (ElementType{KM_ELEMENT_TYPE_F16, 2, "__half2"}));
  EXPECT_EQ((*found)[4].element, (ElementType{KM_ELEMENT_TYPE_BF16, 1, "__nv_bfloat16"}));
  EXPECT_EQ((*found)[5].element, (ElementType{KM_ELEMENT_TYPE_NAMED, 1, "dim3"}));
}

TEST(SignatureOfName, AVectorsNameInANamespaceIsAStructure) {
  EXPECT_EQ(signature_of_name("_Z1kPN2ns6float4E")->at(0).element,
            (ElementType{KM_ELEMENT_TYPE_NAMED, 1, "ns::float4"}));
}

TEST(SignatureOfName, TemplatesHaveTheTypesOfTheirArguments) {
  EXPECT_EQ(text_of(signature_of_name("_Z5scaleIfEvPT_i")), "float*, int");
  EXPECT_EQ(text_of(signature_of_name("_ZN2ns1kINS_1WI7__half2EEEEvPKT_S3_")),
            "const ns::W<__half2>*, ns::W<__half2>");
}

TEST(SignatureOfName, TypesThatATemplateLooksUpAreUnknown) {
  EXPECT_EQ(text_of(signature_of_name("_Z1kI1SEvPNT_4typeEi")), "unknown*, int");
  EXPECT_EQ(text_of(signature_of_name("_Z1kIfEvPN6TraitsIT_E4typeEPS3_")), "unknown*, unknown*");
}

TEST(SignatureOfName, PacksAndExpressionsAreNotGuessed) {
  EXPECT_EQ(text_of(signature_of_name("_Z1kIJifEEvDpT_")), "nothing");
  EXPECT_EQ(text_of(signature_of_name("_Z1kIfEvDTcvT__EE")), "nothing");
}

TEST(SignatureOfName, WhatIsNoNameGivesNothing) {
  for (const char* name :
       {"", "_Z", "saxpy", "_Z5saxp", "_Z1kQ", "_ZTV1k", "_Z1kPf.part.0", "FvE"}) {
    EXPECT_EQ(text_of(signature_of_name(name)), "nothing") << name;
  }
}

TEST(SignatureOfName, DeepAndDoublingNamesEnd) {
  EXPECT_EQ(text_of(signature_of_name("_Z1k" + std::string(10000, 'P') + "f")), "nothing");
  EXPECT_EQ(text_of(signature_of_name("_Z1k" + std::string(20, 'P') + "f")), "void**");
  std::string doubling = "_Z1k1AI1BS0_E";
  for (int i = 1; i < 60; ++i) {
    doubling += "1AIS" + std::string(1, static_cast<char>(i < 10 ? '0' + i : 'A' + (i - 10) % 26));
    doubling += "_S1_E";
  }
  EXPECT_TRUE(signature_of_name(doubling) || true);
  std::string nested = "_Z1kP";
  for (int i = 0; i < 3000; ++i) nested += "1AI";
  EXPECT_EQ(text_of(signature_of_name(nested)), "nothing");
}

TEST(SignatureOfInstance, AbbreviationsCountTheTemplate) {
  EXPECT_EQ(text_of(signature_of_instance(
                "_Z12km_signatureIFvifPKfPf1VN2ns1WI7__half2EENS4_1EERS3_PFviENS4_1BE6__halfEE")),
            "int, float, const float*, float*, V, ns::W<__half2>, ns::E, V*, unknown*, ns::B, "
            "__half");
}

TEST(SignatureOfInstance, FunctionTypesAreReadToTheEnd) {
  EXPECT_EQ(text_of(signature_of_instance("_Z1sIFvvEE")), "");
  EXPECT_EQ(text_of(signature_of_instance("_Z1sIFviEEi")), "nothing");
  EXPECT_EQ(text_of(signature_of_instance("_Z1sIFviEiE")), "nothing");
  EXPECT_EQ(text_of(signature_of_instance("_Z1sIiE")), "nothing");
}

TEST(SignatureLines, AreReadAsWritten) {
  const SignatureLines lines = {{"saxpy", "FvPfE"}, {"k", "FviE"}};
  EXPECT_EQ(read_signature_lines(".version 8.0\n" + write_signature_lines(lines)), lines);
  EXPECT_TRUE(
      read_signature_lines("// kernelmill.signature \n// kernelmill.signature a\n").empty());
  EXPECT_TRUE(read_signature_lines("// kernelmill.signature a b c\n").empty());
}

/// The names with their namespaces, one after the other.
std::string names_in(const std::string& source) {
  std::string text;
  for (const KernelName& kernel : find_c_kernels(source)) text += kernel.qualified + ' ';
  return text;
}

TEST(CKernels, AreFoundByTheirTokens) {
  EXPECT_EQ(names_in("extern \"C\" __global__ void k(float* x) { if (x) {} }"), "k ");
  EXPECT_EQ(
      names_in("extern \"C\" { __global__ void a(int); struct S {}; __global__ void b() {} }"),
      "a b ");
  EXPECT_EQ(names_in("namespace n::m { extern \"C\" __global__ void __launch_bounds__(128, 2) "
                     "k(int) {} } extern \"C\" __global__ void __attribute__((used)) j() {}"),
            "n::m::k j ");
}

TEST(CKernels, CommentsTextsAndDirectivesHideThem) {
  EXPECT_EQ(
      names_in("// extern \"C\" __global__ void a() {}\n/* extern \"C\" __global__ void b(){} */"
               "const char* t = \"extern \\\"C\\\" __global__ void c() {}\";\n"
               "#define D extern \"C\" __global__ void d() \\\n {}\n"
               "const char* r = R\"x(extern \"C\" __global__ void e() {})x\";\n"),
      "");
}

TEST(CKernels, OthersAreLeftToTheirMangledNames) {
  EXPECT_EQ(names_in("extern \"C\" int f(); __global__ void k(float*) {}"), "");
  EXPECT_EQ(names_in("extern \"C\" __device__ int f() { return 1; }"), "");
}

/// Changes a text in a few places.
std::string mutated(std::string text, std::mt19937* random) {
  constexpr std::string_view kLetters =
      "PKRVFEvNSTIJLZDUuijflmdbchast_0123456789XxO\"{}()/*\\#\n<>;: extern\"C\"__global__";
  for (uint32_t i = 0, count = 1 + (*random)() % 4; i < count && !text.empty(); ++i) {
    const size_t at = (*random)() % text.size();
    const char letter = kLetters[(*random)() % kLetters.size()];
    switch ((*random)() % 4) {
      case 0:
        text[at] = letter;
        break;
      case 1:
        text.insert(at, 1 + (*random)() % 3, letter);
        break;
      case 2:
        text.erase(at, 1 + (*random)() % 3);
        break;
      default:
        text.insert(at, text.substr((*random)() % text.size(), (*random)() % 12));
        break;
    }
  }
  return text;
}

/// A number that the environment gives.
uint32_t given(const char* name, uint32_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::atol(text));
}
uint32_t start() { return given("KM_TEST_NAME_START", 1); }
uint32_t rounds() { return given("KM_TEST_NAME_ROUNDS", 100000); }

TEST(SignatureFuzz, MutatedNamesGiveTypesOfKnownKindsOrNothing) {
  std::mt19937 random(start());
  const std::string names[] = {
      "_Z5saxpyifPKfPf",
      "_ZN2ns1kINS_1WI7__half2EEEEvPKT_S3_",
      "_Z1kI1SEvPNT_4typeEi",
      "_Z1kILj256EdEvPKT0_PA4_S0_RKS2_",
      "_Z1kP6float4PK5uint3P6__halfN2ns1EES7_",
      "_Z12km_signatureIFvifPKfPf1VN2ns1WI7__half2EENS4_1EERS3_PFviENS4_1BE6__halfEE",
      "_Z1kIJifEEvDpT_",
      "_Z1kIfLb1EN3std5tupleIJicEEEEvPT_T1_St4pairIS4_S5_E"};
  for (uint32_t i = 0; i < rounds(); ++i) {
    std::string name = names[random() % std::size(names)];
    for (uint32_t k = random() % 3; k != UINT32_MAX; --k) name = mutated(name, &random);
    const std::optional<Signature> found = signature_of_name(name);
    static_cast<void>(signature_of_instance(name));
    for (const ParamType& type : found ? *found : Signature()) {
      const ElementType& element = type.element;
      ASSERT_EQ(element.name.empty(), element.type == KM_ELEMENT_TYPE_UNKNOWN) << name;
      if (element.type == KM_ELEMENT_TYPE_UNKNOWN || element.type == KM_ELEMENT_TYPE_NAMED)
        continue;
      // A type that has no name of its own is one of the known ones, under a known name.
      ASSERT_EQ(element_named(element.name).type, element.type) << name;
      ASSERT_EQ(element_named(element.name).lanes, element.lanes) << name;
    }
  }
}

TEST(SignatureFuzz, MutatedSourcesGiveNamesThatStandInThem) {
  std::mt19937 random(start() + 1);
  const std::string source =
      "namespace a { extern \"C\" __global__ void __launch_bounds__(32) k(float* x) { *x = 'c'; } "
      "}\n"
      "extern \"C\" { /* all */ __global__ void j(int); // end\n }\n#define X \\\n R\n"
      "const char* t = R\"(text)\"; template <class T> __global__ void g(T);\n";
  for (uint32_t i = 0; i < rounds(); ++i) {
    std::string text = source;
    for (uint32_t k = random() % 6; k != UINT32_MAX; --k) text = mutated(text, &random);
    for (const KernelName& kernel : find_c_kernels(text)) {
      ASSERT_NE(text.find(kernel.plain), std::string::npos) << text;
      ASSERT_TRUE(kernel.qualified.ends_with(kernel.plain)) << text;
    }
  }
}

TEST(TypeRequest, ErrorsOfNameExpressionsAreAboutTheRequests) {
  EXPECT_TRUE(
      mentions_type_requests("__nv_name_map(2): error: cannot determine which instance of "
                             "overloaded function \"all\" is intended"));
  EXPECT_FALSE(mentions_type_requests("a.cu(1): error: identifier \"x\" is undefined"));
}

/// "ns::k: a,b", for each kernel.
std::string parameters_of(std::string_view source) {
  std::string text;
  for (const KernelParameters& kernel : find_kernel_parameters(source)) {
    text += (text.empty() ? "" : "; ") + kernel.qualified + ":";
    for (const std::string& name : kernel.names) text += " " + (name.empty() ? "-" : name);
  }
  return text;
}

TEST(ParameterNames, SourcesTellThem) {
  EXPECT_EQ(parameters_of("__global__ void k(const float* __restrict__ in, float *out, int n) {}"),
            "k: in out n");
  EXPECT_EQ(parameters_of("extern \"C\" __global__ void __launch_bounds__(256) c(int a[4]) {}"),
            "c: a");
  EXPECT_EQ(parameters_of("namespace a::b { template <class T, int N> __global__ void "
                          "t(W<T, N> w, std::pair<int, T>& p) {} }"),
            "a::b::t: w p");
  EXPECT_EQ(parameters_of("__global__ void k(int, const Point&, ns::Point, unsigned long x,"
                          " Point, float* /* y */, int z = f<1>);"),
            "k: - - - x - - z");
  EXPECT_EQ(parameters_of("__global__ void k() {} __global__ void v(void) {}"), "k:; v: -");
  EXPECT_EQ(parameters_of("__global__ void k(void (*f)(int), int n) {}"), "");
  EXPECT_EQ(parameters_of("__global__ void k(Ts... all) {} void host(int n) {}"), "");
  EXPECT_EQ(parameters_of("__global__ void k(int n"), "");
}

TEST(ParameterNames, LinesAndPtxHaveThem) {
  const ParameterNames written = {{"k", {"in", "", "n"}}, {"none", {}}};
  const std::string ptx =
      ".visible .entry own(.param .u64 .ptr .align 4 a,\n .param .align 16 .b8 b[16]\n)\n"
      ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 k_param_2)\n"
      ".visible .entry empty()\n.entry cut(.param .u64 x";
  const ParameterNames read = read_parameter_names(ptx + "\n" + write_parameter_names(written));
  EXPECT_EQ(read.at("k"), (std::vector<std::string>{"in", "", "n"}));
  EXPECT_EQ(read.at("own"), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(read.contains("empty"));
  EXPECT_EQ(parameter_text(read.at("k"), 0), "parameter 0 'in'");
  EXPECT_EQ(parameter_text(read.at("k"), 1), "parameter 1");
  EXPECT_EQ(parameter_text(read.at("k"), 7), "parameter 7");
}

}  // namespace
}  // namespace km
