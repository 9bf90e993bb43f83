#include "wavegate/api/engine.h"

#include <bit>

#include "wavegate/api/calibrate.h"
#include "wavegate/base/format.h"
#include "wavegate/lowering/lower.h"

namespace wavegate {

Result<Executable> compile(const program::Program& program, std::shared_ptr<device::Device> device,
                           const CompileOptions& options) {
  if (device == nullptr) return invalid_input("compile needs a device", program.name());
  CompileOptions complete = options;
  if (!complete.costs) complete.costs = calibrated_costs(device->profile());
  WAVEGATE_TRY(lowering::Plan plan, lowering::lower(program, device->profile(), complete));
  WAVEGATE_TRY(std::unique_ptr<device::Executable> loaded, device->load(plan.graph));
  Executable executable(std::move(device), std::move(plan), std::move(loaded));
  executable.buffers_ = program.buffers();
  executable.scalars_ = program.scalars();
  for (program::BufferInfo& buffer : executable.buffers_) buffer.initial.reset();  // the graph holds the contents
  return executable;
}

Executable& Executable::operator=(Executable&& other) noexcept {
  if (this == &other) return *this;
  executable_ = std::move(other.executable_);
  device_ = std::move(other.device_);
  plan_ = std::move(other.plan_);
  buffers_ = std::move(other.buffers_);
  scalars_ = std::move(other.scalars_);
  return *this;
}

Result<void> Executable::bind(program::Buffer buffer, std::shared_ptr<device::Buffer> memory) {
  if (buffer.id >= buffers_.size()) return invalid_input("bind names a buffer of another program");
  return executable_->bind(plan_.buffers[buffer.id].buffer, std::move(memory));
}

Result<void> Executable::submit() {
  return executable_->submit();
}
Result<void> Executable::wait() {
  WAVEGATE_CHECK(executable_->wait());
  return check_computed_grids();
}
Result<void> Executable::check_computed_grids() {
  if (plan_.computed_grids.empty()) return {};
  WAVEGATE_TRY(const uint32_t fault, arena_word(plan_.fault));
  if (fault == 0) return {};
  return invalid_input("its computed grid was larger than the declared maximum; declare a larger one",
                       format("dispatch \"{}\"", plan_.computed_grids[fault - 1]));
}
Result<void> Executable::run() {
  WAVEGATE_CHECK(submit());
  return wait();
}
Result<void> Executable::reset() {
  return executable_->reset();
}

Result<void> Executable::set(program::Scalar scalar, program::Literal value) {
  if (scalar.id >= scalars_.size()) return invalid_input("set names a scalar of another program");
  const program::ScalarInfo& info = scalars_[scalar.id];
  if (info.type != value.type)
    return invalid_input(format("scalar \"{}\" is {}, not {}", info.name, program::to_string(info.type),
                                program::to_string(value.type)));
  const lowering::Place place = plan_.scalars[scalar.id];
  return executable_->write(place.buffer, place.offset, std::as_bytes(std::span(&value.bits, 1)));
}

Result<void> Executable::write_bytes(program::Buffer buffer, uint64_t offset, std::span<const std::byte> bytes) {
  if (buffer.id >= buffers_.size()) return invalid_input("write names a buffer of another program");
  const program::BufferInfo& info = buffers_[buffer.id];
  if (offset > info.bytes() || bytes.size() > info.bytes() - offset)
    return invalid_input(format("write of {} bytes at {} does not fit buffer \"{}\" of {} bytes", bytes.size(), offset,
                                info.name, info.bytes()));
  return executable_->write(plan_.buffers[buffer.id].buffer, offset, bytes);
}

Result<void> Executable::read_bytes(program::Buffer buffer, uint64_t offset, std::span<std::byte> bytes) {
  if (buffer.id >= buffers_.size()) return invalid_input("read names a buffer of another program");
  const program::BufferInfo& info = buffers_[buffer.id];
  if (offset > info.bytes() || bytes.size() > info.bytes() - offset)
    return invalid_input(format("read of {} bytes at {} lies outside buffer \"{}\" of {} bytes", bytes.size(), offset,
                                info.name, info.bytes()));
  return executable_->read(plan_.buffers[buffer.id].buffer, offset, bytes);
}

Result<uint64_t> Executable::byte_count(program::Buffer buffer, uint64_t element_bytes) const {
  if (buffer.id >= buffers_.size()) return invalid_input("a read or write names a buffer of another program");
  const program::BufferInfo& info = buffers_[buffer.id];
  if (kir::byte_size(info.element) == element_bytes) return info.bytes();
  return invalid_input(format("buffer \"{}\" holds {}, which has {} bytes, not {}", info.name,
                              kir::to_string(info.element), kir::byte_size(info.element), element_bytes));
}

Result<uint32_t> Executable::arena_word(uint64_t offset) {
  uint32_t word = 0;
  WAVEGATE_CHECK(executable_->read(plan_.arena, offset, std::as_writable_bytes(std::span(&word, 1))));
  return word;
}

Result<uint32_t> Executable::read_bits(program::Scalar scalar) {
  if (scalar.id >= scalars_.size()) return invalid_input("read names a scalar of another program");
  return arena_word(plan_.scalars[scalar.id].offset);
}

Result<float> Executable::read_f32(program::Scalar scalar) {
  WAVEGATE_TRY(const uint32_t bits, read_bits(scalar));
  if (scalars_[scalar.id].type != program::ScalarType::float32)
    return invalid_input(format("scalar \"{}\" is {}, not float32", scalars_[scalar.id].name,
                                program::to_string(scalars_[scalar.id].type)));
  return std::bit_cast<float>(bits);
}

Result<LoopReport> Executable::loop(program::Loop loop) {
  if (loop.id >= plan_.loops.size()) return invalid_input("no such loop in this program");
  const lowering::LoopPlaces& places = plan_.loops[loop.id];
  LoopReport report;
  WAVEGATE_TRY(report.trips, arena_word(places.trips));
  WAVEGATE_TRY(const uint32_t converged, arena_word(places.converged));
  report.reason = converged != 0 ? ExitReason::converged : ExitReason::bound;
  return report;
}

}  // namespace wavegate
