// The CUDA libraries beside the driver under test, on the runtime. Pointers to the
// host's memory may be wild in every call: the libraries promise a status for them.
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "caller.h"
#include "texts.h"

namespace km::fuzz {
namespace {

#include "generated/library_calls.inc"

extern "C" {
int32_t cudaDeviceReset();
int32_t cudaStreamQuery(Word stream);
}

constexpr Word kPerThreadStream = 2;
constexpr Word kAttentionWidth = 4;  // elements of all vectors of cuDNN's attention

constexpr Maker kMakers[] = {
    {k_stream, "cudaStreamCreate", 2},
    {k_cublas, "cublasCreate_v2", 2},
    {k_cublasLt, "cublasLtCreate", 1},
    {k_cublasXt, "cublasXtCreate", 1},
    {k_curand, "curandCreateGenerator", 3},
    {k_distribution, "curandCreatePoissonDistribution", 1},
    {k_cufft, "cufftPlan1d", 3},
    {k_cufft, "cufftCreate", 2},
    {k_cufftArray, "cufftXtMalloc", 2},
    {k_solver, "cusolverDnCreate", 3},
    {k_sparse_solver, "cusolverSpCreate", 1},
    {k_refactorization, "cusolverRfCreate", 2},
    {k_solver_params, "cusolverDnCreateParams", 1},
    {k_refinement, "cusolverDnIRSParamsCreate", 1},
    {k_refinement_infos, "cusolverDnIRSInfosCreate", 1},
    {k_syevj, "cusolverDnCreateSyevjInfo", 1},
    {k_gesvdj, "cusolverDnCreateGesvdjInfo", 1},
    {k_sparse_qr, "cusolverSpCreateCsrqrInfo", 1},
    {k_host_qr, "cusolverSpCreateCsrqrInfoHost", 1},
    {k_sparse_cholesky, "cusolverSpCreateCsrcholInfo", 1},
    {k_host_cholesky, "cusolverSpCreateCsrcholInfoHost", 1},
    {k_host_lu, "cusolverSpCreateCsrluInfoHost", 1},
    {k_layout, "cublasLtMatrixLayoutCreate", 4},
    {k_matmul, "cublasLtMatmulDescCreate", 2},
    {k_transform, "cublasLtMatrixTransformDescCreate", 1},
    {k_preference, "cublasLtMatmulPreferenceCreate", 1},
    {k_emulation, "cublasLtEmulationDescCreate", 1},
    {k_cusparse, "cusparseCreate", 2},
    {k_sparse_settings, "cusparseCreateMatDescr", 2},
    {k_sparse_SpMat, "cusparseCreateCsr", 6},
    {k_sparse_DnMat, "cusparseCreateDnMat", 4},
    {k_sparse_SpVec, "cusparseCreateSpVec", 2},
    {k_sparse_DnVec, "cusparseCreateDnVec", 4},
    {k_sparse_SpSV, "cusparseSpSV_createDescr", 1},
    {k_sparse_SpSM, "cusparseSpSM_createDescr", 1},
    {k_sparse_SpGEMM, "cusparseSpGEMM_createDescr", 1},
    {k_sparse_SpGEAM, "cusparseSpGEAM_createDescr", 1},
    {k_sparse_SpMV, "cusparseSpMV_createDescr", 1},
    {k_csrilu02, "cusparseCreateCsrilu02Info", 1},
    {k_csric02, "cusparseCreateCsric02Info", 1},
    {k_bsrilu02, "cusparseCreateBsrilu02Info", 1},
    {k_bsric02, "cusparseCreateBsric02Info", 1},
    {k_bsrsv2, "cusparseCreateBsrsv2Info", 1},
    {k_bsrsm2, "cusparseCreateBsrsm2Info", 1},
    {k_csru2csr, "cusparseCreateCsru2csrInfo", 1},
    {k_prune, "cusparseCreatePruneInfo", 1},
    {k_cusparseColor, "cusparseCreateColorInfo", 1},
    {k_cudnn, "cudnnCreate", 2},
    {k_tensor, "cudnnCreateTensorDescriptor", 4},
    {k_filter, "cudnnCreateFilterDescriptor", 1},
    {k_convolution, "cudnnCreateConvolutionDescriptor", 1},
    {k_pooling, "cudnnCreatePoolingDescriptor", 1},
    {k_activation, "cudnnCreateActivationDescriptor", 1},
    {k_lrn, "cudnnCreateLRNDescriptor", 1},
    {k_op_tensor, "cudnnCreateOpTensorDescriptor", 1},
    {k_reduce, "cudnnCreateReduceTensorDescriptor", 1},
    {k_dropout, "cudnnCreateDropoutDescriptor", 1},
    {k_spatial, "cudnnCreateSpatialTransformerDescriptor", 1},
    {k_tensor_transform, "cudnnCreateTensorTransformDescriptor", 1},
    {k_ctc, "cudnnCreateCTCLossDescriptor", 1},
    {k_rnn, "cudnnCreateRNNDescriptor", 1},
    {k_rnn_data, "cudnnCreateRNNDataDescriptor", 1},
    {k_attention, "cudnnCreateAttnDescriptor", 1},
    {k_sequences, "cudnnCreateSeqDataDescriptor", 1},
    {k_backend, "cudnnBackendCreateDescriptor", 4},
};
struct Ender {
  HandleType type;
  const char* function;
};
constexpr Ender kEnders[] = {
    {k_graph, "cudaGraphDestroy"},
    {k_cufftArray, "cufftXtFree"},
    {k_cufft, "cufftDestroy"},
    {k_sparse_settings, "cusparseDestroyMatDescr"},
    {k_sparse_SpMat, "cusparseDestroySpMat"},
    {k_sparse_DnMat, "cusparseDestroyDnMat"},
    {k_sparse_SpVec, "cusparseDestroySpVec"},
    {k_sparse_DnVec, "cusparseDestroyDnVec"},
    {k_sparse_SpSV, "cusparseSpSV_destroyDescr"},
    {k_sparse_SpSM, "cusparseSpSM_destroyDescr"},
    {k_sparse_SpGEMM, "cusparseSpGEMM_destroyDescr"},
    {k_sparse_SpGEAM, "cusparseSpGEAM_destroyDescr"},
    {k_sparse_SpMV, "cusparseSpMV_destroyDescr"},
    {k_csrilu02, "cusparseDestroyCsrilu02Info"},
    {k_csric02, "cusparseDestroyCsric02Info"},
    {k_bsrilu02, "cusparseDestroyBsrilu02Info"},
    {k_bsric02, "cusparseDestroyBsric02Info"},
    {k_bsrsv2, "cusparseDestroyBsrsv2Info"},
    {k_bsrsm2, "cusparseDestroyBsrsm2Info"},
    {k_csru2csr, "cusparseDestroyCsru2csrInfo"},
    {k_prune, "cusparseDestroyPruneInfo"},
    {k_cusparseColor, "cusparseDestroyColorInfo"},
    {k_cusparse, "cusparseDestroy"},
    {k_layout, "cublasLtMatrixLayoutDestroy"},
    {k_matmul, "cublasLtMatmulDescDestroy"},
    {k_transform, "cublasLtMatrixTransformDescDestroy"},
    {k_preference, "cublasLtMatmulPreferenceDestroy"},
    {k_emulation, "cublasLtEmulationDescDestroy"},
    {k_backend, "cudnnBackendDestroyDescriptor"},
    {k_sequences, "cudnnDestroySeqDataDescriptor"},
    {k_attention, "cudnnDestroyAttnDescriptor"},
    {k_rnn_data, "cudnnDestroyRNNDataDescriptor"},
    {k_rnn, "cudnnDestroyRNNDescriptor"},
    {k_ctc, "cudnnDestroyCTCLossDescriptor"},
    {k_tensor_transform, "cudnnDestroyTensorTransformDescriptor"},
    {k_spatial, "cudnnDestroySpatialTransformerDescriptor"},
    {k_dropout, "cudnnDestroyDropoutDescriptor"},
    {k_reduce, "cudnnDestroyReduceTensorDescriptor"},
    {k_op_tensor, "cudnnDestroyOpTensorDescriptor"},
    {k_lrn, "cudnnDestroyLRNDescriptor"},
    {k_activation, "cudnnDestroyActivationDescriptor"},
    {k_pooling, "cudnnDestroyPoolingDescriptor"},
    {k_convolution, "cudnnDestroyConvolutionDescriptor"},
    {k_filter, "cudnnDestroyFilterDescriptor"},
    {k_tensor, "cudnnDestroyTensorDescriptor"},
    {k_cudnn, "cudnnDestroy"},
    {k_host_lu, "cusolverSpDestroyCsrluInfoHost"},
    {k_host_cholesky, "cusolverSpDestroyCsrcholInfoHost"},
    {k_sparse_cholesky, "cusolverSpDestroyCsrcholInfo"},
    {k_host_qr, "cusolverSpDestroyCsrqrInfoHost"},
    {k_sparse_qr, "cusolverSpDestroyCsrqrInfo"},
    {k_gesvdj, "cusolverDnDestroyGesvdjInfo"},
    {k_syevj, "cusolverDnDestroySyevjInfo"},
    {k_refinement_infos, "cusolverDnIRSInfosDestroy"},
    {k_refinement, "cusolverDnIRSParamsDestroy"},
    {k_solver_params, "cusolverDnDestroyParams"},
    {k_refactorization, "cusolverRfDestroy"},
    {k_sparse_solver, "cusolverSpDestroy"},
    {k_solver, "cusolverDnDestroy"},
    {k_distribution, "curandDestroyDistribution"},
    {k_curand, "curandDestroyGenerator"},
    {k_cublasXt, "cublasXtDestroy"},
    {k_cublasLt, "cublasLtDestroy"},
    {k_cublas, "cublasDestroy_v2"},
    {k_stream, "cudaStreamDestroy"},
};
const Script kScripts[] = {
    {"cudaMalloc", "cudaMalloc", "cublasCreate_v2", "cublasSetStream_v2", "cublasSaxpy_v2",
     "cublasSgemm_v2", "cublasDdot_v2", "cudaStreamSynchronize"},
    {"cudaMalloc", "cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutSetAttribute",
     "cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute", "cublasLtMatmulPreferenceCreate",
     "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul", "cublasLtMatrixLayoutDestroy",
     "cublasLtMatmul", "cudaDeviceSynchronize"},
    {"cudaStreamCreate", "curandCreateGenerator", "curandSetStream", "cudaMalloc",
     "curandGenerateUniform", "cudaStreamBeginCapture", "curandGenerate", "cublasSscal_v2",
     "cudaStreamEndCapture", "cudaGraphDestroy", "curandDestroyGenerator"},
    {"cudaStreamCreate", "cufftPlan1d", "cufftSetStream", "cudaMalloc", "cufftExecC2C",
     "cudaStreamBeginCapture", "cufftExecR2C", "cudaStreamEndCapture", "cudaGraphDestroy",
     "cufftDestroy"},
    {"cufftCreate", "cufftXtMakePlanMany", "cufftXtMalloc", "cufftXtMemcpy",
     "cufftXtExecDescriptor", "cufftXtExec", "cufftXtFree", "cufftDestroy"},
    {"cublasXtCreate", "cublasXtDeviceSelect", "cublasXtSetBlockDim", "cublasXtDspmm",
     "cublasXtSgemm", "cublasXtDestroy"},
    {"cudaMalloc", "cusparseCreateCsr", "cusparseCreateDnVec", "cusparseCreateDnVec",
     "cusparseSpMV", "cusparseSpSV_analysis", "cusparseSpSV_solve", "cudaStreamBeginCapture",
     "cusparseSpMM", "cusparseSpGEMM_compute", "cudaStreamEndCapture", "cudaGraphDestroy",
     "cusparseDestroySpMat", "cusparseSpMV", "cudaDeviceSynchronize"},
    {"cusparseCreateMatDescr", "cusparseScsrilu02_analysis", "cusparseScsrilu02",
     "cusparseXcsrilu02_zeroPivot", "cusparseXcsrgeam2Nnz", "cusparseDcsrgeam2", "cusparseScsr2bsr",
     "cusparseSbsrmv", "cudaDeviceSynchronize"},
    {"cudaLaunchHostFunc", "cublasSgemm_v2", "cudaStreamSynchronize"},
    {"cudaMalloc", "cudnnCreate", "cudnnCreateTensorDescriptor", "cudnnSetTensor4dDescriptor",
     "cudnnCreateFilterDescriptor", "cudnnSetFilter4dDescriptor",
     "cudnnCreateConvolutionDescriptor", "cudnnSetConvolution2dDescriptor",
     "cudnnConvolutionForward", "cudnnSoftmaxForward", "cudnnAddTensor", "cudaStreamSynchronize"},
    {"cudaMalloc", "cudnnCreateAttnDescriptor", "cudnnSetAttnDescriptor",
     "cudnnCreateSeqDataDescriptor", "cudnnSetSeqDataDescriptor", "cudnnCreateSeqDataDescriptor",
     "cudnnSetSeqDataDescriptor", "cudnnGetMultiHeadAttnBuffers", "cudnnMultiHeadAttnForward",
     "cudaStreamBeginCapture", "cudnnMultiHeadAttnForward", "cudaStreamEndCapture",
     "cudnnMultiHeadAttnBackwardData", "cudnnMultiHeadAttnBackwardWeights",
     "cudaStreamSynchronize"},
    {"cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute", "cudnnBackendSetAttribute",
     "cudnnBackendSetAttribute", "cudnnBackendSetAttribute", "cudnnBackendFinalize",
     "cudnnBackendGetAttribute", "cudnnBackendExecute"},
    {"cusolverDnCreate", "cudaMalloc", "cusolverDnDpotrf", "cusolverDnSgetrf", "cusolverDnSgetrs",
     "cusolverDnCgesvd", "cudaStreamBeginCapture", "cusolverDnZheevd", "cusolverDnXgeev",
     "cudaStreamEndCapture", "cusolverDnDestroy"},
};
struct Rare {
  const char* part;  // of the name
  unsigned one_in;
};
constexpr Rare kRare[] = {
    {"Batched", 20},  // most end with a fault of the device
    {"curandCreate", 8},   {"curandDestroy", 4},   {"GetDirectionVectors", 20},
    {"cublasXt", 2},       {"SetPointerMode", 8},  {"SetLoggerCallback", 20},
    {"cusparseCreate", 4}, {"cusparseDestroy", 4}, {"cublasInit", 20},
    {"BeginCapture", 8},   {"cublasShutdown", 40},
};

bool has_part(const Row& row, const char* part) { return std::strstr(row.name, part) != nullptr; }
bool begins(const Row& row, const char* part) {
  return std::strncmp(row.name, part, std::strlen(part)) == 0;
}
unsigned find_rarity(const Row& row) {
  for (const Rare& rare : kRare) {
    if (has_part(row, rare.part)) return rare.one_in;
  }
  return 1;
}

template <class Function>
Word word_of(Function* function) {
  return reinterpret_cast<Word>(function);  // NOLINT: words hold anything
}

/// Addresses of the host's where nothing is, or nothing that can be written.
class WildPointers {
 public:
  WildPointers() {
    constexpr size_t kPages = 4;
    void* const mapped = mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    auto* const pages = static_cast<char*>(mapped);
    if (mprotect(pages + kPageBytes, kPageBytes, PROT_NONE) != 0) std::abort();
    if (mprotect(pages + 2 * kPageBytes, kPageBytes, PROT_READ) != 0) std::abort();
    munmap(pages + 3 * kPageBytes, kPageBytes);
    all_ = {8,
            0x10000,
            0x7f0000000000,
            0xd0ed80f55cfcc710,
            ~Word{0} - 7,
            word_of(pages + kPageBytes),
            word_of(pages + kPageBytes) - 1,  // the last byte before it is there
            word_of(pages + 2 * kPageBytes),
            word_of(pages + 3 * kPageBytes)};
  }
  Word pick(Random& random) const { return all_[random.below(all_.size())]; }

 private:
  std::array<Word, 9> all_;
};
const WildPointers& wild_pointers() {
  static const WildPointers made;
  return made;
}

/// Asks the system for the bytes that are looked at.
bool can_be_read(Word word) {
  unsigned char bytes[64];
  const iovec to = {bytes, sizeof bytes};
  const iovec from = {reinterpret_cast<void*>(word), sizeof bytes};  // NOLINT: any value
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(sizeof bytes);
}

uint64_t choice_of(void* user_data) { return reinterpret_cast<uint64_t>(user_data); }  // NOLINT
void host_function(void* user_data) { call_in_callback(choice_of(user_data)); }
void sparse_log_callback(int, const char*, const char* line) {
  call_in_callback(std::strlen(line));
}
void log_callback(const char* line) { call_in_callback(std::strlen(line)); }

constexpr int64_t kSolverStatuses[] = {0, 1, 2, 3, 6, 8, 9, 10, 12, 14, 15, 16, 25};
/// Status numbers of cuBLAS and cuFFT; cuRAND's are above 100, cuDNN's above 1000.
constexpr int64_t kStatuses[] = {0,   1,    2,    3,    4,    6,    7,    8,    11,  13,
                                 15,  16,   100,  101,  102,  103,  104,  105,  201, 202,
                                 203, 1001, 2000, 2004, 3000, 4000, 4003, 4004, 5001};

/// Attention over one step of one sequence, so that most calls with new descriptors are valid.
void set_attention(Word descriptor) {
  constexpr Word n = kAttentionWidth;
  cudnnSetAttnDescriptor(descriptor, 0, 1, 1.0, 0, 0, 0, 0, 0, n, n, n, n, n, n, n, n, n, n, n);
}
void set_sequences(Word descriptor) {
  const int dims[] = {1, 1, 1, kAttentionWidth}, axes[] = {0, 1, 2, 3}, length = 1;
  cudnnSetSeqDataDescriptor(descriptor, 0, 4, word_of(dims), word_of(axes), 1, word_of(&length), 0);
}

/// A network of one layer, and one step of one sequence for it.
void set_network(Word descriptor) {
  constexpr Word kLstm = 2, kNoBias = 0, n = kAttentionWidth;
  cudnnSetRNNDescriptor_v8(descriptor, 0, kLstm, kNoBias, 0, 0, 0, 0, 0, n, n, n, 1, 0, 0);
}
void set_network_data(Word descriptor) {
  const int length = 1;
  cudnnSetRNNDataDescriptor(descriptor, 0, 0, 1, 1, kAttentionWidth, word_of(&length), 0);
}
/// Gives a new descriptor of cuDNN a value that fits the others', since random ones hardly ever do.
void set_descriptor(size_t type, Word descriptor) {
  if (type == k_attention) set_attention(descriptor);
  if (type == k_sequences) set_sequences(descriptor);
  if (type == k_rnn) set_network(descriptor);
  if (type == k_rnn_data) set_network_data(descriptor);
  if (type == k_tensor) cudnnSetTensor4dDescriptor(descriptor, 0, 0, 1, 2, 4, 4);
  if (type == k_filter) cudnnSetFilter4dDescriptor(descriptor, 0, 0, 2, 2, 3, 3);
  if (type == k_convolution) {
    cudnnSetConvolution2dDescriptor(descriptor, 1, 1, 1, 1, 1, 1, 1, 0);
  }
  if (type == k_spatial) {
    const int dims[] = {1, 2, 4, 4};
    cudnnSetSpatialTransformerNdDescriptor(descriptor, 0, 0, 4, word_of(dims));
  }
  if (type == k_pooling) cudnnSetPooling2dDescriptor(descriptor, 0, 0, 1, 1, 0, 0, 1, 1);
}

class LibrariesApi final : public Api {
 public:
  LibrariesApi()
      : Api({kRows, kEnumerations, kHandleTypeCount, kMakers, kScripts, k_graph, k_graph,
             find_rarity}) {}

  Grouping grouping(size_t) const override { return Grouping::kNone; }
  size_t most_handles(size_t type) const override { return type == k_curand ? 6 : 16; }
  std::vector<std::string> environment(uint64_t round) const override;

  uint32_t current_group(Shared&) const override { return 0; }
  void enter_group(uint32_t, Shared&) override {}
  uint64_t size_of_new(const Row& row, const Word* words) const override {
    return begins(row, "cudaMalloc") ? words[1] : words[0] * words[1];
  }
  void note_new(size_t type, const PoolEntry& entry, Values&) override {
    const int device = 0;
    if (type == k_cublasXt) cublasXtDeviceSelect(entry.value, 1, word_of(&device));
    set_descriptor(type, entry.value);
  }

  void fill(const Row& row, const Parameter& parameter, Values& values, void* memory,
            size_t count) override;
  std::optional<Word> pointer_instead(const Row& row, const Parameter& parameter,
                                      Values& values) override;
  Word callback(int16_t type, Values&) override {
    if (type == kSparseLog) return word_of(sparse_log_callback);
    return type == kLog ? word_of(log_callback) : word_of(host_function);
  }
  bool is_there(Word word) const override { return can_be_read(word); }
  void call_in_child() override { cudaDeviceSynchronize(); }
  void adjust(const Row& row, Values& values, Word* words) override;

  bool bounds_host_memory(const Row&) const override { return true; }
  bool has_failed(int64_t result) const override { return result != 0; }
  bool leaves_outputs(int64_t) const override { return false; }  // nobody promises it
  std::string defect(const Row& row, int64_t result) const override;
  bool ends_handle(const Row& row) const override {
    return has_part(row, "Destroy") || has_part(row, "destroyDescr") || begins(row, "cufftXtFree");
  }
  bool ends_address(const Row& row) const override {
    return begins(row, "cudaFree") || begins(row, "cublasFree");
  }
  bool takes_host_addresses(const Row& row) const override { return begins(row, "cublasXt"); }
  bool ends_group(const Row&) const override { return false; }
  std::vector<uint32_t> repair(Values& values) override;
  void release(size_t type, Word handle) override;
  void release_address(const PoolEntry& entry) override { cudaFree(entry.value); }
  void release_all(Shared& shared) override;

  uint64_t allocated() const override { return 0; }
  void begin_thread(Values& values) override;
  std::vector<uint32_t> rescue(Shared&) override { return {}; }
  void fail_allocation(uint64_t) override {}
};

std::vector<std::string> LibrariesApi::environment(uint64_t round) const {
  return {std::string("KM_LOG=") + (round % 8 == 7 ? "info" : "off"),
          "KM_LOG_FILE=/dev/null",
          "KM_CPU_DEVICES=2",
          "KM_CPU_THREADS=2",
          std::string("KM_CPU_MEMORY=") + (round % 4 == 3 ? "checked" : "plain"),
          "KM_CPU_MEMORY_MIB=512",
          "KM_KERNEL_TIMEOUT_MS=2000"};
}

std::string LibrariesApi::defect(const Row& row, int64_t result) const {
  if (begins(row, "cuda")) return "";
  if (begins(row, "cusparse")) {
    constexpr int64_t kInternalError = 7, kMost = 10;
    const bool is_status = result >= 0 && result <= kMost && result != kInternalError;
    return is_status ? "" : "it is an internal error, or no status";
  }
  const auto has = [&](const auto& statuses) {
    return std::find(std::begin(statuses), std::end(statuses), result) != std::end(statuses);
  };
  const bool is_known = begins(row, "cusolver") ? has(kSolverStatuses) : has(kStatuses);
  return is_known ? "" : "it is an internal error, or no status";
}

void LibrariesApi::fill(const Row& row, const Parameter& parameter, Values& values, void* memory,
                        size_t count) {
  const size_t size_bytes = count * parameter.size_bytes;
  Random& random = values.random;
  if (parameter.detail == kScalar) {
    const bool is_attribute = has_part(row, "Attribute");
    const bool is_double = row.name[6] == 'D' || row.name[6] == 'Z' || row.name[8] == 'D';
    for (size_t at = 0; at + 8 <= size_bytes; at += 8) {
      const double number = static_cast<double>(random.below(8)) / 4;
      const float halves[] = {static_cast<float>(number), 1};
      Word word = is_attribute ? (random.one_in(3) ? values.edge() : random.below(8)) : 0;
      if (!is_attribute && is_double) std::memcpy(&word, &number, sizeof word);
      if (!is_attribute && !is_double) std::memcpy(&word, halves, sizeof word);
      std::memcpy(static_cast<char*>(memory) + at, &word, sizeof word);
    }
    return;
  }
  if (parameter.detail == kSizes) {
    const bool is_wide = has_part(row, "64") || (begins(row, "cufftXt") && has_part(row, "Many"));
    const size_t each = is_wide ? sizeof(uint64_t) : sizeof(uint32_t);
    for (size_t at = 0; at + each <= size_bytes; at += each) {
      const Word number = values.number(kDimension, values.is_wrong());
      std::memcpy(static_cast<char*>(memory) + at, &number, each);
    }
    return;
  }
  const bool is_sequence = has_part(row, "SeqData") && !random.one_in(8);
  for (size_t at = 0; at + 4 <= size_bytes; at += 4) {
    const auto i = static_cast<uint32_t>(at / 4 % 4);
    auto number = static_cast<uint32_t>(
        parameter.detail == kDevices ? random.below(2) : values.number(kCount, values.is_wrong()));
    if (is_sequence) number = i == 3 ? uint32_t{kAttentionWidth} : 1;
    if (parameter.detail == kAxes && !random.one_in(8)) number = i;
    std::memcpy(static_cast<char*>(memory) + at, &number, sizeof number);
  }
}

std::optional<Word> LibrariesApi::pointer_instead(const Row& row, const Parameter& parameter,
                                                  Values& values) {
  const bool is_result = parameter.kind == Kind::kInput || parameter.kind == Kind::kOutput;
  if (begins(row, "cuda")) return std::nullopt;
  if (values.is_wrong() && values.random.one_in(2)) return wild_pointers().pick(values.random);
  if (is_result && values.random.one_in(8)) return values.address(values.is_wrong());
  return std::nullopt;
}

/// Makes most calls of cuDNN's attention and networks valid: extents agree, memory is large enough.
void shrink_attention(const Row& row, Random& random, Word* words) {
  if (begins(row, "cudnnSetAttn")) {
    words[1] = random.below(4);
    words[2] = 1;
    words[5] = words[4] = random.one_in(4) ? random.below(3) : 0;
    for (size_t i = 9; i < row.parameter_count; ++i) words[i] = kAttentionWidth;
    for (size_t i = 12; i < 16; ++i) words[i] *= random.below(2);
  }
  if (begins(row, "cudnnSetSeqData")) {
    words[1] = random.one_in(4) ? random.below(3) : 0;
    words[2] = 4;
    words[5] = 1;
  }
  if (!has_part(row, "MultiHeadAttn") && !begins(row, "cudnnRNN")) return;
  for (size_t i = 0; i < row.parameter_count; ++i) {
    if (row.parameters[i].kind == Kind::kNumber) words[i] = i == 2 ? ~Word{0} : Word{1} << 14;
  }
}

/// Makes most calls of cuSOLVER valid: matrices are small, and columns lie far enough apart.
void shrink_matrices(const Row& row, Random& random, Word* words) {
  constexpr Word kMostRows = 17;
  for (size_t i = 0; i < row.parameter_count; ++i) {
    if (row.parameters[i].kind != Kind::kNumber) continue;
    if (row.parameters[i].detail == kDimension) words[i] %= kMostRows;
    if (row.parameters[i].detail == kElementSize) words[i] = kMostRows + random.below(4);
    if (row.parameters[i].detail == kSize) words[i] = 64;
  }
}

void LibrariesApi::adjust(const Row& row, Values& values, Word* words) {
  Random& random = values.random;
  if (begins(row, "cusolver") && !random.one_in(4)) shrink_matrices(row, random, words);
  if (begins(row, "cudnn") && !random.one_in(4)) shrink_attention(row, random, words);
  if (begins(row, "cudaMalloc")) words[1] = random.between(4096, 65536);
  if (begins(row, "cublasAlloc")) words[0] = std::min<Word>(words[0], 4096), words[1] = 8;
  if (begins(row, "cublasLt") && row.parameter_count != 0 &&
      row.parameters[0].detail == k_cublasLt && random.one_in(2)) {
    words[0] = values.handle(k_cublas, values.is_wrong());
  }
  if (begins(row, "cublasXtSetBlockDim")) words[1] = random.below(64);
  // Streams that are none: the default ones.
  for (size_t i = 0; i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    const bool is_stream = parameter.kind == Kind::kHandle && parameter.detail == k_stream;
    if (is_stream && !has_part(row, "Destroy") && random.one_in(4)) words[i] = random.below(3);
  }
  // Memory of the host's that is written has to be as long as the call says: that is the caller's
  // to see to. Its sizes are small then.
  const bool is_transfer = has_part(row, "Vector") || has_part(row, "etMatrix");
  const bool may_be_hosts = begins(row, "cublasXt") || begins(row, "curandGenerate") ||
                            (is_transfer && begins(row, "cublas") && !begins(row, "cublasLt"));
  if (!may_be_hosts || (begins(row, "curand") && !random.one_in(4))) return;
  for (size_t i = 0; i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    const bool is_number = parameter.kind == Kind::kNumber;
    const bool is_beyond_all = words[i] >= 1ull << 60 && begins(row, "curand");
    if (is_number && !is_beyond_all) words[i] %= is_transfer ? 17 : 65;
    if (parameter.kind == Kind::kAddress && random.one_in(2)) {
      words[i] = word_of(values.shared().host.data(HostMemory::kDataBytes));
    }
  }
}

/// True for errors that stay until the device is reset.
bool is_sticky(int32_t result) {
  constexpr int32_t kIllegalAddress = 700, kTimeout = 702, kAssert = 710, kLaunchFailed = 719;
  return result == kIllegalAddress || result == kTimeout ||
         (result >= kAssert && result <= kLaunchFailed);
}

/// Memory for the arrays of calls, of which few functions make any.
void LibrariesApi::begin_thread(Values& values) {
  constexpr size_t kWanted = 12;
  Pool& addresses = values.shared().addresses;
  while (addresses.count() < kWanted) {
    Word address = 0;
    const Word size_bytes = values.random.between(4096, 65536);
    if (cudaMalloc(word_of(&address), size_bytes) != 0) return;
    addresses.add({address, 0, 0, size_bytes}, 64, values.random);
  }
}

/// Ends the captures that calls have begun and left: while they last, most calls are refused.
void end_captures(Shared& shared) {
  std::vector<Word> streams = shared.handles[k_stream].all();
  streams.push_back(kPerThreadStream);
  for (const Word stream : streams) {
    Word graph = 0;
    cudaStreamEndCapture(stream, word_of(&graph));
    if (graph != 0) cudaGraphDestroy(graph);
  }
}

std::vector<uint32_t> LibrariesApi::repair(Values& values) {
  end_captures(values.shared());
  if (is_sticky(cudaStreamQuery(0))) {
    cudaDeviceReset();
    values.shared().addresses.take_all();
    values.shared().handles[k_stream].take_all();
  }
  begin_thread(values);
  return {};
}

void LibrariesApi::release(size_t type, Word handle) {
  for (const Ender& ender : kEnders) {
    const Word words[kMostParameters] = {handle};
    if (ender.type == static_cast<HandleType>(type)) {
      kRows[row_of(*this, ender.function)].call(words);
    }
  }
}

void LibrariesApi::release_all(Shared& shared) {
  for (const Ender& ender : kEnders) {
    for (const PoolEntry& entry : shared.handles[ender.type].take_all()) {
      release(ender.type, entry.value);
    }
  }
  for (const PoolEntry& entry : shared.addresses.take_all()) release_address(entry);
  cublasShutdown();
  cudaDeviceSynchronize();
  cudaDeviceReset();
}

}  // namespace

std::unique_ptr<Api> make_api() { return std::make_unique<LibrariesApi>(); }

}  // namespace km::fuzz
