// snapdp ui: the planner in a browser of this computer.
#include <filesystem>
#include <memory>
#include <optional>

#include "commands.h"
#include "output.h"
#include "snapdp/error.h"
#include "ui/pages.h"
#include "ui/planner.h"
#include "ui/server.h"

namespace snapdp::cli {

namespace {

struct UiArguments {
  std::string folder = ".";
  int port = 0;
};

// Its own scripts and styles, requests to itself, and nothing else from anywhere.
constexpr const char* page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

std::optional<PageAnswer> own_file(const std::string& path) {
  PageAnswer answer;
  answer.policy = page_policy;
  if (path == "/") {
    answer.type = "text/html; charset=utf-8";
    answer.body = ui_page_html;
  } else if (path == "/page.css") {
    answer.type = "text/css; charset=utf-8";
    answer.body = ui_page_css;
  } else if (path == "/page.js") {
    answer.type = "text/javascript; charset=utf-8";
    answer.body = ui_page_js;
  } else {
    return std::nullopt;
  }
  return answer;
}

void serve(const UiArguments& arguments) {
  if (!std::filesystem::is_directory(arguments.folder)) {
    throw Error(ErrorCode::io, "FOLDER",
                "FOLDER " + quoted_path(arguments.folder) +
                    ": is no folder; name the one that holds the declaration and the ledger");
  }
  const Planner planner(arguments.folder);
  PageServer server(arguments.port, [&](const PageRequest& request) {
    if (!request.is_post) {
      if (std::optional<PageAnswer> file = own_file(request.path)) return *std::move(file);
    }
    return planner.answer(request);
  });
  write_standard_output(server.address() + "\n");
  write_standard_error(
      "snapdp: open this address in a browser on this computer, and show it to nobody: it lets its reader "
      "spend from the ledgers of this folder. Ctrl-C ends it\n");
  server.run();
}

}  // namespace

void add_ui(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<UiArguments>();
  CLI::App* command = tool.add_subcommand("ui", "Plan and release in a browser on this computer.");
  command->add_option("FOLDER", arguments->folder,
                      "Where declarations, specifications and ledgers lie (this folder unless named)");
  command->add_option("--port", arguments->port, "The port to listen on, instead of a free one")
      ->type_name("N")
      ->check(CLI::Range(1, 65535));
  commands[command] = {[arguments] { serve(*arguments); },
                       "  snapdp ui\n"
                       "  snapdp ui surveys/2026 --port 8080\n",
                       [] { return Files{}; }};
  command->footer(
      "Only this computer can reach it, and only with the secret in the address. No data file is opened "
      "until a "
      "release\n"
      "is confirmed by typing the ledger's name. The page loads nothing from anywhere else.");
}

}  // namespace snapdp::cli
