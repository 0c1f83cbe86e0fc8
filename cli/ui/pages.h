// The files of the planner's page, which the program carries.
#pragma once

namespace snapdp::cli {

extern const char* const ui_page_html;
extern const char* const ui_page_css;
extern const char* const ui_page_js;

}  // namespace snapdp::cli
