#include <gmock/gmock.h>

#include <algorithm>

#include "amdgpu/corpora/corpus.h"
#include "amdgpu/corpora/reference_generators.h"
#include "amdgpu/corpora/rocrand_engines.h"

/// rocRAND's kernels give the sequences that were published, and those of code that was written from the papers. How
/// rocRAND makes states of seeds and in which order its threads write is what its documentation and sources say: thread
/// t of n writes the numbers t, t + n, t + 2n, ... from a state of its own.
namespace wavegate::amdgpu::corpora {
namespace {

constexpr char kLibrary[] = "librocrand.so.1.1";
#define ENGINES "_ZN12rocrand_host6detailL19init_engines_kernelEPN14rocrand_device"
#define GENERATE "_ZN12rocrand_host6detailL15generate_kernel"
constexpr char kPhilox[] = GENERATE "Ij20uniform_distributionIjEEEvNS0_27philox4x32_10_device_engineEPT_mT0_";
constexpr char kMrgEngines[] = ENGINES "15mrg32k3a_engineEjyy";
constexpr char kMrg[] = GENERATE "Ij24mrg_uniform_distributionIjEEEvPN14rocrand_device15mrg32k3a_engineEjPT_mT0_";
constexpr char kMrgDouble[] = GENERATE "Id24mrg_uniform_distributionIdEEEvPN14rocrand_device15mrg32k3a_engineEjPT_mT0_";
constexpr char kXorwowEngines[] = ENGINES "13xorwow_engineEjyy";
constexpr char kXorwow[] = GENERATE "Ij20uniform_distributionIjEEEvPN14rocrand_device13xorwow_engineEjPT_mT0_";
constexpr char kXorwowBytes[] = GENERATE "Ih20uniform_distributionIhEEEvPN14rocrand_device13xorwow_engineEjPT_mT0_";
constexpr char kMtgp[] = GENERATE "ILj256Ej20uniform_distributionIjEEEvPN14rocrand_device13mtgp32_engineEPT0_mT1_";
constexpr char kSobol[] = GENERATE "ILj1Ej26sobol_uniform_distributionIjEEEvPT0_mPKjjT1_";
#undef ENGINES
#undef GENERATE

constexpr u32 kGroup = 256;
/// A distribution without parameters is passed as an empty class.
constexpr std::uint8_t kNoParameters = 0;

class Rocrand : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { WAVEGATE_NEEDS_LIBRARY(kLibrary, "librocrand1"); }

  std::unique_ptr<Corpus> open(std::string_view kernel) {
    auto corpus = Corpus::open(kLibrary, GetParam(), kernel);
    EXPECT_TRUE(corpus.ok()) << corpus.error().to_string();
    return corpus.ok() ? std::move(*corpus) : nullptr;
  }
  /// Checked: a library that is used by many has neither races nor uninitialised registers.
  static void launch(Corpus& corpus, std::string_view kernel, std::array<u32, 3> threads,
                     std::initializer_list<Argument> arguments) {
    wave::Options options;
    options.check = true;
    const auto report = run(corpus, {std::string(kernel), threads, {kGroup, 1, 1}}, arguments, options);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    for (const wave::Finding& finding : report->findings)
      ADD_FAILURE() << to_string(finding.kind) << " at " << finding.offset << ": " << finding.instruction << " "
                    << finding.detail;
  }
};

// ---------------------------------------------------------------- Philox

TEST_P(Rocrand, PhiloxGivesTheKnownAnswersOfItsAuthors) {
  struct KnownAnswer {
    std::array<u32, 4> counter;
    std::array<u32, 2> key;
    std::array<u32, 4> numbers;
  };
  // Random123's test vectors of philox4x32 with ten rounds.
  constexpr KnownAnswer kAnswers[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  const auto corpus = open(kPhilox);
  ASSERT_NE(corpus, nullptr);
  std::vector<u32> numbers(4);
  const u64 data = corpus->map(numbers);
  for (const KnownAnswer& answer : kAnswers) {
    const PhiloxEngine engine{answer.counter, {}, answer.key, 0};
    launch(*corpus, kPhilox, {kGroup, 1, 1}, {engine, data, u64{numbers.size()}, kNoParameters});
    EXPECT_THAT(numbers, ::testing::ElementsAreArray(answer.numbers));
  }
}

TEST_P(Rocrand, PhiloxGivesTheNumbersOfItsCountersInOrder) {
  const auto corpus = open(kPhilox);
  ASSERT_NE(corpus, nullptr);
  constexpr std::size_t kCount = 10007;
  constexpr std::array<u32, 4> kStart{0xfffffff0, 0xffffffff, 7, 0};
  constexpr std::array<u32, 2> kKey{0xdeadbeef, 0x12345678};
  std::vector<u32> numbers(kCount);
  const u64 data = corpus->map(numbers);
  for (const u32 taken : {0u, 3u}) {
    const PhiloxEngine engine{kStart, {}, kKey, taken};
    launch(*corpus, kPhilox, {2 * kGroup, 1, 1}, {engine, data, u64{kCount}, kNoParameters});
    for (std::size_t i = 0; i < kCount; ++i)
      ASSERT_EQ(numbers[i], philox(advanced(kStart, (i + taken) / 4), kKey)[(i + taken) % 4]) << i;
  }
}

// ---------------------------------------------------------------- MRG32k3a

TEST_P(Rocrand, Mrg32k3aStartsWithThePublishedNumbers) {
  const auto corpus = open(kMrgDouble);
  ASSERT_NE(corpus, nullptr);
  std::vector<MrgEngine> engines(kGroup, {12345, 12345, 12345, 12345, 12345, 12345});
  std::vector<double> numbers(5 * kGroup);
  const u64 state = corpus->map(engines), data = corpus->map(numbers);
  launch(*corpus, kMrgDouble, {kGroup, 1, 1}, {state, u32{0}, data, u64{numbers.size()}, kNoParameters});
  // L'Ecuyer, Simard, Chen, Kelton, "An object-oriented random-number package" (2002), whose default seed this is.
  constexpr double kPublished[] = {0.1270111, 0.3185276, 0.3091860, 0.8258469, 0.2216299};
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t thread = 0; thread < kGroup; ++thread)
      ASSERT_NEAR(numbers[i * kGroup + thread], kPublished[i], 0.6e-7) << i;
}

/// Of seeds below 2^47: products of greater ones overflow in rocRAND, before they are reduced.
Mrg32k3a seeded_mrg(u64 seed) {
  const u64 low = (seed & 0xffffffffu) ^ 0x55555555u, high = (seed >> 32) ^ 0xaaaaaaaau;
  const auto product = [&](u64 factor, u64 modulus) { return factor % modulus * (seed % modulus) % modulus; };
  constexpr u64 kFirst = Mrg32k3a::kModulus1, kSecond = Mrg32k3a::kModulus2;
  return {{product(low, kFirst), product(high, kFirst), product(low, kFirst)},
          {product(high, kSecond), product(low, kSecond), product(high, kSecond)}};
}

TEST_P(Rocrand, Mrg32k3aOfManyThreadsIsItsSubsequences) {
  constexpr u32 kThreads = 2 * kGroup;
  constexpr u64 kSeed = 0x6789abcdef01, kOffset = 1000003;
  constexpr u32 kStart = 5;
  const auto corpus = open(kMrg);
  ASSERT_NE(corpus, nullptr);
  std::vector<MrgEngine> engines(kThreads);
  std::vector<u32> numbers(kThreads * 4 + 77);
  const u64 state = corpus->map(engines), data = corpus->map(numbers);
  launch(*corpus, kMrgEngines, {kThreads, 1, 1}, {state, kStart, kSeed, kOffset});
  launch(*corpus, kMrg, {kThreads, 1, 1}, {state, kStart, data, u64{numbers.size()}, kNoParameters});
  for (u32 engine = 0; engine < kThreads; ++engine) {
    Mrg32k3a reference = seeded_mrg(kSeed);
    // As far apart as the streams of L'Ecuyer's package, though rocRAND's documentation says 67.
    reference.jump(engine, 76);
    reference.jump(kOffset + (engine < kStart ? 1 : 0), 0);
    for (std::size_t i = (engine + kThreads - kStart) % kThreads; i < numbers.size(); i += kThreads) {
      // Numbers up to the modulus are stretched to all of 32 bits.
      const double stretched = static_cast<double>(reference.next() - 1) * 1.000000048661607;
      ASSERT_EQ(numbers[i], static_cast<u32>(stretched)) << i;
    }
    const MrgEngine expected{static_cast<u32>(reference.first[0]),  static_cast<u32>(reference.first[1]),
                             static_cast<u32>(reference.first[2]),  static_cast<u32>(reference.second[0]),
                             static_cast<u32>(reference.second[1]), static_cast<u32>(reference.second[2])};
    ASSERT_EQ(engines[engine], expected) << engine;
  }
}

// ---------------------------------------------------------------- xorwow

TEST_P(Rocrand, XorwowStartsWithThePublishedNumbers) {
  const auto corpus = open(kXorwow);
  ASSERT_NE(corpus, nullptr);
  const Xorwow marsaglia;
  std::vector<XorwowEngine> engines(kGroup, {marsaglia.d, marsaglia.x});
  std::vector<u32> numbers(5 * kGroup);
  const u64 state = corpus->map(engines), data = corpus->map(numbers);
  launch(*corpus, kXorwow, {kGroup, 1, 1}, {state, u32{0}, data, u64{numbers.size()}, kNoParameters});
  // What the program of the paper prints first.
  constexpr u32 kPublished[] = {246875399, 3690007200, 1264581005, 3906711041, 1866187943};
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t thread = 0; thread < kGroup; ++thread) ASSERT_EQ(numbers[i * kGroup + thread], kPublished[i]);
}

Xorwow seeded_xorwow(u64 seed) {
  const u32 low = 1228688033u * (static_cast<u32>(seed) ^ 0x2c7f967fu);
  const u32 high = 2073658381u * (static_cast<u32>(seed >> 32) ^ 0xa03697cbu);
  Xorwow state;
  state.x = {state.x[0] + low, state.x[1] ^ low, state.x[2] + high, state.x[3] ^ high, state.x[4] + low};
  state.d += high + low;
  return state;
}

TEST_P(Rocrand, XorwowOfManyThreadsIsItsSubsequences) {
  constexpr u64 kSeed = 0xfedcba9876543210, kOffset = 123456;
  const auto corpus = open(kXorwow);
  ASSERT_NE(corpus, nullptr);
  std::vector<XorwowEngine> engines(kGroup);
  std::vector<u32> numbers(kGroup * 3 + 5);
  const u64 state = corpus->map(engines), data = corpus->map(numbers);
  launch(*corpus, kXorwowEngines, {kGroup, 1, 1}, {state, u32{0}, kSeed, kOffset});
  launch(*corpus, kXorwow, {kGroup, 1, 1}, {state, u32{0}, data, u64{numbers.size()}, kNoParameters});
  // A jump of the reference takes milliseconds, so some of the threads are followed.
  for (u32 engine = 0; engine < kGroup; engine += engine < 6 ? 1 : 83) {
    Xorwow reference = seeded_xorwow(kSeed);
    reference.jump(engine, 67);
    reference.jump(kOffset, 0);
    for (std::size_t i = engine; i < numbers.size(); i += kGroup) ASSERT_EQ(numbers[i], reference.next()) << i;
    ASSERT_EQ(engines[engine].x, reference.x);
    ASSERT_EQ(engines[engine].d, reference.d);
  }
}

TEST_P(Rocrand, BytesAreThoseOfNumbersAlsoBeforeAndBehindWholeOnes) {
  const auto corpus = open(kXorwowBytes);
  ASSERT_NE(corpus, nullptr);
  const Xorwow marsaglia;
  std::vector<XorwowEngine> engines(kGroup, {marsaglia.d, marsaglia.x});
  // Three bytes before the first whole number, two behind the last.
  std::vector<std::uint8_t> bytes(1 + 3 + 4 * 300 + 2);
  const u64 state = corpus->map(engines), data = corpus->map(bytes) + 1;
  launch(*corpus, kXorwowBytes, {kGroup, 1, 1}, {state, u32{0}, data, u64{bytes.size() - 1}, kNoParameters});
  Xorwow reference;
  const u32 first = reference.next(), second = reference.next(), third = reference.next();
  const auto expect_bytes = [&](std::size_t at, u32 number, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(bytes[at + i], number >> 8 * i & 0xff) << at + i;
  };
  for (std::size_t i = 0; i < 300; ++i) expect_bytes(4 + 4 * i, i < kGroup ? first : second, 4);
  // The thread whose turn it would be gives both: it has given one number before.
  expect_bytes(1, second, 3);
  expect_bytes(4 + 4 * 300, third, 2);
  EXPECT_EQ(bytes[0], 0);
}

// ---------------------------------------------------------------- MTGP32

TEST_P(Rocrand, Mtgp32OfManyGroupsIsItsRecursions) {
  const auto corpus = open(kMtgp);
  ASSERT_NE(corpus, nullptr);
  constexpr u32 kGroups = 3;
  constexpr std::size_t kRounds = 5;
  std::vector<MtgpEngine> engines(kGroups);
  std::vector<std::vector<u32>> expected;
  for (u32 group = 0; group < kGroups; ++group) {
    const auto parameters = find_parameters(corpus->file(), group);
    ASSERT_TRUE(parameters) << "the library holds no parameters where they are looked for";
    std::vector<u32> state = mtgp_words(group);
    engines[group] = mtgp_engine(*parameters, state);
    expected.push_back(mtgp32(*parameters, state, kRounds * kGroup));
  }
  std::vector<u32> numbers(kRounds * kGroups * kGroup);
  const u64 state = corpus->map(engines), data = corpus->map(numbers);
  launch(*corpus, kMtgp, {kGroups * kGroup, 1, 1}, {state, data, u64{numbers.size()}, kNoParameters});
  for (std::size_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(numbers[i], expected[i / kGroup % kGroups][i / (kGroup * kGroups) * kGroup + i % kGroup]) << i;
}

// ---------------------------------------------------------------- Sobol

TEST_P(Rocrand, SobolGivesThePointsOfItsDirections) {
  const auto corpus = open(kSobol);
  ASSERT_NE(corpus, nullptr);
  // The first two dimensions: of the polynomials 1 and x + 1.
  std::vector<u32> directions(64);
  for (u32 i = 0; i < 32; ++i) directions[i] = 1u << (31 - i);
  directions[32] = 1u << 31;
  for (u32 i = 1; i < 32; ++i) directions[32 + i] = directions[31 + i] ^ directions[31 + i] >> 1;
  constexpr std::size_t kCount = 3000;
  std::vector<u32> points(2 * kCount);
  const u64 vectors = corpus->map(directions), data = corpus->map(points);
  constexpr u32 kOffset = 0;
  launch(*corpus, kSobol, {4 * kGroup, 2, 1}, {data, u64{kCount}, vectors, kOffset, kNoParameters});
  // Bratley, Fox, "Algorithm 659" (1988): the points in Gray code's order, which begin so.
  constexpr u32 kFirst[8] = {0, 4, 6, 2, 3, 7, 5, 1}, kSecond[8] = {0, 4, 2, 6, 3, 7, 1, 5};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(points[i], kFirst[i] << 29) << i;
    EXPECT_EQ(points[kCount + i], kSecond[i] << 29) << i;
  }
  for (u32 i = 0; i < kCount; ++i)
    for (std::size_t dimension = 0; dimension < 2; ++dimension) {
      u32 point = 0;
      for (u32 bit = 0; bit < 32; ++bit)
        if (((i ^ i >> 1) >> bit & 1) != 0) point ^= directions[32 * dimension + bit];
      ASSERT_EQ(points[dimension * kCount + i], point) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, Rocrand, ::testing::Values("gfx1030", "gfx900", "gfx906", "gfx908", "gfx90a:xnack-"),
                         [](const auto& test) {
                           std::string name = test.param;
                           return name.substr(0, name.find(':'));
                         });

}  // namespace
}  // namespace wavegate::amdgpu::corpora
