#include "release/html.h"

#include <openssl/evp.h>

#include <array>

#include "release/page_style.h"
#include "release/shared/chart.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

// "sha256-..." of a text, as a Content-Security-Policy names it (CSP Level 3, 2.3.1).
std::string policy_hash(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    return "none";  // a style of no hash: the page is read without one
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> base64 = {};
  const int size = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(length));
  return "sha256-" + std::string(base64.begin(), base64.begin() + size);
}

}  // namespace

Html& Html::operator<<(const char* markup) {
  markup_ += markup;
  return *this;
}

Html& Html::operator<<(const std::string& text) {
  markup_ += chart::escaped(shown_text(text));
  return *this;
}

Html& Html::operator<<(const Html& part) {
  markup_ += part.markup_;
  return *this;
}

Html preformatted(const std::string& text) {
  Html html;
  html.markup_ = chart::escaped(shown_lines(text));
  return html;
}

Html percent(const std::string& text) {
  Html html;
  if (!text.ends_with('%')) return html << text;
  return html << text.substr(0, text.size() - 1) << "&#8239;%";
}

std::string html_page(const std::string& title, const Html& body) {
  static const std::string hash = policy_hash(page_style());
  Html page;
  page << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '"
       << hash
       << "'; base-uri 'none'; form-action 'none'\">\n<meta name=\"referrer\" "
          "content=\"no-referrer\">\n<title>"
       << title << "</title>\n<style>" << page_style().c_str() << "</style>\n</head>\n<body>\n"
       << body << "</body>\n</html>\n";
  return page.markup();
}

// Hundredths of a percent are less than a tenth of a pixel.
std::string place_text(double at) {
  std::string text = chart::number(100 * at);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "%";
}

Strip::Strip(int height) {
  svg_ << "<svg height=\"" << std::to_string(height) << "\" aria-hidden=\"true\">";
}

Strip& Strip::box(double from, double to, int top, int height, const char* style) {
  svg_ << "<rect class=\"" << style << "\" x=\"" << place_text(from) << "\" y=\"" << std::to_string(top)
       << "\" width=\"" << place_text(to - from) << "\" height=\"" << std::to_string(height) << "\"/>";
  return *this;
}

Strip& Strip::line(double at, int top, int bottom, const char* style) {
  svg_ << "<line class=\"" << style << "\" x1=\"" << place_text(at) << "\" x2=\"" << place_text(at)
       << "\" y1=\"" << std::to_string(top) << "\" y2=\"" << std::to_string(bottom) << "\"/>";
  return *this;
}

Strip& Strip::level(double from, double to, int y, const char* style) {
  svg_ << "<line class=\"" << style << "\" x1=\"" << place_text(from) << "\" x2=\"" << place_text(to)
       << "\" y1=\"" << std::to_string(y) << "\" y2=\"" << std::to_string(y) << "\"/>";
  return *this;
}

Strip& Strip::dot(double at, int y) {
  svg_ << "<circle class=\"dot\" cx=\"" << place_text(at) << "\" cy=\"" << std::to_string(y)
       << "\" r=\"4\"/>";
  return *this;
}

Strip& Strip::text(double at, int y, const char* anchor, const std::string& text) {
  svg_ << "<text x=\"" << place_text(at) << "\" y=\"" << std::to_string(y) << "\" text-anchor=\"" << anchor
       << "\">" << text << "</text>";
  return *this;
}

Strip& Strip::use(const std::string& id) {
  svg_ << "<use href=\"#" << id << "\"/>";
  return *this;
}

Html Strip::finish() const {
  Html html = svg_;
  return html << "</svg>";
}

}  // namespace snapdp::release_internal
