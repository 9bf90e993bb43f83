#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/io/file.h"

namespace wavegate::io {
namespace {

constexpr std::size_t kFirstBuffer = std::size_t{64} << 10;
/// One read() or write() moves at most this many bytes; Linux itself stops a little below 2 GiB.
constexpr std::size_t kLargestTransfer = std::size_t{1} << 30;

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  /// Closes and reports: on some file systems only close() tells that a write failed.
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

std::string system_message() {
  return std::generic_category().message(errno);
}

Error too_large(std::uint64_t maximum_bytes, std::string_view what, std::string_view where) {
  return invalid_input(format("{} more than the limit of {} bytes", what, maximum_bytes), std::string(where));
}

Error out_of_memory(std::string_view where) {
  return device_error("the content does not fit into this machine's memory", std::string(where));
}

/// The next buffer size for a content that may reach `limit`. Doubling keeps the copies linear.
std::size_t grown(std::size_t size, std::uint64_t limit) {
  const std::uint64_t wanted = std::max<std::uint64_t>(std::uint64_t{size} * 2, kFirstBuffer);
  return static_cast<std::size_t>(std::min<std::uint64_t>(wanted, limit));
}

Result<std::vector<std::byte>> read_descriptor(int descriptor, std::uint64_t expected, std::uint64_t maximum_bytes,
                                               const std::string& where) {
  // One byte beyond what is allowed tells a file that fits from one that does not.
  const std::uint64_t limit = std::min<std::uint64_t>(maximum_bytes, std::numeric_limits<std::int64_t>::max() - 1) + 1;
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(expected + 1, limit)));
  std::size_t size = 0;
  while (true) {
    if (size == bytes.size()) {
      if (size == limit) return too_large(maximum_bytes, "the file holds", where);
      bytes.resize(grown(size, limit));
    }
    const ssize_t got = ::read(descriptor, bytes.data() + size, std::min(bytes.size() - size, kLargestTransfer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return invalid_input(format("cannot be read: {}", system_message()), where);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > maximum_bytes) return too_large(maximum_bytes, "the file holds", where);
  bytes.resize(size);
  return bytes;
}

Result<void> write_descriptor(int descriptor, std::span<const std::byte> bytes, const std::string& where) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), kLargestTransfer));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return invalid_input(format("cannot be written: {}", system_message()), where);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

/// Owns zlib's state.
class Inflater {
 public:
  // 15: the largest window; +16: gzip's wrapping with its check sum and length, and no other.
  Inflater() : ready_(::inflateInit2(&stream_, 15 + 16) == Z_OK) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready_) ::inflateEnd(&stream_);
  }
  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_ = {};
  bool ready_;
};

Result<std::vector<std::byte>> decompress(std::span<const std::byte> input, const std::string& where,
                                          std::uint64_t maximum_bytes) {
  constexpr std::size_t kLargestStep = std::numeric_limits<uInt>::max();
  Inflater inflater;
  if (!inflater.ready()) return out_of_memory(where);
  z_stream& stream = inflater.stream();

  const std::uint64_t limit = std::min<std::uint64_t>(maximum_bytes, std::numeric_limits<std::int64_t>::max() - 1) + 1;
  std::vector<std::byte> output(grown(input.size() * 2, limit));
  std::size_t consumed = 0;
  std::size_t produced = 0;
  while (true) {
    if (produced == output.size() && produced < limit) output.resize(grown(produced, limit));
    const std::size_t offered = std::min(input.size() - consumed, kLargestStep);
    const std::size_t room = std::min(output.size() - produced, kLargestStep);
    // zlib's interface predates const; it does not write through next_in.
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input.data() + consumed));
    stream.avail_in = static_cast<uInt>(offered);
    stream.next_out = reinterpret_cast<Bytef*>(output.data() + produced);
    stream.avail_out = static_cast<uInt>(room);
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    consumed += offered - stream.avail_in;
    produced += room - stream.avail_out;

    if (produced > maximum_bytes) return too_large(maximum_bytes, "decompresses to", where);
    if (status == Z_STREAM_END) {
      if (consumed == input.size()) break;
      if (!is_gzip(input.subspan(consumed))) {
        return invalid_input(format("{} bytes after the end of the gzip data at byte {} are not gzip; remove them",
                                    input.size() - consumed, consumed),
                             where);
      }
      if (::inflateReset(&stream) != Z_OK) return internal_error("zlib refused to start a second gzip member", where);
      continue;
    }
    if (status == Z_MEM_ERROR) return out_of_memory(where);
    if (status != Z_OK && status != Z_BUF_ERROR) {
      return invalid_input(format("the gzip data is damaged near byte {}: {}", consumed,
                                  stream.msg != nullptr ? stream.msg : "not gzip"),
                           where);
    }
    // Room for output and nothing more to give: the stream ends before its end.
    if (consumed == input.size() && produced < output.size()) {
      return invalid_input(format("the gzip data is cut off after {} bytes; fetch the file again", consumed), where);
    }
  }
  output.resize(produced);
  return output;
}

/// A name beside `path` that no other call of this process uses.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<std::uint64_t> counter{0};
  return path.parent_path() / format(".{}.{}.{}.tmp", path.filename().string().substr(0, 100), ::getpid(), counter++);
}

Result<void> fill_and_rename(const std::filesystem::path& temporary, const std::filesystem::path& target, mode_t mode,
                             bool keep_mode, std::span<const std::byte> bytes, const std::string& where) {
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (file.get() < 0) {
    return invalid_input(
        format("cannot create a file in the folder \"{}\": {}", target.parent_path().string(), system_message()),
        where);
  }
  Result<void> result = write_descriptor(file.get(), bytes, where);
  if (result.ok() && keep_mode && ::fchmod(file.get(), mode) != 0) {
    result = invalid_input(format("cannot keep the file's permissions: {}", system_message()), where);
  }
  if (result.ok() && ::fsync(file.get()) != 0) {
    result = invalid_input(format("cannot be flushed to the disk: {}", system_message()), where);
  }
  if (!file.close() && result.ok()) result = invalid_input(format("cannot be closed: {}", system_message()), where);
  if (result.ok() && ::rename(temporary.c_str(), target.c_str()) != 0) {
    result = invalid_input(format("cannot be replaced: {}", system_message()), where);
  }
  if (!result.ok()) ::unlink(temporary.c_str());
  return result;
}

}  // namespace

Result<std::vector<std::byte>> read_regular_file(const std::filesystem::path& path, std::uint64_t maximum_bytes) {
  std::error_code ignored;  // what does not exist, and folders, are told by read_file()
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_other(status))
    return invalid_input("is a pipe or a device; only regular files can be named here", path.string());
  return read_file(path, maximum_bytes);
}

Result<std::vector<std::byte>> decompress_gzip(std::span<const std::byte> bytes, std::string_view where,
                                               std::uint64_t maximum_bytes) {
  try {
    return decompress(bytes, std::string(where), maximum_bytes);
  } catch (const std::bad_alloc&) {
    return out_of_memory(where);
  } catch (const std::length_error&) {
    return out_of_memory(where);
  }
}

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, std::uint64_t maximum_bytes) {
  const std::string where = path.string();
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return invalid_input(format("cannot be opened: {}", system_message()), where);
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return invalid_input(format("cannot be read: {}", system_message()), where);
  if (S_ISDIR(status.st_mode)) return invalid_input("is a folder; name a file", where);
  const std::uint64_t expected = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : kFirstBuffer;
  if (S_ISREG(status.st_mode) && expected > maximum_bytes) return too_large(maximum_bytes, "the file holds", where);
  try {
    WAVEGATE_TRY(std::vector<std::byte> bytes, read_descriptor(file.get(), expected, maximum_bytes, where));
    if (is_gzip(bytes)) return decompress_gzip(bytes, where, maximum_bytes);
    return bytes;
  } catch (const std::bad_alloc&) {
    return out_of_memory(where);
  } catch (const std::length_error&) {
    return out_of_memory(where);
  }
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const std::string where = path.string();
  if (path.filename().empty()) return invalid_input("is no file name; name a file", where);

  mode_t mode = 0666;  // The process's umask takes its part.
  bool exists = false;
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return invalid_input("is a folder; name a file", where);
    if (!S_ISREG(status.st_mode)) {
      Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
      if (file.get() < 0) return invalid_input(format("cannot be opened: {}", system_message()), where);
      return write_descriptor(file.get(), bytes, where);
    }
    mode = status.st_mode & 07777;
    exists = true;
  }

  std::error_code fault;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, fault);
  if (fault) return invalid_input(format("cannot be resolved: {}", fault.message()), where);
  WAVEGATE_CHECK(fill_and_rename(temporary_name(target), target, mode, exists, bytes, where));
  // The new name itself reaches the disk with its folder. The content is safe already, so a file system that cannot
  // flush a folder is no error.
  const Descriptor folder(::open(target.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
  return {};
}

}  // namespace wavegate::io
