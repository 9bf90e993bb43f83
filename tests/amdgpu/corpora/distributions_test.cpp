#include <gmock/gmock.h>

#include <cmath>
#include <regex>

#include "amdgpu/corpora/corpus.h"
#include "amdgpu/corpora/rocrand_engines.h"
#include "wavegate/amdgpu/wave/numeric.h"

/// rocRAND's uniform, normal and log-normal distributions have the mean and the deviation that they should, and the
/// checks find nothing in their kernels. Two things are wrong in the library itself, Debian's 5.3.3:
/// - Normal halves that are made two at a time: every other one is NaN. The sine that was compiled in takes NaN for
/// finite
///   arguments (v_cmp_class_f16 with 0x1f8 chooses 0x7e00), where the cosine takes it for the others.
/// - Floats of 64-bit Sobol points are made of their lower 32 bits.
namespace wavegate::amdgpu::corpora {
namespace {

constexpr char kLibrary[] = "librocrand.so.1.1";
constexpr u32 kGroup = 256, kThreads = 2 * kGroup;
constexpr std::size_t kCount = 4096;
constexpr double kMean = 1, kDeviation = 0.5;

/// What the name of a generating kernel says.
struct Generator {
  std::string type;  ///< as it is mangled
  bool wide_vectors = false;
  enum class Distribution { uniform, normal, log_normal } distribution{};
  enum class Engine { philox, mrg, xorwow, mtgp, sobol } engine{};
};

std::optional<Generator> parse_name(const std::string& name) {
  static const std::regex kName("generate_kernel(_64)?I(?:Lj\\d+E)?(6__half|[jhtfd])");
  std::smatch found;
  if (!std::regex_search(name, found, kName) || name.find("poisson") != std::string::npos) return std::nullopt;
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  using enum Generator::Distribution;
  using enum Generator::Engine;
  return Generator{found[2], found[1].matched,
                   has("log_normal") ? log_normal
                   : has("normal")   ? normal
                                     : uniform,
                   has("philox")     ? philox
                   : has("mrg32k3a") ? mrg
                   : has("xorwow")   ? xorwow
                   : has("mtgp32")   ? mtgp
                                     : sobol};
}

template <typename T>
double value_at(const std::vector<std::byte>& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

/// A number; of integers between 0 and 1.
double number_at(const std::string& type, const std::vector<std::byte>& bytes, std::size_t index) {
  if (type == "j") return value_at<std::uint32_t>(bytes, index) / 0x1p32;
  if (type == "t") return value_at<std::uint16_t>(bytes, index) / 0x1p16;
  if (type == "h") return value_at<std::uint8_t>(bytes, index) / 0x1p8;
  if (type == "f") return value_at<float>(bytes, index);
  if (type == "d") return value_at<double>(bytes, index);
  return static_cast<double>(wave::of_half(static_cast<u32>(value_at<std::uint16_t>(bytes, index))));
}

/// Mean and deviation as a kernel takes them: halves may come in pairs.
std::vector<std::byte> parameters_of(const std::string& type, std::size_t size) {
  std::vector<std::byte> bytes(size);
  const std::size_t element = type == "d" ? 8 : type == "f" ? 4 : 2;
  for (std::size_t at = 0; size > 1 && at + element <= size; at += element) {
    const double value = at < size / 2 ? kMean : kDeviation;
    const auto single = static_cast<float>(value);
    const u32 half = wave::half_bits(single, wave::Rounding::nearest_even);
    std::memcpy(bytes.data() + at,
                element == 8   ? static_cast<const void*>(&value)
                : element == 4 ? static_cast<const void*>(&single)
                               : static_cast<const void*>(&half),
                element);
  }
  return bytes;
}

class Distributions : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { WAVEGATE_NEEDS_LIBRARY(kLibrary, "librocrand1"); }

  /// Sets all arguments of a generator, whose engines and vectors are in memory already.
  void set_arguments(const Corpus& corpus, wave::Launch& launch, const Generator& generator) const {
    std::size_t number = 0;
    const auto set = [&](const auto& value) {
      const Argument argument(value);
      const auto done = launch.set(corpus.module(), std::to_string(number++), argument.bytes());
      ASSERT_TRUE(done.ok()) << done.error().to_string();
    };
    switch (generator.engine) {
      case Generator::Engine::philox: set(PhiloxEngine{{}, {}, {1, 2}, 0}); break;
      case Generator::Engine::mrg: set(mrg_), set(u32{0}); break;
      case Generator::Engine::xorwow: set(xorwow_), set(u32{0}); break;
      case Generator::Engine::mtgp: set(mtgp_); break;
      case Generator::Engine::sobol: break;
    }
    set(data_);
    set(u64{kCount});
    if (generator.engine == Generator::Engine::sobol)
      set(generator.wide_vectors ? wide_vectors_ : vectors_), set(u32{0});
    const object::Argument& last = (*corpus.module().kernel(launch.kernel))->arguments[number];
    const auto done = launch.set(corpus.module(), std::to_string(number), parameters_of(generator.type, last.size));
    ASSERT_TRUE(done.ok()) << done.error().to_string();
  }

  u64 mrg_ = 0, xorwow_ = 0, mtgp_ = 0, vectors_ = 0, wide_vectors_ = 0, data_ = 0;
};

TEST_P(Distributions, HaveTheirMeanAndDeviation) {
  auto opened = Corpus::open(kLibrary, GetParam(),
                             "_ZN12rocrand_host6detailL19init_engines_kernelEPN14rocrand_device15mrg32k3a_engineEjyy");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  Corpus& corpus = **opened;
  std::vector<MrgEngine> mrg(kThreads);
  std::vector<XorwowEngine> xorwow(kThreads);
  std::vector<MtgpEngine> mtgp;
  for (u32 i = 0; i < kThreads; ++i) {
    const auto noise = philox({i, 0, 0, 0}, {3, 4}), more = philox({i, 1, 0, 0}, {3, 4});
    mrg[i] = {noise[0] / 2, noise[1] / 2, noise[2] / 2, noise[3] / 2, more[0] / 2, more[1] / 2};
    xorwow[i] = {noise[0], {noise[1], noise[2], noise[3], more[0], more[1]}};
  }
  for (u32 i = 0; i < kThreads / kGroup; ++i) {
    const auto parameters = find_parameters(corpus.file(), i);
    ASSERT_TRUE(parameters);
    mtgp.push_back(mtgp_engine(*parameters, mtgp_words(i)));
  }
  std::vector<u32> vectors(32);
  std::vector<u64> wide_vectors(64);
  for (unsigned i = 0; i < 32; ++i) vectors[i] = 1u << (31 - i);
  // The lower words are those of 32 bits, since floats are made of them.
  for (unsigned i = 0; i < 32; ++i) wide_vectors[i] = u64{1} << (63 - i) | vectors[i];
  for (unsigned i = 32; i < 64; ++i) wide_vectors[i] = u64{1} << (63 - i);
  std::vector<std::byte> data(kCount * 8);
  mrg_ = corpus.map(mrg), xorwow_ = corpus.map(xorwow), mtgp_ = corpus.map(mtgp);
  vectors_ = corpus.map(vectors), wide_vectors_ = corpus.map(wide_vectors), data_ = corpus.map(data);

  std::size_t generators = 0;
  for (const object::Kernel& kernel : corpus.module().object().kernels) {
    const auto generator = parse_name(kernel.name);
    if (!generator) continue;
    SCOPED_TRACE(kernel.name);
    ++generators;
    wave::Launch launch{kernel.name, {kThreads, 1, 1}, {kGroup, 1, 1}};
    set_arguments(corpus, launch, *generator);
    wave::Options options;
    options.check = true;
    const auto report = wave::run(corpus.module(), corpus.memory, launch, options);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    for (const wave::Finding& finding : report->findings) ADD_FAILURE() << to_string(finding);
    const bool logarithms = generator->distribution == Generator::Distribution::log_normal;
    const bool uniform = generator->distribution == Generator::Distribution::uniform;
    const bool sine_is_wrong =
        generator->type == "6__half" && !uniform && generator->engine != Generator::Engine::sobol;
    double sum = 0, squares = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      const double number = number_at(generator->type, data, i);
      if (sine_is_wrong && i % 2 == 0) {
        ASSERT_TRUE(std::isnan(number)) << i;
        continue;
      }
      const double value = logarithms ? std::log(number) : number;
      sum += value, squares += value * value;
      ++count;
    }
    const double total = static_cast<double>(count);
    const double mean = sum / total, deviation = std::sqrt(squares / total - mean * mean);
    EXPECT_NEAR(mean, uniform ? 0.5 : kMean, 0.04);
    EXPECT_NEAR(deviation, uniform ? std::sqrt(1.0 / 12) : kDeviation, 0.03);
  }
  EXPECT_EQ(generators, 72u);
}

INSTANTIATE_TEST_SUITE_P(Targets, Distributions,
                         ::testing::Values("gfx1030", "gfx900", "gfx906", "gfx908", "gfx90a:xnack-"),
                         [](const auto& test) {
                           std::string name = test.param;
                           return name.substr(0, name.find(':'));
                         });

}  // namespace
}  // namespace wavegate::amdgpu::corpora
