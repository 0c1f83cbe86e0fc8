// Reports as a ledger gives them back: whoever wrote the ledger wrote the text.
#include "snapdp/release/report.h"

#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = snapdp::fuzz::text_of(data, size);
  snapdp::fuzz::refuses([&] {
    const snapdp::Report report = snapdp::Report::from_json(text);
    const std::string table = report.to_table();
    // Nothing in it moves a terminal's cursor.
    SNAPDP_FUZZ_CHECK(table.find_first_of("\x1b\x7f\r\b") == std::string::npos);
    SNAPDP_FUZZ_CHECK(snapdp::Report::from_json(report.json()).to_table() == table);
    // What was read has every view, and no text of it is markup.
    SNAPDP_FUZZ_CHECK(report.to_html().find("<script") == std::string::npos);
    static_cast<void>(report.to_markdown());
    SNAPDP_FUZZ_CHECK(report.to_csv().ends_with("\r\n"));
    static_cast<void>(report.to_table({.marks = snapdp::TerminalStyle::Marks::utf8, .all_digits = true}));
  });
  return 0;
}
