#include "wavegate/amdgpu/object/container.h"

#include <gmock/gmock.h>

#include "amdgpu/object/bundle_testing.h"
#include "amdgpu/object/testing.h"

namespace wavegate::amdgpu::object {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// "place" and content of every object that is visited.
std::vector<std::pair<std::string, std::string>> visited(Bytes file) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto result = visit_code_objects(file, [&](const FoundObject& object) -> Result<void> {
    found.emplace_back(object.place, as_text(object.bytes));
    return {};
  });
  EXPECT_TRUE(result.ok()) << error_text(result);
  return found;
}

/// A library of a host with this section.
std::vector<std::byte> library(std::string_view section, const std::vector<std::byte>& content) {
  const std::string names = std::string(1, '\0') + std::string(section) + '\0' + ".shstrtab" + '\0';
  std::vector<std::byte> file(64);
  std::memcpy(file.data(),
              "\x7f"
              "ELF\x02\x01\x01",
              7);
  put(file, 16, std::uint16_t{3});
  put(file, 18, std::uint16_t{62});
  const std::size_t at = file.size();
  file.insert(file.end(), content.begin(), content.end());
  const std::size_t names_at = file.size();
  append(file, std::string_view(names));
  put(file, 40, std::uint64_t{file.size()});
  put(file, 58, std::uint16_t{64});
  put(file, 60, std::uint16_t{3});
  put(file, 62, std::uint16_t{2});
  const auto add = [&](std::uint32_t name, std::uint32_t type, std::uint64_t offset, std::uint64_t size) {
    std::vector<std::byte> header(64);
    put(header, 0, name);
    put(header, 4, type);
    put(header, 24, offset);
    put(header, 32, size);
    file.insert(file.end(), header.begin(), header.end());
  };
  add(0, 0, 0, 0);
  add(1, 1, at, content.size());
  add(static_cast<std::uint32_t>(section.size()) + 2, 3, names_at, names.size());
  return file;
}

TEST(Container, OfACodeObjectIsTheObject) {
  const auto bytes = ObjectBuilder().build();
  EXPECT_THAT(visited(bytes), ElementsAre(Pair("", as_text(bytes))));
}

TEST(Container, OfABundleIsItsDeviceEntries) {
  const auto bytes = make_bundle({{"host-x86_64-unknown-linux", "for the host"},
                                  {"hipv4-amdgcn-amd-amdhsa--gfx900", "nine"},
                                  {"hipv4-amdgcn-amd-amdhsa--gfx906", ""},
                                  {"openmp-amdgcn-amd-amdhsa--gfx1030", "ten"}});
  EXPECT_THAT(visited(bytes), ElementsAre(Pair("bundle 0, hipv4-amdgcn-amd-amdhsa--gfx900", "nine"),
                                          Pair("bundle 0, openmp-amdgcn-amd-amdhsa--gfx1030", "ten")));
}

TEST(Container, OfALibraryIsAllBundlesOfItsSection) {
  auto section = make_bundle({{"a-amdgcn-gfx900", "first"}});
  section.resize(4096);
  const auto packed = compress_bundle(make_bundle({{"a-amdgcn-gfx900", "second"}}), 2, 1);
  section.insert(section.end(), packed.begin(), packed.end());
  section.resize(8192);
  const auto last = make_bundle({{"a-amdgcn-gfx900", "third"}});
  section.insert(section.end(), last.begin(), last.end());
  EXPECT_THAT(visited(library(".hip_fatbin", section)),
              ElementsAre(Pair("bundle 0, a-amdgcn-gfx900", "first"), Pair("bundle 1, a-amdgcn-gfx900", "second"),
                          Pair("bundle 2, a-amdgcn-gfx900", "third")));
}

TEST(Container, KeepsWhatWasCompressedForWhomWantsIt) {
  const auto file = compress_bundle(make_bundle({{"a-amdgcn-gfx900", "kept"}}), 2, 0);
  std::vector<FoundObject> kept;
  const auto result = visit_code_objects(file, [&](const FoundObject& object) -> Result<void> {
    kept.push_back(object);
    return {};
  });
  ASSERT_TRUE(result.ok()) << error_text(result);
  ASSERT_EQ(kept.size(), 1);
  EXPECT_EQ(as_text(kept[0].bytes), "kept");
}

TEST(Container, WhoseBundlesUnpackToTooMuchTogetherIsRefused) {
  const auto packed = compress_bundle(make_bundle({{"a-amdgcn-gfx900", std::string(100'000, 'a')}}), 2, 0);
  std::vector<std::byte> file = packed;
  for (int i = 0; i < 4; ++i) file.insert(file.end(), packed.begin(), packed.end());
  ASSERT_LT(file.size(), 10'000u);
  int calls = 0;
  const auto visit = [&](const FoundObject&) -> Result<void> {
    ++calls;
    return {};
  };
  EXPECT_THAT(error_text(visit_code_objects(file, visit, {kDefaultMaximumBundle, 350'000})),
              HasSubstr("bundle 3: the compressed bundles up to this one unpack to more than 350000 bytes"));
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(visit_code_objects(file, visit).ok());
  EXPECT_THAT(error_text(visit_code_objects(file, visit, {50'000, kDefaultMaximumUnpacked})),
              HasSubstr("more than the limit of 50000"));
}

TEST(Container, EndsWithTheVisitorsError) {
  const auto file = make_bundle({{"a-amdgcn-gfx900", "x"}, {"b-amdgcn-gfx900", "y"}});
  int calls = 0;
  const auto result = visit_code_objects(file, [&](const FoundObject&) -> Result<void> {
    ++calls;
    return unsupported("enough");
  });
  EXPECT_EQ(error_text(result), "unsupported: enough");
  EXPECT_EQ(calls, 1);
}

TEST(Container, ThatHoldsNoCodeIsRefused) {
  const auto visit = [](const FoundObject&) -> Result<void> { return {}; };
  EXPECT_THAT(error_text(visit_code_objects(to_bytes("text"), visit)), HasSubstr("is neither"));
  EXPECT_THAT(error_text(visit_code_objects({}, visit)), HasSubstr("is neither"));
  EXPECT_THAT(error_text(visit_code_objects(library(".text", to_bytes("code")), visit)),
              HasSubstr("holds no AMD code"));
  EXPECT_THAT(error_text(visit_code_objects(library(".hip_fatbin", to_bytes("no bundle")), visit)),
              HasSubstr("holds no AMD code"));
}

TEST(Container, NamesTheBundleThatIsDamaged) {
  auto section = make_bundle({{"a-amdgcn-gfx900", "first"}});
  auto damaged = compress_bundle(make_bundle({{"a-amdgcn-gfx900", "second"}}), 2, 0);
  damaged[30] ^= std::byte{0xff};
  section.insert(section.end(), damaged.begin(), damaged.end());
  const auto result = visit_code_objects(section, [](const FoundObject&) -> Result<void> { return {}; });
  EXPECT_THAT(error_text(result), HasSubstr("bundle 1: the compressed bundle is damaged"));
}

}  // namespace
}  // namespace wavegate::amdgpu::object
