#include "release/page_parts.h"

#include <array>
#include <utility>

#include "release/presentation.h"

namespace snapdp::release_internal {
namespace {

Html swatch(const char* style) {
  Html html;
  return html << "<svg aria-hidden=\"true\"><rect class=\"" << style
              << "\" x=\".6\" y=\".6\" width=\"20.8\" height=\"12.8\"/></svg>";
}

// 0 to 100 percent.
Html percent_axis() {
  constexpr std::array<std::pair<double, const char*>, 5> ticks = {
      {{0, "0"}, {0.25, "25"}, {0.5, "50"}, {0.75, "75"}, {1, "100"}}};
  Strip axis(16);
  for (const auto& [at, text] : ticks)
    axis.text(at, 12, at == 0 ? "start" : at == 1 ? "end" : "middle", text);
  return axis.finish();
}

}  // namespace

Html belief_table(const Rational& epsilon, const std::string& of_what, const std::string& by_what) {
  Html html;
  html << "<table class=\"bel\"><caption>How sure a reader can be " << of_what
       << ". Circle: before. Band: the most that " << by_what
       << " can change it, in either direction.</caption><thead><tr><th scope=\"col\">before</th><th "
          "scope=\"col\" class=\"n\">after</th><th scope=\"col\" class=\"c\"><span class=\"vh\">chart, in "
          "percent</span>"
       << percent_axis() << "</th></tr></thead><tbody>\n";
  for (const int before : {1, 10, 50}) {
    const Belief belief = belief_after(epsilon, before);
    Strip strip(18);
    strip.level(0, 1, 9, "r").box(belief.least_at, belief.most_at, 1, 16, "d");
    strip.line(belief.least_at, 1, 17, "e").line(belief.most_at, 1, 17, "e").dot(belief.before_at, 9);
    html << "<tr><th scope=\"row\">" << percent(belief.before + "%") << " sure</th><td class=\"n v\">"
         << belief.least << " to " << percent(belief.most + "%") << "</td><td class=\"c\">" << strip.finish()
         << "</td></tr>\n";
  }
  return html << "</tbody></table>\n";
}

Html budget_bar(const Rational& before, const Rational& now, const Rational& left, const std::string& now_is,
                bool planned) {
  const Rational all = Rational(before + now + left);
  const char* style = planned ? "p" : "b";
  Html html;
  html << "<div class=\"keep\">";
  if (all > 0 && before >= 0 && left >= 0) {
    const double past = to_double_nearest(Rational(before / all));
    const double spent = to_double_nearest(Rational((before + now) / all));
    Strip strip(26);
    strip.box(0, past, 1, 24, "o").line(past, 1, 25, "sep").box(past, spent, 1, 24, style);
    strip.line(spent, 1, 25, "sep").box(0, 1, 1, 24, "frame");
    html << strip.finish();
  }
  return html << "<ul class=\"key\"><li>" << swatch("o") << "before: " << short_number(before) << "</li><li>"
              << swatch(style) << now_is << ": " << short_number(now) << "</li><li>" << swatch("frame")
              << (planned ? "would remain: " : "remaining: ") << short_number_down(left)
              << "</li></ul></div>\n";
}

Html column_head(const char* text, const char* style) {
  Html html;
  return html << "<th role=\"columnheader\" scope=\"col\"" << style << ">" << text << "</th>";
}

}  // namespace snapdp::release_internal
