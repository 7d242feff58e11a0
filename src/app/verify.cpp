// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "base/counted.hpp"
#include "base/escaped.hpp"
#include "cli/messages.hpp"
#include "cli/whole_file.hpp"
#include "verify/runs.hpp"

namespace parshall::cli {
namespace {

std::string text_of(const Verified& verified) {
  std::string text;
  for (const VerifiedFile& file : verified.files) {
    const ExportedFile& read = file.read;
    const std::string what =
        !read.problem.empty()     ? "BROKEN: " + read.problem
        : read.has_findings_alone ? "events of tasks, no records"
        : read.account && read.records == 0
            ? "account"
            : fmt::format("{} of {}", counted(read.records, "record"), counted(read.packets, "packet"));
    text += fmt::format("{}  {}\n", escaped(file.path), escaped(what));
  }
  for (const VerifiedRun& run : verified.runs) {
    text += fmt::format("run {}: {} of {} in {}\n", escaped(run.name), counted(run.records, "record"),
                        counted(run.packets, "packet"), counted(run.files, "file"));
    if (const auto& account = run.account)
      text += fmt::format("  {} counted in flows{} = {} written + {} not sent (in {})\n",
                          counted(account->packets_offered, "packet"),
                          account->whole_run ? "" : " while the output existed", account->packets_written,
                          account->packets_not_sent, counted(account->records_not_sent, "record"));
    text += run.problem.empty() ? "  it adds up\n" : fmt::format("  WRONG: {}\n", escaped(run.problem));
  }
  return text;
}

int run_verify(const std::vector<std::string>& paths) {
  const auto verified = verify(paths);
  if (!verified) return fail("verify", verified.error(), kFailed);
  if (const auto error = write_whole("-", text_of(*verified))) return fail("verify", *error, kFailed);
  for (const Error& error : verified->unreadable) say("verify", error.message);
  if (!verified->unreadable.empty()) return kFailed;
  return verified->is_good() ? kDone : kDamaged;
}

}  // namespace

void add_verify(Command app, int& status) {
  Command verify = app.add_subcommand("verify", "Check exported records against the account exported with them");
  verify->footer(
      "Reads all pages and messages of files written by parquet:, ipfix: and jsonl:, and adds up the packets of\n"
      "their records. Exit status 0: nothing is missing. 3: something is missing, or there is no account yet.\n"
      "1: a file cannot be read, or was not written by parshall.");
  auto paths = std::make_shared<std::vector<std::string>>();
  verify->add_option("FILES", *paths, "Files, or folders of files")->required();
  verify->callback([paths, &status] { status = run_verify(*paths); });
}

}  // namespace parshall::cli
