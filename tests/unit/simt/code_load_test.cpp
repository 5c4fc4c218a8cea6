#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <span>

#include "simt/object/target.h"
#include "support/simt/object_from_text.h"

namespace km::simt {
namespace {

using ::testing::HasSubstr;
using testing::meta_text;
using testing::object_from_text;

// Uses a constant pool, a constant table, a helper function, and three source lines.
constexpr const char* kText = R"(
  source_filename = "k.ptx"
  target triple = "x86_64-unknown-linux-gnu"
  @table = internal constant [4 x i32] [i32 10, i32 20, i32 30, i32 40]

  define internal i32 @look_up(i64 %i) noinline !dbg !10 {
    %at = getelementptr [4 x i32], ptr @table, i64 0, i64 %i
    %v = load i32, ptr %at, !dbg !13
    ret i32 %v, !dbg !13
  }

  define void @km_entry(ptr %record, ptr %state, i64 %first, i64 %end) !dbg !11 {
    %out = load ptr, ptr %record, !dbg !12
    %v = load <4 x float>, ptr %out, align 4, !dbg !12
    %s = fmul <4 x float> %v, <float 1.5, float 2.5, float 3.5, float 4.5>, !dbg !14
    store <4 x float> %s, ptr %out, align 4, !dbg !14
    %n = call i32 @look_up(i64 %first), !dbg !15
    %at = getelementptr i8, ptr %out, i64 16
    store i32 %n, ptr %at, !dbg !15
    ret void, !dbg !15
  }

  define zeroext i1 @km_assumptions_hold(ptr %record) {
    %at = getelementptr i8, ptr %record, i64 24
    %grid = load i32, ptr %at
    %fits = icmp ult i32 %grid, 100
    ret i1 %fits
  }

  !llvm.dbg.cu = !{!0}
  !llvm.module.flags = !{!2, !3}
  !0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: LineTablesOnly)
  !1 = !DIFile(filename: "k.ptx", directory: "")
  !2 = !{i32 2, !"Debug Info Version", i32 3}
  !3 = !{i32 7, !"Dwarf Version", i32 4}
  !5 = !DISubroutineType(types: !{})
  !10 = distinct !DISubprogram(name: "look_up", file: !1, line: 5, type: !5, unit: !0,
                               spFlags: DISPFlagDefinition)
  !11 = distinct !DISubprogram(name: "k", file: !1, line: 10, type: !5, unit: !0,
                               spFlags: DISPFlagDefinition)
  !12 = !DILocation(line: 11, column: 3, scope: !11)
  !13 = !DILocation(line: 6, column: 4, scope: !10)
  !14 = !DILocation(line: 12, column: 5, scope: !11)
  !15 = !DILocation(line: 13, column: 7, scope: !11)
)";

Object sample() {
  Result<Object> object = object_from_text(kText + meta_text(Mode::run_to_completion, 4096, 1234));
  EXPECT_TRUE(object) << object.error().message;
  return object ? *object : Object();
}

TEST(Code, RunsWhatWasLoaded) {
  const Result<std::unique_ptr<Code>> code = Code::load(sample());
  ASSERT_TRUE(code) << code.error().message;
  struct {
    float v[4] = {1, 2, 3, 4};
    int32_t n = 0;
  } out;
  LaunchRecord record{};
  record.params = reinterpret_cast<const uint8_t*>(&out);
  BlockState state{};
  for (uint64_t i = 0; i < 4; ++i) {
    (*code)->grid_entry()(&record, &state, i, i + 1);
    EXPECT_EQ(out.n, int32_t(10 * (i + 1)));
  }
  EXPECT_EQ(out.v[0], 1.5f * 1.5f * 1.5f * 1.5f);
  EXPECT_EQ(out.v[3], 4 * 4.5f * 4.5f * 4.5f * 4.5f);
}

TEST(Code, ReadsTheMetaData) {
  const Result<std::unique_ptr<Code>> code = Code::load(sample());
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_EQ((*code)->info().mode, Mode::run_to_completion);
  EXPECT_EQ((*code)->info().scratch_bytes, 4096u);
  EXPECT_GE((*code)->info().stack_bytes, 1234u);
  EXPECT_LT((*code)->info().stack_bytes, 1234u + 512);
  EXPECT_NE((*code)->grid_entry(), nullptr);
  EXPECT_EQ((*code)->fiber_entry(), nullptr);
}

TEST(Code, NeedsTheStackOfAllItsFunctions) {
  const std::string text = R"(
    define internal void @use(ptr %p) noinline {
      %own = alloca [100000 x i8]
      %i = ptrtoint ptr %p to i64
      %at = getelementptr i8, ptr %own, i64 %i
      store volatile i8 1, ptr %at
      ret void
    }
    define void @km_entry() {
      %own = alloca [50000 x i8]
      call void @use(ptr %own)
      store volatile i8 1, ptr %own
      ret void
    })";
  const Result<Object> object = object_from_text(text + meta_text(Mode::fibers, 0, 64));
  ASSERT_TRUE(object) << object.error().message;
  const Result<std::unique_ptr<Code>> code = Code::load(*object);
  ASSERT_TRUE(code) << code.error().message;
  constexpr uint64_t kRedZoneBytes = 128;  // not part of a frame
  EXPECT_GE((*code)->info().stack_bytes, 150000 + 64 - kRedZoneBytes);
  EXPECT_LT((*code)->info().stack_bytes, 150000 + 64 + 512);
}

TEST(Code, HasTheEntryOfItsMode) {
  const std::string text = "define void @km_entry() { ret void }";
  for (Mode mode : {Mode::fibers, Mode::independent_threads}) {
    const Result<Object> object = object_from_text(text + meta_text(mode));
    ASSERT_TRUE(object);
    const Result<std::unique_ptr<Code>> code = Code::load(*object);
    ASSERT_TRUE(code) << code.error().message;
    EXPECT_EQ((*code)->info().mode, mode);
    EXPECT_EQ((*code)->grid_entry(), nullptr);
    EXPECT_EQ((*code)->fiber_entry() != nullptr, mode == Mode::fibers);
    EXPECT_EQ((*code)->independent_entry() != nullptr, mode == Mode::independent_threads);
  }
}

TEST(Code, AsksWhetherItsAssumptionsHold) {
  const Result<std::unique_ptr<Code>> code = Code::load(sample());
  ASSERT_TRUE(code) << code.error().message;
  LaunchRecord record{};
  record.grid[0] = 99;
  EXPECT_TRUE((*code)->assumptions_hold(record));
  record.grid[0] = 100;
  EXPECT_FALSE((*code)->assumptions_hold(record));
}

TEST(Code, HoldsWithoutAssumptions) {
  const Result<Object> object =
      object_from_text("define void @km_entry() { ret void }" + meta_text());
  ASSERT_TRUE(object);
  const Result<std::unique_ptr<Code>> code = Code::load(*object);
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_TRUE((*code)->assumptions_hold(LaunchRecord{}));
}

TEST(Code, KnowsItsRangeAndItsLines) {
  const Result<std::unique_ptr<Code>> loaded = Code::load(sample());
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Code& code = **loaded;
  const auto entry = reinterpret_cast<uint64_t>(code.grid_entry());
  EXPECT_LE(code.begin(), entry);
  EXPECT_LT(entry, code.end());
  std::vector<uint32_t> lines;
  for (uint64_t address = code.begin(); address < code.end(); ++address) {
    const Code::Position position = code.position_of(address);
    if (lines.empty() || lines.back() != position.line) lines.push_back(position.line);
    if (position.line == 12) {
      EXPECT_EQ(position.column, 5u);
    }
  }
  for (uint32_t line : {6u, 11u, 12u, 13u}) {
    EXPECT_THAT(lines, ::testing::Contains(line)) << line;
  }
  EXPECT_EQ(code.position_of(code.begin() - 1).line, 0u);
  EXPECT_EQ(code.position_of(code.end()).line, 0u);
  EXPECT_EQ(code.position_of(code.end() - 1).line, 0u);  // padding
}

TEST(Code, LivesWithoutLines) {
  const Result<Object> object =
      object_from_text("define void @km_entry() { ret void }" + meta_text());
  ASSERT_TRUE(object);
  const Result<std::unique_ptr<Code>> code = Code::load(*object);
  ASSERT_TRUE(code);
  EXPECT_EQ((*code)->position_of((*code)->begin()).line, 0u);
}

TEST(Code, IsNeverWritableAndExecutable) {
  const Result<std::unique_ptr<Code>> code = Code::load(sample());
  ASSERT_TRUE(code);
  FILE* maps = std::fopen("/proc/self/maps", "r");
  ASSERT_NE(maps, nullptr);
  char line[512];
  bool found = false;
  while (std::fgets(line, sizeof line, maps)) {
    unsigned long begin = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3) continue;
    if (begin > (*code)->begin() || (*code)->begin() >= end) continue;
    found = true;
    EXPECT_STREQ(rights, "r-xp");
  }
  std::fclose(maps);
  EXPECT_TRUE(found);
}

std::string load_error(const std::string& text) {
  const Result<Object> object = object_from_text(text);
  if (!object) return "not emitted: " + object.error().message;
  const Result<std::unique_ptr<Code>> code = Code::load(*object);
  if (code) return "loaded";
  EXPECT_EQ(code.error().status, KM_ERROR_COMPILER) << code.error().message;
  return code.error().message;
}

TEST(Code, RejectsAddressesInData) {
  EXPECT_THAT(load_error(R"(
    @pointer = constant i64 ptrtoint (ptr @km_entry to i64)
    define void @km_entry() { ret void })" +
                         meta_text()),
              HasSubstr("writable"));
}

/// The relocations of the instructions, to be spoilt.
std::span<Elf64_Rela> relocations_of(Object& object) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(object.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(object.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_RELA) continue;
    if (!(sections[sections[i].sh_info].sh_flags & SHF_EXECINSTR)) continue;
    auto* first = reinterpret_cast<Elf64_Rela*>(object.data() + sections[i].sh_offset);
    return {first, sections[i].sh_size / sizeof(Elf64_Rela)};
  }
  return {};
}

TEST(Code, RejectsRelocationsThatDoNotFit) {
  struct Case {
    uint64_t type, offset;
    int64_t addend;
    uint64_t symbol;
    const char* message;
  };
  const Case cases[] = {
      {R_X86_64_64, 4, 0, 1, "R_X86_64_64"},
      {R_X86_64_GOTPCREL, 4, 0, 1, "R_X86_64_GOTPCREL"},
      {R_X86_64_PC32, 1 << 20, 0, 1, "outside"},
      {R_X86_64_PC32, UINT64_MAX - 1, 0, 1, "outside"},
      {R_X86_64_PC32, 4, int64_t{1} << 40, 1, "too far"},
      {R_X86_64_PC32, 4, 0, 1 << 20, "names no symbol"},
      {R_X86_64_PC32, 4, 0, 0, "not defined"},
  };
  for (const Case& c : cases) {
    Object object = sample();
    const std::span<Elf64_Rela> relocations = relocations_of(object);
    ASSERT_FALSE(relocations.empty());
    uint64_t symbol = ELF64_R_SYM(relocations[0].r_info);
    if (c.symbol != 1) symbol = c.symbol;
    relocations[0] = {c.offset, ELF64_R_INFO(symbol, c.type), c.addend};
    const Result<std::unique_ptr<Code>> code = Code::load(object);
    ASSERT_FALSE(code) << c.message;
    EXPECT_EQ(code.error().status, KM_ERROR_COMPILER);
    EXPECT_THAT(code.error().message, HasSubstr(c.message));
  }
}

TEST(Code, RejectsWritableData) {
  EXPECT_THAT(load_error(R"(
    @counter = global i64 7
    define ptr @km_entry() { ret ptr @counter })" +
                         meta_text()),
              HasSubstr("writable"));
  EXPECT_THAT(load_error(R"(
    @counter = global i64 0
    define ptr @km_entry() { ret ptr @counter })" +
                         meta_text()),
              HasSubstr("uninitialised"));
}

TEST(Code, RejectsObjectsWithoutEntryOrMeta) {
  Result<Object> object = object_from_text("define void @other() { ret void }" + meta_text());
  ASSERT_TRUE(object);
  Result<std::unique_ptr<Code>> code = Code::load(*object);
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().message, HasSubstr("km_entry"));
  object = object_from_text("define void @km_entry() { ret void }");
  ASSERT_TRUE(object);
  code = Code::load(*object);
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().message, HasSubstr("km_meta"));
}

TEST(Code, RejectsForeignMeta) {
  EXPECT_THAT(load_error(R"(
    @km_meta = constant [32 x i8] zeroinitializer
    define void @km_entry() { ret void })"),
              HasSubstr("another version"));
  EXPECT_THAT(load_error(R"(
    @km_meta = constant [4 x i8] zeroinitializer
    define void @km_entry() { ret void })"),
              HasSubstr("cut off"));
}

TEST(Code, SurvivesTruncation) {
  const Object whole = sample();
  for (size_t size = 0; size < whole.size(); ++size) {
    const Object part(whole.begin(), whole.begin() + size);
    EXPECT_FALSE(Code::load(part)) << size;
  }
}

/// Gives all sections with relocations another size of their entries; counts them.
int set_relocation_size(Object& object, uint64_t size_bytes) {
  Elf64_Ehdr file;
  std::memcpy(&file, object.data(), sizeof file);
  int changed = 0;
  for (unsigned i = 0; i < file.e_shnum; ++i) {
    uint8_t* const at = object.data() + file.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr header;
    std::memcpy(&header, at, sizeof header);
    if (header.sh_type != SHT_RELA) continue;
    header.sh_entsize = size_bytes;
    std::memcpy(at, &header, sizeof header);
    ++changed;
  }
  return changed;
}

TEST(Code, RejectsRelocationsOfAnotherSize) {
  for (const uint64_t size_bytes : {0U, 16U, 25U}) {
    Object object = sample();
    ASSERT_GT(set_relocation_size(object, size_bytes), 1);
    const Result<std::unique_ptr<Code>> code = Code::load(object);
    ASSERT_FALSE(code) << size_bytes;
    EXPECT_THAT(code.error().message, HasSubstr("has relocations of"));
  }
}

/// Nothing but an error may come of a corrupt object; what still loads may still be asked.
TEST(Code, SurvivesCorruption) {
  const Object whole = sample();
  std::mt19937 random(20261121);
  int loaded = 0;
  for (int round = 0; round < 20000; ++round) {
    Object object = whole;
    const int changes = 1 + int(random() % 4);
    for (int i = 0; i < changes; ++i) {
      // Headers and tables, at the ends of the file, matter most.
      const size_t range = random() % 2 ? object.size() : 64 + random() % 64;
      const size_t at = random() % 2 ? random() % range : object.size() - 1 - random() % range;
      object[at] = random() % 3 ? uint8_t(random()) : uint8_t(random() % 2 ? 0xFF : 0);
    }
    const Result<std::unique_ptr<Code>> code = Code::load(object);
    if (!code) continue;
    ++loaded;
    if (loaded % 16 == 0) (*code)->position_of((*code)->begin());
  }
  EXPECT_GT(loaded, 0);
}

}  // namespace
}  // namespace km::simt
