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
  });
  return 0;
}
