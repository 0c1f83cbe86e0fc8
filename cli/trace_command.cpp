// snapdp trace.
#include <fstream>
#include <memory>

#include "commands.h"
#include "output.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/trace.h"
#include "snapdp/text.h"

namespace snapdp::cli {
namespace {

struct TraceArguments {
  std::string vectors;
  std::string kernel = "best";
  bool slow = false;
};

std::string read_file(const std::string& path) {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (text.size() <= most_bytes &&
         file.read(block.data(), static_cast<std::streamsize>(block.size())).gcount() > 0)
    text.append(block, 0, static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad()) {
    throw Error(ErrorCode::io, "--vectors",
                "--vectors = " + quoted_path(path) + ": cannot be read; check the path");
  }
  if (text.size() > most_bytes) {
    throw Error(
        ErrorCode::bad_data, "--vectors",
        "--vectors = " + path + ": is longer than 64 MiB; split it, and begin each part with the header");
  }
  return text;
}

}  // namespace

void add_trace(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<TraceArguments>();
  CLI::App* command = tool.add_subcommand("trace", "Recompute released values from recorded random bits.");
  command->add_option("--vectors", arguments->vectors, "CSV with the columns of tests/data/snap_exact.csv")
      ->type_name("FILE")
      ->required();
  command->add_flag("--slow", arguments->slow, "Take the multiple-precision path for every sample");
  command->add_option("--kernel", arguments->kernel, "portable, avx2, avx512 or best (best)")->type_name("K");
  commands[command] = {[arguments] {
                         ReplayOptions options{.kernel = parse_kernel(arguments->kernel, "--kernel")};
                         options.slow_only = arguments->slow;
                         write_standard_output(trace(read_file(arguments->vectors), options));
                       },
                       "  snapdp trace --vectors snap_exact.csv > recomputed.csv\n"
                       "  snapdp trace --vectors snap_exact.csv --slow | diff - recomputed.csv\n",
                       [arguments] {
                         return Files{.read = {{"--vectors", arguments->vectors}}};
                       }};
  command->footer("Prints the same rows with `output` recomputed, the same on every machine and kernel.");
}

}  // namespace snapdp::cli
