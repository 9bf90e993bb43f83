#include "wavegate/amdgpu/object/bundle.h"

#include <gmock/gmock.h>

#include "amdgpu/object/bundle_testing.h"
#include "amdgpu/object/testing.h"

namespace wavegate::amdgpu::object {
namespace {

using testing::HasSubstr;

TEST(Bundle, HasItsEntriesAndAnEnd) {
  auto bytes = make_bundle({{"host-x86_64", ""}, {"hip-amdgcn-amd-amdhsa--gfx900", "first"}, {"other", "second one"}});
  const std::size_t size = bytes.size();
  append(bytes, std::string_view("what follows"));
  const auto bundle = parse_bundle(bytes);
  ASSERT_TRUE(bundle.ok()) << error_text(bundle);
  ASSERT_EQ(bundle->entries.size(), 3);
  EXPECT_EQ(bundle->entries[1].id, "hip-amdgcn-amd-amdhsa--gfx900");
  EXPECT_EQ(as_text(bundle->entries[1].content), "first");
  EXPECT_EQ(as_text(bundle->entries[2].content), "second one");
  EXPECT_EQ(bundle->size, size);
}

TEST(Bundle, ThatIsWrongIsRefusedByWhatIsWrong) {
  auto bytes = make_bundle({{"a", "content"}});
  EXPECT_THAT(error_text(parse_bundle(Bytes(bytes).subspan(1))), HasSubstr("magic string"));
  for (std::size_t size = 24; size < 32 + 24 + 1; ++size)
    EXPECT_THAT(error_text(parse_bundle(Bytes(bytes).first(size))), HasSubstr("cut off in its table"));
  EXPECT_THAT(error_text(parse_bundle(Bytes(bytes).first(bytes.size() - 1))),
              HasSubstr("entry 0 of the offload bundle"));
  put(bytes, 24, ~std::uint64_t{0});
  EXPECT_THAT(error_text(parse_bundle(bytes)), HasSubstr("cut off in its table"));
}

TEST(Bundle, WhoseEntriesOverlapIsRefused) {
  auto bytes = make_bundle({{"a", "0123456789"}, {"b", "0123456789"}});
  const auto first = read<std::uint64_t>(bytes, 32);
  put(bytes, 32 + 24 + 1, *first);  // b lies where a lies, and with the table there is room for both
  EXPECT_TRUE(parse_bundle(bytes).ok());
  std::vector<std::pair<std::string, std::string>> many(100, {"e", std::string(1000, 'x')});
  auto overlapping = make_bundle(many);
  for (std::size_t i = 0; i < many.size(); ++i) put(overlapping, 32 + i * 25, std::uint64_t{2532});
  EXPECT_THAT(error_text(parse_bundle(overlapping)), HasSubstr("overlap"));
}

struct Packing {
  std::string_view name;
  std::uint16_t version;
  std::uint16_t method;
};

void PrintTo(const Packing& packing, std::ostream* stream) {
  *stream << packing.name;
}

class CompressedBundleOf : public testing::TestWithParam<Packing> {
 protected:
  std::vector<std::byte> pack(const std::vector<std::byte>& plain) const {
    return compress_bundle(plain, GetParam().version, GetParam().method);
  }
};

INSTANTIATE_TEST_SUITE_P(EveryVersion, CompressedBundleOf,
                         testing::Values(Packing{"ZlibOfVersion1", 1, 0}, Packing{"ZlibOfVersion2", 2, 0},
                                         Packing{"ZlibOfVersion3", 3, 0}, Packing{"ZstdOfVersion1", 1, 1},
                                         Packing{"ZstdOfVersion2", 2, 1}, Packing{"ZstdOfVersion3", 3, 1}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(CompressedBundleOf, UnpacksToWhatWasPacked) {
  const auto plain = make_bundle({{"a", std::string(5'000'000, 'a')}, {"b", "bb"}});
  const auto packed = pack(plain);
  const auto bundle = parse_compressed_bundle(packed);
  ASSERT_TRUE(bundle.ok()) << error_text(bundle);
  EXPECT_EQ(bundle->size, packed.size());
  EXPECT_EQ(bundle->unpacked_size, plain.size());
  const auto unpacked = unpack(*bundle);
  ASSERT_TRUE(unpacked.ok()) << error_text(unpacked);
  EXPECT_EQ(*unpacked, plain);
}

TEST_P(CompressedBundleOf, MoreThanTheLimitIsRefused) {
  const auto packed = pack(make_bundle({{"a", std::string(1'000'000, 'a')}}));
  const auto bundle = parse_compressed_bundle(packed);
  ASSERT_TRUE(bundle.ok()) << error_text(bundle);
  EXPECT_THAT(error_text(unpack(*bundle, 999'999)), HasSubstr("more than the limit of 999999"));
}

TEST_P(CompressedBundleOf, AnotherSizeThanItSaysIsRefused) {
  const auto packed = pack(make_bundle({{"a", std::string(1'000'000, 'a')}}));
  auto bundle = parse_compressed_bundle(packed);
  ASSERT_TRUE(bundle.ok()) << error_text(bundle);
  const std::uint64_t size = bundle->unpacked_size;
  bundle->unpacked_size = size - 1;
  EXPECT_THAT(error_text(unpack(*bundle)), HasSubstr("damaged"));
  bundle->unpacked_size = size + 1;
  EXPECT_THAT(error_text(unpack(*bundle)), HasSubstr("damaged"));
}

TEST_P(CompressedBundleOf, AStreamThatIsCutOffIsRefused) {
  const auto packed = pack(make_bundle({{"a", "content that is not very long"}}));
  const auto bundle = parse_compressed_bundle(packed);
  ASSERT_TRUE(bundle.ok()) << error_text(bundle);
  for (std::size_t size = 0; size < bundle->content.size(); ++size) {
    CompressedBundle cut = *bundle;
    cut.content = cut.content.first(size);
    // Some bytes at the end are a check sum alone, which zlib may not have come to when all is unpacked.
    const auto unpacked = unpack(cut);
    if (unpacked.ok()) {
      EXPECT_EQ(*unpacked, *unpack(*bundle));
      EXPECT_GT(size + 5, bundle->content.size());
    }
  }
}

TEST(CompressedBundle, ThatIsWrongIsRefusedByWhatIsWrong) {
  const auto good = compress_bundle(make_bundle({{"a", "content"}}), 2, 0);
  const auto with = [&](std::size_t at, auto value) {
    auto bytes = good;
    put(bytes, at, value);
    return error_text(parse_compressed_bundle(bytes));
  };
  EXPECT_THAT(with(0, 'X'), HasSubstr("CCOB"));
  EXPECT_THAT(with(4, std::uint16_t{4}), HasSubstr("unsupported: version 4"));
  EXPECT_THAT(with(6, std::uint16_t{2}), HasSubstr("unsupported: method 2"));
  EXPECT_THAT(with(8, std::uint32_t{1 << 20}), HasSubstr("claims 1048576 bytes"));
  EXPECT_THAT(with(8, std::uint32_t{23}), HasSubstr("claims 23 bytes"));
  for (std::size_t size = 4; size < 24; ++size)
    EXPECT_FALSE(parse_compressed_bundle(Bytes(good).first(size)).ok()) << size;
}

TEST(BundleFinder, FindsBothKindsOverWhatLiesBetween) {
  const auto plain = make_bundle({{"a", "content"}});
  const auto packed = compress_bundle(plain, 2, 0);
  std::vector<std::byte> bytes(4096);
  std::vector<std::size_t> places;
  for (const auto* each : {&plain, &packed, &packed, &plain}) {
    places.push_back(bytes.size());
    bytes.insert(bytes.end(), each->begin(), each->end());
    append(bytes, std::string_view("words between"));
    bytes.resize(bytes.size() + 100);
  }
  BundleFinder finder(bytes);
  std::size_t from = 0;
  for (const std::size_t place : places) {
    EXPECT_EQ(finder.next(from), place);
    from = place + 30;
  }
  EXPECT_EQ(finder.next(from), std::nullopt);
  EXPECT_EQ(finder.next(bytes.size()), std::nullopt);
}

}  // namespace
}  // namespace wavegate::amdgpu::object
