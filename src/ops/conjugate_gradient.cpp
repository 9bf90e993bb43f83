#include "wavegate/ops/conjugate_gradient.h"

#include <algorithm>

#include "wavegate/ops/conjugate_gradient_kernels.h"

namespace wavegate::ops {

using kir::Type;
using program::Buffer;
using program::Initial;
using program::Operand;
using program::Scalar;

ConjugateGradient::ConjugateGradient(program::Program& program, const program::CsrMatrix& matrix, Buffer b,
                                     const std::vector<float>& diagonal, const ConjugateGradientOptions& options,
                                     const target::Profile& profile)
    : program_(program),
      matrix_(matrix),
      b_(b),
      options_(options),
      mapping_(options.mapping.value_or(choose_mapping(profile))),
      shape_(choose_row_shape(matrix.rows, matrix.nonzeros)) {
  const auto vector = [&](const char* name, uint64_t count) {
    return program_.buffer(std::string("cg.") + name, Type::f32, count, Initial::zero());
  };
  const uint32_t rows = matrix.rows;
  x_high = vector("x_high", rows);
  x_low = vector("x_low", rows);
  zp_ = vector("zp", uint64_t{2} * rows);
  q_ = vector("q", rows);
  d_ = vector("d", rows);
  residual_sums_ = declare_sums("residual", chunks_of(rows, kSlots, options_.maximum_chunks), sum_lists());
  const Chunks row_chunks = chunks_of(rows, shape_.rows_per_block(), options_.maximum_chunks);
  true_residual_sums_ = declare_sums("true_residual", row_chunks, sum_lists());
  product_sums_ = declare_sums("product", row_chunks, 1);
  kernels_ = {mapping_, options_.jacobi, residual_sums_.chunks.count, product_sums_.chunks.count};
  if (options_.jacobi) {
    r_ = vector("r", rows);
    std::vector<float> inverse(diagonal.size());
    std::ranges::transform(diagonal, inverse.begin(), [](float value) { return 1.0f / value; });
    inverse_diagonal_ = program_.buffer("cg.inverse_diagonal", Type::f32, rows, Initial::copy_of(inverse));
  }
  const auto word = [&](const char* name) { return program_.scalar_u32(std::string("cg.") + name, 0); };
  const auto number = [&](const char* name) { return program_.scalar_f32(std::string("cg.") + name, 0.0f); };
  active = word("active");
  breakdown = word("breakdown");
  refresh_ = word("refresh");
  rz_ = number("rz");
  next_rz_ = number("next_rz");
  largest_ = number("largest_rr");
  next_largest_ = number("next_largest_rr");
  beta_ = number("beta");
  target_ = number("target");
}

ConjugateGradient::Sums ConjugateGradient::declare_sums(const std::string& name, const Chunks& chunks, uint32_t lists) {
  Sums sums{chunks,
            program_.buffer("cg." + name + "_partials", Type::f32, uint64_t{lists} * chunks.count, Initial::zero()),
            {}};
  if (mapping_ == Mapping::narrow)
    for (uint32_t list = 0; list < lists; ++list)
      sums.totals.push_back(program_.scalar_f32("cg." + name + "_total" + std::to_string(list), 0.0f));
  return sums;
}

void ConjugateGradient::append_residual(Operands& bindings) const {
  if (options_.jacobi) bindings.insert(bindings.end(), {r_, inverse_diagonal_});
}

void ConjugateGradient::append_totals(const Sums& sums, Operands& bindings) const {
  if (mapping_ == Mapping::wide) {
    bindings.emplace_back(sums.partials);
    return;
  }
  for (const Scalar total : sums.totals) bindings.emplace_back(total);
}

Result<void> ConjugateGradient::dispatch(const char* label, Result<kir::Kernel> kernel, Operands bindings,
                                         const Parameters& parameters, uint32_t workgroups) {
  if (!kernel) return std::move(kernel).error();
  program::Dispatch command{label,
                            program::make_kernel_source(std::move(kernel).value()),
                            std::move(bindings),
                            {},
                            program::Grid{workgroups, 1, 1},
                            {}};
  for (const uint32_t parameter : parameters) command.parameters.emplace_back(program::literal(parameter));
  program_.dispatch(std::move(command));
  return {};
}

/// Where every workgroup does not add the partial sums for itself.
Result<void> ConjugateGradient::total(const char* label, const Sums& sums) {
  if (mapping_ == Mapping::wide) return {};
  Operands bindings{sums.partials};
  for (const Scalar total : sums.totals) bindings.emplace_back(total);
  const auto lists = static_cast<uint32_t>(sums.totals.size());
  return dispatch(label, cg::total_kernel(mapping_, sums.chunks.count, lists), std::move(bindings), {}, 1);
}

Result<void> ConjugateGradient::product(bool after_residual) {
  Operands bindings{matrix_.row_offsets, matrix_.column_indices, matrix_.values, zp_, q_};
  if (after_residual) bindings.insert(bindings.end(), {d_, x_high, x_low});
  bindings.emplace_back(product_sums_.partials);
  Parameters parameters{matrix_.rows, product_sums_.chunks.elements_per_chunk};
  append_totals(after_residual ? true_residual_sums_ : residual_sums_, bindings);
  const uint32_t workgroups = product_sums_.chunks.count;
  if (after_residual) {
    bindings.insert(bindings.end(), {beta_, target_, next_rz_, next_largest_, active, breakdown});
    return dispatch("product after the true residual", cg::product_after_residual_kernel(kernels_, shape_),
                    std::move(bindings), parameters, workgroups);
  }
  bindings.insert(bindings.end(),
                  {rz_, largest_, target_, beta_, next_rz_, next_largest_, refresh_, active, breakdown});
  return dispatch("product", cg::product_kernel(kernels_, shape_, options_.reliable_drop), std::move(bindings),
                  parameters, workgroups);
}

Result<void> ConjugateGradient::start() {
  const Chunks& chunks = true_residual_sums_.chunks;
  Operands bindings{b_, zp_};
  append_residual(bindings);
  bindings.insert(bindings.end(), {d_, x_high, x_low, true_residual_sums_.partials});
  WAVEGATE_CHECK(dispatch("start", cg::start_kernel(kernels_), std::move(bindings),
                          {matrix_.rows, chunks.elements_per_chunk}, chunks.count));
  WAVEGATE_CHECK(total("start total", true_residual_sums_));
  Operands scalars;
  append_totals(true_residual_sums_, scalars);
  scalars.insert(scalars.end(), {beta_, target_, breakdown});
  WAVEGATE_CHECK(
      dispatch("start scalars", cg::start_scalars_kernel(kernels_, options_.tolerance), std::move(scalars), {}, 1));
  return product(true);
}

Result<void> ConjugateGradient::step() {
  const Chunks& chunks = residual_sums_.chunks;
  WAVEGATE_CHECK(total("product total", product_sums_));
  Operands bindings{q_, zp_};
  append_residual(bindings);
  bindings.insert(bindings.end(), {d_, residual_sums_.partials});
  append_totals(product_sums_, bindings);
  bindings.insert(bindings.end(), {beta_, next_rz_, next_largest_, rz_, largest_, breakdown});
  WAVEGATE_CHECK(dispatch("update", cg::update_kernel(kernels_), std::move(bindings),
                          {matrix_.rows, chunks.elements_per_chunk}, chunks.count));
  WAVEGATE_CHECK(total("residual total", residual_sums_));
  return product(false);
}

Result<void> ConjugateGradient::iteration() {
  WAVEGATE_CHECK(step());
  Result<void> status;
  const auto true_residual = [&]() -> Result<void> {
    const Chunks& chunks = true_residual_sums_.chunks;
    Operands bindings{matrix_.row_offsets, matrix_.column_indices, matrix_.values, b_, x_high, x_low, d_, zp_};
    append_residual(bindings);
    bindings.emplace_back(true_residual_sums_.partials);
    WAVEGATE_CHECK(dispatch("true residual", cg::residual_kernel(kernels_, shape_), std::move(bindings),
                            {matrix_.rows, chunks.elements_per_chunk}, chunks.count));
    WAVEGATE_CHECK(total("true residual total", true_residual_sums_));
    return product(true);
  };
  program_.if_(
      refresh_, [&] { status = true_residual(); }, {}, "true residual is due");
  return status;
}

Result<void> ConjugateGradient::finish() {
  const Chunks& chunks = residual_sums_.chunks;
  return dispatch("fold", cg::fold_kernel(mapping_), {d_, x_high, x_low}, {matrix_.rows, chunks.elements_per_chunk},
                  chunks.count);
}

Result<void> ConjugateGradient::solve() {
  WAVEGATE_CHECK(start());
  Result<void> status;
  loop = program_.while_(
      active, {.min = 0, .max = options_.max_iterations}, [&] { status = iteration(); }, "conjugate gradients");
  WAVEGATE_CHECK(status);
  return finish();
}

std::vector<Buffer> ConjugateGradient::state() const {
  std::vector<Buffer> buffers{zp_, q_, d_, x_high, x_low, product_sums_.partials};
  if (options_.jacobi) buffers.push_back(r_);
  return buffers;
}

uint64_t ConjugateGradient::vector_bytes() const {
  return uint64_t{4} * matrix_.rows;
}
uint64_t ConjugateGradient::matrix_bytes() const {
  return uint64_t{8} * matrix_.nonzeros + vector_bytes() + 4;
}

std::vector<Traffic> ConjugateGradient::traffic() const {
  const uint64_t update = options_.jacobi ? 10 : 7;  // q, zp, d; zp, d; and r, its inverse diagonal, r
  return {{"update", update * vector_bytes()}, {"product", matrix_bytes() + 3 * vector_bytes()}};
}

std::vector<Traffic> ConjugateGradient::true_residual_traffic() const {
  const uint64_t residual = options_.jacobi ? 7 : 5;  // b, x_high, x_low, d; z; and the inverse diagonal, r
  return {{"true residual", matrix_bytes() + residual * vector_bytes()},
          {"product after the true residual", matrix_bytes() + 9 * vector_bytes()}};
}

}  // namespace wavegate::ops
