// Heat in a plate that is spread over ranks: each has some rows, and exchanges the rows at its
// edges with its neighbours before each step (a halo exchange).
//
//   halo                                          four ranks of this process
//   KM_COMM=mpi mpirun -n 4 halo /shared/id       processes of MPI, also of several machines
//
// The processes of a launcher know their numbers from its environment, and pass the communicator's
// id by a file that all of them see.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <kernelmill/kernelmill.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kColumns = 64, kRows = 64, kSteps = 50;

float start_of(std::size_t row, std::size_t column) {
  return column == 0 ? 100.0f : static_cast<float>((row * 7 + column * 3) % 11);
}

// The rows of one rank, with a neighbour's row before and after them.
struct Part {
  Part(std::size_t rank, std::size_t rank_count)
      : rank(rank),
        rank_count(rank_count),
        first(kRows * rank / rank_count),
        rows(kRows * (rank + 1) / rank_count - first),
        module(km::module::load_file(context, HEAT_FILE)),
        heat(module.function("heat")) {
    std::vector<float> start((rows + 2) * kColumns, 0.0f);
    for (std::size_t i = 0; i < rows * kColumns; ++i) {
      start[kColumns + i] = start_of(first + i / kColumns, i % kColumns);
    }
    now = km::slice<float>::copy_of(stream, start);
    next = km::slice<float>::copy_of(stream, start);
  }

  // Gives the rows at the edges to the neighbours, and takes theirs; at the plate's own edges there
  // is no neighbour, and the rows stay 0.
  void exchange(const km::comm& ranks) const {
    const auto below = static_cast<std::uint32_t>(rank) + 1;
    const auto above = static_cast<std::uint32_t>(rank) - 1;
    if (rank != 0) {
      ranks.send(stream, now.part(kColumns, kColumns), kColumns, above);
      ranks.receive(stream, now.part(0, kColumns), kColumns, above);
    }
    if (rank + 1 != rank_count) {
      ranks.send(stream, now.part(rows * kColumns, kColumns), kColumns, below);
      ranks.receive(stream, now.part((rows + 1) * kColumns, kColumns), kColumns, below);
    }
  }
  void step() {
    const auto cells = static_cast<std::uint32_t>(rows * kColumns);
    stream.launch(heat)
        .grid((cells + 127) / 128)
        .block(128)
        .args(now, next, static_cast<int>(rows), static_cast<int>(kColumns))
        .submit();
    std::swap(now, next);
  }

  std::size_t rank, rank_count, first, rows;
  km::context context{"auto"};
  km::stream stream{context};
  km::module module;
  km::function heat;
  km::slice<float> now, next;
};

// The whole plate, on the host.
std::vector<float> plate_alone() {
  std::vector<float> now((kRows + 2) * kColumns, 0.0f);
  for (std::size_t i = 0; i < kRows * kColumns; ++i) {
    now[kColumns + i] = start_of(i / kColumns, i % kColumns);
  }
  std::vector<float> next = now;
  for (std::size_t s = 0; s < kSteps; ++s) {
    for (std::size_t at = kColumns; at < (kRows + 1) * kColumns; ++at) {
      if (at % kColumns == 0 || at % kColumns == kColumns - 1) continue;
      const float around = (now[at - kColumns] + now[at + kColumns]) + (now[at - 1] + now[at + 1]);
      next[at] = now[at] + 0.2f * (around - 4.0f * now[at]);
    }
    std::swap(now, next);
  }
  return now;
}

// True if the part is the same as in the whole plate.
bool is_right(const Part& part) {
  const std::vector<float> whole = plate_alone(), found = part.now.to_vector(part.stream);
  for (std::size_t i = 0; i < part.rows * kColumns; ++i) {
    const float wanted = whole[(part.first + 1) * kColumns + i];
    if (std::fabs(found[kColumns + i] - wanted) <= 1e-3f) continue;
    std::printf("row %zu, column %zu: %g, not %g\n", part.first + i / kColumns, i % kColumns,
                static_cast<double>(found[kColumns + i]), static_cast<double>(wanted));
    return false;
  }
  return true;
}

// Ranks that one thread drives: what they exchange begins together.
bool run(std::vector<Part>& parts, const std::vector<km::comm>& ranks) {
  for (std::size_t s = 0; s < kSteps; ++s) {
    km::comm::group([&] {
      for (std::size_t i = 0; i < parts.size(); ++i) parts[i].exchange(ranks[i]);
    });
    for (Part& each : parts) each.step();
  }
  bool is_good = true;
  for (const Part& each : parts) is_good &= is_right(each);
  for (const km::comm& each : ranks) each.status();
  const km_comm_info info = ranks[0].info();
  std::printf("rank %u of %u, %s: %s\n", info.rank, info.rank_count, info.reason,
              is_good ? "the plate is right" : "the plate is WRONG");
  return is_good;
}

bool run_here(std::size_t rank_count) {
  std::vector<Part> parts;
  std::vector<km_context> contexts;
  for (std::size_t i = 0; i < rank_count; ++i) {
    parts.emplace_back(i, rank_count);
    contexts.push_back(parts.back().context.get());
  }
  return run(parts, km::comm::create_all(contexts));
}

km_comm_id pass_id(const km::context& context, bool is_first, const std::string& path) {
  km_comm_id id{};
  if (is_first) {
    id = km::comm::create_id(context);
    std::ofstream(path + ".new", std::ios::binary)
        .write(reinterpret_cast<const char*>(id.bytes), sizeof id.bytes);
    std::filesystem::rename(path + ".new", path);
    return id;
  }
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(id.bytes), sizeof id.bytes);
  return id;
}

bool run_rank(std::size_t rank, std::size_t rank_count, const std::string& path) {
  std::vector<Part> parts;
  parts.emplace_back(rank, rank_count);
  const km_comm_id id = pass_id(parts[0].context, rank == 0, path);
  std::vector<km::comm> ranks;
  ranks.emplace_back(parts[0].context, id, static_cast<std::uint32_t>(rank_count),
                     static_cast<std::uint32_t>(rank));
  if (rank == 0) std::filesystem::remove(path);
  return run(parts, ranks);
}

// A number that a launcher has given: Open MPI's, or one of those that know MPICH's names.
std::size_t number_of(const char* open_mpi, const char* mpich, std::size_t otherwise) {
  for (const char* name : {open_mpi, mpich}) {
    if (const char* const text = std::getenv(name)) return std::strtoull(text, nullptr, 10);
  }
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::size_t count = number_of("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 0);
  const std::size_t rank = number_of("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0);
  const bool is_good = argc > 1 && count != 0 ? run_rank(rank, count, argv[1]) : run_here(4);
  return is_good ? 0 : 1;
} catch (const km::error& error) {
  std::fprintf(stderr, "%s\n%s\n", error.what(), error.suggestion());
  return 1;
}
