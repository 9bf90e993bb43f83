#include <fcntl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/cli/commands.h"
#include "wavegate/cli/output.h"
#include "wavegate/io/json.h"

namespace wavegate::cli {
namespace {

/// Opens what the caller closed, so that no file of ours becomes standard output. The wrong way round: using it is an
/// error still.
void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

int finish(const Outcome& outcome) {
  return print(outcome.text) == Printed::all ? outcome.exit_code : kFailed;
}

int usage_error(const std::string& message, const std::string& command) {
  print_error(format("{}; \"wavegate {}--help\" explains", message, command.empty() ? "" : command + " "));
  return kUsageError;
}

/// Wavegate's commands and how they are written.
class Application {
 public:
  Application() {
    application_.require_subcommand(1);
    application_.footer(
        "Examples:\n"
        "  wavegate devices\n"
        "  wavegate solve 4elt.graph --preconditioner jacobi --out x.npy\n"
        "  wavegate run heat.json --out u=u.npy\n"
        "  wavegate explain heat.json\n"
        "  wavegate calibrate\n"
        "  wavegate objects k.hsaco\n"
        "  wavegate disasm k.hsaco\n"
        "  wavegate emulate k.hsaco -k saxpy --threads 1000 --group 256 --arg n=1000 --arg x=in:x.npy ...\n\n"
        "\"wavegate COMMAND --help\" says more. WAVEGATE_DEVICE is the device of every command where\n"
        "--device is not given; NO_COLOR turns colours off.");
    add_devices(application_, action_);
    add_solve(application_, action_);
    add_run(application_, action_);
    add_explain(application_, action_);
    add_calibrate(application_, action_);
    add_objects(application_, action_);
    add_disasm(application_, action_);
    add_emulate(application_, action_);
    add_coverage(application_, action_);
    const std::string version = "wavegate " WAVEGATE_VERSION;
    application_.set_version_flag("--version", version, "Print the version and exit");
    for (CLI::App* command : commands()) command->set_version_flag("--version", version, "Print the version and exit");
  }

  int run(int count, char** arguments) {
    if (const auto word = unknown_command(count, arguments))
      return usage_error(format("there is no command \"{}\"{}", *word, io::suggestion(*word, command_names())), "");
    try {
      application_.parse(count, arguments);
    } catch (const CLI::CallForHelp&) {
      return finish({application_.help()});
    } catch (const CLI::CallForVersion& version) {
      return finish({format("{}\n", version.what())});
    } catch (const CLI::ParseError& error) {
      return usage_error(explained(error), chosen_command());
    }
    const Result<Outcome> outcome = action_();
    if (outcome.ok()) return finish(*outcome);
    print_error(outcome.error().to_string());
    return kFailed;
  }

 private:
  std::vector<CLI::App*> commands() {
    return application_.get_subcommands([](CLI::App*) { return true; });
  }

  std::vector<std::string_view> command_names() {
    std::vector<std::string_view> names;
    for (const CLI::App* command : commands()) names.push_back(command->get_name());
    return names;
  }

  /// The name of the command that was parsed, if the arguments got as far.
  std::string chosen_command() const {
    const auto parsed = application_.get_subcommands();
    return parsed.empty() ? "" : parsed.front()->get_name();
  }

  /// The first word, where it is no command.
  std::optional<std::string_view> unknown_command(int count, char** arguments) {
    const std::vector<std::string_view> words(arguments + std::min(count, 1), arguments + count);
    const auto word = std::ranges::find_if(words, [](std::string_view text) { return !text.starts_with('-'); });
    if (word == words.end() || std::ranges::count(command_names(), *word) > 0) return std::nullopt;
    return *word;
  }

  /// The message, with the nearest option where one is unknown.
  std::string explained(const CLI::ParseError& error) {
    if (application_.get_subcommands().empty())
      return "name a command: devices, solve, run, explain, calibrate, objects, disasm, emulate or coverage";
    const CLI::App& command = *application_.get_subcommands().front();
    const std::vector<std::string> unexpected = application_.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || unexpected.empty()) return error.what();
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) names.push_back(option->get_name());
    return format("\"{}\" was not expected{}", unexpected.front(),
                  io::suggestion(unexpected.front(), {names.begin(), names.end()}));
  }

  Action action_;
  CLI::App application_{"Runs iterative GPU work with its loops and branches on the GPU.", "wavegate"};
};

int run(int count, char** arguments) {
  try {
    return Application().run(count, arguments);
  } catch (const std::bad_alloc&) {
    print_error("this machine's memory does not suffice");
  } catch (const std::exception& fault) {
    print_error(format("this is a bug of wavegate, please report it: {}", fault.what()));
  }
  return kFailed;
}

}  // namespace
}  // namespace wavegate::cli

int main(int count, char** arguments) {
  // Writing to a pipe that nobody reads shall be an error that can be handled, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  wavegate::cli::occupy_standard_descriptors();
  return wavegate::cli::run(count, arguments);
}
