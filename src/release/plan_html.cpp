// Plans as pages: what it would cost and how near the answers would be, before anything is read or spent.
#include <algorithm>
#include <array>
#include <cmath>

#include "release/html.h"
#include "release/kinds/kind.h"
#include "release/page_parts.h"
#include "release/presentation.h"
#include "release/report_model.h"
#include "release/report_numbers.h"
#include "release/report_words.h"
#include "release/shown_digits.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

std::string title_of(const ShownStatistic& statistic) {
  return statistic.title.empty() ? statistic.name : statistic.title;
}

// What holds of all bins and groups together where there are several, and is told in rows of quantiles.
std::optional<double> accuracy_of(const ShownStatistic& statistic) {
  if (statistic.hierarchy) return statistic.hierarchy->rank_error;
  if (!statistic.accuracy) return std::nullopt;
  return statistic.accuracy->simultaneous.value_or(statistic.accuracy->tight);
}

// "±1.2", two digits, upward; of counts whole.
std::string plus_minus(const ShownStatistic& statistic, double accuracy) {
  if (!std::isfinite(accuracy) || accuracy < 0) return "no bound";
  if (accuracy == 0) return "exact";
  const Rational exact = ShownNumber::of(accuracy).rational();
  const bool whole = statistic.hierarchy || is_whole(statistic);
  const long place = exponent_of(exact) - 1;
  return "±" + decimal_text(exact, whole ? std::max(0L, place) : place, Toward::above);
}

std::string accuracy_text(const ShownStatistic& statistic) {
  if (statistic.choice) {
    const double gap = statistic.choice->gap;
    if (!std::isfinite(gap) || gap < 0) return "no bound";
    return "≤ " + decimal_text(ShownNumber::of(gap).rational(), 0, Toward::above) + " below the best";
  }
  const std::optional<double> accuracy = accuracy_of(statistic);
  if (!accuracy) return "not known before";
  return plus_minus(statistic, *accuracy);
}

std::string unit_text(const ShownStatistic& statistic) {
  if (statistic.hierarchy || statistic.choice) return "rows";
  if (statistic.accuracy && statistic.accuracy->simultaneous)
    return statistic.unit + (statistic.unit.empty() ? "" : ", ") + "all at once";
  return statistic.unit;
}

class PlanPage {
 public:
  PlanPage(const ReportModel& model, const std::vector<PlanVariant>& variants,
           const std::optional<LedgerBalance>& ledger)
      : model_(model), variants_(variants), ledger_(ledger) {}

  std::string text() const {
    Html body;
    body << "<svg class=\"defs\" aria-hidden=\"true\"><defs><pattern id=\"hatch\" width=\"6\" height=\"6\" "
            "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect class=\"d\" width=\"6\" "
            "height=\"6\"/><line class=\"hl\" x1=\"0\" x2=\"0\" y1=\"0\" "
            "y2=\"6\"/></pattern></defs></svg><a class=\"skip\" href=\"#cost\">Skip to the costs</a>\n"
         << header() << "<main>\n"
         << budget() << warnings() << costs() << funnels() << savings() << protection();
    body << "</main>\n<footer><p>Made by <code>snapdp plan</code> " << model_.version
         << ". This page runs no script and loads nothing.</p></footer>\n";
    return html_page("Plan for " + name(), body);
  }

 private:
  std::string name() const { return model_.title.empty() ? model_.dataset : model_.title; }
  Rational allowed() const {
    const Rational& most = model_.budget.amount.value;
    return ledger_ ? std::min(ledger_->remaining.value, most) : most;
  }
  const ShownMeasure& measure() const { return model_.measure; }
  std::string letter() const { return measure().letter(); }
  // Of the variant whose epsilons are this many times the plan's.
  std::optional<double> accuracy_at(double factor, std::size_t statistic) const {
    for (const PlanVariant& variant : variants_) {
      if (variant.factor == factor) return accuracy_of(variant.model.statistics[statistic]);
    }
    return std::nullopt;
  }

  Html header() const {
    const auto count = std::count_if(model_.statistics.begin(), model_.statistics.end(),
                                     [](const ShownStatistic& statistic) { return !statistic.difference; });
    Html html;
    html << "<header><p class=\"kick\">Plan for <b>" << name()
         << "</b> · nothing has been read, nothing is spent</p>\n<h1>" << std::to_string(count)
         << (count == 1 ? " statistic" : " statistics") << " would cost " << letter() << " "
         << short_number(model_.planned) << " of the " << short_number_down(allowed())
         << (ledger_ && ledger_->remaining.value <= model_.budget.amount.value ? " that are left"
                                                                               : " that this run may cost")
         << "</h1>\n<p class=\"lede\">A reader who gives even chances (50&#8239;%) "
         << (hides_presence(model_) ? "that a certain person is in the data"
                                    : "to two things that a certain row may say")
         << " could be at most " << percent(belief_after(measure().as_epsilon(model_.planned), 50).most + "%")
         << " sure after reading them";
    if (ledger_ && ledger_->spent.value > 0) {
      html << ", and "
           << percent(belief_after(measure().as_epsilon(model_.planned + ledger_->spent.value), 50).most +
                      "%")
           << " together with what was released before";
    }
    return html << measure().reservation() << ".</p></header>\n";
  }

  Html budget() const {
    const Rational before = ledger_ ? ledger_->spent.value : Rational(0);
    const Rational left =
        Rational((ledger_ ? ledger_->remaining.value : model_.budget.amount.value) - model_.planned);
    Html html;
    html << "<section aria-labelledby=\"budget\"><h2 id=\"budget\">The budget</h2>\n";
    const Rational missing = Rational(model_.planned - allowed());
    if (missing > 0) {
      html << "<p><b>▲ It does not fit:</b> " << letter() << " " << short_number(missing)
           << " is missing.</p>\n";
    } else {
      html << budget_bar(before, model_.planned, left, "this plan", true);
    }
    return html << "</section>\n";
  }

  Html warnings() const {
    Html items;
    for (const PlanWarning& warning : model_.plan_warnings) {
      items << "<li>";
      if (!warning.statistic.empty()) items << "<b>" << title_named(warning.statistic) << "</b>: ";
      items << warning.message << ".</li>\n";
    }
    for (const ShownStatistic& statistic : model_.statistics) {
      if (statistic.expected)
        items << "<li><b>" << title_of(statistic) << "</b>: " << guess_note(statistic) << "</li>\n";
    }
    for (const std::string& name : model_.unpaid) {
      items << "<li><b>" << name << "</b>: nothing of the budget is left for it.</li>\n";
    }
    Html html;
    if (items.empty()) return html;
    return html
           << "<section class=\"warn\" aria-labelledby=\"w\"><h2 id=\"w\">▲ Before you spend</h2>\n<ul>\n"
           << items << "</ul></section>\n";
  }

  std::string title_named(const std::string& name) const {
    for (const ShownStatistic& statistic : model_.statistics) {
      if (statistic.name == name) return title_of(statistic);
    }
    return name;
  }

  Html costs() const {
    Html html;
    html << "<section aria-labelledby=\"cost\"><h2 id=\"cost\">What each number costs, and how near it "
            "will be</h2>\n<div class=\"f\"><table role=\"table\" class=\"plan\"><caption>How near each "
            "released number will be to the exact one, as often as its level says. Known beforehand, from "
            "public facts alone; no data file is open.</caption><thead role=\"rowgroup\"><tr role=\"row\">"
         << column_head("statistic", "") << column_head("cost", " class=\"n\"")
         << column_head("accuracy", " class=\"n\"")
         << column_head(("at half the " + letter()).c_str(), " class=\"n\"")
         << column_head("at double", " class=\"n\"") << column_head("share of the cost", " class=\"c\"")
         << "</tr></thead><tbody role=\"rowgroup\">\n";
    for (std::size_t i = 0; i < model_.statistics.size(); ++i) html << cost(i);
    for (const ShownKeys& keys : model_.keys) html << cost_of_keys(keys);
    return html << "<tr role=\"row\" class=\"sum\"><th role=\"rowheader\" scope=\"row\">this run</th><td "
                   "role=\"cell\" class=\"n v\">"
                << letter() << " " << short_number(model_.planned)
                << "</td><td role=\"cell\" class=\"n\"></td><td role=\"cell\" class=\"n\"></td><td "
                   "role=\"cell\" class=\"n\"></td><td role=\"cell\" class=\"c\"></td></tr>\n"
                   "</tbody></table></div></section>\n";
  }

  Html cost_of_keys(const ShownKeys& keys) const {
    const Rational epsilon = keys.epsilon.rational();
    Strip strip(14);
    strip.level(0, 1, 7, "r");
    if (model_.planned > 0) strip.box(0, to_double_nearest(Rational(epsilon / model_.planned)), 0, 14, "p");
    std::string note = keys_note(model_, keys);
    note.pop_back();
    Html html;
    return html << "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">keys of " << keys.column
                << "<small>" << note << "</small></th><td role=\"cell\" class=\"n\">" << letter() << " "
                << short_number(epsilon)
                << "</td><td role=\"cell\" class=\"n\"></td><td role=\"cell\" class=\"n\"></td><td "
                   "role=\"cell\" class=\"n\"></td><td role=\"cell\" class=\"c\">"
                << strip.finish() << "</td></tr>\n";
  }

  Html cost(std::size_t index) const {
    const ShownStatistic& statistic = model_.statistics[index];
    const Rational epsilon = statistic.noise.epsilon.rational();
    const std::optional<std::string> alpha = alpha_of(statistic);
    const std::string unit = unit_text(statistic);
    Html html;
    html << "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">" << title_of(statistic) << "<small>"
         << (unit.empty() ? statistic.kind : unit) << "</small></th><td role=\"cell\" class=\"n\">"
         << letter() << " " << short_number(epsilon) << "</td><td role=\"cell\" class=\"n"
         << (accuracy_of(statistic) ? " v" : "") << "\">" << accuracy_text(statistic);
    if (alpha) html << "<small>" << percent(confidence(parse_exact(*alpha, "alpha"))) << "</small>";
    html << "</td>";
    for (const double factor : {0.5, 2.0}) {
      const std::optional<double> accuracy = accuracy_at(factor, index);
      html << "<td role=\"cell\" class=\"n h\">"
           << (accuracy ? plus_minus(statistic, *accuracy) : std::string()) << "</td>";
    }
    Strip strip(14);
    strip.level(0, 1, 7, "r");
    if (model_.planned > 0) strip.box(0, to_double_nearest(Rational(epsilon / model_.planned)), 0, 14, "p");
    return html << "<td role=\"cell\" class=\"c\">" << strip.finish() << "</td></tr>\n";
  }

  Html funnels() const {
    Html cards;
    for (std::size_t i = 0; i < model_.statistics.size(); ++i) cards << funnel(i);
    Html html;
    if (cards.empty()) return html;
    return html << "<section aria-labelledby=\"curve\"><h2 id=\"curve\">Accuracy against " << letter()
                << "</h2>\n<p "
                   "class=\"soft\">Each funnel is the interval around the exact number, whatever that is: "
                   "from left to right it narrows as "
                << letter() << " grows. Below each " << letter()
                << " stands its ±. The line in the "
                   "middle is the plan.</p>\n<ul class=\"cards\">\n"
                << cards << "</ul></section>\n";
  }

  // Nothing without an accuracy at each of the five epsilons.
  Html funnel(std::size_t index) const {
    constexpr std::array<double, 5> factors = {0.25, 0.5, 1, 2, 4};
    const ShownStatistic& statistic = model_.statistics[index];
    std::array<double, 5> accuracies = {};
    Html html;
    if (statistic.difference) return html;  // has no epsilon of its own
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const std::optional<double> accuracy =
          factors.at(i) == 1 ? accuracy_of(statistic) : accuracy_at(factors.at(i), index);
      if (!accuracy || !std::isfinite(*accuracy) || *accuracy <= 0) return html;
      accuracies.at(i) = *accuracy;
    }
    const std::string now = plus_minus(statistic, accuracies[2]);
    const Rational epsilon = statistic.noise.epsilon.rational();
    html << "<li class=\"fcard\"><h3>" << title_of(statistic) << "</h3><p><b>" << now << "</b>";
    if (const std::string unit = unit_text(statistic); !unit.empty()) html << " " << unit;
    html << " at " << letter() << " " << short_number(epsilon)
         << ".</p><svg height=\"148\" role=\"img\" aria-label=\"" << title_of(statistic) << ": error against "
         << measure().unit() << ". At " << short_number(epsilon) << " " << now << "; at half "
         << plus_minus(statistic, accuracies[1]) << "; at double " << plus_minus(statistic, accuracies[3])
         << ".\">";
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const double at = static_cast<double>(i) / 4;
      const std::string place = place_text(at);
      const char* anchor = i == 0 ? "start" : i == 4 ? "end" : "middle";
      const char* style = i == 2 ? " class=\"now\"" : "";
      html << "<line class=\"" << (i == 2 ? "pl" : "g") << "\" x1=\"" << place << "\" x2=\"" << place
           << "\" y1=\"0\" y2=\"110\"/><text" << style << " x=\"" << place << "\" y=\"126\" text-anchor=\""
           << anchor << "\">" << (i == 0 ? letter() + " " : std::string())
           << short_number(Rational(epsilon * Rational(factors.at(i)))) << "</text><text" << style << " x=\""
           << place << "\" y=\"142\" text-anchor=\"" << anchor << "\">"
           << plus_minus(statistic, accuracies.at(i)) << "</text>";
    }
    return html << "<svg class=\"in\" height=\"110\" viewBox=\"0 0 100 100\" "
                   "preserveAspectRatio=\"none\"><path class=\"fn\" vector-effect=\"non-scaling-stroke\" "
                   "d=\""
                << outline(accuracies) << "\"/></svg></svg></li>\n";
  }

  // The upper side of a funnel from left to right, and the lower one back; the widest place fills the height.
  static std::string outline(const std::array<double, 5>& accuracies) {
    const double most = *std::max_element(accuracies.begin(), accuracies.end());
    std::string forth;
    std::string back;
    for (std::size_t i = 0; i < accuracies.size(); ++i) {
      const double half = 50 * (accuracies.at(i) / most);
      const std::string x = std::to_string(25 * i);
      forth += (i == 0 ? "M" : "L") + x + " " + place_number(50 - half);
      back.insert(0, "L" + x + " " + place_number(50 + half));
    }
    return forth + back + "Z";
  }

  // Hundredths of a percent, without the sign.
  static std::string place_number(double percent_of_height) {
    std::string text = place_text(percent_of_height / 100);
    text.pop_back();
    return text;
  }

  Html savings() const {
    Html html;
    if (model_.savings.empty()) return html;
    html << "<section aria-labelledby=\"fits\"><h2 id=\"fits\">What other choices would give</h2>\n<ul>\n";
    for (const Saving& saving : model_.savings) {
      if (!std::isfinite(saving.accuracy)) continue;
      html << "<li>" << saving.statistic << ": <code>" << saving.change << "</code> gives ±"
           << round_up_to_digits(ShownNumber::of(saving.accuracy).rational(), 2) << " for " << letter() << " "
           << short_number(saving.epsilon) << "</li>\n";
    }
    return html << "</ul></section>\n";
  }

  Html protection() const {
    Html html;
    html << "<section aria-labelledby=\"prot\"><h2 id=\"prot\">What would be protected</h2>\n<p><b>"
         << (hides_presence(model_)
                 ? "Whether a person is in the data at all</b>, with everything recorded about them"
                 : "Which values one person’s row has</b>; that a row of theirs is there is public")
         << ": against everybody who reads the numbers, whatever they know already and however much they "
            "compute. Not against the custodian; not what is true of people in general.</p>\n"
         << belief_table(measure().as_epsilon(model_.planned),
                         hides_presence(model_) ? "that a certain person is in the data"
                                                : "of one of two things that a row may say",
                         "this plan");
    return html << "</section>\n";
  }

  const ReportModel& model_;
  const std::vector<PlanVariant>& variants_;
  const std::optional<LedgerBalance>& ledger_;
};

}  // namespace

std::string plan_html(const ReportModel& model, const std::vector<PlanVariant>& variants,
                      const std::optional<LedgerBalance>& ledger) {
  return PlanPage(model, variants, ledger).text();
}

}  // namespace snapdp::release_internal
