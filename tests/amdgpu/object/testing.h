#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wavegate/amdgpu/object/bytes.h"
#include "wavegate/base/format.h"
#include "wavegate/base/result.h"

/// Files made by hand for the tests of this folder, and those that clang made.
namespace wavegate::amdgpu::object {

inline std::vector<std::byte> to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

template <typename T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto part = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), part.begin(), part.end());
}

inline void append(std::vector<std::byte>& bytes, std::string_view text) {
  const auto part = to_bytes(text);
  bytes.insert(bytes.end(), part.begin(), part.end());
}

template <typename T>
void put(std::vector<std::byte>& bytes, std::size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

/// "kind: where: message", or "" on success.
template <typename T>
std::string error_text(const Result<T>& result) {
  return result.ok() ? "" : result.error().to_string();
}

/// What wavegate_amd_kernels compiled: `kernel` is "saxpy", `target` "gfx1030.w32".
inline std::vector<std::byte> compiled(std::string_view kernel, std::string_view target) {
  const std::string path = format("{}/{}.{}.hsaco", WAVEGATE_AMD_KERNELS_DIR, kernel, target);
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return to_bytes(text.str());
}

/// MessagePack as the tests write it, so that every byte is theirs.
namespace pack {
inline std::string text(std::string_view value) {
  return (value.size() < 32 ? std::string(1, static_cast<char>(0xa0 | value.size()))
                            : std::string("\xd9") + static_cast<char>(value.size())) +
         std::string(value);
}
inline std::string number(std::uint32_t value) {
  std::string bytes = "\xce";
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}
inline std::string list(const std::vector<std::string>& items) {
  std::string bytes = {'\xdc', static_cast<char>(items.size() >> 8), static_cast<char>(items.size() & 0xff)};
  for (const std::string& item : items) bytes += item;
  return bytes;
}
inline std::string map(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string bytes = {'\xde', static_cast<char>(members.size() >> 8), static_cast<char>(members.size() & 0xff)};
  for (const auto& [key, value] : members) bytes += text(key) + value;
  return bytes;
}
inline std::string argument(std::uint32_t offset, std::uint32_t size, std::string_view kind) {
  return map({{".offset", number(offset)}, {".size", number(size)}, {".value_kind", text(kind)}});
}
}  // namespace pack

/// A code object put together by hand: one loaded segment whose addresses are file offsets plus kBase.
class ObjectBuilder {
 public:
  static constexpr std::uint64_t kBase = 0x1000;
  std::uint16_t type = 3;
  std::uint16_t machine = 224;
  std::uint8_t os_abi = 64;
  std::uint8_t abi_version = 3;
  std::uint32_t flags = 0x36;  // gfx1030

  ObjectBuilder() { file_.resize(kHeaders); }

  /// The address at which the bytes will be.
  std::uint64_t add(const std::vector<std::byte>& bytes) {
    file_.resize((file_.size() + 63) / 64 * 64);
    const std::uint64_t address = file_.size() + kBase;
    file_.insert(file_.end(), bytes.begin(), bytes.end());
    return address;
  }
  void add_symbol(std::string_view name, std::uint8_t symbol_type, std::uint64_t address, std::uint64_t size) {
    append(symbols_, static_cast<std::uint32_t>(names_.size()));
    append(symbols_, symbol_type);
    append(symbols_, std::uint8_t{0});
    append(symbols_, std::uint16_t{1});
    append(symbols_, address);
    append(symbols_, size);
    names_ += std::string(name) + '\0';
  }
  void add_note(std::string_view owner, std::uint32_t note_type, std::string_view content) {
    append(notes_, static_cast<std::uint32_t>(owner.size() + 1));
    append(notes_, static_cast<std::uint32_t>(content.size()));
    append(notes_, note_type);
    for (const std::string_view part : {owner, content}) {
      append(notes_, part);
      const std::size_t padding = part.data() == owner.data() ? 4 - part.size() % 4 : (4 - part.size() % 4) % 4;
      notes_.resize(notes_.size() + padding);
    }
  }
  /// A kernel whose code is these words, and its descriptor.
  void add_kernel(const std::string& name, const std::vector<std::uint32_t>& words,
                  std::vector<std::byte> descriptor = std::vector<std::byte>(64)) {
    std::vector<std::byte> code;
    for (const std::uint32_t word : words) append(code, word);
    const std::uint64_t entry = add(code);
    const std::uint64_t place = add(descriptor);
    put(file_, static_cast<std::size_t>(place - kBase + 16), entry - place);
    add_symbol(name, 2, entry, code.size());
    add_symbol(name + ".kd", 1, place, 64);
  }
  void add_metadata(const std::string& document) { add_note("AMDGPU", 32, document); }

  std::vector<std::byte> build() {
    const std::uint64_t notes = add(notes_) - kBase;
    const std::uint64_t symbols = add(symbols_) - kBase;
    const std::uint64_t names = add(to_bytes(names_)) - kBase;
    const std::uint64_t sections = add({}) - kBase;
    add_section(0, 0, 0, 0, 0);
    add_section(2, symbols, symbols_.size(), 2, 24);
    add_section(3, names, names_.size(), 0, 0);
    put_header(sections);
    put_segment(64, 1, 0, sections);
    put_segment(64 + 56, 4, notes, notes_.size());
    return file_;
  }

 private:
  static constexpr std::size_t kHeaders = 64 + 2 * 56;

  void add_section(std::uint32_t section_type, std::uint64_t offset, std::uint64_t size, std::uint32_t link,
                   std::uint64_t entry_size) {
    std::vector<std::byte> header(64);
    put(header, 4, section_type);
    put(header, 24, offset);
    put(header, 32, size);
    put(header, 40, link);
    put(header, 56, entry_size);
    file_.insert(file_.end(), header.begin(), header.end());
  }
  void put_header(std::uint64_t sections) {
    std::memcpy(file_.data(),
                "\x7f"
                "ELF\x02\x01\x01",
                7);
    put(file_, 7, os_abi);
    put(file_, 8, abi_version);
    put(file_, 16, type);
    put(file_, 18, machine);
    put(file_, 32, std::uint64_t{64});
    put(file_, 40, sections);
    put(file_, 48, flags);
    put(file_, 54, std::uint16_t{56});
    put(file_, 56, std::uint16_t{2});
    put(file_, 58, std::uint16_t{64});
    put(file_, 60, std::uint16_t{3});
  }
  void put_segment(std::size_t at, std::uint32_t segment_type, std::uint64_t offset, std::uint64_t size) {
    put(file_, at, segment_type);
    put(file_, at + 8, offset);
    put(file_, at + 16, offset + kBase);
    put(file_, at + 32, size);
    put(file_, at + 40, size);
  }

  std::vector<std::byte> file_, symbols_ = std::vector<std::byte>(24), notes_;
  std::string names_ = std::string(1, '\0');
};

}  // namespace wavegate::amdgpu::object
