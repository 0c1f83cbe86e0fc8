#include "privacy/ledger_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "privacy/ledger_testing.h"

namespace snapdp {

using namespace privacy_internal;

namespace {

using ledger_format::parse_charges;
using ledger_format::parse_number;

TEST(LedgerFormat, ANumberHasOneText) {
  for (const char* text : {"0", "1", "12", "1/4", "7/10", "3/2", "1000000000000000000000/7"}) {
    const std::optional<Rational> value = parse_number(text);
    ASSERT_TRUE(value.has_value()) << text;
    EXPECT_EQ(ledger_format::number_text(*value), text);
  }
  for (const char* text :
       {"",   "-1", "+1",   " 1",    "1 ",  "01",  "1/04", "2/4", "1/1", "0/1", "1/0",  "0/0",
        "1/", "/1", "1//2", "1/2/3", "0.1", "1e3", "0x1",  "nan", "NaN", "inf", "1/-2", "\xd9\xa1"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number(std::string_view("1\0", 2)), std::nullopt);
  EXPECT_TRUE(parse_number(std::string(1024, '9')).has_value());
  EXPECT_EQ(parse_number(std::string(1025, '9')), std::nullopt);
}

TEST(LedgerFormat, ChargesReadBack) {
  const std::vector<LedgerCharge> charges = {
      {"mean_age", Rational(1, 4)}, {"with spaces / 1 2", 3}, {" ", Rational(1, 3)}};
  const std::string text = ledger_format::charges_text(PrivacyMeasure::pure, charges);
  EXPECT_EQ(text, "1/4 mean_age\n3 with spaces / 1 2\n1/3  \n");
  EXPECT_EQ(parse_charges(PrivacyMeasure::pure, text), charges);
  EXPECT_EQ(parse_charges(PrivacyMeasure::pure, ""), std::vector<LedgerCharge>{});
  for (const char* bad : {"1/4 mean_age", "1/4\n", "1/4 \n", "mean_age\n", "0 a\n", "-1 a\n", "1/4 a\n\n",
                          "\n", "1 a\rb\n", "1 \x1b[2J\n", "2/4 a\n", "1 a\n1 b"}) {
    EXPECT_EQ(parse_charges(PrivacyMeasure::pure, bad), std::nullopt) << bad;
  }
  std::string many;
  for (std::size_t i = 0; i < Ledger::max_charges; ++i) many += "1 a\n";
  EXPECT_TRUE(parse_charges(PrivacyMeasure::pure, many).has_value());
  EXPECT_EQ(parse_charges(PrivacyMeasure::pure, many + "1 a\n"), std::nullopt);
}

TEST(LedgerFormat, TextsAreWellFormedUtf8) {
  for (const char* good :
       {"a", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(ledger_format::is_name(good)) << good;
  }
  // A lone continuation, overlong forms, a surrogate, beyond U+10FFFF, cut short, C1 controls in a name.
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "a\xc3(",
        "\xc2\x9b"
        "1m",
        "\x7f", "\t", "\n", "\x1b"}) {
    EXPECT_FALSE(ledger_format::is_name(bad)) << bad;
  }
  EXPECT_TRUE(ledger_format::is_document(""));
  EXPECT_TRUE(ledger_format::is_document("a\tb\r\nc\xc2\x9b"));
  EXPECT_FALSE(ledger_format::is_document("\x1b[2J"));
  EXPECT_FALSE(ledger_format::is_document(std::string_view("a\0b", 3)));
  EXPECT_FALSE(ledger_format::is_document("a\x7f"));
  // Against the definition, on random bytes: a decoder written from the other side encodes what it decoded.
  std::mt19937_64 engine(7);
  for (int i = 0; i < 200'000; ++i) {
    std::string bytes(1 + engine() % 4, ' ');
    for (char& c : bytes) c = static_cast<char>(engine());
    if (i % 2 != 0) bytes[0] = static_cast<char>(static_cast<unsigned char>(bytes[0]) | 0xc0U);
    std::string whole = bytes;
    if (i % 2 != 0) {
      for (std::size_t k = 1; k < bytes.size(); ++k) {
        whole[k] = static_cast<char>((static_cast<unsigned char>(bytes[k]) & 0x3fU) | 0x80U);
      }
    }
    bool expected = true;
    for (std::size_t at = 0; at < whole.size() && expected;) {
      const auto lead = static_cast<unsigned char>(whole[at]);
      const std::size_t length = lead < 0x80       ? 1
                                 : lead >> 5 == 6  ? 2
                                 : lead >> 4 == 14 ? 3
                                 : lead >> 3 == 30 ? 4
                                                   : 0;
      if (length == 0 || at + length > whole.size()) {
        expected = false;
        break;
      }
      unsigned long point = length == 1 ? lead : lead & ((1U << (7 - length)) - 1);
      for (std::size_t k = 1; k < length; ++k) {
        const auto next = static_cast<unsigned char>(whole[at + k]);
        if (next >> 6 != 2) expected = false;
        point = point * 64 + (next & 63U);
      }
      const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
      if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) expected = false;
      if (point < 32 && point != 9 && point != 10 && point != 13) expected = false;
      if (point == 127) expected = false;
      at += length;
    }
    ASSERT_EQ(ledger_format::is_document(whole), expected) << testing::PrintToString(whole);
  }
}

TEST(LedgerFormat, TimesHaveOneForm) {
  EXPECT_TRUE(ledger_format::is_time("2024-05-01T12:34:56Z"));
  EXPECT_TRUE(ledger_format::is_time(ledger_format::time_now()));
  for (const char* bad : {"", "2024-05-01 12:34:56Z", "2024-05-01T12:34:56", "2024-05-01T12:34:56z",
                          "x024-05-01T12:34:56Z", "2024-05-01T12:34:56ZZ"}) {
    EXPECT_FALSE(ledger_format::is_time(bad)) << bad;
  }
}

// Computed with Python's hashlib from docs/ledger.md alone:
//   def h(*f): return hashlib.sha256(b"".join(len(x).to_bytes(8, "big") + x for x in f)).digest()
//   g = h(b"snapdp ledger 1", b"household-2024", b"change-one", b"", b"1", b"2024-05-01T12:34:56Z",
//   bytes(range(32))) d = h(b"snapdp record 1", g, b"1", b"debit", b"1", b"2024-05-02T00:00:00Z", b"1/4",
//   b"1/4", b"1/4 mean_age\n",
//         b"[data]\n")
//   r = h(b"snapdp record 1", d, b"2", b"report", b"1", b"2024-05-02T00:00:01Z", b"0", b"1/4", b"", b"{}")
TEST(LedgerFormat, HashesAreAsDocumented) {
  std::string nonce;
  for (char c = 0; c < 32; ++c) nonce += c;
  ledger_format::Genesis genesis{1,    {"household-2024", Neighbors::change_one, ""},
                                 "",   PrivacyMeasure::pure,
                                 "1",  "2024-05-01T12:34:56Z",
                                 nonce};
  const ledger_format::Hash start = hash_of(genesis);
  EXPECT_EQ(ledger_format::to_hex(start), "e2c1ba628a21f41a6a42b640e4792f5a0a1e3ba14f38840d56d97f4334ac58e0");
  const ledger_format::Record debit{1,     "debit",          1,         "2024-05-02T00:00:00Z", "1/4",
                                    "1/4", "1/4 mean_age\n", "[data]\n"};
  const ledger_format::Hash next = hash_of(start, debit);
  EXPECT_EQ(ledger_format::to_hex(next), "c728e73e99b0abf406077173c5ea8efce5c13cd981f6d632c0d1cf6b04739829");
  const ledger_format::Record report{2, "report", 1, "2024-05-02T00:00:01Z", "0", "1/4", "", "{}"};
  EXPECT_EQ(ledger_format::to_hex(hash_of(next, report)),
            "26a5acb514320818be5f6508eab11b6e1581cf6b7af6397fd1b9a6efa3542a45");
  // Version 2: h(b"snapdp ledger 2", b"household-2024", b"change-one", b"", b"[data]\n", b"1", ...)
  genesis.version = 2;
  genesis.declaration = "[data]\n";
  EXPECT_EQ(ledger_format::to_hex(hash_of(genesis)),
            "c967f13dbf1c66621def46a9334522fa9a43396772c17760a8eaf19e25d549ea");
}

TEST(LedgerFormat, KeepsTheDeclaration) {
  const ledger_testing::ScratchFolder folder;
  const auto path = folder / "a.ledger";
  // Longer than a page of the file, so that it has pages of its own.
  const std::string declaration = "[data]\n# " + std::string(100'000, 'x') + "\n";
  Ledger::create(path, {"people", Neighbors::change_one, ""}, 1, declaration);
  Ledger ledger = Ledger::open(path);
  EXPECT_EQ(ledger.declaration(), declaration);
  ledger.debit(ledger.identity(), {{"a", Rational(1, 2)}}, "");
  ledger.verify();
  EXPECT_EQ(Ledger::open(path).declaration(), declaration);
  EXPECT_EQ(Ledger::open(path).balance().spent, Rational(1, 2));
}

// A ledger written by the first version opens for ever: tests/data/ledger-1.db, its contents below.
TEST(LedgerFormat, TheFirstVersionsFileStillOpens) {
  const ledger_testing::ScratchFolder folder;
  const auto path = folder / "a.ledger";
  ledger_testing::write_bytes(path, ledger_testing::read_bytes(SNAPDP_TEST_DATA "/ledger-1.db"));
  Ledger ledger = Ledger::open(path);
  EXPECT_EQ(ledger.identity(), (LedgerIdentity{"household-2024", Neighbors::add_remove, "pid"}));
  EXPECT_EQ(ledger.declaration(), "");
  const LedgerBalance balance = ledger.verify();
  EXPECT_EQ(balance.budget, PrivacyBudget(Rational(3, 2)));
  EXPECT_EQ(balance.spent, Rational(5, 6));
  EXPECT_EQ(balance.anchor.records, 3);
  EXPECT_EQ(balance.anchor.hash, "0aa7be0395c81d001baa6b2704be7ebe5ebd357fe1387a043f451f7faff47225");
  EXPECT_EQ(ledger.entry(1).charges,
            (std::vector<LedgerCharge>{{"mean_age", Rational(1, 4)}, {"count", Rational(1, 4)}}));
  EXPECT_EQ(ledger.specification(1), "[data]\ndataset = \"household-2024\"\n");
  EXPECT_EQ(ledger.report(1), "{\"release\":1}");
  EXPECT_EQ(ledger.report(2), std::nullopt);
  EXPECT_EQ(ledger.debit(ledger.identity(), {{"last", Rational(2, 3)}}, "").remaining, 0);
  ledger.verify();
}

}  // namespace
}  // namespace snapdp
