#include "scale/block_times.h"

#include <regex>

namespace km::bench {
namespace {

// Registers have names that no compiler makes.
constexpr char kNote[] = R"(
{
  .reg .pred %km_skips;
  .reg .b32 %km_i<8>;
  .reg .b64 %km_a<4>;
  mov.u32 %km_i0, %tid.x;
  mov.u32 %km_i1, %tid.y;
  mov.u32 %km_i2, %tid.z;
  or.b32 %km_i0, %km_i0, %km_i1;
  or.b32 %km_i0, %km_i0, %km_i2;
  mov.u32 %km_i1, %ctaid.z;
  mov.u32 %km_i2, %nctaid.y;
  mov.u32 %km_i3, %ctaid.y;
  mad.lo.u32 %km_i1, %km_i1, %km_i2, %km_i3;
  mov.u32 %km_i2, %nctaid.x;
  mov.u32 %km_i3, %ctaid.x;
  mad.lo.u32 %km_i1, %km_i1, %km_i2, %km_i3;
  setp.ne.u32 %km_skips, %km_i0, 0;
  @%km_skips bra KM_SKIP_NOTE;
  setp.ge.u32 %km_skips, %km_i1, KM_MOST_BLOCKS;
  @%km_skips bra KM_SKIP_NOTE;
  mov.u64 %km_a0, km_block_begins;
  mul.wide.u32 %km_a1, %km_i1, 8;
  add.u64 %km_a0, %km_a0, %km_a1;
  mov.u64 %km_a2, %clock64;
  st.global.u64 [%km_a0], %km_a2;
KM_SKIP_NOTE:
}
)";

}  // namespace

std::string note_block_begins(const std::string& ptx) {
  const std::string most = std::to_string(kMostBlocks);
  const std::string note = std::regex_replace(kNote, std::regex("KM_MOST_BLOCKS"), most);
  const std::regex entry(R"((\.entry[^{]*\{))");
  const std::regex target(R"((\.address_size\s+64))");
  const std::string variable =
      std::string("$1\n.visible .global .align 8 .b64 ") + kBlockBegins + "[" + most + "];\n";
  std::string result;
  std::regex_replace(std::back_inserter(result), ptx.begin(), ptx.end(), entry, "$1" + note);
  return std::regex_replace(result, target, variable, std::regex_constants::format_first_only);
}

std::vector<uint64_t> times_of(const std::vector<uint64_t>& begins) {
  std::vector<uint64_t> times;
  for (size_t i = 1; i < begins.size(); ++i) times.push_back(begins[i] - begins[i - 1]);
  if (!times.empty()) times.push_back(times.back());
  return times;
}

}  // namespace km::bench
