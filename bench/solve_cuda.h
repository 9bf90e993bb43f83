#pragma once

// A conjugate-gradient iteration on cuSPARSE and cuBLAS, as an application would write it: what `wavegate solve` is
// measured against. The libraries are opened at run time, so that the benchmark builds and runs without them.

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/base/result.h"
#include "wavegate/io/csr.h"

namespace wavegate::bench {

/// Opaque handles and the few values of CUDA's headers that are used here.
namespace cuda {
using Handle = void*;
constexpr int kHostToDevice = 1, kDeviceToHost = 2;
constexpr int kPointersOnDevice = 1;                      // CUBLAS_POINTER_MODE_DEVICE and cuSPARSE's
constexpr int kIndex32 = 2, kBaseZero = 0, kFloat32 = 0;  // CUSPARSE_INDEX_32I, .._BASE_ZERO, CUDA_R_32F
constexpr int kNoTranspose = 0, kSpmvDefault = 0;         // the default algorithm
constexpr int kCaptureRelaxed = 2;                        // cudaStreamCaptureModeRelaxed
}  // namespace cuda

/// quotient = a / b and negative = -quotient on one thread: what lies between two calls of the libraries.
inline constexpr const char* kDividePtx = R"(.version 6.3
.target sm_75
.address_size 64
.visible .entry divide(.param .u64 a, .param .u64 b, .param .u64 quotient, .param .u64 negative) {
  .reg .f32 %f<4>;
  .reg .u64 %p<5>;
  ld.param.u64 %p1, [a];
  ld.param.u64 %p2, [b];
  ld.param.u64 %p3, [quotient];
  ld.param.u64 %p4, [negative];
  ld.global.f32 %f1, [%p1];
  ld.global.f32 %f2, [%p2];
  div.rn.f32 %f3, %f1, %f2;
  st.global.f32 [%p3], %f3;
  neg.f32 %f3, %f3;
  st.global.f32 [%p4], %f3;
  ret;
}
)";

struct CudaTimes {
  std::string device;               ///< as the driver says it
  double stream_microseconds = 0;   ///< an iteration, launched call by call
  double graph_microseconds = 0;    ///< an iteration, captured in a CUDA graph and launched at once
  double product_microseconds = 0;  ///< cuSPARSE's product alone, in a CUDA graph
  double relative_residual = 0;     ///< of the recurrence after the iterations: to see that the work was done
};

/// The libraries, or the reason why they are not there.
class CudaLibraries {
 public:
  static Result<CudaLibraries> open() {
    CudaLibraries made;
    WAVEGATE_CHECK(made.load("libcudart.so", {"libcudart.so.13", "libcudart.so.12", "libcudart.so"}));
    WAVEGATE_CHECK(made.load("libcublas.so", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}));
    WAVEGATE_CHECK(made.load("libcusparse.so", {"libcusparse.so.13", "libcusparse.so.12", "libcusparse.so"}));
    WAVEGATE_CHECK(made.load("libcuda.so", {"libcuda.so.1"}));
    return made;
  }

  /// Calls a function by name; its status must be zero.
  template <typename... Arguments>
  Result<void> call(const char* name, Arguments... arguments) const {
    for (void* library : libraries_)
      if (void* symbol = dlsym(library, name)) {
        const int status = reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
        if (status == 0) return {};
        return device_error(format("{} returned {}", name, status));
      }
    return unsupported(format("the CUDA libraries have no {}", name));
  }

 private:
  Result<void> load(const char* what, std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) {
        libraries_.push_back(library);
        return {};
      }
    return unsupported(format("{} is not there: {}", what, dlerror()));
  }
  std::vector<void*> libraries_;  ///< kept for the life of the process
};

/// Conjugate gradients with every scalar on the device. Memory is the process's to free: a benchmark ends soon.
class CudaConjugateGradient {
 public:
  static Result<CudaTimes> measure(const io::CsrMatrix& matrix, std::span<const float> b, uint32_t iterations,
                                   uint32_t runs) {
    WAVEGATE_TRY(CudaLibraries libraries, CudaLibraries::open());
    CudaConjugateGradient solver(std::move(libraries), matrix, b);
    WAVEGATE_CHECK(solver.prepare());
    CudaTimes times;
    char name[256] = {};
    WAVEGATE_CHECK(solver.cuda_.call("cuDeviceGetName", name, int{sizeof name}, 0));
    times.device = name;

    const auto chain = [&] { return solver.iterate(iterations); };
    WAVEGATE_TRY(times.stream_microseconds, solver.microseconds(chain, runs));
    WAVEGATE_TRY(times.graph_microseconds, solver.captured_microseconds(chain, runs));
    const auto products = [&]() -> Result<void> {
      for (uint32_t i = 0; i < iterations; ++i) WAVEGATE_CHECK(solver.product());
      return {};
    };
    WAVEGATE_TRY(times.product_microseconds, solver.captured_microseconds(products, runs));
    for (double* time : {&times.stream_microseconds, &times.graph_microseconds, &times.product_microseconds})
      *time /= iterations;

    WAVEGATE_CHECK(solver.start());
    WAVEGATE_TRY(const float first, solver.read(kRr));
    WAVEGATE_CHECK(solver.iterate(iterations));
    WAVEGATE_TRY(const float last, solver.read(kRr));
    times.relative_residual = std::sqrt(static_cast<double>(last) / first);
    return times;
  }

 private:
  enum Scalar { kRr, kNext, kPq, kAlpha, kMinusAlpha, kBeta, kUnused, kOne, kZero, kScalars };

  CudaConjugateGradient(CudaLibraries libraries, const io::CsrMatrix& matrix, std::span<const float> b)
      : cuda_(std::move(libraries)), matrix_(matrix), b_(b), rows_(static_cast<int>(matrix.rows)) {}

  template <typename T>
  Result<T*> on_device(std::span<const T> values) {
    void* memory = nullptr;
    WAVEGATE_CHECK(cuda_.call("cudaMalloc", &memory, values.size_bytes()));
    WAVEGATE_CHECK(cuda_.call("cudaMemcpy", memory, static_cast<const void*>(values.data()), values.size_bytes(),
                              cuda::kHostToDevice));
    return static_cast<T*>(memory);
  }

  Result<void> prepare() {
    WAVEGATE_CHECK(cuda_.call("cudaFree", static_cast<void*>(nullptr)));  // makes the context
    WAVEGATE_CHECK(cuda_.call("cudaStreamCreateWithFlags", &stream_, 1u));
    WAVEGATE_CHECK(cuda_.call("cublasCreate_v2", &blas_));
    WAVEGATE_CHECK(cuda_.call("cublasSetStream_v2", blas_, stream_));
    WAVEGATE_CHECK(cuda_.call("cublasSetPointerMode_v2", blas_, cuda::kPointersOnDevice));
    WAVEGATE_CHECK(cuda_.call("cusparseCreate", &sparse_));
    WAVEGATE_CHECK(cuda_.call("cusparseSetStream", sparse_, stream_));
    WAVEGATE_CHECK(cuda_.call("cusparseSetPointerMode", sparse_, cuda::kPointersOnDevice));
    WAVEGATE_CHECK(cuda_.call("cuModuleLoadData", &module_, static_cast<const void*>(kDividePtx)));
    WAVEGATE_CHECK(cuda_.call("cuModuleGetFunction", &divide_, module_, "divide"));

    WAVEGATE_TRY(const uint32_t* offsets, on_device(std::span<const uint32_t>(matrix_.row_offsets)));
    WAVEGATE_TRY(const uint32_t* columns, on_device(std::span<const uint32_t>(matrix_.column_indices)));
    WAVEGATE_TRY(const float* values, on_device(std::span<const float>(matrix_.values)));
    const std::vector<float> zeros(matrix_.rows, 0.0f);
    WAVEGATE_TRY(rhs_, on_device(b_));
    for (float** vector : {&x_, &r_, &p_, &q_}) {
      WAVEGATE_TRY(*vector, on_device(std::span<const float>(zeros)));
    }
    std::vector<float> scalars(kScalars, 0.0f);
    scalars[kOne] = 1.0f;
    WAVEGATE_TRY(scalars_, on_device(std::span<const float>(scalars)));

    WAVEGATE_CHECK(cuda_.call("cusparseCreateCsr", &a_, int64_t{rows_}, int64_t{rows_},
                              static_cast<int64_t>(matrix_.values.size()), offsets, columns, values, cuda::kIndex32,
                              cuda::kIndex32, cuda::kBaseZero, cuda::kFloat32));
    WAVEGATE_CHECK(cuda_.call("cusparseCreateDnVec", &p_vector_, int64_t{rows_}, p_, cuda::kFloat32));
    WAVEGATE_CHECK(cuda_.call("cusparseCreateDnVec", &q_vector_, int64_t{rows_}, q_, cuda::kFloat32));
    size_t bytes = 0;
    WAVEGATE_CHECK(cuda_.call("cusparseSpMV_bufferSize", sparse_, cuda::kNoTranspose, scalar(kOne), a_, p_vector_,
                              scalar(kZero), q_vector_, cuda::kFloat32, cuda::kSpmvDefault, &bytes));
    WAVEGATE_CHECK(cuda_.call("cudaMalloc", &scratch_, std::max<size_t>(bytes, 256)));
    // Analyses the matrix once, as the library advises for many products.
    WAVEGATE_CHECK(cuda_.call("cusparseSpMV_preprocess", sparse_, cuda::kNoTranspose, scalar(kOne), a_, p_vector_,
                              scalar(kZero), q_vector_, cuda::kFloat32, cuda::kSpmvDefault, scratch_));
    for (cuda::Handle* event : {&begin_, &end_}) WAVEGATE_CHECK(cuda_.call("cudaEventCreate", event));
    return {};
  }

  const float* scalar(Scalar which) const { return scalars_ + which; }
  float* result(Scalar which) const { return scalars_ + which; }

  Result<void> divide(Scalar a, Scalar b, Scalar quotient, Scalar negative) {
    void* pointers[] = {result(a), result(b), result(quotient), result(negative)};
    void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3]};
    return cuda_.call("cuLaunchKernel", divide_, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream_, static_cast<void**>(arguments),
                      static_cast<void**>(nullptr));
  }
  Result<void> copy(const float* from, float* to, int count) {
    return cuda_.call("cublasScopy_v2", blas_, count, from, 1, to, 1);
  }
  Result<void> dot(const float* x, const float* y, Scalar into) {
    return cuda_.call("cublasSdot_v2", blas_, rows_, x, 1, y, 1, result(into));
  }
  Result<void> axpy(Scalar a, const float* x, float* y) {
    return cuda_.call("cublasSaxpy_v2", blas_, rows_, scalar(a), x, 1, y, 1);
  }

  Result<void> product() {
    return cuda_.call("cusparseSpMV", sparse_, cuda::kNoTranspose, scalar(kOne), a_, p_vector_, scalar(kZero),
                      q_vector_, cuda::kFloat32, cuda::kSpmvDefault, scratch_);
  }

  /// x = 0, r = p = b, rr = r.r.
  Result<void> start() {
    WAVEGATE_CHECK(cuda_.call("cudaMemsetAsync", static_cast<void*>(x_), 0, sizeof(float) * matrix_.rows, stream_));
    WAVEGATE_CHECK(copy(rhs_, r_, rows_));
    WAVEGATE_CHECK(copy(rhs_, p_, rows_));
    return dot(r_, r_, kRr);
  }

  Result<void> iterate(uint32_t iterations) {
    for (uint32_t i = 0; i < iterations; ++i) {
      WAVEGATE_CHECK(product());
      WAVEGATE_CHECK(dot(p_, q_, kPq));
      WAVEGATE_CHECK(divide(kRr, kPq, kAlpha, kMinusAlpha));
      WAVEGATE_CHECK(axpy(kAlpha, p_, x_));
      WAVEGATE_CHECK(axpy(kMinusAlpha, q_, r_));
      WAVEGATE_CHECK(dot(r_, r_, kNext));
      WAVEGATE_CHECK(divide(kNext, kRr, kBeta, kUnused));
      WAVEGATE_CHECK(cuda_.call("cublasSscal_v2", blas_, rows_, scalar(kBeta), p_, 1));
      WAVEGATE_CHECK(axpy(kOne, r_, p_));
      WAVEGATE_CHECK(copy(scalar(kNext), result(kRr), 1));
    }
    return {};
  }

  Result<float> read(Scalar which) {
    float value = 0;
    WAVEGATE_CHECK(cuda_.call("cudaStreamSynchronize", stream_));
    WAVEGATE_CHECK(cuda_.call("cudaMemcpy", static_cast<void*>(&value), static_cast<const void*>(scalar(which)),
                              sizeof value, cuda::kDeviceToHost));
    return value;
  }

  /// Median time of `chain`, between events, after a warm-up.
  template <typename Chain>
  Result<double> microseconds(Chain&& chain, uint32_t runs) {
    std::vector<double> times;
    for (uint32_t run = 0; run <= runs; ++run) {
      WAVEGATE_CHECK(start());
      WAVEGATE_CHECK(cuda_.call("cudaStreamSynchronize", stream_));
      WAVEGATE_CHECK(cuda_.call("cudaEventRecord", begin_, stream_));
      WAVEGATE_CHECK(chain());
      WAVEGATE_CHECK(cuda_.call("cudaEventRecord", end_, stream_));
      WAVEGATE_CHECK(cuda_.call("cudaEventSynchronize", end_));
      float milliseconds = 0;
      WAVEGATE_CHECK(cuda_.call("cudaEventElapsedTime", &milliseconds, begin_, end_));
      if (run > 0) times.push_back(milliseconds * 1e3);
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
  }

  template <typename Chain>
  Result<double> captured_microseconds(Chain&& chain, uint32_t runs) {
    cuda::Handle graph = nullptr, launchable = nullptr;
    WAVEGATE_CHECK(cuda_.call("cudaStreamBeginCapture", stream_, cuda::kCaptureRelaxed));
    WAVEGATE_CHECK(chain());
    WAVEGATE_CHECK(cuda_.call("cudaStreamEndCapture", stream_, &graph));
    WAVEGATE_CHECK(cuda_.call("cudaGraphInstantiateWithFlags", &launchable, graph, 0ull));
    return microseconds([&] { return cuda_.call("cudaGraphLaunch", launchable, stream_); }, runs);
  }

  CudaLibraries cuda_;
  const io::CsrMatrix& matrix_;
  std::span<const float> b_;
  int rows_;
  cuda::Handle stream_ = nullptr, blas_ = nullptr, sparse_ = nullptr, module_ = nullptr, divide_ = nullptr;
  cuda::Handle a_ = nullptr, p_vector_ = nullptr, q_vector_ = nullptr, begin_ = nullptr, end_ = nullptr;
  void* scratch_ = nullptr;
  float *rhs_ = nullptr, *x_ = nullptr, *r_ = nullptr, *p_ = nullptr, *q_ = nullptr, *scalars_ = nullptr;
};

}  // namespace wavegate::bench
