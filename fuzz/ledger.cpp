// Files opened as ledgers. The first byte says how the rest becomes a file: as it is, or as patches of a sound ledger,
// each an offset of 16 bits, a length and that many bytes.
#include "snapdp/privacy/ledger.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/fuzz.h"

namespace snapdp {
namespace {

// A folder of this process, in memory where there is one.
class Workshop {
 public:
  Workshop() {
    std::string name = std::filesystem::is_directory("/dev/shm")
                           ? "/dev/shm"
                           : std::filesystem::temp_directory_path().string();
    name += "/snapdp-fuzz-XXXXXX";
    SNAPDP_FUZZ_CHECK(mkdtemp(name.data()) != nullptr);
    folder_ = name;
    std::ifstream file(SNAPDP_FUZZ_LEDGER, std::ios::binary);
    sound_.assign(std::istreambuf_iterator<char>(file), {});
    SNAPDP_FUZZ_CHECK(!sound_.empty());
    write(sound_);
    spent_ = Ledger::open(path()).balance().spent;
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path path() const { return folder_ / "fuzz.ledger"; }
  const std::string& sound() const { return sound_; }
  const PrivacyAmount& spent() const { return spent_; }

  void write(const std::string& bytes) const {
    std::filesystem::remove(path());
    std::filesystem::remove(path().string() + "-journal");
    std::ofstream(path(), std::ios::binary) << bytes;
    chmod(path().c_str(), 0600);
  }

 private:
  std::filesystem::path folder_;
  std::string sound_;
  PrivacyAmount spent_;
};

// What a ledger says about itself agrees.
void check_balance(const LedgerBalance& balance) {
  SNAPDP_FUZZ_CHECK(balance.budget.exceeded_by(balance.spent).empty());
  SNAPDP_FUZZ_CHECK(balance.spent + balance.remaining == balance.budget.limit());
}

void check_verified(const Ledger& ledger, const LedgerBalance& balance) {
  PrivacyAmount total;
  for (const LedgerEntry& entry : ledger.entries()) {
    total = total + entry.cost;
    SNAPDP_FUZZ_CHECK(entry.spent == total);
    ledger.specification(entry.release);
    SNAPDP_FUZZ_CHECK(ledger.report(entry.release).has_value() == entry.reported);
  }
  SNAPDP_FUZZ_CHECK(total == balance.spent);
}

// A debit is visible at once and ever after.
void check_debit(const std::filesystem::path& path, Ledger& ledger, const LedgerBalance& before) {
  const LedgerReceipt paid = ledger.debit(ledger.identity(), {{"fuzz", Rational(1, 64)}}, "text");
  const PrivacyAmount cost = PrivacyLoss(Rational(1, 64)).in(before.budget.measure);
  SNAPDP_FUZZ_CHECK(paid.cost == cost && paid.spent == before.spent + cost);
  SNAPDP_FUZZ_CHECK(before.budget.exceeded_by(paid.spent).empty());
  SNAPDP_FUZZ_CHECK(Ledger::open(path).balance().spent == paid.spent);
}

void run(fuzz::Input input) {
  static const Workshop workshop;
  const bool patches = input.below(2) == 1;
  std::string bytes = patches ? workshop.sound() : std::string(input.rest());
  while (patches && !input.empty()) {
    const std::size_t offset = input.value<std::uint16_t>() % bytes.size();
    const std::string_view patch = input.take(input.value<std::uint8_t>());
    bytes.replace(offset, std::min(patch.size(), bytes.size() - offset), patch);
  }
  workshop.write(bytes);
  fuzz::refuses([&] {
    Ledger ledger = Ledger::open(workshop.path());
    ledger.set_lock_wait(std::chrono::milliseconds(0));
    const LedgerBalance balance = ledger.balance();
    check_balance(balance);
    // No patch has an older total, as it would need a hash.
    if (patches) SNAPDP_FUZZ_CHECK(balance.spent == workshop.spent());
    fuzz::refuses([&] { ledger.entries(); });
    if (!fuzz::refuses([&] { check_balance(ledger.verify()); })) check_verified(ledger, balance);
    check_debit(workshop.path(), ledger, balance);
  });
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run({data, size});
  return 0;
}
