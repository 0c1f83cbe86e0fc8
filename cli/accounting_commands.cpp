// snapdp compose, and the accounting of snapdp ledger show --delta.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>

#include "accounting.h"
#include "commands.h"
#include "output.h"
#include "release/shared/suggestion.h"
#include "release/shared/text_table.h"
#include "snapdp/error.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

using Json = nlohmann::ordered_json;

struct ComposeArguments {
  std::string epsilons;
  std::string rho;
  std::string delta;
  bool json = false;
};

// The least double that is not below; null when there is none.
Json number_up(const Rational& value) {
  const double up = to_double_up(value);
  return std::isfinite(up) ? Json(up) : Json();
}

// Where EPSILONxCOUNT has its x: in 0x1p-2x10, a hex float, it is the second one. npos without a count.
std::size_t find_times(std::string_view part) {
  const bool hex = part.size() > 1 && part[0] == '0' && (part[1] == 'x' || part[1] == 'X');
  return part.find('x', hex ? 2 : 0);
}

EqualReleases parse_releases(std::string_view part) {
  const auto wrong = [&](const std::string& rule) {
    return Error(ErrorCode::invalid_argument, "--epsilons", "--epsilons: " + quoted_text(part) + " " + rule);
  };
  while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
  while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
  if (part.empty()) throw wrong("is an empty entry; write EPSILON or EPSILONxCOUNT, separated by commas");
  EqualReleases releases;
  const std::size_t times = find_times(part);
  if (times != std::string_view::npos) {
    const std::string_view count = part.substr(times + 1);
    const auto [end, status] = std::from_chars(count.data(), count.data() + count.size(), releases.count);
    if (status != std::errc() || end != count.data() + count.size() || releases.count < 1 ||
        releases.count > max_composed_releases) {
      throw wrong("must have a count from 1 to " + std::to_string(max_composed_releases) +
                  " after the x, as in 0.1x100");
    }
  }
  releases.epsilon = parse_rational(part.substr(0, times), "--epsilons");
  if (releases.epsilon <= 0) throw wrong("must have an epsilon greater than 0");
  return releases;
}

std::vector<EqualReleases> parse_epsilons(std::string_view text) {
  std::vector<EqualReleases> releases;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    releases.push_back(parse_releases(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return releases;
}

std::vector<ComposedLoss> losses_of(const ComposeArguments& arguments) {
  std::vector<ComposedLoss> losses;
  if (!arguments.epsilons.empty()) {
    for (const EqualReleases& equal : parse_epsilons(arguments.epsilons))
      losses.push_back({equal.epsilon, equal.count});
  }
  if (!arguments.rho.empty()) {
    const Rational rho = parse_rational(arguments.rho, "--rho");
    if (rho <= 0) {
      throw Error(ErrorCode::invalid_argument, "--rho",
                  "--rho " + arguments.rho + ": must be greater than 0; leave it out without Gaussian noise");
    }
    losses.push_back({PrivacyLoss::gaussian(rho), 1});
  }
  if (losses.empty()) {
    throw Error(ErrorCode::invalid_argument, "--epsilons",
                "--epsilons is missing: give the losses of the releases, or --rho, that of Gaussian noise");
  }
  return losses;
}

void compose(const ComposeArguments& arguments) {
  const Accounting accounting(losses_of(arguments), parse_rational(arguments.delta, "--delta"));
  if (arguments.json) {
    Json json = Json::object();
    accounting.add_to(json);
    write_standard_output(json.dump(2) + "\n");
  } else {
    write_standard_output(accounting.table().to_string(style_of_standard_output()));
  }
}

}  // namespace

Accounting::Accounting(std::span<const ComposedLoss> losses, const Rational& delta) : delta_(delta) {
  std::vector<EqualReleases> pure;
  for (const auto& [loss, count] : losses) {
    count_ += count;
    if (loss.is_pure()) pure.push_back({loss.epsilon, count});
  }
  is_pure_ = pure.size() == losses.size();
  if (is_pure_) {
    basic_ = basic_composition(pure);
    optimal_ = optimal_composition(pure, delta);
    rho_ = zcdp_composition(pure);
    zcdp_ = zcdp_to_epsilon(rho_, delta);
    return;
  }
  basic_ = basic_composition(losses, delta);
  optimal_ = optimal_composition(losses, delta);
  const PrivacyAmount zcdp = zcdp_composition(losses);
  rho_ = zcdp.value;
  if (zcdp.delta < delta) zcdp_ = zcdp_to_epsilon(rho_, Rational(delta - zcdp.delta));
}

void Accounting::add_to(Json& object) const {
  object["delta"] = to_string(delta_);
  object["composed"] = count_;
  // Rounding to doubles must not lift the optimal bound above the sum.
  const double basic = basic_ ? to_double_nearest(*basic_) : std::numeric_limits<double>::infinity();
  object["basic"] = std::isfinite(basic) ? Json(basic) : Json();
  object["optimal"] = optimal_ ? number_up(optimal_->epsilon) : Json();
  if (std::isfinite(basic)) object["optimal"] = std::min(basic, to_double_up(optimal_->epsilon));
  object["optimal_at_least"] = optimal_ ? Json(to_double_down(optimal_->at_least)) : Json();
  object["zcdp"] = zcdp_ ? number_up(*zcdp_) : Json();
  object["rho"] = number_up(rho_);
}

TextTable Accounting::table() const {
  TextTable table({{"composition", TextTable::Align::left},
                   {"epsilon", TextTable::Align::right},
                   {"of " + std::to_string(count_) + " losses at delta " + short_number(delta_),
                    TextTable::Align::left}});
  if (!basic_) {
    table.add({"basic", "none", "the losses need more delta than that"});
    return table;
  }
  table.add({"basic", round_up_to_digits(*basic_, 12),
             is_pure_ ? "the sum; holds always, and at delta 0"
                      : "the sum of the epsilons, and of the Gaussian noise at the delta that is left"});
  table.add({"optimal", round_up_to_digits(optimal_->epsilon, 12),
             optimal_->epsilon - optimal_->at_least > Rational(1, 1'000'000'000) * optimal_->epsilon
                 ? "for epsilons fixed in advance; at least " + to_string(to_double_down(optimal_->at_least))
                 : "for epsilons fixed in advance"});
  table.add(
      {"zCDP", zcdp_ ? round_up_to_digits(*zcdp_, 12) : "none",
       zcdp_ ? "for epsilons fixed in advance; rho " + short_number(rho_) : "zCDP needs a delta above 0"});
  return table;
}

void add_compose(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<ComposeArguments>();
  CLI::App* command = tool.add_subcommand("compose", "What several releases cost together, at a delta.");
  command
      ->add_option("--epsilons", arguments->epsilons,
                   "The losses, separated by commas; 0.1x100 stands for a hundred of 0.1")
      ->type_name("E[xN],...");
  command->add_option("--rho", arguments->rho, "That of all Gaussian noise together, the sum of their rhos")
      ->type_name("R");
  command->add_option("--delta", arguments->delta, "The probability that the bound fails: 0 <= delta < 1")
      ->type_name("D")
      ->required();
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  commands[command] = {[arguments] { compose(*arguments); },
                       "  snapdp compose --epsilons 0.1x100,0.2x25 --delta 1e-6\n"
                       "  snapdp compose --epsilons 0.1x10 --rho 0.02 --delta 1e-6\n"
                       "  snapdp compose --epsilons 1/3,0.5 --delta 1e-9 --json\n"};
  command->footer(
      "All bounds are rounded up. \"optimal\" is the least epsilon that holds for every choice of "
      "mechanisms,\n"
      "even if each is chosen knowing the outputs before it, as long as the epsilons were fixed in advance.\n"
      "For epsilons chosen after seeing outputs only the sum is proved. See docs/accounting.md.");
}

}  // namespace snapdp::cli
