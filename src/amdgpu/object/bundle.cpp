#include "wavegate/amdgpu/object/bundle.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr std::uint16_t kZlib = 0, kZstd = 1;
/// Bytes that are unpacked between looks at the limit, and that the result grows by.
constexpr std::size_t kStep = std::size_t{1} << 20;
constexpr std::size_t kEntryHeader = 24;

/// Grows by steps, since the size that a header claims is not yet believed.
class Output {
 public:
  explicit Output(std::uint64_t limit) : limit_(limit) {}

  /// Room for the next bytes; empty where the limit is reached.
  std::span<std::byte> room() {
    if (size_ == bytes_.size()) {
      const std::uint64_t wanted = std::max<std::uint64_t>(std::uint64_t{size_} * 2, kStep);
      bytes_.resize(static_cast<std::size_t>(std::min(wanted, limit_)));
    }
    return std::span(bytes_).subspan(size_, std::min(bytes_.size() - size_, kStep));
  }
  void add(std::size_t count) { size_ += count; }
  std::size_t size() const { return size_; }
  std::vector<std::byte> take() && {
    bytes_.resize(size_);
    return std::move(bytes_);
  }

 private:
  std::uint64_t limit_;
  std::vector<std::byte> bytes_;
  std::size_t size_ = 0;
};

Error damaged(std::string_view why) {
  return invalid_input(format("the compressed bundle is damaged: {}", why));
}

/// Fills `output` until the stream ends or the output is full, which the caller tells from its size.
Result<void> inflate_zlib(Bytes input, Output& output) {
  if (input.size() > std::numeric_limits<uInt>::max()) return unsupported("a zlib bundle of 4 GiB or more");
  z_stream stream = {};
  if (::inflateInit(&stream) != Z_OK) return device_error("zlib has no memory to start with");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, &::inflateEnd);
  // zlib's interface predates const; it does not write through next_in.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input.data()));
  stream.avail_in = static_cast<uInt>(input.size());
  while (true) {
    const std::span<std::byte> room = output.room();
    if (room.empty()) return {};
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    output.add(room.size() - stream.avail_out);
    if (status == Z_STREAM_END) return {};
    if (status == Z_MEM_ERROR) return device_error("zlib has no memory to go on with");
    if (status == Z_BUF_ERROR || (status == Z_OK && stream.avail_in == 0 && stream.avail_out != 0))
      return damaged("its zlib stream is cut off");
    if (status != Z_OK) return damaged(stream.msg != nullptr ? stream.msg : "it is no zlib stream");
  }
}

Result<void> inflate_zstd(Bytes input, Output& output) {
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(::ZSTD_createDCtx(), &::ZSTD_freeDCtx);
  if (context == nullptr) return device_error("zstd has no memory to start with");
  // A frame may ask for a window as large as its content; half of a gibibyte is what zstd's own --ultra makes at most.
  ::ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, 29);
  ZSTD_inBuffer in = {input.data(), input.size(), 0};
  while (true) {
    const std::span<std::byte> room = output.room();
    if (room.empty()) return {};
    ZSTD_outBuffer out = {room.data(), room.size(), 0};
    const std::size_t status = ::ZSTD_decompressStream(context.get(), &out, &in);
    output.add(out.pos);
    if (::ZSTD_isError(status) != 0) return damaged(::ZSTD_getErrorName(status));
    if (status == 0) return {};
    if (in.pos == in.size && out.pos < out.size) return damaged("its zstd stream is cut off");
  }
}

}  // namespace

bool is_bundle(Bytes bytes) {
  return as_text(bytes).starts_with(kMagic);
}

bool is_compressed_bundle(Bytes bytes) {
  return as_text(bytes).starts_with(kCompressedMagic);
}

Result<Bundle> parse_bundle(Bytes bytes) {
  if (!is_bundle(bytes)) return invalid_input("is no offload bundle: it does not start with its magic string");
  const auto cut_off = [] { return invalid_input("the offload bundle is cut off in its table of entries"); };
  const auto count = read<std::uint64_t>(bytes, kMagic.size());
  if (!count) return cut_off();
  std::uint64_t position = kMagic.size() + sizeof(std::uint64_t);
  if (*count > (bytes.size() - position) / kEntryHeader) return cut_off();
  Bundle bundle;
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto header = slice(bytes, position, kEntryHeader);
    if (!header) return cut_off();
    const auto offset = read_known<std::uint64_t>(*header, 0);
    const auto size = read_known<std::uint64_t>(*header, 8);
    position += kEntryHeader;
    const auto id = slice(bytes, position, read_known<std::uint64_t>(*header, 16));
    if (!id) return cut_off();
    position += id->size();
    const auto content = slice(bytes, offset, size);
    if (!content)
      return invalid_input(
          format("entry {} of the offload bundle, {} bytes at {}, lies beyond the {} bytes that there are", i, size,
                 offset, bytes.size()));
    bundle.entries.push_back({as_text(*id), *content});
    bundle.size = std::max(bundle.size, offset + size);
    total += size;  // below 2^64: each is at most the size of the bytes, and there are fewer than that / 24
  }
  bundle.size = std::max(bundle.size, position);
  if (total > bundle.size) return invalid_input("the entries of the offload bundle overlap");
  return bundle;
}

Result<CompressedBundle> parse_compressed_bundle(Bytes bytes) {
  if (!is_compressed_bundle(bytes)) return invalid_input("is no compressed offload bundle: \"CCOB\" is missing");
  const auto cut_off = [] { return invalid_input("the compressed offload bundle is cut off in its header"); };
  if (bytes.size() < 8) return cut_off();
  CompressedBundle bundle;
  bundle.version = read_known<std::uint16_t>(bytes, 4);
  bundle.method = read_known<std::uint16_t>(bytes, 6);
  // The header ends with a hash of eight bytes that nothing depends on: both streams have check sums of their own.
  std::size_t header_size = 0;
  switch (bundle.version) {
    case 1:
      header_size = 20;
      bundle.size = bytes.size();
      bundle.unpacked_size = read<std::uint32_t>(bytes, 8).value_or(0);
      break;
    case 2:
      header_size = 24;
      bundle.size = read<std::uint32_t>(bytes, 8).value_or(0);
      bundle.unpacked_size = read<std::uint32_t>(bytes, 12).value_or(0);
      break;
    case 3:
      header_size = 32;
      bundle.size = read<std::uint64_t>(bytes, 8).value_or(0);
      bundle.unpacked_size = read<std::uint64_t>(bytes, 16).value_or(0);
      break;
    default: return unsupported(format("version {} of compressed offload bundles is none of 1, 2, 3", bundle.version));
  }
  if (bytes.size() < header_size) return cut_off();
  if (bundle.method != kZlib && bundle.method != kZstd)
    return unsupported(
        format("method {} of compressed offload bundles is neither 0, zlib, nor 1, zstd", bundle.method));
  if (bundle.size < header_size || bundle.size > bytes.size())
    return invalid_input(
        format("the compressed offload bundle claims {} bytes where there are {}", bundle.size, bytes.size()));
  bundle.content = bytes.subspan(header_size, static_cast<std::size_t>(bundle.size) - header_size);
  return bundle;
}

Result<std::vector<std::byte>> unpack(const CompressedBundle& bundle, std::uint64_t maximum_bytes) {
  if (bundle.unpacked_size > maximum_bytes)
    return invalid_input(format("the compressed offload bundle unpacks to {} bytes, more than the limit of {}",
                                bundle.unpacked_size, maximum_bytes));
  try {
    // One byte more than is claimed tells a stream that is right from one that goes on.
    Output output(bundle.unpacked_size + 1);
    WAVEGATE_CHECK(bundle.method == kZlib ? inflate_zlib(bundle.content, output)
                                          : inflate_zstd(bundle.content, output));
    if (output.size() != bundle.unpacked_size)
      return damaged(format("it unpacks to {} {} bytes; its header says {}",
                            output.size() > bundle.unpacked_size ? "more than" : "",
                            std::min<std::uint64_t>(output.size(), bundle.unpacked_size), bundle.unpacked_size));
    return std::move(output).take();
  } catch (const std::bad_alloc&) {
    return device_error("the offload bundle does not fit into this machine's memory");
  }
}

std::optional<std::size_t> BundleFinder::next(std::size_t from) {
  // Linkers put zeros between bundles; what is looked at no further need not be in memory.
  const std::size_t start = std::min(text_.find_first_not_of('\0', from), text_.size());
  const std::string_view rest = text_.substr(start);
  if (rest.starts_with(kMagic) || rest.starts_with(kCompressedMagic)) return start;
  const auto advance = [&](std::size_t& place, std::string_view magic) {
    if (place != std::string_view::npos && place <= start) place = text_.find(magic, start);
  };
  advance(plain_, kMagic);
  advance(compressed_, kCompressedMagic);
  const std::size_t first = std::min(plain_, compressed_);
  return first == std::string_view::npos ? std::nullopt : std::optional(first);
}

}  // namespace wavegate::amdgpu::object
