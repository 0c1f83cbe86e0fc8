// Anchors: what is kept outside the ledger finds a rollback that nothing inside it can show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "privacy/ledger_testing.h"
#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"

namespace snapdp {
namespace {

using ledger_testing::charge;
using ledger_testing::error_of;
using ledger_testing::household;
using ledger_testing::ScratchFolder;
using testing::HasSubstr;

class LedgerAnchorTest : public testing::Test {
 protected:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "people.ledger";
};

TEST_F(LedgerAnchorTest, ALedgerGoesOnFromEveryAnchorItHad) {
  Ledger ledger = Ledger::create(path_, household, 1);
  std::vector<LedgerAnchor> anchors = {ledger.balance().anchor};
  for (int i = 0; i < 5; ++i) {
    const LedgerReceipt paid = ledger.debit(household, charge(Rational(1, 10)), "");
    anchors.push_back(ledger.balance().anchor);
    ledger.store_report(paid.release, "{}");
    anchors.push_back(ledger.balance().anchor);
  }
  EXPECT_EQ(ledger.verify(anchors).anchor, anchors.back());
  for (const LedgerAnchor& anchor : anchors) {
    EXPECT_EQ(parse_anchor(" " + to_string(anchor) + "\r\n", "anchor"), anchor);
    // Any other hash there, or the same one elsewhere, is refused.
    LedgerAnchor other = anchor;
    other.hash[63] = other.hash[63] == '0' ? '1' : '0';
    EXPECT_EQ(error_of([&] { ledger.verify({anchors[0], other}); }).parameter(), "anchor");
    other = anchor;
    ++other.records;
    const Error error = error_of([&] { ledger.verify({other}); });
    EXPECT_EQ(error.code(), ErrorCode::budget_refused);
    EXPECT_THAT(error.what(), HasSubstr(to_string(other)));
  }
}

TEST_F(LedgerAnchorTest, AnOldCopyIsFoundBeforeAndAfterItIsUsed) {
  LedgerAnchor anchor;
  {
    Ledger ledger = Ledger::create(path_, household, 1);
    ledger.debit(household, charge(Rational(1, 10)), "first");
  }
  const std::string old = ledger_testing::read_bytes(path_);
  {
    Ledger ledger = Ledger::open(path_);
    ledger.debit(household, charge(Rational(1, 10)), "second");
    anchor = ledger.balance().anchor;
  }
  ledger_testing::write_bytes(path_, old);
  Ledger ledger = Ledger::open(path_);
  EXPECT_EQ(ledger.verify().spent, Rational(1, 10));
  EXPECT_THAT(error_of([&] { ledger.verify({anchor}); }).what(), HasSubstr("it has only 1 records"));
  ledger.debit(household, charge(Rational(1, 10)), "another second");
  EXPECT_THAT(error_of([&] { ledger.verify({anchor}); }).what(),
              HasSubstr("its first 2 records are other ones"));
  ledger.debit(household, charge(Rational(1, 10)), "third");
  EXPECT_THAT(error_of([&] { ledger.verify({anchor}); }).what(),
              HasSubstr("its first 2 records are other ones"));
}

TEST_F(LedgerAnchorTest, AnotherLedgerDoesNotGoOnFromIt) {
  const LedgerAnchor anchor = Ledger::create(path_, household, 1).balance().anchor;
  const Ledger other = Ledger::create(folder_ / "other.ledger", household, 1);
  EXPECT_THAT(error_of([&] { other.verify({anchor}); }).what(),
              HasSubstr("its first 0 records are other ones"));
}

TEST_F(LedgerAnchorTest, WhatIsNoAnchorIsRefused) {
  const std::string hash(64, 'a');
  const std::vector<std::string> wrong = {"",
                                          " ",
                                          "1",
                                          hash,
                                          "1 " + hash + "a",
                                          "1 " + hash.substr(1),
                                          "1\t" + hash,
                                          "-1 " + hash,
                                          "+1 " + hash,
                                          "0x1 " + hash,
                                          "1 " + std::string(64, 'A'),
                                          "9223372036854775808 " + hash};
  for (const std::string& text : wrong) {
    const Error error = error_of([&] { parse_anchor(text, "--anchor"); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << text;
    EXPECT_EQ(error.parameter(), "--anchor");
  }
  EXPECT_EQ(parse_anchor("9223372036854775807 " + hash, "anchor").hash, hash);
}

}  // namespace
}  // namespace snapdp
