// Handles of the libraries' objects. They are ids, so stale handles and garbage are detected.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace km::library {

/// The kinds of objects with ids, numbered across all libraries so that an id of one kind is never
/// valid as another.
enum class HandleKind : uint8_t {
  kCublas = 1,
  kCublasLt = 2,
  kCurand = 7,
  kCublasXt = 8,
  kMatrixLayout = 16,
  kMatmulDescriptor = 17,
  kTransformDescriptor = 18,
  kPreference = 19,
  kEmulationDescriptor = 20,
  kJitLink = 24,
  kPtxCompiler = 25,
  kCusparse = 40,
  kSparseMatrix = 41,
  kSparseDense = 42,
  kSparseVector = 43,
  kSparseDenseVector = 44,
  kSparseDescriptor = 45,
  kSparseSolver = 46,
  kSparseProduct = 47,
  kSparseInfo = 48,
  kCusolverDn = 64,
  kCusolverSp = 65,
  kCusolverRf = 66,
  kCusolverMg = 67,
  kSolverParams = 68,
  kRefinementParams = 69,
  kRefinementInfos = 70,
  kSyevjInfo = 71,
  kGesvdjInfo = 72,
  kMgGrid = 73,
  kMgMatrix = 74,
  kCsrqrInfo = 75,
  kCsrqrInfoHost = 76,
  kCsrcholInfo = 77,
  kCsrcholInfoHost = 78,
  kCsrluInfoHost = 79,
  kCudnn = 80,
  kDnnTensor = 81,
  kDnnFilter = 82,
  kDnnConvolution = 83,
  kDnnPooling = 84,
  kDnnActivation = 85,
  kDnnLrn = 86,
  kDnnOpTensor = 87,
  kDnnReduce = 88,
  kDnnDropout = 89,
  kDnnSpatialTransformer = 90,
  kDnnTransform = 91,
  kDnnCtcLoss = 92,
  kDnnSequence = 93,  // descriptors of RNNs, sequences and attention
  kDnnBackend = 94,
  kDnnFusedOps = 95,
  kCuptiSubscriber = 96,
  kNcclCommunicator = 97,
  kNcclRegistration = 98,
  kNcclWindow = 99
};

// Ids are never valid addresses, and are positive because Python programs hold handles in signed
// integers. The bits for the kind are above those that distinguish objects of one kind.
constexpr uint64_t kFirstHandle = uint64_t{1} << 62;
constexpr int kHandleKindBit = 40;

/// The tag of a kind's ids in one version of a library: the libraries of CUDA 12 and 13 may be in
/// one process.
constexpr uint64_t handle_tag(HandleKind kind, unsigned library_version) {
  return static_cast<uint64_t>(kind) | uint64_t{library_version & 0x3f} << 8;
}
/// True for an id of the kind from any version of its library, even after the object has ended.
constexpr bool is_handle_of(uint64_t id, HandleKind kind) {
  return id >> 62 == 1 && (id >> kHandleKindBit & 0xff) == static_cast<uint64_t>(kind);
}

/// Thread-safe table of objects by id. A call that uses an object keeps it alive.
template <class T>
class HandleMap {
 public:
  /// Adds an object and returns its id, which is unique among all kinds if the tags differ.
  uint64_t add(std::shared_ptr<T> object, uint64_t tag) {
    const std::lock_guard lock(mutex_);
    const uint64_t id = kFirstHandle + (tag << kHandleKindBit) + (++last_ << 4);
    objects_.emplace(id, std::move(object));
    return id;
  }
  /// Null if the id is not live.
  std::shared_ptr<T> find(uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(id);
    return found == objects_.end() ? nullptr : found->second;
  }
  /// Ends the id and returns its object; null if the id is not live.
  std::shared_ptr<T> remove(uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(id);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::unordered_map<uint64_t, std::shared_ptr<T>> objects_;
  uint64_t last_ = 0;
};

/// A map that is never destroyed, because other threads may make calls during exit.
template <class T>
HandleMap<T>& handle_map() {
  union Forever {
    HandleMap<T> map;
    Forever() : map() {}
    ~Forever() {}
  };
  static Forever forever;
  return forever.map;
}

}  // namespace km::library
