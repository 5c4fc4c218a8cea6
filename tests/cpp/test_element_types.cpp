// Slices say of which type their elements are, and launches check it.
#include "support.h"

namespace {

// One parameter each, whose type is in the kernel's name.
constexpr char kTyped[] = R"ptx(
.version 7.0
.target sm_70
.address_size 64
.visible .entry _Z1kPf(.param .u64 x) { ret; }
.visible .entry _Z1kPd(.param .u64 x) { ret; }
.visible .entry _Z1kPj(.param .u64 x) { ret; }
.visible .entry _Z1kPx(.param .u64 x) { ret; }
.visible .entry _Z1kPb(.param .u64 x) { ret; }
.visible .entry _Z1kP6float4(.param .u64 x) { ret; }
.visible .entry _Z1kPN2ns5PointE(.param .u64 x) { ret; }
.visible .entry plain(.param .u64 x) { ret; }
)ptx";
constexpr const char* kNames[] = {"_Z1kPf", "_Z1kPd",       "_Z1kPj",           "_Z1kPx",
                                  "_Z1kPb", "_Z1kP6float4", "_Z1kPN2ns5PointE", "plain"};

struct Point {
  float x, y;
};
struct Unnamed {
  float x, y;
};

}  // namespace

template <>
struct km::device_type<Point> {
  static constexpr km_element_type type = KM_ELEMENT_TYPE_NAMED;
  static constexpr std::uint32_t lanes = 1;
  static constexpr const char* name = "ns::Point";
};

namespace {

class ElementTypes : public testing::Test {
 protected:
  // An x for each kernel that takes the slice, else a -.
  std::string taken(const km::detail::any_slice& slice) {
    std::string text;
    for (const char* name : kNames) {
      try {
        stream_.launch(module_.function(name)).grid(1).block(1).args(km::read_only(slice)).submit();
        text += 'x';
      } catch (const km::error& error) {
        EXPECT_EQ(error.status(), KM_ERROR_INVALID_LAUNCH) << error.what();
        text += '-';
      }
    }
    return text;
  }
  template <class T>
  std::string taken_of() {
    const auto slice = km::slice<T>::zeroed(context_, 8);
    const std::string whole = taken(slice);
    EXPECT_EQ(taken(slice.part(1, 2)), whole);
    EXPECT_EQ(taken(km::slice<T>::copy_of(stream_, std::vector<T>(3))), whole);
    EXPECT_EQ(taken(km::slice<T>(stream_, 3)), whole);
    EXPECT_EQ(taken(km::pitched_slice<T>(context_, 3, 2).memory()), whole);
    return whole;
  }

  const km::context context_{"cpu"};
  const km::stream stream_{context_};
  const km::module module_ = km::module::load_ptx(context_, kTyped, "typed.ptx");
};

TEST_F(ElementTypes, KernelsTakeTheTypesThatTheyHave) {
  EXPECT_EQ(taken_of<float>(), "x----x-x");
  EXPECT_EQ(taken_of<double>(), "-x-----x");
  EXPECT_EQ(taken_of<std::uint32_t>(), "--x----x");
  EXPECT_EQ(taken_of<int>(), "--x----x");
  EXPECT_EQ(taken_of<long>(), "---x---x");
  EXPECT_EQ(taken_of<long long>(), "---x---x");
  EXPECT_EQ(taken_of<std::uint16_t>(), "-------x");
  EXPECT_EQ(taken_of<std::uint8_t>(), "xxxxxxxx");
  EXPECT_EQ(taken_of<char>(), "xxxxxxxx");
  EXPECT_EQ(taken_of<std::byte>(), "xxxxxxxx");
  EXPECT_EQ(taken_of<Point>(), "------xx");
  EXPECT_EQ(taken_of<Unnamed>(), "xxxxxxxx");
  const auto flags = km::slice<bool>::zeroed(context_, 8);
  EXPECT_EQ(taken(flags), "----x--x");
}

TEST_F(ElementTypes, MessagesNameKernelParameterAndTypes) {
  const auto slice = km::slice<double>::zeroed(context_, 1);
  try {
    stream_.launch(module_.function("_Z1kPf")).grid(1).block(1).args(slice).submit();
    FAIL() << "the launch did not fail";
  } catch (const km::error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("parameter 0 'x' of kernel 'k' is 'float*'; the slice given for it has "
                        "elements of 'double', expected 'float'"),
              std::string::npos)
        << error.what();
  }
  slice.set_element_type(KM_ELEMENT_TYPE_UNKNOWN, 0);
  stream_.launch(module_.function("_Z1kPf")).grid(1).block(1).args(slice).submit();
}

}  // namespace
