#include "wavegate/io/program_file.h"

#include <gmock/gmock.h>

#include <cctype>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "io/support.h"
#include "wavegate/io/npy.h"
#include "wavegate/kir/opaque_kernel.h"
#include "wavegate/program/verify.h"
#include "wavegate/target/profile.h"

namespace wavegate::io {
namespace {

using program::Program;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Result<std::vector<std::byte>> no_files(const std::filesystem::path& path, std::uint64_t) {
  return invalid_input("there is no such file", path.string());
}

/// Puts braces, version and name around the members of a document.
std::string document(std::string_view members) {
  if (members.starts_with('{') || members.starts_with('[')) return std::string(members);
  return format("{{\"wavegate\": 1, \"name\": \"case\", {}}}", members);
}

Result<Program> parse(std::string_view members) {
  ProgramFileOptions options;
  options.name = "case";
  options.read = no_files;
  return parse_program(document(members), options);
}

Program parsed(std::string_view members) {
  auto program = parse(members);
  EXPECT_EQ(error_text(program), "");
  return program.ok() ? std::move(program).value() : Program("");
}

template <typename T>
std::vector<T> contents(const Program& program, std::string_view buffer) {
  const auto& initial = program.info(*program.find_buffer(buffer)).initial;
  if (!initial || !initial->bytes) return {};
  std::vector<T> elements(initial->bytes->size() / sizeof(T));
  std::memcpy(elements.data(), initial->bytes->data(), initial->bytes->size());
  return elements;
}

// ---- the cases of program_file_cases.txt

struct Case {
  std::string name, kind, text, outcome;
};

void PrintTo(const Case& one, std::ostream* stream) {
  *stream << one.name;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  std::string text = get(WAVEGATE_SOURCE_DIR "/tests/io/program_file_cases.txt");
  for (std::size_t at = text.find("\n== "); at != std::string::npos;) {
    const std::size_t next = text.find("\n== ", at + 1);
    const std::string block = text.substr(at + 4, next == std::string::npos ? next : next - at - 4);
    const std::size_t title = block.find('\n');
    const std::size_t outcome = block.find("\n-> ");
    const std::size_t colon = block.rfind(": ", title);
    const std::size_t end = block.find('\n', outcome + 1);
    all.push_back({block.substr(0, colon), block.substr(colon + 2, title - colon - 2),
                   block.substr(title + 1, outcome - title - 1), block.substr(outcome + 4, end - outcome - 4)});
    at = next;
  }
  return all;
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name;
  for (const char c : info.param.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

class ProgramFileCase : public testing::TestWithParam<Case> {};

TEST_P(ProgramFileCase, has_the_outcome_that_is_written_beside_it) {
  const auto program = parse(GetParam().text);
  EXPECT_EQ(program.ok() ? "accepted" : error_text(program), GetParam().outcome);
}

INSTANTIATE_TEST_SUITE_P(, ProgramFileCase, testing::ValuesIn(cases()), test_name);

// ---- values

TEST(ProgramFile, keeps_the_order_of_the_declarations) {
  const Program program = parsed(R"("buffers": {"z": {"type": "f32", "count": 1}, "a": {"type": "f32", "count": 1}},
                                    "run": [])");
  ASSERT_EQ(program.buffers().size(), 2u);
  EXPECT_EQ(program.buffers()[0].name, "z");
  EXPECT_EQ(program.buffers()[1].name, "a");
}

TEST(ProgramFile, repeats_one_initial_number_in_every_element) {
  const Program program = parsed(R"("buffers": {
      "f": {"type": "f32", "count": 3, "initial": 0.5}, "h": {"type": "f16", "count": 4, "initial": 1},
      "b": {"type": "i8", "count": 4, "initial": -2}, "d": {"type": "f64", "count": 2, "initial": 0.1}}, "run": [])");
  EXPECT_EQ(program.buffers()[0].initial->word, 0x3f000000u);
  EXPECT_EQ(program.buffers()[1].initial->word, 0x3c003c00u);
  EXPECT_EQ(program.buffers()[2].initial->word, 0xfefefefeu);
  EXPECT_THAT(contents<double>(program, "d"), ElementsAre(0.1, 0.1));
}

TEST(ProgramFile, a_huge_buffer_of_zeros_takes_no_memory) {
  const Program program =
      parsed(R"("buffers": {"d": {"type": "f64", "count": 281474976710656, "initial": 0}}, "run": [])");
  EXPECT_EQ(program.buffers()[0].initial->bytes, nullptr);
}

TEST(ProgramFile, takes_one_initial_number_an_element) {
  const Program program = parsed(R"("buffers": {
      "f": {"type": "f32", "count": 2, "initial": [1, -0.1]}, "w": {"type": "i16", "count": 2, "initial": [-1, 65535]},
      "q": {"type": "i64", "count": 2, "initial": [-1, 18446744073709551615]}}, "run": [])");
  EXPECT_THAT(contents<float>(program, "f"), ElementsAre(1.0f, -0.1f));
  EXPECT_THAT(contents<std::int16_t>(program, "w"), ElementsAre(-1, -1));
  EXPECT_THAT(contents<std::int64_t>(program, "q"), ElementsAre(-1, -1));
}

TEST(ProgramFile, a_buffer_without_initial_numbers_has_none) {
  EXPECT_FALSE(parsed(R"("buffers": {"u": {"type": "f32", "count": 2}}, "run": [])").buffers()[0].initial);
}

TEST(ProgramFile, marks_outputs) {
  const Program program = parsed(R"("buffers": {"u": {"type": "f32", "count": 1, "output": true},
                                                "v": {"type": "f32", "count": 1, "output": false}}, "run": [])");
  EXPECT_TRUE(program.buffers()[0].output);
  EXPECT_FALSE(program.buffers()[1].output);
}

TEST(ProgramFile, scalars_and_launch_parameters_hold_bits_of_their_type) {
  const Program program = parsed(R"("scalars": {"k": {"type": "sint32", "initial": -1}, "s": {"type": "float32"}},
                                    "parameters": {"dt": {"type": "float32", "value": 1}}, "run": [])");
  EXPECT_EQ(program.scalars()[0].initial, 0xffffffffu);
  EXPECT_EQ(program.scalars()[1].initial, std::nullopt);
  EXPECT_EQ(program.scalars()[2].initial, 0x3f800000u);
  EXPECT_FALSE(program.scalars()[0].parameter);
  EXPECT_TRUE(program.scalars()[2].parameter);
}

// ---- commands

constexpr std::string_view kKernel = R"("kernels": {"scale": {"kir": [
  "kernel k {", "workgroup_size 64 2 1", "buffer x f32 read_write", "parameter n i32", "parameter a f32", "}"]}},
  "buffers": {"u": {"type": "f32", "count": 4, "initial": 0}},
  "scalars": {"s": {"type": "float32", "initial": 0}, "k": {"type": "uint32", "initial": 0}},)";

program::Dispatch dispatch(std::string_view command) {
  const Program program = parsed(format("{}\"run\": [{}]", kKernel, command));
  return program.body().empty() ? program::Dispatch() : std::get<program::Dispatch>(program.body()[0].what);
}

TEST(ProgramFile, the_grid_covers_the_threads) {
  const auto command =
      dispatch(R"({"dispatch": "scale", "bindings": ["u"], "parameters": [4, 1], "threads": [65, 4]})");
  EXPECT_THAT(*command.grid, ElementsAre(2, 2, 1));
}

TEST(ProgramFile, a_grid_is_taken_as_it_stands) {
  const auto command = dispatch(R"({"dispatch": "scale", "bindings": ["u"], "parameters": [4, 1], "grid": [65]})");
  EXPECT_THAT(*command.grid, ElementsAre(65, 1, 1));
}

TEST(ProgramFile, a_number_takes_the_type_of_the_kernels_parameter) {
  const auto command = dispatch(R"({"dispatch": "scale", "bindings": ["u"], "parameters": [-1, 2], "grid": [1]})");
  EXPECT_EQ(std::get<program::Literal>(command.parameters[0]).bits, 0xffffffffu);
  EXPECT_EQ(std::get<program::Literal>(command.parameters[1]).type, program::ScalarType::float32);
  EXPECT_EQ(std::get<program::Literal>(command.parameters[1]).bits, 0x40000000u);
}

TEST(ProgramFile, a_name_gives_a_kernels_parameter_a_scalar) {
  const auto command = dispatch(R"({"dispatch": "scale", "bindings": ["u"], "parameters": ["k", "s"], "grid": [1]})");
  EXPECT_EQ(std::get<program::Scalar>(command.parameters[0]), program::Scalar{1});
  EXPECT_EQ(std::get<program::Scalar>(command.parameters[1]), program::Scalar{0});
}

TEST(ProgramFile, a_kernel_bears_the_name_that_the_file_gives_it) {
  const auto command = dispatch(R"({"dispatch": "scale", "bindings": ["u"], "parameters": [4, 1], "grid": [1]})");
  EXPECT_EQ(command.kernel->interface().name, "scale");
  EXPECT_EQ(command.label, "scale");
}

TEST(ProgramFile, a_fill_covers_all_that_follows_its_offset) {
  const Program program = parsed(R"("buffers": {"u": {"type": "f32", "count": 10}},
                                    "run": [{"fill": "u", "value": 1, "offset": 3}])");
  const auto& command = std::get<program::Fill>(program.body()[0].what);
  EXPECT_EQ(command.offset, 3u);
  EXPECT_EQ(command.count, 7u);
  EXPECT_EQ(command.value.bits, 0x3f800000u);
}

TEST(ProgramFile, a_copy_knows_both_of_its_ends) {
  const Program program = parsed(R"("buffers": {"u": {"type": "f32", "count": 10}, "v": {"type": "f32", "count": 8}},
                "run": [{"copy": {"from": "u", "to": "v", "from_offset": 6, "to_offset": 1}}])");
  const auto& command = std::get<program::Copy>(program.body()[0].what);
  EXPECT_EQ(command.source, program::Buffer{0});
  EXPECT_EQ(command.destination, program::Buffer{1});
  EXPECT_EQ(command.source_offset, 6u);
  EXPECT_EQ(command.destination_offset, 1u);
  EXPECT_EQ(command.count, 4u);
}

/// The expression as text, a > b being b < a.
std::string shown(const program::ScalarExpr::Node& node) {
  if (node.op == program::ScalarOp::literal) return format("{}", node.literal.bits);
  if (node.op == program::ScalarOp::scalar) return format("s{}", node.scalar.id);
  std::string text = std::string(program::info(node.op).name);
  for (const auto& operand : node.operands)
    if (operand) text += " " + shown(*operand);
  return "(" + text + ")";
}

TEST(ProgramFile, greater_is_less_with_its_operands_exchanged) {
  const Program program = parsed(R"("scalars": {"k": {"type": "uint32", "initial": 0}},
      "run": [{"assign": "k", "value": ["or", [">", "k", 7], ["select", ["<=", "k", 8], ["not", 9], [">=", 1, 2]]]}])");
  EXPECT_EQ(shown(std::get<program::Assign>(program.body()[0].what).value.root()),
            "(or (< 7 s0) (select (<= s0 8) (not 9) (<= 2 1)))");
}

TEST(ProgramFile, control_flow_nests) {
  const Program program = parsed(R"("scalars": {"k": {"type": "uint32", "initial": 0}}, "run": [
      {"while": "k", "min": 1, "max": 9, "body": [
        {"if": "k", "then": [{"assign": "k", "value": 1}, {"assign": "k", "value": 2}], "else": [
          {"while": "k", "body": []}]}]}])");
  const auto& outer = std::get<program::While>(program.body()[0].what);
  EXPECT_EQ(outer.bounds.min, 1u);
  EXPECT_EQ(outer.bounds.max, 9u);
  const auto& branch = std::get<program::If>(outer.body[0].what);
  EXPECT_EQ(branch.then_body.size(), 2u);
  const auto& inner = std::get<program::While>(branch.else_body[0].what);
  EXPECT_EQ(inner.bounds.max, std::nullopt);
  EXPECT_EQ(program.loop_count(), 2u);
}

/// The first command, of a program with the scalars s (float32) and k (uint32).
template <typename Command>
Command first_command(std::string_view command) {
  const Program program = parsed(format("{}\"run\": [{}]", kKernel, command));
  return std::get<Command>(program.body().at(0).what);
}

TEST(ProgramFile, a_predicate_is_an_expression_or_the_name_of_a_scalar) {
  const auto loop = first_command<program::While>(R"({"while": [">", "s", 2], "body": []})");
  EXPECT_EQ(shown(loop.predicate.root()), "(< 2 s0)");
  EXPECT_EQ(loop.label, "while");
  const auto branch = first_command<program::If>(R"({"if": "k", "then": []})");
  EXPECT_EQ(shown(branch.predicate.root()), "s1");
  EXPECT_EQ(branch.label, "k");
}

TEST(ProgramFile, a_switch_has_its_bodies_by_value) {
  const auto choice = first_command<program::Switch>(R"({"switch": ["+", "k", 1], "label": "phase", "cases": [
      {"value": 7, "body": [{"assign": "k", "value": 1}]}, {"value": 2, "body": []}],
      "default": [{"assign": "k", "value": 2}, {"assign": "k", "value": 3}]})");
  EXPECT_EQ(shown(choice.selector.root()), "(+ s1 1)");
  EXPECT_EQ(choice.label, "phase");
  ASSERT_EQ(choice.cases.size(), 2u);
  EXPECT_EQ(choice.cases[0].value, 7u);
  EXPECT_EQ(choice.cases[0].body.size(), 1u);
  EXPECT_EQ(choice.cases[1].value, 2u);
  EXPECT_EQ(choice.cases[1].body.size(), 0u);
  EXPECT_EQ(choice.default_body.size(), 2u);
}

TEST(ProgramFile, the_words_break_and_continue_are_commands) {
  const auto loop = first_command<program::While>(
      R"({"while": "k", "body": [{"if": "k", "then": ["break"], "else": ["continue"]}]})");
  const auto& branch = std::get<program::If>(loop.body[0].what);
  EXPECT_TRUE(std::holds_alternative<program::Break>(branch.then_body.at(0).what));
  EXPECT_TRUE(std::holds_alternative<program::Continue>(branch.else_body.at(0).what));
}

TEST(ProgramFile, an_iteration_index_is_known_in_its_body_alone) {
  const Program program = parsed(R"("scalars": {"k": {"type": "uint32", "initial": 0}}, "run": [
      {"while": "k", "index": "i", "body": [{"assign": "k", "value": "i"}]},
      {"while": "k", "index": "i", "body": [{"assign": "k", "value": "i"}]}, {"while": "k", "body": []}])");
  const auto& first = std::get<program::While>(program.body()[0].what);
  const auto& second = std::get<program::While>(program.body()[1].what);
  ASSERT_TRUE(first.index && second.index);
  EXPECT_NE(first.index->id, second.index->id);
  EXPECT_EQ(std::get<program::Assign>(first.body[0].what).value.root().scalar, *first.index);
  EXPECT_EQ(std::get<program::Assign>(second.body[0].what).value.root().scalar, *second.index);
  EXPECT_EQ(std::get<program::While>(program.body()[2].what).index, std::nullopt);
  EXPECT_EQ(error_text(program::verify(program)), "");
}

TEST(ProgramFile, a_record_makes_an_output) {
  const Program program = parsed(R"("scalars": {"s": {"type": "float32", "initial": 0}}, "run": [
      {"while": 1, "max": 9, "body": [{"record": "s", "as": "all"}, {"record": "s", "as": "some", "capacity": 4}]}])");
  ASSERT_TRUE(program.find_buffer("all") && program.find_buffer("some"));
  EXPECT_EQ(program.info(*program.find_buffer("all")).count, 9u);
  EXPECT_EQ(program.info(*program.find_buffer("some")).count, 4u);
  EXPECT_TRUE(program.info(*program.find_buffer("all")).output);
}

TEST(ProgramFile, an_external_buffer_is_bound_by_the_application) {
  const Program program = parsed(R"("buffers": {"u": {"type": "f32", "count": 1, "external": true},
                                                "v": {"type": "f32", "count": 1, "external": false}}, "run": [])");
  EXPECT_TRUE(program.buffers()[0].external);
  EXPECT_FALSE(program.buffers()[1].external);
}

TEST(ProgramFile, a_computed_grid_is_an_expression_with_its_bound) {
  const auto command = dispatch(R"({"dispatch": "scale", "bindings": ["u"], "parameters": [4, 1],
                                    "computed_grid": [["+", "k", 1], "k"], "maximum_grid": [9, 8]})");
  ASSERT_TRUE(command.computed_grid);
  EXPECT_EQ(command.grid, std::nullopt);
  EXPECT_EQ(shown(command.computed_grid->workgroups[0].root()), "(+ s1 1)");
  EXPECT_EQ(shown(command.computed_grid->workgroups[1].root()), "s1");
  EXPECT_EQ(shown(command.computed_grid->workgroups[2].root()), "1");
  EXPECT_THAT(command.computed_grid->maximum, ElementsAre(9, 8, 1));
}

TEST(ProgramFile, computed_threads_are_rounded_up_to_whole_workgroups) {
  const auto command = dispatch(R"({"dispatch": "scale", "bindings": ["u"], "parameters": [4, 1],
                                    "computed_threads": ["k"], "maximum_threads": [65, 2]})");
  ASSERT_TRUE(command.computed_grid);
  EXPECT_EQ(shown(command.computed_grid->workgroups[0].root()), "(+ (/ s1 64) (!= (* (/ s1 64) 64) s1))");
  EXPECT_THAT(command.computed_grid->maximum, ElementsAre(2, 1, 1));
}

TEST(ProgramFile, calls_operations_of_the_application) {
  program::OperationTable table;
  const auto nothing = program::make_operation(
      {"nothing", {}, [](auto&, auto) { return Result<void>(); }, [](auto&, auto, auto&) { return Result<void>(); }});
  table.emplace("nothing", nothing);
  ProgramFileOptions options;
  options.operations = &table;
  const auto program = parse_program(document(R"("run": [{"operation": "nothing", "operands": []}])"), options);
  ASSERT_EQ(error_text(program), "");
  EXPECT_EQ(std::get<program::Call>(program->body()[0].what).operation, nothing);
}

// ---- bounds

TEST(ProgramFile, refuses_an_expression_that_nests_without_end) {
  std::string text = R"("scalars": {"k": {"type": "uint32", "initial": 0}}, "run": [{"assign": "k", "value": )";
  for (int i = 0; i < 100000; ++i) text += "[\"not\", ";
  EXPECT_THAT(error_text(parse(text)), HasSubstr("nested deeper than 256 levels"));
}

TEST(ProgramFile, refuses_a_text_larger_than_it_reads) {
  EXPECT_THAT(error_text(parse_program(std::string((std::size_t{64} << 20) + 1, ' '))),
              HasSubstr("67108865 bytes of text; at most 67108864 are read"));
}

// ---- files

TEST(ProgramFile, paths_begin_at_the_folder_of_the_file) {
  const TemporaryFolder folder;
  const std::vector<float> values = {1, 2, 3};
  put(folder / "w.npy", write_npy(make_array(std::span(values))).value());
  put(folder / "p.json", to_bytes(document(R"("buffers": {"w": {"file": "w.npy"}}, "run": [])")));
  const auto program = load_program(folder / "p.json");
  ASSERT_EQ(error_text(program), "");
  EXPECT_EQ(program->buffers()[0].element, kir::Type::f32);
  EXPECT_THAT(contents<float>(*program, "w"), ElementsAre(1, 2, 3));
}

TEST(ProgramFile, names_no_device_that_never_ends) {
  const TemporaryFolder folder;
  put(folder / "p.json", to_bytes(document(R"("buffers": {"w": {"file": "/dev/zero"}}, "run": [])")));
  EXPECT_THAT(error_text(load_program(folder / "p.json")),
              AllOf(HasSubstr("buffers.w.file"), HasSubstr("is a pipe or a device")));
}

/// The error of a program whose buffer w comes from an array of three numbers.
template <typename T>
std::string error_with_array(std::string_view buffer) {
  const std::vector<T> values = {1, 2, 3};
  ProgramFileOptions options;
  options.name = "case";
  options.read = [&](const std::filesystem::path&, std::uint64_t) {
    return write_npy(make_array(std::span<const T>(values)));
  };
  return error_text(parse_program(document(format("\"buffers\": {{\"w\": {}}}, \"run\": []", buffer)), options));
}

TEST(ProgramFile, type_and_count_agree_with_the_array) {
  EXPECT_EQ(error_with_array<std::uint32_t>(R"({"file": "w.npy", "type": "i32", "count": 3})"), "");
  EXPECT_THAT(error_with_array<double>(R"({"file": "w.npy", "type": "f32"})"),
              EndsWith("case: buffers.w: buffer \"w\" holds f32, so that its array is one of f32, not f64"));
  EXPECT_THAT(error_with_array<float>(R"({"file": "w.npy", "count": 4})"),
              EndsWith("case: buffers.w: buffer \"w\" has 4 elements, but its array has 3"));
}

TEST(ProgramFile, a_damaged_array_is_refused_with_both_names) {
  const TemporaryFolder folder;
  put(folder / "w.npy", to_bytes("no array"));
  put(folder / "p.json", to_bytes(document(R"("buffers": {"w": {"file": "w.npy"}}, "run": [])")));
  EXPECT_THAT(error_text(load_program(folder / "p.json")),
              AllOf(HasSubstr("p.json: buffers.w.file: "), HasSubstr("w.npy")));
}

TEST(ProgramFile, a_matrix_comes_from_its_file) {
  const TemporaryFolder folder;
  put(folder / "A.mtx", to_bytes("%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 4\n2 3 5\n"));
  put(folder / "p.json", to_bytes(document(
                             R"("matrices": {"A": {"file": "A.mtx"}},
                                "buffers": {"x": {"type": "f32", "count": 3, "initial": 1},
                                            "y": {"type": "f32", "count": 2}},
                                "run": [{"operation": "spmv", "operands": ["A", "x", "y"]}])")));
  const auto program = load_program(folder / "p.json");
  ASSERT_EQ(error_text(program), "");
  EXPECT_THAT(contents<float>(*program, "A.values"), ElementsAre(4, 5));
}

TEST(ProgramFile, the_parts_of_a_matrix_are_buffers) {
  ProgramFileOptions options;
  options.name = "case";
  options.read = [](const std::filesystem::path&, std::uint64_t) {
    return to_bytes("%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 4\n2 3 5\n");
  };
  const auto error = [&](std::string_view source) {
    return error_text(parse_program(
        document(format(R"("matrices": {{"A": {{"file": "A.mtx"}}}}, "buffers": {{"u": {{"type": "f32", "count": 2}}}},
                           "run": [{{"copy": {{"from": "{}", "to": "u"}}}}])",
                        source)),
        options));
  };
  EXPECT_EQ(error("A.values"), "");
  EXPECT_THAT(error("A.row_offsets"), HasSubstr("\"A.row_offsets\" is a buffer of i32"));
  EXPECT_THAT(error("A.columns"), HasSubstr("there is no buffer \"A.columns\""));
  EXPECT_THAT(error("A"), HasSubstr("expected a buffer; \"A\" is a matrix of the buffers \"A.row_offsets\""));
}

TEST(ProgramFile, a_mistake_in_a_kir_file_comes_with_its_line) {
  const TemporaryFolder folder;
  put(folder / "k.kir", to_bytes("kernel k {\n  %0: i32 = nonsense\n}\n"));
  put(folder / "p.json", to_bytes(document(R"("kernels": {"k": {"kir_file": "k.kir"}}, "run": [])")));
  EXPECT_THAT(error_text(load_program(folder / "p.json")),
              AllOf(HasSubstr("p.json: kernels.k.kir_file: "), HasSubstr("k.kir:2:13: ")));
}

TEST(ProgramFile, a_module_of_broken_words_is_refused) {
  ProgramFileOptions options;
  options.name = "case";
  options.read = [](const std::filesystem::path&, std::uint64_t) { return std::vector<std::byte>(7); };
  EXPECT_EQ(error_text(parse_program(
                document(R"("kernels": {"k": {"spirv_file": "k.spv", "workgroup_size": [1]}}, "run": [])"), options)),
            "invalid input: case: kernels.k.spirv_file: k.spv has 7 bytes; SPIR-V consists of words of 4");
}

/// A program with one kernel k, whose files hold the given text.
Result<Program> with_kernel(std::string_view kernel, std::string_view content) {
  ProgramFileOptions options;
  options.name = "case";
  options.read = [content](const std::filesystem::path&, std::uint64_t) { return to_bytes(std::string(content)); };
  return parse_program(document(format(R"("kernels": {{"k": {}}}, "run": [{{"dispatch": "k", "grid": [1]}}])", kernel)),
                       options);
}

TEST(ProgramFile, a_kernel_may_come_in_several_forms) {
  const auto program = with_kernel(
      R"({"kir": ["kernel own {", "workgroup_size 8 2 1", "}"], "wgsl_file": "k.wgsl", "entry_point": "step"})",
      "@compute @workgroup_size(8, 2) fn step() {}");
  ASSERT_EQ(error_text(program), "");
  const program::KernelSource& source = *std::get<program::Dispatch>(program->body()[0].what).kernel;
  EXPECT_EQ(source.interface().name, "k");
  EXPECT_THAT(source.interface().workgroup_size, ElementsAre(8, 2, 1));
  target::Profile profile;
  profile.backend = "webgpu";
  const auto module = source.specialise(profile);
  ASSERT_EQ(error_text(module), "");
  const auto& opaque = std::get<std::shared_ptr<const kir::OpaqueKernel>>(*module);
  EXPECT_EQ(opaque->wgsl, "@compute @workgroup_size(8, 2) fn step() {}");
  EXPECT_EQ(opaque->entry_point, "step");
  EXPECT_EQ(opaque->interface.name, "k");
  profile.backend = "vulkan";
  EXPECT_TRUE(std::holds_alternative<std::shared_ptr<const kir::Kernel>>(source.specialise(profile).value()));
}

TEST(ProgramFile, a_module_of_wgsl_alone_declares_its_interface) {
  const std::string kernel = R"({"wgsl_file": "k.wgsl", "workgroup_size": [64]})";
  EXPECT_EQ(error_text(with_kernel(kernel, "@compute @workgroup_size(64) fn main() {}")), "");
  EXPECT_THAT(error_text(with_kernel(kernel, "@compute @workgroup_size(32) fn main() {}")),
              EndsWith("kernel \"k\": a workgroup of 64x1x1 is declared, but the module's is 32x1x1; declare that"));
  EXPECT_THAT(error_text(with_kernel(R"({"wgsl_file": "k.wgsl", "workgroup_size": [64]})", "")),
              EndsWith("case: kernels.k: kernel \"k\": its wgsl source is empty"));
}

TEST(ProgramFile, a_missing_program_is_named) {
  EXPECT_THAT(error_text(load_program("/nowhere/p.json")), StartsWith("invalid input: /nowhere/p.json: "));
}

TEST(ProgramFile, examples_of_kir_alone_verify) {
  for (const char* name : {"bfs", "heat", "saxpy"}) {
    SCOPED_TRACE(name);
    const auto program = load_program(format(WAVEGATE_SOURCE_DIR "/examples/{}.json", name));
    ASSERT_EQ(error_text(program), "");
    const auto expanded = program::expand(*program, target::Profile());
    ASSERT_EQ(error_text(expanded), "");
    EXPECT_EQ(error_text(program::verify(*expanded)), "");
  }
}

}  // namespace
}  // namespace wavegate::io
