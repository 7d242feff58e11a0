// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands.hpp"

namespace {

/// A configuration file's options are those of `parshall watch`, without a section around them.
class WatchConfig final : public CLI::ConfigBase {
 public:
  explicit WatchConfig(const CLI::App& app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    auto read = ConfigBase::from_config(input);
    for (CLI::ConfigItem& item : read) {
      const CLI::App& watch = *app_.get_subcommand("watch");
      const bool in_section = !item.parents.empty();
      if (in_section || watch.get_option_no_throw("--" + item.name) == nullptr)
        throw CLI::ConfigError(fmt::format("the configuration says {}, which is no option of watch",
                                           in_section ? "[" + item.parents.front() + "]" : item.name),
                               CLI::ExitCodes::ConfigError);
      item.parents = {"watch"};
    }
    return read;
  }

 private:
  const CLI::App& app_;
};

/// The command as far as it was understood: "parshall bench tables".
std::string command_of(const CLI::App& app) {
  std::string command = "parshall";
  for (auto parsed = app.get_subcommands(); !parsed.empty(); parsed = parsed.front()->get_subcommands())
    command += " " + parsed.front()->get_name();
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Parshall watches every packet of a link and keeps exact statistics per flow.", "parshall");
  app.require_subcommand(1);
  app.set_version_flag("--version", PARSHALL_VERSION);
  app.get_formatter()->column_width(34);
  app.set_config("--config", "", "Options of watch from a TOML file: one `name = value` a line; the command line wins");
  app.config_formatter(std::make_shared<WatchConfig>(app));
  app.allow_config_extras(CLI::config_extras_mode::error);
  int status = parshall::cli::kDone;
  parshall::cli::add_watch(app, status);
  parshall::cli::add_classify(app, status);
  parshall::cli::add_send(app, status);
  parshall::cli::add_test(app, status);
  parshall::cli::add_train(app, status);
  parshall::cli::add_list(app, status);
  parshall::cli::add_bench(app, status);
  parshall::cli::add_profile(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::FileError& error) {
    fmt::print(stderr, "parshall: --config {}\n", error.what());
    return parshall::cli::kUsage;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "parshall: {}\nparshall: `{} --help` lists the options\n", error.what(), command_of(app));
    return parshall::cli::kUsage;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "parshall: there is not enough memory for that\n");
    return parshall::cli::kFailed;
  } catch (const std::exception& unforeseen) {  // so that what was made for a test goes
    fmt::print(stderr, "parshall: {}\n", unforeseen.what());
    return parshall::cli::kFailed;
  }
  return status;
}
