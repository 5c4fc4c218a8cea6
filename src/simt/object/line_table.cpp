#include "simt/object/line_table.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ELFObjectFile.h>

#include <algorithm>
#include <tuple>

#include "simt/object/isolated.h"

namespace km::simt {
namespace {

void add_rows(const llvm::DWARFDebugLine::LineTable& table,
              std::span<const ElfImage::Section> sections, std::vector<LineRow>& rows) {
  for (const llvm::DWARFDebugLine::Row& row : table.Rows) {
    for (const ElfImage::Section& section : sections) {
      if (section.index != row.Address.SectionIndex) continue;
      if (row.Address.Address > section.size_bytes) continue;
      rows.push_back({section.offset + row.Address.Address, row.Line, row.Column,
                      row.EndSequence != 0, static_cast<uint32_t>(rows.size())});
    }
  }
}

std::vector<LineRow> read(std::span<const uint8_t> object,
                          std::span<const ElfImage::Section> sections) {
  std::vector<LineRow> rows;
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, ""));
  if (!file) {
    llvm::consumeError(file.takeError());
    return rows;
  }
  // Faults in debug information are ignored, because it only serves messages.
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  auto context = llvm::DWARFContext::create(
      **file, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "", ignore, ignore);
  for (const std::unique_ptr<llvm::DWARFUnit>& unit : context->compile_units()) {
    llvm::Expected<const llvm::DWARFDebugLine::LineTable*> table =
        context->getLineTableForUnit(unit.get(), ignore);
    if (!table) {
      llvm::consumeError(table.takeError());
    } else if (*table) {
      add_rows(**table, sections, rows);
    }
  }
  // If one sequence begins where another ends, the beginning takes precedence; otherwise the later
  // row.
  std::sort(rows.begin(), rows.end(), [](const LineRow& a, const LineRow& b) {
    return std::tuple(a.offset, !a.is_end, a.sequence) <
           std::tuple(b.offset, !b.is_end, b.sequence);
  });
  return rows;
}

}  // namespace

std::vector<LineRow> read_line_table(std::span<const uint8_t> object,
                                     std::span<const ElfImage::Section> sections) {
  // LLVM's reader of debug information may have fatal errors, so it is isolated.
  auto rows =
      run_isolated([&]() -> Result<std::vector<LineRow>> { return read(object, sections); });
  return rows ? std::move(*rows) : std::vector<LineRow>();
}

}  // namespace km::simt
