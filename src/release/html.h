// HTML as text. Literals are markup and strings are text, which is escaped:
//
//   Html html;
//   html << "<p>" << name << "</p>";     // whatever the name is, it is no markup
//
// A page is one file: no script, nothing that is loaded, and a policy that forbids both and any style but its
// own.
#pragma once

#include <string>

namespace snapdp::release_internal {

class Html {
 public:
  Html& operator<<(const char* markup);
  Html& operator<<(const std::string& text);
  Html& operator<<(const Html& part);

  bool empty() const { return markup_.empty(); }
  const std::string& markup() const { return markup_; }

 private:
  friend Html preformatted(const std::string& text);

  std::string markup_;
};

// Text whose lines may end.
Html preformatted(const std::string& text);

// A number with its percent sign, which stay on one line: "95&#8239;%". Other texts as they are.
Html percent(const std::string& text);

// A whole page with the house's style, in both color schemes and for paper.
std::string html_page(const std::string& title, const Html& body);

// A place from 0 to 1 as SVG has it: "55.04%".
std::string place_text(double at);

// Pictures in the cells of tables: as wide as the cell, places from 0 to 1. Nothing is said in them alone.
class Strip {
 public:
  explicit Strip(int height);

  Strip& box(double from, double to, int top, int height, const char* style);
  // Upright.
  Strip& line(double at, int top, int bottom, const char* style);
  // Level.
  Strip& level(double from, double to, int y, const char* style);
  Strip& dot(double at, int y);
  Strip& text(double at, int y, const char* anchor, const std::string& text);
  // What is defined once in the page, by its id.
  Strip& use(const std::string& id);
  Html finish() const;

 private:
  Html svg_;
};

}  // namespace snapdp::release_internal
