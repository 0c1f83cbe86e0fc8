// What the columns of a ledger's rows hold, and the first 100 bytes of its file.
#include "privacy/ledger_format.h"

#include "fuzz/fuzz.h"

namespace snapdp::privacy_internal::ledger_format {

namespace {

void run(std::string_view text) {
  if (const auto number = parse_number(text)) SNAPDP_FUZZ_CHECK(number_text(*number) == text);
  for (const PrivacyMeasure measure :
       {PrivacyMeasure::pure, PrivacyMeasure::approximate, PrivacyMeasure::zcdp}) {
    if (const auto amount = parse_amount(measure, text))
      SNAPDP_FUZZ_CHECK(amount_text(measure, *amount) == text);
    if (const auto charges = parse_charges(measure, text)) {
      SNAPDP_FUZZ_CHECK(charges_text(measure, *charges) == text && charges->size() <= Ledger::max_charges);
      for (const LedgerCharge& charge : *charges)
        SNAPDP_FUZZ_CHECK(!charge.loss.is_zero() && is_name(charge.name));
    }
  }
  // A name is a document of one line; both leave no byte that a terminal obeys.
  if (is_name(text))
    SNAPDP_FUZZ_CHECK(is_document(text) && text.find_first_of("\n\t\r\x1b") == std::string_view::npos);
  if (is_document(text)) SNAPDP_FUZZ_CHECK(text.find('\x1b') == std::string_view::npos);
  if (is_time(text)) SNAPDP_FUZZ_CHECK(is_name(text));
  SNAPDP_FUZZ_CHECK(!find_header_fault(text) || !find_header_fault(text)->empty());
}

}  // namespace
}  // namespace snapdp::privacy_internal::ledger_format

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::privacy_internal::ledger_format::run(snapdp::fuzz::text_of(data, size));
  return 0;
}
