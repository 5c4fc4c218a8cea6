// Fat binaries and the linking of PTX, from inside: the library's own sources, without the library.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <sys/mman.h>
#include <zstd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>

#include "dropin/cuda/module/image.h"
#include "dropin/toolchain/assembler.h"
#include "dropin/toolchain/container.h"
#include "dropin/toolchain/fat_binary.h"
#include "dropin/toolchain/host_object.h"
#include "dropin/toolchain/linker.h"
#include "dropin/toolchain/ptx_edits.h"
#include "dropin/toolchain/ptx_link.h"

namespace km::dropin {

using namespace cu;  // NOLINT
using toolchain::link_ptx;
using toolchain::managed_variables;

namespace {

std::string last_reason;

}  // namespace

// In place of the library's, which logs.
CUresult fail(CUresult result, const char* format, ...) noexcept {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  last_reason = text;
  return result;
}

// In place of the library's too: no test here reads files.
CUresult result_of(const Error& error) noexcept {
  return fail(CUDA_ERROR_OPERATING_SYSTEM, "%s", error.message.c_str());
}

namespace {

enum class Packing { kNone, kLz4, kZstd };

void append(std::string* to, uint64_t value, size_t bytes) {
  to->append(reinterpret_cast<const char*>(&value), bytes);
}

std::string pack(const std::string& text, Packing packing) {
  std::string packed(text.size() * 2 + 256, '\0');
  size_t size = 0;
  if (packing == Packing::kNone) return text;
  if (packing == Packing::kLz4) {
    size = static_cast<size_t>(LZ4_compress_default(text.data(), packed.data(),
                                                    static_cast<int>(text.size()),
                                                    static_cast<int>(packed.size())));
  } else {
    size = ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3);
  }
  packed.resize(size);
  return packed;
}

/// One image of a fat binary, with its header of 64 bytes.
std::string entry(uint16_t kind, uint32_t capability, const std::string& text, Packing packing,
                  uint64_t more_flags = 0) {
  const std::string packed = pack(text, packing);
  const std::string payload = packed + std::string((8 - packed.size() % 8) % 8, '\0');
  std::string made;
  append(&made, kind, 2);
  append(&made, 0x101, 2);
  append(&made, 64, 4);
  append(&made, payload.size(), 8);
  append(&made, packing == Packing::kNone ? 0 : packed.size(), 4);
  append(&made, 0, 4);
  append(&made, 0, 2);
  append(&made, 8, 2);
  append(&made, capability, 4);
  append(&made, 0, 8);
  const uint64_t flags[] = {0, 0x2000, 0x8000};
  append(&made, flags[static_cast<int>(packing)] | more_flags, 8);
  append(&made, 0, 8);
  append(&made, packing == Packing::kNone ? 0 : text.size(), 8);
  return made + payload;
}

std::string fatbin(const std::string& entries) {
  std::string made;
  append(&made, 0xBA55ED50, 4);
  append(&made, 1, 2);
  append(&made, 16, 2);
  append(&made, entries.size(), 8);
  return made + entries;
}

std::string long_text() {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (int i = 0; i < 200; ++i) text += ".visible .global .u32 v" + std::to_string(i) + ";\n";
  return text;
}

/// Bytes with an end that nothing may read across.
class Guarded {
 public:
  static constexpr size_t kRoom = 1 << 16, kPage = 4096;
  Guarded() {
    map_ = static_cast<char*>(
        mmap(nullptr, kRoom + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(map_ + kRoom, kPage, PROT_NONE);
  }
  ~Guarded() { munmap(map_, kRoom + kPage); }
  const char* put(const std::string& bytes) {
    char* const at = map_ + kRoom - bytes.size();
    std::memcpy(at, bytes.data(), bytes.size());
    return at;
  }

 private:
  char* map_;
};

TEST(Images, TextIsFoundInEveryForm) {
  const std::string text = long_text();
  for (const Packing packing : {Packing::kNone, Packing::kLz4, Packing::kZstd}) {
    const std::string image = fatbin(entry(1, 80, text, packing));
    std::string found;
    EXPECT_EQ(read_image(image.data(), image.size(), 90, &found), CUDA_SUCCESS);
    EXPECT_EQ(found, text);
    EXPECT_EQ(read_image(image.data(), 0, 90, &found), CUDA_SUCCESS);
  }
}

TEST(Images, TheNewestThatSuitsIsTaken) {
  const std::string image =
      fatbin(entry(2, 90, "machine code", Packing::kNone) + entry(1, 70, "seven", Packing::kLz4) +
             entry(1, 80, "eight", Packing::kZstd) + entry(1, 100, "ten", Packing::kNone));
  std::string found;
  EXPECT_EQ(read_image(image.data(), image.size(), 90, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, "eight");
  EXPECT_EQ(read_image(image.data(), image.size(), 60, &found), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(last_reason.find("is for compute capability 7.0; this device has 6.0. KM_CPU_CC=7.0"),
            std::string::npos)
      << last_reason;
}

TEST(Images, TheDefaultDeviceTakesWhatIsFor90WhereThereIsNoOther) {
  const std::string both = fatbin(entry(1, 80, "eight", Packing::kNone) +
                                  entry(1, 90, "nine", Packing::kNone)),
                    one = fatbin(entry(1, 90, "nine", Packing::kNone)),
                    later = fatbin(entry(1, 100, "ten", Packing::kNone));
  std::string found;
  EXPECT_EQ(read_image(both.data(), both.size(), 89, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, "eight");
  EXPECT_EQ(read_image(one.data(), one.size(), 89, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, "nine");
  EXPECT_EQ(read_image(one.data(), one.size(), 86, &found), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(read_image(later.data(), later.size(), 89, &found), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST(Images, PtxOfOneArchitectureOrFamilyIsTakenThereOnly) {
  constexpr uint64_t kArchitecture = 0x100000, kFamily = 0x200000;  // as fatbinary 13 writes them
  const std::string image = fatbin(entry(1, 90, "nine", Packing::kNone) +
                                   entry(1, 100, "100a", Packing::kNone, kArchitecture) +
                                   entry(1, 103, "103f", Packing::kNone, kFamily));
  std::string found;
  const auto taken = [&](int capability) {
    EXPECT_EQ(read_image(image.data(), image.size(), capability, &found), CUDA_SUCCESS);
    return found;
  };
  EXPECT_EQ(taken(100), "100a");
  EXPECT_EQ(taken(103), "103f");
  EXPECT_EQ(taken(101), "nine");
  EXPECT_EQ(taken(120), "nine");
  const std::string newer =
      fatbin(entry(1, 120, "twelve", Packing::kNone) + entry(1, 90, "nine", Packing::kNone));
  EXPECT_EQ(read_image(newer.data(), newer.size(), 120, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, "twelve");
}

TEST(Images, LinkTimeCodeIsFound) {
  const std::string text = long_text();
  const std::string with =
      fatbin(entry(1, 80, text, Packing::kLz4) + entry(8, 80, text, Packing::kLz4));
  EXPECT_TRUE(toolchain::has_link_time_image(with));
  EXPECT_FALSE(toolchain::has_link_time_image(with.substr(0, with.size() - 8)));
  EXPECT_FALSE(toolchain::has_link_time_image(fatbin(entry(1, 80, text, Packing::kNone))));
  EXPECT_FALSE(toolchain::has_link_time_image(text));
}

TEST(Images, AWrapperPointsToTheImage) {
  const std::string image = fatbin(entry(1, 80, "text", Packing::kNone));
  struct {
    uint32_t magic = 0x466243B1, version = 1;
    const char* data;
    void* file = nullptr;
  } wrapper{.data = image.data()};
  std::string found;
  EXPECT_EQ(read_image(&wrapper, 0, 90, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, "text");
  EXPECT_EQ(read_image(&wrapper, sizeof wrapper, 90, &found), CUDA_ERROR_INVALID_IMAGE);
}

TEST(Images, WhatIsCutOffIsRefused) {
  for (const Packing packing : {Packing::kNone, Packing::kLz4, Packing::kZstd}) {
    const std::string image = fatbin(entry(1, 80, long_text(), packing));
    Guarded guarded;
    std::string found;
    for (size_t size = 4; size < image.size(); ++size) {
      const char* const at = guarded.put(image.substr(0, size));
      EXPECT_EQ(read_image(at, size, 90, &found), CUDA_ERROR_INVALID_IMAGE) << size;
    }
  }
}

TEST(Images, MachineCodeAloneIsRefused) {
  std::string found;
  EXPECT_EQ(read_image("\177ELF and more", 13, 90, &found), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(read_image("", 0, 90, &found), CUDA_ERROR_INVALID_IMAGE);
}

TEST(Images, DamagedOnesNeverCrash) {
  std::mt19937 random(7);
  Guarded guarded;
  const std::string images[] = {
      fatbin(entry(1, 70, "short", Packing::kNone) + entry(1, 80, long_text(), Packing::kLz4)),
      fatbin(entry(2, 80, "code", Packing::kNone) + entry(1, 80, long_text(), Packing::kZstd)),
      fatbin(entry(1, 50, long_text(), Packing::kNone)),
  };
  int read = 0;
  for (int turn = 0; turn < 100000; ++turn) {
    std::string image = images[random() % 3];
    // Headers are what counts: half of the changes go there.
    for (uint32_t i = 1 + random() % 4; i > 0; --i) {
      const size_t most = random() % 2 == 0 ? std::min<size_t>(160, image.size()) : image.size();
      const size_t at = 4 + random() % (most - 4);
      image[at] = static_cast<char>(random() % 3 == 0 ? 0xFF : image[at] ^ (1 << random() % 8));
    }
    if (random() % 4 == 0) image.resize(4 + random() % (image.size() - 4));
    std::string found;
    read += read_image(guarded.put(image), image.size(), 90, &found) == CUDA_SUCCESS ? 1 : 0;
  }
  EXPECT_GT(read, 1000);  // not all of it is refused at the door
  EXPECT_LT(read, 99000);
}

const char kKernels[] =
    "// two kernels\n.version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 1;\n"
    ".func helper() { ret; }\n"
    ".visible .entry first(.param .u64 p) { ret; }\n"
    ".visible .entry second() { call helper; ret; }\n";

std::string container_of(const std::string& text) {
  toolchain::AssemblerOptions options;
  options.gpu_name = "sm_86";
  const auto made = toolchain::assemble(text, "kernels.ptx", options);
  EXPECT_EQ(made.status, toolchain::AssemblyStatus::kDone) << made.errors;
  return made.image;
}

TEST(Containers, TextIsFoundWithAndWithoutALength) {
  const std::string image = container_of(kKernels);
  Guarded guarded;  // nothing behind the image may be read
  const char* const at = guarded.put(image);
  std::string found;
  EXPECT_EQ(read_image(at, 0, 90, &found), CUDA_SUCCESS) << last_reason;
  EXPECT_EQ(found, kKernels);
  EXPECT_EQ(read_image(at, image.size(), 90, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, kKernels);
  const auto container = toolchain::read_container(at, image.size());
  ASSERT_TRUE(container);
  EXPECT_EQ(container->size_bytes, image.size());
  EXPECT_EQ(container->traits.capability, 86u);
  EXPECT_FALSE(container->traits.is_relocatable);
}

TEST(Containers, AreElfFilesWithTheModulesSymbols) {
  const std::string image = container_of(kKernels);
  Elf64_Ehdr header{};
  std::memcpy(&header, image.data(), sizeof header);
  EXPECT_EQ(header.e_machine, 190);
  EXPECT_EQ(header.e_type, ET_EXEC);
  EXPECT_EQ(header.e_flags & 0xFF, 86u);
  EXPECT_EQ(header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr), image.size());
  std::map<std::string, Elf64_Sym> symbols;
  const auto section = [&](uint64_t index) {
    Elf64_Shdr found{};
    std::memcpy(&found, image.data() + header.e_shoff + index * sizeof found, sizeof found);
    return found;
  };
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr names = section(table.sh_link);
    for (uint64_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol{};
      std::memcpy(&symbol, image.data() + table.sh_offset + at, sizeof symbol);
      symbols[image.data() + names.sh_offset + symbol.st_name] = symbol;
    }
  }
  for (const char* kernel : {"first", "second"}) {
    ASSERT_TRUE(symbols.contains(kernel));
    EXPECT_EQ(symbols[kernel].st_other, 0x10) << kernel;
    EXPECT_EQ(symbols[kernel].st_info, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)) << kernel;
    EXPECT_NE(symbols[kernel].st_size, 0u);
  }
  EXPECT_EQ(symbols["helper"].st_info, ELF64_ST_INFO(STB_LOCAL, STT_FUNC));
  EXPECT_EQ(symbols["counter"].st_info, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT));
  EXPECT_EQ(symbols["counter"].st_size, 4u);
}

TEST(Containers, WhatIsCutOffOrDamagedIsRefused) {
  const std::string image = container_of(kKernels);
  Guarded guarded;
  std::string found;
  for (size_t size = 4; size < image.size(); ++size) {
    EXPECT_NE(read_image(guarded.put(image.substr(0, size)), size, 90, &found), CUDA_SUCCESS);
  }
  std::mt19937 random(3);
  for (int turn = 0; turn < 100000; ++turn) {
    std::string damaged = image;
    for (uint32_t i = 1 + random() % 4; i > 0; --i) {
      const size_t table = damaged.size() - 5 * sizeof(Elf64_Shdr);
      const size_t at = random() % 2 == 0 ? random() % 64 : table + random() % 320;
      damaged[at] = static_cast<char>(random());
    }
    read_image(guarded.put(damaged), damaged.size(), 90, &found);
  }
}

TEST(Containers, AreTakenFromFatBinaries) {
  const std::string image = container_of(kKernels);
  std::string found;
  for (const Packing packing : {Packing::kNone, Packing::kLz4}) {
    const std::string fat =
        fatbin(entry(2, 80, "machine code", Packing::kNone) + entry(2, 86, image, packing));
    EXPECT_EQ(read_image(fat.data(), fat.size(), 89, &found), CUDA_SUCCESS) << last_reason;
    EXPECT_EQ(found, kKernels);
  }
  const std::vector<toolchain::NewImage> images{
      {toolchain::ImageKind::kElf, 86, image, ""},
      {toolchain::ImageKind::kPtx, 80, long_text(), "-v"}};
  for (const bool compresses : {false, true}) {
    const std::string fat = toolchain::write_fatbin(images, compresses);
    EXPECT_EQ(toolchain::fatbin_bytes(fat.data()), fat.size());
    EXPECT_EQ(read_image(fat.data(), 0, 89, &found), CUDA_SUCCESS);
    EXPECT_EQ(found, kKernels);
    EXPECT_EQ(read_image(fat.data(), 0, 80, &found), CUDA_SUCCESS);
    EXPECT_EQ(found, long_text());
  }
}

const char kCaller[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".extern .func (.param .b32 r) twice (.param .b32 v);\n"
    ".extern .global .u32 shared;\n"
    ".global .u32 mine = 1;\n"
    ".visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [mine]; ret; }\n";
const char kCallee[] =
    ".version 8.1\n.target sm_70\n.address_size 64\n"
    ".visible .global .u32 shared = 4;\n"
    ".global .u32 mine = 2; // \"not a string\n"
    ".visible .func (.param .b32 r) twice (.param .b32 v) { ret; }\n";

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

/// An object of the host whose section `name` has this content.
std::string host_object(const std::string& name, const std::string& content) {
  const std::string names = std::string(1, '\0') + name + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = EM_X86_64;
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shoff = sizeof header + content.size() + names.size();
  Elf64_Shdr sections[3] = {};
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sizeof header + content.size();
  sections[1].sh_size = names.size();
  sections[2].sh_name = 1;
  sections[2].sh_type = SHT_PROGBITS;
  sections[2].sh_offset = sizeof header;
  sections[2].sh_size = content.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + content + names +
         std::string(reinterpret_cast<const char*>(sections), sizeof sections);
}

std::string archive(const std::vector<std::string>& members) {
  std::string made = "!<arch>\n";
  for (const std::string& member : members) {
    char head[61];
    std::snprintf(head, sizeof head, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", "member.o/", 0, 0, 0, 644,
                  member.size());
    made += head + member + (member.size() % 2 == 0 ? "" : "\n");
  }
  return made;
}

TEST(HostObjects, FatBinariesAreFoundInObjectsAndArchives) {
  const std::string one = fatbin(entry(1, 80, "one", Packing::kNone)),
                    two = fatbin(entry(1, 80, "two", Packing::kLz4));
  const std::string object = host_object(".nv_fatbin", one + std::string(8, '\0') + two);
  EXPECT_THAT(toolchain::find_fatbins(object), testing::ElementsAre(one, two));
  EXPECT_TRUE(toolchain::find_fatbins(host_object(".data", one)).empty());
  const std::string library = archive({"text", host_object("__nv_relfatbin", two), object});
  EXPECT_THAT(toolchain::find_fatbins(library), testing::ElementsAre(two, one, two));
  EXPECT_EQ(toolchain::kind_of(object), toolchain::InputKind::kObject);
  EXPECT_EQ(toolchain::kind_of(library), toolchain::InputKind::kLibrary);
}

TEST(HostObjects, DamagedOnesNeverCrash) {
  std::mt19937 random(5);
  Guarded guarded;
  const std::string whole =
      archive({host_object(".nv_fatbin", fatbin(entry(1, 80, "one", Packing::kNone))), "text"});
  size_t found = 0;
  for (int turn = 0; turn < 100000; ++turn) {
    std::string library = turn % 2 == 0 ? whole : whole.substr(8 + 60);
    for (uint32_t i = 1 + random() % 4; i > 0; --i) {
      library[random() % library.size()] = static_cast<char>(random() % 2 == 0 ? 0xFF : random());
    }
    if (random() % 4 == 0) library.resize(1 + random() % library.size());
    const std::string_view bytes(guarded.put(library), library.size());
    found += toolchain::find_fatbins(bytes).size();
  }
  EXPECT_GT(found, 1000u);
}

TEST(Links, ObjectsAndLibrariesGiveTheirPtx) {
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
  const std::string caller = head +
                             ".extern .func callee();\n"
                             ".visible .entry run() { call callee; ret; }\n";
  const std::string callee = head + ".visible .func callee() { ret; }\n";
  toolchain::AssemblerOptions options;
  options.gpu_name = "sm_80";
  toolchain::Linker linker(options);
  const auto object = host_object("__nv_relfatbin", fatbin(entry(1, 80, callee, Packing::kZstd)));
  EXPECT_EQ(linker.add(toolchain::InputKind::kPtx, caller, "caller"),
            toolchain::InputStatus::kAdded);
  EXPECT_EQ(linker.add(toolchain::InputKind::kLibrary, archive({object}), "library"),
            toolchain::InputStatus::kAdded);
  const std::string image = linker.link();
  EXPECT_EQ(linker.errors(), "");
  std::string text;
  EXPECT_EQ(read_image(image.data(), image.size(), 80, &text), CUDA_SUCCESS);
  EXPECT_EQ(count(text, ".entry run"), 1u);
  EXPECT_EQ(count(text, ".func callee"), 2u);
  // Machine code alone is named.
  const auto code = host_object(".nv_fatbin", fatbin(entry(2, 80, "code", Packing::kNone)));
  EXPECT_EQ(linker.add(toolchain::InputKind::kObject, code, "code.o"),
            toolchain::InputStatus::kMachineCode);
  EXPECT_NE(linker.errors().find("'code.o' holds no PTX for sm_80"), std::string::npos);
}

TEST(PtxLink, OneInputStaysAsItIs) {
  const auto linked = link_ptx({{"a", "anything at all"}});
  ASSERT_TRUE(linked);
  EXPECT_EQ(*linked, "anything at all");
}

TEST(PtxLink, DefinitionsTakeThePlaceOfDeclarations) {
  const auto linked = link_ptx({{"a", kCaller}, {"b", kCallee}});
  ASSERT_TRUE(linked);
  EXPECT_TRUE(linked->starts_with(".version 8.1\n.target sm_70")) << *linked;
  EXPECT_EQ(count(*linked, ".extern"), 0u) << *linked;
  EXPECT_EQ(count(*linked, "shared = 4"), 1u) << *linked;
  EXPECT_LT(linked->find("shared = 4"), linked->find(".entry k"));
  EXPECT_EQ(count(*linked, ".func"), 2u) << *linked;  // a declaration in front, and the body
}

TEST(PtxLink, NamesOfOneInputAreItsOwn) {
  const auto linked = link_ptx({{"a", kCaller}, {"b", kCallee}});
  ASSERT_TRUE(linked);
  EXPECT_EQ(count(*linked, "mine = 1"), 1u) << *linked;
  EXPECT_EQ(count(*linked, "mine__1 = 2"), 1u) << *linked;
  EXPECT_NE(linked->find("[mine]"), std::string::npos);
}

TEST(PtxLink, WhatIsDefinedTwiceIsAnError) {
  const auto linked = link_ptx({{"first", kCallee}, {"second", kCallee}});
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().status, KM_ERROR_INVALID_PTX);
  EXPECT_NE(linked.error().message.find("'second', first defined in 'first'"), std::string::npos)
      << linked.error().message;
}

TEST(PtxLink, WeakOnesAreTakenOnce) {
  const std::string unit =
      ".version 7.0\n.target sm_50\n.address_size 64\n.weak .global .u32 w = 3;\n";
  const auto linked = link_ptx({{"a", unit}, {"b", unit}});
  ASSERT_TRUE(linked);
  EXPECT_EQ(count(*linked, "w = 3"), 1u) << *linked;
}

TEST(PtxLink, ManagedVariablesAreFound) {
  const auto found = managed_variables(
      ".global .attribute(.managed) .align 4 .u32 first = 1;\n"
      ".visible .global .attribute(.managed, .unified(1, 2)) .align 16 .b8 second[16];\n"
      ".global .align 4 .u32 other; // .attribute(.managed)\n");
  EXPECT_THAT(found, testing::ElementsAre("first", "second"));
  EXPECT_TRUE(managed_variables("").empty());
  EXPECT_TRUE(managed_variables(".attribute(.managed").empty());
}

TEST(PtxLink, DamagedTextsNeverCrash) {
  std::mt19937 random(11);
  const std::string pieces[] = {"{",        "}",      "\"", "/*", ";",
                                ".extern ", ".func ", "=",  "(",  "\n.loc"};
  size_t linked_count = 0;
  for (int turn = 0; turn < 100000; ++turn) {
    std::string texts[] = {kCaller, kCallee};
    for (std::string& text : texts) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.resize(at);
          break;
        case 1:
          text[at] = static_cast<char>(random());
          break;
        case 2:
          text.erase(at, 1 + random() % 20);
          break;
        default:
          text.insert(at, pieces[random() % std::size(pieces)]);
      }
    }
    linked_count += link_ptx({{"a", texts[0]}, {"b", texts[1]}}) ? 1 : 0;
    managed_variables(texts[0]);
  }
  EXPECT_GT(linked_count, 1000u);
}

}  // namespace
}  // namespace km::dropin
