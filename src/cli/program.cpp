// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>

#include "base/heap.hpp"
#include "base/suggestion.hpp"
#include "base/text_file.hpp"
#include "base/version.hpp"
#include "cli/describe.hpp"
#include "cli/messages.hpp"
#include "cli/parse_problem.hpp"
#include "cli/sibling.hpp"
#include "cli/unknown_word.hpp"

namespace parshall::cli {
namespace {

Configuration& read_configuration() {
  static Configuration configuration;
  return configuration;
}

/// Reads a configuration: options of watch, without a section around them.
class WatchConfig final : public CLI::ConfigBase {
 public:
  explicit WatchConfig(const CLI::App& app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    const auto path = app_.get_config_ptr()->as<std::string>();
    const auto text = read_text(input, path);  // a pipe can be opened only once
    if (!text) throw CLI::FileError(text.error().message);
    auto file = parse_configuration(*text, path);
    if (!file) throw wrong(file.error());
    const CLI::App& command = command_with_options();
    std::vector<CLI::ConfigItem> settings;
    Configuration& read = read_configuration();
    for (const ConfiguredSetting& setting : file->settings) {
      const CLI::Option* const option = command.get_option_no_throw("--" + setting.name);
      if (option == nullptr || !option->get_configurable()) throw wrong(unknown(setting, command));
      const std::string takes = option->get_type_name();
      if (const auto problem =
              type_problem(setting, takes.substr(0, takes.find(':')), option->get_items_expected_max() > 1))
        throw wrong(*problem);
      settings.push_back({.parents = {command.get_name()}, .name = setting.name, .inputs = setting.words});
      if (option->empty()) read.places.emplace("--" + setting.name, setting.place);
    }
    read.path = path;
    read.file = *std::move(file);
    return settings;
  }

 private:
  static CLI::ConfigError wrong(const Error& error) { return {error.message, CLI::ExitCodes::ConfigError}; }

  static Error unknown(const ConfiguredSetting& setting, const CLI::App& command) {
    return Error{fmt::format(
        "{}: {} has no option {}{}", setting.place, command.get_name(), setting.name,
        suggestion(setting.name, option_names(command), fmt::format("parshall {} --help", command.get_name())))};
  }

  /// Returns watch, or classify, which has the same options.
  const CLI::App& command_with_options() const {
    const auto parsed = app_.get_subcommands();
    const bool classifies = !parsed.empty() && parsed.front()->get_name() == "classify";
    return classifies ? *parsed.front() : *app_.get_subcommand("watch");
  }

  const CLI::App& app_;
};

/// Writes one line to standard error, prefixed by the command as far as it was understood.
void say_of(const CLI::App& app, const std::string& line) {
  write_error_text(fmt::format("{}: {}\n", path_of(deepest_parsed(app)), escaped(line)));
}

/// Returns the path and why it cannot be read as a configuration.
std::string why_not_read(const std::string& path) {
  struct stat there {};
  const int problem = ::stat(path.c_str(), &there) != 0 ? errno : S_ISDIR(there.st_mode) ? EISDIR : EACCES;
  return fmt::format("{}: {}", path, std::strerror(problem));
}

int parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return kDone;
  } catch (const CLI::CallForHelp& help) {
    const auto unknown = app.get_subcommands().empty() ? unknown_word_problem(app) : std::nullopt;
    if (!unknown) return app.exit(help);
    say_of(app, unknown->message);
    return kUsage;
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& wanted) {
    return app.exit(wanted);
  } catch (const CLI::FileError& error) {
    const std::string path = app.get_config_ptr()->as<std::string>();
    const bool is_there = std::string_view(error.what()).find("was not readable") == std::string_view::npos;
    say("", fmt::format("--config {}", is_there ? std::string(error.what()) : why_not_read(path)));
    return kFailed;
  } catch (const CLI::ConfigError& error) {
    say("", error.what());
    return kUsage;
  } catch (const CLI::ParseError& error) {
    say_of(app, with_place(parse_problem(error, app)).message);
    say_of(app, fmt::format("`{} --help` lists the options", path_of(deepest_parsed(app))));
    return kUsage;
  } catch (const std::system_error& refused) {
    const bool is_limit = refused.code() == std::errc::resource_unavailable_try_again;
    say("", fmt::format("{}{}", refused.what(),
                        is_limit ? ": no further thread could be started; raise the limits (ulimit -u, -v)" : ""));
    return kFailed;
  } catch (const std::bad_alloc&) {
    say("", "not enough memory");
    return kFailed;
  } catch (const std::exception& unforeseen) {  // so that destructors of a test's resources run
    say("", unforeseen.what());
    return kFailed;
  }
}

/// Opens /dev/null in place of closed standard descriptors. Otherwise messages and reports would go into the first file
/// that is opened. Writing to the replacement fails, and is reported as usual.
void hold_standard_descriptors() noexcept {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != fd) return;
}

/// Flushes the output of help and lists; a reader that has gone is no failure.
int told(int status) {
  std::cout.flush();
  if (status != kDone || (std::fflush(stdout) == 0 && std::cout.good()) || errno == EPIPE) return status;
  say("", fmt::format("cannot write standard output: {}", std::strerror(errno)));
  return kFailed;
}

}  // namespace

const Configuration& configuration() noexcept { return read_configuration(); }

Error with_place(Error error) {
  const std::string option = error.message.substr(0, error.message.find_first_of(": "));
  const auto& places = configuration().places;
  if (const auto found = places.find(option); found != places.end())
    error.message = fmt::format("{}: {}", found->second, error.message);
  return error;
}

std::vector<char*> with_help_option(int argc, char** argv) {
  static char help[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (argc < 2 || std::string_view(argv[1]) != "help") return words;
  words.erase(words.begin() + 1);
  words.push_back(help);
  return words;
}

int run_program(const Program& program, int argc, char** argv) {
  hold_standard_descriptors();
  have_heap_shrink();
  const std::string_view called(argc == 0 ? "" : argv[0]);
  std::string name(called.substr(called.rfind('/') + 1));
  if (name == kMainProgram && !program.part.empty() && !program.part_is_own) name += " " + program.part;
  const bool says_part = argc > 1 && !program.part_is_own && argv[1] == program.part;
  if (says_part) {
    ++argv;
    --argc;
  }
  CLI::App app(program.about, name);
  app.require_subcommand(1);
  app.set_version_flag("--version", version());
  app.get_formatter()->column_width(34);
  if (program.reads_config) {
    app.set_config(
        "--config", "",
        "Read options of watch from a TOML file, with one `name = value` per line; the command line has precedence");
    app.config_formatter(std::make_shared<WatchConfig>(app));
    app.allow_config_extras(CLI::config_extras_mode::error);
  }
  int status = kDone;
  program.add(Command(&app), status);
  if (argc == 2 && std::string_view(argv[1]) == kDescribe) {
    fmt::print("{}\n", described(app));
    return told(kDone);
  }
  std::vector<char*> words = with_help_option(argc, argv);
  static char version_option[] = "--version";
  if (words.size() == 2 && std::string_view(words[1]) == "version") words[1] = version_option;
  const int parsed = parse(app, static_cast<int>(words.size()), words.data());
  return told(parsed != kDone ? parsed : status);
}

}  // namespace parshall::cli
